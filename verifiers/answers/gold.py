"""The gold answers of an example: what is read from a data set's text, once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from .extract import answer_in
from .kinds.json_value import text_list
from .kinds.own_kind import OwnKind, own_kind
from .kinds.which_kind import KINDS, MATHEMATICS, Answer, Kind, is_of, kind_of, read
from .math.algebra import DeadlineError, TimeLimit, UnreadableError, formula_problem
from .math.compare import compare
from .math.normal import normal
from .math.parse import as_set, exact_part, parse
from .math.parsed import Formula, ParsedAnswer
from .math.real_sets import INFINITIES
from .math.verdict import Rules
from .quantities.number import Number, OverLimitError

Golds = Literal["one", "any", "all"]

_IN_ORDER = re.compile(r"([^()]*\d, ?[^()]*\d) \(?in (?:this|that|the given|the following) order\)?")
_LARGE = 10**99


class Gold(NamedTuple):
    r"""A gold answer, as it was written and as it was read, and its kind.

    ``unreadable`` is why a formula can only be compared as a text. ``spelling`` is all of ``exact \approx decimal``, of
    which the answer is a part. ``digits`` are those of a number that is nothing but an integer. ``own`` is the kind
    that a task brings, whose gold answers have the kind ``literal``.
    """

    text: str
    answer: Answer | Any
    kind: Kind
    unreadable: str = ""
    spelling: str = ""
    digits: str = ""
    own: OwnKind | None = None

    @property
    def parsed(self) -> ParsedAnswer:
        """A gold answer of mathematics."""
        assert isinstance(self.answer, ParsedAnswer)
        return self.answer


@lru_cache(maxsize=16384)
def read_golds(text: str | None, golds: Golds, kind: Kind | str | None, timeout: float) -> tuple[tuple[Gold, ...], str]:
    """The gold answers to compare with, or none and the reason."""
    if text is None or not text.strip():
        return (), "the gold answer is missing"
    texts = [text] if golds == "one" else text_list(text)
    if not texts:
        return (), f"golds: {golds} needs a JSON list of texts or numbers as the gold answer, not {text[:60]!r}"
    answers = []
    for gold in texts:
        try:
            answers.append(_read_gold(gold, kind, timeout))
        except (ValueError, UnreadableError, DeadlineError) as error:
            return (), f"the gold answer {gold[:60]!r}: {error}"
    if golds != "all" or len(answers) < 2:
        return tuple(answers), ""
    if unreadable := next((gold.unreadable for gold in answers if gold.unreadable), ""):
        return (), unreadable
    parts = tuple(gold.answer if isinstance(gold.answer, ParsedAnswer) else parse(gold.text) for gold in answers)
    return (Gold(text, as_set(parts), "set"),), ""


def kind_of_gold(text: str) -> Kind:
    """The kind of a gold answer, which may also be a worked solution. It never raises."""
    answers = gold_answers(text)
    return kind_of(answers[0]) if answers else "text"


def gold_answers(text: str) -> tuple[str, ...]:
    """The answers in a gold answer: several if it is a worked solution that names several."""
    if text.isdecimal() or kind_of(text.strip()) == "literal":
        return (text.strip(),)
    return answer_in(text.rpartition("####")[2] if "####" in text else text).answers


def _read_gold(text: str, kind: Kind | str | None, timeout: float) -> Gold:
    """The gold answer in a data set's text, which may be a solution. Raises ``ValueError`` with what is wrong."""
    answers = gold_answers(text)
    if not answers:
        raise ValueError("it is empty")
    first = answers[0]
    if kind is not None and kind not in KINDS:
        own = own_kind(kind)
        try:
            value = own.read(first)
        except Exception as error:  # of the user's code
            raise ValueError(f"{type(own).__name__}.read raised {type(error).__name__}: {error}") from error
        if value is None:
            raise ValueError(f"it is not of kind {type(own).__name__}")
        return Gold(first, value, "literal", own=own)
    if kind is None and "order" in first and (ordered := _IN_ORDER.fullmatch(first)):
        first = f"({ordered[1]})"
    chosen = kind or kind_of(first)
    if chosen in MATHEMATICS:
        return _read_mathematics(first, answers[1:], chosen, kind is not None, timeout)
    answer = read(chosen, first, kind is not None)
    if kind and not is_of(kind, answer):
        raise ValueError(f"it is not of kind {kind}")
    if any(other != first for other in answers[1:]):
        raise ValueError(f"{len(answers)} different answers")
    return Gold(first, answer, chosen)


def _read_mathematics(first: str, others: tuple[str, ...], kind: Kind, is_fixed: bool, timeout: float) -> Gold:
    """A gold answer of mathematics, if all that a solution names as its answer are equal."""
    spelling = normal(first) if "approx" in first or "≈" in first else ""
    try:
        answer = read(kind, exact_part(spelling) or first, is_fixed)
    except OverLimitError as error:
        return _only_text(first, str(error))
    if is_fixed and not is_of(kind, answer):
        raise ValueError(f"it is not of kind {kind}")
    assert isinstance(answer, ParsedAnswer)
    rules = Rules(time=TimeLimit(timeout))
    parsed = [other for text in others if isinstance(other := read(kind, text, is_fixed), ParsedAnswer)]
    if not all(compare(answer, other, rules).correct for other in parsed):
        raise ValueError(f"{len(others) + 1} different answers")
    if isinstance(number := answer.content, Number):
        is_plain = kind == "number" and not (spelling or number.unit or number.numeral is not None)
        is_small = number.value.denominator == 1 and 0 <= number.value.numerator < _LARGE
        return Gold(first, answer, kind, spelling=spelling, digits=str(number.value) if is_plain and is_small else "")
    if problem := _problem(answer, timeout):
        return _only_text(first, problem)
    return Gold(first, answer, kind, spelling=spelling)


def _problem(answer: ParsedAnswer, timeout: float) -> str | None:
    """Why algebra cannot read a formula of a gold answer, or ``None``."""
    formulas = (formula.text for formula in answer.formulas() if formula.text not in INFINITIES)
    return next((problem for text in formulas if (problem := formula_problem(text, timeout))), None)


def _only_text(text: str, problem: str) -> Gold:
    """A formula that can only be compared as a text. Raises ``ValueError`` if its braces are not closed."""
    spelling = normal(text)
    if len(re.findall(r"(?<!\\)\{", spelling)) != len(re.findall(r"(?<!\\)\}", spelling)):
        raise ValueError("its braces are not closed")
    return Gold(text, ParsedAnswer(spelling, Formula(spelling)), "formula", unreadable=problem)
