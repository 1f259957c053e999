"""Rows of other tools in the shape ``grpo_env score`` reads: a function for each tool, named after it.

Each gives the file's own columns and over them ``completions`` and, where the file has them, ``id``, ``prompt``,
``finish_reason``, ``num_tokens``, ``token_ids``, ``reasoning_content`` (lists with one for each completion) and
``group``. Each raises ``UsageError`` for a row that holds no completion.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from grpo_env.errors import UsageError

from .packed_example import COLUMN, is_packed, opened

Row = Mapping[str, Any]


def grpo_env(row: Row) -> dict[str, Any]:
    """Our own rows stay as they are."""
    return dict(row)


def scores(row: Row) -> dict[str, Any]:
    """What ``grpo_env score`` wrote: a row is one completion (docs/scoring.md)."""
    if not isinstance(row["text"], str):
        raise UsageError("the scores were written without texts (--no-text); score the completions' own file")
    return _shaped(row, [row["text"]], group=row.get("group"), own_gold=_gold_of(row))


def samples(row: Row) -> dict[str, Any]:
    """``samples.jsonl`` of a training run: a row is one completion (trainer/run/checkpoint.py)."""
    return _chats(row, [row["completion"]], finish_reason=[row.get("finish")], group=f"{row['step']}/{row['id']}")


def trl(row: Row) -> dict[str, Any]:
    """TRL 1.16, ``GRPOTrainer.log``: a row is one completion, its prompt and completion both texts or both chats."""
    found, id = _carried(row, COLUMN)
    return _chats(found, [row["completion"]], id=id, prompt=row["prompt"], group=_group(row["step"], row["prompt"]))


def verl_dump(row: Row) -> dict[str, Any]:
    """verl 0.9, ``_write_generations``: a row is one completion, decoded without special tokens."""
    found, id = _carried(row, "gts")
    return _chats(found, [row["output"]], id=id, prompt=row["input"], group=_group(row.get("step"), row["input"]))


def verl_generation(row: Row) -> dict[str, Any]:
    """verl 0.9, ``main_generation_server.py``: the dataset's Parquet with a column of completions."""
    responses = row["responses"]
    return _chats(row, [responses] if isinstance(responses, str) else responses)


def openai(row: Row) -> dict[str, Any]:
    """A line of an OpenAI batch's output, of ``vllm run-batch``'s, or a saved response. Choices are one group."""
    response = row.get("response") or {}
    body = response.get("body") or (response if "choices" in response else {})
    status = response.get("status_code")
    error = row.get("error") or (body.get("error") if isinstance(body, Mapping) else body)
    if error or status not in (200, None) or not response:
        raise UsageError(f"the request failed: {f'status {status}, ' if status else ''}{_reason(error)}")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UsageError("the response has no choices (expected the body of a chat completion)")
    tokens = (body.get("usage") or {}).get("completion_tokens")
    token_ids = [choice.get("token_ids") for choice in choices]
    return _chats(
        row,
        [choice["text"] if "text" in choice else [choice["message"]] for choice in choices],
        id=str(row["custom_id"]),
        finish_reason=[choice.get("finish_reason") for choice in choices],
        num_tokens=[tokens] if len(choices) == 1 else None,  # the usage is a sum over the choices
        token_ids=token_ids if all(token_ids) else None,
    )


def lm_eval(row: Row) -> dict[str, Any]:
    """lm-eval 0.4 with ``--log_samples``: a row is a document with its repeats, which are one group."""
    resps = row["resps"]
    if not (isinstance(resps, list) and len(resps) == 1 and _texts(resps[0])):
        raise UsageError("no generated text in 'resps': is this a task of log-likelihoods?")
    doc = row["doc"] if isinstance(row["doc"], Mapping) else {}
    prompt: Any = None
    with suppress(KeyError, TypeError):
        prompt = row["arguments"]["gen_args_0"]["arg_0"]
    # A chat is JSON in a list of its own (lm_eval.models.api_models.JsonChatStr, a tuple).
    if isinstance(prompt, list) and len(prompt) == 1:
        with suppress(ValueError, TypeError):
            prompt = json.loads(prompt[0])
    return _shaped({**row, **doc}, resps[0], id=str(row["doc_id"]), prompt=prompt, own_gold=row["target"])


def verifiers(row: Row) -> dict[str, Any]:
    """verifiers 0.1, ``state_to_output``: a row is one rollout."""
    if row.get("error"):
        raise UsageError(f"the rollout failed: {_reason(row['error'])}")
    completion = row["completion"]
    one_turn = not isinstance(completion, list) or len(completion) == 1
    tokens = (row.get("token_usage") or {}).get("output_tokens") if one_turn else None
    truncated = row.get("is_truncated")
    return _chats(
        row,
        [completion],
        id=str(row["example_id"]),
        group=str(row["example_id"]),
        finish_reason=[None if truncated is None else "length" if truncated else "stop"],
        num_tokens=[None if tokens is None else int(tokens)],
    )


def verifiers_trace(row: Row) -> dict[str, Any]:
    """verifiers 0.4, ``write_episode``: a row is one episode; its agent's last reply is the completion."""
    if len(row["traces"]) != 1:
        raise UsageError(f"an episode of {len(row['traces'])} traces; expected one agent's")
    trace = row["traces"][0]
    nodes, calls, task = trace.get("nodes") or [], trace.get("calls") or [], trace["task"]
    replies = [index for index, node in enumerate(nodes) if node.get("sampled")]
    errors = trace.get("errors")
    if not replies or (errors and not trace.get("ok")):
        raise UsageError(f"the rollout failed: {_reason(errors[-1] if errors else None)}")
    found, id = _carried(task["data"], "example")
    return _chats(
        {**row, **found},
        [[nodes[replies[-1]]["message"]]],
        id=id if id is not None else str(found.get("idx", task.get("key", row.get("id")))),
        prompt=[node["message"] for node in nodes[: replies[0]]],
        group=task.get("hash"),
        finish_reason=[calls[-1].get("finish_reason")] if calls else None,
        num_tokens=[calls[0]["usage"]["completion_tokens"]] if len(calls) == 1 and calls[0].get("usage") else None,
    )


def _carried(row: Row, column: str) -> tuple[Row, str | None]:
    """The row with the columns of the example that was packed into it, and its id."""
    text = row.get(column)
    if not is_packed(text):
        return row, None
    id, carried = opened(text, column)
    return {**{key: value for key, value in row.items() if key != column}, **carried}, id


def _chats(row: Row, completions: Sequence[Any], **ours: Any) -> dict[str, Any]:
    texts, reasoning = zip(*map(_said, completions), strict=True) if completions else ((), ())
    return _shaped(row, list(texts), reasoning_content=list(reasoning), **ours)


def _shaped(row: Row, completions: list[str], **ours: Any) -> dict[str, Any]:
    others = {key: value for key, value in row.items() if key not in ("completion", "completions")}
    found = {key: value for key, value in ours.items() if value is not None and value != [None] * len(completions)}
    return {**others, "completions": completions, **found}


def _said(completion: Any) -> tuple[str, str | None]:
    """Text and reasoning of a completion: of the last message of the assistant where it is a chat."""
    if isinstance(completion, str):
        return completion, None
    if not _is_chat(completion):
        raise UsageError(f"a completion must be text or chat messages, found {type(completion).__name__}")
    message: Row = next((one for one in reversed(completion) if one.get("role", "assistant") == "assistant"), {})
    # The name of DeepSeek and older vLLM, then that of newer vLLM.
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    content = content or message.get("refusal") or ""  # none: the model only reasoned, or called a tool
    if not isinstance(content, str):
        raise UsageError(f"the content of a message must be text, found {type(content).__name__}")
    return content, reasoning if isinstance(reasoning, str) else None


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(message, Mapping) for message in value)


def _reason(error: Any) -> str:
    """What an error says, in the words of OpenAI, vLLM (an error within an error) or verifiers."""
    while isinstance(error, Mapping):
        keys = ("error_chain_str", "message", "error", "code", "type")
        error = next((error[key] for key in keys if error.get(key)), None)
    return str(error)[:500] if error else "no reason given"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


def _group(step: Any, prompt: Any) -> str:
    """A key for the completions of one prompt at one step of training."""
    text = json.dumps(prompt, sort_keys=True, default=str)
    return f"{step}/{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


def _gold_of(row: Row) -> str | None:
    """The gold that a score's metric, or else any of its parts, was judged by."""
    parts = row["parts"]
    metric = parts.get(row.get("metric"))
    return next((part["gold"] for part in ([metric] if metric else parts.values()) if part.get("gold")), None)
