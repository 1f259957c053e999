"""Verifiers of answers that are compared otherwise than by ``accuracy``: the table, options, and hostile texts."""

from __future__ import annotations

import json
import math
import pickle
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.exact_text import ExactText
from grpo_env.verifiers.json_answer import JsonAnswer
from grpo_env.verifiers.numeric import Numeric
from grpo_env.verifiers.pattern import Pattern
from grpo_env.verifiers.text_similarity import Metric, TextSimilarity, _similarity

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


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exact_text", {"read": "all"}, "read: 'all' is not one of"),
        ("exact_text", {"golds": "all"}, "golds"),
        ("exact_text", {"sources": ("box",)}, "sources"),
        ("exact_text", {"sources": ()}, "sources"),
        ("choice", {"sources": ("boxed", "boxed")}, "sources"),
        ("json_answer", {"mode": "some"}, "mode: 'some'"),
        ("numeric", {"units": "all"}, "units"),
        ("text_similarity", {"metric": "meteor"}, "metric: 'meteor' is not one of chrf"),
        ("pattern", {"pattern": "("}, r"missing \)"),
        ("pattern", {"pattern": "(?=a)"}, "look-around and back-references are not regular"),
        ("pattern", {"pattern": r"(a)\1"}, "look-around and back-references are not regular"),
        ("pattern", {"pattern": "(a{1000}){1000}"}, "cannot be read"),
        ("pattern", {"pattern": "\ud800"}, "lone surrogate"),
        ("strict_format", {"pattern": "["}, "missing ]"),
        ("soft_format", {"pattern": "["}, "missing ]"),
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
        ("numeric", {"rel_tol": 1.0}, "rel_tol: 1 is not between 0 and 1"),
        ("numeric", {"rel_tol": math.nan}, "rel_tol"),
        ("numeric", {"abs_tol": -1.0}, "abs_tol"),
        ("numeric", {"abs_tol": math.inf}, "abs_tol"),
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
    ("exact_text", "a", {"ignore_case": True, "ignore_punctuation": True, "read": "text"}),
    ("pattern", None, {"pattern": "(a|aa|[^x]?)*y", "read": "text"}),
    ("pattern", None, {"pattern": "(a+)+y"}),
    ("strict_format", None, {"pattern": "(a|aa|[^x]?)*y"}),
    ("json_answer", '{"a": 1}', {}),
    ("json_answer", '{"a": 1}', {"mode": "fields"}),
    ("json_answer", None, {"mode": "schema", "schema": TREE}),
    ("numeric", "12", {"rel_tol": 0.1}),
    ("numeric", "12 cm", {"units": "convert"}),
    *[("text_similarity", "Hello, World!", {"metric": metric}) for metric in get_args(Metric)],
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space")
def test_a_gold_pattern_of_many_groups_takes_little_memory() -> None:
    """Of 20 kB, with 10,000 groups. RE2 copied their places for each of its states, gigabytes in all."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "from grpo_env.core import Completion, Example\n"
        "from grpo_env.verifiers.pattern import Pattern\n"
        "example = Example('x', answer='(' * 10_000 + ')' * 10_000)\n"
        "print(Pattern()(example, Completion('<answer>abc</answer>')).value)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100).stdout == "0.0\n"


def test_an_unreadable_pattern_is_shortened_in_the_message() -> None:
    with pytest.raises(UsageError, match=r"^.{0,50}the pattern '\({199}…' cannot be read: missing .{0,300}$"):
        find("pattern")(pattern="(" * 100_000)


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


@pytest.mark.parametrize("metric", get_args(Metric))
@pytest.mark.parametrize("unit", ["w ", "a", "ab. ", "\u732b", "\ud800"], ids=range(5))
def test_similarities_of_the_longest_texts_are_bounded(metric: str, unit: str) -> None:
    text = unit * (20_000 // len(unit))
    verifier = find("text_similarity")(metric=metric)
    score = verifier(Example("x", answer=f"{text[:-9]} b b b"), Completion(text))
    assert score.status in ("scored", "over_limit", "bad_gold")
    assert 0 <= (score.value or 0) <= 1


@pytest.mark.parametrize(
    ("package", "name", "options", "extra"),
    [
        ("sacrebleu", "text_similarity", {"metric": "bleu"}, "text"),
        ("sacrebleu", "text_similarity", {"metric": "chrf"}, "text"),
        ("rouge_score", "text_similarity", {"metric": "rougeL"}, "text"),
        ("rapidfuzz", "text_similarity", {"metric": "edit"}, "text"),
        ("pint", "numeric", {"units": "convert"}, "units"),
    ],
)
def test_a_missing_package_is_a_usage_error_that_names_the_extra(
    package: str, name: str, options: dict[str, Any], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    _similarity.cache_clear()
    with pytest.raises(UsageError, match=rf"{name} with .* needs {package}: .* '\.\[{extra}\]'"):
        find(name)(**options)


WORDS = st.lists(st.sampled_from(["red", "dog", "sky", "tin"]), min_size=1, max_size=6)


def similarity(metric: Metric, gold: str, text: str) -> float:
    value = TextSimilarity(metric=metric)(Example("x", answer=gold), Completion(text)).value
    assert value is not None
    return value


@given(gold=WORDS, words=WORDS)
def test_rouge_against_its_definition(gold: list[str], words: list[str]) -> None:
    def f_measure(common: int, n: int) -> float:
        return 2 * common / (len(gold) + len(words) - 2 * (n - 1)) if common else 0.0

    def n_grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))

    def subsequences(words: list[str]) -> set[tuple[str, ...]]:
        return {chosen for n in range(len(words) + 1) for chosen in combinations(words, n)}

    texts = " ".join(gold), " ".join(words)
    for n, metric in ((1, "rouge1"), (2, "rouge2")):
        common = (n_grams(gold, n) & n_grams(words, n)).total()
        if len(gold) >= n:  # else the gold answer has no n-grams: ``bad_gold``
            assert similarity(metric, *texts) == pytest.approx(f_measure(common, n))
    longest = max(map(len, subsequences(gold) & subsequences(words)))
    assert similarity("rougeL", *texts) == pytest.approx(f_measure(longest, 1))


@given(gold=st.text("ab", min_size=1, max_size=5), text=st.text("ab", min_size=1, max_size=5))
def test_edit_similarity_against_its_definition(gold: str, text: str) -> None:
    def distance(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))

    assert similarity("edit", gold, text) == pytest.approx(1 - distance(gold, text) / max(len(gold), len(text)))


def test_bleu_and_chrf_by_hand() -> None:
    # 1-grams 3/4, 2-grams 2/3, 3-grams 1/2, no 4-gram of 1: smoothed to 1/2 (exponential smoothing); equal lengths.
    assert similarity("bleu", "a b c d", "a b c x") == pytest.approx(
        (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4), abs=1e-4
    )
    # chrF with beta 2: letters 2/3 and bigrams 1/2 in precision and recall; 3-grams have no match.
    assert similarity("chrf", "abc", "abd") == pytest.approx((2 / 3 + 1 / 2 + 0) / 3, abs=1e-4)


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


LENGTHS = {
    "m": 1,
    "cm": Decimal("0.01"),
    "km": 1000,
    "mm": Decimal("0.001"),
    "in": Decimal("0.0254"),
    "ft": Decimal("0.3048"),
}


@given(number=st.integers(1, 500), first=st.sampled_from(sorted(LENGTHS)), second=st.sampled_from(sorted(LENGTHS)))
def test_lengths_are_converted_exactly(number: int, first: str, second: str) -> None:
    value = Fraction(number) * Fraction(LENGTHS[first]) / Fraction(LENGTHS[second])
    verifier = Numeric(units="convert")
    example = Example("x", answer=f"{number} {first}")
    assert (
        verifier(
            example, Completion(f"<answer>\\frac{{{value.numerator}}}{{{value.denominator}}} {second}</answer>")
        ).value
        == 1
    )
    assert (
        verifier(example, Completion(f"<answer>{value.numerator + 1}/{value.denominator} {second}</answer>")).value == 0
    )


def test_a_long_enum_is_no_recursion() -> None:
    verifier = JsonAnswer(mode="schema", schema={"enum": [f"code{n:05}-{'x' * 20}" for n in range(40_000)]})
    scores = [verifier(Example("x"), Completion(f'"code{n}-{"x" * 20}"')) for n in ("39999", "40000")]
    assert [(score.value, score.status) for score in scores] == [(1.0, "scored"), (0.0, "scored")]


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
