"""Families against determinants and remainders worked out here; and texts that repeat a part of one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grpo_env.verifiers.answers.formulas.algebra import TimeLimit
from grpo_env.verifiers.answers.spelling.normal import normal
from grpo_env.verifiers.answers.structures.constant_families import same_constant_family
from grpo_env.verifiers.answers.structures.flats import same_flat
from grpo_env.verifiers.answers.structures.interval_families import same_intervals

SMALL = st.integers(-4, 4)
VECTOR = st.tuples(SMALL, SMALL, SMALL)


@settings(max_examples=25)
@given(a=SMALL, b=SMALL, c=SMALL, d=SMALL)
def test_two_functions_span_the_same_as_their_combinations_with_a_determinant(a: int, b: int, c: int, d: int) -> None:
    answer = rf"y=A(({a})e^{{x}}+({b})e^{{-2x}})+B(({c})e^{{x}}+({d})e^{{-2x}})"
    same = same_constant_family("y=C_1e^{x}+C_2e^{-2x}", answer, TimeLimit(10.0))
    assert bool(same) == (a * d != b * c)


@given(point=VECTOR, direction=VECTOR, place=SMALL, factor=SMALL, aside=VECTOR)
def test_a_line_has_many_points_and_directions(
    point: tuple[int, ...], direction: tuple[int, ...], place: int, factor: int, aside: tuple[int, ...]
) -> None:
    assume(any(direction))
    gold = f"{point}+t{direction}"
    other = tuple(p + place * d for p, d in zip(point, direction, strict=True))
    multiple = tuple(factor * d for d in direction)
    assert bool(same_flat(gold, f"{other}+s{multiple}")) == (factor != 0)
    moved = tuple(p + q for p, q in zip(point, aside, strict=True))
    (a, b, c), (u, v, w) = aside, direction
    is_on_it = (b * w - c * v, c * u - a * w, a * v - b * u) == (0, 0, 0)
    assert same_flat(gold, f"{moved}+s{direction}") == is_on_it


@given(start=st.integers(-30, 30), size=st.integers(1, 11), turns=st.integers(-5, 5), shift=st.integers(-24, 24))
def test_an_interval_of_a_family_may_be_any_of_them(start: int, size: int, turns: int, shift: int) -> None:
    def family(first: int, name: str) -> str:
        ends = (rf"{name}\pi+\frac{{{end}\pi}}{{12}}" for end in (first, first + size))
        return rf"[{','.join(ends)}),{name}\in\mathbb{{Z}}"

    assert same_intervals(family(start, "k"), family(start + 12 * turns, "n"))
    assert same_intervals(family(start, "k"), family(start + shift, "n")) == (shift % 12 == 0)


@pytest.mark.parametrize(
    "unit", ["(", ",", "t,", "C_1+", "for any ", "(1,2)+t", "=", "\\{", "x<", "\\cup ", "[k,k+1]\\cup "]
)
def test_repeated_parts_are_no_family(unit: str) -> None:
    text = normal((unit * 300)[:280] + r"k\in\mathbb{Z}")
    assert not same_constant_family("y=Ce^x", text, TimeLimit(1.0))
    assert not same_flat("(1,2)+t(3,4)", text)
    assert not same_intervals(r"(k\pi,k\pi+1),k\in\mathbb{Z}", text)
