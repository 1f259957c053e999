"""The setting ``decimal: comma``: ``33,75`` is 33.75 and ``9.612`` is 9612."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from grpo_env.lazy_regex import lazy_compile

Decimal: TypeAlias = Literal["point", "comma"]

_NUMBER = lazy_compile(r"(?<![\w.,])\d+(?:\.\d{3})*(?:,\d+)?(?![\w.,]*\d)")


def with_points(text: str) -> str:
    """A text whose numbers have decimal commas and periods between thousands, with decimal points."""
    return _NUMBER.sub(_with_point, text)


def _with_point(match: re.Match[str]) -> str:
    return match.group().replace(".", "").replace(",", ".")
