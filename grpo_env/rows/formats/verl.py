"""verl 0.9: dumps of rollouts (``rollout_data_dir``, ``validation_data_dir``) and files of its generation server."""

from __future__ import annotations

from typing import Any

from .file_format import FileFormat, Row, converted, group_key, unpacked


def _dump_row(row: Row) -> dict[str, Any]:
    """``_write_generations``: a row is one completion, decoded without special tokens."""
    columns, id = unpacked(row, "gts")
    group = group_key(row.get("step"), row["input"])
    return converted(columns, [row["output"]], id=id, prompt=row["input"], group=group)


def _generation_row(row: Row) -> dict[str, Any]:
    """``main_generation_server.py``: the dataset's Parquet file with a column of completions."""
    return converted(row, row["responses"])


VERL_DUMP = FileFormat(
    "verl dump",
    columns=("input", "output", "score", "step"),
    row_function=_dump_row,
    gold=("gts",),
    mixed_within="step",  # _balance_batch (trainer.balance_batch, on by default) reorders a step before it is dumped
)
VERL_GENERATION = FileFormat(
    "verl generation",
    columns=("responses", "reward_model"),
    row_function=_generation_row,
    gold=("reward_model", "ground_truth"),
)
