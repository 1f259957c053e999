"""Rewards the use of keywords: a hint for early training, easily memorized."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .blocks import Where, passage
from .segments import spans
from .words import MARKS, is_spaced, normalized, words


@verifier("keywords")
@dataclass(frozen=True)
class Keywords(Verifier):
    """``each`` per distinct keyword in the text, up to ``most``; 0.1 and 0.5 by default.

    A keyword is a word or a phrase; case is ignored. It must match whole words ("sum" is not in "summer"), except in
    scripts without spaces, in a sentence with at least as many other words as keywords: a bare list scores 0. Where
    two keywords overlap the longer one counts. A text without the block that ``where`` names scores 0 (``no_answer``).

    Source: the keyword reward of the R1 tutorials.
    """

    keywords: tuple[str, ...]
    """Words or phrases."""
    format: Format = field(default_factory=Format)
    each: float = 0.1
    """The value of a keyword, above 0."""
    most: float = 0.5
    """The maximum value, at least ``each``."""
    where: Where = "reasoning"
    """The block to search: ``reasoning``, ``answer``, or ``all`` of the text."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>The sum of each row is 9.</think>", 0.2, "two keywords", options={"keywords": ["row", "Sum"]}),
        Case("<think>So there is no  repeat here.</think>", 0.1, "a phrase", options={"keywords": ["no repeat"]}),
        Case("<think>每一行的和都是九。</think>", 0.1, "a script without spaces", options={"keywords": ["行"]}),
        Case(
            "<think>One two, then three and also four more.</think>",
            0.2,
            "four keywords, at most 0.2",
            options={"keywords": ["one", "two", "three", "four"], "most": 0.2},
        ),
        Case("<think>In summer it rows.</think>", 0.0, "parts of words", options={"keywords": ["row", "sum"]}),
        Case("<think>Row, sum, row!</think>", 0.0, "a bare list", options={"keywords": ["row", "sum"]}),
        Case("<think>It is 9.</think>The row sums up.", 0.0, "not in the reasoning", options={"keywords": ["row"]}),
    )

    def __post_init__(self) -> None:
        if not self.keywords or not all(any(words(keyword)) for keyword in self.keywords):
            raise UsageError("keywords: keywords must be a list of words or phrases, none of them empty")
        if not 0 < self.each <= self.most < float("inf"):
            raise UsageError(f"keywords: expected 0 < each <= most, not each {self.each:g} and most {self.most:g}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = passage(self.where, self.format, completion)
        if text is None:
            return Score(0.0, "no_answer", explanation=f"no {self.where} block")
        text = _folded(text)
        used: set[str] = set()
        for sentence in {text[start:end] for start, end in spans(text, 0, len(text), "sentence")}:
            counts = Counter(_pattern(self.keywords).findall(sentence))
            if counts and 2 * sum(_count(keyword) * times for keyword, times in counts.items()) <= _count(sentence):
                used.update(" ".join(keyword.split()) for keyword in counts)
        names = ", ".join(sorted(used)) or "none"
        return Score(min(self.most, self.each * len(used)), explanation=f"keywords used: {names}")


@lru_cache(maxsize=64)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str]:
    """Matches any keyword, longest first, as whole words in scripts with spaces."""
    alternatives: dict[str, list[str]] = {rf"(?<![\w{MARKS}])": [], "": []}  # by the required context before them
    for keyword in sorted(map(_folded, keywords), key=len, reverse=True):
        before = rf"(?<![\w{MARKS}])" if is_spaced(keyword.strip()[0]) else ""
        after = rf"(?![\w{MARKS}])" if is_spaced(keyword.strip()[-1]) else ""
        alternatives[before].append(r"\s{1,9}".join(map(re.escape, keyword.split())) + after)
    return re.compile("|".join(f"{before}(?:{'|'.join(group)})" for before, group in alternatives.items() if group))


def _folded(text: str) -> str:
    return normalized("NFC", text).casefold()


def _count(text: str) -> int:
    return sum(1 for _ in words(text))
