"""Files of completions as tools write them, changed at random, and what must hold whatever is in them."""

from __future__ import annotations

import json
import math
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from oracles import FindingError

from grpo_env.errors import UsageError
from grpo_env.scoring.chunks import cut_file
from grpo_env.scoring.columns import Fields
from grpo_env.scoring.input_file import InputFile
from grpo_env.scoring.job import ChunkResult, Job
from grpo_env.taskfile.task import Task, load_task

SUFFIXES = (".jsonl", ".json", ".csv", "", ".parquet", ".jsonl.gz", ".jsonl.zst")
CPU = 1.0  # seconds of this thread for a file of at most 3,000 bytes

TASK = """
version: 1
task: fuzz
dataset: {path: "{split}.jsonl", answer: "{{ answer }}", id: "{{ id }}"}
prompt: {user: "{{ question }}"}
verifiers: {accuracy: {}, soft_format: {}, overlong: {max_tokens: 40, buffer: 20}, majority: {}}
metric: accuracy
"""
QUESTIONS = [{"id": f"q{n}", "question": f"{n} + {n}?", "answer": str(2 * n)} for n in range(3)]

_RIGHT = "<think>\n1+1=2\n</think>\n<answer>\n2\n</answer>"
_CHAT = [{"role": "user", "content": "1 + 1?"}]
_REPLY = {"role": "assistant", "content": _RIGHT, "reasoning_content": None, "tool_calls": None}
_TRACE = {
    "task": {"data": {"idx": 1, "question": "1 + 1?", "answer": "2"}, "hash": "h", "key": "k"},
    "ok": True,
    "errors": [],
    "nodes": [{"message": _CHAT[0], "sampled": False}, {"message": _REPLY, "sampled": True}],
    "calls": [{"finish_reason": "stop", "usage": {"completion_tokens": 7}}],
}
_RESPONSE = {
    "status_code": 200,
    "body": {"choices": [{"message": _REPLY, "finish_reason": "stop"}], "usage": {"completion_tokens": 7}},
}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "answer": "2", "completion": _RIGHT, "finish_reason": "stop", "num_tokens": 12, "group": "g"},
    {"id": "b", "answer": "2", "completions": [_RIGHT, "3"], "num_tokens": [12, 1], "prompt": "1 + 1?"},
    {"answer": "2", "completion": [_REPLY], "prompt": _CHAT, "token_ids": [1, 2, 3]},
    {"answer": "2", "completion": [{"role": "assistant", "content": [{"type": "text", "text": "2"}], "refusal": ""}]},
    {"step": 1, "prompt": _CHAT, "completion": [_REPLY], "advantage": 0.5, "answer": "2"},
    {"step": 1, "prompt": _CHAT, "completion": _RIGHT, "advantage": 0.5, "reward": 1.0},
    {"input": "1 + 1?", "output": _RIGHT, "gts": "2", "score": 1.0, "step": 1},
    {"responses": [_RIGHT, "3"], "reward_model": {"ground_truth": "2", "style": "rule"}, "prompt": _CHAT},
    {"custom_id": "q1", "response": _RESPONSE, "error": None},
    {"id": "vllm-1", "custom_id": "q1", "response": _RESPONSE, "error": None},
    {"doc_id": 1, "doc": {"question": "1 + 1?"}, "resps": [[_RIGHT]], "target": "2", "filter": "none",
     "arguments": {"gen_args_0": {"arg_0": "1 + 1?"}}},
    {"example_id": 1, "completion": [_REPLY], "reward": 1.0, "answer": "2", "token_usage": {"output_tokens": 7.0},
     "is_truncated": False, "error": None, "prompt": _CHAT},
    {"id": "e", "traces": [_TRACE], "task": {}, "env": {}},
    {"step": 1, "task": "fuzz", "id": "q1", "completion": _RIGHT, "score": 1.0, "finish": "stop"},
    {"id": "a", "completion": 0, "total": 1.0, "metric": "accuracy", "text": _RIGHT, "group": "g",
     "parts": {"accuracy": {"value": 1.0, "gold": "2"}}},
]  # fmt: skip

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 10**400, 1.5, -0.0, 1e308, math.inf, -math.inf, math.nan, "", " ", "2",
    "9" * 5000,
    "\ud800", "\x00", "²", "٣", [], {}, [None], [[]], [{}], {"": None}, {"content": None}, {"role": "assistant"},
    {"role": None, "content": {}}, [_REPLY], _REPLY, [_RIGHT], "stop", "length", ["stop"],
    '{"grpo_env": "q1", "row": {}}',
    '{"grpo_env": [], "row": 1}', {"completion_tokens": math.inf}, {"choices": []}, {"message": None}, {"text": 5},
]  # fmt: skip
DEEP = "a value nested deeply"
KEYS = sorted({key for row in ROWS for key in row} | {"reasoning_content", "reasoning", "role", "content", "text"})


def jsonl(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def seeds() -> list[tuple[str, str]]:
    """Suffixes and contents: a file of each format in each kind of file that is text."""
    pairs = [(".jsonl", jsonl([row, row])) for row in ROWS]
    pairs += [(".json", json.dumps([row])) for row in ROWS[::3]]
    pairs += [(".csv", 'id,answer,completion,num_tokens\na,2,2,1\nb,2,"3,\n4",\n'), ("", "\ufeff" + jsonl(ROWS[:2]))]
    return pairs


def changed_rows(text: str, rng: random.Random) -> str:
    """Lines of JSON with some values exchanged, left out, repeated, nested or added."""
    rows = []
    for line in text.splitlines() or [jsonl([rng.choice(ROWS)])]:
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            rows.append(json.loads(json.dumps(rng.choice(ROWS))))
    rows = rows[:20]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(rows))
        kind = rng.randrange(10)
        if kind == 0:
            rows.insert(at, json.loads(json.dumps(rng.choice(ROWS))))
        elif kind == 1:
            rows.insert(at, json.loads(json.dumps(rows[at])))
        else:
            rows[at] = _changed(rows[at], rng)
    depth = rng.choice([2, 101, 480, 900, rng.randint(900, 1000)])
    left, right = rng.choice([("[", "]"), ('{"a":', "}")])
    try:
        changed = jsonl(rows)
    except RecursionError:
        return text
    return changed.replace(f'"{DEEP}"', f"{left * depth}1{right * depth}")


def _changed(value: Any, rng: random.Random, depth: int = 0) -> Any:
    """The value with one place of it changed."""
    if isinstance(value, dict) and value and depth < 8 and rng.random() < 0.85:
        key = rng.choice(list(value))
        kind = rng.randrange(8)
        if kind == 0:
            return {other: inner for other, inner in value.items() if other != key}
        if kind == 1:
            return {**value, rng.choice(KEYS): rng.choice(ODD_VALUES)}
        return {**value, key: _changed(value[key], rng, depth + 1)}
    if isinstance(value, list) and value and depth < 8 and rng.random() < 0.85:
        at = rng.randrange(len(value))
        kind = rng.randrange(6)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return value[:at] + [value[at]] * rng.choice([2, 3, 100]) + value[at:]
        return [*value[:at], _changed(value[at], rng, depth + 1), *value[at + 1 :]]
    return DEEP if rng.random() < 0.05 else rng.choice(ODD_VALUES)


class Reader:
    """Scores files with a task of its own, in this process."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "eval.jsonl").write_text(jsonl(QUESTIONS))
        (folder / "fuzz.yaml").write_text(TASK)
        self.task: Task = load_task(folder / "fuzz.yaml")
        self._folder_of_inputs = folder

    def score(self, suffix: str, data: bytes) -> list[ChunkResult]:
        """What a file scores to. Raises ``UsageError`` if it cannot be read."""
        path = self._folder_of_inputs / f"input{suffix}"
        path.write_bytes(data)
        try:
            file = InputFile(path, self.task, Fields())
            examples = self.task.examples("eval") if file.file_format.joins else []
            reader = file.reader(examples, True)
            job = Job(self.task, (file.name,), (reader,), advantages=True)
            return [job(chunk) for chunk in cut_file(0, file.rows(), reader.key)]
        finally:
            path.unlink()


READER = Reader()


def any_file(suffix: str, text: str) -> None:
    """A file with any content: it is refused with a message, or each of its rows is scored or rejected."""
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return
    start = time.thread_time()
    try:
        results = READER.score(suffix, data)
    except UsageError as error:
        if not str(error).strip():
            raise FindingError("message", "an error without a message", suffix=suffix, text=text) from error
        return
    except Exception as error:
        raise FindingError(
            "raises", f"file: {type(error).__name__}: {error}"[:300], suffix=suffix, text=text
        ) from error
    if (spent := time.thread_time() - start) > CPU:
        raise FindingError("cpu", f"{spent:.1f} s for a file of {len(data)} bytes", suffix=suffix, text=text)
    lines = [json.loads(line, parse_constant=_refuse) for result in results for line in result.lines.splitlines()]
    for result in results:
        if result.summary.completions != len(result.lines.splitlines()) or any(
            not reject.problem.strip() for reject in result.rejects
        ):
            raise FindingError("rows", f"{result.summary}"[:300], suffix=suffix, text=text)
    _check_totals(lines, suffix, text)


def _check_totals(lines: list[dict[str, Any]], suffix: str, text: str) -> None:
    for line in lines:
        accuracy = line["parts"]["accuracy"].get("value")  # what has no value, or no gold, is not written
        if accuracy is not None and accuracy not in (0, 1):
            raise FindingError("value", f"accuracy of {accuracy}", suffix=suffix, text=text)
    again = READER.score(".jsonl", jsonl(lines).encode()) if lines else []
    second = [json.loads(line) for result in again for line in result.lines.splitlines()]
    first_values = [line["parts"]["accuracy"].get("value") for line in lines]
    second_values = [line["parts"]["accuracy"].get("value") for line in second]
    golds = [line["parts"]["accuracy"].get("gold") for line in lines]
    if None not in golds and max(map(len, golds), default=0) < 300 and first_values != second_values:
        detail = f"accuracy {first_values}, of the written scores {second_values}"
        raise FindingError("scores read again", detail[:300], suffix=suffix, text=text)


def _refuse(name: str) -> None:
    raise FindingError("json", f"{name} in the output")
