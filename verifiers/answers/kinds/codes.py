r"""Texts that mathematics would misread: ``3-1``, ``192.168.0.1``, ``007``, ``H2O``, ``10:30``; compared as text.

Without this decision ``3-1`` is 2, ``007`` is 7 and ``H2O`` a product, and wrong answers are paid. A gold answer is one
of these only as a whole; with a LaTeX command in it, it never is.
"""

from __future__ import annotations

import re
from math import gcd

from grpo_env.lazy_regex import lazy_compile

from .plain_text import MAX_LENGTH

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "sqrt", "cbrt", "arcsin", "arccos", "arctan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "pi", "abs", "floor", "ceil", "gcd", "lcm", "max", "min", "lim",
    "inf", "mod", "det", "sum", "int", "deg", "theta", "alpha", "beta", "gamma", "lambda", "phi", "infty", "binom",
))  # fmt: skip

_NUMBER = r"\$?\d+(?:,\d{3})*(?:\.\d+)?%?"
_SIZE = r"\d+(?:\.\d+)?(?:[A-Z]| [a-z]{1,2})?"
_ANY = ""
_SHAPES = tuple(
    (frozenset(signs), lazy_compile(pattern))
    for signs, pattern in (
        ("0", r"-?0(?![1-9]\d\Z)[0-9A-Fa-f]+|-?0[xX][0-9A-Fa-f]+_\S+"),  # 007, -00FF; but not 025, as AIME writes 25
        (".", r"v?\d+(?:\.\d+){2,}(?:[-+_:/]?\w[\w.-]*)?|[vV]\d+\.\d+"),  # 192.168.0.1, v1.10
        # 3-1, 555-1234, 5-10 minutes; 10 to 12 minutes
        ("-", rf"{_NUMBER}(?:\s?--?\s?{_NUMBER})+(?:\s?%|\s?[A-Za-z]{{2,}}[^\d=]*)?"),
        (" ", rf"(?:between )?{_NUMBER} (?:to|and) {_NUMBER}(?:\s?%|\s?[A-Za-z]{{2,}}[^\d=]*)?"),
        (_ANY, r"\(?\+?\d[\d ().-]{6,}\d"),  # +44 20 7946 0958
        (" -", r"\d+(?:[ -]\d+)+|-?\d+(?: -?\d+)+"),  # 4 8 15
        # 10:30; 4 pm, 1A:2B:3C
        (":", r"\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?: ?(?i:[ap]\.?m\.?|h|[A-Z]{3}))?(?: ?- ?\d{1,2}:\d\d)?"),
        ("mM:=", r"\d{1,2} ?(?i:[ap]\.?m\.?)|[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){2,}|[a-h][1-8]=[QRBN]"),
        (" ", r"\d+ ?[a-z]{1,4}\.? \d+ ?[a-z]{1,4}\.?"),  # 6 ft 2 in
        ("tds", r"\d+(?:st|nd|rd|th)(?: [A-Za-z ]+)?|(?:[Tt]he )?'?\d{2,4}'?s"),  # 3rd, 1990s
        # 1920x1080, 10 x 15 cm
        ("x", rf"{_SIZE}(?: ?x ?{_SIZE})+(?: [A-Za-z]+){{0,3}}"),
        ("-/", r"\d+(?:-[\dX]+){2,}|0\d/\d{1,4}|\d{1,2}/0\d|\d+(?:/\d+){2,}"),  # 04/05
        ("@#/", r"[@#]\w[\w.-]*|[\w.+-]+@[\w.-]+|\w+://\S+|[\w.-]*/[A-Za-z.][\w./-]*"),  # names, addresses, paths
        ("._:(", r"_{0,2}[A-Za-z]\w+(?:[._:]{1,2}[A-Za-z]\w*)+_{0,2}(?:\(\))?|[A-Za-z_]\w*\(\)"),  # my_name, f()
        ("+-#*", r"[A-Za-z][A-Za-z0-9]{0,6}(?:\+{1,2}|-{1,2}|#[a-z]?)|[A-Z]\*|\d+\+"),  # A+, C++, C#, 18+
        # i += 1, A -> B
        ("=>&:", r"[A-Za-z_]\w* ?[-+*/:]= ?.*|[^\\=]+==[^\\=]+|[^\\]*[^\s\\-]\s?(?:->|=>|&&|::)\s?[^\\]*"),
        # sha256; CO2, H2O
        (
            _ANY,
            r"(?=.*[a-z]{2})[A-Za-z]+\d[A-Za-z0-9]*(?:-\w+)*|(?:[A-Z][a-z]?\d*|\((?:[A-Z][a-z]?\d*)+\)\d*){2,}(?<=\d)",
        ),
        (_ANY, r"(?=.*\d[A-Z])(?:[A-Z][a-z]?_?\d*|\([A-Za-z0-9_]+\)_?\d*)+[+-]?"),
        (_ANY, r"[^\w\\∞∅°]{1,60}"),  # ??, ==, ) ] >
        # 10 Downing Street, 2-butanol
        (" -", r"\d+[A-Z]? (?:[A-Z][a-z]+ ?){2,}|\d{5} [A-Z][a-z]+|\d+(?:,\d+)*-[a-z]{4,}"),
        # He-4, 1s^2 2s^1
        ("-spdf", r"[A-Z][a-z]?-\d+|[A-Z]{1,3}(?:-[A-Z]{1,3})+ \d+|(?:\[[A-Z][a-z]\] ?)?\d[spdf]\^?\d[^-+=]*"),
        ("-:/E", r"O-O(?:-O)?|\d/\d-\d/\d|[0-9a-f:]*::[0-9a-f:]*|(?P<n>\d+)/(?P=n)|24/7.*|\d{4}/\d\d .*|\d{3,}E\d+"),
        ("/oR", r"[nN]/[aA]|\d+ ?R ?\d+|\d+(?:\.\d+)? out of \d+(?: [a-z]+)?"),
    )
)
"""Each with the characters of which every match has one."""
_FRACTION_OF = lazy_compile(r"(\d{1,4})/(\d{1,4}) [A-Za-z]+")
_JOINED = lazy_compile(r"[A-Za-z0-9]+(?:[ ._/:-]{1,2}[A-Za-z0-9]+)*")
_QUANTITY = lazy_compile(r"\d+(?:\.\d+)?(?:[eE]\d+| ?[a-z]{1,2}[23])")  # 6.02e23, 5 cm2
_WORD = lazy_compile(r"\b[A-Za-z]?[a-z]{2,}\b")
_NAME = lazy_compile(r"[A-Z][A-Za-z]{0,2} ?\d+")
_LETTER_THEN_DIGIT = lazy_compile(r"([A-Za-z]+)\d")


def is_code(text: str) -> bool:
    """Whether a text in the spelling of ``plain_text.plain`` is one of these."""
    if len(text) > MAX_LENGTH or "\\" in text or text.replace(" ", "").isalpha():
        return False
    characters = set(text)
    has_shape = any(shape.fullmatch(text) for signs, shape in _SHAPES if not signs or not signs.isdisjoint(characters))
    return has_shape or is_name(text) or _is_identifier(text) or _is_unreduced(text)


def _is_unreduced(text: str) -> bool:
    """``6/8 time`` and ``120/80 mmHg``: a fraction of something would be in lowest terms."""
    match = _FRACTION_OF.fullmatch(text)
    return match is not None and gcd(int(match[1]), int(match[2])) > 1


def is_name(text: str) -> bool:
    """Whether a text is a capital letter or more followed by digits: ``A1``, ``Mg2``."""
    return _NAME.fullmatch(text) is not None


def _is_identifier(text: str) -> bool:
    """Parts of letters and digits, with a letter before a digit: ``A1``, ``SW1A 1AA``, ``x86-64``, ``UA 123``.

    ``2x``, ``log2`` and ``x1-x2`` may be mathematics.
    """
    if not _JOINED.fullmatch(text) or _QUANTITY.fullmatch(text) or len(_WORD.findall(text)) > 2:
        return False
    if names := [name for name in _LETTER_THEN_DIGIT.findall(text) if name.lower() not in FUNCTIONS]:
        return not re.search(r"[-/]", text) or any(len(name) > 1 or name.isupper() for name in names)
    first, *others = re.split(r"[ ._/:-]+", text)
    return len(first) > 1 and first.isalpha() and first.isupper() and any(part.isdecimal() for part in others)
