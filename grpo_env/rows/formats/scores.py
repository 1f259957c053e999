"""Scores that ``grpo_env score`` or a training run wrote: a row is one completion (docs/scoring.md)."""

from __future__ import annotations

from typing import Any

from grpo_env.errors import UsageError

from .file_format import PROMPT_RECORDED, FileFormat, Row, converted, unpacked
from .packed_example import COLUMN


def _row(row: Row) -> dict[str, Any]:
    if not isinstance(row["text"], str):
        raise UsageError("the scores were written without texts (--no-text); score the file of completions instead")
    own, _ = unpacked(row, COLUMN)  # of a run, whose rows have all columns of the data
    own = {**own, "id": row["id"], PROMPT_RECORDED: row.get(PROMPT_RECORDED)}
    return converted(own, [row["text"]], group=row.get("group"), own_gold=_gold_answer(row))


def _gold_answer(row: Row) -> str | None:
    """The gold answer of the metric, or else of the first part that has one."""
    parts = row["parts"]
    metric = parts.get(row.get("metric"))
    return next((part["gold"] for part in ([metric] if metric else parts.values()) if part.get("gold")), None)


def _number(row: Row) -> Any:
    return row["completion"]


SCORES = FileFormat(
    "grpo_env scores",
    columns=("id", "completion", "total", "parts", "text"),
    row_function=_row,
    gold=("own_gold",),
    number=_number,
)
