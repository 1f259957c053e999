"""Other readings of an answer that is not right as it stands: without a label, a gloss or a sentence around it.

Each is only a further text to compare, so it is right only if what remains equals the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .extract.statements import UNSURE

MAX_LENGTH = 200

_LABEL = re.compile(
    r"[*_]{0,2}(?P<label>[A-Za-z][A-Za-z-]+(?: (?:[a-z][a-z-]*|[A-Z]{2,})){0,2})[*_]{0,2}\s?:[*_]{0,2}\s{1,3}(?=\S)"
)
_NO_LABEL = re.compile(
    r"\b(?:not|no|nor|none|never|wrong\w*|incorrect\w*|false\w*|invalid|except\w*|without|avoid\w*|unlikely|if|unless|or"
    r"|eliminat\w*|exclud\w*|reject\w*|discard\w*|ruled|previous\w*|former\w*|old|initial\w*|original\w*|earlier|before"
    r"|guess\w*|maybe|perhaps|possib\w*|probab\w*|distract\w*|alternativ\w*|instead|rather|than|opposite|antonym|contrast"
    r"|errors?|mistakes?|question|questions|example|examples|e\.g|unlike|versus|vs|other|others|also|but|wait|actually"
    r"|correction|sorry|hmm|misconception|myth|trap|step|given|input|start|yes)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_GLOSS = re.compile(r"(?P<words>[^()]*[^\W\d_]{2}[^()]*?)\s\((?P<gloss>[^()]{1,80})\)")
_NO_GLOSS = re.compile(
    rf"{UNSURE.pattern}|\b(?:and|also|formerly|previously|instead|rather|actually|yes|true|correct|right|sorry|wait"
    r"|guess|unsure|unclear|uncertain|unknown|likely|doubt\w*|invalid|rejected|misspel\w*|typo|vs|versus|almost|nearly)\b"
    r"|[/|,;]",
    re.IGNORECASE,
)
_ACRONYM = re.compile(r"[A-Z][A-Z0-9]{1,5}")
_MARKED = re.compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_SENTENCE = re.compile(r"[A-Z][\w'\u2019, -]*\s(?:\*\*|`)[^*`\n]{1,80}(?:\*\*|`)(?:\s[\w'\u2019, -]*)?[.!]?")
_BOLD = re.compile(r"(?<![\w)*])\*\*(?=[^\s*])([^*\n]{1,80})(?<!\s)\*\*(?![\w(*])")
_ITEM = re.compile(r"(?:[-*\u2022]|(\d{1,2})[.)])\s{1,3}(\S.{0,80})")
_SUBJECT = re.compile(r"the (?:[a-z]{2,20} ){1,3}(?:is|are|was|were):? ", re.IGNORECASE)
_IS = re.compile(r"(?:it|there|this|that|he|she|they) (?:is|are|was|were) (?:called |named )?", re.IGNORECASE)
_DECREASE = re.compile(
    r"(?:(?:an?|the) )?(?:decrease|decline|drop|fall|reduction|loss) (?:of|by) (?=[$€£]?\.?\d)"
    r"|down (?:by )?(?=[$€£]?\.?\d)",
    re.IGNORECASE,
)
_BELOW_ZERO = re.compile(r"(\d[^-]{0,20}?)\sbelow\szero", re.IGNORECASE)
_TEXT = re.compile(r"\$?\\text\s?\{(.*)\}\$?", re.DOTALL)
_PLAIN = re.compile(r"[\w ]*")
_TRUTHS = frozenset(("yes", "no", "true", "false"))
_RATIO = re.compile(r"\d+(?:\.\d+)?(?: to \d+(?:\.\d+)?){1,3}")


def rewordings(gold: str, kind: str, answer: str) -> Iterator[str]:
    """Further readings of an answer in view of the gold answer, both as they were written."""
    answer = answer.strip()
    if len(answer) > MAX_LENGTH:
        return
    if (marked := _only_mark(answer)) is not None:
        yield marked
    if "**" in answer and (unmarked := _BOLD.sub(r"\1", answer)) != answer:
        yield unmarked
    if "\n" in answer and (items := _items(answer)):
        yield ", ".join(items)
    if kind == "choice":
        return
    if kind == "number":
        yield from _number(gold, answer)
    if ": " in answer and ":" not in gold and (label := _LABEL.match(answer)) and not _NO_LABEL.search(label["label"]):
        yield answer[label.end() :]
    if kind in ("words", "code") and gold.lower() not in _TRUTHS:
        yield from _without_gloss(gold, answer)
        if (match := _IS.match(answer)) and not UNSURE.search(answer[: match.end()]):
            yield answer[match.end() :]
        if (match := _SUBJECT.match(answer)) and not (UNSURE.search(match[0]) or _NO_LABEL.search(match[0])):
            yield answer[match.end() :]


def in_text(answer: str) -> str | None:
    r"""``**Paris**`` of ``\text{**Paris**}``; ``None`` for other answers, also for plain words in it."""
    match = _TEXT.fullmatch(answer.strip())
    return match[1] if match and not _PLAIN.fullmatch(match[1]) else None


def shorter_gold(gold: str, answer: str) -> str | None:
    """A gold answer without the acronym in brackets at its end, if the answer has no brackets."""
    match = _GLOSS.fullmatch(gold) if gold.endswith(")") and "(" not in answer else None
    return match["words"] if match and _ACRONYM.fullmatch(match["gloss"]) else None


def _number(gold: str, answer: str) -> Iterator[str]:
    """``2:3`` for ``2 to 3``, ``-3.2%`` for ``a decrease of 3.2%`` and ``-5 °C`` for ``5 °C below zero``."""
    if ":" in gold and ":" not in answer and _RATIO.fullmatch(answer.rstrip(".")):
        yield answer.replace(" to ", ":")
    if gold.lstrip("$ \\").startswith(("-", "\u2212", "\u2013", "minus")):
        if match := _DECREASE.match(answer):
            yield f"-{answer[match.end() :]}"
        if match := _BELOW_ZERO.fullmatch(answer.rstrip(".")):
            yield f"-{match[1]}"


def _without_gloss(gold: str, answer: str) -> Iterator[str]:
    """``Usain Bolt`` of ``Usain Bolt (Jamaica)``; ``AAPL`` of ``Apple Inc. (AAPL)``."""
    match = _GLOSS.fullmatch(answer.rstrip(".")) if "(" in answer and "(" not in gold else None
    if match is None or _NO_GLOSS.search(match["gloss"]):
        return
    yield match["words"]
    words = match["words"]
    if _ACRONYM.fullmatch(gold) and match["gloss"] == gold and words[:1].isupper() and not UNSURE.search(words):
        yield match["gloss"]


def _items(answer: str) -> list[str] | None:
    """The items of a list with one item on each line, numbered from 1 or marked by a sign."""
    matches = [_ITEM.fullmatch(line.strip()) for line in answer.split("\n") if line.strip()]
    items = [
        match[2].rstrip(",;. ") for place, match in enumerate(matches, 1) if match and match[1] in (None, str(place))
    ]
    return items if len(items) == len(matches) > 1 else None


def _only_mark(answer: str) -> str | None:
    """The only bold text or code in a sentence that denies, doubts and compares nothing."""
    if "**" not in answer and "`" not in answer:
        return None
    marks = _MARKED.findall(answer)
    if len(marks) != 1 or not _SENTENCE.fullmatch(answer):
        return None
    around = _MARKED.sub("", answer)
    return None if UNSURE.search(around) or _NO_LABEL.search(around) else marks[0][1]
