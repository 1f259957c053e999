r"""LaTeX answers with labels that are true by construction: eight completions for each gold answer.

Of the eight, one contains the gold answer verbatim, three contain an equivalent one (``\dfrac``, a decimal, another
order, an inequality for an interval, a factored polynomial), and four a different value or type. No verifier is
involved: equivalent answers are written from exact numbers, and wrong ones from changed numbers.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

SEED = 20261121
GROUPS = 300  # 50 of each kind


class Answers(NamedTuple):
    """A gold answer, equivalent answers and wrong answers."""

    gold: str
    correct: list[str]
    wrong: list[str]


def rows(seed: int = SEED, groups: int = GROUPS) -> Iterator[dict[str, Any]]:
    """Rows ``{"id", "kind", "gold", "completions", "correct"}``, determined by the seed."""
    rng = random.Random(seed)
    kinds = {"fraction": _fraction, "radical": _radical, "set": _set, "interval": _interval, "matrix": _matrix,
             "polynomial": _polynomial}  # fmt: skip
    for number in range(groups):
        kind = list(kinds)[number % len(kinds)]
        equivalent, wrong = set[str](), set[str]()
        while len(equivalent) < 3 or len(wrong) < 4:
            answers = kinds[kind](rng)
            equivalent, wrong = set(answers.correct) - {answers.gold}, set(answers.wrong)
        correct = [answers.gold, *rng.sample(sorted(equivalent), 3)]
        labeled = [(answer, True) for answer in correct] + [(answer, False) for answer in rng.sample(sorted(wrong), 4)]
        rng.shuffle(labeled)
        yield {
            "id": f"{kind}-{number}",
            "kind": kind,
            "gold": answers.gold,
            "completions": [_completion(rng, answer) for answer, _ in labeled],
            "correct": [label for _, label in labeled],
        }


def _completion(rng: random.Random, answer: str) -> str:
    a, b, c = (rng.randint(2, 99) for _ in range(3))
    lines = [
        f"First we write down what is given: $a = {a}$ and $b = {b}$, so that $a + b = {a + b}$.",
        rf"By the triangle inequality \(|a - b| \le {a + b}\), which leaves {c} cases to look at.",
        rf"Substituting gives \[ {a}t - {b} = {c}, \quad t = \frac{{{b + c}}}{{{a}}}. \]",
        "1. The first case is impossible, because both sides would have to be even.",
        f"2. In the second case the factor {b} cancels, and **only one solution** is left.",
        rf"Note that $\sqrt{{{a * a}}} = {a}$, so nothing is lost by squaring.",
    ]
    ends = [rf"The answer is $\boxed{{{answer}}}$.", rf"\[ \boxed{{{answer}}} \]", rf"Therefore \(\boxed{{{answer}}}\)"]
    return "\n\n".join([*rng.sample(lines, rng.randint(2, 5)), rng.choice(ends)])


def _tex(value: Fraction, name: str = "frac") -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return rf"{'-' * (value < 0)}\{name}{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _decimal(value: Fraction) -> str | None:
    """A value as a decimal, if at most six decimal places are enough."""
    scaled = value * 10**6
    if scaled.denominator != 1:
        return None
    digits = f"{abs(scaled.numerator):07d}"
    return "-" * (value < 0) + f"{digits[:-6]}.{digits[-6:]}".rstrip("0").rstrip(".")


def _value(rng: random.Random, top: int = 30) -> Fraction:
    return Fraction(rng.choice((-1, 1)) * rng.randint(1, top), rng.choice((1, 1, 2, 3, 4, 5, 6, 8, 9, 12)))


def _perturbed(rng: random.Random, value: Fraction) -> Fraction:
    return value + rng.choice((-1, 1)) * Fraction(rng.randint(1, 3), rng.choice((1, value.denominator)))


def _fraction(rng: random.Random) -> Answers:
    value = Fraction(0)
    while value.denominator == 1:
        value = Fraction(rng.choice((-1, 1)) * rng.randint(1, 99), rng.randint(2, 40))
    top, bottom, times = value.numerator, value.denominator, rng.randint(2, 9)
    whole, rest = divmod(abs(top), bottom)
    correct = [
        _tex(value, "dfrac"),
        _tex(value, "tfrac"),
        f"{top}/{bottom}",
        rf"\frac{{{top}}}{{{bottom}}}" if top < 0 else rf"\frac{{{top}}} {{{bottom}}}",
        rf"\frac{{{top * times}}}{{{bottom * times}}}",
        f"x = {_tex(value)}",
        *([f"{'-' * (top < 0)}{whole}\\frac{{{rest}}}{{{bottom}}}"] if whole else []),
        *([decimal] if (decimal := _decimal(value)) else []),
    ]
    wrong = [_tex(other) for other in (-value, value + 1, Fraction(top, bottom + 1), _perturbed(rng, value))]
    if not _decimal(value):
        wrong.append(f"{float(value):.3f}")  # rounded
    return Answers(_tex(value), correct, wrong)


def _radical(rng: random.Random) -> Answers:
    root = rng.choice((2, 3, 5, 6, 7, 10, 11))
    factor = Fraction(rng.randint(2, 12), rng.choice((1, 1, 3, 5, 7)))
    shift = rng.choice((0, 0, rng.randint(1, 9)))
    top, bottom = factor.numerator, factor.denominator

    def spell(root: int, shift: int, term: str) -> list[str]:
        return [f"{shift} + {term}", f"{term} + {shift}"] if shift else [term]

    def term(top: int, bottom: int, root: int) -> str:
        coefficient = "" if top == 1 else str(top)
        return rf"\frac{{{coefficient}\sqrt{{{root}}}}}{{{bottom}}}" if bottom > 1 else rf"{coefficient}\sqrt{{{root}}}"

    gold = spell(root, shift, term(top, bottom, root))[0]
    terms = [
        term(top, bottom, root).replace("frac", "dfrac"),
        rf"\frac{{{top}}}{{{bottom}}}\sqrt{{{root}}}" if bottom > 1 else rf"{top} \cdot \sqrt{{{root}}}",
        rf"\frac{{\sqrt{{{top * top * root}}}}}{{{bottom}}}" if bottom > 1 else rf"\sqrt{{{top * top * root}}}",
        rf"\frac{{{top * root}}}{{{bottom if bottom > 1 else ''}\sqrt{{{root}}}}}",
        rf"\sqrt{{{root}}} \cdot {_tex(factor)}",
    ]
    correct = [text for term_text in terms for text in spell(root, shift, term_text)]
    wrong = [
        text
        for other in (term(top + 1, bottom, root), term(top, bottom + 2, root), term(top, bottom, root + 3))
        for text in spell(root, shift, other)
    ]
    wrong += ["-" + gold, spell(root, shift + 1, term(top, bottom, root))[0]]
    return Answers(gold, correct, wrong)


def _set(rng: random.Random) -> Answers:
    values: list[Fraction] = []
    while len(values) < 3:
        values = sorted({_value(rng) for _ in range(rng.randint(3, 5))})

    def braced(items: list[Fraction], name: str = "frac") -> str:
        return rf"\{{{', '.join(_tex(item, name) for item in items)}\}}"

    gold = braced(values)
    reordered = list(values)
    while reordered == values:
        rng.shuffle(reordered)
    as_decimals = [_decimal(value) or _tex(value) for value in values]
    correct = [
        braced(reordered),
        rf"\left{braced(values)[:-2]}\right\}}",
        ", ".join(_tex(value) for value in values),
        ",".join(_tex(value, "dfrac") for value in reordered),
        rf"\{{{','.join(reversed(as_decimals))}\}}",
        rf"x \in {braced(reordered, 'tfrac')}",
    ]
    index = rng.randrange(len(values))
    changed = [_perturbed(rng, value) if n == index else value for n, value in enumerate(values)]
    changed = changed if len(set(changed)) == len(values) else [value + 40 for value in values]
    wrong = [
        braced(values[:-1]),
        braced([*values, max(values) + 1]),
        braced(changed),
        f"({', '.join(_tex(value) for value in values)})",
        braced([-value for value in values]) if {-value for value in values} != set(values) else braced(values[1:]),
    ]
    return Answers(gold, correct, wrong)


def _interval(rng: random.Random) -> Answers:
    low = _value(rng)
    high = low + Fraction(rng.randint(1, 40), rng.choice((1, 2, 3)))
    brackets = rng.choice(("()", "[]", "(]", "[)"))
    side = rng.choice(("both", "both", "low", "high"))  # which ends are finite
    if side == "low":
        brackets = brackets[0] + ")"
    elif side == "high":
        brackets = "(" + brackets[1]

    def spell(low: Fraction, high: Fraction, brackets: str, name: str = "frac", sized: bool = False) -> str:
        first = r"-\infty" if side == "high" else _tex(low, name)
        last = r"\infty" if side == "low" else _tex(high, name)
        left, right = (r"\left", r"\right") if sized else ("", "")
        return f"{left}{brackets[0]}{first}, {last}{right}{brackets[1]}"

    def inequality(name: str, brackets: str) -> list[str]:
        less, more = (r"\le" if brackets[0] == "[" else "<"), (r"\leq" if brackets[1] == "]" else "<")
        first, last = _tex(low, name), _tex(high, name)
        if side == "low":
            return [f"x {less.replace('<', '>').replace('le', 'ge')} {first}", f"{first} {less} x"]
        if side == "high":
            return [f"x {more} {last}", f"{last} {more.replace('<', '>').replace('le', 'ge')} x"]
        return [f"{first} {less} x {more} {last}"]

    closed = {"(": "[", "[": "(", ")": "]", "]": ")"}
    flipped = [
        *([closed[brackets[0]] + brackets[1]] if side != "high" else []),
        *([brackets[0] + closed[brackets[1]]] if side != "low" else []),
    ]
    correct = [
        spell(low, high, brackets, sized=True),
        spell(low, high, brackets, "dfrac", sized=True),
        spell(low, high, brackets, "tfrac"),
        rf"x \in {spell(low, high, brackets)}",
        spell(low, high, brackets).replace(", ", ","),
        *inequality("frac", brackets),
        *inequality("dfrac", brackets),
    ]
    wrong = [spell(low, high, other) for other in flipped] + [
        spell(low - 1, high + 1, brackets),
        spell(low - 2, high + 3, brackets, sized=True),
        rf"x \in {spell(low - Fraction(1, 7), high + Fraction(1, 7), brackets)}",
        *inequality("frac", flipped[0]),
    ]
    return Answers(spell(low, high, brackets), correct, wrong)


def _matrix(rng: random.Random) -> Answers:
    height, width = rng.choice(((2, 1), (3, 1), (2, 2), (2, 2), (2, 3), (3, 3)))
    cells = [[_value(rng, 12) for _ in range(width)] for _ in range(height)]

    def spell(cells: list[list[Fraction]], name: str = "pmatrix", frac: str = "frac", space: str = " ") -> str:
        body = (space + r"\\" + space).join(f"{space}&{space}".join(_tex(cell, frac) for cell in row) for row in cells)
        return rf"\begin{{{name}}}{space}{body}{space}\end{{{name}}}"

    def changed(row: int, column: int, value: Fraction) -> list[list[Fraction]]:
        return [
            [value if (r, c) == (row, column) else cell for c, cell in enumerate(line)] for r, line in enumerate(cells)
        ]

    row, column = rng.randrange(height), rng.randrange(width)
    cell = cells[row][column]
    correct = [
        spell(cells, "bmatrix"),
        spell(cells, space=""),
        spell(cells, frac="dfrac"),
        spell(cells, "bmatrix", frac="tfrac", space=""),
        rf"\left({spell(cells, 'matrix')}\right)",
        f"A = {spell(cells)}",
    ]
    wrong = [
        spell(changed(row, column, cell + 1)),
        spell(changed(row, column, -cell)),
        spell(changed(row, column, cell + Fraction(1, 7)), "bmatrix"),
        spell(cells[:-1]),
        spell([*cells, cells[0]]),
    ]
    return Answers(spell(cells), correct, wrong)


def _polynomial(rng: random.Random) -> Answers:
    """A product of linear factors, factored or expanded, in one variable or homogeneous in two."""
    homogeneous = rng.random() < 0.3
    scale = rng.choice((Fraction(1), Fraction(rng.randint(2, 9)), Fraction(1, 2)))
    factors = [
        (rng.choice((1, 1, 1, 2, 3)), rng.choice((-1, 1)) * rng.randint(1, 9)) for _ in range(rng.choice((2, 2, 3)))
    ]
    coefficients = [scale]  # of x^n, x^(n-1), ...
    for a, b in factors:
        coefficients = [
            a * high + b * low
            for high, low in zip([*coefficients, Fraction(0)], [Fraction(0), *coefficients], strict=True)
        ]
    degree = len(factors)

    def power(name: str, exponent: int, braces: bool = False) -> str:
        if exponent < 2:
            return name * exponent
        return f"{name}^{{{exponent}}}" if braces else f"{name}^{exponent}"

    def monomial(value: Fraction, n: int, braces: bool, times: str) -> str:
        letters = power("x", n, braces) + (power("y", degree - n, braces) if homogeneous else "")
        number = "" if abs(value) == 1 and letters else _tex(abs(value))
        return f"{number}{times}{letters}" if number and letters else number + letters

    def expanded(
        coefficients: list[Fraction], order: list[int] | None = None, braces: bool = False, times: str = ""
    ) -> str:
        text = ""
        for index in order or range(degree + 1):
            if value := coefficients[index]:
                sign = "-" if value < 0 else "+"
                term = monomial(value, degree - index, braces, times)
                text += f" {sign} {term}" if text else "-" * (value < 0) + term
        return text

    def factored(factors: list[tuple[int, int]], times: str = "") -> str:
        y = "y" if homogeneous else ""
        texts = [
            f"({'' if a == 1 else a}x {'-' if b < 0 else '+'} {'' if homogeneous and abs(b) == 1 else abs(b)}{y})"
            for a, b in factors
        ]
        return times.join(([] if scale == 1 else [_tex(scale)]) + texts)

    def altered(index: int, by: int) -> list[Fraction]:
        return [value + by if n == index else value for n, value in enumerate(coefficients)]

    ascending = list(range(degree, -1, -1))
    rotated = [*ascending[1:], ascending[0]]
    correct = [
        expanded(coefficients),
        expanded(coefficients, ascending),
        expanded(coefficients, rotated, braces=True),
        expanded(coefficients, times=r" \cdot "),
        expanded(coefficients).replace(" ", ""),
        factored(factors),
        factored(factors[::-1]),
        factored(factors, r" \cdot "),
    ]
    wrong = [
        expanded(altered(degree, 1)),
        expanded(altered(1, -1)),
        expanded(altered(0, 1)),
        expanded([-value for value in coefficients]),
        factored([(factors[0][0], factors[0][1] + 10), *factors[1:]]),
        factored([*factors, factors[0]]),
    ]
    return Answers(rng.choice((correct[0], correct[0], factored(factors))), correct, wrong)


if __name__ == "__main__":
    for row in rows():
        json.dump(row, sys.stdout)
        print()
