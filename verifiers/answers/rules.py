r"""The further readings: each may accept an answer that is not right as it stands. In this order, each with its name.

    one number        a statement with exactly one number is that number: "Jimmy tiene $18.", ``7 dozen`` for 7
    named             a last sentence that says what something is, or concludes: "The winner is Boston."
    listed            a statement that lists numbers: "She has 12 nickels and 18 dimes." for ``12, 18``
    no solution       the ways to say that there is none, ``\emptyset`` and ``DNE``
    letters           the letters of several options written together: ``AB`` for ``A, B``
    structure         solutions with a parameter, lines and planes, branches, antiderivatives: see ``math.structures``

Before them, ``decide`` reads what ``\text{…}`` or ``\mathbf{…}`` around all of an answer encloses (``inner_text``).
A rule is here because answers in public data need it; ``benchmarks/natural.py`` counts them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from .extract.languages import CHANGES, NOT, WITHOUT_SPACES
from .extract.last_sentence import concludes, listed_numbers, named, said_number, stated_calculation
from .gold import Gold
from .hedges import BETWEEN, CORRECTS, DENIES, DOUBTS, LEAVES_OPEN, NEARLY, WRONG
from .kinds.date import Date, read_date, same_date
from .kinds.plain_text import plain, same_text
from .math.algebra import DeadlineError, UnreadableError
from .math.compare import compare, same_element
from .math.normal import normal
from .math.parse import parse
from .math.structures.constant_families import same_constant_family
from .math.structures.equation_lists import same_equations
from .math.verdict import Rules
from .quantities.currencies import SIGNS
from .quantities.number import Number, OverLimitError, read_number
from .quantities.unit_names import NUMBER_WORDS
from .quantities.units import PERCENT, factor_at_start, measure_at_start

_COMMENT = lazy_compile(r"(?<!\\)%")  # of LaTeX, in which a number may hide
MAX_LENGTH = 400  # characters of a statement

_NUMBER = lazy_compile(
    rf"(?<![\w.,/^(\[{{\\])(?<!\w[-\u2212\u2013])(?:[-\u2212\u2013](?=[{SIGNS}\d.]))?(?:\\?[{SIGNS}]\s?)?"
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?(?<=\d)(?:/\d+(?![\d/]))?"
    r"(?![A-Za-z!(\[_^:]|-\w|\s?[\]/]|(?:\s|\\ )*(?:[({]?[A-Za-z][)}]?(?:\W|\Z)|\\text\{[A-Za-z]\}))"
)
_SECOND = f"(?:{'|'.join(sorted(NUMBER_WORDS - {'one'}))})"  # but not "the two people"
# Doubts and second quantities anywhere in the statement
_OTHER_QUANTITY = lazy_compile(
    rf"(?-i:[=+*^<>≈:?|\x00-\x08\u0300-\u036f\u2600-\u27ff\U0001f000-\U0001faff])|\\(?!text|mathrm|[$%(),;\[\] ])"
    rf"|\b(?:{DENIES}|{DOUBTS}|{LEAVES_OPEN}|{WRONG}|{CORRECTS}|(?<!the )(?<!these ){_SECOND}"
    rf"|{NOT}|{CHANGES}|but|no|none|theta|pi|bound|the (?:old|right)|dozen dozen)(?!\w)"
    rf"|n['\u2019]t\b|{WITHOUT_SPACES}",
    re.IGNORECASE,
)
# and, next to the number, what makes it another one: "before 1999", "18 per class", "18 more"
_CHANGED = lazy_compile(
    rf"\b(?:{NEARLY}|if|twice|double|triple|than|approx|{BETWEEN}|squared|cubed|plus|minus|times the"
    r"|factorial|choose|divided|negative|more|less|fewer|before|below|upper|lower|up to"
    r"|step|BCE?|AD|[ap]\.?m|(?<=\d )per|way|short|added|subtracted|began|started|shared|dropped|differed|decrease"
    r"|increase)(?!\w)|(?<=\d)\s?[-+]\s?\(?[A-Za-z\\]",
    re.IGNORECASE,
)
_DIFFERENCE = lazy_compile(  # 4 more emails in the morning than in the afternoon (SVAMP); not "4 more than the eggs"
    r"(?: [a-z]+){0,2} (?:more|fewer|less) (?!than\b)[^.,;:]{1,80}? (?:than|compared to)\b", re.IGNORECASE
)
_VERB = lazy_compile(r"\b(?:is|are|was|were|has|have|had|equals|costs)\b")
_TEXT = lazy_compile(r"\$?\\(?:text|textbf|mathrm|mathbf|textit)\s?\{([^{}]*)\}\$?")
_OPTION = lazy_compile(r"\([A-H]\)[,:]?\s+(?=\S)(?!\(?[A-H]\b)")
_SAID_OPTION = lazy_compile(rf"{_OPTION.pattern}|[A-H][,.]\s+(?=\S)(?!\(?[A-H]\b)")  # The answer is C, Krazy Kola.
_AMOUNT = lazy_compile(r"[-+$€£¥]{0,2}[\d.,]+(?: ?[^\W\d_]{2,}|[\u4e00-\u9fff]){0,2}[.\u3002]?")  # 7 dozen, 3525元
_BEHIND = lazy_compile(r"(?<=\w)\s?\([^()]*=[^()]*\)\W*\Z")
_OWNER = lazy_compile(r"\A[A-Z]\w+['\u2019]s\s")  # Brian's sister (CLUTRR)
_SEPARATORS = lazy_compile(r"[\s,\u3001]|and")
_OPTIONS = lazy_compile(r"(?=..)A?B?C?D?E?F?G?H?I?J?")  # several, in order
_WORD = lazy_compile(r"[^\W\d_]{2}")
_NO_SOLUTION = lazy_compile(
    r"(?:there (?:is|are) |(?:the|this) (?:equation|inequality|system(?: of equations)?|problem) has )?"
    r"no (?:(?:such )?solutions?)(?: exists?)?|(?:the )?empty set|\\emptyset|\\\{\s*\\\}|\{\s*\}",
    re.IGNORECASE,
)
_NOT_EXISTING = lazy_compile(
    r"D\.?N\.?E\.?|(?:(?:the )?limit |it )?(?:does not|doesn't|do not|don't) exist", re.IGNORECASE
)


class Rule(NamedTuple):
    """A further reading. ``accepts`` says whether it makes an answer of a source right, given the gold answer."""

    name: str
    kinds: tuple[str, ...]
    accepts: Callable[[Gold, str, str, Rules], bool]


def one_number(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether a statement has exactly one number, nothing that doubts or changes it, and the gold answer's value."""
    if not isinstance(gold.parsed.content, Number) or not may_state(text, source):
        return False
    if source == "phrase" and "=" in text:  # 10 hours (4+6=10), $2 + $4 = $6
        text = _BEHIND.sub("", text)
        text = stated_calculation(text) or text
    number = only_number(text)
    if number is None and source == "phrase" and (said := said_number(text)):  # of the 3 friends is 180 pounds
        number = only_number(said)
    expected = gold.parsed.content
    if number is None:
        return False
    is_percent = number.unit == (PERCENT,) and "%" in text and abs(expected.value) > 1  # 50% of them is 50, not 0.5
    if (expected.unit or (number.unit == (PERCENT,) and not is_percent)) and expected.unit != number.unit:
        return False
    return expected.value == number.value or rules.close(expected.value, number.value) is not None


def only_number(text: str) -> Number | None:
    """The number of a text with exactly one, which nothing in the text doubts or changes; else ``None``."""
    quantity = only_quantity(text)
    try:
        return read_number(quantity) if quantity else None
    except OverLimitError:
        return None


def only_quantity(text: str) -> str | None:
    """The only number of a text with its unit, in normal spelling."""
    matches = list(_NUMBER.finditer(text))[:2]
    if len(matches) != 1 or any(character.isdigit() for character in _NUMBER.sub("", text)):
        return None
    start, end = matches[-1].span()
    if _OTHER_QUANTITY.search(text) or _COMMENT.search(text[:start]):
        return None
    before = _VERB.split(text[max(0, start - 30) : end])[-1]
    behind = text[end:]
    if _CHANGED.search(before) or (_CHANGED.search(text, end - 1, end + 30) and not _DIFFERENCE.match(behind)):
        return None
    factor, unit = factor_at_start(behind.lstrip()), measure_at_start(normal(behind[:60]))
    return normal(f"{matches[-1].group()} {factor or unit or ''}")


def may_state(text: str, source: str) -> bool:
    """Whether an answer may be a statement. A last line is none unless it concludes."""
    return len(text) <= MAX_LENGTH and (source != "last_line" or concludes(text) or bool(_AMOUNT.fullmatch(text)))


def is_named(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether an answer names the gold answer: "The winner is Boston.", "So Boston is older.", ``Boston (1630)``."""
    if source not in ("last_line", "phrase"):
        return False
    name = _OWNER.sub("", named(text) or (text if source == "phrase" else ""))
    if isinstance(gold.answer, Date):
        date = read_date(plain(name))
        return date is not None and same_date(gold.answer, date)
    return same_text(gold.text, name, rules.ignore_case, rules.notation == "flexible")


def letters(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether both are the same options, perhaps without anything between them: ``AB`` for ``A, B``."""
    options, others = (_SEPARATORS.sub("", inner_text(side) or side) for side in (gold.text, text))
    in_any_order = gold.kind == "set" or _SEPARATORS.search(text)
    return _OPTIONS.fullmatch(options) is not None and options == ("".join(sorted(others)) if in_any_order else others)


def listed(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether the numbers that a statement lists are those of the gold answer."""
    is_bare = source in ("last_line", "phrase") and len(text) <= MAX_LENGTH and not _WORD.search(gold.text)
    numbers = listed_numbers(text) if is_bare else []
    return bool(numbers) and compare(gold.parsed, parse(", ".join(numbers)), rules).correct


def absent(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether both say that there is no solution, or both that something does not exist."""
    texts = [normal(side).strip(" .") for side in (gold.text, text)]
    return any(all(map(pattern.fullmatch, texts)) for pattern in (_NO_SOLUTION, _NOT_EXISTING))


def structure(gold: Gold, text: str, source: str, rules: Rules) -> bool:
    """Whether an answer as it was written is right, by a form that both have."""
    one, other = gold.parsed.text, parse(text).text
    return same_constant_family(one, other, rules.time) or same_equations(
        one, other, lambda a, b: same_element(parse(a), parse(b), rules)
    )


RULES = (
    Rule("one number", ("number",), one_number),
    Rule("named", ("text", "date"), is_named),
    Rule("listed", ("set",), listed),
    Rule("no solution", ("text", "set", "formula"), absent),
    Rule("letters", ("set", "text", "formula"), letters),
    Rule("structure", ("formula", "set", "tuple"), structure),
)


def first_rule(gold: Gold, text: str, rules: Rules, source: str) -> str | None:
    """The name of the first rule that accepts an answer; ``None`` as well if one cannot read it."""
    accepting = (rule.name for rule in RULES if gold.kind in rule.kinds and rule.accepts(gold, text, source, rules))
    try:
        return next(accepting, None)
    except (OverLimitError, DeadlineError, UnreadableError):
        return None


def inner_text(text: str, source: str = "", of_option: bool = True) -> str | None:
    """``18`` of ``\\text{18}``, and of an option, ``(B) 18``, as TabMWP's answers are given."""
    text = text.strip()
    if match := _TEXT.fullmatch(text):
        return match[1]
    option = (_SAID_OPTION if source == "phrase" else _OPTION).match(text) if of_option else None
    return text[option.end() :] if option else None
