"""Verifiers of answers that are compared otherwise than by ``accuracy``: the table, options, and hostile texts."""

from __future__ import annotations

import json
import math
import pickle
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.exact_text import ExactText
from grpo_env.verifiers.json_answer import JsonAnswer
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
        ("json_answer", {"mode": "some"}, "mode: 'some'"),
        ("json_answer", {"schema": {}}, "only the mode schema uses one"),
        ("json_answer", {"mode": "schema", "schema": {"type": "strin"}}, "schema: type: 'strin' is not valid"),
        ("json_answer", {"mode": "schema", "schema": {"$ref": "https://x.org/s"}}, "only references inside"),
        ("json_answer", {"mode": "schema", "schema": {"items": {"$ref": "#/$defs/a"}}}, "not in the schema"),
        ("json_answer", {"mode": "schema", "schema": {"anyOf": [{"$ref": "#"}]}}, "refers to itself without end"),
        ("json_answer", {"mode": "schema", "schema": {"pattern": "(?=a)"}}, "look-around"),
        ("json_answer", {"mode": "schema", "schema": {"not": {"patternProperties": {}}}}, "patternProperties"),
        ("json_answer", {"mode": "schema", "schema": {"$schema": "https://x.org/s"}}, "unknown \\$schema"),
        ("json_answer", {"mode": "schema", "schema": {"minimum": math.nan}}, "not JSON compliant"),
        ("json_answer", {"mode": "schema", "schema": {"const": date(2024, 5, 1)}}, "date is not JSON serializable"),
        ("soft_format", {"pattern": "a", "format": Format(answer=None)}, "the format has no answer block"),
    ],
)
def test_invalid_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(name)(**options)


# Each level is tried under both branches: 2^n attempts for n levels.
NODE = {"type": "object", "properties": {"a": {"$ref": "#"}}}
TREE = {"anyOf": [{**NODE, "required": ["x"]}, {**NODE, "required": ["y"]}, {"type": "array", "items": {"$ref": "#"}}]}

HOSTILE: list[tuple[str, str | None, dict[str, Any]]] = [
    ("exact_text", "a", {}),
    ("exact_text", "a", {"ignore_case": True, "ignore_punctuation": True, "unicode": "NFKC", "read": "text"}),
    ("pattern", None, {"pattern": "(a|aa|[^x]?)*y", "read": "text"}),
    ("pattern", None, {"pattern": "(a+)+y"}),
    ("strict_format", None, {"pattern": "(a|aa|[^x]?)*y"}),
    ("json_answer", '{"a": 1}', {}),
    ("json_answer", '{"a": 1}', {"mode": "fields"}),
    ("json_answer", None, {"mode": "schema", "schema": TREE}),
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


def test_a_recursive_schema_ends_on_a_nested_answer() -> None:
    text = '{"a":' * 90 + "{}" + "}" * 90
    score = JsonAnswer(mode="schema", schema=TREE)(Example("x"), Completion(text))
    assert (score.value, score.status) == (0, "over_limit")


def test_names_of_properties_are_not_keywords() -> None:
    schema = {
        "properties": {"$ref": {"type": "string"}, "pattern": {"const": "("}, "patternProperties": {"type": "null"}}
    }
    verifier = JsonAnswer(mode="schema", schema=schema)
    assert verifier(Example("x"), Completion('{"$ref": "a", "pattern": "("}')).value == 1
    assert verifier(Example("x"), Completion('{"patternProperties": 1}')).value == 0


SIMPLE = st.recursive(
    st.integers(0, 3) | st.sampled_from(["a", "ab", True, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=5,
)
KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "integer", "boolean"]),
        "enum": st.lists(SIMPLE, min_size=1, max_size=3),
        "minimum": st.integers(0, 3),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "uniqueItems": st.booleans(),
        "maxItems": st.integers(0, 2),
        "required": st.lists(st.sampled_from("ab"), unique=True),
        "pattern": st.sampled_from(["a", "^a$", "b?"]),
        "unevaluatedProperties": st.booleans(),
    },
)
SCHEMAS = st.recursive(
    KEYWORDS,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner),
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "additionalProperties": inner | st.booleans(),
        },
    ),
    max_leaves=4,
)


@given(schema=SCHEMAS, value=SIMPLE)
def test_the_bounded_validator_agrees_with_jsonschema(schema: dict[str, Any], value: Any) -> None:
    score = JsonAnswer(mode="schema", schema=schema)(Example("x"), Completion(json.dumps(value)))
    assert score.value == Draft202012Validator(schema).is_valid(value), score
