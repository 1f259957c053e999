"""What composites are made of: named parts with weights, gates between them, and how their groups are judged.

Parts see whole groups: one that judges a group together sees, behind a gate, only the completions that pass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

from grpo_env.core import FAULTS, Completion, Example, Group, Score, StepScore, Verifier, unnamed
from grpo_env.errors import UsageError, nearest

from .schedule import Schedule, number_at


@dataclass(frozen=True)
class Part:
    """One verifier in a composite.

    ``weight`` counts its value in the outcome, ``process`` counts its steps in the step scores. ``when`` names a
    sibling whose value must be above 0: else this part is worth 0 and is not run. ``statuses`` gives the value for
    a completion's fault (``no_answer``, ``over_limit``, ``timeout``) instead of 0; ``clip`` bounds the value.
    """

    name: str
    verifier: Verifier
    weight: float | Schedule = 1.0
    process: float | Schedule = 0.0
    when: str | None = None
    clip: tuple[float, float] | None = None
    statuses: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for status in self.statuses:
            if status not in FAULTS:
                raise UsageError(f"verifier {self.name!r}: statuses: {status!r}; {nearest(status, FAULTS)}")
        if self.clip is not None and self.clip[0] > self.clip[1]:
            raise UsageError(f"verifier {self.name!r}: clip: {self.clip[0]:g} is above {self.clip[1]:g}")

    @property
    def counts(self) -> bool:
        """Whether the part can ever change the whole."""
        return self.weight != 0 or self.process != 0

    def at(self, step: int) -> Part:
        """The part with its numbers as they stand at a training step."""
        weight, process = number_at(self.weight, step), number_at(self.process, step)
        return replace(self, verifier=self.verifier.at(step), weight=weight, process=process)


@dataclass(frozen=True)
class Composite(Verifier):
    """What all composites share: named parts, gates between them, schedules. Schedules start at step 0."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise UsageError("of: at least one part is needed")
        names = [part.name for part in self.parts]
        for number, part in enumerate(self.parts):
            if part.name in names[:number]:
                raise UsageError(f"verifier {part.name!r} is named twice")
            seen, gate = {part.name}, part.when
            while gate is not None:
                if gate not in names:
                    raise UsageError(f"verifier {part.name!r}: when: unknown part {gate!r}; {nearest(gate, names)}")
                if gate in seen:
                    raise UsageError(f"verifier {part.name!r}: when: the gate waits for itself")
                seen.add(gate)
                gate = self.parts[names.index(gate)].when

    def within(self) -> Iterator[Verifier]:
        yield self
        for part in self.parts:
            yield from part.verifier.within()

    def at(self, step: int) -> Self:
        return replace(self, parts=tuple(part.at(step) for part in self.parts))

    def problem(self, example: Example) -> str | None:
        for part in self.parts:
            problem = part.verifier.problem(example) if part.counts else None
            if problem:
                return f"{part.name}: {problem}"
        return None

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.score_groups([Group(example, (completion,))])[0][0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        known = {part.name: part for part in self.parts}
        judged: dict[str, list[list[Score]]] = {}

        def scores_of(part: Part) -> list[list[Score]]:
            if part.name not in judged:
                gates = scores_of(known[part.when]) if part.when else None
                judged[part.name] = _judge_part(part, gates, groups)
            return judged[part.name]

        tables = [scores_of(part) for part in self.parts]
        return [
            [_timed(score) for score in self.wholes(list(zip(*rows, strict=True)), group.completions)]
            for group, *rows in zip(groups, *tables, strict=True)
        ]

    def wholes(self, rows: Sequence[tuple[Score, ...]], completions: Sequence[Completion]) -> Sequence[Score]:
        """The scores of a group's completions, each from its parts' scores, which are in the order of the parts."""
        return [self.whole(scores, completion) for scores, completion in zip(rows, completions, strict=True)]

    @abstractmethod
    def whole(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        """The score of one completion from its parts' scores, in the order of the parts."""


@dataclass(frozen=True)
class Unweighted(Composite):
    """Composites that do not add up their parts, which therefore have no weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in self.parts:
            if part.weight != 1.0 or part.process != 0.0:
                raise UsageError(
                    f"verifier {part.name!r}: only parts of a sum are weighted; give the weight to the whole"
                )


def composed(
    value: float, scores: tuple[Score, ...], explanation: str = "", steps: tuple[StepScore, ...] = ()
) -> Score:
    """A composite's score, with the scores of its parts."""
    return Score(
        value,
        answer=_first(score.answer for score in scores),
        gold=_first(score.gold for score in scores),
        explanation=explanation,
        parts=scores,
        steps=steps,
    )


def unscored(part: Score, scores: tuple[Score, ...]) -> Score:
    """The score of a composite that cannot do without ``part``, which is unscored."""
    why = f"{part.name}: {part.explanation or part.status}"
    return Score(None, part.status, gold=_first(score.gold for score in scores), explanation=why, parts=scores)


def _judge_part(part: Part, gates: list[list[Score]] | None, groups: Sequence[Group]) -> list[list[Score]]:
    """A part's scores in the shape of ``groups``. It sees only the completions that its gate lets through."""
    if gates is None:
        rows = unnamed(part.verifier, groups)
        return [[_labelled(part, _bounded(part, score)) for score in scores] for scores in rows]
    passed = [
        Group(example, [text for text, gate in zip(texts, row, strict=True) if _is_open(gate)])
        for (example, texts), row in zip(groups, gates, strict=True)
    ]
    scores = chain.from_iterable(unnamed(part.verifier, [group for group in passed if group.completions]))
    return [
        [_labelled(part, _bounded(part, next(scores)) if _is_open(gate) else _shut(gate)) for gate in row]
        for row in gates
    ]


def _is_open(gate: Score) -> bool:
    return gate.value is not None and gate.value > 0


def _shut(gate: Score) -> Score:
    if gate.scored:
        return Score(0.0, explanation=f"the gate {gate.name} is closed")
    return Score(None, "not_applicable", explanation=f"the gate {gate.name} is unscored")


def _bounded(part: Part, score: Score) -> Score:
    if score.status in part.statuses:
        score = replace(score, value=part.statuses[score.status])
    if part.clip is not None and score.value is not None:
        score = replace(score, value=min(max(score.value, part.clip[0]), part.clip[1]))
    return score


def _labelled(part: Part, score: Score) -> Score:
    return score.labelled(name=part.name, weight=number_at(part.weight, 0), process=number_at(part.process, 0))


def _timed(whole: Score) -> Score:
    return whole.labelled(seconds=sum(score.seconds for score in whole.parts))


def _first(texts: Iterable[str | None]) -> str | None:
    return next((text for text in texts if text is not None), None)
