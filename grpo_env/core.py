"""The types that everything else speaks: Example, Completion, Score, Verifier. Standard library only.

An ``Example`` is a problem, a ``Completion`` is a model's text for it, and a ``Verifier`` turns the two into a
``Score`` that says what the text is worth, why, and whether it could be judged at all.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

Finish = Literal["stop", "length", "unknown"]

Status = Literal[
    "scored",  # judged; value is the verdict
    "no_answer",  # nothing to judge in the text: the completion's fault
    "over_limit",  # larger than any honest answer: the completion's fault
    "timeout",  # judging it took too long: the completion's fault
    "bad_gold",  # the reference answer cannot be parsed: unscored
    "error",  # the verifier failed: unscored
    "not_applicable",  # the verifier does not apply to this example: unscored
]

FAULTS: tuple[Status, ...] = ("no_answer", "over_limit", "timeout")
UNSCORED: tuple[Status, ...] = ("bad_gold", "error", "not_applicable")


class Message(NamedTuple):
    """One chat message. ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True)
class Format:
    """The output format that a task asks for: tag names without brackets, ``None`` where a block is not used."""

    reasoning: str | None = "think"
    """Tag of the reasoning."""
    answer: str | None = "answer"
    """Tag of the answer."""
    prefill: str = ""
    """What the chat template (or the task) already wrote at the start of the model's turn, such as ``<think>``."""


@dataclass(frozen=True)
class Example:
    """One problem. ``prompt`` is a chat, or a string that is given to the model verbatim.

    ``info`` holds the columns of the source row, for verifiers that need more than the gold ``answer``.
    """

    id: str
    prompt: str | tuple[Message, ...] = ()
    answer: str | None = None
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Completion:
    """What a model wrote for an example.

    ``finish`` is ``stop`` for a text that ended by itself and ``length`` for one that was cut. ``prefill`` stands
    in front of ``text`` in the model's turn but was not written by the model. ``token_ids`` are the sampled ones.
    """

    text: str
    finish: Finish = "unknown"
    num_tokens: int | None = None
    prefill: str = ""
    token_ids: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StepScore:
    """The value of one reasoning step: characters ``[start, end)`` of the completion's text."""

    start: int
    end: int
    value: float
    explanation: str = ""


# What says which part of a whole a score is, and nothing of the verdict.
LABELS = {"name", "weight", "process", "seconds"}


@dataclass(frozen=True)
class Score:
    """A verdict. ``value`` is ``None`` exactly when the completion is *unscored* (see ``Status``).

    ``parts`` keep their own values with the ``weight`` (and, for step scores, the ``process`` weight) that they
    had in the whole, so a total can be recomputed or re-weighted without judging again.
    """

    value: float | None
    status: Status = "scored"
    name: str = ""
    weight: float = 1.0
    process: float = 0.0
    answer: str | None = None
    gold: str | None = None
    explanation: str = ""
    parts: tuple[Score, ...] = ()
    steps: tuple[StepScore, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.value is None) != (self.status in UNSCORED):
            raise ValueError(f"status {self.status!r} does not go with value {self.value!r}")

    @property
    def scored(self) -> bool:
        """Whether there is a value at all."""
        return self.value is not None

    def part(self, name: str) -> Score:
        """The part called ``name``, at any depth, or this score itself. Raises ``KeyError``."""
        for score in self.walk():
            if score.name == name:
                return score
        raise KeyError(name)

    def walk(self) -> Iterator[Score]:
        """This score and all parts below it, parents first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def labelled(self, **labels: str | float) -> Score:
        """A copy with another ``name``, ``weight``, ``process`` weight or ``seconds``; raises ``TypeError`` for others.

        ``dataclasses.replace`` takes longer than some verdicts do.
        """
        if not labels.keys() <= LABELS:
            raise TypeError(f"a score's labels are {', '.join(sorted(LABELS))}; found {', '.join(sorted(labels))}")
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), **labels)
        return copy

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping; ``from_dict`` is its inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Rebuild a score from ``to_dict``'s mapping."""
        parts = tuple(cls.from_dict(part) for part in data.get("parts", ()))
        steps = tuple(StepScore(**step) for step in data.get("steps", ()))
        return cls(**{**data, "parts": parts, "steps": steps})

    def __str__(self) -> str:
        return "\n".join(self._lines(indent=0))

    def _repr_html_(self) -> str:
        from grpo_env.results.notebook import show  # late: only notebooks ask, and it needs more than this module may

        return show(self)

    def _lines(self, indent: int) -> Iterator[str]:
        value = "unscored" if self.value is None else f"{self.value:.4g}"
        weight = f" x {self.weight:g}" if indent else ""
        status = "" if self.status == "scored" else f" [{self.status}]"
        why = f"  {self.explanation}" if self.explanation else ""
        yield f"{'  ' * indent}{self.name or 'score'}: {value}{weight}{status}{why}"
        for step in self.steps if not self.parts else ():
            yield f"{'  ' * (indent + 1)}step [{step.start}:{step.end}] {step.value:g}  {step.explanation}"
        for part in self.parts:
            yield from part._lines(indent + 1)


class Group(NamedTuple):
    """An example with some or all of the completions that a model wrote for it."""

    example: Example
    completions: Sequence[Completion]

    def _repr_html_(self) -> str:
        from grpo_env.results.notebook import show_group

        return show_group(self)


class Case(NamedTuple):
    """One documented row of a verifier: what a text must get, and why.

    A tuple of completions is a group, with a tuple of values; the value ``None`` means unscored. ``options`` are the
    verifier's, as a task file would set them.
    """

    completion: str | Completion | tuple[str | Completion, ...]
    value: float | tuple[float | None, ...] | None
    why: str
    answer: str | None = None
    info: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}


class Verifier(ABC):
    """Judges one completion of one example. Subclasses are frozen dataclasses, pure and picklable.

    A subclass's fields are its YAML options. A field called ``format`` receives the task's format unless the YAML
    sets it. ``cases`` are its documentation and its first test; ``gives_steps`` says that it scores steps.
    """

    cases: ClassVar[tuple[Case, ...]] = ()
    gives_steps: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, example: Example, completion: Completion) -> Score:
        """The verdict. Anything raised here becomes an *unscored* score with status ``error``."""

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        """The verdicts on many completions: one list for each group, one score for each completion. Never raises."""
        return [[_judge_one(self, example, completion) for completion in texts] for example, texts in groups]

    @property
    def needs_prompt(self) -> bool:
        """Whether it looks at the example's prompt, which files of completions are then asked for."""
        return False

    def within(self) -> Iterator[Verifier]:
        """This verifier and all that it is made of."""
        yield self

    def at(self, step: int) -> Verifier:
        """This verifier as it stands at a training step (0-based). Only composites with schedules change."""
        return self

    def problem(self, example: Example) -> str | None:
        """Why no completion of this example could be judged (a gold that does not parse, say), or ``None``."""
        return None


class GroupVerifier(Verifier):
    """Judges the completions of one example against each other, as a rank or a vote does."""

    @abstractmethod
    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        """One score for each completion, in order. Behind a gate only the completions that pass it are seen."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.group(example, (completion,))[0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        return [_judge_many(lambda group=group: self.group(*group), len(group.completions)) for group in groups]  # type: ignore[misc]


class BatchVerifier(Verifier):
    """Judges many completions in one go, whatever their examples: a model on an accelerator, a server."""

    @abstractmethod
    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> Sequence[Score]:
        """One score for each pair, in order. Should this raise, all of them are unscored."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.batch([(example, completion)])[0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        pairs = [(example, completion) for example, texts in groups for completion in texts]
        scores = iter(_judge_many(lambda: self.batch(pairs), len(pairs)) if pairs else [])
        return [[next(scores) for _ in group.completions] for group in groups]


def score_one(verifier: Verifier, example: Example, completion: Completion, name: str = "total") -> Score:
    """The named verdict on one completion. Nothing that a verifier raises gets out."""
    return score_groups(verifier, [Group(example, (completion,))], name)[0][0]


def score_groups(verifier: Verifier, groups: Sequence[Group], name: str = "total") -> list[list[Score]]:
    """The named verdicts on many completions, in the shape of ``groups``. Nothing that a verifier raises gets out."""
    return [[score.labelled(name=name) for score in scores] for scores in unnamed(verifier, groups)]


def unnamed(verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
    """``score_groups`` for a caller that writes name and weights itself, in one go."""
    try:
        return verifier.score_groups(groups)
    except Exception as error:
        return [[_failed(error)] * len(group.completions) for group in groups]


def _judge_one(verifier: Verifier, example: Example, completion: Completion) -> Score:
    return _judge_many(lambda: (verifier(example, completion),), 1)[0]


def _judge_many(verdicts: Callable[[], Sequence[Score]], count: int) -> list[Score]:
    """The verdicts, timed; all unscored if getting them fails. A broken verifier must not end a run, nor be a 0."""
    start = time.perf_counter()
    try:
        scores = list(verdicts())
        if len(scores) != count:
            raise ValueError(f"the verifier gave {len(scores)} scores for {count} completions")
        for score in scores:
            if not isinstance(score, Score):
                raise TypeError(f"the verifier gave {score!r}, not a Score")
    except Exception as error:
        scores = [_failed(error)] * count
    seconds = (time.perf_counter() - start) / count if count else 0.0
    return [score.labelled(seconds=seconds) for score in scores]


def _failed(error: Exception) -> Score:
    return Score(None, "error", explanation=f"{type(error).__name__}: {error}")
