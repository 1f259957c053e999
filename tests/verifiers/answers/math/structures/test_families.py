"""Families against determinants and remainders worked out here; and texts that repeat a part of one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.verifiers.answers.math.algebra import TimeLimit
from grpo_env.verifiers.answers.math.normal import normal
from grpo_env.verifiers.answers.math.structures.constant_families import same_constant_family
from grpo_env.verifiers.answers.math.structures.integer_families import same_family

SMALL = st.integers(-4, 4)


@settings(max_examples=25)
@given(a=SMALL, b=SMALL, c=SMALL, d=SMALL)
def test_two_functions_span_the_same_as_their_combinations_with_a_determinant(a: int, b: int, c: int, d: int) -> None:
    answer = rf"y=A(({a})e^{{x}}+({b})e^{{-2x}})+B(({c})e^{{x}}+({d})e^{{-2x}})"
    same = same_constant_family("y=C_1e^{x}+C_2e^{-2x}", answer, TimeLimit(10.0))
    assert bool(same) == (a * d != b * c)


@given(start=st.integers(-30, 30), period=st.integers(1, 24), turns=st.integers(-5, 5), shift=st.integers(-24, 24))
def test_a_family_of_numbers_may_start_at_any_of_them(start: int, period: int, turns: int, shift: int) -> None:
    def family(first: int, name: str) -> str:
        return rf"\frac{{{first}\pi}}{{12}}+\frac{{{period}{name}\pi}}{{12}},{name}\in\mathbb{{Z}}"

    assert same_family(family(start, "k"), family(start + period * turns, "n"))
    assert same_family(family(start, "k"), family(start + shift, "n")) == (shift % period == 0)


@pytest.mark.parametrize(
    "unit", ["(", ",", "t,", "C_1+", "for any ", "(1,2)+t", "=", "\\{", "x<", "\\cup ", "[k,k+1]\\cup "]
)
def test_repeated_parts_are_no_family(unit: str) -> None:
    text = normal((unit * 300)[:280] + r"k\in\mathbb{Z}")
    assert not same_constant_family("y=Ce^x", text, TimeLimit(1.0))
    assert not same_family(r"k\pi,k\in\mathbb{Z}", text)
