"""What may differ between two spellings of one code, and for which codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from grpo_env.lazy_regex import lazy_compile

from ..quantities.units import is_measure, read_unit
from ..vocabulary.currencies import ISO
from .chemical import formula, has_words, isotope, orbitals
from .numbering import ARTICLE, decade, initialled, ordinal, quarter
from .places import coordinates, position, postal, street

_SPACE = lazy_compile(r"(?<=[A-Za-z]) (?=[A-Za-z])|(?<=\d) (?=-?\d)|( )")
_SPOKEN = tuple(
    (lazy_compile(rf"(?<=[A-Z0-9+#])(?: |-){word}(?![a-z])", re.IGNORECASE), sign)
    for word, sign in (("(?:plus|pos(?:itive)?)", "+"), ("(?:minus|neg(?:ative)?)", "-"), ("sharp", "#"), ("flat", "b"))
)
EMAIL = lazy_compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
URL = lazy_compile(
    r"(?:https?://)?(?:www\.)?((?:[\w-]{1,63}\.){1,8}(?:com|org|net|edu|gov|io|dev|info|co|uk|de|fr|eu|ai|app)"
    r"(?:[:/?#]\S*)?)|\w{2,10}://\S+",
    re.IGNORECASE,
)
_VERSION = lazy_compile(r"(?:v|ver\.?|version)?\s?(\d+(?:\.\d+)+(?:[A-Za-z]\w{0,9})?(?:[-+][\w.]+)?)", re.IGNORECASE)
_SPAN = lazy_compile(
    r"(?:from |(between ))?(\d+(?:\.\d+)?)\s?(?:--?|to|until|till|through|(?<!from)(?(1)and|to))\s?(\d+(?:\.\d+)?)(.*)"
)
_TIMES = lazy_compile(r"\s?(?:x|by|·|\*)\s?")
_SIZE = lazy_compile(rf"\d+(?:\.\d+)?(?:{_TIMES.pattern}\d+(?:\.\d+)?){{1,9}}")
_LETTERS = lazy_compile(r"[A-Za-z]{2,9}|[A-Za-z](?:(?: | ?[·*,] ?| ?-> ?|\. ?| and )[A-Za-z]){1,8}")
_NUMBERS = lazy_compile(r"-?\d+(?:(?:\s|,\s?)-?\d+)+")
_HYPHEN = lazy_compile(r"(?<=[A-Za-z]{2})[- ](?=\d)")
_PLATE_HYPHEN = lazy_compile(r"(?<=[A-Z]{2})[- ](?=\d)|(?<=^[A-Z])-(?=\d)|(?<=\d\d)[- ](?=[A-Z]{2})")
_THOUSANDS = lazy_compile(r"(?<=:\d),(?=\d{3})|(?<=:\d\d),(?=\d{3})|(?<=:\d{3}),(?=\d{3})|(?<=\d{3}),(?=\d{3}\b)")
_OF = lazy_compile(r"\s?(?:/| over | out of )\s?")
_FRACTION_OF = lazy_compile(r"\d+(?:\.\d+)? ?(?:/|over|out of) ?\d+(?: \w+)?")
_HALF = lazy_compile(r"(?<=\d)[ -]1/2(?!\d)")
_NUMBER_SIGN = lazy_compile(r"(?<=[A-Za-z]{2}) ?# ?(?=\d)")
_ARROW = lazy_compile(r" ?-?> ?")
_LOCALE = lazy_compile(r"[a-z]{2,3}[-_][A-Z]{2}")
_PAIR = lazy_compile(rf"({ISO})[/ -]?({ISO})")
_TIMESTAMP = lazy_compile(
    r"(\d{4}-\d\d-\d\d)(?:T|,? | at )(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?P<zone>Z|[+-]\d\d:?\d\d| ?(?:UTC|GMT))?"
)
_SETS = lazy_compile(
    r"(?:\d{1,3}-\d{1,3}(?:(?:,| and|;)? \d{1,3}-\d{1,3})+|\d{1,2}:\d{1,2}(?:(?:,| and|;)? \d{1,2}:\d{1,2})+)"
)
_SUBSCRIPT_IN_TEXT = lazy_compile(r"(?<=[A-Z])_(?=\d)")
_SUBSCRIPTED = lazy_compile(r"([A-Za-z])_?(\d{1,3})")
_PERIODS = lazy_compile(r"\b(?:[A-Z]\.){2,}(?![A-Za-z])")

# What has to be equal of two codes; None if a text is no code of this sort.


def _squeezed(text: str) -> str:
    """Without spaces, except between two letters or two digits; without an article in front."""
    text = ARTICLE.sub("", text, count=1) if " " in text else text
    return _SPACE.sub(lambda match: "" if match[1] else " ", text)


def signed(text: str) -> str | None:
    """``A+``, ``A^+`` and ``A plus``; ``AB-`` and ``AB negative``; ``F#`` and ``F sharp``."""
    if len(text) > 40:
        return None
    for pattern, sign in _SPOKEN:
        text = pattern.sub(sign, text)
    return _squeezed(re.sub(r"\^(?=\d?[-+]$)", "", text))


def _version(text: str) -> str | None:
    """``v1.10``, ``version 1.10`` and ``1.10``."""
    match = _VERSION.fullmatch(text)
    return match[1] if match else None


def _url(text: str) -> str | None:
    """The scheme and ``www.`` may be left out, and a slash at the end."""
    match = URL.fullmatch(text)
    return match[1].rstrip("/") if match and match[1] else None


def _span(text: str) -> str | None:
    """``10-12``, ``10 to 12``, ``from 10 until 12`` and ``between 10 and 12``."""
    match = _SPAN.fullmatch(text)
    return f"{match[2]}-{match[3]}{match[4]}" if match else None


def _size(text: str) -> str | None:
    r"""``1920x1080``, ``1920 \times 1080`` and ``1920 by 1080``."""
    return _TIMES.sub("x", text) if _SIZE.fullmatch(text) else None


def _letters(text: str) -> str | None:
    r"""``AB``, ``A B``, ``A, B`` and ``A \cdot B``; but not ``ab`` for ``a.b``, which is no abbreviation."""
    if ("." in text and text.islower()) or text.count("->") == 1:  # a reaction
        return None
    return re.sub(r" and |->|[\s·*.,]", "", text) if len(text) <= 40 and _LETTERS.fullmatch(text) else None


def _numbers_in_a_row(text: str) -> str | None:
    """``4 8 15`` and ``4, 8, 15``."""
    return re.sub(r"\s*,\s*|\s+", " ", text) if _NUMBERS.fullmatch(text) else None


def _without_zeros(text: str) -> str | None:
    """``04/05`` and ``4/5``."""
    return re.sub(r"\b0(?=\d)", "", text) if re.fullmatch(r"\d\d?/\d\d?", text) else None


def _without_hyphen(text: str) -> str | None:
    """``LH-404``, ``LH 404`` and ``LH404``; ``AB-123-CD`` and ``AB 123 CD``."""
    return (_PLATE_HYPHEN if text.isupper() else _HYPHEN).sub("", text)


def _unit(text: str) -> str | None:
    """``kg`` and ``kilograms``."""
    unit = read_unit(" " + text.replace("·", " "), 0) if text[:1].isalpha() and len(text) <= 40 else None
    return repr(unit) if unit and all(is_measure(name) for name, _ in unit) else None


def _timestamp(text: str) -> str | None:
    """``2024-05-01T10:00:00`` and ``2024-05-01 10:00:00``; with a time zone the same instant in UTC."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    zone = (match["zone"] or "").strip()
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}{'Z' if zone in ('UTC', 'GMT') else zone}")
        return str(moment.astimezone(UTC) if zone else moment)
    except (ValueError, OverflowError):
        return None


def _sets(text: str) -> str | None:
    """``6-4, 7-5``, ``6-4 7-5`` and ``6:4, 7:5``."""
    return " ".join(re.findall(r"[\d-]+", text.replace(":", "-"))) if _SETS.fullmatch(text) else None


def _subscripted(text: str) -> str | None:
    """``v_0`` and ``v0``."""
    match = _SUBSCRIPTED.fullmatch(text)
    return match and match[1] + match[2]


def _subscripted_in_text(text: str) -> str | None:
    """``vitamin B_12 deficiency`` and ``vitamin B12 deficiency``, ``G_1, S, G_2`` and ``G1, S, G2``."""
    return _SUBSCRIPT_IN_TEXT.sub("", text) if " " in text and (", " in text or has_words(text)) else None


def _without_periods(text: str) -> str | None:
    """``18 U.S.C.`` and ``18 USC``."""
    return _PERIODS.sub(lambda match: match.group().replace(".", ""), text) if "." in text or " " in text else None


def _over(text: str) -> str | None:
    """``120/80`` and ``120 over 80``, ``4.5/5 stars`` and ``4.5 out of 5 stars``."""
    return _OF.sub("/", text) if _FRACTION_OF.fullmatch(text) else None


def _without_hash(text: str) -> str | None:
    """``#INV-2024-0093`` and ``INV-2024-0093``, ``#ff0000`` and ``ff0000``, ``PO# 0071934`` and ``PO 0071934``."""
    return _NUMBER_SIGN.sub(" ", text.removeprefix("#")) or None


def _without_thousands(text: str) -> str | None:
    """``chr7:140,453,136`` and ``chr7:140453136``."""
    return _THOUSANDS.sub("", text) if "," in text or ":" in text else None


def _arrows(text: str) -> str | None:
    """``File > Save`` and ``File -> Save``."""
    return _ARROW.sub(">", text) if ">" in text and not text.startswith(("<", ">")) else None


def _locale(text: str) -> str | None:
    """``en-US`` and ``en_US``."""
    return text.replace("_", "-") if _LOCALE.fullmatch(text) else None


def _pair(text: str) -> str | None:
    """``EUR/USD`` and ``EURUSD``."""
    match = _PAIR.fullmatch(text)
    return match and match[1] + match[2]


def _with_half(text: str) -> str | None:
    """``size 10 1/2`` and ``size 10.5``."""
    return _HALF.sub(".5", text)


KEYS: tuple[Callable[[str], str | None], ...] = (
    _squeezed,
    signed,
    formula,
    _version,
    _url,
    _span,
    _size,
    _letters,
    _numbers_in_a_row,
    _without_zeros,
    _without_hyphen,
    ordinal,
    _unit,
    decade,
    quarter,
    postal,
    _timestamp,
    _sets,
    orbitals,
    _subscripted,
    _subscripted_in_text,
    isotope,
    coordinates,
    street,
    _without_periods,
    _over,
    _without_hash,
    _without_thousands,
    _with_half,
    _arrows,
    _locale,
    _pair,
    position,
    initialled,
)
"""Two codes are the same if what one of these makes of them is equal."""
