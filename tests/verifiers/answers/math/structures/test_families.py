"""Families against determinants worked out here; and texts that repeat a part of one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.verifiers.answers.math.algebra import TimeLimit
from grpo_env.verifiers.answers.math.normal import normal
from grpo_env.verifiers.answers.math.structures.constant_families import same_constant_family

SMALL = st.integers(-4, 4)


@settings(max_examples=25)
@given(a=SMALL, b=SMALL, c=SMALL, d=SMALL)
def test_two_functions_span_the_same_as_their_combinations_with_a_determinant(a: int, b: int, c: int, d: int) -> None:
    answer = rf"y=A(({a})e^{{x}}+({b})e^{{-2x}})+B(({c})e^{{x}}+({d})e^{{-2x}})"
    same = same_constant_family("y=C_1e^{x}+C_2e^{-2x}", answer, TimeLimit(10.0))
    assert bool(same) == (a * d != b * c)


@pytest.mark.parametrize(
    "unit", ["(", ",", "t,", "C_1+", "for any ", "(1,2)+t", "=", "\\{", "x<", "\\cup ", "[k,k+1]\\cup "]
)
def test_repeated_parts_are_no_family(unit: str) -> None:
    text = normal((unit * 300)[:280] + r"k\in\mathbb{Z}")
    assert not same_constant_family("y=Ce^x", text, TimeLimit(1.0))
