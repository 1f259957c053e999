"""Perturbed gold answers: wrong answers that no verifier of the answer should give credit for.

Every kind of gold answer has changes of its own. They are made in the text, without the verifiers that they test, and
only where nobody could accept the result: 6/13/2020 is not made of 13/6/2020.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from grpo_env.core import Verifier
from grpo_env.registry import built_in_name
from grpo_env.taskfile.row_options import class_of

from .gold_completion import option

if TYPE_CHECKING:
    from grpo_env.verifiers.answers.kinds.which_kind import Kind

Change = Callable[[str], str | None]
"""Makes a wrong answer of a gold answer, or returns ``None`` where it does not apply."""

MAX_CANDIDATES = 10  # other rows that are looked at for an answer that plainly differs
MAX_WORDS = 4  # in a longer text one other word may leave the answer correct
OTHER_WORDS = ("banana", "window")
FOR_ALL_KINDS = ("another row's", "empty")
TOLERANCES = ("rel_tol", "abs_tol", "decimals", "rtol", "atol", "tolerance")
"""Names of options: ours and those of ``math.isclose``, of ``numpy.isclose``, and a common one."""

_NUMBER = re.compile(r"[-+]?\$?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?%?")
_QUANTITY = re.compile(r"([^\d\s.,+-]*)\s?([-+]?[\d,]*\.?\d+)\s?(\D*)")  # with its unit before or after it
_LATEX_SPELLING = re.compile(r"\\(?:left|right)(?![a-z])|\\[!,;:]|\\[dt](?=frac)|[\s{}$,\\]")
_VARIABLE = re.compile(r"^[A-Za-z]=")  # x=5 is 5
_TUPLE = re.compile(r"\(([^()\[\]{},]+(?:,[^()\[\]{},]+)+)\)")
_LETTER = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
# 12 cm, -3 people; 0x437, -007
_QUANTITY_OR_CODE = re.compile(r"[-+]?(?:\d[\d,]*(?:\.\d+)?\s?[^\W\d_][^=+*()-]*|0[xXbBoO]?[0-9A-Fa-f]+)")
_UNIT = re.compile(r"(?<=\d)(\s?)([^\W\d_]+)$")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_TOKEN = r"([A-Z][a-z]*(?![a-z])|[a-z]+(?![a-z])|\d+(?!\d))"
_TOKENS = re.compile(rf"{_TOKEN}{_TOKEN}")
_DIMENSIONS = tuple(
    frozenset(units.split())
    for units in (
        "kg g mg ug t lb lbs oz ton tons tonne tonnes gram grams kgs",
        "km m dm cm mm mi ft in yd kms cms meter meters miles feet",
        "ms s min h sec mins hours minutes seconds days day",
        "ml l cl dl gal liters liter",
    )
)
_MONTH = re.compile("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)


def number(text: str) -> Fraction | None:
    """The value of a plain number (``1,000``, ``-2.5``, ``$18``), ``None`` for anything else."""
    text = text.strip()
    if len(text) > 60 or not _NUMBER.fullmatch(text):
        return None
    return Fraction(text.translate({ord(sign): None for sign in ",$%"}))


def differs(a: str, b: str) -> bool:
    """Whether two answers are likely to differ: as numbers, or else as texts apart from how LaTeX is spelled."""
    values = number(a), number(b)
    if None not in values:
        return values[0] != values[1]
    return _plain(a) != _plain(b)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return _VARIABLE.sub("", _LATEX_SPELLING.sub("", text)).casefold().strip("().")


def another(golds: Sequence[str], index: int, tolerates: Set[str] = frozenset()) -> str | None:
    """The next gold answer that plainly differs from the one at ``index``, else the next one with another text.

    ``None`` if all are the same; or, for a verifier with a tolerance, if none plainly differs.
    """
    is_tolerant = not tolerates.isdisjoint(TOLERANCES)
    own, order = golds[index], (golds[(index + step) % len(golds)] for step in range(1, len(golds)))
    others = list(islice((gold for gold in order if is_another(gold, own)), MAX_CANDIDATES))
    plainly = (gold for gold in others if _plainly_differs(gold, own, is_tolerant))
    return next(plainly, None if is_tolerant or not others else others[0])


def is_another(a: str, b: str) -> bool:
    """Whether two answers are likely to differ, and cannot be one quantity either."""
    return differs(a, b) and not _may_be_one_quantity(a, b)


def _may_be_one_quantity(a: str, b: str) -> bool:
    """Whether two texts may be one quantity: 12 is accepted for 12 km, and so are 12,000 m."""
    found = [_QUANTITY.fullmatch(text.strip()) for text in (a, b)]
    if found[0] is None or found[1] is None:
        return False
    units = [f"{match[1]} {match[3]}".casefold().strip() for match in found if match]
    if all(units) and units[0] != units[1]:
        dimensions = [next((known for known in _DIMENSIONS if unit in known), None) for unit in units]
        return None in dimensions or dimensions[0] is dimensions[1]
    return number(found[0][2]) == number(found[1][2])


def _plainly_differs(a: str, b: str, is_tolerant: bool) -> bool:
    """Whether two answers with different texts cannot be the same answer: 1/2 and 0.5, or two forms of a date, can."""
    from grpo_env.verifiers.answers.kinds.which_kind import kind_of

    value, other = number(a), number(b)
    if value is not None and other is not None:
        low, high = sorted((abs(value), abs(other)))
        return low * 100 != high and (not is_tolerant or 2 * low < high)
    kind = kind_of(a)
    if kind != kind_of(b):
        return False
    if kind == "date":
        years = [re.findall(r"\d{4}", text) for text in (a, b)]
        return years[0] != years[1] and all(years)
    return kind in ("text", "choice", "truth", "literal")


def tolerances(verifiers: Iterable[Verifier]) -> frozenset[str]:
    """What the verifiers of an answer accept besides the exact answer: names of options, and of two verifiers.

    To ``choice`` the text after the letter does not count; ``python_tests`` runs the answer, for which another number
    in a comment is no mistake. ``ignore_case`` is left out for ``accuracy``, which always keeps the case of codes.
    """
    found = set[str]()
    for verifier in verifiers:
        found.update(name for name in (*TOLERANCES, "unevaluated") if option(verifier, name) not in (None, "wrong", 0))
        name = built_in_name(class_of(verifier))
        if name in ("choice", "python_tests"):
            found.add(name)
        elif name != "accuracy" and option(verifier, "ignore_case") is True:
            found.add("ignore_case")
    return frozenset(found)


def perturbations(
    golds: Sequence[str], index: int, accepted: Collection[str] = (), tolerates: Set[str] = frozenset()
) -> Iterator[tuple[str, str]]:
    """Name and text of each wrong version of the gold answer at ``index``.

    ``accepted`` are further correct answers, ``tolerates`` what the verifier accepts (see ``tolerances``).
    """
    gold = golds[index]
    for name, text in () if "python_tests" in tolerates else changes(gold, tolerates):
        if all(differs(text, answer) for answer in accepted):
            yield name, text
    other = None if "choice" in tolerates else another(golds, index, tolerates)
    if other is not None and all(differs(other, answer) for answer in accepted):
        yield FOR_ALL_KINDS[0], other
    yield FOR_ALL_KINDS[1], ""


def changes(gold: str, tolerates: Set[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Name and text of each change of a gold answer alone, by its kind."""
    from grpo_env.verifiers.answers.kinds.codes import is_code
    from grpo_env.verifiers.answers.kinds.plain_text import plain
    from grpo_env.verifiers.answers.kinds.which_kind import kind_of

    gold = gold.strip()
    kind = "choice" if "choice" in tolerates else kind_of(gold)
    is_text = kind == "text" and not is_code(plain(gold))
    previous = set()
    for name, change in CHANGES["words" if is_text else kind]:
        text = change(gold)
        if text is None or text in previous or not (differs(text, gold) or change is _case_changed):
            continue
        if change is _case_changed and "ignore_case" in tolerates:
            continue
        if change in (_number_changed, _element_changed) and not tolerates.isdisjoint(TOLERANCES):
            if kind != "number":
                continue  # how far the value of a formula moves is not known
            text = _first_digit_changed(gold)
        previous.add(text)
        yield name, text


def _number_changed(gold: str) -> str | None:
    digits = re.search(r"\d{1,400}", gold)
    return _replaced(gold, digits, str(int(digits[0]) + 1)) if digits else None


def _first_digit_changed(gold: str) -> str:
    """The first digit other than 0 changed, which a tolerance cannot cover: 2018 becomes 3018."""
    return re.sub(r"[1-9]|0(?!.*[1-9])", lambda digit: str(int(digit[0]) % 9 + 1), gold, count=1)


def _element_changed(gold: str) -> str | None:
    """As ``_number_changed``, unless the set stays the same: ``6, 6, 7`` is ``7, 6, 7``."""
    text = _number_changed(gold)
    return text if text and set(re.findall(r"\d+", text)) != set(re.findall(r"\d+", gold)) else None


def _sign_changed(gold: str) -> str | None:
    """The sign of a number, also with a unit, or of a code that is a number: ``0x437`` becomes ``-0x437``."""
    value = number(gold)
    if value is None and _QUANTITY_OR_CODE.fullmatch(gold) and re.search("[1-9]", gold):
        value = Fraction(-1 if gold.startswith("-") else 1)
    if not value:
        return None
    return gold.lstrip("-") if value < 0 else f"-{gold.lstrip('+')}"


def _unit_changed(gold: str) -> str | None:
    """A unit of measurement at the end replaced by one of another dimension: ``12 cm`` becomes ``12 kg``."""
    from grpo_env.verifiers.answers.quantities.unit_names import MEASURES

    match = _UNIT.search(gold)
    if match is None or match[2] not in MEASURES:
        return None
    return _replaced(gold, match, match[1] + ("km" if match[2] in _DIMENSIONS[0] else "kg"))


def _case_changed(gold: str) -> str | None:
    """Small and capital letters swapped in a code that has both: ``dQw4`` becomes ``DqW4``."""
    has_both = any(map(str.islower, gold)) and any(map(str.isupper, gold))
    return gold.swapcase() if has_both and " " not in gold else None


def _order_reversed(gold: str) -> str | None:
    """``(3, 4)`` becomes ``(4, 3)``."""
    match = _TUPLE.fullmatch(gold)
    return f"({', '.join(part.strip() for part in reversed(match[1].split(',')))})" if match else None


def _word_changed(gold: str) -> str | None:
    """The longest word of a short answer of several words replaced by one that no answer has."""
    words = gold.split()
    if not 1 < len(words) <= MAX_WORDS or "\\" in gold:
        return None
    longest = max(_LONG_WORD.findall(gold), key=len, default=None)
    other = next(word for word in OTHER_WORDS if word not in gold.casefold())
    return gold.replace(longest, other, 1) if longest else None


def _letter_changed(gold: str) -> str | None:
    """The letter of a choice replaced by its neighbor."""
    match = _LETTER.search(gold)
    if match is None:
        return None
    return _replaced(gold, match, chr(ord(match[0]) + (1 if match[0] in "Aa" else -1)))


def _another_year(gold: str) -> str | None:
    """The year, four digits or the last number after slashes, increased by one."""
    years = list(re.finditer(r"(?<!\d)\d{4}(?!\d)", gold)) or list(re.finditer(r"(?<=[/.-])\d{2}$", gold))
    return _replaced(gold, years[-1], _increased(years[-1][0])) if years else None


def _increased(digits: str) -> str:
    return str((int(digits) + 1) % 10 ** len(digits)).zfill(len(digits))


def _replaced(text: str, match: re.Match[str], replacement: str) -> str:
    return text[: match.start()] + replacement + text[match.end() :]


def _day_and_month_swapped(gold: str) -> str | None:
    """``12/6/2020`` becomes ``6/12/2020``; only if both are at most 12."""
    days = list(re.finditer(r"(?<!\d)(?:1[0-2]|0?[1-9])(?!\d)", gold))
    if len(days) < 2 or _MONTH.search(gold):
        return None
    first, second = days[-2:] if re.match(r"\D*\d{4}", gold) else days[:2]
    if int(first[0]) == int(second[0]):
        return None
    return gold[: first.start()] + second[0] + gold[first.end() : second.start()] + first[0] + gold[second.end() :]


def _another_day(gold: str) -> str | None:
    """The day, a number that neither a month nor a year of two digits can be, changed by one."""
    day = re.search(r"(?<!\d)(?:1[3-9]|2\d|3[01])(?![\dsnrt])", gold)
    if day is None or (day.end() == len(gold) and not _MONTH.search(gold) and not re.match(r"\d{4}", gold)):
        return None
    return _replaced(gold, day, "14" if day[0] == "13" else str(int(day[0]) - 1))


def _digit_changed(gold: str) -> str | None:
    """The last digit increased by one, 9 to 0."""
    digit = re.search(r"\d(?=\D*$)", gold)
    return _replaced(gold, digit, str((int(digit[0]) + 1) % 10)) if digit else None


def _letters_reordered(gold: str) -> str | None:
    """Letters and numbers that follow each other swapped, as a product could be: ``H2O`` becomes ``2HO``."""
    match = None if "\\" in gold else _TOKENS.search(gold)
    return _replaced(gold, match, match[2] + match[1]) if match else None


def _opposite(gold: str) -> str:
    """``No`` becomes ``Yes``."""
    opposites = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
    return re.sub("yes|no|true|false", lambda word: _in_case_of(word[0], opposites[word[0].lower()]), gold, flags=re.I)


def _in_case_of(word: str, other: str) -> str:
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


def _value_changed(gold: str) -> str | None:
    """The first number, text or truth value in a literal changed."""
    value = literal(gold)
    return None if value is None else written(_with_another_leaf(value)[0], gold)


def _with_another_leaf(value: Any) -> tuple[Any, bool]:
    """A value with its first leaf changed, and whether it has one."""
    if isinstance(value, dict | list | tuple):
        items = dict(value if isinstance(value, dict) else enumerate(value))
        for key, inner in items.items():
            changed, is_changed = _with_another_leaf(inner)
            if is_changed:
                items[key] = changed
                return (items if isinstance(value, dict) else type(value)(items.values())), True
        return value, False
    if isinstance(value, bool) or value is None:
        return not value, True
    if isinstance(value, int | float):
        return value + 1, True
    return (f"{value} banana", True) if isinstance(value, str) else (value, False)


def _key_dropped(gold: str) -> str | None:
    """The last key of an object, or the last element of an array, removed."""
    value = literal(gold)
    if not value:
        return None
    shorter = value[:-1] if isinstance(value, list) else {key: value[key] for key in list(value)[:-1]}
    return written(shorter, gold)


def literal(gold: str) -> dict[str, Any] | list[Any] | None:
    """The object or array that a literal of JSON or Python is."""
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(gold)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, dict | list) else None
    return None


def written(value: Any, gold: str) -> str:
    """A value in the notation of the gold answer: JSON, or Python's."""
    try:
        json.loads(gold)
    except ValueError:
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


_MATHEMATICS = (
    ("a number changed", _number_changed),
    ("the sign changed", _sign_changed),
    ("another unit", _unit_changed),
)
CHANGES: dict[Kind | Literal["words"], tuple[tuple[str, Change], ...]] = {
    "number": _MATHEMATICS,
    "formula": _MATHEMATICS,
    "set": (("a number changed", _element_changed),),
    "tuple": (*_MATHEMATICS, ("the order reversed", _order_reversed)),
    "words": (("a number changed", _number_changed), ("a word changed", _word_changed)),
    "choice": (("another letter", _letter_changed),),
    "truth": (("the opposite", _opposite),),
    "date": (
        ("another year", _another_year),
        ("day and month swapped", _day_and_month_swapped),
        ("another day", _another_day),
    ),
    "text": (  # of codes and times of day
        ("a digit changed", _digit_changed),
        ("letters reordered", _letters_reordered),
        ("the sign changed", _sign_changed),
        ("another unit", _unit_changed),
        ("the case changed", _case_changed),
    ),
    "literal": (("a value changed", _value_changed), ("a key dropped", _key_dropped)),
}
"""The changes of each kind of gold answer: a name, which reports and hacks use, and what makes the text."""
