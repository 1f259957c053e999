"""Prime Intellect's verifiers: results of version 0.1 (one rollout a row) and traces of 0.4 (one episode a row)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, Row, converted, error_message, unpacked

EPISODE = "grpo_env_episode"
"""The key of ``Trace.info`` under which ``integrations.verifiers`` leaves turns and states."""


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
        tools=row.get("tool_defs") or None,
    )


def _trace_row(row: Row) -> dict[str, Any]:
    """verifiers 0.4, ``write_episode``: the completion is the conversation on the path to the last message."""
    trace = _only_trace(row)
    path, calls, task, info = _last_path(trace["nodes"]), trace["calls"], trace["task"], trace["info"]
    first = next((index for index, node in enumerate(path) if node.get("sampled")), None)
    if first is None or (any(trace["errors"]) and not trace.get("ok")):
        raise UsageError(f"the rollout failed: {error_message(trace['errors'][-1])}")
    columns, id = unpacked(task["data"], "example")
    recorded = dict(info.get(EPISODE, {}))
    text = recorded.pop("text", None)
    return converted(
        {**row, **columns, **recorded},
        [list(map(_message, path[first:])) if text is None else text],
        id=str(columns.get("idx", task.get("key", row.get("id")))) if id is None else id,
        prompt=[node["message"] for node in path[:first]],
        group=task.get("hash"),
        finish_reason=[recorded.get("finish_reason") or _finish(trace, calls)],
        num_tokens=[_tokens(calls)],
        tools=trace.get("tools"),
        environment_reward=None if "grpo_env" in info else _reward(trace.get("rewards")),
    )


def _only_trace(row: Row) -> dict[str, Any]:
    """The trace of an episode, with empty values for what it does not have."""
    if len(row["traces"]) != 1:
        raise UsageError(f"an episode of {len(row['traces'])} traces; expected the trace of one agent")
    trace = {key: value for key, value in row["traces"][0].items() if value}
    return {"nodes": [], "calls": [], "errors": [None], "info": {}, **trace}


def _last_path(nodes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages from the first to the last one; those of other branches of the conversation are left out."""
    path: list[Mapping[str, Any]] = []
    at: Any = len(nodes) - 1 if nodes else None
    while isinstance(at, int) and 0 <= at < len(nodes) and len(path) < len(nodes):
        path.append(nodes[at])
        at = nodes[at].get("parent")
    return path[::-1]


def _message(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message; one of the assistant that was not sampled is no turn, but part of what the model was told."""
    message: Mapping[str, Any] = node["message"]
    fabricated = message.get("role") == "assistant" and not node.get("sampled")
    return {**message, "role": "context"} if fabricated else message


def _finish(trace: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> str | None:
    stop = trace.get("stop_condition")
    if stop in ("max_input_tokens", "max_output_tokens", "max_total_tokens"):
        return "length"
    return "turns" if stop == "max_turns" else calls[-1].get("finish_reason") if calls else None


def _tokens(calls: Sequence[Mapping[str, Any]]) -> int | None:
    usages = [call.get("usage") for call in calls if not call.get("error")]
    return sum(usage["completion_tokens"] for usage in usages if usage) if usages and all(usages) else None


def _reward(rewards: Any) -> float | None:
    """The weighted sum of a trace's rewards, which is what the environment paid."""
    if not isinstance(rewards, Mapping) or not rewards:
        return None
    return float(sum(reward["score"] * reward.get("weight", 1.0) for reward in rewards.values()))


VERIFIERS_RESULTS = FileFormat(
    "verifiers results", columns=("example_id", "completion", "reward"), row_function=_result_row, gold=("answer",)
)
VERIFIERS_TRACES = FileFormat(
    "verifiers traces", columns=("traces", "task", "env"), row_function=_trace_row, gold=("answer",)
)
