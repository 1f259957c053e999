"""Without what stands in brackets behind an answer.

``Usain Bolt`` of ``Usain Bolt (Jamaica)``, ``AAPL`` of ``Apple Inc. (AAPL)``, ``Portland, Oregon`` of ``Portland
(Oregon)``, ``1:23:45`` of ``1:23:45 (h:mm:ss)``; and a gold answer without its own: ``Apple Inc.`` of ``Apple Inc.
(AAPL)``, the name in Chinese with the one in Latin letters in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..vocabulary.doubts import UNSURE
from ..words.other_names import explains
from .sentences import TRUTHS

MAX_GLOSS = 40

_GLOSS = lazy_compile(r"(?P<words>[^()]*[^\W\d_]{2}[^()]*?)\s\((?P<gloss>[^()]{1,80})\)")
NO_GLOSS = lazy_compile(
    rf"{UNSURE.pattern}|\b(?:and|also|formerly|previously|instead|rather|actually|yes|true|correct|right|sorry|wait"
    r"|guess|approx\w*|rounded|estimat\w*|unsure|unclear|uncertain|unknown|likely|doubt\w*|invalid|rejected|misspel\w*|typo|vs|versus|almost|nearly)\b"
    r"|[/|,;]",
    re.IGNORECASE,
)
_ACRONYM = lazy_compile(r"[A-Z][A-Z0-9]{1,5}")
_PLACE = lazy_compile(r"([A-Z][\w' -]{1,40}) \(([A-Z][\w' -]{1,40})\)")
_LISTED_PLACE = lazy_compile(r"([A-Z][\w' -]{1,40}), ([A-Z][\w' -]{1,40})")
_INITIAL = lazy_compile(r"(?<![^\W\d_])((?P<first>[A-Za-z])[a-z]{2,20}) \((?i:(?P=first))\)")
_SYMBOL = lazy_compile(r"(?i:(?<=type I)\s\((?:\\alpha|\u03b1)\)|(?<=type II)\s\((?:\\beta|\u03b2)\))(?= error)")
_TIME_GLOSS = lazy_compile(
    r"h{1,2}:mm(?::ss)?|mm?:ss|24[- ]hour(?: clock)?|local(?: time)?|noon|midday|midnight", re.IGNORECASE
)
_DATE_WORD = lazy_compile(r"mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_OTHER_SCRIPT = lazy_compile(r"(?P<words>[^()\uff08\uff09]+?)\s?[(\uff08](?P<gloss>[^()\uff08\uff09]+)[)\uff09]")
_HAN = lazy_compile(r"[\u4e00-\u9fff]")


def unglossed(gold: str, kind: str, answer: str) -> Iterator[str]:
    """An answer without what is in brackets behind it, or what is in them."""
    if kind in ("date", "time"):
        yield from filter(None, [without_gloss(answer, kind)])
    if kind in ("words", "code") and gold.lower() not in TRUTHS:
        yield from _without_gloss(gold, answer)
        yield from _without_symbols(answer) if "(" not in gold else ()
    if kind == "words" and (place := _in_commas(gold, answer)):
        yield place


def _without_symbols(answer: str) -> Iterator[str]:
    """``adenine and guanine`` of ``adenine (A) and guanine (G)``, ``type II error`` of ``type II (\\beta) error``."""
    shown = plain(answer)
    shorter = _SYMBOL.sub("", _INITIAL.sub(r"\1", shown))
    yield from [shorter] if shorter != shown else []


def without_gloss(text: str, kind: str) -> str | None:
    """``1:23:45`` of ``1:23:45 (h:mm:ss)``; ``None`` if what is in brackets may change or doubt the date or time."""
    core, bracket, gloss = text.strip().rstrip(".").partition(" (")
    if not bracket or not gloss.endswith(")") or "(" in gloss or len(gloss) > MAX_GLOSS:
        return None
    if kind == "time":
        return core if _TIME_GLOSS.fullmatch(gloss[:-1]) else None
    return None if NO_GLOSS.search(gloss) or _DATE_WORD.search(gloss) or re.search(r"\d", gloss) else core


def shorter_gold(gold: str, answer: str) -> str | None:
    """``Apple Inc.`` for a gold answer ``Apple Inc. (AAPL)``, ``Portland, Oregon`` for ``Portland (Oregon)``."""
    if gold.endswith(")") and (place := _in_commas(answer, gold)):
        return place
    if gold.endswith((")", "\uff09")) and (named := _OTHER_SCRIPT.fullmatch(gold)):
        one, other = (_HAN.search(named[part]) is not None for part in ("words", "gloss"))
        if one and not other and re.search(r"[^\W\d_]{2}", named["gloss"]):  # 北京 (Beijing)
            return named["words"]
    match = _GLOSS.fullmatch(gold) if gold.endswith(")") and "(" not in answer else None
    if match and explains(match["words"], match["gloss"]):
        return match["gloss"] if plain(answer).casefold() == match["gloss"].casefold() else match["words"]
    return match["words"] if match and _ACRONYM.fullmatch(match["gloss"]) else None


def _in_commas(gold: str, answer: str) -> str | None:
    """``Portland, Oregon`` for ``Portland (Oregon)``."""
    match = _PLACE.fullmatch(answer.rstrip(".")) if "(" in answer and _LISTED_PLACE.fullmatch(gold) else None
    return f"{match[1]}, {match[2]}" if match and not NO_GLOSS.search(match[2]) else None


def _without_gloss(gold: str, answer: str) -> Iterator[str]:
    """``Usain Bolt`` of ``Usain Bolt (Jamaica)``; ``AAPL`` of ``Apple Inc. (AAPL)``."""
    match = _GLOSS.fullmatch(answer.rstrip(".")) if "(" in answer and "(" not in gold else None
    if match is None or NO_GLOSS.search(match["gloss"]):
        return
    yield match["words"]
    words = match["words"]
    is_name = words[:1].isupper() or explains(words, gold)
    if _ACRONYM.fullmatch(gold) and match["gloss"] == gold and is_name and not UNSURE.search(words):
        yield match["gloss"]
