"""Output of OpenAI's batch API and of ``vllm run-batch``, and saved responses in its shape.

A row is a request, and its choices are one group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, Row, converted, error_message


def _row(row: Row) -> dict[str, Any]:
    body = _response_body(row)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UsageError("the response has no choices (expected the body of a chat completion)")
    tokens = (body.get("usage") or {}).get("completion_tokens")
    token_ids = [choice.get("token_ids") for choice in choices]
    return converted(
        row,
        [choice["text"] if "text" in choice else [choice["message"]] for choice in choices],
        id=str(row["custom_id"]),
        finish_reason=[choice.get("finish_reason") for choice in choices],
        num_tokens=[tokens] if len(choices) == 1 else None,  # the usage is a sum over the choices
        token_ids=token_ids if all(token_ids) else None,
    )


def _response_body(row: Row) -> Mapping[str, Any]:
    """The body of a response, or the response itself if it was saved without its envelope."""
    response = row.get("response") or {}
    body = response.get("body") or (response if "choices" in response else {})
    status = response.get("status_code")
    error = row.get("error") or (body.get("error") if isinstance(body, Mapping) else body)
    if error or status not in (200, None) or not response:
        raise UsageError(f"the request failed: {f'status {status}, ' if status else ''}{error_message(error)}")
    return body


OPENAI_BATCH = FileFormat("OpenAI batch output", columns=("custom_id", "response"), row_function=_row, joins="id")
