"""Verifiers of answers that are compared otherwise than by ``accuracy``: the table, options, and hostile texts."""

from __future__ import annotations

import json
import pickle
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.exact_text import ExactText
from grpo_env.verifiers.pattern import Pattern

ROWS = [json.loads(line) for line in (Path(__file__).parent / "cases/other_answers.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=range(1, len(ROWS) + 1))
def test_rows(row: dict[str, Any]) -> None:
    verifier = find(row["verifier"])(**row["options"])
    example = Example("x", answer=row["gold"])
    score = verifier(example, Completion(row["completion"]))
    assert score.value == (None if row["value"] is None else pytest.approx(row["value"])), f"{row['why']}: {score}"
    assert score.status == row.get("status", score.status), f"{row['why']}: {score}"
    assert (score.status == "bad_gold") == (verifier.problem(example) is not None)
    assert score.explanation


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exact_text", {"whitespace": "some"}, "whitespace: 'some' is not one of exact, collapse, ignore"),
        ("exact_text", {"unicode": "NFX"}, "unicode"),
        ("exact_text", {"read": "all"}, "read"),
        ("exact_text", {"golds": "all"}, "golds"),
        ("exact_text", {"sources": ("box",)}, "sources"),
        ("exact_text", {"sources": ()}, "sources"),
        ("choice", {"sources": ("boxed", "boxed")}, "sources"),
        ("integer_answer", {"sources": ("a",)}, "sources"),
        ("pattern", {"pattern": "("}, r"missing \)"),
        ("pattern", {"pattern": "(?=a)"}, "look-around and back-references are not regular"),
        ("pattern", {"pattern": r"(a)\1"}, "look-around and back-references are not regular"),
        ("pattern", {"pattern": "(a{1000}){1000}"}, "cannot be read"),
        ("pattern", {"pattern": "\ud800"}, "lone surrogate"),
        ("pattern", {"read": "all"}, "read"),
        ("strict_format", {"pattern": "["}, "missing ]"),
        ("soft_format", {"pattern": "["}, "missing ]"),
        ("soft_format", {"pattern": "a", "format": Format(answer=None)}, "the format has no answer block"),
    ],
)
def test_invalid_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(name)(**options)


HOSTILE: list[tuple[str, str | None, dict[str, Any]]] = [
    ("exact_text", "a", {}),
    ("exact_text", "a", {"ignore_case": True, "ignore_punctuation": True, "unicode": "NFKC", "read": "text"}),
    ("pattern", None, {"pattern": "(a|aa|[^x]?)*y", "read": "text"}),
    ("pattern", None, {"pattern": "(a+)+y"}),
    ("strict_format", None, {"pattern": "(a|aa|[^x]?)*y"}),
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


@pytest.mark.parametrize(
    ("name", "gold", "options"), HOSTILE, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
@pytest.mark.parametrize("tag", ["<answer>{}</answer>", "{}"], ids=["tag", "bare"])
def test_long_texts_take_linear_time(
    name: str, gold: str | None, options: dict[str, Any], unit: str, tag: str, long_text: Callable[[str], str]
) -> None:
    score = find(name)(**options)(Example("x", answer=gold), Completion(tag.replace("{}", long_text(unit))))
    assert score.value == 0


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
        return ExactText(format=Format(answer=None), read="text", **options)(
            Example("x", answer=text), Completion(other)
        ).value

    def by_hand(text: str) -> str:
        return " ".join(unicodedata.normalize("NFC", text).split())

    if by_hand(text) and by_hand(other):
        assert score() == (by_hand(text) == by_hand(other))
        assert score(ignore_case=True) == (by_hand(text).lower() == by_hand(other).lower())
        assert score(whitespace="ignore") == (by_hand(text).replace(" ", "") == by_hand(other).replace(" ", ""))


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", ".", "a?", r"\d"]),
    lambda inner: st.tuples(inner, inner).flatmap(
        lambda pair: st.sampled_from([f"{pair[0]}{pair[1]}", f"(?:{pair[0]}|{pair[1]})", f"(?:{pair[0]})*"])
    ),
    max_leaves=6,
)


@given(pattern=PATTERNS, text=st.text(st.sampled_from("ab1"), min_size=1, max_size=6))
def test_patterns_match_what_the_regular_expressions_of_python_match(pattern: str, text: str) -> None:
    score = Pattern(pattern=pattern, read="text")(Example("x"), Completion(text))
    assert score.value == (re.fullmatch(pattern, text) is not None)
