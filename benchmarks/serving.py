"""A load test of ``grpo_env serve`` with killed processes and hostile texts: throughput, latency, memory.

    GRPO_ENV_DATA=FOLDER python benchmarks/serving.py
    python benchmarks/serving.py --seconds 30 --clients 4 --kills-every 0

The server runs in one process, the clients in another. Completions are those of ``scoring.py`` (GSM8K's published ones
with ``GRPO_ENV_DATA``, else made from the bundled arithmetic problems). One in thirty is hostile, and one in eight
contains a unique number, so that no other item has the same score. Every score is compared with ``task.score`` of the
same text in the client, except for its ``seconds``; if any are lost, mixed up or changed, the exit code is 1. A random
scoring process is killed about every ``--kills-every`` seconds.

Latency is that of requests of 1 to 32 items. Memory is resident memory, of the server and of all its child processes
together.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from statistics import fmean, quantiles
from typing import Any, NamedTuple

import psutil
from scoring import make_rows

from grpo_env.taskfile.task import Task, load_task

MAX_ITEMS = 32  # per request
NUM_CASES = 4000  # distinct ordinary completions; their expected scores are computed before the start
HOSTILE = [
    "9" * 1_000_000,
    "<answer>\n" + "9" * 100_000 + "\n</answer>",
    "{" * 100_000 + "}" * 100_000,
    "\\boxed{" * 3000 + "1" + "}" * 3000,
    "<answer>\n9**9**9\n</answer>",
    "\\boxed{9^{9^{9}}}",
    "\\boxed{(((((10!)!)!)!)!)}",
    "<think>\n" * 20_000,
    "\u202e\u0000\uffff\U0001f600 १८ ١٨ " * 2000,
    "<answer>\n\uff11\uff18\u200b\n</answer>",
]


class Case(NamedTuple):
    """An item of a request and its expected score."""

    item: dict[str, Any]
    expected: dict[str, Any]


class Response(NamedTuple):
    """An answered request: when it was answered, in seconds from the start; its latency in seconds; its items."""

    time: float
    latency: float
    items: int


def make_case(task: Task, text: str, answer: str | None, info: dict[str, Any]) -> Case:
    score = task.score(text, answer=answer, info=info)
    expected = json.loads(json.dumps(score.to_dict()))
    return Case({"completion": text, "answer": answer, "info": info}, without_timing(expected))


def without_timing(score: dict[str, Any]) -> dict[str, Any]:
    """A score without its id and seconds."""
    rest = {key: value for key, value in score.items() if key not in ("id", "seconds")}
    return {**rest, "parts": [without_timing(part) for part in score["parts"]]}


def make_cases(task: Task, rows: list[dict[str, Any]]) -> tuple[list[Case], list[Case]]:
    """Ordinary cases and hostile ones."""
    ordinary = []
    for row in rows[:NUM_CASES]:
        info = {key: value for key, value in row.items() if key != "completion"}
        ordinary.append(make_case(task, row["completion"], task.answer(info, "row"), info))
    return ordinary, [make_case(task, text, "18", {}) for text in HOSTILE]


def sample_cases(
    task: Task, ordinary: list[Case], hostile: list[Case], rng: random.Random, request: int
) -> Iterator[Case]:
    """The cases of a request, whose number makes some of them unique."""
    for index in range(rng.randint(1, MAX_ITEMS)):
        uniform = rng.random()
        if uniform < 1 / 30:
            yield rng.choice(hostile)
        elif uniform < 1 / 30 + 1 / 8:
            unique = 1000 * request + index
            text = f"<think>\n{unique}+1={unique + 1}\n</think>\n<answer>\n{unique + rng.randint(0, 1)}\n</answer>"
            yield make_case(task, text, str(unique), {})
        else:
            yield rng.choice(ordinary)


class Client:
    """Sends requests in sequence on one connection, and checks the responses."""

    def __init__(self, port: int, end: float, start: float) -> None:
        self.port, self.end, self.start = port, end, start
        self.responses: list[Response] = []
        self.problems: list[str] = []

    def run(self, task: Task, ordinary: list[Case], hostile: list[Case], seed: int) -> None:
        rng = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        number = seed * 1_000_000
        while time.time() < self.end:
            number += 1
            cases = list(sample_cases(task, ordinary, hostile, rng, number))
            items = [{**case.item, "id": f"{number}/{index}"} for index, case in enumerate(cases)]
            body = json.dumps({"task": task.name, "items": items})
            self._send(connection, body, number, cases)

    def _send(self, connection: http.client.HTTPConnection, body: str, number: int, cases: list[Case]) -> None:
        """Send a request and check its response."""
        start = time.perf_counter()
        try:
            connection.request("POST", "/score", body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            data = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self.problems.append(f"request {number}: {type(error).__name__}: {error}")
            connection.close()
            return
        latency = time.perf_counter() - start
        self.responses.append(Response(time.time() - self.start, latency, len(cases)))
        if reply.status != 200:
            self.problems.append(f"request {number}: status {reply.status}: {data[:200]!r}")
            return
        scores = json.loads(data)["scores"]
        if [score["id"] for score in scores] != [f"{number}/{index}" for index in range(len(cases))]:
            self.problems.append(f"request {number}: wrong ids")
            return
        for score, case in zip(map(without_timing, scores), cases, strict=True):
            if score != case.expected:
                self.problems.append(f"request {number}: {json.dumps(score)[:300]}, not {case.expected!s:.300}")


def run_clients(port: int, count: int, seconds: float, seed: int, results: Any) -> None:
    """The client process: ``count`` threads with a connection each. Puts the time of the start, then the results."""
    name, rows = make_rows()
    task = load_task(name)
    random.Random(seed).shuffle(rows)
    ordinary, hostile = make_cases(task, rows)
    start = time.time()
    results.put(start)
    clients = [Client(port, start + seconds, start) for _ in range(count)]
    threads = [
        threading.Thread(target=client.run, args=(task, ordinary, hostile, seed + index))
        for index, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([response for client in clients for response in client.responses])
    results.put([problem for client in clients for problem in client.problems])


class Disturber(threading.Thread):
    """Kills scoring processes at random moments, and records memory once per second."""

    def __init__(self, server: int, kills_every: float, seed: int) -> None:
        super().__init__()
        self.server, self.kills_every, self.rng = psutil.Process(server), kills_every, random.Random(seed)
        self.memory: list[tuple[float, float]] = []  # MiB of the server, and of its child processes
        self.kills = 0
        self.done = threading.Event()

    def run(self) -> None:
        next_kill = time.monotonic() + self._pause()
        next_record = time.monotonic()
        while not self.done.wait(max(0.0, min(next_kill, next_record) - time.monotonic())):
            if time.monotonic() >= next_kill:
                self._kill()
                next_kill = time.monotonic() + self._pause()
            if time.monotonic() >= next_record:
                self.memory.append((resident_mib([self.server]), resident_mib(self.server.children(recursive=True))))
                next_record += 1

    def _pause(self) -> float:
        return self.rng.expovariate(1 / self.kills_every) if self.kills_every else float("inf")

    def _kill(self) -> None:
        workers = [child for child in self.server.children() if is_worker(child)]
        if workers:
            self.rng.choice(workers).kill()
            self.kills += 1


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "function_calls" in " ".join(process.cmdline())
    return False


def resident_mib(processes: list[psutil.Process]) -> float:
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total / 2**20


def report(responses: list[Response], memory: list[tuple[float, float]], seconds: float) -> None:
    """Print the table, of the whole time and of its first, middle and last fifth."""
    fifth = seconds / 5
    spans = {"all": (0, seconds), "first fifth": (0, fifth), "middle fifth": (2 * fifth, 3 * fifth)}
    spans["last fifth"] = (4 * fifth, seconds)
    rows: dict[str, list[str]] = {"requests per second": [], "items per second": [], "latency p50, ms": []}
    rows |= {"latency p99, ms": [], "server, MiB": [], "scoring processes, MiB": []}
    for low, high in spans.values():
        part = [response for response in responses if low <= response.time < high]
        percentiles = quantiles([response.latency * 1000 for response in part], n=100)
        samples = memory[int(low) : int(high)]
        values = (
            len(part) / (high - low),
            sum(response.items for response in part) / (high - low),
            percentiles[49],
            percentiles[98],
            fmean(server for server, _ in samples),
            fmean(children for _, children in samples),
        )
        for row, value in zip(rows.values(), values, strict=True):
            row.append(f"{value:,.1f}" if value < 100 else f"{value:,.0f}")
    print(f"| | {' | '.join(spans)} |\n|---|{'---|' * len(spans)}")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(row)} |")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300, help="duration, at least 10")
    parser.add_argument("--clients", type=int, default=8, help="concurrent connections")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kills-every", type=float, default=5.0, help="mean seconds between kills; 0: no kills")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    name, _ = make_rows()
    command = [sys.executable, "-m", "grpo_env", "serve", name, "--port", "0", "--workers", str(options.workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().rpartition(":")[2])
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=run_clients, args=(port, options.clients, options.seconds, options.seed, results))
    process.start()
    results.get()
    disturber = Disturber(server.pid, options.kills_every, options.seed)
    disturber.start()
    responses, problems = results.get(), results.get()
    disturber.done.set()
    disturber.join()
    process.join()
    server.terminate()
    code = server.wait(timeout=60)
    report(responses, disturber.memory, options.seconds)
    items = sum(response.items for response in responses)
    print(f"\n{len(responses):,} requests, {items:,} items, {disturber.kills} processes killed")
    print(f"{len(problems)} wrong or missing responses; exit code of the server: {code}")
    for problem in problems[:10]:
        print(problem)
    sys.exit(1 if problems or code else 0)


if __name__ == "__main__":
    main()
