"""The gold answers of an example: what is read from a data set's text, once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from .codes.spelling import plain
from .compare import Rules, compare
from .equivalents import Form, Forms, forms, money, radix, spoken_hour
from .formulas.algebra import DeadlineError, TimeLimit, UnreadableError, formula_problem
from .formulas.asked import value_asked
from .formulas.intervals import INFINITIES
from .json_value import text_list
from .kinds import Kind, gold_answers, is_text, read_as, read_gold
from .languages.translated import in_english, may_be_translated, only_in_english
from .notation import relations
from .parse import as_set, exact_part
from .parsed import Formula, ParsedAnswer
from .quantities.number import OverLimitError
from .rewordings import may_have_other_form
from .sciences.hypotheses import distribution
from .sciences.logic import read_logic
from .sciences.logic_reader import Logic
from .spelling.brackets import items
from .spelling.normal import normal
from .structures import is_structure, may_have_structure
from .times.frequency import how_often
from .words.amounts import change, points, variance
from .words.arrangements import acidity, by_how_much, dose
from .words.qualified import qualified

Golds = Literal["one", "any", "all"]
MAX_JOINED = 160  # characters of a gold answer that may be a list in another language
_AS_WRITTEN = ("date", "time", "code", "json")
_DIGITS = "-0123456789,."


class Gold(NamedTuple):
    r"""A gold answer and its kind.

    ``spelling`` is all of ``exact \approx decimal`` or ``f' = value``, of which the answer is a part. ``unreadable`` is
    why a formula can only be compared as a text. ``forms`` are those of ``equivalents`` that it has, ``has_structure``
    whether it may be one of ``structures``. ``logic`` is a formula of logic, which is compared as such only.
    """

    answer: ParsedAnswer
    kind: Kind
    spelling: str = ""
    unreadable: str = ""
    forms: Forms = ()
    logic: Logic | None = None
    has_structure: bool = False
    is_translated: bool = False

    @property
    def is_in_digits(self) -> bool:
        """Whether it is a number such as -12 or 3,456.7."""
        return self.kind == "number" and not self.answer.text.strip(_DIGITS)

    def has_no_other_form(self, text: str) -> bool:
        """Whether it is a number in digits and a text that differs is not the same in other words."""
        if not self.is_in_digits:
            return False
        return not text.strip(_DIGITS) or (self.answer.text.isdecimal() and not may_have_other_form(text))


@lru_cache(maxsize=16384)
def read_golds(text: str | None, golds: Golds, kind: Kind | None, timeout: float) -> tuple[tuple[Gold, ...], str]:
    """The gold answers to compare with, or none and the reason."""
    if text is None or not text.strip():
        return (), "the gold answer is missing"
    texts = [text] if golds == "one" else text_list(text)
    if not texts:
        return (), f"golds: {golds} needs a JSON list of texts or numbers as the gold answer, not {text[:60]!r}"
    answers = []
    for gold in texts:
        try:
            joined = only_in_english(gold) if kind is None and len(gold) <= MAX_JOINED else None
            parsed = _parse_gold(joined or gold, kind, timeout)
            if not parsed.is_in_digits:
                structure = parsed.kind not in _AS_WRITTEN and may_have_structure(parsed.answer.text)
                parsed = parsed._replace(has_structure=structure, forms=_forms(parsed))
            answers.append(parsed)
        except (ValueError, UnreadableError, DeadlineError) as error:
            return (), f"the gold answer {gold[:60]!r}: {error}"
    if golds != "all" and kind is None:
        answers += [translated for text in texts for translated in _translated_gold(text, timeout)]
    if golds == "all" and (unreadable := [gold.unreadable for gold in answers if gold.unreadable]):
        return (), unreadable[0]
    if golds == "all" and len(answers) > 1:
        answers = [Gold(as_set(tuple(gold.answer for gold in answers)), "set")]
    return tuple(answers), ""


def _translated_gold(text: str, timeout: float) -> list[Gold]:
    """A gold answer in another language as it is written in English, beside the one that it is as it stands."""
    answers = gold_answers(text)
    may_be_foreign = len(answers) == 1 and may_be_translated(answers[0])
    english = in_english(answers[0], comma=True) if may_be_foreign else None
    if english is None:
        return []
    try:
        gold = _parse_gold(english, None, timeout)
    except (ValueError, UnreadableError, DeadlineError):
        return []
    structure = gold.kind not in _AS_WRITTEN and may_have_structure(gold.answer.text)
    return [gold._replace(is_translated=True, has_structure=structure, forms=() if gold.is_in_digits else _forms(gold))]


def _forms(gold: Gold) -> Forms:
    """The fixed forms of a gold answer. Of a number only those that a number may have."""
    text = plain(gold.answer.text)
    if gold.kind != "number":
        return forms(text)
    readers: tuple[Form, ...] = (change,) if "%" in text or "cent" in text else (how_often,) if "times" in text else ()
    readers += (spoken_hour,) if ":" in text else (money,)
    readers += (qualified,) if re.search(r"[a-z]{3}", text) else ()
    readers += (variance,) if re.search(r"avou?r|adverse|[UF]\Z", text) else ()
    readers += (distribution,) if "distribut" in text else ()
    readers += (points,) if "point" in text or "bp" in text else (radix,) if "_" in text else ()
    readers += (acidity,) if "pH" in text else (dose, by_how_much) if text.count(" ") > 1 else ()
    return tuple((reader, value) for reader in readers if (value := reader(text)))


def _parse_gold(text: str, kind: Kind | None, timeout: float) -> Gold:
    """The gold answer in a data set's text, which may be a solution. Raises ``ValueError`` with what is wrong."""
    answers = gold_answers(text)
    if not answers:
        raise ValueError("it is empty")
    if kind in (None, "formula") and (logic := read_logic(answers[0])):
        return Gold(ParsedAnswer(answers[0], Formula(answers[0])), "formula", logic=logic)
    spelling = normal(answers[0]) if "approx" in answers[0] or "≈" in answers[0] else ""
    try:
        gold, gold_kind = read_gold(exact_part(spelling) or answers[0], kind)
    except OverLimitError as error:
        return _only_text(answers[0], str(error))
    rules = Rules(time=TimeLimit(timeout))
    if not all(compare(gold, read_as(gold_kind, other, kind is not None), rules).correct for other in answers[1:]):
        raise ValueError(f"{len(answers)} different answers")
    for formula in gold.formulas():
        if formula.text in INFINITIES:
            continue
        chain = relations(formula.text)
        problems = [formula_problem(side, timeout) for side in (chain.sides if chain else [formula.text])]
        if problem := next(filter(None, problems), None):
            if kind is None and is_text(answers[0]):
                return Gold(*read_gold(answers[0], "code"))
            if is_structure(gold.text):
                break
            if len(items(gold.text)) == 1 and (value := value_asked(gold.text)):
                return _parse_gold(value, kind, timeout)._replace(spelling=gold.text)
            return _only_text(answers[0], problem)
    return Gold(gold, gold_kind, spelling)


def _only_text(text: str, problem: str) -> Gold:
    """A formula that can only be compared as a text. Raises ``ValueError`` if its braces are not closed."""
    spelling = normal(text)
    if len(re.findall(r"(?<!\\)\{", spelling)) != len(re.findall(r"(?<!\\)\}", spelling)):
        raise ValueError("its braces are not closed")
    return Gold(ParsedAnswer(spelling, Formula(spelling)), "formula", unreadable=problem)
