r"""The kind of a gold answer, decided from the gold answer alone.

Only what is plainly mathematics is compared by its value or by algebra. Everything else is compared as what it is:
``192.168.0.1``, ``3-1``, ``H2O`` and ``007`` are codes, ``12/6/2020`` is a date, ``DE`` is not a product.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import Literal

from grpo_env.lazy_regex import lazy_compile

from .codes.chemical import is_chemical
from .codes.labels import labelled
from .codes.shapes import FUNCTIONS, has_backslashes, is_code, is_name
from .codes.spelling import MAX_LENGTH as MAX_CODE
from .codes.spelling import plain
from .extract import answer_in
from .formulas.intervals import INFINITIES, real_set
from .json_value import Json, JsonError, answered_json, parse_json
from .parse import as_set, parse
from .parsed import Clock, Code, Content, Formula, Group, JsonText, ParsedAnswer, Words
from .quantities.money import read_money
from .quantities.number import Number, OverLimitError, read_number
from .quantities.units import split_unit
from .rewordings import without_gloss
from .sciences.chemistry import concentrations, species
from .sciences.hypotheses import distribution
from .sciences.nuclear import read_reaction
from .spelling.brackets import items
from .spelling.normal import normal
from .times.clock import read_time
from .times.dates import Date, read_date
from .vocabulary.currencies import ISO, SIGNS
from .vocabulary.unit_names import MEASURES

Kind = Literal["number", "formula", "set", "tuple", "words", "choice", "date", "time", "code", "json"]

_COMMAND = lazy_compile(
    r"\\(?!(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|ce|operatorname|boxed|fbox|emph"
    r"|(?:long)?(?:right)?arrow|rightleftharpoons|to)(?![A-Za-z]))[A-Za-z({\[]"
)
_OPERATOR = lazy_compile(r"[-+*/=^<>|()!\\_\[\]{}]|\d,\d")
_ODD = lazy_compile(rf"[@&#~\"?`]|[A-Za-z]\.|[^\x00-\x7f°¢{SIGNS}]")
_LETTERS = lazy_compile(r"[^\W\d_]")
_CAPITALS = lazy_compile(r"[A-Z](?: [A-Z])+|[A-Z]{2,}")
_CLAUSE = lazy_compile(r"\b[A-Z]{4,}\b.*\b[A-Z]{4,}\b")  # SELECT * FROM t
_PRODUCT = lazy_compile(r"[abcdfghjklmnpqrstuvwxyz]{2}|[xyz]{3}|[abcd]{3,4}|[pqr]{3}|[uvw]{3}|[a-z]")
_SHORT_WORDS = frozenset(("my", "by", "am", "pm", "us", "up", "km", "cm", "mm", "kg"))
_HOUR = lazy_compile(r"(\d{1,2})\s?:\s?(\d\d)")
_PLAIN_NUMBER = lazy_compile(r"-?\$?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?", re.ASCII)
_UNIT_FREE = lazy_compile(r"[\d/]+")
_THOUSANDS = lazy_compile(r"(\d+\.\d+) ?k")
_GROUPED = lazy_compile(r"\d{1,3}(?: \d{3})+")
_CHOICE = lazy_compile(r"\(?[A-H][).:] ")
_STARTS_WITH_NUMBER = lazy_compile(r"[-+]?\$?\d")
_YEAR = lazy_compile(r"\d+ (?:B\.?C|A\.?D|B\.?C\.?E|C\.?E)\.?")
_MONEY = lazy_compile(rf"(?:{ISO}) ?\d[\d,.]{{0,30}}(?: ?[A-Za-z]{{1,8}})?$")
_IN_ORDER = lazy_compile(r"([^()]*\d, ?[^()]*\d) \(?in (?:this|that|the given|the following) order\)?")
_DOTTED = lazy_compile(r"[a-z](?:\.[a-z]){2,9}")  # a.b.c, but neither U.S.A. nor a.k.a.
_IN_UPRIGHT = lazy_compile(r"\$?\\(?:ce|mathrm)\{(?=.*[A-Z].*[A-Z])\w+\}\$?")
_SEVERAL_SPECIES = lazy_compile(r"(?=.{0,199}[_^\d])(?=.{0,199}(?:[A-Z]\w{0,9}[A-Z]|[-+])).{1,199}(?:,|and )")
_WATER = lazy_compile(r"H_?\{?2\}?\s?O")  # of a hydrate
_LETTER = lazy_compile(r"\(?[A-Z]\)?|\([a-z]\)")


def kind_of(gold: str) -> Kind:
    """The kind of a gold answer, which may also be a worked solution. It never raises."""
    answers = gold_answers(gold)
    return kind_of_answer(answers[0]) if answers else "words"


def gold_answers(gold: str) -> tuple[str, ...]:
    """The answers in a gold answer: several if it is a worked solution that names several."""
    if gold.isdecimal() or _is_json(gold):
        return (gold,)
    return answer_in(gold.rpartition("####")[2] if "####" in gold else gold).answers


@lru_cache(maxsize=1024)
def kind_of_answer(text: str) -> Kind:
    """The kind of a text that is only an answer."""
    if _PLAIN_NUMBER.fullmatch(text) or (text.endswith("k") and _THOUSANDS.fullmatch(text)):
        return "number"
    if _is_json(text):
        return "json"
    if _IN_UPRIGHT.fullmatch(text) and is_chemical(plain(text)):  # \ce{NO}
        return "code"
    if _SEVERAL_SPECIES.match(text) and species(plain(text)):  # NO, NO_2
        return "code"
    if has_backslashes(text) or _DOTTED.fullmatch(text) or ("[" in text and concentrations(plain(text))):
        return "code"
    if (
        "\\cdot" in text
        and _WATER.search(text)
        and len(text) <= MAX_CODE
        and is_chemical(plain(text).replace(" · ", "·"))
    ):
        return "code"
    if "\\sim" in text and distribution(plain(text)):
        return "code"
    shown = plain(text) if len(text) <= MAX_CODE else ""
    if "^" in shown and read_reaction(shown):
        return "code"
    if len(text) <= MAX_CODE and not _COMMAND.search(text):
        if read_date(shown):
            return "date"
        if _is_time(shown):
            return "time"
        if shown.endswith(")") and (explained := _explained(shown)):
            return explained
        if _CHOICE.match(shown) is None and (is_code(shown) or _is_unreduced(shown)) and not _is_number(shown):
            return "code"
    try:
        answer = parse(text)
    except OverLimitError:
        return "formula"
    kind = _kind(answer)
    if kind in ("formula", "words") and _is_money(answer.text):
        return "code"
    if kind in ("choice", "number") or _CHOICE.match(answer.text) or "\\" in answer.text:
        return kind
    if kind == "set":
        parts = items(answer.text)
        text_kinds = [part for part in parts if len(parts) > 1 and kind_of_answer(part) in ("code", "date", "time")]
        return "code" if text_kinds else kind
    if kind != "formula" or _STARTS_WITH_NUMBER.match(answer.text) or is_mathematics(answer.text):
        return kind
    return _kind_of_text(answer.text)


def read_gold(text: str, kind: Kind | None) -> tuple[ParsedAnswer, Kind]:
    """A gold answer as what it is, or as the given kind. Raises ``ValueError`` if it is no answer of that kind."""
    if kind is None and (ordered := _IN_ORDER.fullmatch(text)):
        text = f"({ordered[1]})"
    chosen = kind or kind_of_answer(text)
    if chosen in ("date", "time") and not isinstance(read_as(chosen, text, True).content, Date | Clock):
        text = without_gloss(plain(text), chosen) or text
    gold = read_as(chosen, text, chosen == kind)
    if chosen == "words" and not isinstance(gold.content, Words):
        gold = ParsedAnswer(text, Code(plain(text)))  # compared as text, since it would be read as mathematics
    if kind and not _is_of(kind, gold.content):
        raise ValueError(f"it is not of kind {kind}")
    return gold, chosen


def read_as(kind: Kind, text: str, is_fixed: bool) -> ParsedAnswer:
    """An answer, to be compared with a gold answer of a kind that is fixed or was decided by the gold answer.

    Raises ``OverLimitError``.
    """
    if kind == "date":
        return ParsedAnswer(text, read_date(plain(text)) or Words(text))
    if kind == "time":
        if time := read_time(plain(text)):
            return ParsedAnswer(text, Clock(time))
        return ParsedAnswer(text, Words(text)) if is_fixed or ":" not in text else parse(text)
    if kind == "code":
        return ParsedAnswer(text, Code(plain(text)))
    if kind == "json":
        return ParsedAnswer(text, JsonText(text))
    answer = parse(text)
    if not is_fixed and kind in ("number", "formula") and is_name(answer.text) and not _MONEY.match(answer.text):
        return ParsedAnswer(text, Words(text))  # L2 is not 2 L
    if kind == "number" and isinstance(answer.content, Words | Formula):
        if thousands := _THOUSANDS.fullmatch(answer.text):
            return parse(f"{thousands[1]} thousand")
        if _may_be_labelled(answer.text):
            label, number = labelled(plain(text))
            return parse(number) if label and _UNIT_FREE.fullmatch(number) else answer  # port 443
        return answer
    if kind == "words" and isinstance(answer.content, Formula) and answer.text.isalpha():
        return ParsedAnswer(answer.text, Words(answer.text))  # "bad" is a product elsewhere
    if is_fixed and kind == "formula" and isinstance(answer.content, Words):
        return replace(answer, content=Formula(*split_unit(answer.text)))
    if is_fixed and kind == "set" and not isinstance(answer.content, Group):
        return as_set((answer,))
    return answer


def _is_of(kind: Kind, content: Content) -> bool:
    """Whether a gold answer that was read as a kind is of it."""
    if kind == "json":
        return isinstance(content, JsonText) and is_json(content.text)
    if kind == "choice":
        return isinstance(content, Words) and (len(content.text) == 1 or content.choice != "")
    types = {
        "number": Number,
        "set": Group,
        "tuple": Group,
        "date": Date,
        "time": Clock,
        "formula": Formula | Number | Group,
    }
    return kind not in types or isinstance(content, types[kind])


def is_mathematics(text: str) -> bool:
    """Whether a formula in normal spelling and without LaTeX commands can be nothing else."""
    if _ODD.search(text):
        return False
    core = plain(split_unit(text)[0])
    if _CAPITALS.fullmatch(core):
        return False
    words = re.findall(r"[A-Za-z]+", core)
    if _OPERATOR.search(core):
        return all(len(word) < 4 or word.isupper() or _is_product(word) for word in words) and not _CLAUSE.search(core)
    return all(map(_is_product, words))


def is_text(text: str) -> bool:
    """Whether a text that computer algebra cannot read is not mathematics either, so that it is compared as text."""
    return _COMMAND.search(text) is None and _LETTERS.search(text) is not None and not is_mathematics(normal(text))


def _is_product(letters: str) -> bool:
    """Whether letters in a row are a function, a variable, or several in the order in which a product has them."""
    if letters.lower() in FUNCTIONS or len(letters) == 1:
        return True
    ordered = len(letters) == 2 or all(a < b for a, b in pairwise(letters))
    return ordered and _PRODUCT.fullmatch(letters) is not None and letters not in _SHORT_WORDS


def _kind_of_text(text: str) -> Kind:
    return "words" if re.search(r"[^\W\d_]{3}", text) else "code"


def _kind(answer: ParsedAnswer) -> Kind:
    content = answer.content
    if isinstance(content, Words) and (content.choice or _LETTER.fullmatch(answer.text)):
        return "choice"
    if isinstance(content, Words):
        return "words" if len(content.text) > 1 else "formula"
    if isinstance(content, Group):
        return _kind_of_group(content)
    return "formula" if isinstance(content, Formula) else "number"


def _kind_of_group(group: Group) -> Kind:
    if group.kind == "chain":
        return _kind(group.items[-1])
    if group.kind in ("set", "union", "(]", "[)"):
        return "set"
    is_infinite = any(isinstance(item.content, Formula) and item.content.text in INFINITIES for item in group.items)
    return "set" if is_infinite or (group.kind == "[]" and real_set(group)) else "tuple"


def _is_json(text: str) -> bool:
    """Whether a text is a JSON object, or a list that no mathematics would be written as."""
    start = text.lstrip(" `\n")[:1]
    if start not in ("{", "["):
        return False
    try:
        value = parse_json(text)
    except JsonError:
        return False
    return isinstance(value, dict) or not value or not _is_numeric(value)


def is_json(text: str) -> bool:
    """Whether an answer is JSON."""
    try:
        answered_json(text)
    except JsonError:
        return False
    return True


def _is_numeric(value: Json) -> bool:
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return isinstance(value, Decimal)


def _is_time(text: str) -> bool:
    """Whether a text is a time of day. ``3:30`` is, as a ratio would be written 1:10; ``1:10`` may be either."""
    return bool(read_time(text)) and (_HOUR.fullmatch(text) is None or _is_unreduced(text))


def _may_be_labelled(text: str) -> bool:
    """Whether a text may be a number and its label, ``port 443``, which is cheap to find out."""
    return any(word.strip(".,:;#()")[-1:].isdigit() for word in text.split())


def _explained(text: str) -> Kind | None:
    """The kind of a date or time with a gloss in brackets: ``1:23:45 (h:mm:ss)``."""
    if (date := without_gloss(text, "date")) and read_date(date):
        return "date"
    return "time" if (time := without_gloss(text, "time")) and _is_time(time) else None


def _is_unreduced(text: str) -> bool:
    """Whether hours or minutes, ``3:30`` or ``45:30``, are in no form in which a ratio is written."""
    match = _HOUR.fullmatch(text)
    return match is not None and (match[2][0] == "0" or match[1][0] == "0" or gcd(int(match[1]), int(match[2])) > 1)


def _is_money(text: str) -> bool:
    """``A$30``, ``zł 160``."""
    money = read_money(plain(text)) if any(map(str.isdigit, text)) else None
    return money is not None and bool(money.codes) and not money.subunit


def _is_quantity(text: str, number: Number) -> bool:
    """Whether a number has a unit that is surely one, or a year its era."""
    is_measured = bool(number.unit) and number.bare and all(word in MEASURES for word, _ in number.unit)
    return is_measured or _YEAR.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    """``1 000 000``, ``FF_{16}``, ``5 GB`` and ``44 BC``, which look like codes."""
    if _GROUPED.fullmatch(text) or (_MONEY.match(text) and read_number(normal(text))):
        return True
    if "_" not in text and (not text[:1].isdecimal() or not re.search(r"[A-Za-z'\"]", text)):
        return False
    try:
        number = read_number(normal(text))
    except OverLimitError:
        return False
    return number is not None and ("_" in text or _is_quantity(text, number))
