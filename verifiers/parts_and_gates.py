"""The base of verifiers composed of others: named parts with weights, and gates between them.

Parts score whole groups. Behind a gate, a part sees only the completions that pass it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar, Self

from grpo_env.core import (
    COMPLETION_FAULTS,
    LEFT_OUT,
    Completion,
    Example,
    Group,
    Score,
    StepScore,
    Verifier,
    score_groups,
)
from grpo_env.errors import UsageError, nearest

from .episode_views import On, example_read, folded, views
from .schedule import Linear, number_at


@dataclass(frozen=True)
class Part:
    """A verifier in a composite.

    ``weight`` is the factor of its value in the total, ``process`` that of its steps in the step scores, ``None`` for
    the same, also where the training step decides on it. ``when`` names a sibling (a gate) whose value must be
    above 0; otherwise this part scores 0 and is not run, or is left out with a gate that a row leaves out. ``values``
    is what 0 and 1 are worth. ``statuses`` replaces the value of a completion with status ``no_answer``, ``over_limit``
    or ``timeout``. ``deadline`` replaces the verifier's ``default_deadline``. ``on`` says what is judged in an episode.

    A row may decide: ``applies`` says whether an example has this part, which is left out of the sum otherwise. It may
    raise ``UsageError``.
    """

    name: str
    verifier: Verifier
    weight: float | Linear = 1.0
    process: float | Linear | None = None
    when: str | None = None
    values: tuple[float, float] | None = None
    statuses: Mapping[str, float] = field(default_factory=dict)
    deadline: float | None = None
    on: On = "last"
    applies: Callable[[Example], bool] | None = None

    def __post_init__(self) -> None:
        if self.on != "last" and (what := needs_whole(self.verifier)):
            raise UsageError(f"verifier {self.name!r}: on: {self.on}: {what} has no turns")
        if self.on == "state" and looks_at_turns(self.verifier):
            raise UsageError(f"verifier {self.name!r}: on: state: it reads turns, not states; leave out 'on'")
        for status in self.statuses:
            if status not in COMPLETION_FAULTS:
                hint = nearest(status, COMPLETION_FAULTS)
                raise UsageError(f"verifier {self.name!r}: statuses: {status!r}; {hint}")
            if isinstance(self.verifier, Composite) and not self.verifier.keeps_status and status != "timeout":
                raise UsageError(
                    f"verifier {self.name!r}: statuses: it combines several parts, so it never has the status "
                    f"{status!r}; set this under 'of', for the parts that have it"
                )
        if self.deadline is not None and list(self.verifier.named_parts()):
            raise UsageError(
                f"verifier {self.name!r}: deadline: it combines several parts; set this under 'of', for each of them"
            )

    @property
    def counts(self) -> bool:
        """Whether the part can contribute to the total."""
        return self.weight != 0 or self.step_weight != 0

    @property
    def step_weight(self) -> float | Linear:
        """The weight of the part's steps."""
        return self.weight if self.process is None else self.process

    def at(self, step: int) -> Part:
        """The part at a training step, with constant weights."""
        weight = number_at(self.weight, step)
        process = None if self.process is None else number_at(self.process, step)
        return replace(self, verifier=self.verifier.at(step), weight=weight, process=process)

    def problem(self, example: Example) -> str | None:
        """Why no completion of this example can be scored by this part; ``None`` if it does not count there.

        Raises ``UsageError`` if a template of the row fails.
        """
        if not self.counts or (self.applies is not None and not self.applies(example)):
            return None
        return self.verifier.problem(example)

    def score(
        self, groups: Sequence[Group], instead: Sequence[Sequence[Score | None]] | None = None
    ) -> list[list[Score]]:
        """The scores in the shape of ``groups``; a completion with a score in ``instead`` has that, and is not run."""
        if instead is None:
            instead = [[None] * len(group.completions) for group in groups]
        if self.applies is not None:
            instead = [
                row if self.applies(group.example) else [LEFT_OUT] * len(row)
                for group, row in zip(groups, instead, strict=True)
            ]
        asked = [
            Group(example, [text for text, score in zip(completions, row, strict=True) if score is None])
            for (example, completions), row in zip(groups, instead, strict=True)
        ]
        scores = self._run([group for group in asked if group.completions])
        return [
            [self._not_run(score) if score else self.label(self._adjust(next(scores))) for score in row]
            for row in instead
        ]

    def _run(self, groups: Sequence[Group]) -> Iterator[Score]:
        """The scores of the completions, in their order; of episodes, those of what ``on`` says."""
        if self.on == "last" and not any(text.turns or text.environment for group in groups for text in group[1]):
            return chain.from_iterable(score_groups(self.verifier, groups, name=None))
        whole = self.verifier.reads_turns
        seen = [[views(text, self.on, whole) for text in completions] for _, completions in groups]
        asked = list(chain.from_iterable(map(self._asked, groups, seen)))
        scores = chain.from_iterable(score_groups(self.verifier, asked, name=None))
        texts = chain.from_iterable(completions for _, completions in groups)
        return (
            folded([next(scores) for _ in some], text, self.on, whole)
            for text, some in zip(texts, chain.from_iterable(seen), strict=True)
        )

    def _asked(self, group: Group, seen: Sequence[tuple[Completion, ...]]) -> list[Group]:
        """The views of a group's completions, with the prompt that the model has read. One group, if they share it.

        A verifier that compares completions gets that of the first. The parts of a composite see to that themselves.
        """
        if list(self.verifier.named_parts()):
            everything = tuple(chain(*seen))
            return [Group(group.example, everything)] if everything else []
        pieces: list[tuple[Example, list[Completion]]] = []
        for completion, some in zip(group.completions, seen, strict=True):
            if not some:
                continue
            example = example_read(group.example, completion)
            if not pieces or (pieces[-1][0].prompt != example.prompt and not self.verifier.compares_completions):
                pieces.append((example, []))
            pieces[-1][1].extend(some)
        return [Group(example, tuple(some)) for example, some in pieces]

    def _adjust(self, score: Score) -> Score:
        if self.values is not None:
            score = _worth(score, self.values)
        if score.status in self.statuses:
            score = replace(score, value=self.statuses[score.status])
        return score

    def _not_run(self, score: Score) -> Score:
        """The score of this part, and of the parts that it is composed of, where it is not run."""
        parts = getattr(self.verifier, "parts", ())
        return self.label(replace(score, parts=tuple(part._not_run(score) for part in parts)) if parts else score)

    def label(self, score: Score) -> Score:
        """The score with this part's name and weights."""
        if score.status == "left_out":  # by a row, or by the verifier for what is in the row
            return score.relabel(name=self.name, weight=0.0, process=0.0)
        weight, process = number_at(self.weight, 0), number_at(self.step_weight, 0)
        return score.relabel(name=self.name, weight=weight, process=process)


@dataclass(frozen=True)
class Composite(Verifier):
    """A verifier made of named parts, with gates between them. Schedules start at step 0."""

    reads_turns: ClassVar[bool] = True
    keeps_status: ClassVar[bool] = False  # whether one part decides, whose status is then that of the whole

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        gates = {part.name: part.when for part in self.parts}
        for name in gates:
            _check_gate(name, gates)

    def walk(self) -> Iterator[Verifier]:
        yield self
        for part in self.parts:
            yield from part.verifier.walk()

    def named_parts(self) -> Iterator[tuple[str, Verifier, float | None]]:
        for part in self.parts:
            yield part.name, part.verifier, part.deadline

    def at(self, step: int) -> Self:
        return replace(self, parts=tuple(part.at(step) for part in self.parts))

    def problem(self, example: Example) -> str | None:
        for part in self.parts:
            if problem := part.problem(example):
                return f"{part.name}: {problem}"
        return None

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.score_groups([Group(example, (completion,))])[0][0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        columns = self.part_scores(groups)
        return [
            [_timed(score) for score in self.combine_group(list(zip(*rows, strict=True)), group.completions)]
            for group, *rows in zip(groups, *columns, strict=True)
        ]

    def part_scores(self, groups: Sequence[Group]) -> list[list[list[Score]]]:
        """The scores of each part, in the shape of ``groups``."""
        parts = {part.name: part for part in self.parts}
        tables: dict[str, list[list[Score]]] = {}

        def table(part: Part) -> list[list[Score]]:
            if part.name not in tables:
                instead = [list(map(_behind, row)) for row in table(parts[part.when])] if part.when else None
                tables[part.name] = part.score(groups, instead)
            return tables[part.name]

        return [table(part) for part in self.parts]

    def combine_group(self, rows: Sequence[tuple[Score, ...]], completions: Sequence[Completion]) -> Sequence[Score]:
        """The scores of a group's completions. A row holds the scores of a completion's parts, in their order."""
        return [self.combine(scores, completion) for scores, completion in zip(rows, completions, strict=True)]

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        """The score of a completion from the scores of its parts, in their order."""
        raise NotImplementedError


@dataclass(frozen=True)
class Unweighted(Composite):
    """A composite that does not add up its parts, which therefore have no weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in self.parts:
            if part.weight != 1.0 or part.process is not None:
                raise UsageError(f"verifier {part.name!r}: only parts of a sum have weights; weight the composite")
            if part.applies is not None:
                raise UsageError(f"verifier {part.name!r}: when: only parts of a sum can be left out by a row")


def composite_score(
    value: float,
    scores: tuple[Score, ...],
    explanation: str = "",
    steps: tuple[StepScore, ...] = (),
    rule: str = "",
) -> Score:
    """A composite's score, with the scores of its parts."""
    return Score(
        value,
        answer=_first(score.answer for score in scores),
        gold=_first(score.gold for score in scores),
        kind=_first(score.kind for score in scores),
        explanation=explanation,
        rule=rule,
        parts=scores,
        steps=steps,
    )


def unscored_composite(part: Score, scores: tuple[Score, ...]) -> Score:
    """The score of a composite that needs ``part``, which is unscored."""
    why = f"{part.name}: {part.explanation or part.status}"
    return Score(None, part.status, gold=_first(score.gold for score in scores), explanation=why, parts=scores)


def needs_whole(verifier: Verifier) -> str | None:
    """What of a verifier, or one that it is composed of, reads more than the text of a turn or a step; or ``None``."""
    if any(inner.compares_completions for inner in verifier.walk()):
        return "a verifier that compares completions"
    return "a verifier that counts tokens" if any(inner.counts_tokens for inner in verifier.walk()) else None


def looks_at_turns(verifier: Verifier) -> bool:
    """Whether a verifier, or one that it is composed of, reads the turns of an episode itself."""
    return any(inner.reads_turns for inner in verifier.walk() if not list(inner.named_parts()))


def _worth(score: Score, values: tuple[float, float]) -> Score:
    """The score with other values for 0 and 1, also of its steps; what lies between them lies as far between these."""
    low, high = values
    if score.value is None:
        return score
    steps = tuple(replace(step, value=low + step.value * (high - low)) for step in score.steps)
    return replace(score, value=low + score.value * (high - low), steps=steps)


def _check_gate(name: str, gates: Mapping[str, str | None]) -> None:
    """Raise ``UsageError`` unless following the gates from a part ends at a part without one."""
    seen, gate = {name}, gates[name]
    while gate is not None:
        if gate not in gates:
            raise UsageError(f"verifier {name!r}: when: unknown part {gate!r}; {nearest(gate, gates)}")
        if gate in seen:
            raise UsageError(f"verifier {name!r}: when: the gate depends on itself")
        seen.add(gate)
        gate = gates[gate]


def _behind(gate: Score) -> Score | None:
    """The score of a part behind a gate, ``None`` if the gate is open."""
    if gate.status == "left_out":
        return LEFT_OUT
    if gate.value is None:
        return Score(None, "not_applicable", explanation=f"not scored, because {gate.name} has no score")
    if gate.value > 0:
        return None
    return Score(0.0, explanation=f"not counted, because {gate.name} is {gate.value:g}")


def _timed(score: Score) -> Score:
    return score.relabel(seconds=sum(part.seconds for part in score.parts))


def _first(texts: Iterable[str | None]) -> str | None:
    return next((text for text in texts if text is not None), None)
