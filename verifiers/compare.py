r"""Is this answer worth the same as that gold? Exact where possible, computer algebra for the rest.

What counts as the same:

    numbers        the same exact value, however written; no tolerance unless ``rel_tol`` is set
    units          may be left out, may not contradict (12 cm is not 12 m, 5 % is 5 but not 0.05)
    bases          like units: ``52_8`` and ``52``; not ``52_9``
    lists, sets    ``2, 3``, ``3 and 2``, ``\{2,3\}``, ``\pm`` pairs: in any order
    tuples         ``(1,2)``, ``[1,2]``, intervals: in order, with the same brackets; never equal to a set
    matrices       element by element
    ``x=5``        equals ``5`` and ``x=5``, not ``y=5``
    words          upper and lower case and outer punctuation ignored; a choice letter may stand before its text
    formulas       equal values for all values of their variables; equations up to a factor

A plain number is not answered by a calculation still to be done (``2+2``, a sum, a limit).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from .algebra import same_formula
from .exact import Number, OverLimitError, read_number, same_unit, split_unit
from .normal import normal, squeezed

MAX_LENGTH = 1500
MAX_NESTING = 20

_VARIABLE = re.compile(r"([A-Za-z](?:_\{?\w{1,9}\}?)?|\\[a-z]+|[a-z]\([a-z]\))\s*(?:=|\\in(?![a-z]))\s*([^=]+)$")
_SEPARATOR = re.compile(r"\s*[,;]\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+")
_OPENING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_TOKENS = re.compile(r"\\begin\{[a-z]*\*?\}|\\end\{[a-z]*\*?\}|\\[A-Za-z]+|\\.|[\s\S]")
_MATRIX = re.compile(r"\\begin\{([pb]?matrix|array)\}\s*(?:\{[lcr| ]*\})?(.*)\\end\{\1\}$", re.DOTALL)
_WORDS = re.compile(r"[\"'(]?[A-Za-z][A-Za-z0-9 .:,'\"()&%!?/-]*|\d{1,2}:\d\d(?::\d\d)?\s?(?:[AaPp]\.?[Mm]\.?)?")
_LETTER = re.compile(r"[\"'(\[]?([A-Za-z])[\"')\].:,]*")
_CHOICE = re.compile(r"(?:[(\[]([A-Za-z])[)\]][.:]?|([A-Za-z])[).:])\s+\S")
_WORD = re.compile(r"[A-Za-z]{3,}")
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "sqrt", "arcsin", "arccos", "arctan", "infty",
    "inf", "det", "pi",
}  # fmt: skip
_TO_DO = re.compile(
    r"\\(?:sum|int|iint|prod|lim|gcd|lcm|max|min)(?![a-z])|(?<![A-Za-z])(?:gcd|lcm|sum|max|min)\b"
    r"|[\d)}!%]\s*(?:[-+*/]|\\times|\\cdot|\\div)\s*[-+]?\s*(?:[\d.($]|\\[dt]?frac|\\left)"
)


@dataclass(frozen=True)
class Verdict:
    """Whether the answer is right, and why."""

    right: bool
    reason: str


@dataclass(frozen=True)
class Group:
    """Several things together. ``kind`` is ``set``, ``union``, a pair of brackets, or ``matrix``."""

    kind: str
    items: tuple[Reading, ...]


@dataclass(frozen=True)
class Words:
    """Text that is no mathematics, ready to be compared."""

    text: str


@dataclass(frozen=True)
class Formula:
    """Something for computer algebra, in normal LaTeX."""

    text: str
    unit: tuple[str, ...] = ()


Shape: TypeAlias = Number | Group | Words | Formula


@dataclass(frozen=True)
class Reading:
    """An answer as it was understood: a shape, and the variable it was assigned to, if any."""

    text: str
    shape: Shape
    variable: str | None = None


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Understand an answer. Raises ``OverLimitError`` if it is larger than any honest one."""
    if len(text) > MAX_LENGTH:
        raise OverLimitError(f"an answer of {len(text)} characters is too long")
    return _read(normal(text), MAX_NESTING)


def compare(gold: Reading, answer: Reading, rel_tol: float | None, timeout: float) -> Verdict:
    """Judge an answer.

    Raises ``OverLimitError``, and ``DeadlineError`` or ``UnreadableError`` from computer algebra.
    """
    if squeezed(gold.text) == squeezed(answer.text):
        return Verdict(True, "the same text")
    if gold.variable and answer.variable and squeezed(gold.variable) != squeezed(answer.variable):
        return _by_algebra(gold, answer, rel_tol, timeout)
    one, other = gold.shape, answer.shape
    if isinstance(one, Number) and isinstance(other, Number):
        return _numbers(one, other, rel_tol)
    if isinstance(one, Words) or isinstance(other, Words):
        return _words(one, other)
    if isinstance(one, Group) and isinstance(other, Group) and not _may_be_relation(one, other):
        return _groups(one, other, rel_tol, timeout)
    if isinstance(other, Group) and isinstance(one, Number):
        return Verdict(False, "several answers where one was asked")
    if isinstance(one, Group) and isinstance(other, Number):
        return Verdict(False, "one answer where several were asked")
    if isinstance(one, Number) and isinstance(other, Formula) and _TO_DO.search(other.text):
        return Verdict(False, "not evaluated")
    return _by_algebra(gold, answer, rel_tol, timeout)


def _numbers(gold: Number, answer: Number, rel_tol: float | None) -> Verdict:
    if not gold.agrees(answer):
        return Verdict(False, "the units contradict each other")
    if gold.value == answer.value:
        return Verdict(True, "the same number")
    if rel_tol and abs(gold.value - answer.value) <= Fraction(rel_tol) * abs(gold.value):
        return Verdict(True, f"within a relative tolerance of {rel_tol:g}")
    return Verdict(False, "a different number")


def _words(gold: Shape, answer: Shape) -> Verdict:
    if isinstance(gold, Words) and isinstance(answer, Words):
        letter = _CHOICE.match(answer.text)
        if gold.text == answer.text:
            return Verdict(True, "the same words")
        if letter and len(gold.text) == 1 and (letter[1] or letter[2]) == gold.text:
            return Verdict(True, "the same choice")
        return Verdict(False, "different words")
    return Verdict(False, "words where mathematics was asked" if isinstance(answer, Words) else "no such words")


def _groups(gold: Group, answer: Group, rel_tol: float | None, timeout: float) -> Verdict:
    if gold.kind != answer.kind:
        return Verdict(False, f"a {_name(answer)} where a {_name(gold)} was asked")

    def same(one: Reading, other: Reading) -> bool:
        return compare(one, other, rel_tol, timeout).right

    if gold.kind in ("set", "union"):
        right = _all_matched(gold.items, answer.items, same) and _all_matched(answer.items, gold.items, same)
        return Verdict(right, "the same elements" if right else "different elements")
    if len(gold.items) != len(answer.items):
        return Verdict(False, f"{len(answer.items)} elements where {len(gold.items)} were asked")
    wrong = next((n for n, pair in enumerate(zip(gold.items, answer.items, strict=True), 1) if not same(*pair)), None)
    return Verdict(wrong is None, f"element {wrong} is different" if wrong else "the same elements")


def _all_matched(
    items: tuple[Reading, ...], others: tuple[Reading, ...], same: Callable[[Reading, Reading], bool]
) -> bool:
    if len(items) * len(others) > 2500:
        raise OverLimitError("the set is too large")
    return all(any(same(item, other) for other in others) for item in items)


def _by_algebra(gold: Reading, answer: Reading, rel_tol: float | None, timeout: float) -> Verdict:
    one, other = _formula(gold, keep=answer), _formula(answer, keep=gold)
    if not same_unit(one.unit, other.unit):
        return Verdict(False, "the units contradict each other")
    if squeezed(one.text) == squeezed(other.text):
        return Verdict(True, "the same text")
    right = same_formula(one.text, other.text, rel_tol, timeout)
    return Verdict(right, "equal by algebra" if right else "not equal by algebra")


def _formula(reading: Reading, keep: Reading) -> Formula:
    """What algebra gets: the right-hand side of ``x = ...`` if the other side is no equation, else everything."""
    shape = reading.shape
    relation = re.search(r"=|<|>|\\(?:in|le|ge|lt|gt|ne)(?![a-z])", keep.text) is not None
    if reading.variable and not relation and isinstance(shape, Formula):
        return shape
    text = reading.text
    if reading.variable and not relation:
        match = _VARIABLE.match(text)
        text = match[2] if match else text
    return Formula(*split_unit(text))


def _may_be_relation(gold: Group, answer: Group) -> bool:
    """Whether set notation may equal a list of inequalities: only algebra can tell."""
    return any("<" in item.text or ">" in item.text or "\\le" in item.text for item in gold.items + answer.items)


def _name(group: Group) -> str:
    return {"()": "tuple or open interval"}.get(group.kind, group.kind)


def _read(text: str, depth: int) -> Reading:
    if depth == 0:
        raise OverLimitError("brackets are nested too deeply")
    match = _VARIABLE.match(text)
    if match and not _SEPARATOR.search(match[2].strip("([{}])\\ ")):
        return Reading(text, _read(match[2].strip(), depth - 1).shape, match[1])
    if match and _brackets(match[2].strip()):
        return Reading(text, _shape(match[2].strip(), depth), match[1])
    return Reading(text, _shape(text, depth))


def _shape(text: str, depth: int) -> Shape:
    number = read_number(text)
    if number is not None:
        return number
    if match := _MATRIX.fullmatch(text):
        rows = [row.strip() for row in _split(match[2], lambda token: token == "\\\\") if row.strip()]
        return Group("matrix", tuple(Reading(row, _row(row, depth)) for row in rows))
    parts = _split(text, lambda token: token == "\\cup")
    if len(parts) > 1:
        return Group("union", tuple(_read(part.strip(), depth - 1) for part in parts))
    brackets = _brackets(text)
    if brackets:
        inner = text[2:-2] if brackets == "{}" else text[1:-1]
        items = _items(inner)
        if brackets == "{}":
            return Group("set", tuple(_expanded(items, depth)))
        if len(items) > 1:
            return Group(brackets, tuple(_read(item, depth - 1) for item in items))
        if len(items) == 1 and read_number(items[0]) is not None:
            return _shape(items[0], depth - 1) if brackets == "()" else Group(brackets, (_read(items[0], depth - 1),))
    items = _items(text)
    if (len(items) > 1 and all(_mathematical(item) for item in items)) or ("\\pm" in text and len(items) == 1):
        return Group("set", tuple(_expanded(items, depth)))
    if _is_words(text):
        return Words(_plain_words(text))
    return Formula(*split_unit(text))


def _row(text: str, depth: int) -> Group:
    return Group("row", tuple(_read(cell.strip(), depth - 1) for cell in _split(text, lambda token: token == "&")))


def _expanded(items: list[str], depth: int) -> Iterator[Reading]:
    for item in items:
        if "\\pm" in item:
            yield _read(item.replace("\\pm", "+", 1).replace("\\mp", "-").lstrip("+ "), depth - 1)
            yield _read(item.replace("\\pm", "-", 1).replace("\\mp", "+").lstrip(), depth - 1)
        else:
            yield _read(item, depth - 1)


def _brackets(text: str) -> str:
    r"""The outer brackets around all of a text: ``()``, ``[]``, ``(]``, ``[)``, ``{}`` for ``\{…\}``, or nothing."""
    if text.startswith("\\{") and text.endswith("\\}"):
        return "{}"
    if len(text) < 2 or text[0] not in "([" or text[-1] not in ")]" or text[-2] == "\\":
        return ""
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += _OPENING.get(token.group().lstrip("\\"), 0)
        if depth == 0:
            return text[0] + text[-1] if token.end() == len(text) else ""
    return ""


def _items(text: str) -> list[str]:
    """A text split at its outer commas, semicolons, ``and`` and ``or``."""
    cuts, depth, at = [], 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        depth += _OPENING.get(token.lstrip("\\"), 0) + token.startswith("\\begin") - token.startswith("\\end")
        if depth == 0 and match.start() >= at and (separator := _SEPARATOR.match(text, match.start())):
            cuts.append(separator.span())
            at = separator.end()
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    items = [text[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [item for item in items if item]


def _split(text: str, is_cut: Callable[[str], bool]) -> list[str]:
    parts, depth, start = [], 0, 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        depth += _OPENING.get(token.lstrip("\\"), 0) + token.startswith("\\begin") - token.startswith("\\end")
        if depth == 0 and is_cut(token):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _mathematical(item: str) -> bool:
    return re.search(r"[\d\\]", item) is not None or re.fullmatch(r"[A-Za-z]", item) is not None


def _is_words(text: str) -> bool:
    if _LETTER.fullmatch(text) or re.fullmatch(r"\d{1,2}:\d\d.*", text):
        return True
    if _CHOICE.match(text) and not re.search(r"[\\^_=<>+*{}]", text):
        return True
    words = _WORD.findall(text)
    return bool(words) and _WORDS.fullmatch(text) is not None and not all(word in _FUNCTIONS for word in words)


def _plain_words(text: str) -> str:
    plain = " ".join(text.casefold().split()).strip(" .,;:!?\"'")
    if letter := _LETTER.fullmatch(plain):
        return letter[1]
    return re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", plain)
