"""Short ways of saying an answer of daily use: after a known label, in a short sentence, as a list, abbreviated.

Each is a further text to compare with the gold answer, as in ``rewordings``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from .codes import plain
from .extract.statements import UNSURE
from .json_value import text_list
from .labels import labelled
from .other_names import is_short_for, without_country

_ADDRESSES = frozenset(("ip", "mac address"))
_LABEL_BEHIND = lazy_compile(
    r"(?P<code>(?=\S*\d)\S+) \((?:the )?(?P<label>subnet|network|VLAN(?: ID)?|port|IP(?:v[46])? address|MAC address"
    r"|ticket|commit|gate|room|seat|platform|flight|SKU|PIN|HTTP(?: status)?(?: code)?|(?:zip|postal) code|postcode"
    r"|quantity)(?: number)?\)",
    re.IGNORECASE,
)
_TAKES_PLACE = lazy_compile(
    r"it (?:takes place|took place|is held|was held|falls|fell|happens|happened|occurs|occurred|starts|begins)"
    r" (?:in|on|at) (?:an? )?",
    re.IGNORECASE,
)
_THERE_ARE = lazy_compile(
    r"there (?:is|are|was|were|will be)"
    r" (?P<count>(?:\d[\d,]*|[a-z]{3,9}(?:-[a-z]{3,5})?)"
    r"(?: (?!(?:more|less|fewer|per|percent|left|short|missing|others?|extra)\b)[a-z]{3,20})?)"
    r"(?: (?:in|on|at) (?:the|this|that|my|your|our|their|his|her|it|a)\b(?: [a-z]{2,15}){0,3})?\.?",
    re.IGNORECASE,
)
_THING_NAMES = (
    "file|function|method|command|variable|class|module|package|folder|directory|operator|keyword|branch|flag|switch"
    "|option"
)
_THING = lazy_compile(rf"(?:the )?(?:{_THING_NAMES}) (\S+?)\.?|(?:the )?(\S+) (?:{_THING_NAMES})\.?", re.IGNORECASE)
_LINKED = lazy_compile(r"<(\S+)>|mailto:(\S+)")
_SORTS = (
    "language|model|airport|department|team|city|planet|airline|colou?r|currency|element|protocol|format|button|key|tab|battery|batteries"
    "|menu|plan|browser|app|database|gene"
)
_NAMED = lazy_compile(
    rf"(?:the )?((?-i:[A-Z])\S*(?: \S+){{0,3}}) (?:{_SORTS})\.?"
    rf"|(?:the )?(?:{_SORTS})(?: of)? ((?-i:[A-Z])\S*(?: \S+){{0,3}}?)\.?",
    re.IGNORECASE,
)
_SIDES = lazy_compile(r"(\d{1,4}) ?(?:by|x|\u00d7) ?(\d{1,4})\.?")
_CHOSEN = lazy_compile(
    r"(?:(?:option|choice|answer|letter) )?\(?([A-H])\)?(?:, | ?[:\u2013-] )(?=\S)([^()]{1,80})"
    r"|([^()]{1,80}?) \(([A-H])\)",
    re.IGNORECASE,
)
_YES = "yes yeah yep yup correct affirmative true indeed".split()  # noqa: SIM905
_NO = ["no", "nope", "nah", "false", "not at all", "incorrect", "no way"]
_REPLY = lazy_compile(
    r"(yes|no) (?:it|they|he|she|that|there|this|you|we|I) (?:is|are|was|were|does|do|did|has|have|can|will|must"
    r"|should)(?P<negated>n['\u2019]t| not)?[.!]?",
    re.IGNORECASE,
)
_SYNONYMS = {"yes": {*_YES, "that is correct", "that's correct"}, "no": {*_NO}} | {
    "no one": {"nobody"}, "nobody": {"no one"}, "everyone": {"everybody"}, "everybody": {"everyone"},
    "someone": {"somebody"}, "somebody": {"someone"}, "anyone": {"anybody"}, "anybody": {"anyone"},
    "true": {*_YES, "t", "that is true", "that's true"}, "false": {*_NO, "f", "untrue", "not true", "not correct"},
}  # fmt: skip
"""What says the same as yes, no, true and false, as the whole answer."""
_DOTTED_CLOCK = lazy_compile(r"(1[0-2]|[1-9])\.([0-5]\d) ?([ap])\.? ?m\.?", re.IGNORECASE)
_KEYS = lazy_compile(r"(?:(?:Ctrl|Control|Alt|Shift|Cmd|Command|Option|Tab|Esc|Del) ?\+ ?){1,3}\w{1,6}", re.IGNORECASE)
_CONTROL = lazy_compile(r"control(?= ?\+)", re.IGNORECASE)
_PERIODS = lazy_compile(r"(?:[A-Z][a-z]{0,2}\.?){2,5}")  # Ph.D.
_COMPASS = {
    "NW": "northwest", "NE": "northeast", "SW": "southwest", "SE": "southeast", "NNW": "north northwest",
    "NNE": "north northeast", "SSW": "south southwest", "SSE": "south southeast",
}  # fmt: skip


def everyday(gold: str, kind: str, answer: str) -> Iterator[str]:
    """Further readings of an answer in view of the gold answer, both as they were written."""
    if kind in ("code", "number"):
        yield from _labelled(gold, kind, answer)
    if kind == "code":
        if thing := _THING.fullmatch(answer):
            yield thing[1] or thing[2]
        if "@" in gold or "/" in gold:
            yield from _linked(answer)
    if kind == "number" and ":" in gold and (sides := _SIDES.fullmatch(answer)):
        yield f"{sides[1]}:{sides[2]}"
    if kind == "choice" and len(gold) > 3 and (choice := _CHOSEN.fullmatch(answer)):
        yield f"({choice[1] or choice[4]}) {choice[2] or choice[3]}"
    if kind == "words" and (synonyms := _SYNONYMS.get(gold.lower())):
        yield from [gold] if plain(answer).lower() in synonyms - {gold.lower()} else []
        if (reply := _REPLY.fullmatch(answer)) and bool(reply["negated"]) == (reply[1].lower() == "no"):
            yield reply[1]
    if kind == "words" and ("," in gold or " and " in gold) and answer[:5].lower() == "both ":
        yield answer[5:]
    if kind == "words" and gold[:5].lower() == "both ":
        yield gold[:5] + answer
    if kind == "number" and (there := _THERE_ARE.fullmatch(answer)):
        yield there["count"]
    if ":" in gold and (clock := _DOTTED_CLOCK.fullmatch(answer)):
        yield f"{clock[1]}:{clock[2]} {clock[3]}m"
    if (kind in ("words", "code", "date", "time") or ":" in gold) and (place := _TAKES_PLACE.match(answer)):
        rest = answer[place.end() :]
        yield from [] if UNSURE.search(rest) else [rest.rstrip(".")]
    if kind in ("words", "code"):
        yield from _abbreviated(gold, answer)
        if named := _NAMED.fullmatch(answer):
            yield named[1] or named[2]
    if kind == "words" and "," in gold:
        yield from _listed(answer)


def names_another(gold: str, answer: str) -> bool:
    """Whether two codes have different labels: ``Room: C4`` and ``Gate C4``."""
    one, other = labelled(plain(gold)).label, labelled(plain(answer)).label
    return bool(one and other) and one != other


def _labelled(gold: str, kind: str, answer: str) -> Iterator[str]:
    """``503 Service Unavailable`` of ``HTTP 503 Service Unavailable``; ``VLAN 30`` of ``30 (the VLAN ID)``."""
    label, code = labelled(plain(answer))
    if label and (code == plain(gold) or (kind == "code" and label in _ADDRESSES and not labelled(plain(gold)).label)):
        yield code
    if kind == "code" and (behind := _LABEL_BEHIND.fullmatch(answer.rstrip("."))):
        yield f"{behind['label']} {behind['code']}"


def _linked(answer: str) -> Iterator[str]:
    """``a@b.com`` of ``<a@b.com>`` and ``mailto:a@b.com``."""
    if match := _LINKED.fullmatch(answer.rstrip(".")):
        yield match[1] or match[2]


def _abbreviated(gold: str, answer: str) -> Iterator[str]:
    """``north-west`` for NW, ``N/A`` for Not applicable, ``Control+C`` for Ctrl+C, each in both directions."""
    short, text = answer.rstrip("."), gold.rstrip(".")
    if is_short_for(answer, gold):
        yield gold
    if "," not in gold and "," in answer and (place := without_country(answer)):
        yield place
    if "." in answer + gold and gold != answer and _PERIODS.fullmatch(answer) and _PERIODS.fullmatch(gold):
        yield from [gold] if answer.replace(".", "") == gold.replace(".", "") else []
    if short in _COMPASS:
        yield _COMPASS[short]
    if text in _COMPASS and re.sub("[- ]", "", short.lower()) == _COMPASS[text].replace(" ", ""):
        yield gold
    if {short.lower(), text.lower()} == {"n/a", "not applicable"}:
        yield gold
    if "+" in gold and _KEYS.fullmatch(short) and _KEYS.fullmatch(text) and _in_keys(short) == _in_keys(text):
        yield gold


def _in_keys(text: str) -> str:
    return _CONTROL.sub("ctrl", text).replace(" ", "").lower()


def _listed(answer: str) -> Iterator[str]:
    """``apple, banana`` of ``apple; banana`` and ``["apple", "banana"]``."""
    items = answer.rstrip(".").split(";") if ";" in answer and "," not in answer else None
    if answer.startswith("[") and answer.endswith("]"):
        items = text_list(answer)
    if items and len(items) > 1 and all(item.strip() and not re.search("[,;]", item) for item in items):
        yield ", ".join(item.strip() for item in items)
