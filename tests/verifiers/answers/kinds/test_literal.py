"""JSON objects and lists and Python's literals, compared by value."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.literal import is_literal, same


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ('{"a": 1, "b": [2]}', '{"b": [2.0], "a": 1}'),
        ("['a', 'b']", '["a", "b"]'),
        ("{'a': True}", '{"a": true}'),
        ("{1: 'a'}", "{1: 'a'}"),
        ("('a', 1)", "('a', 1)"),
        ("('a', 1)", "'a', 1"),
        ("'text'", '"text"'),
        ("'text'", "text"),
        ("'it is'", "'it is'"),
        ("[]", "[]"),
        ("{}", "{ }"),
        ("[None, 'a']", '[null, "a"]'),
    ],
)
def test_the_same_value(gold: str, answer: str) -> None:
    assert is_literal(gold)
    assert same(gold, answer)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ('{"a": 1}', '{"a": 2}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": 1, "b": 2}'),
        ("['a', 'b']", "['b', 'a']"),
        ("['a', 'b']", "('a', 'b')"),
        ("['a', 'b']", "a, b"),
        ("'text'", "'Text'"),
        ("'text'", "'text '"),
        ("' text'", "text"),
        ("[]", "{}"),
        ("[[1, 2], ['a']]", "[[2, 1], ['a']]"),
    ],
)
def test_different_values(gold: str, answer: str) -> None:
    assert is_literal(gold)
    assert not same(gold, answer)


@pytest.mark.parametrize("text", ["[1, 2]", "(1, 2)", "x", "'", "{x}", "{1, 2", "it's", "", r"\{1, 2\}"])
def test_what_is_no_literal(text: str) -> None:
    assert not is_literal(text)
