r"""Abbreviations that an answer defines: ``\boxed{2\mu g}``, where ``$\mu = \frac{m_1m_2}{m_1+m_2}$``."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from ..spelling.normal import normal
from .grammar import VARIABLE

MAX_DEFINITIONS = 6
MAX_LENGTH = 500

_NAME = r"(?:[A-Za-z]|\\[a-z]{2,8})(?:_(?:[A-Za-z\d]|\{(?:\\text\{)?[A-Za-z\d]{1,9}\}?\}))?"
_DEFINED = lazy_compile(
    r"(?:\b(?:[Ww]here|[Ww]ith|[Ll]et|[Ff]or|[Dd]efine|[Dd]efining|[Dd]enoting|and|or)\b[^$\n.=]{0,20}|,\s)"
    rf"(?:\$|\\\()\s?(?P<name>{_NAME})\s?(?::=|=|\\equiv)\s?(?P<value>[^$=]{{1,120}}?)\s?(?:\$|\\\))"
)


def written_out(answer: str, gold: str, text: str) -> str | None:
    """An answer with the values of the names that the text around it defines and the gold answer lacks.

    ``answer`` and ``gold`` are in normal spelling. A name with two values, and one whose value has itself, is none.
    """
    if len(answer) + len(gold) > MAX_LENGTH or not VARIABLE.search(gold):
        return None
    values: dict[str, str] = {}
    for match in list(_DEFINED.finditer(text))[-MAX_DEFINITIONS:]:
        name, value = normal(match["name"]), normal(match["value"])
        if values.setdefault(name, value) != value:
            return None
    right = answer.rpartition("=")[2]
    for name, value in values.items():
        before = r"(?<!\\)(?<![A-Za-z]{2})" if name[0] != "\\" else ""
        used = re.compile(rf"{before}{re.escape(name)}(?![A-Za-z_'])")
        if used.search(right) and not used.search(gold) and not used.search(value):
            right = used.sub(f"({value})".replace("\\", r"\\"), right)
    return right if right != answer.rpartition("=")[2] and len(right) <= MAX_LENGTH else None
