"""TRL 1.16: the tables of completions that ``GRPOTrainer.log`` writes (``log_completions``).

A row is one completion; prompt and completion are both texts or both chats, a completion with tools being the turns and
the results between them. The gold answer is among the columns if the
reward function logged it (``log_extra``) or the dataset came from ``grpo_env.integrations.trl``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .file_format import FileFormat, Row, converted, group_key, join_unless_gold, unpacked
from .packed_example import COLUMN

EPISODE = "grpo_env/episode"
"""The column in which ``integrations.trl`` logs turns and states."""


def _row(row: Row) -> dict[str, Any]:
    columns, id = unpacked(row, COLUMN)
    group = group_key(row["step"], row["prompt"])
    recorded = json.loads(row[EPISODE]) if row.get(EPISODE) else {"text": _without_nulls(row["completion"])}
    completion = recorded.pop("text")
    return converted({**columns, **recorded}, [completion], id=id, prompt=row["prompt"], group=group)


def _without_nulls(value: Any) -> Any:
    """Without the nulls by which Arrow gives all messages the same keys, and all tool calls the same arguments."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


TRL_COMPLETIONS = FileFormat(
    "TRL completions",
    columns=("step", "prompt", "completion", "advantage"),
    row_function=_row,
    adapt=join_unless_gold,
    joins="prompt",
)
