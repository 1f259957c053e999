"""Checks equations between numbers as people write them, ``$9 * 2 eggs = $18``, exactly and without ``eval``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from grpo_env.lazy_regex import lazy_compile
from grpo_env.terminal import shortened

from .answers.quantities.currencies import SIGNS
from .answers.quantities.units import may_be_unit

MAX_TOKENS = 400
MAX_DIGITS = 60
MAX_DEPTH = 40

_TOKEN = lazy_compile(
    r"(?P<number>\d{1,6}[ ]\d{1,4}/\d{1,4}(?![\d/])|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
    r"|(?P<times>[*×·](?!\*)|\\times(?![a-z])|\\cdot(?![a-z]))|(?P<over>//?|÷|\\div(?![a-z]))|(?P<minus>[-−–])"  # noqa: RUF001
    rf"|(?P<skip>[{SIGNS}]|\\[$%()\[\],; ]|\s+)"
    r"|(?P<unknown>\\[A-Za-z]*|\*\*|[{}^_<>!√])"
    r"|(?P<word>[A-Za-z]+(?:['./-][A-Za-z]+)*)|(?P<end>[,;.:])|(?P<other>.)",
    re.DOTALL,
)
_NUMBER_NEXT = lazy_compile(rf"\s{{0,9}}[{SIGNS}(]?\.?\d")
_OPERATOR_NEXT = lazy_compile(r"\s{0,9}[-+*/^]")
_EXPONENT_NEXT = lazy_compile(r"\s{0,9}(?:\.?\d|\()|-?\w")  # after the ** of a power, not of bold text
# Words after a number are its unit if the arithmetic goes on, or the line ends, after at most two more words.
_UNIT_ENDS = lazy_compile(r"(?:\s{1,3}[A-Za-z][A-Za-z'-]{0,20}){0,2}\s{0,9}(?:[-+/=×÷)−–]|\*(?!\*)|x\s?\.?\d|$)")  # noqa: RUF001
_OPERATORS = frozenset("+-*/")

Rational: TypeAlias = Fraction | int


@dataclass(frozen=True)
class Equation:
    """An equation as it is written, and whether it is true."""

    written: str
    correct: bool
    explanation: str
    plain: str = ""
    """The equation in numbers, brackets and ``+-*/=`` alone: without spaces, units, currency, thousands separators. The
    numbers are in one spelling, and those of a sum or a product in one order. Empty if it cannot be checked."""
    value: Rational | None = None
    """What its first side comes to."""


class _NoExpressionError(Exception):
    """The tokens are not an arithmetic expression."""


@dataclass(frozen=True)
class _Token:
    kind: str  # a number's text, an operator, a bracket, "=", "%"
    start: int
    end: int


def equations(text: str) -> list[Equation]:
    """The equations between numbers in a line of text. At least one side must be a calculation."""
    if "=" not in text:
        return []
    return [equation for segment in _segments(text) if (equation := _equation(text, segment)) is not None]


def _segments(text: str) -> Iterator[list[_Token]]:
    """Runs of arithmetic, separated by words and punctuation. Units are left out.

    A token that is not arithmetic between numbers, such as a variable, discards everything up to the next punctuation.
    """
    run: list[_Token] = []
    discarding = False
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "end":
            if not discarding:
                yield run
            run, discarding = [], False
        elif discarding or match.lastgroup == "skip":
            continue
        else:
            kind = _kind(text, match, run)
            token = _Token(match.group() if kind == "number" else kind, match.start(), match.end())
            if kind == "unknown":
                discarding = True
            elif kind == "word":
                yield run
                run = []
            elif kind == "other" or _begins_run(text, kind, match.start(), run):
                is_equation = "=" in _kinds(run)
                if is_equation:
                    yield run
                discarding = bool(run) and not is_equation
                run = [] if kind == "other" else [token]
            elif kind != "unit":
                run.append(token)
    if not discarding:
        yield run


def _kind(text: str, match: re.Match[str], run: list[_Token]) -> str:
    """What a token after ``run`` is: an operator, a bracket, "=", "%", or the name of its kind.

    Tokens of kind "unknown" make arithmetic unreadable, those of kind "word" and "other" end it.
    """
    kind, token = match.lastgroup or "", match.group()
    if kind == "word":
        return _word_kind(text, match, run)
    if token == "**" and _is_bold(text, match, run):
        return "unit"
    if kind == "other" and token in "()+=%":
        return token
    if kind == "other" and token.isnumeric():
        return "unknown"
    return {"times": "*", "over": "/", "minus": "-"}.get(kind, kind)


def _is_bold(text: str, match: re.Match[str], run: list[_Token]) -> bool:
    """Whether ``**`` begins or ends bold text, as in ``the total is **3+4=7** eggs``; otherwise it is a power."""
    before, after = text[match.start() - 1 : match.start()] or " ", text[match.end() : match.end() + 1] or " "
    after_operand = before.isalnum() or before in ")]}%_"
    if not before.isspace():
        return not after_operand or _EXPONENT_NEXT.match(text, match.end()) is None
    return not after.isspace() and not _ends_with_operand(run)


def _word_kind(text: str, match: re.Match[str], run: list[_Token]) -> str:
    token = match.group()
    after_operand = _ends_with_operand(run)
    if after_operand and token in ("x", "X", "of") and _NUMBER_NEXT.match(text, match.end()):
        return "*"
    after_space = text[match.start() - 1].isspace()
    is_followed = after_operand and token != "of" and _UNIT_ENDS.match(text, match.end())
    if is_followed and may_be_unit(token, token, after_space):
        return "unit"
    is_variable = len(token) == 1 and _OPERATOR_NEXT.match(text, match.end()) is not None
    is_variable = is_variable or text.startswith("(", match.end())  # a function: sqrt(9) = 3
    has_operand = any(kind[-1].isdecimal() for kind in _kinds(run))
    is_inside = has_operand and not (after_operand and after_space)
    is_part = token == "of" and bool(run) and "=" not in _kinds(run)  # "5 of the 12 - 4 = 8 eggs"
    return "unknown" if is_variable or is_inside or is_part else "word"


def _begins_run(text: str, kind: str, start: int, run: list[_Token]) -> bool:
    """Whether a token cannot continue ``run``: a number after a number, or a bracket after a number and a space.

    Nor can an operator after the bracket that closes words, as in ``12 (eggs) / 4``.
    """
    if [token.kind for token in run] == [")"]:
        return kind in _OPERATORS
    return _ends_with_operand(run) and (kind == "number" or (kind == "(" and text[start - 1] == " "))


def _ends_with_operand(run: list[_Token]) -> bool:
    return bool(run) and run[-1].kind[-1] in "0123456789)%"


def _kinds(run: list[_Token]) -> list[str]:
    """The kinds of a run's tokens, without a leading ``=`` (of ``x = 3 + 4``)."""
    kinds = [token.kind for token in run]
    return kinds[1:] if kinds[:1] == ["="] else kinds


def _sides(tokens: list[_Token]) -> list[list[_Token]]:
    """The sides of an equation, without signs around it; none if there is nothing to calculate."""
    first, last = 0, len(tokens)
    while first < last and tokens[first].kind in "=*/)%":
        first += 1
    while first < last and tokens[last - 1].kind in "=+-*/(":
        last -= 1
    sides: list[list[_Token]] = [[]]
    for token in tokens[first:last]:
        if token.kind == "=":
            sides.append([])
        else:
            sides[-1].append(token)
    if len(sides) > 2 and not _is_calculation(sides[0]):  # "it drops 8 degrees = 2 - 8 = -6": the 8 is part of a name
        sides = sides[1:]
    return sides if len(sides) > 1 and any(map(_is_calculation, sides)) else []


def _equation(text: str, tokens: list[_Token]) -> Equation | None:
    sides = _sides(tokens)
    if not sides:
        return None
    tokens = [token for side in sides for token in side]
    written = text[tokens[0].start : tokens[-1].end]
    if len(tokens) > MAX_TOKENS or any(len(token.kind) > MAX_DIGITS for token in tokens):
        return Equation(written, False, "too long to check")
    try:
        values = [_Parser(side, percent=Fraction(1, 100)).value() for side in sides]
        # 18 / 450 * 100 = 4 %: the percent sign is optional.
        has_percent = any(token.kind == "%" for token in tokens)
        without_percent = [_Parser(side, percent=1).value() for side in sides] if has_percent else values
    except _NoExpressionError:
        return None
    except ZeroDivisionError:
        return Equation(written, False, "division by zero")
    correct = len(set(values)) == 1 or len(set(without_percent)) == 1
    plain = "=".join(map(_plain, sides))
    return Equation(written, correct, "correct" if correct else f"it is {_format(values[0])}", plain, values[0])


def _plain(side: list[_Token]) -> str:
    kinds = [_one_spelling(token.kind) for token in side]
    signs = set(kinds[1::2])
    if len(signs) == 1 and signs <= {"+", "*"} and all(kind[-1].isdecimal() for kind in kinds[::2]):
        return signs.pop().join(sorted(kinds[::2]))
    return "".join(kinds)


def _one_spelling(kind: str) -> str:
    """``.50`` and ``7.0`` as ``0.5`` and ``7``."""
    if "." not in kind:
        return kind.replace(",", "")
    whole, _, decimals = kind.replace(",", "").partition(".")
    return f"{whole or 0}.{decimals}".rstrip("0").rstrip(".")


def _is_calculation(side: list[_Token]) -> bool:
    return any(token.kind in _OPERATORS for token in side[1:]) or any(token.kind == "(" for token in side)


def _format(value: Rational) -> str:
    if max(abs(value.numerator), value.denominator) >> 200:  # Python refuses to convert very large numbers to text
        return "another number"
    return shortened(str(value), 30)


class _Parser:
    """Recursive descent: sum of products of signed factors. Integers stay ``int``, which is much faster."""

    def __init__(self, tokens: list[_Token], percent: Rational) -> None:
        self._percent = percent
        self._kinds = [token.kind for token in tokens]
        self._at = 0
        self._depth = 0

    def value(self) -> Rational:
        """The value of all tokens. Raises ``_NoExpressionError``, ``ZeroDivisionError``."""
        value = self._sum()
        if self._at < len(self._kinds):
            raise _NoExpressionError
        return value

    def _next(self) -> str:
        return self._kinds[self._at] if self._at < len(self._kinds) else ""

    def _take(self) -> str:
        kind = self._next()
        self._at += 1
        return kind

    def _sum(self) -> Rational:
        value = self._product()
        while self._next() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> Rational:
        value = self._factor()
        while self._next() in ("*", "/", "("):
            if self._next() == "(" or self._take() == "*":
                value *= self._factor()
            else:
                value = Fraction(value) / self._factor()
        return value

    def _factor(self) -> Rational:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NoExpressionError
        kind = self._take()
        if kind in ("+", "-"):
            value = self._factor()
            value = -value if kind == "-" else value
        elif kind == "(":
            value = self._sum()
            if self._take() != ")":
                raise _NoExpressionError
        elif kind.isdecimal():
            value = int(kind)
        elif kind and kind[-1].isdecimal():
            whole, _, part = kind.replace(",", "").rpartition(" ")
            value = Fraction(part) + int(whole or 0)
        else:
            raise _NoExpressionError
        while self._next() == "%":
            self._at += 1
            value *= self._percent
        self._depth -= 1
        return value
