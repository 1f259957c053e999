"""Which texts are codes, whatever mathematics would make of them: ``192.168.0.1``, ``3-1``, ``H2O``, ``007``."""

from __future__ import annotations

import ipaddress
import re

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.elements import NUMBERS, SYMBOLS
from .chemical import HEXADECIMAL, is_chemical
from .chess import MOVE
from .keys import EMAIL, URL
from .labels import is_numbered
from .places import COORDINATES
from .spelling import MAX_LENGTH

FUNCTIONS = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "sqrt", "cbrt", "arcsin", "arccos", "arctan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "pi", "abs", "floor", "ceil", "gcd", "lcm", "max", "min", "lim",
    "inf", "mod", "det", "sum", "int", "deg", "theta", "alpha", "beta", "gamma", "lambda", "phi", "infty", "binom",
))  # fmt: skip

MAX_ADDRESS = 45  # characters

_NUMBER = r"\$?\d+(?:,\d{3})*(?:\.\d+)?%?"
_STREET = (
    r"(?:St|Street|Ave|Avenue|Rd|Road|Ln|Lane|Dr|Drive|Blvd|Boulevard|Way|Court|Ct|Place|Pl|Terrace|Highway|Parkway)"
)
_TIME = r"\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?)?"
_DEGREES = r"\d{1,3}(?:\.\d+)?(?:°|(?<=\d))(?: ?\d{1,2}' ?(?:\d{1,2}(?:\.\d+)?(?:\"|''))?)?"
_SUBSHELL = r"\d[spdf]\^?\d{1,2}"
_SHAPES = tuple(
    lazy_compile(pattern)
    for pattern in (
        r"[@#]\w[\w.-]*",  # @user, #1, #ff0000
        r"-?0\d+",  # 007
        r"v?\d+(?:\.\d+){2,}(?:[A-Za-z]\w{0,9})?(?:[-+_:/][0-9A-Za-z.]+){0,5}",  # 192.168.0.1, 3.10.0, v1.2.3-rc1
        r"[vV]\d+\.\d+|\d+\.\d+(?:(?:a|b|c|rc|alpha|beta|dev|post)\d+|-[a-z]{2,9}\.?\d*)",  # v1.10, 2.0b1, 1.0-beta
        rf"{_NUMBER}(?:\s?--?\s?{_NUMBER})+(?:\s?%|\s?[A-Za-z]{{2,}}[^\d=]*)?",  # 3-1, 555-1234, 5-10 minutes
        r"\d+(?:\.\d+)? to \d+(?:\.\d+)?(?:\s?%|\s?[A-Za-z]{2,}[^\d=]*)?",  # 10 to 12 minutes
        rf"[Bb]etween {_NUMBER} and {_NUMBER}(?:\s?%|\s?[A-Za-z]{{2,}}[^\d=]*)?",
        r"1/2\s?-\s?1/2",  # a draw
        r"0\d/\d{1,2}|\d{1,2}/0\d",  # 04/05
        rf"(?=.*[:m]){_TIME} ?- ?{_TIME}",  # 9am-5pm
        r"\+\d{10,15}|(?=(?:\D*\d){8})\(?\+\d{1,3}(?:[ ().-]{1,2}\d{1,8}){2,5}",
        r"\(\d{2,5}\) ?\d[\d .-]{3,}\d",  # +44 20 7946 0958
        r"\d+(?:-\d+){2,}-?[Xx]",  # 0-8044-2957-X
        r"\d+(?:[ -]\d+)+|-?\d+(?: -?\d+)+",  # 020 7946 0958, 4 8 15, 7 1 -1
        r"[A-Za-z][A-Za-z0-9]{0,6}(?:\+{1,2}|-{1,2}|#[a-z]?)|[A-Z]\*|\d+\+",  # A+, C++, C#, A*, 18+
        r"\d+(?:st|nd|rd|th)(?: [A-Za-z ]+)?",  # 3rd, 21st century
        r"(?:[Tt]he )?'?\d{2,4}'?s",  # 1990s
        r"\d+(?:\.\d+)?(?: ?x ?\d+(?:\.\d+)?)+",  # 1920x1080
        r"\d+'(?: ?\d+(?:\"|'')?)?",  # 5'10"
        r"\d+(?:\.\d+)?(?P<side> ?(?:\"|''?|[kcm]?m|in|inch(?:es)?|ft|feet|yd))"
        r"(?: ?(?:x|by) ?\d+(?:\.\d+)?(?P=side))+",  # 2 m x 3 m
        r"\d+(?:/\d+){2,}",  # 1/2/3
        r"\d+(?:\.\d+)?(?::\d+(?:,\d{3})*){1,3} (?:aspect ratio|ratio|odds|scale)",
        r"\d+(?::\d\d){1,2}\.\d+",  # 1:23.45
        r"_{0,2}[A-Za-z]\w+(?:[._:]{1,2}[A-Za-z]\w*)+_{0,2}(?:\(\))?|[A-Za-z_]\w*\(\)",  # my_name, main.py, f()
        r"(?:~|\.{0,2})/[A-Za-z.][\w./-]*|[A-Za-z]:/[\w./ -]*",  # /usr/bin
        r"(?!sin |cos |tan |log |ln )[a-z]{2,}(?: [\w./-]+){0,9} (?:--?[a-z][\w-]*|-[A-Z])(?: .*)?",  # ls -l
        r"--[a-z][\w-]*(?:[= ]\S+)?",  # --dry-run
        r"(?:(?P<part>\d+)/(?P=part)|24/7)(?: [a-z]+){0,3}",  # 4/4
        r"[A-Z]-\d{2,3}|\d{2,3}[BDEG]",  # B-52, seat 27D
        r"10\.\d{4,9}/\S+",  # of a publication
        r"[a-z]{2,3}[-_][A-Z]{2}",  # en-US
        r"\d{3,}E\d+",  # 2310009E13
        r"[A-Za-z_]\w* ?[-+*/:]= ?.*|[^\\=]+==[^\\=]+",  # i += 1
        r"[\[({](?:[^\\]*[:,])? ?['\"][^\\]*['\"][^\\]*[\])}]",  # ['a', 'b'], {1: 'a'}
        r"[35]'[ -]?[ACGTUN][ACGTUN -]*[35]'",  # 5'-ATG-3'
        r"\d+(?:,\d+)*-[a-z]*(?:meth|eth|prop|but|pent|hex|hept|oct|chloro|bromo|fluoro|nitro)[a-z0-9,-]*",  # 2-butanol
        r"[A-Z][a-z]-\d{1,3}|U-23[2-9]|I-1[23]\d|C-14|K-40|P-32",  # He-4
        rf"(?i:{'|'.join(SYMBOLS)})-\d{{1,3}}",  # carbon-14
        r"(?:\{ ?\})? ?(?:\^\d{1,3} ?(?:_ ?\d{1,3})?|_ ?\d{1,3} ?\^ ?\d{1,3}) ?"
        rf"(?:{'|'.join(NUMBERS)})",  # ^14_6C
        r"(?:pp?|no|vol|ch|sec|fig|eq)\. ?\d[\d.-]*|[Pp]ages \d+ ?- ?\d+",  # p. 42
        r"\^?(?=.*\w-\w)(?:\[\^?[\w-]+\][+*?]?)+\$?",  # [a-z]+
        r"[^\w\\∞∅°]{1,60}",  # ??, ==, ) ] >
        r"[nN]/[aA]",
        r"/\d{1,2}",  # the length of the prefix of a network
        r"\d+(?:\.\d+)? out of \d+(?: [a-z]+)?",  # 4.5 out of 5 stars
        r"\d+ ?x ?\d+ ?(?:m|km|yd)? [a-z]{3,}(?: [a-z]{3,})?",  # 4 x 100 m relay
        r"(?=.*([A-Z]).*/.*\1)[A-Z]{2,4}/[A-Z]{2,4}",  # AC/DC, in which nothing cancels
        r"\d{1,3}[A-Z]-\d{1,3}[A-Z]",  # 12W-4L
        r"\d{5} [A-Z][a-z]{2,}(?:[ -][A-Z]?[a-z]{2,}){0,2}",  # 10115 Berlin
        r"(?:>=|<=|~=|!=|\^|~) ?v?\d+(?:\.\d+)+(?:, ?(?:[<>]=?|!=) ?v?\d+(?:\.\d+)+)*",  # >=4.2,<5.0
        rf"(?:[<>]=?|[\u2264\u2265]) ?{_NUMBER}(?: ?[A-Za-z\u00b5\u00b0].{{0,20}})?",  # > 50 kg
        r"[A-Z][a-z]+(?: [<>] [A-Z][a-z]+){1,5}",  # Ann > Bob
        r"[A-Z]\w{0,8}\^\d?[-+](?: [<>] [A-Z]\w{0,8}(?:\^\d?[-+])?){1,6}",  # F^- > Na^+
        r"</?[A-Za-z]\w*(?:\s[^<>]*)?/?>",  # <b>
        r"[^\\]*[^\s\\-]\s?(?:->|=>|&&|::)\s?[^\\]*",  # A -> B
        r"[^\\<>]*\^\d?-\s(?:<?->)\s[^\\<>]*",  # Fe^3+ + e^- -> Fe^2+
        rf"(?:\[[A-Z][a-z]\] ?{_SUBSHELL}|{_SUBSHELL} ?{_SUBSHELL})(?: ?{_SUBSHELL})*",  # 1s^2 2s^1
        r"sp\^?[23](?:d\^?[123]?)?",  # hybrid orbitals
        r"(?i:(?:the )?(?:first|second|third|fourth|[1-4](?:st|nd|rd|th)) quarter(?: of|,)? \d{4})",
        r"\d{4}-\d\d-\d\d(?:T|,? )\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d| ?(?:UTC|GMT))?",
        rf"\(?{_DEGREES} ?[NS],? ?{_DEGREES} ?[EW]\)?",  # 51.5074° N, 0.1278° W
        rf"(?=.*°){_DEGREES} ?[NSEW]",  # 40°26'46"N
        r"(?:UTC|GMT) ?[+-] ?\d{1,2}(?::?\d\d)?",
        r"(?=.*')[A-Z]w?[2']{0,2}(?: [A-Z]w?[2']{0,2}){3,}"
        r"|(?=.*['2])[UDLRFBMES]w?[2']{0,2}(?: [UDLRFBMES]w?[2']{0,2})+",  # R U R' U'
        r"\d+(?:\.\d+)?[A-Z](?: ?x ?\d+(?:\.\d+)?[A-Z])+",  # 32W x 34L
        r"[A-G](?:#|b)?[a-z0-9]{0,4}(?: ?- ?[A-G](?:#|b)?[a-z0-9]{0,4}){2,}",  # chords: G-D-Em-C
        r"(?i:(?:10|[2-9]|[AKQJ]) of (?:spades|hearts|diamonds|clubs))",
        r"[A-Z][A-Z0-9-]+\*\d{2,3}(?::\d{2,3})*",  # HLA-DRB1*04:01
        r"\d*d\d+(?: ?[+-] ?\d+)?",  # dice: 2d6+3
        r"\d+ ?R ?\d+|\d+,? (?:r|rem(?:ainder)?) \d+",  # 5 R 2
        r"(?:the )?[12]\d{3}[-/](?:\d\d|\d{4}) (?:season|(?:school|academic|financial|fiscal|tax) year)",
        rf"\d+[A-Z]?,? (?:(?:[A-Z][\w'.]*|\d{{1,3}}(?:st|nd|rd|th)),? ){{1,5}}{_STREET}\b.*",  # 10 Downing Street
    )
)
_NAMED = (EMAIL, URL, HEXADECIMAL, MOVE, COORDINATES, *_SHAPES)
_PATH = lazy_compile(r"(?:[A-Zcd]:|\\\\[\w.-]+)(?:\\[\w .()$-]+)+\\?")  # C:\Users\ana
_CLASS = lazy_compile(r"\\[dwsDWS](?:[+*?$\])\\-]|\{\d|$)")  # of a regular expression
_LATEX = lazy_compile(r"\\[A-Za-z]{2}")
_JOINED = lazy_compile(r"[A-Za-z0-9]+(?:[ ._/:-]{1,2}[A-Za-z0-9]+)*")
_QUANTITY = lazy_compile(r"\d+(?:\.\d+)?(?:[eE]\d+| ?[a-z]{1,2}[23])")  # 6.02e23, 5 cm2
_WORD = lazy_compile(r"\b[A-Za-z]?[a-z]{2,}\b")
_NAME = lazy_compile(r"[A-Z][A-Za-z]{0,2} ?\d+")
_LETTER_THEN_DIGIT = lazy_compile(r"([A-Za-z]+)\d")
_PLATE = lazy_compile(r"[A-Z]{1,3}(?:-[A-Z]{1,3})+ \d{1,6}[A-Z]?")  # B-XY 123
_COUNT = lazy_compile(r"[A-Za-z)](?![a-z])(?:_?(\d+))?")


def is_code(text: str) -> bool:
    """Whether a text in the spelling of ``plain`` is a code."""
    if len(text) > MAX_LENGTH or "\\" in text:
        return False
    return (
        any(shape.fullmatch(text) for shape in _NAMED)
        or _is_formula_of_chemistry(text)
        or is_name(text)
        or _is_identifier(text)
        or is_numbered(text)
        or _is_address(text)
    )


def _is_address(text: str) -> bool:
    """``::1`` and other addresses of the internet, version 6."""
    if text.count(":") < 2 or not text.isascii() or len(text) > MAX_ADDRESS:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def has_backslashes(text: str) -> bool:
    r"""Whether a text is a path ``C:\Users\ana`` or a regular expression ``\d{3}-\d{4}``, and not LaTeX."""
    if "\\" not in text or len(text) > MAX_LENGTH:
        return False
    text = text.strip("`$ ")
    return _PATH.fullmatch(text) is not None or (_CLASS.search(text) is not None and not _LATEX.search(text))


def is_name(text: str) -> bool:
    """Whether a text is a capital letter or more followed by digits: ``A1``, ``Mg2``."""
    return _NAME.fullmatch(text) is not None


def _is_formula_of_chemistry(text: str) -> bool:
    """``H_2O``, ``Ca(OH)2`` and ``Fe^3+``, but neither ``C_2`` nor ``P_1V_1``."""
    if not is_chemical(text):
        return False
    if re.search(r"\^?\d*[-+]$", text):
        return True
    counts = _COUNT.findall(text)
    return (len(set(counts)) > 1 or text in ("H_2", "O_2", "N_2", "O_3")) if "_" in text else any(counts)


def _is_identifier(text: str) -> bool:
    """Parts of letters and digits, with a letter before a digit: ``A1``, ``SW1A 1AA``, ``x86-64``, ``UA 123``.

    ``2x``, ``log2`` and ``x1-x2`` may be mathematics.
    """
    if not _JOINED.fullmatch(text) or _QUANTITY.fullmatch(text) or len(_WORD.findall(text)) > 2:
        return False
    names = [name for name in _LETTER_THEN_DIGIT.findall(text) if name.lower() not in FUNCTIONS]
    if names:
        return not re.search(r"[-/]", text) or any(len(name) > 1 or name.isupper() for name in names)
    if _PLATE.fullmatch(text):
        return True
    first, *others = re.split(r"[ ._/:-]+", text)
    return len(first) > 1 and first.isalpha() and first.isupper() and any(part.isdecimal() for part in others)
