"""lm-eval 0.4 with ``--log_samples``: a row is a document with its repeats, which are one group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, GoldTemplate, Row, converted


def _row(row: Row) -> dict[str, Any]:
    responses = row["resps"]
    if not (isinstance(responses, list) and len(responses) == 1 and _are_texts(responses[0])):
        raise UsageError("no generated text in 'resps': is this a task of log-likelihoods?")
    doc = row["doc"] if isinstance(row["doc"], Mapping) else {}
    columns = {**row, **doc}
    return converted(columns, responses[0], id=str(row["doc_id"]), prompt=_prompt(row), own_gold=row["target"])


def _prompt(row: Row) -> Any:
    prompt: Any = None
    with suppress(KeyError, TypeError):
        prompt = row["arguments"]["gen_args_0"]["arg_0"]
    # A chat is JSON in a list of one (lm_eval.models.api_models.JsonChatStr, a tuple).
    if isinstance(prompt, list) and len(prompt) == 1:
        with suppress(ValueError, TypeError):
            prompt = json.loads(prompt[0])
    return prompt


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


def _keep_first_filter(lm_eval: FileFormat, rows: Sequence[Row], template: GoldTemplate | None) -> FileFormat:
    return replace(lm_eval, filter=rows[0].get("filter"))


LM_EVAL_SAMPLES = FileFormat(
    "lm-eval samples",
    columns=("doc_id", "doc", "resps", "target"),
    row_function=_row,
    adapt=_keep_first_filter,
    gold=("own_gold",),
    template_first=True,
)
