"""Does the answer match a regular expression?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .answer_text import Read, check_sources, read_completion, shown, spellings
from .answers.extract import SOURCES, Source
from .linear_regex import MAX_LENGTH, is_full_match, linear_regex


@verifier("pattern")
@dataclass(frozen=True)
class Pattern(Verifier):
    r"""1 if a regular expression matches all of the answer, else 0.

    The expression is the option ``pattern``, or else each example's gold answer (``bad_gold`` if it cannot be read).
    RE2 matches it in linear time: no look-around and no back-references; ``\d`` and ``\w`` are ASCII; begin with
    ``(?s)`` for a ``.`` that also matches newlines, with ``(?i)`` to ignore case. What may stand around the answer is
    as in ``exact_text``. Of several answers all must match. More than 1,000,000 characters are ``over_limit``.

    Source: the regular expressions of reward functions, mostly ``re.search``, which any list of guesses satisfies.
    """

    pattern: str | None = None
    """The expression, which must match from the start to the end; by default the gold answer is one."""
    format: Format = field(default_factory=Format)
    read: Read = "answer"
    """What is matched: the final ``answer``, or the ``text`` in the answer block, else all after the reasoning."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides. ``[boxed]`` reads boxes and nothing else."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>2024-05-01</answer>", 1.0, "a date", options={"pattern": r"\d{4}-\d\d-\d\d"}),
        Case("The answer is **grey**.", 1.0, "the gold answer is the pattern", answer="gr[ae]y"),
        Case(
            "<think>Easy.</think>Dear Ann,\nyes.\nYours, Bob",
            1.0,
            "all of the text",
            options={"pattern": "(?s)Dear .*Yours, Bob", "read": "text"},
        ),
        Case("<answer>It is 2024-05-01</answer>", 0.0, "more than a date", options={"pattern": r"\d{4}-\d\d-\d\d"}),
        Case("<answer>GREY</answer>", 0.0, "another case", answer="gr[ae]y"),
        Case("<answer>grey</answer>", None, "the gold answer is not a pattern", answer="gr[ae"),
    )

    def __post_init__(self) -> None:
        check_sources("pattern", self.sources)
        if self.pattern is not None:
            linear_regex(self.pattern)

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        pattern = self.pattern if self.pattern is not None else example.answer or ""
        final = read_completion(self.read, self.format, completion, self.sources)
        score = Score(0.0, answer=shown(final.answers), gold=shown((pattern,)))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied:
            return replace(score, explanation=final.told("the text denies it"))
        if sum(map(len, final.answers)) > MAX_LENGTH:
            return replace(score, status="over_limit", explanation=f"an answer of more than {MAX_LENGTH:,} characters")
        matches = all(
            any(is_full_match(pattern, text) for text in spellings(final, answer)) for answer in final.answers
        )
        why = "matches" if matches else "does not match"
        return replace(score, value=float(matches), explanation=final.told(f"{why} the pattern", matches))

    def problem(self, example: Example) -> str | None:
        if self.pattern is not None:
            return None
        if not example.answer:
            return "there is neither a pattern nor a gold answer"
        try:
            linear_regex(example.answer)
        except UsageError as error:
            return str(error)
        return None
