"""The verdicts that a row of scores holds, by name: the total and every part, at any depth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from grpo_env.errors import UsageError, nearest
from grpo_env.files.reader import SURROGATE

from .rows import ScoreRow

TOTAL = "total"


class Verdict(NamedTuple):
    """One value of a row with its reasons. ``value`` is ``None`` if unscored; steps are as in the file."""

    value: float | None
    status: str
    answer: str | None = None
    gold: str | None = None
    explanation: str = ""
    steps: Sequence[Mapping[str, Any]] = ()


def verdicts(row: ScoreRow) -> dict[str, Verdict]:
    """All verdicts of a row: the total, then the parts, those inside others as ``outer.inner``, parents first.

    Raises ``UsageError`` for what ``grpo_env score`` does not write.
    """
    whole = Verdict(total(row), row["status"], explanation=row.get("explanation") or "")
    return {TOTAL: whole, **dict(_walk(row, row["parts"], ""))}


def total(row: ScoreRow) -> float | None:
    """The reward, or ``None`` if unscored. Raises ``UsageError``."""
    return _number(row, row.get("total"))


def metric(row: ScoreRow) -> str:
    """The name of the part that the task measures by. Raises ``UsageError``."""
    name = row.get("metric")
    if not isinstance(name, str):
        raise UsageError(f"{where(row)}: no key 'metric' says what the task measures; name a part with --part")
    return name


def named(row: ScoreRow, name: str, found: Mapping[str, Verdict]) -> str:
    """The full name of a part: ``name`` itself or ``outer.name``. Raises ``UsageError`` with the nearest one."""
    full = name if name in found else next((known for known in found if known.endswith(f".{name}")), None)
    if full is None:
        raise UsageError(f"{where(row)}: no part is called {name!r}; {nearest(name, found)}")
    return full


def verdict(row: ScoreRow, name: str) -> Verdict:
    """The part called ``name``, or the total. Raises ``UsageError`` with the nearest name."""
    found = verdicts(row)
    return found[named(row, name, found)]


def group(row: ScoreRow) -> str:
    """What the rows of one group have in common."""
    return str(row.get("group", row["id"]))


def prompt(row: ScoreRow) -> str | list[dict[str, str]] | None:
    """The prompt as text or as a chat, whose messages have ``role`` and ``content`` alone."""
    given = row.get("prompt")
    if isinstance(given, str) and given.startswith('[{"role": '):  # how Parquet holds a chat among texts
        with suppress(ValueError):
            given = json.loads(given)
    if isinstance(given, list):
        return [{"role": message["role"], "content": message["content"]} for message in given]
    return given


def valid(text: str) -> str:
    """Text with U+FFFD for lone surrogates, which a model can write and neither Parquet nor tokenizers take."""
    return SURROGATE.sub("\ufffd", text)


def where(row: ScoreRow) -> str:
    """The row, for messages."""
    return f"row {row['id']!r}, completion {row['completion']}"


def _walk(row: ScoreRow, parts: Any, above: str) -> Iterator[tuple[str, Verdict]]:
    if not isinstance(parts, dict):
        raise UsageError(f"{where(row)}: 'parts' must be a mapping, found {type(parts).__name__}")
    for name, part in parts.items():
        if part is None:  # in Parquet every row has the columns of all parts
            continue
        if not isinstance(part, dict) or not {"value", "status"} <= part.keys():
            raise UsageError(f"{where(row)}: part {name!r} is not as grpo_env score writes it")
        reasons = part.get("answer"), part.get("gold"), part.get("explanation") or "", part.get("steps") or ()
        yield above + name, Verdict(_number(row, part["value"]), part["status"], *reasons)
        yield from _walk(row, part.get("parts") or {}, f"{above}{name}.")


def _number(row: ScoreRow, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{where(row)}: a value must be a finite number or null, found {value!r}")
    return float(value)
