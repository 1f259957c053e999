"""Rewards for length in tokens: DAPO's soft punishment, a cosine over the length, and a rank within the group.

The tokens are those that the completion itself says it has (``num_tokens``: the trainer counts them, a file has a
column for them). Characters are no substitute: a text of unknown length is unscored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grpo_env.core import Case, Completion, Example, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .parts import Unweighted, composite_score, unscored_composite

UNKNOWN = "its number of tokens is not known: files need a column num_tokens"

_OF: dict[str, Any] = {"of": {"accuracy": {}}}
_COSINE: dict[str, Any] = {**_OF, "max_tokens": 100}


def _text(answer: str, num_tokens: int | None) -> Completion:
    return Completion(answer, num_tokens=num_tokens)


@verifier("overlong")
@dataclass(frozen=True)
class Overlong(Verifier):
    """0 up to a length, then falling to -1: a soft punishment for completions that get too long.

    With ``n`` tokens it is 0 up to ``max_tokens - buffer``, ``(max_tokens - buffer - n) / buffer`` up to
    ``max_tokens``, and -1 beyond. Set ``max_tokens`` to where sampling cuts off (``max_new_tokens``) or less.
    A completion whose tokens were not counted is unscored.

    Source: DAPO (Yu et al. 2025, arXiv:2503.14476), equation 13, with 20,480 and 4,096 tokens. Elsewhere: not bounded
    at -1 where a text may be longer than ``max_tokens``, or a division by zero without a buffer. Here: neither.
    """

    max_tokens: int
    """The length in tokens from which on it is -1; 1 or more."""
    buffer: int | None = None
    """The tokens before ``max_tokens`` over which it falls; by default a fifth of them, 0 for a sharp edge."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(_text("up to the buffer", 80), 0.0, "80 = 100 - 20", options={"max_tokens": 100}),
        Case(_text("in the buffer", 85), -0.25, "(80 - 85) / 20", options={"max_tokens": 100}),
        Case(_text("at the maximum", 100), -1.0, "(80 - 100) / 20", options={"max_tokens": 100}),
        Case(_text("far beyond", 400), -1.0, "never below -1", options={"max_tokens": 100}),
        Case(_text("sharp", 100), 0.0, "no buffer: punished beyond only", options={"max_tokens": 100, "buffer": 0}),
        Case("nobody counted", None, "characters are not tokens", options={"max_tokens": 100}),
    )

    def __post_init__(self) -> None:
        _check_max_tokens("overlong", self.max_tokens)
        if self.buffer is not None and not 0 <= self.buffer <= self.max_tokens:
            raise UsageError(f"overlong: buffer must be between 0 and max_tokens, not {self.buffer}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        tokens = completion.num_tokens
        if tokens is None:
            return Score(None, "not_applicable", explanation=UNKNOWN)
        buffer = self.max_tokens // 5 if self.buffer is None else self.buffer
        free = self.max_tokens - buffer
        if tokens > self.max_tokens:
            return Score(-1.0, explanation=f"{tokens} tokens are more than {self.max_tokens}")
        if tokens > free:
            return Score((free - tokens) / buffer, explanation=f"{tokens} tokens: {tokens - free} into the buffer")
        return Score(0.0, explanation=f"{tokens} tokens")


@verifier("cosine_length")
@dataclass(frozen=True)
class CosineLength(Unweighted):
    """Right completions are worth more the shorter they are, wrong ones less: a cosine over the length in tokens.

    With ``n`` tokens it is ``end + (start - end) * (1 + cos(pi * min(n / max_tokens, 1))) / 2``, where ``start`` and
    ``end`` are the two numbers of ``right`` or ``wrong``. Right is what its parts under ``of`` say: a completion with 1
    or more in all of them. It is unscored if a part is, or if its tokens were not counted.

    Source: Yeo et al. 2025 (arXiv:2502.03373), with the default values of open-r1. There: characters, and beyond the
    maximum the cosine climbed again, so that a right text of twice the maximum was paid like an empty one; a gold that
    did not parse paid 1. Here: tokens, constant from the maximum on, unscored.
    """

    max_tokens: int = 1000
    """The length in tokens from which on the value stays the same; 1 or more."""
    right: tuple[float, float] = (1.0, 0.5)
    """The values of right completions with no tokens and with ``max_tokens``."""
    wrong: tuple[float, float] = (-1.0, -0.5)
    """The values of wrong completions with no tokens and with ``max_tokens``."""
    exceeded: float | None = None
    """The value of all completions of ``max_tokens`` or more, right or wrong, if it is to be another."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(_text("4", 0), 1.0, "right and as short as can be", answer="4", options=_COSINE),
        Case(_text("4", 50), 0.75, "right, half way: cos(pi / 2) is 0", answer="4", options=_COSINE),
        Case(_text("4", 100), 0.5, "right, but long", answer="4", options=_COSINE),
        Case(_text("4", 200), 0.5, "longer does not climb again", answer="4", options=_COSINE),
        Case(_text("5", 0), -1.0, "wrong without an effort", answer="4", options=_COSINE),
        Case(_text("5", 50), -0.75, "wrong, half way", answer="4", options=_COSINE),
        Case(_text("4", 100), -2.0, "cut off", answer="4", options={**_COSINE, "exceeded": -2.0}),
        Case("4", None, "nobody counted the tokens", answer="4", options=_COSINE),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_max_tokens("cosine_length", self.max_tokens)

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        judged = _judged(scores, completion)
        if isinstance(judged, Score):
            return judged
        right, tokens = judged
        start, end = self.right if right else self.wrong
        progress = min(tokens / self.max_tokens, 1.0)
        value = end + (start - end) * (1 + math.cos(math.pi * progress)) / 2
        if self.exceeded is not None and progress == 1.0:
            value = self.exceeded
        return composite_score(value, scores, f"{'right' if right else 'wrong'} with {tokens} tokens")


@verifier("length_rank")
@dataclass(frozen=True)
class LengthRank(Unweighted):
    """Of the completions of one prompt the shorter are worth more: from 0.5 for the shortest down to -0.5.

    ``rank = 0.5 - (n - shortest) / (longest - shortest)``, in tokens, over all completions of the prompt whose tokens
    were counted. A right completion is worth its rank, a wrong one at most 0: ``min(0, rank)``. If all are equally
    long (or there is only one) all are worth 0. Right is what its parts under ``of`` say: a completion with 1 or more
    in all of them. It is unscored if a part is, or if its tokens were not counted.

    Source: Kimi k1.5 (Kimi Team 2025, arXiv:2501.12599), the length penalty. There (open-r1): ranked over everything
    that was judged in one call, prompts mixed, and in characters. Here: within the group of a prompt, in tokens.
    """

    cases: ClassVar[tuple[Case, ...]] = (
        Case((_text("4", 10), _text("4", 20), _text("4", 30)), (0.5, 0.0, -0.5), "all right", answer="4", options=_OF),
        Case((_text("5", 10), _text("4", 20), _text("5", 30)), (0.0, 0.0, -0.5), "being short does not pay if wrong",
             answer="4", options=_OF),
        Case((_text("4", 20), _text("5", 20)), (0.0, 0.0), "equally long", answer="4", options=_OF),
        Case((_text("4", 10), _text("4", 15), Completion("4"), _text("4", 30)), (0.5, 0.25, None, -0.5),
             "one was not counted: it is left out", answer="4", options=_OF),
        Case(_text("4", 10), 0.0, "a group of one", answer="4", options=_OF),
        Case((_text("4", 10), _text("5", 30)), (None, None), "no gold: nothing is right or wrong", options=_OF),
    )  # fmt: skip

    def combine_group(self, rows: Sequence[tuple[Score, ...]], completions: Sequence[Completion]) -> Sequence[Score]:
        lengths = [completion.num_tokens for completion in completions if completion.num_tokens is not None]
        shortest, longest = min(lengths, default=0), max(lengths, default=0)
        return [
            _ranked(scores, completion, shortest, longest) for scores, completion in zip(rows, completions, strict=True)
        ]

    def combine(self, scores: tuple[Score, ...], completion: Completion) -> Score:
        return self.combine_group([scores], [completion])[0]


def _ranked(scores: tuple[Score, ...], completion: Completion, shortest: int, longest: int) -> Score:
    judged = _judged(scores, completion)
    if isinstance(judged, Score):
        return judged
    right, tokens = judged
    rank = 0.5 - (tokens - shortest) / (longest - shortest) if longest > shortest else 0.0
    why = f"{'right' if right else 'wrong'} with {tokens} tokens of {shortest} to {longest}"
    return composite_score(rank if right else min(0.0, rank), scores, why)


def _judged(scores: tuple[Score, ...], completion: Completion) -> tuple[bool, int] | Score:
    """Whether a completion is right and how many tokens it has, or the score of one of which that is not known."""
    missing = next((score for score in scores if not score.scored), None)
    if missing is not None:
        return unscored_composite(missing, scores)
    if completion.num_tokens is None:
        return Score(None, "not_applicable", explanation=UNKNOWN, parts=scores)
    return _is_right(scores), completion.num_tokens


def _is_right(scores: tuple[Score, ...]) -> bool:
    return all(score.value is not None and score.value >= 1 for score in scores)


def _check_max_tokens(name: str, max_tokens: int) -> None:
    if max_tokens < 1:
        raise UsageError(f"{name}: max_tokens must be at least 1, not {max_tokens}")
