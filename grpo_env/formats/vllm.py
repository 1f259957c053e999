"""vLLM 0.33: output of ``vllm run-batch``. It has the shape of an OpenAI batch, but its ids begin with ``vllm-``."""

from __future__ import annotations

from dataclasses import replace

from .file_format import Row
from .openai_batch import OPENAI_BATCH


def _written_by_vllm(row: Row) -> bool:
    return str(row.get("id")).startswith("vllm-")


VLLM_BATCH = replace(OPENAI_BATCH, name="vLLM batch output", condition=_written_by_vllm)
