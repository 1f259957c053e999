"""The kinds of gold answers, and that what is no mathematics is compared as it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Score
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.answers.gold import kind_of_gold
from grpo_env.verifiers.answers.kinds.date import read_date, same_date
from grpo_env.verifiers.answers.kinds.plain_text import plain, same_text
from grpo_env.verifiers.answers.kinds.which_kind import KINDS, kind_of

from ...tables import check_all, read

ROWS = read("gold_kinds")
AS_TEXT = sorted({row["gold"] for row in ROWS.values() if row["kind"] in ("text", "date", "literal")})
SIGNS = [*"0 1 12 A x . - / : + @ # { } [ ] ^ _ May pm".split(), '"', "\\text{", "\x00", "\ud800", " ", "\n"]  # noqa: SIM905
FRAGMENTS = st.sampled_from([*AS_TEXT, *SIGNS])
TEXTS = st.one_of(st.text(max_size=60), st.lists(FRAGMENTS, max_size=12).map("".join))


def score(gold: str, completion: str, **options: Any) -> Score:
    return find("accuracy")(**options)(Example("x", answer=gold), Completion(completion))


def test_the_kind_of_a_gold_answer() -> None:
    check_all(ROWS.items(), check_kind)


def check_kind(row: dict[str, str]) -> None:
    assert kind_of(row["gold"]) == row["kind"]
    assert kind_of_gold(f"Some work.\n#### {row['gold']}") == row["kind"]


def test_every_kind_has_examples() -> None:
    assert {row["kind"] for row in ROWS.values()} == set(KINDS)


@pytest.mark.parametrize("form", ["<answer>{}</answer>", "#### {}", r"\boxed{{{}}}", r"\boxed{{\text{{{}}}}}"])
def test_what_is_no_mathematics_equals_itself(form: str) -> None:
    for gold in AS_TEXT:
        if "#" in form and ("\n" in gold or gold == "3 o'clock"):
            continue  # it is one line, and a number decides
        if "boxed" in form and (any(sign in gold for sign in "{}\\") or gold == "??"):
            continue  # braces in a box are LaTeX's, and question marks a blank
        assert score(gold, form.format(gold)).value == 1, gold


def test_a_sentence_ends_after_the_answer_and_not_inside_of_it() -> None:
    for gold in AS_TEXT:
        if gold.startswith("Sept.") or "\n" in gold:
            continue  # looks like the end of a sentence
        assert score(gold, f"I looked it up. The answer is {gold}.").value == 1, gold


def test_a_changed_digit_or_letter_is_wrong() -> None:
    for gold in AS_TEXT:
        if len(gold) > 2 and "\\" not in gold:
            for at, character in enumerate(gold):
                if character.isascii() and character.isalnum():
                    check_changed(gold, at, character)


def check_changed(gold: str, at: int, character: str) -> None:
    changed = "7" if character == "3" else "3" if character.isdecimal() else "q" if character not in "qQ" else "w"
    assert score(gold, f"<answer>{gold[:at]}{changed}{gold[at + 1 :]}</answer>").value == 0, (gold, at, changed)


@given(gold=TEXTS)
@settings(max_examples=200, deadline=None)
def test_every_text_has_a_kind(gold: str) -> None:
    assert kind_of(gold) in KINDS


@given(first=TEXTS, second=TEXTS)
@settings(max_examples=200, deadline=None)
def test_texts_and_dates_compare_symmetrically(first: str, second: str) -> None:
    one, other = plain(first), plain(second)
    assert same_text(one, one)
    assert same_text(one, other) == same_text(other, one)
    if (date := read_date(one)) and (other_date := read_date(other)):
        assert same_date(date, other_date) == same_date(other_date, date)


@pytest.mark.parametrize(
    "unit",
    ["1.", "1-", "a@", "a.", "A1 ", "H2", "CO", "(OH)2", "0:", "::", "x", "1x", "May ", "1/", "-> ", "{", "\\text{",
     "[a-", "_{1}", "12 ", "a_", "#", "'", "<b", "'1", "A + ", "00", ".com", "ls -", "1,000-", "C:\\a", "\\d+",
     "1-1 ", "2s2 ", "A.", "gate ", "1.234 ", "\u0301\u0323"],
)  # fmt: skip
def test_long_gold_answers_take_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    text = long_text(unit)
    assert kind_of(text) in KINDS
    assert kind_of(text[:299]) in KINDS
    assert score("192.168.0.1", f"<answer>{text}</answer>").value == 0
    assert score("192.168.0.1", f"<answer>{text[:299]}</answer>").value == 0


GOLDS = [
    "B",
    "(B) 29",
    "yes",
    "2024-05-05",
    "[1, 2]",
    "x+1",
    "(1,2)",
    "18",
    "\\{1,2\\}",
    "Paris",
    "50%",
    "18 m",
    "(0,1]",
]
FORMS = ["<answer>{}</answer>", "\\boxed{{{}}}", "The answer is {}"]


@pytest.mark.parametrize("gold", GOLDS)
def test_long_answers_take_linear_time_with_every_kind_of_gold_answer(
    gold: str, long_text: Callable[[str], str]
) -> None:
    """Each in one form; that every form is found in linear time is tested in ``extract/test_extract.py``."""
    for number, unit in enumerate(("x", "7", "'", "A, ", "1.", "no, ", "(1,", "x+", "- ")):
        form = FORMS[(number + GOLDS.index(gold)) % len(FORMS)]
        assert not score(gold, form.format(long_text(unit))).value


def test_a_kind_can_be_fixed() -> None:
    assert score("2024", "<answer>2024</answer>", kind="date").status == "bad_gold"
    assert score("3-1", "<answer>2</answer>", kind="formula", unevaluated="correct").value == 1
    assert score("May 5, 2024", "<answer>5 May 2024</answer>", kind="date").kind == "date"
    for kind, gold in (("literal", "x"), ("truth", "5"), ("choice", "Paris"), ("tuple", "5"), ("number", "Paris")):
        result = score(gold, "<answer>5</answer>", kind=kind)
        assert (result.status, result.kind) == ("bad_gold", None)
        assert kind in result.explanation
    with pytest.raises(UsageError, match="kind"):
        find("accuracy")(kind="dates")


def test_golds_of_several_kinds() -> None:
    any_of = json.dumps(["3-1", "May 1, 2024", "5"])
    for answer, value in (("3–1", 1), ("1 May 2024", 1), ("5.0", 1), ("2", 0), ("4", 0)):  # noqa: RUF001
        assert score(any_of, f"<answer>{answer}</answer>", golds="any").value == value
    all_of = json.dumps(["A1", "B2"])
    for answer, value in (("B2, A1", 1), ("A1 and B2", 1), ("1A, 2B", 0), ("A1", 0)):
        assert score(all_of, f"<answer>{answer}</answer>", golds="all").value == value
