"""The scores in a row of a scores file, by name: the total and every part, at any depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_env.core import StepScore
from grpo_env.errors import UsageError, nearest

from .rows import ScoreRow, location

TOTAL = "total"


class PartScore(NamedTuple):
    """The score of a part, or the total: a ``Score`` as a row has it, without its nested parts.

    Reports read millions of them, and a ``Score`` takes several times as long to create.
    """

    value: float | None
    status: str
    weight: float = 0.0
    process: float = 0.0
    answer: str | None = None
    gold: str | None = None
    kind: str | None = None
    explanation: str = ""
    rule: str = ""
    steps: Sequence[Mapping[str, Any]] = ()
    """As in the file."""

    def step_scores(self) -> list[StepScore]:
        """``steps`` as ``StepScore``. Raises ``TypeError``."""
        return [StepScore(**step) for step in self.steps]


def named_scores(row: ScoreRow) -> dict[str, PartScore]:
    """The total and all parts by name, nested ones as ``outer.inner``, parents first. Raises ``UsageError``."""
    return {TOTAL: total_score(row), **named_parts(row)}


def total_score(row: ScoreRow) -> PartScore:
    """The total, which has no weight. Raises ``UsageError``."""
    fields = {key: row.get(key) for key in ("status", "explanation", "rule", "steps")}
    return _part_score(row, {"value": row["total"], **fields})


def named_parts(row: ScoreRow) -> dict[str, PartScore]:
    """All parts by name, nested ones as ``outer.inner``, parents first. Raises ``UsageError``."""
    return dict(_walk(row, row["parts"], ""))


def is_called(full: str, name: str) -> bool:
    """Whether the part with the dotted name ``full`` is the one that is called ``name``, of which a task has one."""
    return full == name or full.endswith(f".{name}")


def part_called(parts: Mapping[str, PartScore], name: str | None) -> PartScore | None:
    """The part called ``name``, if there is one."""
    return next((part for full, part in parts.items() if name and is_called(full, name)), None)


def full_name(row: ScoreRow, name: str, scores: Mapping[str, PartScore]) -> str:
    """The dotted name of the part called ``name``. Raises ``UsageError`` with the nearest name."""
    full = next((known for known in scores if is_called(known, name)), None)
    if full is None:
        raise UsageError(f"{location(row)}: no part is called {name!r}; {nearest(name, scores)}")
    return full


def part_score(row: ScoreRow, name: str) -> PartScore:
    """The part called ``name``, or the total. Raises ``UsageError`` with the nearest name."""
    scores = named_scores(row)
    return scores[full_name(row, name, scores)]


def _walk(row: ScoreRow, parts: Any, prefix: str) -> Iterator[tuple[str, PartScore]]:
    if not isinstance(parts, dict):
        raise UsageError(f"{location(row)}: 'parts' must be a mapping, found {type(parts).__name__}")
    for name, fields in parts.items():
        if fields is None:  # in Parquet every row has the columns of all parts
            continue
        full = prefix + name
        if not isinstance(fields, dict) or fields.keys().isdisjoint(("value", "status")):
            raise UsageError(f"{location(row)}: part {full!r} was not written by grpo_env score")
        score = _part_score(row, fields)
        nested = list(_walk(row, fields.get("parts") or {}, f"{full}."))
        yield full, score if score.explanation else score._replace(explanation=_of_parts(nested, full))
        yield from nested


def _of_parts(nested: Sequence[tuple[str, PartScore]], name: str) -> str:
    """The explanation of a composite without one of its own: those of its parts."""
    parts = ((full.removeprefix(f"{name}."), score) for full, score in nested)
    return "; ".join(f"{part}: {score.explanation}" for part, score in parts if "." not in part and score.explanation)


def _part_score(row: ScoreRow, fields: Mapping[str, Any]) -> PartScore:
    """A part whose row leaves out the status ``scored``, and a process weight that is the weight."""
    weight, process = fields.get("weight") or 0.0, fields.get("process")
    return PartScore(
        _number(row, fields.get("value")),
        fields.get("status") or "scored",
        weight,
        weight if process is None else process,
        fields.get("answer"),
        fields.get("gold"),
        fields.get("kind"),
        fields.get("explanation") or "",
        fields.get("rule") or "",
        fields.get("steps") or (),
    )


def _number(row: ScoreRow, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{location(row)}: a value must be a finite number or null, found {value!r}")
    return float(value)
