"""Does the text repeat itself? A penalty for loops, the cheapest way to be long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import Where, passage
from .words import words

LONGEST = 10  # units of an n-gram: bounds what a text of a megabyte may take


@verifier("repetition")
@dataclass(frozen=True)
class Repetition(Verifier):
    """Minus the share of n-grams that are repeats: ``-(1 - different / all)``, between -1 and 0.

    N-grams are of words, in any case; where a script has no spaces every character is a word. They may be of characters
    instead, white space aside, or of the sampled tokens: in training, and in files with a column ``token_ids``; without
    one it is unscored. A text shorter than ``n`` repeats nothing and is worth 0. Ordinary prose is not far below 0; use
    a weight for the size.

    Source: Yeo et al., Demystifying Long Chain-of-Thought Reasoning in LLMs (2025), by way of open-r1 and TRL. There:
    what stood between spaces was a word, so that Chinese needed a segmenter; TRL takes token ids.
    """

    format: Format = field(default_factory=Format)
    n: int = 3
    """Units in an n-gram, 1 to 10."""
    unit: Literal["word", "character", "token"] = "word"
    """What an n-gram is made of."""
    where: Where = "all"
    """The text that is looked at: the ``reasoning`` block, the ``answer`` block, or ``all`` of it without tags."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("we count the eggs and sell them", 0.0, "nothing twice"),
        Case("so it is", 0.0, "one trigram"),
        Case("so it", 0.0, "shorter than a trigram"),
        Case("wait, no. Wait, no. wait, no", -0.5, "2 different trigrams of 4"),
        Case("and so on " * 100, -0.9899328859, "3 different trigrams of 298"),
        Case("等等等等等", -2 / 3, "1 different trigram of 3, in Chinese"),
        Case("abab", -0.5, "2 different of 4", options={"n": 1, "unit": "character"}),
        Case(
            Completion("ab ab", token_ids=(7, 8, 7, 8, 7)),
            -1 / 3,
            "2 of 3 trigrams of tokens",
            options={"unit": "token"},
        ),
        Case("ab ab", None, "no token ids came with it", options={"unit": "token"}),
    )

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"repetition: n must be 1 to {LONGEST}, not {self.n}")
        if self.unit == "token" and self.where != "all":
            raise UsageError("repetition: tokens are those of the whole completion; leave out 'where', or count words")

    def __call__(self, example: Example, completion: Completion) -> Score:
        units = self._units(completion)
        if units is None:
            return Score(None, "not_applicable", explanation="no token ids came with the completion (column token_ids)")
        every = len(units) - self.n + 1
        if every < 1:
            return Score(0.0, explanation=f"shorter than {self.n} {self.unit}s")
        if isinstance(units, str):
            different = len({units[first : first + self.n] for first in range(every)})
        else:
            different = len(set(zip(*(units[first:] for first in range(self.n)), strict=False)))
        return Score(different / every - 1, explanation=f"{different} different {self.n}-grams of {every}")

    def _units(self, completion: Completion) -> str | Sequence[object] | None:
        if self.unit == "token":
            return completion.token_ids
        text = (passage(self.where, self.format, completion) or "").casefold()
        return "".join(text.split()) if self.unit == "character" else list(words(text))
