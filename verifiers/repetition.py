"""A penalty for text that repeats itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import passage
from .words import words

LONGEST = 10  # units per n-gram, to bound the memory for texts of a megabyte


@verifier("repetition")
@dataclass(frozen=True)
class Repetition(Verifier):
    """Minus the fraction of n-grams that are repeats: ``-(1 - different / all)``, between -1 and 0.

    N-grams consist of words, ignoring case (characters in scripts without spaces), or of the sampled tokens, which are
    unscored without a column ``token_ids``. The format's tags are no words. A text shorter than ``n`` scores 0.
    Ordinary prose scores slightly below 0.

    Source: Yeo et al. 2025, Demystifying Long Chain-of-Thought Reasoning in LLMs, as in open-r1 and TRL.
    """

    format: Format = field(default_factory=Format)
    n: int = 3
    """Units per n-gram, 1 to 10."""
    unit: Literal["word", "token"] = "word"
    """The unit of an n-gram."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("we count the eggs and sell them", 0.0, "no repeats"),
        Case("so it is", 0.0, "one trigram"),
        Case("so it", 0.0, "shorter than a trigram"),
        Case("wait, no. Wait, no. wait, no", -0.5, "2 different trigrams of 4"),
        Case("and so on " * 100, -0.9899328859, "3 different trigrams of 298"),
        Case("等等等等等", -2 / 3, "1 different trigram of 3, in Chinese"),
        Case(
            Completion("ab ab", token_ids=(7, 8, 7, 8, 7)),
            -1 / 3,
            "2 of 3 trigrams of tokens",
            options={"unit": "token"},
        ),
        Case("ab ab", None, "no token ids", options={"unit": "token"}),
    )

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"repetition: n must be 1 to {LONGEST}, not {self.n}")

    @property
    def counts_tokens(self) -> bool:
        return self.unit == "token"

    def __call__(self, example: Example, completion: Completion) -> Score:
        units = self._units(completion)
        if units is None:
            return Score(None, "not_applicable", explanation="the completion has no token ids (column token_ids)")
        total = len(units) - self.n + 1
        if total < 1:
            return Score(0.0, explanation=f"shorter than {self.n} {self.unit}s")
        different = len(set(zip(*(units[first:] for first in range(self.n)), strict=False)))
        return Score(
            different / total - 1, explanation=f"{different} of {total} runs of {self.n} {self.unit}s are different"
        )

    def _units(self, completion: Completion) -> Sequence[object] | None:
        """The units of a completion; ``None`` if it has no token ids."""
        if self.unit == "token":
            return completion.token_ids
        text = passage("all", self.format, completion) or ""
        return list(words(text.casefold()))
