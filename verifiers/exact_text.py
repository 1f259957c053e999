"""Is the answer the same text as the gold answer?"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.registry import verifier

from .answer_text import check_sources, shown
from .answers.extract import final_answer, visible
from .answers.extract.result import SOURCES, ExtractedAnswer, Source
from .answers.kinds.json_value import text_list

MAX_TEXT = 20_000  # characters of a text that is compared; sorting combining marks takes quadratic time

_MARKS = (("**", "**"), ("`", "`"), ("$", "$"), (r"\text{", "}"), ('"', '"'), ("“", "”"))


@verifier("exact_text")
@dataclass(frozen=True)
class ExactText(Verifier):
    r"""1 if the answer is the same text as the gold answer, else 0. Nothing is compared by value: ``1.0`` is not ``1``.

    White space, the encoding of accents, and ``**bold**``, backticks, dollars, quotes or ``\text{...}`` around the
    answer make no difference; letters, case and punctuation do, except the period that ends a sentence. Several
    different answers are wrong. A gold answer of which nothing remains is ``bad_gold``; more than 20,000 characters
    are ``over_limit``.

    Source: the exact match of SQuAD and lm-eval, which also remove articles.
    """

    format: Format = field(default_factory=Format)
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides, unless an answer behind it contradicts it."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""
    ignore_punctuation: bool = False
    """Whether punctuation is removed from both texts, as by SQuAD: ``U.S.`` is ``US``. Signs such as + and $ stay."""
    golds: Literal["one", "any"] = "one"
    """``any`` of a JSON list (``{{ answers | tojson }}``) that is the gold answer then, or ``one``."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>v1.10</answer>", 1.0, "the same text", answer="v1.10"),
        Case("The answer is **TP53**.", 1.0, "bold, at the end of a sentence", answer="TP53"),
        Case("<answer>new  york</answer>", 1.0, "another case, if allowed", "New York", options={"ignore_case": True}),
        Case(
            "<answer>NYC</answer>", 1.0, "one of several gold answers", '["New York", "NYC"]', options={"golds": "any"}
        ),
        Case("<answer>v1.1</answer>", 0.0, "a different text, though 1.1 = 1.10", answer="v1.10"),
        Case("<answer>ED</answer>", 0.0, "a different text", answer="DE"),
        Case("<answer>TP53 or BRCA1</answer>", 0.0, "more than the gold answer", answer="TP53"),
        Case(
            "<answer>?</answer>", None, "nothing remains of the gold answer", "!", options={"ignore_punctuation": True}
        ),
    )

    def __post_init__(self) -> None:
        check_sources("exact_text", self.sources)

    def __call__(self, example: Example, completion: Completion) -> Score:
        golds, problem = self._golds(example.answer)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = final_answer(self.format, completion, self.sources)
        score = Score(0.0, answer=shown(final.answers), gold=shown(golds))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied:
            return replace(score, explanation=final.told("the text denies it"))
        if sum(map(len, final.answers)) > MAX_TEXT:
            return replace(score, status="over_limit", explanation=f"an answer of more than {MAX_TEXT:,} characters")
        accepted = {self._comparable(gold) for gold in golds}
        same = [
            any(self._comparable(text) in accepted for text in _spellings(final, answer)) for answer in final.answers
        ]
        why = "the same text" if all(same) else "several different answers" if any(same) else "a different text"
        return replace(score, value=float(all(same)), explanation=final.told(why, all(same)))

    def problem(self, example: Example) -> str | None:
        return self._golds(example.answer)[1] or None

    def _golds(self, text: str | None) -> tuple[list[str], str]:
        """The texts that a gold answer allows, itself or ``any`` of its JSON list; or none, and what is wrong."""
        if text is None or not text.strip():
            return [], "the gold answer is missing"
        texts = [text] if self.golds == "one" else text_list(text)
        if not texts:
            return [], f"golds: any needs a JSON list of texts or numbers as the gold answer, not {text[:60]!r}"
        if any(len(gold) > MAX_TEXT for gold in texts):
            return [], f"a gold answer of more than {MAX_TEXT:,} characters"
        empty = next((gold for gold in texts if not self._comparable(gold)), None)
        if empty is not None:
            return [], f"nothing remains of the gold answer {empty[:60]!r}"
        return texts, ""

    def _comparable(self, text: str) -> str:
        """The text without the differences that do not count."""
        text = unicodedata.normalize("NFC", visible(text))
        if self.ignore_case:
            text = unicodedata.normalize("NFC", text.casefold())
        if self.ignore_punctuation:
            text = "".join(character for character in text if not unicodedata.category(character).startswith("P"))
        return " ".join(text.split())


def _spellings(answer: ExtractedAnswer, text: str) -> list[str]:
    r"""An answer as it stands and without ``**…**``, backticks, dollars, quotes or a period.

    Also with the period behind it, which may be that of an abbreviation.
    """
    texts = [text]
    for opening, closing in _MARKS * 2:
        if answer.source != "answer_tag" and text.endswith("."):
            text = text[:-1]
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and inner and opening not in inner:
            text = inner.strip()
        texts.append(text)
    if len(answer.answers) == 1 and answer.end and answer.text.startswith(".", answer.end):
        texts.append(f"{texts[0]}.")  # "The answer is U.S."
    return list(dict.fromkeys(texts))
