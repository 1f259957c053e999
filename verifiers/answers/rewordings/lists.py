"""Lists: one item on each line, numbered in one line, with arrows, semicolons or brackets, after "both".

The order of items counts in a list with arrows, which has to be that of the gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grpo_env.lazy_regex import lazy_compile

from ..json_value import text_list
from ..spelling.spellings import ARROW
from ..words.arrangements import numbered_items

_ITEM = lazy_compile(r"(?:[-*\u2022]|(\d{1,2})[.)])\s{1,3}(\S.{0,80})")
_ARROW = lazy_compile(rf"\s?(?:{ARROW})\s?")
_COMMA = lazy_compile(r"\s?,\s(?:and )?")
_COMMA_OR_THEN = lazy_compile(r"\s?,\s(?:and |then )?")
_QUOTED_LIST = lazy_compile(r"\['[^'\",\[\]]+'(?:, ?'[^'\",\[\]]+'){1,20}\]")


def relisted(gold: str, kind: str, answer: str) -> Iterator[str]:
    """A list in the signs of the gold answer."""
    if "\n" in answer and (items := _items(answer)):
        yield ("; " if ";" in gold else ", ").join(items)
    if answer.lstrip(" (").startswith("1") and (numbered := numbered_items(answer)):  # 1. eggs 2. milk 3. flour
        yield ("; " if ";" in gold else ", ").join(numbered)
    if kind in ("set", "words") and _ARROW.search(answer):  # B → A → C
        yield from [gold] if _same(_ARROW.split(answer.strip(" $.")), _COMMA_OR_THEN.split(gold)) else []
    if kind == "code" and "," in answer and _ARROW.search(gold):
        yield from [gold] if _same(_COMMA.split(answer.rstrip(".")), _ARROW.split(gold)) else []
    if kind in ("words", "code") and " to " in gold and _ARROW.search(answer):  # Lisbon → Porto
        yield _ARROW.sub(" to ", answer)
    if kind == "words":
        if "," in gold:
            yield from _listed(answer)
        if ("," in gold or " and " in gold) and answer[:5].lower() == "both ":
            yield answer[5:]
        if gold[:5].lower() == "both ":
            yield gold[:5] + answer


def _same(items: Sequence[str], others: Sequence[str]) -> bool:
    return [item.lower() for item in items] == [other.lower() for other in others]


def quoted_items(gold: str, answer: str) -> str | None:
    """``cat, dog`` of a gold answer ``['cat', 'dog']``, for an answer without brackets."""
    return ", ".join(re.split("', ?'", gold[2:-2])) if _QUOTED_LIST.fullmatch(gold) and "[" not in answer else None


def _items(answer: str) -> list[str] | None:
    """The items of a list with one item on each line, numbered from 1 or marked by a sign."""
    matches = [_ITEM.fullmatch(line.strip()) for line in answer.split("\n") if line.strip()]
    items = [
        match[2].rstrip(",;. ") for place, match in enumerate(matches, 1) if match and match[1] in (None, str(place))
    ]
    return items if len(items) == len(matches) > 1 else None


def _listed(answer: str) -> Iterator[str]:
    """``apple, banana`` of ``apple; banana`` and ``["apple", "banana"]``."""
    items = answer.rstrip(".").split(";") if ";" in answer and "," not in answer else None
    if answer.startswith("[") and answer.endswith("]"):
        items = text_list(answer)
    if items and len(items) > 1 and all(item.strip() and not re.search("[,;]", item) for item in items):
        yield ", ".join(item.strip() for item in items)
