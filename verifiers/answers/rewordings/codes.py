"""Codes, and names with numbers.

``25 to 44`` for ``ages 25 to 44`` (see ``amounts``), an address or code after what it is or what to do with it ("the
link https://paris.fr", "Use the code SAVE10."), ``4 x 100 m`` for ``4×100 m``, versions (``Python v3.10``, ``Ubuntu
version 22.04``), keys (``Control + C``).
"""  # noqa: RUF002

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..words.amounts import bare_range

_ADDRESS_NAMED = lazy_compile(
    r"(?:the )?(?:URL|link|web ?site|web address|address)(?: is)?:? (?=\w+://)", re.IGNORECASE
)
_IMPERATIVE = lazy_compile(
    r"(?:use|enter|type|press|dial|call|run|visit|go to|play|send)(?: the)?(?: [a-z]{2,12})? (?=\S*$)", re.IGNORECASE
)
_STATE = lazy_compile(r"(?<=[A-Za-z\d+-])\s?\((?:aq|s|l|g)\)")  # AgCl(s)
_TIMES = lazy_compile(r"(?<=\d)\s?\u00d7\s?(?=\d)")
_VERSION_SIGN = lazy_compile(r"(?<=\w )v(?=\d+\.\d)")  # Python v3.10
_VERSION_OF = lazy_compile(r"([A-Za-z][\w .+#-]{0,40}) version (\d+(?:\.\d+){0,4})", re.IGNORECASE)
_KEYS = lazy_compile(r"(?:(?:Ctrl|Control|Alt|Shift|Cmd|Command|Option|Tab|Esc|Del) ?\+ ?){1,3}\w{1,6}", re.IGNORECASE)
_CONTROL = lazy_compile(r"control(?= ?\+)", re.IGNORECASE)


def other_codes(gold: str, kind: str, answer: str) -> Iterator[str]:
    """A code, or a name with a number, in another form."""
    if kind == "code":
        if bare := bare_range(gold, answer):
            yield bare
        if "://" in gold and (named := _ADDRESS_NAMED.match(answer)):
            yield answer[named.end() :]
        if " " in answer and (match := _IMPERATIVE.match(answer)):
            yield answer[match.end() :]
    if "(" in answer and "(" not in gold and (stateless := _STATE.sub("", plain(answer))) != plain(answer):
        yield stateless
    if "\u00d7" in answer:
        yield _TIMES.sub(" x ", answer)
    if kind == "words":
        if _VERSION_SIGN.search(answer):
            yield _VERSION_SIGN.sub("", answer)
        if " version " in answer and (version := _VERSION_OF.fullmatch(answer)):
            yield f"{version[1]} {version[2]}"
    keys, own = answer.rstrip("."), gold.rstrip(".")
    if "+" in gold and _KEYS.fullmatch(keys) and _KEYS.fullmatch(own) and _in_keys(keys) == _in_keys(own):
        yield gold


def _in_keys(text: str) -> str:
    return _CONTROL.sub("ctrl", text).replace(" ", "").lower()
