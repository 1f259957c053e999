r"""Does an answer equal the gold answer? Decided exactly where possible, by computer algebra otherwise.

What counts as equal:

    numbers        the same exact value, however written: ``0.5``, ``\frac12``, ``50/100``, ``5\times10^{-1}``,
                   ``0.\overline{3}`` and ``1/3``; no tolerance unless ``rel_tol`` or ``decimals`` is set
    units          may be left out, may not contradict (12 cm is not 12 m); converted by exact factors
    percentages    50 % is 0.5, and 50 with the sign left out, unless ``percent`` is ``strict``
    letters        ``3 a^2`` is ``3a^2``; a letter that may be a variable is not left out
    bases          ``101_2`` is 5; the base may be left out (``101``); ``52_8`` is not ``52_9``
    lists, sets    ``2, 3``, ``3 and 2``, ``\{2,3\}``, ``\pm`` pairs: in any order, repetitions ignored
    tuples         ``(1,2)``, ``[1,2]``, intervals: in order, with the same brackets; never equal to a set
    vectors        ``(1,2)``, ``\langle 1,2\rangle``, a row, a column; no row is a column
    notations      ``30°``, ``\frac{\pi}{6}``; ``a \le b``, ``b \ge a``; ``x=2, y=-1``, ``(2,-1)``
    real sets      ``(-\infty,2)``, ``x<2``, ``\{x\mid x<2\}``; ``[1,2]\cup[2,3]``, ``[1,3]``; ``]1,2[``, ``(1,2)``
    matrices       element by element
    ``x=5``        equals ``5``, ``x=5`` and ``x=2+3=5``, not ``y=5``; every side of ``73=72`` must equal the gold
    ratios         ``2:3``, ``4:6`` and ``2/3``
    formulas       equal values for all values of their variables; equations up to a constant factor

The comparison is symmetric. What makes only an answer wrong, ``2+2`` for 4 or ``4 or 5``, is in ``answers.hedges``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from grpo_env.lazy_regex import lazy_compile

from ..quantities.number import Number, OverLimitError
from ..quantities.units import same_unit, split_unit
from .algebra import ALGEBRA, UnreadableError
from .normal import same_text, squeezed
from .notation import as_coordinates, as_vector, without_argument
from .parsed import Content, Formula, Group, ParsedAnswer, Words
from .percent_and_units import same_number
from .real_sets import INFINITIES, real_set
from .verdict import Rules, Verdict

MAX_PAIRS = 2500  # of elements of two sets
_FIRST_LETTERS = frozenset("ABCDEFGHIJ")
_PLACE = lazy_compile(r"-?\d{1,3}\.\d{4,}, ?-?\d{1,3}\.\d{4,}")
_TRUTH_VALUES = frozenset(("true", "false", "yes", "no", "t", "f"))  # a list of these has an order

_DEGREE = ("°", 1)
_RELATION = lazy_compile(r"[=<>]|\\(?:in|le|ge|ne)(?![a-z])")


def compare(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    """The verdict on an answer. Swapping gold and answer does not change whether it is correct.

    Raises ``OverLimitError``, and ``DeadlineError`` or ``UnreadableError`` from computer algebra.
    """
    one, other = gold.content, answer.content
    both_named = gold.variable and answer.variable and gold is not answer
    if not both_named and isinstance(one, Number) and isinstance(other, Number):
        return same_number(one, other, rules)
    if type(one) is type(other) and same_text(gold.text, answer.text):
        return Verdict(True, "the same text")
    if gold.variable and answer.variable and _names(gold.variable).isdisjoint(_names(answer.variable)):
        return _different_names(gold, answer, rules)
    if isinstance(one, Number) and isinstance(other, Number):
        return same_number(one, other, rules)
    if gold.variable and answer.variable and squeezed(gold.variable) != squeezed(answer.variable):  # p=q, p
        gold, answer = (ParsedAnswer(side.right_side, side.content) for side in (gold, answer))
    return _other_kinds(gold, answer, rules)


def _names(variable: str) -> set[str]:
    """The names of a value: two of ``p=q=0.4``."""
    return set(squeezed(variable).split("="))


def _other_kinds(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    """The verdict where not both are numbers, by the first of these kinds that one of them is."""
    if rules.notation == "flexible":
        gold, answer = as_coordinates(gold, answer) or (gold, answer)
    one, other = gold.content, answer.content
    if _is_chain(one) or _is_chain(other):
        return _chain(gold, answer, rules)
    if isinstance(one, Group) and isinstance(other, Group):
        if (
            _has_order(gold) or _has_order(answer) or _is_sequence(gold) or _is_numbered(gold)
        ) and one.kind == other.kind:
            return _in_order(one, other, rules)
        return _groups(one, other, rules)
    if _lists_several(one, other):
        return Verdict(False, "one answer where several were expected")
    if _lists_several(other, one):
        return Verdict(False, "several answers where one was expected")
    if isinstance(one, Words) or isinstance(other, Words):
        return _words(gold, answer, rules)
    if any(isinstance(content, Formula) and content.text in INFINITIES for content in (one, other)):
        return Verdict(False, "a different number")
    return _by_algebra(gold, answer, rules)


def _different_names(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    """``y=2x`` and ``x=y/2`` are the same equation; ``x=5`` and ``y=5`` are not."""
    if renamed := without_argument(gold, answer):
        return compare(gold, renamed, rules)
    if isinstance(gold.content, Formula | Words) and isinstance(answer.content, Formula | Words):
        return _by_algebra(gold, answer, rules)
    return Verdict(False, "the value of another variable")


def _is_chain(content: Content) -> TypeGuard[Group]:
    return isinstance(content, Group) and content.kind == "chain"


def _chain(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    """Every side of a chain such as ``2+3=5`` has to be equal to the other answer."""
    if _is_chain(gold.content):
        verdicts = [compare(side, answer, rules) for side in gold.content.items]
    else:
        assert _is_chain(answer.content)
        verdicts = [compare(gold, side, rules) for side in answer.content.items]
    return next((verdict for verdict in verdicts if not verdict.correct), verdicts[-1])


def _lists_several(content: Content, other: Content) -> bool:
    """Whether a content has several parts where the other is single. A tuple next to a formula is left to algebra."""
    return isinstance(content, Group) and (content.kind == "set" or isinstance(other, Number))


def _groups(gold: Group, answer: Group, rules: Rules) -> Verdict:
    if "union" in (gold.kind, answer.kind):
        one, other = real_set(gold), real_set(answer)
        if one and other and (one == other or rules.exact):
            return _elements(one == other)
    if {gold.kind, answer.kind} == {"[]", "matrix"}:
        gold, answer = _as_matrix(gold), _as_matrix(answer)
    if gold.kind != answer.kind and rules.notation == "flexible":
        gold, answer = as_vector(gold), as_vector(answer)
    if gold.kind != answer.kind:
        are_intervals = {gold.kind, answer.kind} <= {"()", "[]", "(]", "[)"}
        return Verdict(False, "different elements" if are_intervals else "a different kind of answer")
    if gold.kind in ("set", "union"):
        if len(gold.items) * len(answer.items) > MAX_PAIRS:
            raise OverLimitError("the set is too large")
        return _elements(_same_set(gold, answer, rules))
    return _in_order(gold, answer, rules)


def _in_order(gold: Group, answer: Group, rules: Rules) -> Verdict:
    """The verdict on elements whose order counts."""
    if len(gold.items) != len(answer.items):
        return Verdict(False, "a different number of elements")
    return _elements(all(same_element(*pair, rules) for pair in zip(gold.items, answer.items, strict=True)))


def _as_matrix(group: Group) -> Group:
    """``[[2, 1], [1, 2]]`` as a matrix and ``[1, 0, -2]`` as a column; a pair, which may be an interval, as it is."""
    contents = [item.content for item in group.items]
    if group.kind == "matrix":
        return group
    if contents and all(isinstance(content, Group) and content.kind == "[]" for content in contents):
        rows = [replace(content, kind="row") for content in contents if isinstance(content, Group)]
    elif len(contents) > 2:
        rows = [Group("row", (item,)) for item in group.items]
    else:
        return group
    return Group("matrix", tuple(ParsedAnswer("", row) for row in rows))


def _letters(answer: ParsedAnswer) -> list[str]:
    """The letters or words of a list without braces, in which nothing else is; else none."""
    content = answer.content
    if not isinstance(content, Group) or content.kind != "set" or answer.text.startswith("\\{"):
        return []
    letters = [item.content.text for item in content.items if isinstance(item.content, Words)]
    return letters if len(letters) == len(content.items) > 1 else []


def _has_order(answer: ParsedAnswer) -> bool:
    """Whether a list of letters has an order: one of truth values, or in which an item comes again."""
    letters = [letter.casefold() for letter in _letters(answer)]
    return len(set(letters)) < len(letters) or (letters != [] and all(letter in _TRUTH_VALUES for letter in letters))


def _is_sequence(gold: ParsedAnswer) -> bool:
    """Whether a gold answer is letters from A on in another order than the alphabet's, as in a traversal A, C, B."""
    letters = _letters(gold)
    return len(letters) > 2 and letters != sorted(letters) and _FIRST_LETTERS.issuperset(letters)


def _is_numbered(gold: ParsedAnswer) -> bool:
    """Whether a gold answer lists what belongs into several blanks, ``5; 12``, or a latitude and a longitude."""
    blanks = ";" in gold.text and "," not in gold.text and "=" not in gold.text and isinstance(gold.content, Group)
    return blanks or _PLACE.fullmatch(gold.text) is not None


def _elements(same: bool) -> Verdict:
    return Verdict(same, "the same elements" if same else "different elements")


def _same_set(gold: Group, answer: Group, rules: Rules) -> bool:
    """Whether each set has every element of the other."""
    if rules.exact and (one := _values(gold)) is not None and (other := _values(answer)) is not None:
        return one == other
    none_missing = all(any(same_element(one, other, rules) for other in answer.items) for one in gold.items)
    return none_missing and all(any(same_element(one, other, rules) for one in gold.items) for other in answer.items)


def _values(group: Group) -> set[Fraction] | None:
    """The elements of a set in which all are numbers without names and units, else ``None``."""
    values = set()
    for item in group.items:
        number = item.content
        if item.variable or not isinstance(number, Number) or number.unit or number.numeral is not None:
            return None
        values.add(number.value)
    return values


def same_element(one: ParsedAnswer, other: ParsedAnswer, rules: Rules) -> bool:
    """Whether two elements are equal. One that cannot be read equals nothing, so that the order does not matter."""
    try:
        return compare(one, other, rules).correct
    except UnreadableError:
        return False


def _words(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    one, other = gold.content, answer.content
    if isinstance(one, Words) and isinstance(other, Words):
        same = one.text == other.text or (rules.ignore_case and one.text.casefold() == other.text.casefold())
        return Verdict(same, "the same words" if same else "a different text")
    for words, rest in ((one, other), (other, one)):
        if isinstance(words, Words) and len(words.text) == 1 and isinstance(rest, Formula):
            return _by_algebra(gold, answer, rules)  # the letter is a variable
    if isinstance(one, Words):
        return Verdict(False, "a number or formula where words were expected")
    return Verdict(False, "words where a number or formula was expected")


def _by_algebra(gold: ParsedAnswer, answer: ParsedAnswer, rules: Rules) -> Verdict:
    one, other = _formula(gold, opposite=answer), _formula(answer, opposite=gold)
    is_other_angle = r"\pi" in one.text + other.text and one.unit != other.unit and _DEGREE in one.unit + other.unit
    if is_other_angle or not same_unit(one.unit, other.unit):
        return Verdict(False, "a different unit")
    if squeezed(one.text) == squeezed(other.text):
        return Verdict(True, "the same text")
    if rules.notation == "strict" and _RELATION.findall(one.text) != _RELATION.findall(other.text):
        return Verdict(False, "not equal by algebra")
    same = ALGEBRA.same(one.text, other.text, rules.time, rules.rel_tol, rules.decimals)
    return Verdict(same, "equal by algebra" if same else "not equal by algebra")


def _formula(answer: ParsedAnswer, opposite: ParsedAnswer) -> Formula:
    """What algebra gets: of ``x = ...`` only the right-hand side if the opposite is not an equation or relation."""
    content = answer.content
    is_relation = _RELATION.search(opposite.text) is not None
    if isinstance(content, Number) and not (answer.variable and is_relation):
        return Formula(_latex(content.value), content.unit)
    if isinstance(content, Formula) and not (answer.variable and is_relation):
        return content
    if answer.variable and not is_relation:
        return Formula(*split_unit(answer.right_side))
    return Formula(*split_unit(answer.text))


def _latex(value: Fraction) -> str:
    """An exact value in LaTeX that algebra cannot misread, unlike ``5 000``, ``1e3`` or ``2 1/3``."""
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
