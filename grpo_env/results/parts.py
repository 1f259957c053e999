"""The scores in a row of a scores file, by name: the total and every part, at any depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from grpo_env.core import Score, StepScore
from grpo_env.errors import UsageError, nearest

from .rows import ScoreRow, location

TOTAL = "total"


def row_score(row: ScoreRow) -> Score:
    """The total with all its parts: the inverse of ``scoring.score_row``. Raises ``UsageError``."""
    fields = {key: row.get(key) for key in ("explanation", "parts", "steps", "seconds")}
    try:
        return _score(TOTAL, {"value": row["total"], "status": row["status"], "weight": 1.0, **fields})
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{location(row)}: not a row that grpo_env score wrote ({type(error).__name__}: {error})"
        ) from error


def named_parts(score: Score, prefix: str = "") -> Iterator[tuple[str, Score]]:
    """All parts of a score with their names, nested ones as ``outer.inner``, parents first."""
    for part in score.parts:
        name = prefix + part.name
        yield name, part
        yield from named_parts(part, f"{name}.")


def named_scores(row: ScoreRow) -> dict[str, Score]:
    """The total and all parts by name, parents first. Raises ``UsageError``."""
    score = row_score(row)
    return {TOTAL: score, **dict(named_parts(score))}


def full_name(row: ScoreRow, name: str, scores: Mapping[str, Score]) -> str:
    """The dotted name of the first part called ``name``. Raises ``UsageError`` with the nearest name."""
    if name in scores:
        return name
    full = next((known for known in scores if known.endswith(f".{name}")), None)
    if full is None:
        raise UsageError(f"{location(row)}: no part is called {name!r}; {nearest(name, scores)}")
    return full


def part_score(row: ScoreRow, name: str) -> Score:
    """The part called ``name``, or the total. Raises ``UsageError`` with the nearest name."""
    scores = named_scores(row)
    return scores[full_name(row, name, scores)]


def total(row: ScoreRow) -> float | None:
    """The reward, or ``None`` if unscored. Raises ``UsageError``."""
    try:
        return _number(row["total"])
    except (TypeError, ValueError) as error:
        raise UsageError(f"{location(row)}: {error}") from error


def _score(name: str, fields: Mapping[str, Any]) -> Score:
    parts = (fields.get("parts") or {}).items()
    return Score(
        _number(fields["value"]),
        fields["status"],
        name,
        weight=fields.get("weight") or 0.0,
        process=fields.get("process") or 0.0,
        answer=fields.get("answer"),
        gold=fields.get("gold"),
        explanation=fields.get("explanation") or "",
        # In Parquet every row has the columns of all parts, null where the row has no such part.
        parts=tuple(_score(inner, part) for inner, part in parts if part is not None),
        steps=tuple(StepScore(**step) for step in fields.get("steps") or ()),
        seconds=fields.get("seconds") or 0.0,
    )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"a value must be a finite number or null, found {value!r}")
    return float(value)
