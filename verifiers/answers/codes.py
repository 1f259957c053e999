r"""Codes: identifiers, versions, addresses, phone numbers, chemical formulas, chess moves, scores such as 3-1.

A code is compared as text, whatever mathematics would make of it: characters in one spelling, without what surrounds it
and without spaces next to a sign. ``KEYS`` lists what else may differ, and for which codes. ``code_shapes`` tells codes
from mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from itertools import accumulate

from grpo_env.lazy_regex import lazy_compile

from ..words import normalized
from .currencies import ISO
from .elements import NUMBERS, SYMBOLS
from .genetics import differ_in_alleles
from .labels import labelled
from .units import is_measure, read_unit

MAX_LENGTH = 300

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−⁻", "-"),  # noqa: RUF001
        **dict.fromkeys("’‘´′", "'"),  # noqa: RUF001
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"),
        **dict.fromkeys("⋅∙•", "·"),
        "×": "x", "→": "->", "⟶": "->", "⇌": "<->", "⁄": "/", "♯": "#", "♭": "b",  # noqa: RUF001
    }
)  # fmt: skip
_SUPERSCRIPT = lazy_compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUBSCRIPT = lazy_compile("[₀₁₂₃₄₅₆₇₈₉]+")
_COMMANDS = (
    (lazy_compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|~"), " "),
    (lazy_compile(r"\\(?:times|ast)(?![A-Za-z])"), "x"),
    (lazy_compile(r"\\cdot(?![A-Za-z])"), "·"),
    (lazy_compile(r"\\[dt]?frac\s?\{([A-Z]{2,4})\}\s?\{([A-Z]{2,4})\}"), r"\1/\2"),
    (lazy_compile(r"\\(?:long)?(?:right)?arrow(?![A-Za-z])|\\to(?![A-Za-z])"), "->"),
    (lazy_compile(r"\\rightleftharpoons(?![A-Za-z])"), "<->"),
    (lazy_compile(r"\\(?:left|right)(?=\s?[()\[\]])"), ""),
    (lazy_compile(r"\s?\\sharp(?![A-Za-z])"), "#"),
    (lazy_compile(r"\s?\\flat(?![A-Za-z])"), "b"),
    (lazy_compile(r"\\([_#$%&{}^])"), r"\1"),
)
_WRAPPED = lazy_compile(
    r"\\(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|ce|operatorname|boxed|fbox|emph)\s?"
    r"\{([^{}]*)\}"
)
_SCRIPT = lazy_compile(r"([_^])\s?\{([^{}]*)\}|\{([^{}A-Za-z0-9]{1,3})\}")
_PAIRS = (
    ("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"),
    ("(", ")"), ("{", "}"),
)  # fmt: skip
_SIGN_PAIRS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("`", "`"))
_BOXED = lazy_compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)
_FENCE = lazy_compile(r"```[a-z]{0,12}\s(.*?)\s*```", re.DOTALL)
_SPACE = lazy_compile(r"(?<=[A-Za-z]) (?=[A-Za-z])|(?<=\d) (?=-?\d)|( )")
_ARTICLE = lazy_compile(r"^(?:the|a|an) (?=\w.)", re.IGNORECASE)
_SPOKEN = tuple(
    (lazy_compile(rf"(?<=[A-Z0-9+#])(?: |-){word}(?![a-z])", re.IGNORECASE), sign)
    for word, sign in (("(?:plus|pos(?:itive)?)", "+"), ("(?:minus|neg(?:ative)?)", "-"), ("sharp", "#"), ("flat", "b"))
)

_ELEMENT = (
    r"(?:A[cglmrstu]|B[aehikr]?|C[adeflmnorsu]?|D[bsy]|E[rsu]|F[elmr]?|G[ade]|H[efgos]?|I[nr]?|Kr?|L[airuv]|M[cdgnot]"
    r"|N[abdeiop]?|O[gs]?|P[abdmortu]?|R[abefghnu]|S[bcegimnr]?|T[abehilms]|U|V|W|Xe|Yb?|Z[nr])"
)
_COUNTED = rf"(?:{_ELEMENT}(?:_?\d{{1,3}})?)"
_CHEMICAL = lazy_compile(
    rf"(?:{_COUNTED}|\({_COUNTED}{{1,9}}\)(?:_?\d{{1,2}})?|\[{_COUNTED}{{1,9}}\](?:_?\d{{1,2}})?){{1,20}}"
    rf"(?:·\d{{0,2}}{_COUNTED}{{1,6}})?(?:\^?\d{{0,2}}[-+])?(?:\s?\((?:s|l|g|aq)\))?"
)
_REACTION = lazy_compile(r"<?-+>|<=+>")
_SIGN_FIRST = lazy_compile(r"(?:\^(?=[+-])|(?<=[A-Za-z\d)\]])(?=\+))([+-])(\d)\Z")  # Fe^+3
_HYDRATE = lazy_compile(r"\s?·\s?")
_ESCAPES = lazy_compile(r"\s?[\u2191\u2193]|\s?\\(?:up|down)arrow")  # of a gas or a solid
_BOND = lazy_compile(r"(?<=[A-Za-z\d)])-(?=[A-Z(])")  # CH_3-CH_2-OH
_CONDENSED = lazy_compile(r"\AC2H5(?!\d)")
_INNER_GROUP = lazy_compile(rf"(?<=[A-Za-z\d)])\({_COUNTED}{{1,9}}\)(?:_?\d{{1,2}})?(?=.*\])")
_SMILES = lazy_compile(r"(?:Cl|Br|[BCNOPSFIbcnops]|\[\w@+-]{1,9}\]|[=#()/@+.\d-]){6,}")
_COEFFICIENT = lazy_compile(r"(\d{0,3})\s?(.*)")
EMAIL = lazy_compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
URL = lazy_compile(
    r"(?:https?://)?(?:www\.)?((?:[\w-]{1,63}\.){1,8}(?:com|org|net|edu|gov|io|dev|info|co|uk|de|fr|eu|ai|app)"
    r"(?:[:/?#]\S*)?)|\w{2,10}://\S+",
    re.IGNORECASE,
)
HEXADECIMAL = lazy_compile(
    r"#[0-9A-Fa-f]{3,8}|0[xX][0-9A-Fa-f]+|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
    r"|(?=[0-9A-Fa-f:]{0,40}(?:::|\d[A-Fa-f]|[A-Fa-f]\d))[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?:/\d{1,3})?"
)
_VERSION = lazy_compile(r"(?:v|ver\.?|version)?\s?(\d+(?:\.\d+)+(?:[A-Za-z]\w{0,9})?(?:[-+][\w.]+)?)", re.IGNORECASE)
_LONG_NUMBER = lazy_compile(
    r"(?![12]\d{3} ?- ?[12]\d{3}$)\+?\(?\d[\d\s()-]{5,40}[\dXx]|\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}"
)
_TRUNK_ZERO = lazy_compile(r"(?<=\d) ?\(0\)(?= ?\d)")  # +44 (0)20 7946 0958
_ABROAD = lazy_compile(r"\A00(?=[1-9])|\A\(\+(?=\d{1,3}\))")  # 0044 20 7946 0958
_SPAN = lazy_compile(
    r"(?:from |(between ))?(\d+(?:\.\d+)?)\s?(?:--?|to|until|till|through|(?<!from)(?(1)and|to))\s?(\d+(?:\.\d+)?)(.*)"
)
_TIMES = lazy_compile(r"\s?(?:x|by|·|\*)\s?")
_SIZE = lazy_compile(rf"\d+(?:\.\d+)?(?:{_TIMES.pattern}\d+(?:\.\d+)?){{1,9}}")
_LETTERS = lazy_compile(r"[A-Za-z]{2,9}|[A-Za-z](?:(?: | ?[·*,] ?| ?-> ?|\. ?| and )[A-Za-z]){1,8}")
_NUMBERS = lazy_compile(r"-?\d+(?:(?:\s|,\s?)-?\d+)+")
_FLAG = lazy_compile(r"[a-z]{2} ?-[A-Za-z](?!\w)")  # of a command: ls -R
_WORD = lazy_compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]?[a-z]{2,}|[A-Z]{3,})(?![A-Za-z0-9])")
_ORDINALS = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th", "thirteenth": "13th",
    "fourteenth": "14th", "fifteenth": "15th", "sixteenth": "16th", "seventeenth": "17th", "eighteenth": "18th",
    "nineteenth": "19th", "twentieth": "20th",
}  # fmt: skip
_TENS = {"twenty": 2, "thirty": 3, "forty": 4, "fifty": 5, "sixty": 6, "seventy": 7, "eighty": 8, "ninety": 9}
_TENTH = lazy_compile(rf"({'|'.join(_TENS)})-({'|'.join(list(_ORDINALS)[:9])})", re.IGNORECASE)
_HYPHEN = lazy_compile(r"(?<=[A-Za-z]{2})[- ](?=\d)")
_PLATE_HYPHEN = lazy_compile(r"(?<=[A-Z]{2})[- ](?=\d)|(?<=^[A-Z])-(?=\d)|(?<=\d\d)[- ](?=[A-Z]{2})")
_RAISED_ENDING = lazy_compile(r"(?<=\d)\^(?=(?:st|nd|rd|th)\b)")
_THOUSANDS = lazy_compile(r"(?<=:\d),(?=\d{3})|(?<=:\d\d),(?=\d{3})|(?<=:\d{3}),(?=\d{3})|(?<=\d{3}),(?=\d{3}\b)")
_BETWEEN_COORDINATES = lazy_compile(r"(?<=[NS]),? ?(?=\d)")
_OF = lazy_compile(r"\s?(?:/| over | out of )\s?")
_FRACTION_OF = lazy_compile(r"\d+(?:\.\d+)? ?(?:/|over|out of) ?\d+(?: \w+)?")
_HALF = lazy_compile(r"(?<=\d)[ -]1/2(?!\d)")
_NUMBER_SIGN = lazy_compile(r"(?<=[A-Za-z]{2}) ?# ?(?=\d)")
_DECADE = lazy_compile(r"(?:in )?(?:the )?'?(\d{2,4})'?s")
_QUARTER = lazy_compile(
    r"(?:the )?(?:(?:Q(?P<q>[1-4])|(?P<n>first|second|third|fourth|1st|2nd|3rd|4th) quarter)"
    r"(?:(?: of |[ ,/-]{1,2})(?P<year>\d{4}))?|(?P<first>\d{4})(?:[ ,/-]{1,2})Q(?P<last>[1-4]))",
    re.IGNORECASE,
)
_ARROW = lazy_compile(r" ?-?> ?")
_LOCALE = lazy_compile(r"[a-z]{2,3}[-_][A-Z]{2}")
_PAIR = lazy_compile(rf"({ISO})[/ -]?({ISO})")
_QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_TIMESTAMP = lazy_compile(
    r"(\d{4}-\d\d-\d\d)(?:T|,? | at )(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(?P<zone>Z|[+-]\d\d:?\d\d| ?(?:UTC|GMT))?"
)
_CITY = r"([A-Z][^\W\d_]+(?:[ -][A-Z]?[^\W\d_]+){0,2})"
_POSTAL = lazy_compile(rf"(\d{{4,5}}),? {_CITY}|{_CITY},? (\d{{4,5}})")
_SETS = lazy_compile(
    r"(?:\d{1,3}-\d{1,3}(?:(?:,| and|;)? \d{1,3}-\d{1,3})+|\d{1,2}:\d{1,2}(?:(?:,| and|;)? \d{1,2}:\d{1,2})+)"
)
_ORBITALS = lazy_compile(r"sp\^?\d?(?:d\^?\d?)?|(?:\[[A-Z][a-z]\] ?)?\d[spdf]\^?\d{1,2}(?: ?\d[spdf]\^?\d{1,2})*")
_HELIUM = "1s2"
_NEON = f"{_HELIUM} 2s2 2p6"
_ARGON = f"{_NEON} 3s2 3p6"
_KRYPTON = f"{_ARGON} 3d10 4s2 4p6"
_XENON = f"{_KRYPTON} 4d10 5s2 5p6"
_CORES = {
    "He": _HELIUM, "Ne": _NEON, "Ar": _ARGON, "Kr": _KRYPTON, "Xe": _XENON, "Rn": f"{_XENON} 4f14 5d10 6s2 6p6",
}  # fmt: skip
"""The subshells that a noble gas in brackets stands for."""
_SUBSHELL = lazy_compile(r"\[\w+\]|\d[spdf]\d{1,2}?(?=\s*\d[spdf]|\Z)")
_SUBSCRIPT_IN_TEXT = lazy_compile(r"(?<=[A-Z])_(?=\d)")
_SUBSCRIPTED = lazy_compile(r"([A-Za-z])_?(\d{1,3})")
_ISOTOPE = lazy_compile(
    r"(?:\{ ?\})? ?(?:\^?(?P<mass>\d{1,3}) ?(?:_ ?(?P<charge>\d{1,3}))?|_ ?(?P<first>\d{1,3}) ?\^ ?(?P<last>\d{1,3})) ?"
    r"(?P<symbol>[A-Z][a-z]?)|(?P<name>[A-Za-z]{1,13})[- ](?P<number>\d{1,3})"
)
_COORDINATE = r"([-+]?\d{1,3}\.\d{3,8})°?"
COORDINATES = lazy_compile(rf"\(?{_COORDINATE},? {_COORDINATE}\)?")
_NOUNS = "floor|day|chapter|section|lane|row|level|volume|minute|round|week|lap"
_NUMBERED = lazy_compile(rf"({_NOUNS}) (\d{{1,3}})|(\d{{1,3}})(?:st|nd|rd|th) ({_NOUNS})", re.IGNORECASE)
_INITIALLED = lazy_compile(r"(?:(T)(?:erminal )?|(Q)(?:uestion )?)(\d{1,3}[A-Z]?)", re.IGNORECASE)
_PERIODS = lazy_compile(r"\b(?:[A-Z]\.){2,}(?![A-Za-z])")
_STREETS = {
    "st": "street", "ave": "avenue", "av": "avenue", "rd": "road", "ln": "lane", "dr": "drive", "blvd": "boulevard",
    "ct": "court", "pl": "place", "hwy": "highway", "pkwy": "parkway", "sq": "square",
    "ter": "terrace", "terr": "terrace", "cres": "crescent",
}  # fmt: skip
_PARTS_OF_BUILDINGS = {"apt": "apartment", "ste": "suite", "fl": "floor", "bldg": "building", "rm": "room"}
_DIRECTIONS = {
    "n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast", "nw": "northwest", "se": "southeast",
    "sw": "southwest",
}  # fmt: skip
_ADDRESS = lazy_compile(
    rf"(\d+[A-Z]?),? (?P<street>.+ (?:{'|'.join((*_STREETS, *_STREETS.values()))})\b.*)", re.IGNORECASE
)


_UNIT_FIRST = lazy_compile(
    r"\A((?:apt|apartment|unit|suite|ste|flat|floor|fl|room|rm)\.? #?\w{1,5}), (\d.*)", re.IGNORECASE
)  # Apt 5, 18 Elm Lane
_IN_CITY = lazy_compile(r" (?:in |\()([A-Z][\w' ]{2,30})\)?\Z")


def plain(text: str) -> str:
    """A text in one spelling of its characters, without LaTeX's wrappers, outer punctuation and repeated spaces."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda match: "^" + match.group(), text)
        text = _SUBSCRIPT.sub(lambda match: "_" + match.group(), text)
        text = normalized("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    if wrapped := _FENCE.fullmatch(text.strip()) or _BOXED.fullmatch(text.strip()):
        text = wrapped[1]
    text = _unwrapped(" ".join(text.split()))
    if "\\" in text:
        for pattern, replacement in _COMMANDS:
            text = pattern.sub(replacement, text)
        for _ in range(4):
            before, text = text, _SCRIPT.sub(_without_braces, _WRAPPED.sub(r"\1", text))
            if text == before:
                break
    if "{" in text:
        text = _SCRIPT.sub(_without_braces, text)
    if "^" in text:
        text = _RAISED_ENDING.sub("", text)
    return " ".join(_unwrapped(text).split())


def _without_braces(match: re.Match[str]) -> str:
    return (match[1] or "") + (match[2] or match[3] or "")


def _unwrapped(text: str) -> str:
    """The text without punctuation at its end, and quotes, dollars or brackets around all of it.

    Of signs without any letter or digit only dollars and code ticks are removed.
    """
    text = text.strip()
    are_signs = not any(character.isalnum() for character in text)
    for _ in range(8):
        before = text
        for opening, closing in _SIGN_PAIRS if are_signs else _PAIRS:
            inner = text[len(opening) : -len(closing)]
            wrapped = text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing)
            is_data = opening == "{" and ("'" in inner or '"' in inner)
            if wrapped and opening not in inner and closing not in inner and not inner.endswith("\\") and not is_data:
                text = inner.strip()
        if not are_signs and (shorter := text.rstrip(".,;:。 ")):
            text = shorter
        if text == before:
            break
    return text


def same_code(one: str, other: str, ignore_case: bool) -> bool:
    """Whether two codes, each in the spelling of ``plain``, are the same."""
    if one == other:
        return True
    if max(len(one), len(other)) > MAX_LENGTH:
        return False
    (label, code), (other_label, other_code) = labelled(one), labelled(other)
    if label and other_label and label != other_label:
        return False
    if _same_by_keys(one, other, ignore_case):
        return True
    return bool(label or other_label) and (code == other_code or _same_by_keys(code, other_code, ignore_case))


def _same_by_keys(one: str, other: str, ignore_case: bool) -> bool:
    for key in KEYS:
        first, second = key(one), key(other)
        if first is None or second is None:
            continue
        if first == second or (ignore_case and _differ_in_free_case(first, second)):
            return True
    return _same_long_number(one, other)


def _same_long_number(one: str, other: str) -> bool:
    """Phone, card and book numbers of at least seven digits: in the same groups, or in fewer."""
    one, other = (_ABROAD.sub("+", _TRUNK_ZERO.sub("", text)) for text in (one, other))
    if not (_LONG_NUMBER.fullmatch(one) and _LONG_NUMBER.fullmatch(other)):
        return False
    first, second = (re.findall(r"[\dX]+", text.upper()) for text in (one, other))
    if "".join(first) != "".join(second) or len("".join(first)) < 7:
        return False
    ends, other_ends = (set(accumulate(map(len, groups))) for groups in (first, second))
    return ends <= other_ends or other_ends <= ends


def _differ_in_free_case(one: str, other: str) -> bool:
    """Whether only the case differs, and that of neither text may be a part of the code, as it is in ``NaCl``, ``Nf3``.

    It is not in addresses, hexadecimal numbers and texts with words; in any other code only if all letters have it.
    """
    if one.casefold() != other.casefold() or "\\" in one or _FLAG.search(one) or _is_smiles(one) or _is_smiles(other):
        return False
    if one.endswith("()") or differ_in_alleles(one, other):  # the name of a function; AA, aa
        return False
    if all(text.isupper() or text.islower() for text in (one, other)):
        return True
    return all(EMAIL.fullmatch(text) or URL.fullmatch(text) or HEXADECIMAL.fullmatch(text) or _has_words(text)
               for text in (one, other))  # fmt: skip


def _is_smiles(text: str) -> bool:
    """Whether a text may be a molecule with a ring as SMILES, where small letters are aromatic: ``c1ccccc1``."""
    if HEXADECIMAL.fullmatch(text):
        return False
    digits = re.findall(r"\d", text)
    return len(digits) > 1 and any(digits.count(digit) > 1 for digit in digits) and bool(_SMILES.fullmatch(text))


def _has_words(text: str) -> bool:
    return _WORD.search(text) is not None and not is_chemical(text)


def is_chemical(text: str) -> bool:
    """Whether a text is a chemical formula."""
    if len(text) > 80:
        return False
    if "[" in text and "(" in text:  # [Cu(NH_3)_4]^2+
        text = _INNER_GROUP.sub("H", text)
    return _CHEMICAL.fullmatch(text) is not None


# What has to be equal of two codes; None if a text is no code of this sort.


def _squeezed(text: str) -> str:
    """Without spaces, except between two letters or two digits; without an article in front."""
    text = _ARTICLE.sub("", text, count=1) if " " in text else text
    return _SPACE.sub(lambda match: "" if match[1] else " ", text)


def signed(text: str) -> str | None:
    """``A+``, ``A^+`` and ``A plus``; ``AB-`` and ``AB negative``; ``F#`` and ``F sharp``."""
    if len(text) > 40:
        return None
    for pattern, sign in _SPOKEN:
        text = pattern.sub(sign, text)
    return _squeezed(re.sub(r"\^(?=\d?[-+]$)", "", text))


def _chemical(text: str) -> str | None:
    """``H_2O`` and ``H2O``; ``SO4^2-`` and ``SO42-``; also in reactions, whose sides may be in any order."""
    text = _HYDRATE.sub("·", text)
    arrow = _REACTION.search(text)
    if arrow is None:
        text = _BOND.sub("", text)
        text = _SIGN_FIRST.sub(r"^\2\1", text)
        return _CONDENSED.sub(r"CH3CH2", re.sub(r"[_^\s]", "", text)) if is_chemical(text) else None
    sides = [
        [_COEFFICIENT.fullmatch(part.strip()) for part in side.split(" + ")]
        for side in _REACTION.split(_ESCAPES.sub("", text))
    ]
    parts = [match for side in sides for match in side]
    if len(text) > 160 or not all(match and (is_chemical(match[2]) or match[2] == "e^-") for match in parts):
        return None
    sign = "<->" if arrow[0].startswith("<") else "->"
    return sign.join("+".join(sorted(re.sub(r"[_^\s]", "", match[0]) for match in side if match)) for side in sides)


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


def _ordinal(text: str) -> str | None:
    """``19th century`` and ``nineteenth century``."""
    first, space, rest = _ARTICLE.sub("", text, count=1).partition(" ")
    ordinal = _tenth(_ORDINALS.get(first.lower(), first))
    return ordinal + space + rest if ordinal[-2:] in ("st", "nd", "rd", "th") else None


def _tenth(word: str) -> str:
    """``21st`` for twenty-first."""
    match = _TENTH.fullmatch(word)
    return f"{_TENS[match[1].lower()]}{_ORDINALS[match[2].lower()]}" if match else word


def _unit(text: str) -> str | None:
    """``kg`` and ``kilograms``."""
    unit = read_unit(" " + text.replace("·", " "), 0) if text[:1].isalpha() and len(text) <= 40 else None
    return repr(unit) if unit and all(is_measure(name) for name, _ in unit) else None


def _decade(text: str) -> str | None:
    """``1980s``, ``1980's`` and ``the 1980s``."""
    match = _DECADE.fullmatch(text)
    return match and match[1]


def _quarter(text: str) -> str | None:
    """``Q3 2021``, ``2021 Q3`` and ``third quarter of 2021``; ``Q3`` and ``third quarter``."""
    match = _QUARTER.fullmatch(text)
    if match is None:
        return None
    number = match["q"] or match["last"] or _QUARTERS.get(match["n"].lower(), match["n"][0])
    return f"{match['year'] or match['first'] or ''} {number}"


def _postal(text: str) -> str | None:
    """``10115 Berlin`` and ``Berlin 10115``."""
    match = _POSTAL.fullmatch(text)
    return match and f"{match[1] or match[4]} {(match[2] or match[3]).lower()}"


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


def _orbitals(text: str) -> str | None:
    """``sp^3`` and ``sp3``; ``[Ar] 3d^5 4s^1``, ``[Ar] 4s^1 3d^5`` and all of its subshells."""
    if not _ORBITALS.fullmatch(text):
        return None
    text = text.replace("^", "")
    shells = _SUBSHELL.findall(text)
    if not shells:
        return text.replace(" ", "")
    has_core = shells[0][0] == "["
    core = _CORES.get(shells[0][1:-1]) if has_core else ""
    if core is None:
        return None
    inner, outer = map(_subshell, core.split()), list(map(_subshell, shells[has_core:]))
    is_ordered = outer in (sorted(outer), sorted(outer, key=lambda shell: (shell[0] + shell[1], shell)))
    filled = sorted([*inner, *outer]) if is_ordered else [*inner, *outer]
    return " ".join(shell for *_, shell in filled)


def _subshell(text: str) -> tuple[int, int, str]:
    """A subshell with its two quantum numbers in front."""
    return int(text[0]), "spdf".index(text[1]), text


def _subscripted(text: str) -> str | None:
    """``v_0`` and ``v0``."""
    match = _SUBSCRIPTED.fullmatch(text)
    return match and match[1] + match[2]


def _subscripted_in_text(text: str) -> str | None:
    """``vitamin B_12 deficiency`` and ``vitamin B12 deficiency``, ``G_1, S, G_2`` and ``G1, S, G2``."""
    return _SUBSCRIPT_IN_TEXT.sub("", text) if " " in text and (", " in text or _has_words(text)) else None


def _isotope(text: str) -> str | None:
    """``U-235``, ``uranium-235``, ``^{235}U`` and ``^{235}_{92}U``, if the atomic number is that of the element."""
    match = _ISOTOPE.fullmatch(text)
    if match is None:
        return None
    element = match["symbol"] or match["name"]
    symbol = SYMBOLS.get(element.lower()) or (element if element in NUMBERS else None)
    charge = match["charge"] or match["first"]
    if symbol is None or (charge and int(charge) != NUMBERS[symbol]):
        return None
    return f"{symbol}-{match['mass'] or match['last'] or match['number']}"


def _coordinates(text: str) -> str | None:
    """``40.7128, -74.0060``, with or without brackets, degree signs and zeros at the end."""
    match = COORDINATES.fullmatch(text)
    return match and ", ".join(str(Decimal(part).normalize()) for part in match.groups())


def _street(text: str) -> str | None:
    """``350 Fifth Avenue North`` and ``350 5th Ave. N``: the words of a street, its direction and its ordinal."""
    text = _UNIT_FIRST.sub(r"\2, \1", _IN_CITY.sub(r", \1", text.removeprefix("No. ")))
    match = _ADDRESS.fullmatch(text) if text[:1].isdecimal() else None
    if match is None:
        return None
    words = match["street"].lower().replace(".", "").replace("'", "").replace(",", " ").split()
    street = [
        _in_full(before, word, after)
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    ]
    return f"{match[1].lower()} {' '.join(street)}"


def _in_full(before: str, word: str, after: str) -> str:
    """A word of an address in full; the first one may be Saint, or the letter of a street."""
    if before and word in _STREETS:
        return _STREETS[word]
    if before and word in _PARTS_OF_BUILDINGS:
        return _PARTS_OF_BUILDINGS[word]
    if word in _DIRECTIONS and (before or (after not in _STREETS and after not in _STREETS.values())):
        return _DIRECTIONS[word]
    return _ORDINALS.get(word) or _tenth(word)


def _without_periods(text: str) -> str | None:
    """``18 U.S.C.`` and ``18 USC``."""
    return _PERIODS.sub(lambda match: match.group().replace(".", ""), text) if "." in text or " " in text else None


def _over(text: str) -> str | None:
    """``120/80`` and ``120 over 80``, ``4.5/5 stars`` and ``4.5 out of 5 stars``."""
    return _OF.sub("/", text) if _FRACTION_OF.fullmatch(text) else None


def _without_hash(text: str) -> str | None:
    """``#INV-2024-0093`` and ``INV-2024-0093``, ``#ff0000`` and ``ff0000``, ``PO# 0071934`` and ``PO 0071934``."""
    return _NUMBER_SIGN.sub(" ", text.removeprefix("#")) or None


def numbered(text: str) -> str | None:
    """``Floor 3``, ``3rd floor`` and ``the third floor``."""
    ordinal = _ordinal(text)
    match = _NUMBERED.fullmatch(ordinal or text)
    return match and f"{match[1] or match[4]} {match[2] or match[3]}".lower()


def _initialled(text: str) -> str | None:
    """``Terminal 2`` and ``T2``, ``Question 5`` and ``Q5``."""
    match = _INITIALLED.fullmatch(text)
    return match and (match[1] or match[2]).upper() + match[3]


def _without_thousands(text: str) -> str | None:
    """``chr7:140,453,136`` and ``chr7:140453136``."""
    return _THOUSANDS.sub("", text) if "," in text or ":" in text else None


def _position(text: str) -> str | None:
    """``48°51'N 2°21'E`` and ``48°51'N, 2°21'E``."""
    return _BETWEEN_COORDINATES.sub(" ", text) if "\u00b0" in text else None


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
    _chemical,
    _version,
    _url,
    _span,
    _size,
    _letters,
    _numbers_in_a_row,
    _without_zeros,
    _without_hyphen,
    _ordinal,
    _unit,
    _decade,
    _quarter,
    _postal,
    _timestamp,
    _sets,
    _orbitals,
    _subscripted,
    _subscripted_in_text,
    _isotope,
    _coordinates,
    _street,
    _without_periods,
    _over,
    _without_hash,
    _without_thousands,
    _with_half,
    _arrows,
    _locale,
    _pair,
    _position,
    _initialled,
)
"""Two codes are the same if what one of these makes of them is equal."""
