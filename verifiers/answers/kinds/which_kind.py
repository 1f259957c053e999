r"""The kinds of gold answers. The first kind that a gold answer can be decides how its answers are read and compared.

    number     ``18``, ``$1,234.50``, ``\frac12``, ``3 m/s``, ``50 %``
    literal    JSON and Python: ``{"a": 1}``, ``['a', 'b']``, ``'text'``
    date       ``May 1, 2024``, ``2024-05-01``
    truth      ``yes``, ``no``, ``true``, ``false``
    choice     one capital letter: ``B``, ``(B)``, ``(B) 42``
    set        ``2, 3``, ``\{2, 3\}``, ``x < 2``, ``(-\infty, 2)``, unions
    tuple      ``(1, 2)``, vectors, matrices, ratios of three
    formula    all other mathematics
    text       everything else, and what mathematics would misread: see ``codes``

Only what is plainly mathematics is compared by value: a word is a word, ``3-1`` is no 2 and ``b d a c`` no product.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from grpo_env.lazy_regex import lazy_compile

from ..math.brackets import items
from ..math.normal import normal
from ..math.parse import as_set, parse
from ..math.parsed import Formula, Group, ParsedAnswer, Words
from ..math.real_sets import INFINITIES, real_set
from ..quantities.currencies import ISO, SIGNS
from ..quantities.number import Number, OverLimitError, read_number
from ..quantities.unit_names import MEASURES
from ..quantities.units import split_unit
from .codes import FUNCTIONS, is_code, is_name
from .date import Date, read_date
from .literal import is_literal
from .plain_text import MAX_LENGTH as MAX_TEXT
from .plain_text import plain
from .truth import is_truth

Kind = Literal["number", "formula", "set", "tuple", "text", "truth", "choice", "date", "literal"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MATHEMATICS: tuple[Kind, ...] = ("number", "formula", "set", "tuple")

Answer: TypeAlias = ParsedAnswer | Date | str
"""What an answer is read as: mathematics, a date, or the text itself."""

_COMMAND = lazy_compile(
    r"\\(?!(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|operatorname|boxed|fbox|emph)(?![A-Za-z]))"
    r"[A-Za-z({\[]"
)
_OPERATOR = lazy_compile(r"[-+*/=^<>|()!\\_\[\]{}]|\d,\d")
_ODD = lazy_compile(rf"[@&#~\"?`]|[A-Za-z]\.|[^\x00-\x7f°¢{SIGNS}]")
_PRODUCT = lazy_compile(r"[a-z]?[xyz]{1,2}|[xyz]{3}|[abc]{2,3}|[pqr]{2,3}|[mn]{2}|[uvw]{2,3}|[a-e]t")
_CAPITALS = lazy_compile(r"[A-Z](?: [A-Z])+|[A-Z]{2,}")
_CLAUSE = lazy_compile(r"\b[A-Z]{4,}\b.*\b[A-Z]{4,}\b")  # SELECT * FROM t
_PLAIN_NUMBER = lazy_compile(r"-?\$?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?", re.ASCII)
_GROUPED = lazy_compile(r"\d{1,3}(?: \d{3})+")
_CHOICE = lazy_compile(r"\(?[A-Z]\)?\.?|\([A-Za-z]\)(?: .+)?|[A-H][).:] (?!(?:[A-Z]\. )+[A-Z]).+")  # not E. H. Crump
_COMPASS = lazy_compile(r"\d.*(?:\b(?:north|south|east|west)\b|°\s?[NSEW]\b)")  # 30° north of east
_STARTS_WITH_NUMBER = lazy_compile(r"[-+]?\$?\d")
_FOREIGN_DATE = lazy_compile(r"\d{1,2}\.? [^\W\d_]{3,12}\.? \d{4}")  # 5 mai 2010 (Czech SimpleQA)
_MONEY = lazy_compile(rf"(?:{ISO}) ?\d[\d,.]{{0,30}}(?: ?[A-Za-z]{{1,8}})?$")


@lru_cache(maxsize=1024)
def kind_of(text: str) -> Kind:
    """The kind of a text that is only an answer. It never raises."""
    if _PLAIN_NUMBER.fullmatch(text):
        return "number"
    if is_literal(text):
        return "literal"
    if is_truth(text):
        return "truth"
    if len(text) <= MAX_TEXT and ("°" in text or "th" in text or "st" in text) and _COMPASS.search(text):
        return "text"
    return _kind_as_shown(text) or _kind_as_parsed(text)


def _kind_as_shown(text: str) -> Kind | None:
    """The kind of a choice, a date or a code, which have no LaTeX command."""
    shown = plain(text) if len(text) <= MAX_TEXT and not _COMMAND.search(text) else ""
    if not shown:
        return None
    if _CHOICE.fullmatch(shown):
        return "choice"
    if read_date(shown):
        return "date"
    return "text" if "\n" not in text.strip() and is_code(shown) and not _is_number(shown) else None


def _kind_as_parsed(text: str) -> Kind:
    try:
        answer = parse(text)
    except OverLimitError:
        return "formula"
    kind = _kind_of_mathematics(answer)
    if kind == "set" and any(kind_of(part) in ("text", "date") for part in items(answer.text) if part != answer.text):
        return "text"
    if kind == "number" or "\\" in answer.text or isinstance(answer.content, Group):
        return kind
    starts_like_one = _STARTS_WITH_NUMBER.match(answer.text) and not _FOREIGN_DATE.fullmatch(text)
    is_formula = (starts_like_one or is_mathematics(answer.text)) and "\n" not in text.strip()  # a board of n_queens
    return "text" if kind == "formula" and not is_formula else kind


def _kind_of_mathematics(answer: ParsedAnswer) -> Kind:
    content = answer.content
    if isinstance(content, Words):
        return "text" if len(content.text) > 1 else "formula"
    if not isinstance(content, Group):
        return "formula" if isinstance(content, Formula) else "number"
    if content.kind == "chain":
        return _kind_of_mathematics(content.items[-1])
    if content.kind in ("set", "union", "(]", "[)"):
        return "set"
    is_infinite = any(isinstance(item.content, Formula) and item.content.text in INFINITIES for item in content.items)
    return "set" if is_infinite or (content.kind == "[]" and real_set(content)) else "tuple"


def is_mathematics(text: str) -> bool:
    """Whether a formula in normal spelling and without LaTeX commands can be nothing else."""
    if _ODD.search(text):
        return False
    core = plain(split_unit(text)[0])
    if _CAPITALS.fullmatch(core):
        return False
    words = re.findall(r"[A-Za-z]+", core)
    if not _OPERATOR.search(core):
        return all(word.lower() in FUNCTIONS or len(word) == 1 for word in words) and len(words) == 1
    longest = 3 if "^" in core or "=" in core else 1
    are_symbols = all(
        len(word) <= longest or word.isupper() or word.lower() in FUNCTIONS or _PRODUCT.fullmatch(word)
        for word in words
    )
    return are_symbols and not _CLAUSE.search(core)


def _is_number(text: str) -> bool:
    """``1 000 000``, ``FF_{16}`` and ``5 GB``, which look like codes."""
    if _GROUPED.fullmatch(text) or (_MONEY.match(text) and read_number(normal(text))):
        return True
    if "_" not in text and (not text[:1].isdecimal() or not re.search(r"[A-Za-z'\"]", text)):
        return False
    try:
        number = read_number(normal(text))
    except OverLimitError:
        return False
    is_measured = number and number.unit and number.bare and all(word in MEASURES for word, _ in number.unit)
    return number is not None and ("_" in text or bool(is_measured))


def read(kind: Kind, text: str, is_fixed: bool) -> Answer:
    """An answer, to be compared with a gold answer of a kind that a task named (``is_fixed``) or that it has.

    Raises ``OverLimitError``.
    """
    if kind == "date":
        return read_date(plain(text)) or text
    if kind not in MATHEMATICS:
        return text
    answer = parse(text)
    may_be_name = not is_fixed and kind in ("number", "formula") and "A" <= answer.text[:1] <= "Z"
    if may_be_name and is_name(answer.text) and not _MONEY.match(answer.text):
        return ParsedAnswer(text, Words(text))  # L2 is not 2 L
    if is_fixed and kind == "formula" and isinstance(answer.content, Words):
        return replace(answer, content=Formula(*split_unit(answer.text)))
    if is_fixed and kind == "set" and not isinstance(answer.content, Group):
        return as_set((answer,))
    return answer


def is_of(kind: Kind, answer: Answer) -> bool:
    """Whether a gold answer that was read as a kind is of it."""
    if isinstance(answer, ParsedAnswer):
        types = {"number": Number, "set": Group, "tuple": Group, "formula": Formula | Number | Group}
        return isinstance(answer.content, types[kind])
    if isinstance(answer, Date) or kind == "date":
        return isinstance(answer, Date)
    if kind == "choice":
        return _CHOICE.fullmatch(plain(answer).upper()) is not None
    return kind == "text" or (is_truth(answer) if kind == "truth" else is_literal(answer))
