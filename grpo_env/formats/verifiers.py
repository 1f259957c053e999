"""Prime Intellect's verifiers: results of version 0.1 (one rollout a row) and traces of 0.4 (one episode a row)."""

from __future__ import annotations

from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, Row, converted, error_message, unpacked


def _result_row(row: Row) -> dict[str, Any]:
    """verifiers 0.1, ``state_to_output``."""
    if row.get("error"):
        raise UsageError(f"the rollout failed: {error_message(row['error'])}")
    completion = row["completion"]
    single_turn = not isinstance(completion, list) or len(completion) == 1
    tokens = (row.get("token_usage") or {}).get("output_tokens") if single_turn else None
    truncated = row.get("is_truncated")
    return converted(
        row,
        [completion],
        id=str(row["example_id"]),
        group=str(row["example_id"]),
        finish_reason=[None if truncated is None else "length" if truncated else "stop"],
        num_tokens=[None if tokens is None else int(tokens)],
    )


def _trace_row(row: Row) -> dict[str, Any]:
    """verifiers 0.4, ``write_episode``: the completion is the agent's last reply."""
    if len(row["traces"]) != 1:
        raise UsageError(f"an episode of {len(row['traces'])} traces; expected the trace of one agent")
    trace = row["traces"][0]
    nodes, calls, task = trace.get("nodes") or [], trace.get("calls") or [], trace["task"]
    replies = [index for index, node in enumerate(nodes) if node.get("sampled")]
    errors = trace.get("errors")
    if not replies or (errors and not trace.get("ok")):
        raise UsageError(f"the rollout failed: {error_message(errors[-1] if errors else None)}")
    columns, id = unpacked(task["data"], "example")
    return converted(
        {**row, **columns},
        [[nodes[replies[-1]]["message"]]],
        id=id if id is not None else str(columns.get("idx", task.get("key", row.get("id")))),
        prompt=[node["message"] for node in nodes[: replies[0]]],
        group=task.get("hash"),
        finish_reason=[calls[-1].get("finish_reason")] if calls else None,
        num_tokens=[calls[0]["usage"]["completion_tokens"]] if len(calls) == 1 and calls[0].get("usage") else None,
    )


VERIFIERS_RESULTS = FileFormat(
    "verifiers results", columns=("example_id", "completion", "reward"), row_function=_result_row, gold=("answer",)
)
VERIFIERS_TRACES = FileFormat(
    "verifiers traces", columns=("traces", "task", "env"), row_function=_trace_row, gold=("answer",)
)
