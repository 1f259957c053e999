"""TRL 1.16: the tables of completions that ``GRPOTrainer.log`` writes (``log_completions``).

A row is one completion; prompt and completion are both texts or both chats. The gold answer is among the columns if the
reward function logged it (``log_extra``) or the dataset came from ``grpo_env.integrations.trl``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, GoldTemplate, Row, converted, group_key, unpacked
from .packed_example import COLUMN


def _row(row: Row) -> dict[str, Any]:
    columns, id = unpacked(row, COLUMN)
    group = group_key(row["step"], row["prompt"])
    return converted(columns, [row["completion"]], id=id, prompt=row["prompt"], group=group)


def _join_unless_gold(trl: FileFormat, rows: Sequence[Row], template: GoldTemplate | None) -> FileFormat:
    if template is None:
        return trl
    return replace(trl, joins=not any(_has_gold(trl, row, template) for row in rows))


def _has_gold(trl: FileFormat, row: Row, template: GoldTemplate) -> bool:
    try:
        template(trl.convert(row) or {})
    except UsageError:
        return False
    return True


TRL_COMPLETIONS = FileFormat(
    "TRL completions",
    columns=("step", "prompt", "completion", "advantage"),
    row_function=_row,
    adapt=_join_unless_gold,
    joins_by_prompt=True,
)
