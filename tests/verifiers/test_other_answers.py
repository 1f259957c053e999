"""Verifiers of answers that are compared otherwise than by ``accuracy``: the table, options, and hostile texts."""

from __future__ import annotations

import math
import pickle
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.exact_text import ExactText
from grpo_env.verifiers.numeric import Numeric

from .tables import check_all, read


def test_rows() -> None:
    check_all(read("other_answers").items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    verifier = find(row["verifier"])(**row["options"])
    example = Example("x", answer=row["gold"])
    score = verifier(example, Completion(row["completion"]))
    assert score.value == (None if row["value"] is None else pytest.approx(row["value"])), f"{row['why']}: {score}"
    assert score.status == row.get("status", score.status), f"{row['why']}: {score}"
    assert (score.status == "bad_gold") == (verifier.problem(example) is not None)
    assert score.explanation


TOLERANT = ("accuracy", "numeric", "majority")
TIMED = ("accuracy", "math_verify", "majority")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exact_text", {"golds": "all"}, "golds"),
        ("exact_text", {"sources": ("box",)}, "sources"),
        ("exact_text", {"sources": ()}, "sources"),
        ("choice", {"sources": ("boxed", "boxed")}, "sources"),
        ("json_answer", {"mode": "some"}, "mode: 'some'"),
        *((name, {"rel_tol": 1.0}, "rel_tol: 1 is not 0 or more and below 1") for name in TOLERANT),
        *((name, {"rel_tol": bad}, "rel_tol") for name in TOLERANT for bad in (-1.0, math.nan)),
        *((name, {"timeout": bad}, "timeout") for name in TIMED for bad in (0.0, math.nan, math.inf)),
        ("numeric", {"abs_tol": -1.0}, "abs_tol"),
        ("numeric", {"abs_tol": math.inf}, "abs_tol"),
    ],
)
def test_invalid_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(name)(**options)


HOSTILE: list[tuple[str, str | None, dict[str, Any]]] = [
    ("exact_text", "a", {}),
    ("exact_text", "a", {"ignore_case": True, "ignore_punctuation": True}),
    ("json_answer", '{"a": 1}', {}),
    ("json_answer", '{"a": 1}', {"mode": "fields"}),
    ("numeric", "12", {"rel_tol": 0.1}),
    ("choice", "C", {"sources": ("boxed", "phrase")}),
]
UNITS = [
    "a",
    "a ",
    "\n",
    "{",
    "[",
    '{"a":',
    "`",
    "```\n",
    "\\boxed{",
    "1",
    "0.1",
    "9e9",
    "\u0301\u0316",
    "\ufdfa",
    "\ud800",
]


@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
@pytest.mark.parametrize("tag", ["<answer>{}</answer>", "{}"], ids=["tag", "bare"])
def test_long_texts_take_linear_time(unit: str, tag: str, long_text: Callable[[str], str]) -> None:
    completion = Completion(tag.replace("{}", long_text(unit)))
    for name, gold, options in HOSTILE:
        score = find(name)(**options)(Example("x", answer=gold), completion)
        assert score.value == 0, (name, gold, options, score)


def test_a_long_text_of_combining_marks_in_the_worst_order_is_bounded() -> None:
    text = "<answer>a" + "\u0301" * 9_990 + "\u0316" * 9_990 + "</answer>"
    assert ExactText()(Example("x", answer="a"), Completion(text)).value == 0


def test_verifiers_can_be_pickled_with_their_options() -> None:
    for name, gold, options in HOSTILE:
        verifier = pickle.loads(pickle.dumps(find(name)(**options)))
        assert verifier == find(name)(**options)
        assert verifier(Example("x", answer=gold), Completion("")).value == 0


@given(
    text=st.text(st.sampled_from("aB .é\u0301ﬁ!"), min_size=1, max_size=8),
    other=st.text(st.sampled_from("aB .é!"), max_size=8),
)
def test_exact_text_agrees_with_normalization_by_hand(text: str, other: str) -> None:
    def score(**options: Any) -> float | None:
        return ExactText(sources=("answer_tag",), **options)(
            Example("x", answer=text), Completion(f"<answer>{other}</answer>")
        ).value

    def by_hand(text: str) -> str:
        return " ".join(unicodedata.normalize("NFC", text).split())

    if by_hand(text) and by_hand(other):
        assert score() == (by_hand(text) == by_hand(other))
        assert score(ignore_case=True) == (by_hand(text).lower() == by_hand(other).lower())


@given(
    gold=st.decimals(-1000, 1000, places=3),
    answer=st.decimals(-1000, 1000, places=3),
    rel_tol=st.sampled_from([0.0, 0.01, 0.5]),
    abs_tol=st.sampled_from([0.0, 0.1, 300.0]),
)
def test_numeric_against_decimal_arithmetic(gold: Decimal, answer: Decimal, rel_tol: float, abs_tol: float) -> None:
    score = Numeric(rel_tol=rel_tol, abs_tol=abs_tol)(
        Example("x", answer=f"{gold}"), Completion(f"<answer>{answer}</answer>")
    )
    difference = abs(gold - answer)
    assert score.value == (difference <= Decimal(str(abs_tol)) or difference <= Decimal(str(rel_tol)) * abs(gold))
