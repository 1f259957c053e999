"""vLLM 0.33: what people save of ``LLM.generate`` and ``LLM.chat``. ``vllm run-batch`` writes OpenAI's batches.

A row is a ``RequestOutput`` (``vars`` of it, ``outputs`` as dictionaries), or a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .file_format import FileFormat, Row, converted, join_unless_gold


def _has_outputs(row: Row) -> bool:
    outputs = row["outputs"]
    return (
        isinstance(outputs, list)
        and bool(outputs)
        and all(isinstance(output, Mapping) and isinstance(output.get("text"), str) for output in outputs)
    )


def _row(row: Row) -> dict[str, Any]:
    outputs = row["outputs"]
    token_ids = [output.get("token_ids") for output in outputs]
    return converted(
        row,
        [output["text"] for output in outputs],
        prompt=row["prompt"],
        finish_reason=[output.get("finish_reason") for output in outputs],
        num_tokens=[None if ids is None else len(ids) for ids in token_ids],
        token_ids=token_ids if all(token_ids) else None,
    )


VLLM_GENERATE = FileFormat(
    "vLLM LLM.generate output",
    columns=("prompt", "outputs"),
    row_function=_row,
    condition=_has_outputs,
    adapt=join_unless_gold,
    joins="prompt",
)
