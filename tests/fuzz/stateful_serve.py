"""A stateful test of ``grpo_env serve``: requests in any order, hostile items, killed processes, clients that leave.

    python -m pytest tests/fuzz/stateful_serve.py --fuzz-seconds 60

Every answer has to be the one that scoring offline gives, item by item, and no request may get a status of 500 or more.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from grpo_env.core import Example, Group, score_groups
from grpo_env.registry import load_file
from grpo_env.scoring.completion import Recorded, read_completion
from grpo_env.serving.schemas import MAX_ITEMS
from grpo_env.taskfile.task import Task, load_task

OWN = '''
import os
import time
from dataclasses import dataclass

from grpo_env.core import Score, Verifier
from grpo_env.registry import verifier


@verifier("fuzz_obeys")
@dataclass(frozen=True)
class Obeys(Verifier):
    """Ends its process, or is slow, if the text says so; else the length of the text."""

    def __call__(self, example, completion):
        if "leave" in completion.text:
            os._exit(3)
        if "nap" in completion.text:
            time.sleep(0.1)
        return Score(float(len(completion.text)))
'''
TASKS = {
    "alone": "{accuracy: {}, fuzz_obeys: {weight: 0.001}, soft_format: {}}",
    "votes": "{accuracy: {}, fuzz_obeys: {weight: 0.001}, majority: {}}",
}
TASK = """
version: 1
task: {name}
dataset: {{path: rows.jsonl, answer: "{{{{ answer }}}}"}}
prompt: {{user: "{{{{ question }}}}"}}
verifiers: {verifiers}
metric: accuracy
"""
LEAVE = "leave"  # an item with this text ends its process

SAMPLES = [
    "#### 5", "\\boxed{5}", "<answer>5</answer>", "\\boxed{6}", "", "nap", "9" * 20_000, "{" * 5000 + "}" * 5000,
    "\\boxed{9^{9^{9}}}", "\\boxed{((((9!)!)!)!)!}", "\\boxed{" * 300 + "5", "\x00\u202e", "<think>" * 500,
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=20).filter(lambda text: LEAVE not in text and "nap" not in text),
    st.integers(0, len(SAMPLES) - 1).map(lambda number: SAMPLES[number]),  # in a message the texts would be too long
)
HOSTILE = st.sampled_from([LEAVE, LEAVE, "#### 5 leave"])


def items(hostile: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    texts = st.one_of(*[TEXTS] * 15, HOSTILE) if hostile else TEXTS
    chat = texts.map(lambda text: [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}])
    item = st.fixed_dictionaries(
        {"completion": texts | chat, "answer": st.just("5")},
        optional={
            "group": st.sampled_from(["a", "b"]),
            "finish": st.sampled_from(["stop", "length", "unknown"]),
            "num_tokens": st.integers(0, 9),
        },
    )
    return st.lists(item, min_size=1, max_size=8)


REQUESTS = st.tuples(st.sampled_from(list(TASKS)), items(hostile=True))
BODIES = [
    b"", b"{", b"[]", b"null", b'{"items": []}', b'{"task": "none", "items": [{"completion": ""}]}', b"\xff",
    b'{"task": "alone", "items": [{"completion": 5}]}', b"[" * 100_000,
    b'{"task": "alone", "items": [{"completion": []}]}',
    b'{"task": "alone", "items": [{"completion": "", "num_tokens": 1e999}]}', b"1" * 5000,
    json.dumps({"task": "alone", "items": [{"completion": ""}] * (MAX_ITEMS + 1)}).encode(), b" " * 1000,
]  # fmt: skip
MALFORMED = st.integers(0, len(BODIES) - 1).map(lambda number: BODIES[number])


class Server:
    """The server, the same for all examples, and what scoring offline says."""

    def __init__(self, folder: Path) -> None:
        (folder / "own.py").write_text(OWN)
        for name, verifiers in TASKS.items():
            (folder / f"{name}.yaml").write_text(TASK.format(name=name, verifiers=verifiers))
        files = [str(folder / f"{name}.yaml") for name in TASKS]
        command = [
            sys.executable,
            "-m",
            "grpo_env",
            "serve",
            *files,
            "--port",
            "0",
            "--workers",
            "2",
            "--deadline",
            "300",
        ]
        command += ["--verifiers", str(folder / "own.py")]
        self.errors = (folder / "errors").open("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(":")[2])
        load_file(folder / "own.py")
        self.tasks: dict[str, Task] = {name: load_task(folder / f"{name}.yaml") for name in TASKS}

    def request(self, body: bytes, path: str = "/score") -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=400)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def score(self, task: str, request: list[dict[str, Any]]) -> None:
        """Send a request and compare the answer with scoring offline."""
        status, reply = self.request(json.dumps({"task": task, "items": request}).encode())
        if task == "votes" and len({item.get("group") for item in request}) and status == 422:
            raise AssertionError(f"refused: {reply}")
        assert status == 200, f"status {status}: {reply}"
        scores = [without_timing(score) for score in reply["scores"]]
        assert [score["id"] for score in reply["scores"]] == [str(number) for number in range(len(request))]
        for score, expected, item in zip(scores, self.offline(task, request), request, strict=True):
            if expected is None:
                assert (score["value"], score["status"]) == (None, "error"), f"{item}: {score}"
            else:
                assert score == expected, f"{item}: {score}, offline {expected}"

    def offline(self, name: str, request: list[dict[str, Any]]) -> Iterator[dict[str, Any] | None]:
        """The score of each item, or ``None`` for one that ends its process. Those are in no group."""
        task = self.tasks[name]
        groups: list[tuple[Any, list[dict[str, Any]]]] = []
        for number, item in enumerate(request):
            key = item.get("group", number)
            if not groups or groups[-1][0] != key:
                groups.append((key, []))
            groups[-1][1].append(item)
        for _, members in groups:
            sound = [item for item in members if not ends_process(item)]
            completions = [completion_of(task, item) for item in sound]
            example = Example("x", answer="5")
            if task.scores_groups:
                (scores,) = score_groups(task.verifier, [Group(example, completions)]) if sound else ([],)
            else:
                scores = [score_groups(task.verifier, [Group(example, [each])])[0][0] for each in completions]
            rest = iter(scores)
            for item in members:
                expected = None if ends_process(item) else next(rest).to_dict()
                yield expected and without_timing(json.loads(json.dumps(expected)))

    def workers(self) -> list[psutil.Process]:
        return [child for child in psutil.Process(self.process.pid).children() if is_worker(child)]


def is_worker(process: psutil.Process) -> bool:
    """Whether a child of the server is a scoring process that has not ended."""
    with suppress(psutil.Error):
        return "grpo_env.workers.function_calls" in " ".join(process.cmdline())
    return False


def text_of(item: dict[str, Any]) -> str:
    completion = item["completion"]
    return completion if isinstance(completion, str) else completion[-1]["content"]


def ends_process(item: dict[str, Any]) -> bool:
    return LEAVE in text_of(item)


def completion_of(task: Task, item: dict[str, Any]) -> Any:
    return read_completion(task, item["completion"], Recorded(None, item.get("finish"), item.get("num_tokens")))[0]


def without_timing(score: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in score.items() if key not in ("id", "seconds")}
    return {**rest, "parts": [without_timing(part) for part in score["parts"]]}


class ServedRequests(RuleBasedStateMachine):
    """What clients, and whoever kills processes, do to ``server``."""

    server: Server

    @rule(request=REQUESTS)
    def score(self, request: tuple[str, list[dict[str, Any]]]) -> None:
        self.server.score(*request)

    @rule(requests=st.lists(REQUESTS, min_size=2, max_size=4), kill=st.booleans())
    def at_once(self, requests: list[tuple[str, list[dict[str, Any]]]], kill: bool) -> None:
        problems: list[BaseException] = []

        def send(task: str, request: list[dict[str, Any]]) -> None:
            try:
                self.server.score(task, request)
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=send, args=request) for request in requests]
        for thread in threads:
            thread.start()
        if kill:
            self.kill(0)
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]

    @rule(number=st.integers(0, 1))
    def kill(self, number: int) -> None:
        for worker in self.server.workers()[number : number + 1]:
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    @rule(request=REQUESTS, sent=st.floats(0.1, 1.0), wait=st.sampled_from([0.0, 0.01, 0.1]))
    def leave(self, request: tuple[str, list[dict[str, Any]]], sent: float, wait: float) -> None:
        """A client that closes its connection with a part of the request sent, or before the answer."""
        body = json.dumps({"task": request[0], "items": request[1]}).encode()
        head = (
            f"POST /score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        data = head.encode() + body
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as connection:
            connection.sendall(data[: int(len(data) * sent)])
            time.sleep(wait)

    @rule(body=MALFORMED, path=st.sampled_from(["/score", "/get_reward", "/nothing"]))
    def malformed(self, body: bytes, path: str) -> None:
        status, reply = self.server.request(body, path)
        assert 400 <= status < 500, f"status {status}: {reply}"
        assert reply["detail"]

    @invariant()
    def it_runs(self) -> None:
        assert self.server.process.poll() is None, "the server ended"

    def teardown(self) -> None:
        self.server.score("alone", [{"completion": "#### 5", "answer": "5"}])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        running = Server(Path(folder))
        yield running
        running.process.terminate()
        assert running.process.wait(60) == 0
        running.errors.seek(0)
        assert running.errors.read() == "", "the server wrote to its standard error"


def test_serve(server: Server) -> None:
    ServedRequests.server = server
    run_state_machine_as_test(ServedRequests)
