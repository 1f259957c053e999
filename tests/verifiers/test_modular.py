"""Huge powers, factorials and binomials modulo primes, against exact integers; and the limits of what is tried."""

from __future__ import annotations

from math import comb, factorial

from hypothesis import given
from hypothesis import strategies as st

from grpo_env.verifiers.answers.formulas import modular

EXPONENTS = st.integers(1000, 1400)


@given(first=st.integers(2, 30), power=EXPONENTS, n=EXPONENTS, k=st.integers(1, 900), difference=st.integers(-2, 2))
def test_formulas_have_the_value_of_their_integer(first: int, power: int, n: int, k: int, difference: int) -> None:
    formula = rf"{first}^{{{power}}}-\frac{{{n}!}}{{{n - 2}!}}+\binom{{{n}}}{{{k}}}\cdot 3"
    value = first**power - factorial(n) // factorial(n - 2) + comb(n, k) * 3
    assert modular.decide(formula, str(value + difference)) == (difference == 0)


@given(power=EXPONENTS, other=EXPONENTS)
def test_powers_of_variables_are_compared_for_all_values(power: int, other: int) -> None:
    assert modular.decide(f"x^{{{power}}}x^{{{other}}}", f"x^{{{power + other}}}")
    assert modular.decide(f"(x-y)(x+y)x^{{{power}}}", f"x^{{{power + 2}}}-y^2x^{{{power}}}")
    assert modular.decide(f"x^{{{power}}}", f"y^{{{power}}}") is False
    assert modular.decide(f"x^{{{power}}}+x", f"x^{{{power}}}+{other}") is False


@given(n=st.integers(1500, 3000), k=st.integers(1, 1000))
def test_neighbors_in_the_triangle_of_binomials(n: int, k: int) -> None:
    binomial = rf"\binom{{{n}}}{{{k}}}"
    assert modular.decide(binomial, rf"\binom{{{n - 1}}}{{{k}}}+\binom{{{n - 1}}}{{{k - 1}}}")
    assert modular.decide(binomial, rf"\binom{{{n}}}{{{n - k}}}")
    assert modular.decide(binomial, rf"\binom{{{n}}}{{{k + 1}}}") == (2 * k + 1 == n)


def test_what_is_ambiguous_or_too_large_is_undecided() -> None:
    for text in (
        "1000000!", "2^{2^{2^{2^{2^2}}}}", r"\binom{50001}{25000}", "(" * 40 + "2" + ")" * 40, "3!!", "1/2x", "f(x)",
        r"\sqrt{2}^{2000}", r"\sin x^{2000}", "2 3", "2^{n}", "0^{-1}", r"\frac{1}{0}", "1+", "", "i^{2000}",
    ):  # fmt: skip
        assert modular.decide(text, text) is None, text
        assert not modular.readable(text)
