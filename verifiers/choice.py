"""Is the final answer the correct letter of several, or is it an integer?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import check_sources, shown
from .answers.extract import answer_in, final_answer
from .answers.extract.result import SOURCES, Source
from .answers.kinds.choice import MAX_ANSWER, named_options
from .answers.math.normal import normal

_INTEGER = lazy_compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d+)", re.ASCII)


@verifier("choice")
@dataclass(frozen=True)
class Choice(Verifier):
    r"""1 if the final answer is the letter of the gold option, else 0.

    The final answer is looked for as by ``accuracy``; of several texts that name an option the last one decides. It
    may read ``C``, ``(C)``, ``C.``, ``C) 42``, ``option C``, ``\text{C}``, ``**C**`` or ``c``; what follows is the
    option's text or an explanation ("C because B is too small"). A second answer is wrong: another letter in a list
    ("C, B") or after "or", a correction, a second box. A completion that names no option is ``no_answer``; a gold
    answer that is not one of the letters is ``bad_gold``. ``sources: [boxed]`` demands a box, ``[answer_tag]`` the
    format's answer tag, and one ``choice`` of each under ``all_of`` both.

    Source: the multiple-choice reward of the R1 tutorials, which only reads ``\boxed{C}`` inside the answer tag.
    """

    format: Format = field(default_factory=Format)
    letters: str = "ABCD"
    """The letters (or digits) of the options."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides, unless an answer behind it contradicts it."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(r"<think>6*7=42</think><answer>\boxed{C}</answer>", 1.0, "boxed in the answer tag", answer="C"),
        Case("<think>6*7=42</think><answer>(C) 42</answer>", 1.0, "the letter and the option's text", answer="C"),
        Case("6*7=42. The answer is option C.", 1.0, "stated", answer="(C)"),
        Case("<answer>B</answer>", 0.0, "a different letter", answer="C"),
        Case("<answer>C or D</answer>", 0.0, "two letters", answer="C"),
        Case("<answer>C because B is too small</answer>", 1.0, "a letter in its explanation", answer="C"),
        Case("<answer>C, perhaps D</answer>", 0.0, "another letter that is offered", answer="C"),
        Case(r"\boxed{B} no, \boxed{C}", 0.0, "two boxes", answer="C"),
        Case(r"\boxed{42} \boxed{C}", 0.0, "another answer beside the letter", answer="C"),
        Case("The answer is C.", 0.0, "not in a box", answer="C", options={"sources": ["boxed"]}),
        Case("The answer is C.", 0.0, "not in a tag", answer="C", options={"sources": ["answer_tag"]}),
        Case("<answer>Beats me</answer>", 0.0, "words that begin with a capital B", answer="B"),
        Case("<answer>C</answer>", None, "the gold answer is not one of the letters", answer="42"),
    )

    def __post_init__(self) -> None:
        if not self.letters.isalnum() or len(set(self.letters.casefold())) < max(2, len(self.letters)):
            raise UsageError(f"choice: letters must be two or more different letters or digits, not {self.letters!r}")
        check_sources("choice", self.sources)

    def __call__(self, example: Example, completion: Completion) -> Score:
        gold, problem = self._gold(example.answer)
        if gold is None:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = final_answer(self.format, completion, self.sources, self._names_option, "choice")
        if final.source == "boxed":  # a box without a letter counts as well
            final = final_answer(self.format, completion, ("boxed",))
        named = [named_options(answer, self.letters) for answer in final.answers]
        letters = frozenset[str]().union(*(options.letters for options in named))
        score = Score(0.0, answer=", ".join(sorted(letters)) or shown(final.answers), gold=gold)
        if not letters:
            other = f"the answer is not one of {', '.join(self.letters)}"
            why = final.told(other) if final.answers else final.reason
            return replace(score, status="no_answer", explanation=why)
        if final.denied:
            return replace(score, explanation="the text denies the answer")
        if len(letters) > 1:
            return replace(score, explanation=f"{len(letters)} different letters")
        if any(options.more or not options.letters for options in named):
            return replace(score, explanation="another answer beside the letter")
        correct = letters == {gold}
        why = "correct" if correct else "a different letter"
        return replace(score, value=float(correct), explanation=f"{final.source}: {why}")

    def problem(self, example: Example) -> str | None:
        return self._gold(example.answer)[1] or None

    def _names_option(self, text: str) -> bool:
        return bool(named_options(text, self.letters).letters)

    def _gold(self, text: str | None) -> tuple[str | None, str]:
        named = [named_options(answer, self.letters) for answer in answer_in(text or "").answers]
        letters = frozenset[str]().union(*(options.letters for options in named))
        if len(letters) == 1 and not any(options.more for options in named):
            return next(iter(letters)), ""
        return None, f"the gold answer {shown((text or '',))!r} is not one of {', '.join(self.letters)}"


@verifier("integer_answer")
@dataclass(frozen=True)
class IntegerAnswer(Verifier):
    """1 if the final answer is one integer and nothing else, else 0; it need not be the correct one.

    The final answer is looked for as by ``accuracy``. A sign, thousands separators (``1,000``, ``1 000``) and
    full-width digits are fine; a currency sign, a unit, a percent sign, a fraction, ``1e3``, ``2+3``, ``x=5`` and a
    superscript are not. Two different answers score 0.

    Source: the int reward of the R1 tutorials: ``isdigit``, which refuses ``-5`` and pays ``5²``.
    """

    format: Format = field(default_factory=Format)
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides, unless an answer behind it contradicts it."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>9*2=18</think><answer>\n18\n</answer>", 1.0, "an integer"),
        Case("<answer>-1,000</answer>", 1.0, "a sign and a separator"),
        Case(r"so it is $\boxed{18}$", 1.0, "boxed"),
        Case("<answer>2.5</answer>", 0.0, "not an integer"),
        Case("<answer>18 dollars</answer>", 0.0, "more than an integer"),
        Case("18", 0.0, "not in a box", options={"sources": ["boxed"]}),
        Case("<answer>5²</answer>", 0.0, "a power, though every character is a digit to Unicode"),
        Case("<think>18</think>", 0.0, "no answer"),
    )

    def __post_init__(self) -> None:
        check_sources("integer_answer", self.sources)

    def __call__(self, example: Example, completion: Completion) -> Score:
        final = final_answer(self.format, completion, self.sources)
        score = Score(0.0, answer=shown(final.answers))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if len(final.answers) > 1:
            return replace(score, explanation=f"{len(final.answers)} different answers")
        (answer,) = final.answers
        text = normal(answer) if len(answer) <= MAX_ANSWER else ""
        if final.denied or not _INTEGER.fullmatch(text):
            return replace(score, explanation=final.told("not an integer"))
        return replace(score, value=1.0, explanation=f"{final.source}: an integer")
