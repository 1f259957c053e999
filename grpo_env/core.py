"""The core types: Example, Completion, Score, Verifier. Standard library only.

An ``Example`` is a problem, a ``Completion`` is a model's response to it, and a ``Verifier`` turns the two into a
``Score``: a value, its explanation, and a status that says whether the completion could be scored at all.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from traceback import walk_tb
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

Finish = Literal["stop", "length", "turns", "unknown"]
CallProblem = Literal["", "unreadable", "unknown_tool", "wrong_arguments", "raised", "late", "unknown"]

Status = Literal[
    "scored",  # the completion was scored
    "no_answer",  # there is no answer in the completion: normally 0
    "over_limit",  # the completion is larger than any legitimate answer: normally 0
    "timeout",  # scoring the completion took too long: normally 0
    "bad_gold",  # the gold answer cannot be parsed: unscored
    "error",  # the verifier failed: unscored
    "not_applicable",  # the verifier does not apply to this example: unscored
    "left_out",  # the row does not ask for this part: unscored, and the total does without it
]

COMPLETION_FAULTS: tuple[Status, ...] = ("no_answer", "over_limit", "timeout")
UNSCORED: tuple[Status, ...] = ("bad_gold", "error", "not_applicable", "left_out")


class Message(NamedTuple):
    """One chat message. ``role`` is ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    content: str


@dataclass(frozen=True)
class Format:
    """The output format that a task asks for: tag names without brackets, ``None`` for a block that is not used.

    Raises ``ValueError`` for a name that is no tag's, and for one name of both blocks.
    """

    reasoning: str | None = "think"
    """Tag of the reasoning block."""
    answer: str | None = "answer"
    """Tag of the answer block."""
    prefill: str = ""
    """Text that the chat template (or the task) puts at the start of the model's turn, such as ``<think>``."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}  # of a mapping in a task file

    def __post_init__(self) -> None:
        for name in (self.reasoning, self.answer):
            if name is not None and (not name.strip("/ ") or set(name) & set("<>\r\n")):
                raise ValueError(f"a tag's name is written without brackets ('think'), or null for none; not {name!r}")
        if self.reasoning is not None and self.reasoning == self.answer:
            raise ValueError(f"reasoning and answer have the same tag {self.answer!r}")


@dataclass(frozen=True)
class Example:
    """One problem. ``prompt`` is a chat, or a string that the model receives verbatim.

    ``answer`` is the gold answer. ``info`` holds the columns of the source row, for verifiers that need more.
    ``chat_template_kwargs`` are variables for the model's chat template. ``place`` says where the row is, for messages.

    Raises ``TypeError`` for a gold answer that is not a text.
    """

    id: str
    prompt: str | tuple[Message, ...] = ()
    answer: str | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    place: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.answer, str | None):
            raise TypeError(f"a gold answer is a text, such as {str(self.answer)!r}, not {self.answer!r}")

    @property
    def name(self) -> str:
        """What messages call it: the place of its row, or else its id."""
        return self.place or self.id


class Call(NamedTuple):
    """A tool call that a model wrote. One that cannot be read has an empty ``name`` and no ``arguments``."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Result(NamedTuple):
    """What the model was told in answer to the call with this ``id``, and what was wrong with it, if anything.

    ``unknown``: the episode was recorded elsewhere, without the tools that the call could be compared with.
    """

    id: str
    text: str
    problem: CallProblem = ""


@dataclass(frozen=True)
class Turn:
    """One turn of a model: characters ``[start, end)`` of the completion's text.

    ``results`` answer ``calls``, in the same order. ``reply`` is what a partner answered instead. ``state`` is the
    environment's state after the turn, as JSON can represent it; ``None`` if it is too large, or there is none.

    Raises ``ValueError`` if the span has another length than ``text``.
    """

    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    finish: Finish = "unknown"
    start: int = 0
    end: int = 0
    reply: str | None = None
    state: Any = None

    def __post_init__(self) -> None:
        if self.end - self.start != len(self.text) or self.start < 0:
            raise ValueError(f"[{self.start}, {self.end}) is not a span of {len(self.text)} characters")

    def to_dict(self) -> dict[str, Any]:
        """A mapping that JSON can represent; ``from_dict`` is its inverse."""
        calls = [call._asdict() for call in self.calls]
        return {**vars(self), "calls": calls, "results": [result._asdict() for result in self.results]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Turn:
        """The turn that ``to_dict`` was called on."""
        calls = tuple(Call(**call) for call in data.get("calls", ()))
        return cls(**{**data, "calls": calls, "results": tuple(Result(**result) for result in data.get("results", ()))})


class EnvironmentRecord(NamedTuple):
    """What an environment said of a whole episode: its ``state`` before the first turn, and its own ``reward``.

    ``late`` says that a call was late, which ended the environment; ``failure`` why the episode cannot be scored, if
    the environment and not the model's text failed. ``told`` is what ``reset`` returned, which is added to the prompt.
    """

    state: Any = None
    reward: float | None = None
    late: bool = False
    failure: str = ""
    told: str = ""

    def add_to(self, prompt: Sequence[Message]) -> tuple[Message, ...]:
        """The messages of a prompt as the model read them: with ``told`` at the end of the last one of the user."""
        last = _last_of_user(prompt)
        if not self.told:
            return tuple(prompt)
        if last is None:
            return (*prompt, Message("user", self.told))
        changed = prompt[last]._replace(content=prompt[last].content + self.told)
        return (*prompt[:last], changed, *prompt[last + 1 :])

    def add_once_to(self, prompt: Sequence[Message]) -> tuple[Message, ...]:
        """``add_to`` for a prompt that may have ``told`` already, as in a recorded row, and then stays as it is."""
        last = _last_of_user(prompt)
        has_it = last is not None and prompt[last].content.endswith(self.told)
        return tuple(prompt) if has_it else self.add_to(prompt)


def _last_of_user(prompt: Sequence[Message]) -> int | None:
    return next((n for n in range(len(prompt) - 1, -1, -1) if prompt[n].role == "user"), None)


@dataclass(slots=True)  # as Score
class Completion:
    """A model's response to an example.

    ``finish`` is ``stop`` if the model ended the text itself, ``length`` if it was truncated, ``turns`` if it had no
    turn left, else ``unknown``. ``prefill`` precedes ``text`` in the model's turn but was not written by the model.
    ``token_ids`` are the sampled tokens.

    A response of several turns has them in ``turns``; ``text`` is then what the model wrote in all of them, joined, so
    it does not contain results of tools. Without ``turns``, ``text`` is the one turn. ``environment`` is what the
    task's environment recorded.
    """

    text: str
    finish: Finish = "unknown"
    num_tokens: int | None = None
    prefill: str = ""
    token_ids: tuple[int, ...] | None = None
    turns: tuple[Turn, ...] = ()
    environment: EnvironmentRecord | None = None


@dataclass(frozen=True)
class StepScore:
    """The value of one reasoning step: characters ``[start, end)`` of the completion's text.

    Raises ``ValueError`` for a value that is not finite.
    """

    start: int
    end: int
    value: float
    explanation: str = ""

    def __post_init__(self) -> None:
        if type(self.value) is not float:
            object.__setattr__(self, "value", _number(self.value))
        if not math.isfinite(self.value):
            raise ValueError(f"the value of a step is a finite number, not {self.value!r}")


def _number(value: Any) -> Any:
    """A number of numpy, torch or Python, or a truth value, as a float; any other value as it is."""
    return float(value) if hasattr(value, "__float__") else value


_LABELS = {"name", "weight", "process", "seconds"}  # the fields that say which part a score is, not what it is


@dataclass(slots=True)  # not frozen, which takes three times as long and is a tenth of a verdict on GSM8K
class Score:
    """The result of a verifier. ``value`` is ``None`` exactly when the completion is *unscored* (see ``Status``).

    Raises ``ValueError`` if that is not so, and for a value that is not finite.

    ``parts`` keep their unweighted values beside the ``weight`` (and, for step scores, the ``process`` weight) that
    the total used, so it can be recomputed or reweighted without scoring again. ``kind`` is what the gold answer is:
    a number, a date, a text. ``rule`` is the name of what decided a verdict, such as ``number``, ``same text``, ``one
    number``; empty where a verifier has a single rule.
    """

    value: float | None
    status: Status = "scored"
    name: str = ""
    weight: float = 1.0
    process: float = 0.0
    answer: str | None = None
    gold: str | None = None
    kind: str | None = None
    explanation: str = ""
    rule: str = ""
    parts: tuple[Score, ...] = ()
    steps: tuple[StepScore, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.value is None) != (self.status in UNSCORED):
            raise ValueError(f"a score with status {self.status!r} cannot have the value {self.value!r}")
        if self.value is not None and type(self.value) is not float:
            self.value = _number(self.value)
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"the value of a score is a finite number, not {self.value!r}")

    @property
    def scored(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def part(self, name: str) -> Score:
        """The part called ``name`` at any depth, or this score itself. Raises ``KeyError``."""
        for score in self.walk():
            if score.name == name:
                return score
        raise KeyError(name)

    def walk(self) -> Iterator[Score]:
        """This score and all parts below it, parents first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def relabel(self, **labels: str | float) -> Score:
        """A copy with another ``name``, ``weight``, ``process`` or ``seconds``. Raises ``TypeError`` for other fields.

        ``dataclasses.replace`` takes 2.7 times as long.
        """
        if not labels.keys() <= _LABELS:
            unknown = ", ".join(sorted(labels.keys() - _LABELS))
            raise TypeError(f"relabel sets only {', '.join(sorted(_LABELS))}, not {unknown}")
        copy = Score(*_FIELDS(self))
        for name, value in labels.items():
            setattr(copy, name, value)
        return copy

    def to_dict(self) -> dict[str, Any]:
        """A mapping that JSON can represent; ``from_dict`` is its inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """The score that ``to_dict`` was called on."""
        parts = tuple(cls.from_dict(part) for part in data.get("parts", ()))
        steps = tuple(StepScore(**step) for step in data.get("steps", ()))
        return cls(**{**data, "parts": parts, "steps": steps})

    def __str__(self) -> str:
        return "\n".join(self._lines(indent=0))

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


_FIELDS = attrgetter(*(field.name for field in fields(Score)))
LEFT_OUT = Score(None, "left_out")
"""The score of a part that a row does not ask for."""


class Group(NamedTuple):
    """An example with some or all of its completions."""

    example: Example
    completions: Sequence[Completion]


class Case(NamedTuple):
    """A documented test case of a verifier: a completion, its expected value, and why.

    A tuple of completions is a group, with a tuple of values; the value ``None`` means unscored. ``options`` are the
    verifier's options, as in a task file.
    """

    completion: str | Completion | tuple[str | Completion, ...]
    value: float | tuple[float | None, ...] | None
    why: str
    answer: str | None = None
    info: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}


class Verifier(ABC):
    """Scores one completion of one example. Subclasses are frozen dataclasses, pure and picklable.

    A subclass's fields are its YAML options. A field called ``format`` receives the task's format unless the YAML
    sets it. ``cases`` are its documentation and its first test.
    """

    cases: ClassVar[tuple[Case, ...]] = ()
    reads_turns: ClassVar[bool] = False
    """Whether it reads ``Completion.turns`` itself; others see the last turn of an episode as the whole text."""
    late_status: ClassVar[Status] = "timeout"
    """The status of completions whose scoring was late: ``timeout``, or ``error`` if it is not their text's fault."""
    path_options: ClassVar[tuple[str, ...]] = ()
    """Options that may name a file or folder, which the task then gives relative to its own file."""
    output_options: ClassVar[tuple[str, ...]] = ()
    """Options that name a file to write, which need not exist yet, relative to that of the task."""

    @abstractmethod
    def __call__(self, example: Example, completion: Completion) -> Score:
        """The score of a completion. An exception raised here becomes an *unscored* score with status ``error``."""

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        """The scores of many completions: one list per group, one score per completion."""
        return [[_score_alone(self, example, text) for text in completions] for example, completions in groups]

    @property
    def needs_prompt(self) -> bool:
        """Whether the score depends on the example's prompt; files of completions must then contain it."""
        return False

    @property
    def compares_completions(self) -> bool:
        """Whether the score of a completion depends on the others of its group."""
        return False

    @property
    def counts_tokens(self) -> bool:
        """Whether the score depends on the sampled tokens, which are known of a completion as a whole only."""
        return False

    @property
    def default_deadline(self) -> float:
        """Seconds by the clock for one completion, unless the task sets a ``deadline``; larger than all own limits."""
        return 120.0

    def named_parts(self) -> Iterable[tuple[str, Verifier, float | None]]:
        """The verifiers that this one is composed of, with their names and the deadlines that the task sets."""
        return ()

    def walk(self) -> Iterator[Verifier]:
        """This verifier and all verifiers that it is composed of, parents first."""
        yield self

    def at(self, step: int) -> Verifier:
        """This verifier at a training step (0-based). Only composites with schedules change."""
        return self

    def problem(self, example: Example) -> str | None:
        """Why no completion of this example can be scored (an unreadable gold answer, say), or ``None``.

        Raises ``UsageError`` if the task file is wrong about this row: such rows are never skipped.
        """
        return None

    def unusable(self) -> str | None:
        """Why it can score nothing here at all, such as a model that is missing; ``None`` if nothing is known of that.

        ``check`` and ``train`` ask before they score. It loads no model.
        """
        return None


class GroupVerifier(Verifier):
    """Scores the completions of one example relative to each other, such as by rank or vote."""

    @abstractmethod
    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        """One score per completion, in order. Behind a gate, ``completions`` are only those that pass it."""

    @property
    def compares_completions(self) -> bool:
        return True

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.group(example, (completion,))[0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        return [_timed(self, *group, partial(self.group, *group)) for group in groups]


class BatchVerifier(Verifier):
    """Scores many completions of many examples in one batch, such as with a model on an accelerator or a server.

    Training scores by tasks with such a verifier in its own process, without deadlines, unless ``in_process`` is false:
    a model would otherwise be loaded by another process, onto a device of its own choice.
    """

    in_process: ClassVar[bool] = True
    late_status: ClassVar[Status] = "error"  # of a server or a device that hangs, and of all texts in the batch

    @abstractmethod
    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> Sequence[Score]:
        """One score per pair, in order. If this raises, all of them are unscored."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return self.batch([(example, completion)])[0]

    def score_groups(self, groups: Sequence[Group]) -> list[list[Score]]:
        pairs = [(example, completion) for example, completions in groups for completion in completions]
        scores = iter(_run(partial(self.batch, pairs), len(pairs)) if pairs else [])
        return [[next(scores) for _ in group.completions] for group in groups]


_RAISED = (Exception, SystemExit)  # of a verifier: a reward may run a model's exit()


def score_one(verifier: Verifier, example: Example, completion: Completion) -> Score:
    """The score of one completion, called ``total``. Catches everything that a verifier raises."""
    return score_groups(verifier, [Group(example, (completion,))])[0][0]


def score_groups(verifier: Verifier, groups: Sequence[Group], name: str | None = "total") -> list[list[Score]]:
    """The scores of many completions in the shape of ``groups``, called ``name``; ``None`` leaves their names alone.

    Catches everything that a verifier raises: those completions are unscored, with status ``error``. Raises
    ``TypeError`` for what is not a verifier, such as a task, whose verifier is ``task.verifier``.
    """
    if not isinstance(verifier, Verifier):
        raise TypeError(f"score_groups takes a verifier, such as task.verifier, not a {type(verifier).__name__}")
    try:
        rows = verifier.score_groups(groups) if _watch is None else _watch.score_groups(verifier, groups)
    except _RAISED as error:
        rows = [[_failed(error)] * len(group.completions) for group in groups]
    return rows if name is None else [[score.relabel(name=name) for score in scores] for scores in rows]


class Watch(Protocol):
    """Notes what this process is doing, so that another one can end it in time: ``deadlines.Watch``."""

    def score_groups(self, verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]: ...

    def enter(self, verifier: Verifier, example: Example, completions: Sequence[Completion]) -> object: ...

    def leave(self, before: object) -> None: ...


_watch: Watch | None = None


def install(watch: Watch) -> None:
    """Have ``watch`` note all that is scored in this process from now on."""
    global _watch
    _watch = watch


def _score_alone(verifier: Verifier, example: Example, completion: Completion) -> Score:
    return _timed(verifier, example, (completion,), lambda: (verifier(example, completion),))[0]


def _timed(
    verifier: Verifier, example: Example, completions: Sequence[Completion], score: Callable[[], Sequence[Score]]
) -> list[Score]:
    """``_run``, within the verifier's deadline where one is kept."""
    if _watch is None or not completions:
        return _run(score, len(completions))
    before = _watch.enter(verifier, example, completions)
    if isinstance(before, Score):
        return [before.relabel(seconds=before.seconds / len(completions))] * len(completions)
    scores = _run(score, len(completions))
    _watch.leave(before)
    return scores


def _run(score: Callable[[], Sequence[Score]], count: int) -> list[Score]:
    """What ``score`` returns, with the time it took; ``count`` unscored scores if it fails.

    A broken verifier must neither end a run nor count as a 0.
    """
    start = time.perf_counter()
    try:
        scores = list(score())
        if len(scores) != count:
            raise ValueError(f"the verifier returned {len(scores)} scores for {count} completions")
        for result in scores:
            if not isinstance(result, Score):
                raise TypeError(f"the verifier returned {result!r}, not a Score")
    except _RAISED as error:
        scores = [_failed(error)] * count
    seconds = (time.perf_counter() - start) / count if count else 0.0
    return [result.relabel(seconds=seconds) for result in scores]


def _failed(error: BaseException) -> Score:
    return Score(None, "error", explanation=f"{type(error).__name__}: {error}{_raised_at(error)}")


def _raised_at(error: BaseException) -> str:
    """The last line, of the file that the package called or of those beside it, that led to an exception."""
    frames = [
        (Path(frame.f_code.co_filename), line)
        for frame, line in walk_tb(error.__traceback__)
        if not frame.f_globals.get("__name__", "").startswith("grpo_env.")
    ]
    own = [f" ({file.name}:{line})" for file, line in frames if file.parent == frames[0][0].parent]
    return own[-1] if own else ""
