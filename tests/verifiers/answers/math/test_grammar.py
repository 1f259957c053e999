"""The grammar of formulas: latex2sympy, which reads the formulas that it leaves out, must read the others the same."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from latex2sympy2_extended.latex2sympy2 import ConversionConfig, latex2sympy

from grpo_env.verifiers.answers.math import exact
from grpo_env.verifiers.answers.math.grammar import UndecidedError
from grpo_env.verifiers.answers.math.sympy_reader import read_formula

SHARED = r"""
2x+1 | -x^2y | (a+b)(a-b) | 3(x+1) | x(y+1) | x_1x_{12} | \frac{x}{2}-\frac{1}{y} | \frac{ab}{c}d | a-b-c
a-(b-c) | -(-x) | \sqrt{x} | \sqrt[3]{x+1} | x\sqrt{2} | x^{-1} | x^{a+b} | 2^{-x} | x^{2}y^{3}
-\frac{1}{2}x | \frac{-x}{2} | a\cdot b\times c | a/b | ab/c | a/b\cdot c | (a+b)/c | x/2+1 | e | e^{x}
e^{-x}y | xe^x | 2e^3 | e^{-\frac{x^{2}}{2}} | \pi r^2 | 2\pi | \sin x | \sin 2x | \sin(x+y) | \sin^2 x
\sin^{-1} x | \cos 2x\sin 3x | \sin\theta\cos\phi | \tan\frac{x}{2} | \sin(x)y | \sin(x)^2 | x\sin(y)z
\arctan x | \sinh 2x | \cos x e^{2x} | \cos(\omega t+\phi) | A\cos\omega t | \sec^2 x | 2\sin x\cos x | \ln x
\ln(2)x | \ln(x)/2 | \ln x^2 | \ln^2 x | \ln|x| | \log x | \log_2 8 | \log_{10} x | \log_a b | \exp(-x)
\ln\sqrt{x} | |x| | |x|y | x|y| | |x-1|+|y| | 3! | n! | 2n! | (n+1)! | \frac{n!}{k!} | \binom{5}{2}
\binom{n}{k} | n!m | f(x) | x(t) | f(x, y) | y(0) | f(x^2) | xy(z) | f(x)g(x) | f(x)^2 | O(n^2) | \Omega(n)
\lambda\mu | \epsilon_0 | \Delta x | y=2x+1 | f(x)=x^2 | x=y | \frac{x}{y}=z | |x|=1 | x[y+1] | [x+1]y | {x}y
((x)) | GMm | mgh | 1e | 0.5x | x+0.25
"""

UNDECIDED = r"""
1/2x | a/bc | 2\frac{1}{2} | \sin x/2 | \sin x\frac{1}{2} | \sin x(y+1) | \sin 2(x+1) | \ln|x|y | \exp{x}y
\sin x^{2}^{3} | f^{-1}(x) | f[x] | t(1,2)^T | \Gamma(x) | x^y^z | x_{a,b} | 1,000 | 2 3 | x 3 | 3.5e4 | 2E3
a!=b | x' | \frac{dy}{dx} | dy/dx | \int x | \sum n | \frac{x} | \frac12 | x+ | (x | x) | |x | ||x|+1| | x=y=z | = | x<y
\alpha\beta\foo | x\pm y | \log_{1.5} x
"""


def listed(table: str) -> list[str]:
    return [text for line in table.strip().splitlines() for text in line.split(" | ")]


def by_latex2sympy(text: str) -> Any:
    value = latex2sympy(text, is_real=True, conversion_config=ConversionConfig(lowercase_symbols=False))
    return value.xreplace({number: sympy.Rational(str(number)) for number in value.atoms(sympy.Float)})


def evaluated(value: Any) -> Any:
    """Without marks of what is not evaluated: ``2*x*3`` is ``6*x``."""
    return value.func(*map(evaluated, value.args)) if value.args else value


@pytest.mark.parametrize("text", listed(SHARED))
def test_formulas_are_read_as_by_latex2sympy(text: str) -> None:
    assert evaluated(read_formula(text, is_real=True)) == evaluated(by_latex2sympy(text))


@pytest.mark.parametrize(
    "text",
    [
        r"\sum_{k=1}^{5} k^2",
        r"2\sum_{k=0}^{3} (k+1)x - x",
        r"\prod_{k=1}^{4} k",
        r"\sum_{k=0}^{\infty} \frac{1}{2^k}",
        r"\sum_{i=1}^{3}\sum_{j=1}^{2} i j",
    ],
)
def test_series_have_the_values_of_latex2sympys(text: str) -> None:
    ours, theirs = read_formula(text, is_real=True), by_latex2sympy(text)
    assert sympy.simplify(ours.doit() - theirs.doit()) == 0


@pytest.mark.parametrize(
    "text",
    [
        r"\sum k",
        r"\sum_{k=1} k",
        r"\sum_{k}^{5} k",
        r"\sum_{i<j} x_i",
        r"\int_0^1 x dx",
        r"\sum_{k=1}^{5}",
    ],
)
def test_series_without_bounds_or_term_are_undecided(text: str) -> None:
    with pytest.raises(UndecidedError):
        read_formula(text, is_real=True)


@pytest.mark.parametrize("text", listed(UNDECIDED))
def test_what_is_ambiguous_or_no_formula_is_undecided(text: str) -> None:
    with pytest.raises(UndecidedError):
        read_formula(text, is_real=True)
    assert not exact.readable(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [  # which latex2sympy does not read, or reads as x, x, 1/x and lambda
        (r"x^{T}", "x**T"),
        (r"x^T", "x**T"),
        (r"x^-1", "1/x"),
        (r"3!^2", "36"),
        (r"2!3!", "12"),
    ],
)
def test_formulas_that_latex2sympy_misreads(text: str, value: str) -> None:
    expected = sympy.sympify(value, locals={name: sympy.Symbol(name, real=True) for name in "xT"})
    assert sympy.simplify(read_formula(text, is_real=True) - expected) == 0


def test_roots_are_not_multiplied_out() -> None:
    assert read_formula(r"\sqrt{x}\sqrt{x}", is_real=True).atoms(sympy.Pow)


ATOMS = st.sampled_from(["x", "y", "z_1", "2", "7", r"\theta", r"\pi", "e"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        *(
            pairs.map(lambda pair, form=form: form.replace("A", pair[0]).replace("B", pair[1]))
            for form in ("A+B", "A-B", "(A)(B)", r"\frac{A}{B}", r"A\cdot B", "(A)^{B}", "(A)B", "A/(B)")
        ),
        *(
            inner.map(lambda part, form=form: form.replace("A", part))
            for form in (r"\sqrt{A}", r"\sin(A)", r"\ln(A)", "-A", "-(A)", "e^{A}", "(A)!", r"\cos^2(A)", "|A|")
        ),
    )


@given(text=st.recursive(ATOMS, _grown, max_leaves=5))
@settings(max_examples=60, deadline=None)
def test_generated_formulas_are_read_as_by_latex2sympy(text: str) -> None:
    try:
        ours = read_formula(text, is_real=True)
    except UndecidedError:
        return
    theirs = by_latex2sympy(text)
    for point in ({"x": 3, "y": 5, "z_1": 2, "theta": 1}, {"x": -2, "y": 4, "z_1": 3, "theta": 2}):
        values = {sympy.Symbol(name, real=True): value for name, value in point.items()}
        one, other = (value.subs(values).evalf(30) for value in (ours, theirs))
        assert one == other or abs(one - other) <= abs(one) * sympy.Float("1e-20"), text
