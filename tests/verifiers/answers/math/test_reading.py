"""Formulas are read as what they say: every letter is a variable of its own, and sympy's printer is read back."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest
import sympy

from grpo_env.verifiers.answers.math.compare import compare
from grpo_env.verifiers.answers.math.normal import normal
from grpo_env.verifiers.answers.math.parse import parse
from grpo_env.verifiers.answers.math.verdict import Rules

LETTERS = sorted(set(string.ascii_letters) - set("eiOo"))  # numbers, and letters that nobody writes
GREEK = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega Gamma"
NAMES = [
    *LETTERS[::4],
    *(rf"\{name}" for name in GREEK.split()[::4]),
    r"\ell",
    r"\hbar",
    r"\vec{p}",
    r"\dot{x}",
    r"\ddot{\theta}",
]
INDEXED = [rf"{name}_{index}" for name in ("E", "I", "e", "d", "T", r"\gamma", r"\lambda") for index in ("0", "{ab}")]


def equal(gold: str, answer: str) -> bool:
    return compare(parse(gold), parse(answer), Rules()).correct


@pytest.mark.parametrize("name", NAMES + INDEXED)
def test_every_name_is_a_variable(name: str) -> None:
    def multiplied_out(sign: str = "-", angle: str = name, factor: str = name) -> str:
        return rf"{name}+2w{factor} +\frac{{2\sin({name})\cos({angle})}}{{{sign}1+{name}}}"

    gold = rf"\frac{{\sin(2{name})}}{{{name}-1}}+{name}\cdot(1+2w)"
    other = "x" if name != "x" else "y"
    assert equal(gold, multiplied_out())
    assert not equal(gold, multiplied_out(sign=""))
    assert not equal(gold, multiplied_out(angle=other))
    assert not equal(gold, multiplied_out(factor=other))
    assert not equal(gold, rf"\frac{{\sin(2{other})}}{{{other}-1}}+{other}\cdot(1+2w)")


@pytest.mark.parametrize("text", ["]1,2[", "[0,1)", "a) 5"])
def test_braces_around_brackets_without_a_pair_are_taken_off(text: str) -> None:
    assert normal(f"{{{text}}}") == normal(text)


def formula(draw: random.Random, symbols: list[sympy.Symbol], depth: int) -> Any:
    if depth == 0:
        return draw.choice(symbols)
    part = formula(draw, symbols, depth - 1)
    kind = draw.randrange(6)
    if kind < 3:
        other = formula(draw, symbols, depth - 1)
        return (part + other, part * other, part / (other + 2))[kind]
    return (sympy.sin(part), sympy.exp(part / 3), part ** draw.choice((2, 3, sympy.Rational(1, 2))))[kind - 3]


@pytest.mark.parametrize("seed", range(12))
def test_printed_formulas_are_read_back(seed: int) -> None:
    draw = random.Random(seed)
    names = "a b d f g h l m q r v x y A D E I L M P R T V alpha gamma lambda mu omega E_n T_1 v_0 m_e".split()  # noqa: SIM905
    symbols = [sympy.Symbol(name, positive=True) for name in draw.sample(names, 4)]
    gold = formula(draw, symbols, 3)
    for same in (gold, sympy.expand(gold), sympy.together(gold)):
        assert equal(sympy.latex(gold), sympy.latex(same))
    used = sorted(gold.free_symbols, key=str)
    other = next(symbol for symbol in sympy.symbols("z w") if symbol not in used)
    for wrong in (gold + 1, 2 * gold, gold.subs(used[0], other), gold.subs(used[-1], 2 * used[-1])):
        if sympy.simplify(wrong - gold) != 0:
            assert not equal(sympy.latex(gold), sympy.latex(wrong))
