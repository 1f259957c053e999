r"""Without markup.

Bold text or code that is the only one in a sentence (``The machine runs **Ubuntu**.``), bold (``**16** students``),
italics (``*BRCA1*``), links (``[Paris](https://paris.fr)``, ``<a@b.com>``, ``mailto:a@b.com``), code ticks in a code
(``commit `a3f5c9e` ``), ``\text{...}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from .labels import NO_LABEL
from .mathematics import MATHEMATICS
from .sentences import is_against

MAX_WRAPPED = 1500  # characters of an answer in \text{…}
MAX_NESTING = 4

_MARKED = lazy_compile(r"(\*\*|`)([^*`\n]{1,80})\1")
_SENTENCE = lazy_compile(r"[A-Z][\w'\u2019, -]*\s(?:\*\*|`)[^*`\n]{1,80}(?:\*\*|`)(?:\s[\w'\u2019, -]*)?[.!]?")
_BOLD = lazy_compile(r"(?<![\w)*])\*\*(?=[^\s*])([^*\n]{1,80})(?<!\s)\*\*(?![\w(*])")
_ITALIC = lazy_compile(r"(?<![\w)*])\*(?=[^\s*])([^*\n]{1,80})(?<!\s)\*(?![\w(*])")
_TEXT = lazy_compile(r"\$?\\(?:text(?:bf|it|rm)?|mathrm|mbox)\s?\{(.*)\}\$?", re.DOTALL)
_WORD = lazy_compile(r"[^\W\d]*")
_LINK = lazy_compile(r"\[([^\[\]\n]{1,150})\]\((?:(?:https?://)([^()\s]{1,300})|mailto:([^()\s]{1,100}))\)")
_ADDRESS = lazy_compile(r"(?:https?://)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?:[/?#]\S*)?)|(\S+@\S+)")
_LINKED = lazy_compile(r"<(\S+)>|mailto:(\S+)")


def unmarked(gold: str, kind: str, answer: str) -> Iterator[str]:
    """An answer without its markup."""
    if (marked := _only_mark(answer)) is not None:
        yield marked
    if "**" in answer and (plain := _BOLD.sub(r"\1", answer)) != answer:
        yield plain
    if kind not in MATHEMATICS and answer.count("*") == 2 and (upright := _ITALIC.sub(r"\1", answer)) != answer:
        yield upright
    if "](" in answer and (linked := _without_links(answer)):
        yield linked
    if kind == "code":
        if ("@" in gold or "/" in gold) and (match := _LINKED.fullmatch(answer.rstrip("."))):
            yield match[1] or match[2]
        if answer.count("`") == 2:
            yield answer.replace("`", "")


def in_text(answer: str) -> str | None:
    r"""``**Paris**`` of ``\text{**Paris**}``; ``None`` for other answers, also for a single word in it."""
    match = _TEXT.fullmatch(answer.strip()) if len(answer) <= MAX_WRAPPED else None
    inner = match[1] if match else ""
    for _ in range(MAX_NESTING):
        match = _TEXT.fullmatch(inner)
        inner = match[1] if match else inner
    if inner.find("}") < inner.find("{") and "}" in inner:  # \\textbf{(A)} \\frac{1}{2}
        return None
    return None if _WORD.fullmatch(inner) or _TEXT.fullmatch(inner) else inner


def plain_text(answer: str) -> str:
    r"""``ACD`` of ``\text{ACD}``."""
    match = _TEXT.fullmatch(answer)
    return match[1] if match else answer


def _only_mark(answer: str) -> str | None:
    """The only bold text or code in a sentence that denies, doubts and compares nothing."""
    if "**" not in answer and "`" not in answer:
        return None
    marks = _MARKED.findall(answer)
    if len(marks) != 1 or not _SENTENCE.fullmatch(answer):
        return None
    around = _MARKED.sub("", answer)
    return None if is_against(around) or NO_LABEL.search(around) else marks[0][1]


def _without_links(answer: str) -> str | None:
    """A text with the text of each link in its place; ``None`` if the text of one is another address."""
    for link in _LINK.finditer(answer):
        address = _ADDRESS.fullmatch(link[1])
        target = (link[2] or link[3]).rstrip("/").lower()
        if address and (address[1] or address[2]).rstrip("/").lower() not in (target, target.removeprefix("www.")):
            return None
    text = _LINK.sub(r"\1", answer)
    return text if text != answer else None
