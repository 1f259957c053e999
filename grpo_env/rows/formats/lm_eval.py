"""lm-eval 0.4 with ``--log_samples``, and lmms-eval: a row is a document with its repeats, which are one group.

lmms-eval (``EvaluationTracker.save_results_samples``) writes ``input`` for ``doc``, lists of one item as the item, and
no ``resps`` that equal ``filtered_resps``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, GoldTemplate, Row, converted


def _row(row: Row) -> dict[str, Any]:
    responses = row.get("resps", row.get("filtered_resps"))
    if isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    texts = [responses] if isinstance(responses, str) else responses
    if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
        raise UsageError("no generated text in 'resps': is this a task of log-likelihoods?")
    doc = row["doc"] if isinstance(row.get("doc"), Mapping) else {}
    columns = {**row, **doc}
    return converted(columns, texts, id=str(row["doc_id"]), prompt=_prompt(row), own_gold=row["target"])


def _prompt(row: Row) -> Any:
    prompt: Any = row.get("input")
    with suppress(KeyError, TypeError):
        prompt = row["arguments"]["gen_args_0"]["arg_0"]
    # A chat is JSON in a list of one (lm_eval.models.api_models.JsonChatStr, a tuple).
    if isinstance(prompt, list) and len(prompt) == 1:
        with suppress(ValueError, TypeError):
            prompt = json.loads(prompt[0])
    return prompt


def _has_responses(row: Row) -> bool:
    return not row.keys().isdisjoint(("resps", "filtered_resps"))


def _keep_first_filter(lm_eval: FileFormat, rows: Sequence[Row], template: GoldTemplate | None) -> FileFormat:
    return replace(lm_eval, filter=rows[0].get("filter"))


LM_EVAL_SAMPLES = FileFormat(
    "lm-eval samples",
    columns=("doc_id", "target"),
    row_function=_row,
    condition=_has_responses,
    adapt=_keep_first_filter,
    gold=("own_gold",),
    template_first=True,
)
