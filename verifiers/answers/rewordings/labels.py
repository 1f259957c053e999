r"""Without a label.

Before a colon (``Best move: Qxf7#``) or in ``\text{...}`` (``\text{Minimum: } 15``); a known label before a code
(``HTTP 503``) or in brackets behind it (``30 (the VLAN ID)``); "the port is 80" as the code ``port 80``; what an answer
is (``the config.yaml file``, ``the Accounts Payable department``); a gold answer with a label (``ratio 2:3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.labels import labelled
from ..codes.spelling import plain
from ..quantities.units import is_measure
from ..times.clock import read_time
from ..times.dates import read_date
from ..vocabulary.doubts import CORRECTS, DENIES, DOUBTS, EARLIER, LEAVES_OPEN, NOT, RULES_OUT, WRONG
from ..vocabulary.unit_names import NAMES
from .mathematics import MATHEMATICS

_LABEL = lazy_compile(
    r"[*_]{0,2}(?P<label>[A-Za-z][A-Za-z-]+(?: (?:[a-z][a-z-]*|[A-Z]{2,})){0,2})[*_]{0,2}\s?:[*_]{0,2}\s{1,3}(?=\S)"
)
_TEXT_LABEL = lazy_compile(r"\\text(?:bf|it|rm)?\{([A-Za-z][A-Za-z ]{2,30})(?::\s?\}|\}\s?:)\s*")
NO_LABEL = lazy_compile(
    rf"\b(?:{DENIES}|{DOUBTS}|{LEAVES_OPEN}|{WRONG}|{CORRECTS}|{RULES_OUT}|{EARLIER}|hmm+|no|none|invalid|without|unlikely"
    r"|ruled|old|before|distract\w*|alternativ\w*|than|opposite|antonym|contrast|errors?|question|questions|example"
    rf"|examples|e\.g|unlike|versus|vs|other|others|also|but|misconception|myth|trap|step|given|input|start|yes|against)\b"
    rf"|{NOT}",
    re.IGNORECASE,
)
"""A label with one of these may not be left out: ``Wrong: 2001:db8::1``."""
_ADDRESSES = frozenset(("ip", "mac address"))
_LABEL_BEHIND = lazy_compile(
    r"(?P<code>(?=\S*\d)\S+) \((?:the )?(?P<label>subnet|network|VLAN(?: ID)?|port|IP(?:v[46])? address|MAC address"
    r"|ticket|commit|gate|room|seat|platform|flight|SKU|PIN|HTTP(?: status)?(?: code)?|(?:zip|postal) code|postcode"
    r"|quantity)(?: number)?\)",
    re.IGNORECASE,
)
_NAMED_IS = lazy_compile(r"(?:the |its |my |your )?([A-Za-z][\w ]{0,20}?) (?:is|was) (\S{1,20}?)\.?")
_THING_NAMES = (
    "file|function|method|command|variable|class|module|package|folder|directory|operator|keyword|branch|flag|switch"
    "|option"
)
_THING = lazy_compile(rf"(?:the )?(?:{_THING_NAMES}) (\S+?)\.?|(?:the )?(\S+) (?:{_THING_NAMES})\.?", re.IGNORECASE)
_SORTS = (
    "language|model|airport|department|team|city|planet|airline|colou?r|currency|element|protocol|format|button|key|tab|battery|batteries"
    "|menu|plan|browser|app|database|gene"
)
_NAMED = lazy_compile(
    rf"(?:the )?((?-i:[A-Z])\S*(?: \S+){{0,3}}) (?:{_SORTS})\.?"
    rf"|(?:the )?(?:{_SORTS})(?: of)? ((?-i:[A-Z])\S*(?: \S+){{0,3}}?)\.?",
    re.IGNORECASE,
)
_HEADS = "method|technique|approach|algorithm|procedure|process|geometry|shape|data structure|design pattern|traversal"
_HEADS_OF_ADJECTIVES = (
    "reaction|bond(?:ing|s)?|distribution|phase|stage|mechanism|inheritance|hybridi[sz](?:ed|ation)|arrangement"
    "|complexity|gate|scale|kinetics"
    r"|(?:(?<=turbulent )|(?<=laminar ))(?:flow|regime)|(?<=elastic )demand"
    r"|(?:(?<=positive )|(?<=negative ))(?:correlation|feedback)"
)
_HEADED = lazy_compile(
    rf"(?:an? |the )?(?P<name>[A-Za-z(\d][\w^()'\u2019-]*(?: [\w()'\u2019-]+){{0,3}}?) (?:molecular |electron )?"
    rf"(?:(?:{_HEADS})|(?P<of_adjective>{_HEADS_OF_ADJECTIVES}))\.?"
)
_LABELLED_VALUE = lazy_compile(r"(?P<label>[A-Za-z][A-Za-z /-]{2,30}): {1,3}(?P<value>(?=[^A-Za-z]{0,5}\d)\S.{0,40})")
_RATIO_VALUE = r"(?P<value>\d+(?:\.\d+)?(?::\d+(?:,\d{3})*(?:\.\d+)?){1,3})"
_LABELLED_RATIO = lazy_compile(rf"(?P<label>(?:aspect )?ratio|odds|scale)(?: of)? {_RATIO_VALUE}")
_RATIO_BEFORE_LABEL = lazy_compile(rf"{_RATIO_VALUE} (?P<label>(?:aspect )?ratio|odds|scale)")
_WORDS = lazy_compile("[A-Za-z]+")


def unlabelled(gold: str, kind: str, answer: str) -> Iterator[str]:
    """An answer without its label."""
    if kind != "choice" and ":" in answer and ": " not in gold and (label := _LABEL.match(answer)):
        yield from [] if NO_LABEL.search(label["label"]) or _names_another(gold, answer) else [answer[label.end() :]]
    if kind in MATHEMATICS and "\\text" in answer and (label := _TEXT_LABEL.match(answer)):
        yield from [] if NO_LABEL.search(label[1]) else [answer[label.end() :]]
    if kind in ("code", "number"):
        yield from _known(gold, kind, answer)
    if kind in ("words", "code") and (of_gold := _HEADED.fullmatch(gold)) and not NO_LABEL.search(of_gold["name"]):
        yield from [gold] if plain(answer).lower() == of_gold["name"].lower() else []
    if " " not in answer:
        return
    if kind == "code":
        if named := _NAMED_IS.fullmatch(answer):
            yield f"{named[1]} {named[2]}"
        if thing := _THING.fullmatch(answer):
            yield thing[1] or thing[2]
    if kind in ("words", "code") and (named := _NAMED.fullmatch(answer)):
        yield named[1] or named[2]
    if kind in ("words", "code") and (headed := _HEADED.fullmatch(plain(answer))):
        is_name = headed["of_adjective"] and re.search("[A-Z][a-z]", gold)
        yield from [] if is_name or NO_LABEL.search(headed["name"]) else [headed["name"]]


def _known(gold: str, kind: str, answer: str) -> Iterator[str]:
    """``503 Service Unavailable`` of ``HTTP 503 Service Unavailable``; ``VLAN 30`` of ``30 (the VLAN ID)``."""
    label, code = labelled(plain(answer))
    if label and (code == plain(gold) or (kind == "code" and label in _ADDRESSES and not labelled(plain(gold)).label)):
        yield code
    if kind == "code" and (behind := _LABEL_BEHIND.fullmatch(answer.rstrip("."))):
        yield f"{behind['label']} {behind['code']}"


def _names_another(gold: str, answer: str) -> bool:
    """Whether two codes have different labels: ``Room: C4`` and ``Gate C4``."""
    one, other = labelled(plain(gold)).label, labelled(plain(answer)).label
    return bool(one and other) and one != other


def value_of_label(gold: str, answer: str) -> str | None:
    """``£62.5`` of a gold answer ``Total: £62.5``, ``2:3`` of ``ratio 2:3``, for an answer without a label."""
    match = _LABELLED_VALUE.fullmatch(gold) or _LABELLED_RATIO.fullmatch(gold) or _RATIO_BEFORE_LABEL.fullmatch(gold)
    if match is None or NO_LABEL.search(match["label"]):
        return None
    if read_date(plain(answer)) or read_time(plain(answer)):
        return match["value"]
    is_bare = all(word in ("to", "by") or is_measure(NAMES.get(word.lower(), word)) for word in _WORDS.findall(answer))
    return match["value"] if is_bare and not answer[:1].isalpha() else None
