"""Labels of codes and numbers: ``Gate C4``, ``the BRCA1 gene``, ``1920x1080 pixels``.

A label may be left out, as a unit may, but not be another one: ``C4`` is ``Gate C4``, and ``Room C4`` is not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grpo_env.lazy_regex import lazy_compile

from ..vocabulary.number_words import in_digits, roman_value

MAX_LENGTH = 80

_BEFORE = lazy_compile(
    r"(?:the |an? )?"
    r"(?P<label>(?:zip|postal) code|post ?code|zip|ID|subnet mask|IP(?:v[46])?(?: address)?|MAC address|ISBN(?:-1[03])?"
    r"|(?:EAN|GTIN)(?:-(?:8|13|14))?|UPC"
    r"|(?:tele)?phone|tel|PIN|code"
    r"|version|release|patch|port|pages|pp?(?=\.)|size(?= (?:X{0,4}[SML]|\d)\b)"
    r"|gate|room|rm|bus|flight|gene|protein|route|platform|chapter|ch|section|sec|§|page|seat|apartment|apt|suite|ste"
    r"|highway|form|exit|track|terminal|figure|fig|table|volume|vol|question|floor|building|bldg|level|day(?= \S+$)"
    r"|channel|locker|line|row|aisle|lane|score|resolution|formation|time signature|license plate"
    r"|(?:status|area|exit|error) code|error|HTTP(?: status(?: code)?)?|cell|square(?= [a-h][1-8]$)|column|vitamin"
    r"|blood (?:type|group)|grade|mutation|SKU|case|docket|(?:order|invoice|ticket|serial|part|model|tracking)(?= n|:)"
    r"|(?:order|invoice|booking|reservation|reference|account|customer|employee|confirmation|case|purchase order|PO)"
    r"(?= #?[A-Z]*-?\d[\w-]{3,}$)"
    r"|(?:ticket|VLAN(?: ID)?|(?:TCP|UDP)(?: port)?|qty|quantity)(?=:? #?[\w-]*\d$)|call(?= number \S*\d)"
    r"|commit(?: hash)?(?=:? [0-9a-f]{7,40}$)|(?:subnet|network)(?=:? [\d.]{7,15}/\d\d?$))"
    r"(?: number| no\.?)?(?: of)?\.?:? #?(?P<code>[(+\w].*)",
    re.IGNORECASE,
)
_BEHIND = lazy_compile(
    r"(?:the |an? )?(?:number |no\.? ?)?(?P<code>(?=\S*\d)\S+)"
    r" (?P<label>gene|protein|bus|flight|line|route|formation|error|mutation|network|subnet|time(?: signature)?"
    r"|mm ?Hg)",
    re.IGNORECASE,
)
_SIZE = lazy_compile(
    r"(?:the |an? )?(?P<code>\d+(?:\.\d+)?(?: ?(?:x|by|·) ?\d+(?:\.\d+)?)+)[ -]"
    r"(?P<label>pixels?|px|resolution|screen|display|image|photo|print|matri(?:x|ces)|grid|table|array|board|chessboard"
    r"|rectangle|box|inch(?:es)?|in|feet|ft|yards|cm|mm|m|met(?:er|re)s|ml|l|lit(?:er|re)s|k?g|oz)",
    re.IGNORECASE,
)
_NUMBERED = lazy_compile(
    r"(?:version|gate|room|bus|flight|port|zip code|route|platform|chapter|section|page|seat|apartment|suite|highway"
    r"|track|channel|locker|aisle|lane|exit|error|status code|area code|terminal|figure|table|volume|question"
    r"|floor|building|level)(?: no\.?| number)? #?[A-Z]{0,3}-?\d{1,6}[A-Z]?"
    r"|(?:rm|ch|sec|apt|ste|fig|vol|bldg)\.? \d{1,6}[A-Z]?|(?:chapter|section|figure|table) \d{1,3}(?:\.\d{1,3}){1,3}"
    r"|form [A-Z]{0,2}-?\d{1,4}(?:-?[A-Z]{1,3})?"
    r"|flight [A-Z][A-Z0-9] ?\d{1,4}|(?:ticket|post ?code) #?(?:[A-Z]{1,5}-)?\d{3,12}"
    r"|(?:SKU|case no\.?|docket no\.?):? ?(?=\S*\d)[\w-]+"
    r"|(?:version|release|patch) v?\d+(?:\.\d+){1,4}(?:[-+.]?[a-z0-9]+)?"
    r"|(?:order|invoice|ticket|booking|customer|account|part|serial|model|tracking) (?:no\.?|number|#) ?"
    r"[A-Z]{0,4}-?\d{2,12}"
    r"|size \d{1,2}(?:\.5| 1/2)?|\d{1,2}/\d{1,2} time(?: signature)?|\d{2,3}/\d{2,3} ?mm ?Hg",
    re.IGNORECASE,
)
_SHAPES = {
    "port": lazy_compile(r"\d{1,5}(?:/(?:tcp|udp))?", re.IGNORECASE), "vlan": lazy_compile(r"\d{1,4}"),
    "tcp": lazy_compile(r"\d{1,5}"), "udp": lazy_compile(r"\d{1,5}"), "room": lazy_compile(r"[\w.-]{1,12}"),
    "gate": lazy_compile(r"[A-Z]{0,2}-?\d{1,3}[A-Z]?", re.IGNORECASE), "platform": lazy_compile(r"\d{1,3}[A-Za-z]?"),
    "seat": lazy_compile(r"[\w-]{1,6}"), "pin": lazy_compile(r"\d[\d -]{2,10}"),
    "quantity": lazy_compile(r"\d[\d.,]*(?: .*)?"),
    "ip": lazy_compile(r"[\da-f.:]{3,45}(?:/\d{1,3})?", re.IGNORECASE),
    "mac address": lazy_compile(r"[\da-f.:-]{12,17}", re.IGNORECASE),
    "network": lazy_compile(r"[\da-f.:]{3,45}/\d{1,3}", re.IGNORECASE),
    "subnet": lazy_compile(r"[\da-f.:]{3,45}/\d{1,3}", re.IGNORECASE),
    "commit": lazy_compile(r"[\da-f]{7,40}", re.IGNORECASE), "zip code": lazy_compile(r"[A-Z\d][A-Z\d -]{2,9}", re.I),
    "isbn": lazy_compile(r"[\dX -]{10,20}", re.IGNORECASE), "ean": lazy_compile(r"\d[\d ]{6,15}\d"),
    "gtin": lazy_compile(r"\d[\d ]{6,15}\d"), "upc": lazy_compile(r"\d[\d ]{6,15}\d"),
}  # fmt: skip
"""What a code with such a label looks like: 10.0.0.0/16 is no port."""
_NUMBERS = frozenset(("chapter", "section", "page", "volume", "table"))  # also numbered in Roman numerals
_ROMAN = lazy_compile(r"(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_NAMES = {
    "release": "version", "patch": "version",
    "zip": "zip code", "postal code": "zip code", "postcode": "zip code", "post code": "zip code",
    "ipv4": "ip", "ipv6": "ip", "ipv4 address": "ip", "ipv6 address": "ip", "http status": "http",
    "http status code": "http", "vlan id": "vlan", "tcp port": "tcp", "udp port": "udp", "qty": "quantity",
    "commit hash": "commit", "phone": "telephone", "tel": "telephone", "ip address": "ip",
    "px": "pixels", "pixel": "pixels", "time signature": "time", "mm hg": "mmhg", "isbn-10": "isbn", "isbn-13": "isbn",
    "ean-8": "ean", "ean-13": "ean", "gtin-8": "gtin", "gtin-13": "gtin", "gtin-14": "gtin",
    "status code": "http", "error code": "error", "blood type": "blood group",
    "pages": "page", "pp": "page", "p": "page", "rm": "room", "ch": "chapter", "sec": "section", "§": "section",
    "apt": "apartment", "ste": "suite", "fig": "figure", "vol": "volume", "bldg": "building",
}  # fmt: skip


class Labelled(NamedTuple):
    """A code without its label, and the label in one spelling; ``""`` if it has none."""

    label: str
    code: str


def labelled(text: str) -> Labelled:
    """A text in the spelling of ``plain`` as a code and its label."""
    if " " not in text and "-" not in text:
        return Labelled("", text)
    match = None
    if len(text) <= MAX_LENGTH:
        match = _BEFORE.fullmatch(text) or _BEHIND.fullmatch(text) or _SIZE.fullmatch(text)
    if match is None:
        return Labelled("", text)
    label = match["label"].lower()
    label = _NAMES.get(label, label)
    code = _in_digits(match["code"], label)
    if label in _SHAPES and not _SHAPES[label].fullmatch(code):
        return Labelled("", text)
    if not (any(character.isdigit() for character in code) or re.fullmatch(r"[A-Z]{1,2}[+-]?|X{1,4}[SL]", code)):
        return Labelled("", text)
    return Labelled(label, code)


def is_numbered(text: str) -> bool:
    """Whether a text is a label and a number: ``Room 204``, ``6/8 time``."""
    return _NUMBERED.fullmatch(text) is not None or _SIZE.fullmatch(text) is not None


def _in_digits(code: str, label: str) -> str:
    """``three``, and ``III`` of a chapter, in digits; ``B14`` for gate B-14."""
    if label in _NUMBERS and _ROMAN.fullmatch(code):
        return str(roman_value(code))
    if label == "gate" and re.fullmatch(r"[A-Z]-\d{1,3}", code):
        return code.replace("-", "")
    spelled = in_digits(code) if code.isalpha() and code.islower() else None
    return spelled or code
