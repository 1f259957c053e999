"""Rewards for length: DAPO's soft overlong punishment, a target, a cosine over the length, and a rank in the group.

The number of tokens is ``num_tokens``, from the trainer or a column of a file. Without it a completion is unscored;
the number of characters is no substitute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import passage
from .parts_and_gates import Unweighted, composite_score, unscored_composite
from .words import words

UNKNOWN = "the number of tokens is unknown: files need a column num_tokens"

_OF: dict[str, Any] = {"of": {"accuracy": {}}}
_COSINE: dict[str, Any] = {**_OF, "max_tokens": 100}


def _text(answer: str, num_tokens: int | None) -> Completion:
    return Completion(answer, num_tokens=num_tokens)


@verifier("overlong")
@dataclass(frozen=True)
class Overlong(Verifier):
    """0 up to a length, then falling to -1: a soft penalty for completions that are too long.

    With ``n`` tokens it is 0 up to ``max_tokens - buffer``, ``(max_tokens - buffer - n) / buffer`` up to
    ``max_tokens``, and -1 beyond. Set ``max_tokens`` to the sampling limit (``max_new_tokens``) or less. A completion
    without ``num_tokens`` is unscored.

    Source: DAPO (Yu et al. 2025, arXiv:2503.14476), equation 13, with 20,480 and 4,096 tokens.
    """

    max_tokens: int
    """The length in tokens beyond which the value is -1; with a ``buffer`` it is -1 there already; 1 or more."""
    buffer: int | None = None
    """The number of tokens over which the value falls; by default a fifth of ``max_tokens``, rounded down, 0 for a
    step."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(_text("up to the buffer", 80), 0.0, "80 = 100 - 20", options={"max_tokens": 100}),
        Case(_text("in the buffer", 85), -0.25, "(80 - 85) / 20", options={"max_tokens": 100}),
        Case(_text("at the maximum", 100), -1.0, "(80 - 100) / 20", options={"max_tokens": 100}),
        Case(_text("far beyond", 400), -1.0, "never below -1", options={"max_tokens": 100}),
        Case(
            _text("sharp", 100),
            0.0,
            "no buffer: no penalty up to the maximum",
            options={"max_tokens": 100, "buffer": 0},
        ),
        Case("not counted", None, "no num_tokens", options={"max_tokens": 100}),
    )

    def __post_init__(self) -> None:
        _check_max_tokens("overlong", self.max_tokens)
        if self.buffer is not None and not 0 <= self.buffer <= self.max_tokens:
            raise UsageError(f"overlong: buffer must be between 0 and max_tokens, not {self.buffer}")

    @property
    def counts_tokens(self) -> bool:
        return True

    def __call__(self, example: Example, completion: Completion) -> Score:
        tokens = completion.num_tokens
        if tokens is None:
            return Score(None, "not_applicable", explanation=UNKNOWN)
        buffer = self.max_tokens // 5 if self.buffer is None else self.buffer
        free = self.max_tokens - buffer
        if tokens > self.max_tokens:
            return Score(-1.0, explanation=f"{tokens} tokens are more than {self.max_tokens}")
        if tokens > free:
            return Score((free - tokens) / buffer, explanation=f"{tokens} tokens; above {free} they cost")
        return Score(0.0, explanation=f"{tokens} tokens")


@verifier("target_length")
@dataclass(frozen=True)
class TargetLength(Verifier):
    """1 for a completion of the target length, falling to 0 at no length and at twice the target.

    With ``n`` tokens it is ``max(0, 1 - abs(n - target) / target)``. The target may differ from row to row (``target:
    "{{ words }}"``). Words are counted as for ``reasoning_length``; neither they nor characters include the format's
    tags. A completion without ``num_tokens`` is unscored if tokens are counted.

    Source: the first example of TRL's GRPO page, and L1 (Aggarwal and Welleck 2025, arXiv:2503.04697), whose ``a *
    abs(n - target)`` is the weight ``a * target``.
    """

    target: int
    """The length for full credit, 1 or more."""
    unit: Literal["token", "word", "character"] = "token"
    """What is counted."""
    format: Format = field(default_factory=Format)

    cases: ClassVar[tuple[Case, ...]] = (
        Case(_text("at the target", 50), 1.0, "50 tokens", options={"target": 50}),
        Case(_text("a little short", 45), 0.9, "1 - 5 / 50", options={"target": 50}),
        Case(_text("too long", 75), 0.5, "1 - 25 / 50", options={"target": 50}),
        Case(_text("twice as long", 100), 0.0, "1 - 50 / 50", options={"target": 50}),
        Case(_text("far too long", 400), 0.0, "never below 0", options={"target": 50}),
        Case("one two three", 0.75, "1 - 1 / 4", options={"target": 4, "unit": "word"}),
        Case("<answer>\nabcd\n</answer>", 0.8, "1 - 1 / 5", options={"target": 5, "unit": "character"}),
        Case("not counted", None, "no num_tokens", options={"target": 50}),
    )

    def __post_init__(self) -> None:
        if self.target < 1:
            raise UsageError(f"target_length: target must be at least 1, not {self.target}")

    @property
    def counts_tokens(self) -> bool:
        return self.unit == "token"

    def __call__(self, example: Example, completion: Completion) -> Score:
        count = completion.num_tokens
        if self.unit != "token":
            text = (passage("all", self.format, completion) or "").strip()
            count = len(text) if self.unit == "character" else sum(1 for _ in words(text))
        if count is None:
            return Score(None, "not_applicable", explanation=UNKNOWN)
        value = max(0.0, 1 - abs(count - self.target) / self.target)
        return Score(value, explanation=f"{count} {self.unit}s, the target is {self.target}")


@verifier("cosine_length")
@dataclass(frozen=True)
class CosineLength(Unweighted):
    """Rewards short completions if they are correct and long ones if they are wrong: a cosine over the length.

    With ``n`` tokens it is ``end + (start - end) * (1 + cos(pi * min(n / max_tokens, 1))) / 2``, where ``start`` and
    ``end`` are the two numbers of ``correct`` or ``wrong``. A completion is correct if all parts under ``of`` are 1 or
    more. It is unscored if a part is unscored or ``num_tokens`` is missing.

    Source: Yeo et al. 2025 (arXiv:2502.03373), with the default values of open-r1, where the length is in characters
    and the cosine rises again beyond the maximum.
    """

    max_tokens: int = 1000
    """The length in tokens from which the value is constant; 1 or more."""
    correct: tuple[float, float] = (1.0, 0.5)
    """The values of correct completions with 0 and with ``max_tokens`` tokens."""
    wrong: tuple[float, float] = (-1.0, -0.5)
    """The values of wrong completions with 0 and with ``max_tokens`` tokens."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(_text("4", 0), 1.0, "correct, with no tokens", answer="4", options=_COSINE),
        Case(_text("4", 50), 0.75, "correct, half the maximum: cos(pi / 2) is 0", answer="4", options=_COSINE),
        Case(_text("4", 100), 0.5, "correct, at the maximum", answer="4", options=_COSINE),
        Case(_text("4", 200), 0.5, "constant beyond the maximum", answer="4", options=_COSINE),
        Case(_text("5", 0), -1.0, "wrong, with no tokens", answer="4", options=_COSINE),
        Case(_text("5", 50), -0.75, "wrong, half the maximum", answer="4", options=_COSINE),
        Case("4", None, "no num_tokens", answer="4", options=_COSINE),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_max_tokens("cosine_length", self.max_tokens)

    @property
    def counts_tokens(self) -> bool:
        return True

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        outcome = _outcome(scores, completion)
        if isinstance(outcome, Score):
            return outcome
        correct, tokens = outcome
        start, end = self.correct if correct else self.wrong
        progress = min(tokens / self.max_tokens, 1.0)
        value = end + (start - end) * (1 + math.cos(math.pi * progress)) / 2
        return composite_score(value, scores, f"{'correct' if correct else 'wrong'} with {tokens} tokens")


@verifier("length_rank")
@dataclass(frozen=True)
class LengthRank(Unweighted):
    """Ranks the completions of a prompt by length, from 0.5 for the shortest to -0.5 for the longest.

    ``rank = 0.5 - (n - shortest) / (longest - shortest)``, in tokens, over all completions of the prompt with known
    ``num_tokens``. A correct completion (all parts under ``of`` are 1 or more) scores its rank, a wrong one ``min(0,
    rank)``. If all are equally long, or there is only one, all score 0. It is unscored if a part is unscored or
    ``num_tokens`` is missing.

    Source: the length penalty of Kimi k1.5 (Kimi Team 2025, arXiv:2501.12599).
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case((_text("4", 10), _text("4", 20), _text("4", 30)), (0.5, 0.0, -0.5), "all correct",
             answer="4", options=_OF),
        Case((_text("5", 10), _text("4", 20), _text("5", 30)), (0.0, 0.0, -0.5), "a wrong completion scores at most 0",
             answer="4", options=_OF),
        Case((_text("4", 20), _text("5", 20)), (0.0, 0.0), "equally long", answer="4", options=_OF),
        Case((_text("4", 10), _text("4", 15), Completion("4"), _text("4", 30)), (0.5, 0.25, None, -0.5),
             "one without num_tokens is left out", answer="4", options=_OF),
        Case(_text("4", 10), 0.0, "a group of one", answer="4", options=_OF),
        Case((_text("4", 10), _text("5", 30)), (None, None), "no gold answer: unscored", options=_OF),
    )  # fmt: skip

    @property
    def compares_completions(self) -> bool:
        return True

    def combine_group(self, rows: Sequence[tuple[Score, ...]], completions: Sequence[Completion]) -> Sequence[Score]:
        lengths = [completion.num_tokens for completion in completions if completion.num_tokens is not None]
        shortest, longest = min(lengths, default=0), max(lengths, default=0)
        return [
            _ranked(scores, completion, shortest, longest) for scores, completion in zip(rows, completions, strict=True)
        ]


def _ranked(scores: tuple[Score, ...], completion: Completion, shortest: int, longest: int) -> Score:
    outcome = _outcome(scores, completion)
    if isinstance(outcome, Score):
        return outcome
    correct, tokens = outcome
    rank = 0.5 - (tokens - shortest) / (longest - shortest) if longest > shortest else 0.0
    why = f"{'correct' if correct else 'wrong'} with {tokens} tokens; the group has {shortest} to {longest}"
    return composite_score(rank if correct else min(0.0, rank), scores, why)


def _outcome(scores: tuple[Score, ...], completion: Completion) -> tuple[bool, int] | Score:
    """Whether a completion is correct and its number of tokens, or an unscored score if either is unknown."""
    missing = next((score for score in scores if not score.scored), None)
    if missing is not None:
        return unscored_composite(missing, scores)
    if completion.num_tokens is None:
        return Score(None, "not_applicable", explanation=UNKNOWN, parts=scores)
    return all(is_correct(score.value) for score in scores), completion.num_tokens


def _check_max_tokens(name: str, max_tokens: int) -> None:
    if max_tokens < 1:
        raise UsageError(f"{name}: max_tokens must be at least 1, not {max_tokens}")
