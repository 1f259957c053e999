"""JSON by value, against Python's own equality of fractions and against values that are written in several ways."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.verifiers.answers.kinds.json_value import MAX_DEPTH, MAX_LENGTH, JsonError, equal_json, parse_json

# Different numbers here are different values, so that Python's own equality is an oracle.
SCALARS = st.none() | st.integers(2, 10**20) | st.text(max_size=5) | st.sampled_from([True, False])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=8
)


def equal(first: str, second: str) -> bool:
    result = equal_json(parse_json(first), parse_json(second))
    assert result == equal_json(parse_json(second), parse_json(first))
    return result


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1", "1.0"), ("1", "1e0"), ("100", "1E+2"), ("0", "-0.0"), ("0.1", "10e-2"), ("1e999999999", "10e999999998"),
        (" [1 ,2]\n", "[1,2]"), ('{"a":1,"b":[2]}', '{"b":[2.0],"a":1}'), ('"\\u00e9"', '"é"'), ('"\\/"', '"/"'),
        ("1" * 5000, "1" * 5000 + ".0"), ('"\\ud800"', '"\\uD800"'),
    ],
)  # fmt: skip
def test_equal_values(first: str, second: str) -> None:
    assert equal(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1", "true"), ("0", "false"), ("1", '"1"'), ("null", "0"), ("null", "false"), ("[]", "{}"), ("[1]", "1"),
        ("[1,2]", "[2,1]"), ("[1]", "[1,1]"), ('{"a":1}', '{"a":1,"b":null}'), ('{"a":1}', '{"A":1}'),
        ("0.1", "0.1000000000000000055511151231257827"), ("9007199254740993", "9007199254740992"),
        ("1e999999999", "1e999999998"), ("1e400", "1e401"), ('"a"', '"a "'), ('"é"', '"e\u0301"'),
        ("1" * 5000, "1" * 4999 + "2"), ('[{"a":[1]}]', '[{"a":[true]}]'),
    ],
)  # fmt: skip
def test_different_values(first: str, second: str) -> None:
    assert not equal(first, second)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"), ("{'a': 1}", "not JSON"), ("[1,]", "not JSON"), ("1 2", "not JSON"), ("True", "not JSON"),
        ("01", "not JSON"), (".5", "not JSON"), ('"\n"', "not JSON"), ("\ud800", "not JSON"), ("{" * 50, "not JSON"),
        ("NaN", "NaN is not JSON"), ("[-Infinity]", "-Infinity is not JSON"),
        ('{"a":1,"\\u0061":2}', "the same key twice"), ('[{"a":{"b":1,"b":1}}]', "the same key twice"),
        ("1e9999999999999999999", "exponent"), ("1e" + "9" * 50_000, "exponent"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested deeper"), ("[" * 50_000, "nested deeper"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested deeper"), (" " * MAX_LENGTH + "1", "characters"),
    ],
)  # fmt: skip
def test_what_is_not_read(text: str, problem: str) -> None:
    with pytest.raises(JsonError, match=problem):
        parse_json(text)


def test_the_bounds_can_be_reached() -> None:
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert equal(deep, " " + deep)
    assert equal("1" * MAX_LENGTH, "1" * (MAX_LENGTH - 2) + "11")


@given(value=VALUES, other=VALUES)
def test_values_are_equal_when_python_says_so(value: Any, other: Any) -> None:
    text = json.dumps(value)
    assert equal(text, json.dumps(reversed_keys(value), indent=1, ensure_ascii=False))
    assert equal(text, json.dumps(other)) == (repr(value) == repr(other) or sorted_keys(value) == sorted_keys(other))


def sorted_keys(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(first=st.decimals(allow_nan=False, allow_infinity=False), second=st.decimals(allow_nan=False, places=3))
def test_numbers_are_equal_when_their_fractions_are(first: Any, second: Any) -> None:
    if second.is_finite() and abs(first.adjusted()) < 400:
        assert equal(str(first).lower(), str(second).lower()) == (Fraction(first) == Fraction(second))
        assert equal(str(first).lower(), f"{first:f}")


def test_text_that_is_nearly_python_prints_no_warning():
    code = "from grpo_env.verifiers.answers.kinds.literal import same; print(same('[1, [2]]', '[1in]'))"
    done = subprocess.run([sys.executable, "-W", "default", "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
