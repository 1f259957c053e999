"""The decision on one answer: by the kind of the gold answer, then by the further readings of ``rules``, in order."""

from __future__ import annotations

import re
from collections.abc import Callable

from grpo_env.lazy_regex import lazy_compile

from .extract.result import ExtractedAnswer
from .gold import Gold
from .kinds.choice import LETTERS, named_options, names_option
from .kinds.date import Date, read_date, same_date
from .kinds.literal import same as same_literal
from .kinds.mathematics import UndecidedError
from .kinds.mathematics import same as same_mathematics
from .kinds.plain_text import plain, same_text
from .kinds.truth import names_truth
from .kinds.truth import same as same_truth
from .kinds.which_kind import MATHEMATICS, Kind
from .math.algebra import UnreadableError
from .math.normal import normal
from .math.parse import parse
from .math.verdict import Rules, Verdict
from .quantities.number import Number
from .quantities.units import factor_at_start, measure_at_start, read_unit, same_unit
from .rules import first_rule, inner_text, may_state, only_number

ACCEPTS: dict[Kind, Callable[[str], bool]] = {"choice": names_option, "truth": names_truth}
"""Which texts can be an answer at all, where the kind of the gold answer says so."""
RULE_OF = {
    "the same number": "number",
    "the same number, one as a percentage": "percentage",
    "equal within rel_tol": "rel_tol",
    "equal when rounded to decimals": "decimals",
    "the same text": "same text",
    "the same words": "same text",
    "the same elements": "elements",
    "the same choice": "choice",
    "the same date": "date",
    "the same value": "literal",
    "equal by algebra": "algebra",
}
"""The name of the comparison that each reason to accept an answer stands for."""

MAX_DIGITS = 100  # that are compared as they stand

_FINAL = ("not evaluated", "several answers, or a doubt", "the text denies it", "a range")  # no rule reads further
_SAME_INTEGER = Verdict(True, "the same number", RULE_OF["the same number"])
_OTHER_NUMBER = Verdict(False, "a different number")
_WORDS = Verdict(False, "words where a number or formula was expected")
_OPTION = lazy_compile(r"(?:option |choice )?\(?([A-Za-z])\)?[.:,]?(?: (.*))?", re.DOTALL)
_CALCULATED = lazy_compile(
    r"\A\\text\{\([A-Z]\)\},\s*\d|\A[A-Z]\s?/\s?\d"
    r"|\A(?:\\text\{)?\W*[A-Z]\)\}?(?!\s-)\s*(?:[;/]|-\s?\d|[=+<>]|(?:\\text\{)?not\b|\\(?: \\)?(?:cup|ne|cap))"
)  # (B)-12, B / 7
_LAST_WORD = lazy_compile(r"(?:[\s$*\\})]|\\\))*([^\W\d_]{3,})[.!\u3002]?\s*(?:\n|\Z)")  # \boxed{2}$ Minuten.
_ONE_NUMBER = lazy_compile(r"(?=.*[^\W\d_]{2})\D*\d(?:[\d.,]*\d)?\D*", re.DOTALL)  # Total: $1,249.99
_INITIALS = lazy_compile(r"\W*[A-Z]\. [A-Z]\.")  # J. K. Rowling


def decide(gold: Gold, text: str, final: ExtractedAnswer, rules: Rules) -> Verdict:
    """The verdict on one answer, with the name of what accepted it.

    Raises ``OverLimitError``, ``DeadlineError``, ``UnreadableError`` and ``UndecidedError``, see ``kinds.mathematics``.
    """
    if final.unit and gold.kind == "number":
        if unit := _unit_behind(gold, text, final):
            text = f"{text} {unit}"
        if _has_other_unit(gold, final):
            return Verdict(False, "a different unit")
    failure = None
    try:
        verdict = _by_kind(gold, text, rules)
    except UndecidedError:
        raise
    except UnreadableError as error:
        verdict, failure = Verdict(False, "a different text"), error
    if verdict.correct:
        return Verdict(True, verdict.reason, verdict.rule or RULE_OF[verdict.reason])
    is_in_digits = text.replace(",", "").replace(".", "", 1).lstrip("-").isdecimal()
    if verdict.reason in _FINAL or (gold.kind == "number" and is_in_digits):
        return verdict
    inner = inner_text(text, final.source, gold.kind != "choice")
    if inner and (of_inner := decide(gold, inner, final, rules)).correct:
        return of_inner
    if rule := first_rule(gold, text, rules, final.source):
        return Verdict(True, f"right by the rule {rule!r}", rule)
    if failure:
        raise failure
    return _of_sentence(verdict, text, final.source)


def by_digits(gold: Gold, final: ExtractedAnswer) -> Verdict | None:
    """The verdict of an exact comparison where both are digits alone, perhaps with a sign and a point, as most are."""
    if not gold.digits or final.unit or len(final.answers) != 1:
        return None
    (text,) = final.answers
    if text == gold.digits:
        return _SAME_INTEGER
    whole, point, places = text.removeprefix("-").partition(".")
    is_number = whole.isdecimal() and (whole + places).isdecimal() and text.isascii() and len(text) < MAX_DIGITS
    differs = places.strip("0") != "" if point else whole[:1] != "0"
    return _OTHER_NUMBER if is_number and differs else None


def _of_sentence(verdict: Verdict, text: str, source: str) -> Verdict:
    """The verdict, in which the comma of "So it costs $1,450." makes no list."""
    if verdict.reason != "several answers where one was expected":
        return verdict
    number = only_number(text)
    if number is None and not _ONE_NUMBER.fullmatch(text):
        return verdict
    return _OTHER_NUMBER if number and may_state(text, source) else _WORDS


def _by_kind(gold: Gold, text: str, rules: Rules) -> Verdict:
    """The verdict on an answer as it stands, by the kind of the gold answer."""
    if gold.kind in MATHEMATICS:
        return same_mathematics(gold, text, rules)
    if gold.own:
        value = gold.own.read(text)
        same = value is not None and bool(gold.own.same(gold.answer, value))
        return Verdict(same, "the same value" if same else "a different value", type(gold.own).__name__ if same else "")
    if gold.kind == "choice":
        return _by_letter(gold, text, rules)
    if gold.kind == "date":
        date = read_date(plain(text))
        if date is None:
            return Verdict(False, "no date that can be read")
        same = isinstance(gold.answer, Date) and same_date(gold.answer, date)
        return Verdict(same, "the same date" if same else "a different date")
    if gold.kind == "truth":
        same, with_reason = same_truth(gold.text, text, rules.ignore_case)
        rule = "with its reason" if with_reason else ""
        return Verdict(same, "the same text" if same else "a different answer", rule)
    if gold.kind == "literal":
        same = same_literal(gold.text, text)
        return Verdict(same, "the same value" if same else "a different value")
    same = same_text(gold.text, text, rules.ignore_case, rules.notation == "flexible")
    return Verdict(same, "the same text" if same else "a different text")


def _by_letter(gold: Gold, text: str, rules: Rules) -> Verdict:
    """The verdict where the gold answer is a letter, perhaps with the text of its option."""
    own = _OPTION.fullmatch(plain(gold.text))
    letter, option = (own[1], own[2]) if own else (gold.text, "")
    if same_text(gold.text, text, rules.ignore_case):
        return Verdict(True, "the same choice")
    named = named_options(text, LETTERS if letter.upper() in LETTERS else LETTERS + letter.upper())
    theirs = _OPTION.fullmatch(plain(text))
    if named.more or len(named.letters) > 1 or _CALCULATED.search(text) or _INITIALS.match(text):
        return Verdict(False, "several answers, or a doubt")
    if option and theirs and theirs[2] and not same_text(option, theirs[2], rules.ignore_case):
        return Verdict(False, "a different text")
    if named.letters == {letter.upper()} and (rules.ignore_case or letter in text):
        return Verdict(True, "the same choice")
    return Verdict(False, "a different choice" if named.letters else "a different text")


def _unit_behind(gold: Gold, text: str, final: ExtractedAnswer) -> str | None:
    """The unit behind a box or bold number, if the gold answer has one as well: ``\\boxed{45}`` radians for 45°.

    Where the gold answer is a bare number the unit was asked for: ``\\boxed{0.17}`` million tons, but not million.
    """
    if not isinstance(gold.parsed.content, Number):
        return None
    number = parse(text).content
    unit = final.unit.strip("\\ .")
    is_factor = unit.startswith(("%", "percent")) or factor_at_start(unit) == unit
    if not isinstance(number, Number) or number.unit or not (gold.parsed.content.unit or is_factor):
        return None
    return factor_at_start(final.unit) or measure_at_start(normal(final.unit))


def _has_other_unit(gold: Gold, final: ExtractedAnswer) -> bool:
    """Whether only another unit than the gold answer's stands between a box and the end of its sentence."""
    content = gold.parsed.content
    expected = content.unit if isinstance(content, Number) else ()
    behind = _LAST_WORD.match(final.text, final.end) if expected else None
    unit = read_unit(f" {behind[1]}", 0) if behind else ()
    return unit != () and (unit is None or not same_unit(unit, expected))
