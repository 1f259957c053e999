"""Keywords: the table, hostile texts, and what must hold for every text."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.keywords import Keywords
from grpo_env.verifiers.words import normalized

from .tables import check_all, read

ROWS = {place: row for place, row in read("texts").items() if row["verifier"] == "keywords"}
PIECES = ["row", "Sum", "sums", "no repeat", "no", "行", "word", "and", " ", " ", ". ", "\n", "</think>", "数"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
EVERYTHING = Format(reasoning=None, answer=None)
KEYWORDS = ("row", "sum", "no repeat", "行")


def test_rows() -> None:
    check_all(ROWS.items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    names = {key: row[key] for key in ("reasoning", "answer") if key in row}
    verifier = make_verifier(row["verifier"], row["options"], "the table", Format(**names))
    score = verifier(Example("x"), Completion(row["completion"], prefill=row["prefill"]))
    assert score.value == pytest.approx(row["value"]), f"{row['why']}: {score}"
    assert score.status == row.get("status", "scored")
    assert score.explanation


def value(text: str, keywords: tuple[str, ...] = KEYWORDS, most: float = 10.0) -> float:
    score = Keywords(keywords, EVERYTHING, each=1.0, most=most)(Example("x"), Completion(text))
    assert score.value is not None
    return score.value


def test_the_explanation_names_the_keywords() -> None:
    verifier = Keywords(("Row", "sum"), EVERYTHING)
    explanations = [
        verifier(Example("x"), Completion(text)).explanation for text in ("The sum of a row.", "It is nine.")
    ]
    assert explanations == ["keywords used: row, sum", "keywords used: none"]


@given(text=TEXTS, more=TEXTS)
@settings(deadline=None)
def test_sentences_add_up_and_each_keyword_counts_once(text: str, more: str) -> None:
    text_value, more_value = value(text), value(more)
    assert text_value in range(len(KEYWORDS) + 1)
    assert max(text_value, more_value) <= value(f"{text}\n{more}") <= text_value + more_value
    assert value(f"{text}\n{text}") == text_value
    assert value(text.replace("\n", "\r\n")) == text_value
    assert value(text.upper()) == text_value
    assert value(text, tuple(reversed(KEYWORDS))) == text_value
    assert value(text, (*KEYWORDS, *KEYWORDS)) == text_value
    assert value(text, most=1.0) == min(text_value, 1.0)


@pytest.mark.parametrize(
    "options",
    [{"keywords": ()}, {"keywords": ("row", " ")}, {"keywords": ("?",)}, {"keywords": ("a",), "each": 0},
     {"keywords": ("a",), "each": 0.2, "most": 0.1}, {"keywords": ("a",), "most": float("nan")},
     {"keywords": ("a",), "most": float("inf")}],
)  # fmt: skip
def test_invalid_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"keywords must be a list|expected 0 < each <= most"):
        Keywords(**options)


@pytest.mark.parametrize(
    "unit", ["a", "row ", "no ", "no" + " " * 50, "row. ", "行", "。", "sum of ", "\n", " ", "\u0301", "\u0301\u0323"]
)
def test_a_long_text_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    keywords = ("row", "sum of digits", "no repeat", "行", *(f"word {number}" for number in range(20)))
    assert value(long_text(unit), keywords) == 0


MARKS = [chr(code) for code in range(sys.maxunicode) if unicodedata.combining(chr(code))]


@pytest.mark.parametrize("mark", MARKS[::40])
def test_long_rows_of_accents_are_interrupted_before_they_are_sorted(mark: str) -> None:
    below = "\u0323" if unicodedata.combining(mark) > 220 else "\u0334"  # sorted before the mark, or after it
    assert normalized("NFD", f"e{mark}{below}" * 15) == unicodedata.normalize("NFD", f"e{mark}{below}" * 15)
    row = normalized("NFD", "e" + f"{mark}{below}" * 1000)
    assert max(map(len, row.split("\u034f"))) <= 2 * 30 + 1
    decomposed = unicodedata.normalize("NFD", "e" + f"{mark}{below}" * 1000)
    assert sorted(row.replace("\u034f", "")) == sorted(decomposed)
