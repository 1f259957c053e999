r"""Codes: identifiers, versions, addresses, phone numbers, chemical formulas, chess moves, scores such as 3-1.

A code is compared as text: characters in one spelling, without outer punctuation, whatever mathematics would make of it
(``192.168.0.1``, ``3-1``, ``H2O``, ``007``). ``KEYS`` lists what else may differ for which codes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

MAX_LENGTH = 300

_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−", "-"),  # noqa: RUF001
        **dict.fromkeys("’‘´", "'"),  # noqa: RUF001
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"),
        **dict.fromkeys("⋅∙•", "·"),
        "×": "x", "→": "->", "⟶": "->", "\N{FRACTION SLASH}": "/",  # noqa: RUF001
    }
)  # fmt: skip
_COMMANDS = (
    (re.compile(r"\\(?:[,;:! ]|q?quad(?![A-Za-z]))|~"), " "),
    (re.compile(r"\\(?:times|ast)(?![A-Za-z])"), "x"),
    (re.compile(r"\\cdot(?![A-Za-z])"), "·"),
    (re.compile(r"\\(?:long)?(?:right)?arrow(?![A-Za-z])|\\to(?![A-Za-z])"), "->"),
    (re.compile(r"\\([_#$%&{}^])"), r"\1"),
)
_WRAPPED = re.compile(
    r"\\(?:text(?:tt|rm|bf|it|normal|sf)?|math(?:tt|rm|bf|it|sf)|mbox|hbox|ce|operatorname|boxed|fbox|emph)\s?"
    r"\{([^{}]*)\}"
)
_SCRIPT = re.compile(r"([_^])\s?\{([^{}]*)\}|\{([^{}A-Za-z0-9]{1,3})\}")
_PAIRS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"),
          ("(", ")"), ("{", "}"))  # fmt: skip
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUBSCRIPT = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_SPACE = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])|(?<=\d) (?=\d)|( )")

_ELEMENT = (
    r"(?:A[cglmrstu]|B[aehikr]?|C[adeflmnorsu]?|D[bsy]|E[rsu]|F[elmr]?|G[ade]|H[efgos]?|I[nr]?|Kr?|L[airuv]|M[cdgnot]"
    r"|N[abdeiop]?|O[gs]?|P[abdmortu]?|R[abefghnu]|S[bcegimnr]?|T[abehilms]|U|V|W|Xe|Yb?|Z[nr])"
)
_COUNTED = rf"(?:{_ELEMENT}(?:_?\d{{1,3}})?)"
_CHEMICAL = re.compile(
    rf"(?:{_COUNTED}|\({_COUNTED}{{1,9}}\)(?:_?\d{{1,2}})?|\[{_COUNTED}{{1,9}}\](?:_?\d{{1,2}})?){{1,20}}"
    rf"(?:·\d{{0,2}}{_COUNTED}{{1,6}})?(?:\^?\d{{0,2}}[-+])?(?:\s?\((?:s|l|g|aq)\))?"
)
_CHESS = re.compile(
    r"(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h](?:x[a-h])?[1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)[+#]?[!?]{0,2}"
)
_EMAIL = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(
    r"(?:https?://)?(?:www\.)?((?:[\w-]{1,63}\.){1,8}(?:com|org|net|edu|gov|io|dev|info|co|uk|de|fr|eu|ai|app)(?:[:/?#]\S*)?)"
    r"|\w{2,10}://\S+",
    re.IGNORECASE,
)
_HEXADECIMAL = re.compile(
    r"#[0-9A-Fa-f]{3,8}|0[xX][0-9A-Fa-f]+|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
    r"|(?=[0-9A-Fa-f:]{0,40}(?:::|\d[A-Fa-f]|[A-Fa-f]\d))[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?:/\d{1,3})?"
)
_VERSION = re.compile(r"(?:v|ver\.?|version)?\s?(\d+(?:\.\d+)+(?:[-.+]?[0-9A-Za-z]+){0,6})", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"\+?\(?\d[\d\s()-]{5,40}[\dXx]|\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s?(?:-|to)\s?(\d+(?:\.\d+)?)(.*)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s?(?:x|by)\s?(\d+(?:\.\d+)?)(?:\s?(?:x|by)\s?(\d+(?:\.\d+)?))?")
_LETTERS = re.compile(r"[A-Za-z]{2,9}|[A-Za-z](?:(?: | ?[·*] ?|\. ?)[A-Za-z]){1,8}")

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "sqrt", "cbrt", "arcsin", "arccos", "arctan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "pi", "abs", "floor", "ceil", "gcd", "lcm", "max", "min", "lim",
    "inf", "mod", "det", "sum", "int", "deg", "theta", "alpha", "beta", "gamma", "lambda", "phi", "infty", "binom",
))  # fmt: skip
_NUMBER = r"\$?\d+(?:,\d{3})*(?:\.\d+)?%?"
_SHAPES = tuple(
    re.compile(pattern)
    for pattern in (
        r"[@#]\w[\w.-]*",  # @user, #1, #ff0000
        r"-?0\d+",  # 007
        r"v?\d+(?:\.\d+){2,}(?:[A-Za-z]\w{0,9})?(?:[-+_:/][0-9A-Za-z.]+){0,5}",  # 192.168.0.1, 3.10.0, v1.2.3-rc1
        r"[vV]\d+\.\d+|\d+\.\d+(?:(?:a|b|c|rc|alpha|beta|dev|post)\d+|-[a-z]{2,9}\.?\d*)",  # v1.10, 2.0b1, 1.0-beta
        rf"{_NUMBER}(?:\s?-\s?{_NUMBER})+(?:\s?%|\s?[A-Za-z]{{2,}}[^\d=]*)?",  # 3-1, 555-1234, 5-10 minutes
        r"\d+(?:\.\d+)? to \d+(?:\.\d+)?",  # 10 to 12
        r"1/2\s?-\s?1/2",  # a draw
        r"\+\d{10,15}|\+\d[\d ().-]*[ ().-][\d ().-]*\d|\(\d{2,5}\) ?\d[\d .-]{3,}\d",  # +44 20 7946 0958
        r"\d+(?:-\d+){2,}-?[Xx]",  # 0-8044-2957-X
        r"\d+(?:[ -]\d+)+",  # 020 7946 0958, 4 8 15
        r"[A-Za-z][A-Za-z0-9]{0,6}(?:\+{1,2}|-{1,2}|#[a-z]?)|\d+\+",  # A+, C++, C#, 18+
        r"\d+(?:st|nd|rd|th)(?: [A-Za-z ]+)?",  # 3rd, 21st century
        r"'?\d{2,4}'?s",  # 1990s
        r"\d+(?:\.\d+)?(?: ?x ?\d+(?:\.\d+)?)+",  # 1920x1080
        r"\d+'(?: ?\d+(?:\"|'')?)?",  # 5'10"
        r"\d+(?:/\d+){2,}",  # 1/2/3
        r"\d+(?::\d\d){1,2}\.\d+",  # 1:23.45
        r"_{0,2}[A-Za-z]\w+(?:[._:]{1,2}[A-Za-z]\w*)+_{0,2}(?:\(\))?|[A-Za-z_]\w*\(\)",  # my_name, main.py, f()
        r"(?:~|\.{0,2})/[A-Za-z.][\w./-]*|[A-Za-z]:/[\w./ -]*",  # /usr/bin
        r"[^\w\\\s∞∅°]{1,9}",  # ??, ==
        r"[nN]/[aA]",
        r"</?[A-Za-z]\w*(?:\s[^<>]*)?/?>",  # <b>
        r"[^\\]*[^\s\\-]\s?(?:->|=>|&&|::)\s?[^\\]*",  # A -> B
        r"\d+[A-Z]? (?:[A-Z][\w'.]*,? ){1,5}(?:St|Street|Ave|Avenue|Rd|Road|Ln|Lane|Dr|Drive|Blvd|Boulevard|Way|Court"
        r"|Ct|Place|Pl|Terrace|Highway|Parkway)\b.*",  # 10 Downing Street
    )
)
_JOINED = re.compile(r"[A-Za-z0-9]+(?:[ ._/:-]{1,2}[A-Za-z0-9]+)*")
_SCIENTIFIC = re.compile(r"\d+(?:\.\d+)?[eE]\d+")
_LETTER_THEN_DIGIT = re.compile(r"([A-Za-z]+)\d")


def is_code(text: str) -> bool:
    """Whether a text in the spelling of ``plain`` is a code, whatever mathematics would make of it."""
    if len(text) > MAX_LENGTH or "\\" in text:
        return False
    named = (_EMAIL, _URL, _HEXADECIMAL, _CHESS, *_SHAPES)
    return any(shape.fullmatch(text) for shape in named) or _is_formula_of_chemistry(text) or _is_identifier(text)


def _is_formula_of_chemistry(text: str) -> bool:
    """``H_2O``, ``Ca(OH)2`` and ``Fe^3+``, but neither ``C_2`` nor ``P_1V_1``."""
    if not is_chemical(text):
        return False
    if re.search(r"\^?\d*[-+]$", text):
        return True
    counts = re.findall(r"[A-Za-z)](?:_?(\d+))?(?![a-z])", text)
    if "_" in text:
        return len(set(counts)) > 1 or text in ("H_2", "O_2", "N_2", "O_3")
    return any(counts)


def _is_identifier(text: str) -> bool:
    """Parts of letters and digits, with a letter before a digit: ``A1``, ``SW1A 1AA``, ``x86-64``, ``UA 123``.

    ``2x``, ``log2`` and ``x1-x2`` may be mathematics.
    """
    if not _JOINED.fullmatch(text) or _SCIENTIFIC.fullmatch(text):
        return False
    names = [name.lower() for name in _LETTER_THEN_DIGIT.findall(text)]
    if names and not all(name in FUNCTIONS for name in names):
        return not re.search(r"[-/]", text) or any(len(name) > 1 for name in names)
    parts = re.split(r"[ ._/:-]+", text)
    capitals = any(len(part) > 1 and part.isalpha() and part.isupper() for part in parts)
    return capitals and any(part.isdecimal() for part in parts)


def plain(text: str) -> str:
    """A text in one spelling of its characters, without LaTeX's wrappers, outer punctuation and repeated spaces."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda match: "^" + match.group(), text)
        text = _SUBSCRIPT.sub(lambda match: "_" + match.group(), text)
        text = unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    text = _unwrapped(" ".join(text.split()))
    if "\\" in text:
        text = _without_commands(text)
    if "{" in text:
        text = _SCRIPT.sub(_scripted, text)
    return " ".join(_unwrapped(text).split())


def _without_commands(text: str) -> str:
    for pattern, replacement in _COMMANDS:
        text = pattern.sub(replacement, text)
    for _ in range(4):
        text, count = _WRAPPED.subn(r"\1", _SCRIPT.sub(_scripted, text))
        if not count:
            break
    return text


def _scripted(match: re.Match[str]) -> str:
    return (match[1] or "") + (match[2] or match[3] or "")


def _unwrapped(text: str) -> str:
    """The text without punctuation at its end, and quotes, dollars or brackets around all of it."""
    text = text.strip()
    for _ in range(8):
        before = text
        for opening, closing in _PAIRS:
            inner = text[len(opening) : -len(closing)]
            wrapped = text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing)
            if wrapped and opening not in inner and closing not in inner and not inner.endswith("\\"):
                text = inner.strip()
        if shorter := text.rstrip(".,;: "):
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
    return any(key is not None and key == opposite for key, opposite in zip(_keys(one), _keys(other), strict=True)) or (
        ignore_case and _caseless(one, other)
    )


def _caseless(one: str, other: str) -> bool:
    """Whether only the case differs, and in neither of them it may be a part of the code, as in ``NaCl`` and ``Nf3``.

    Text of several words has no such case; in a single code without small letters only all of them may be changed.
    """
    first, second = _squeezed(one), _squeezed(other)
    if first.casefold() != second.casefold():
        return False
    free = all(_EMAIL.fullmatch(text) or _URL.fullmatch(text) or _HEXADECIMAL.fullmatch(text) for text in (one, other))
    has_words = re.search(r"[A-Za-z]{3}.*\s|\s.*[A-Za-z]{3}", one) is not None
    return free or has_words or all(text.isupper() or text.islower() for text in (first, second))


def _squeezed(text: str) -> str:
    """The text without spaces, except between two letters and between two digits."""
    return _SPACE.sub(lambda match: "" if match[1] else " ", text)


def _keys(text: str) -> Iterator[str | None]:
    """What has to be equal of two codes by each of ``KEYS``; ``None`` where the text is no such code."""
    return (key(text) for key in KEYS)


def _chemical(text: str) -> str | None:
    """``H_2O`` and ``H2O``; ``SO4^2-`` and ``SO42-``."""
    return re.sub(r"[_^\s]", "", text) if is_chemical(text) else None


def is_chemical(text: str) -> bool:
    """Whether a text is a chemical formula."""
    return len(text) <= 80 and _CHEMICAL.fullmatch(text) is not None


def _long_number(text: str) -> str | None:
    """Phone, card and book numbers of at least seven digits: however they are grouped."""
    if not _LONG_NUMBER.fullmatch(text):
        return None
    digits = re.sub(r"[^\dXx]", "", text)
    return digits.upper() if len(digits) >= 7 else None


def _version(text: str) -> str | None:
    """``v1.10``, ``version 1.10`` and ``1.10``."""
    match = _VERSION.fullmatch(text)
    return match[1] if match else None


def _url(text: str) -> str | None:
    """The scheme and ``www.`` may be left out, and a slash at the end."""
    match = _URL.fullmatch(text)
    return match[1].rstrip("/") if match and match[1] else None


def _span(text: str) -> str | None:
    """``10-12`` and ``10 to 12``."""
    match = _SPAN.fullmatch(text)
    return f"{match[1]}-{match[2]}{match[3]}" if match else None


def _size(text: str) -> str | None:
    """``1920x1080``, ``1920 × 1080`` and ``1920 by 1080``."""  # noqa: RUF002
    match = _SIZE.fullmatch(text)
    return "x".join(part for part in match.groups() if part) if match else None


def _letters(text: str) -> str | None:
    r"""``AB``, ``A B`` and ``A \cdot B``."""
    return re.sub(r"[\s·*.]", "", text) if len(text) <= 40 and _LETTERS.fullmatch(text) else None


def _numbers_in_a_row(text: str) -> str | None:
    """``4 8 15`` and ``4, 8, 15``."""
    return re.sub(r"\s*,\s*|\s+", " ", text) if re.fullmatch(r"\d+(?:(?:\s|,\s?)\d+)+", text) else None


KEYS: tuple[Callable[[str], str | None], ...] = (
    _squeezed,
    _chemical,
    _long_number,
    _version,
    _url,
    _span,
    _size,
    _letters,
    _numbers_in_a_row,
)
"""Two codes are the same if one of these is equal for both."""
