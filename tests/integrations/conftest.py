"""Two hundred completions for all adapters, with their scores by ``Task.score``."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple

import pytest

from grpo_env import Completion, Example, Score, load_task
from grpo_env.core import score_one
from grpo_env.taskfile.task import Task

GROUP = 8


class Row(NamedTuple):
    """A completion of an example, and its score."""

    example: Example
    text: str
    score: Score


def texts(example: Example) -> list[str]:
    """Right and wrong, formatted and not, padded with idle steps, cut off, empty and hostile."""
    gold = example.answer
    assert gold is not None
    solution = "<think>\n" + "\n".join(example.info["equations"]) + f"\n</think>\n<answer>\n{gold}\n</answer>"
    return [
        solution,
        solution.replace(f"<answer>\n{gold}", f"<answer>\n{int(gold) + 1}"),
        gold,
        solution.replace("</think>", ""),
        solution[: len(solution) // 2],
        "",
        f"<think>\n1+1=2\n1+1=2\n1+1=3\n</think>\n<answer>\n{gold}.0\n</answer>",
        "<answer>" * 40 + "9" * 5000 + "\x00\u202e\u0660",
    ]


@pytest.fixture(scope="session")
def task() -> Task:
    return load_task("arithmetic", {"dataset.limit": {"train": 25, "eval": 5}, "verifiers.tag_count.weight": 0.05})


@pytest.fixture(scope="session")
def cases(task: Task) -> list[Row]:
    """Twenty-five groups of eight."""
    rows = [
        Row(example, text, score_one(task.verifier, example, Completion(text, prefill=task.format.prefill)))
        for example in task.examples("train")
        for text in texts(example)
    ]
    assert len(rows) == 200
    assert len({row.score.value for row in rows}) > 4
    return rows


class Server(ThreadingHTTPServer):
    """A server that accepts bursts of connections: the standard library's queue has room for only five."""

    request_queue_size = 512


def send_json(handler: BaseHTTPRequestHandler, reply: object) -> None:
    """Answer a request with JSON."""
    data = json.dumps(reply).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def serve():
    """Starts a server of chat completions on 127.0.0.1 and gives its address.

    The n-th request with one prompt gets the n-th of the prompt's texts, with or without counts of tokens.
    """
    with ExitStack() as servers:

        def start(texts, usage={"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}):  # noqa: B006
            served, lock = Counter(), Lock()

            class Handler(BaseHTTPRequestHandler):
                def do_POST(self):
                    prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
                    with lock:
                        text = texts[prompt][served[prompt]]
                        served[prompt] += 1
                    message = {"role": "assistant", "content": text}
                    reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
                    reply["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
                    send_json(self, {key: value for key, value in reply.items() if value is not None})

                def log_message(self, *_):
                    return

            server = servers.enter_context(Server(("127.0.0.1", 0), Handler))
            Thread(target=server.serve_forever, daemon=True).start()
            servers.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}/v1"

        yield start
