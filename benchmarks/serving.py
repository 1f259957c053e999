"""A load test of ``grpo_env serve``: requests, items and latency, memory, with killed processes and hostile texts.

    GRPO_ENV_DATA=FOLDER python benchmarks/serving.py
    python benchmarks/serving.py --seconds 30 --clients 4 --kills-every 0

The real server runs in a process of its own, the clients in another. Completions are those of ``scoring.py`` (GSM8K's
published ones with ``GRPO_ENV_DATA``, else made from the bundled arithmetic problems), one in thirty hostile, and one
in eight with a number of its own, so that no other item has its verdict. Every verdict is compared with ``task.score``
of that very text in the client, but for the time it took: lost, mixed up or changed ones are counted, and make the exit
code 1. One scoring process is killed at random about every ``--kills-every`` seconds.

Latency is a request's, of 1 to 32 items. Memory is resident: of the server, and of all processes below it together.
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
from statistics import quantiles
from typing import Any, NamedTuple

import psutil
from scoring import make_rows

from grpo_env.taskfile.task import Task, load_task

MOST = 32  # items of a request
DIFFERENT = 4000  # completions whose verdicts are made before the start
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
    """An item, and the verdict that must come back."""

    item: dict[str, Any]
    verdict: dict[str, Any]


class Answered(NamedTuple):
    """A request: seconds from the start until it was answered, seconds it took, and its items."""

    at: float
    seconds: float
    items: int


def case(task: Task, text: str, answer: str | None, info: dict[str, Any]) -> Case:
    score = task.score(text, answer=answer, info=info)
    return Case({"completion": text, "answer": answer, "info": info}, plain(json.loads(json.dumps(score.to_dict()))))


def plain(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict without its id and the time it took."""
    kept = {key: value for key, value in verdict.items() if key not in ("id", "seconds")}
    return {**kept, "parts": [plain(part) for part in verdict["parts"]]}


def make_cases(task: Task, rows: list[dict[str, Any]]) -> tuple[list[Case], list[Case]]:
    """Ordinary cases and hostile ones."""
    usual = []
    for row in rows[:DIFFERENT]:
        info = {key: value for key, value in row.items() if key != "completion"}
        usual.append(case(task, row["completion"], task.answer(info, "row"), info))
    return usual, [case(task, text, "18", {}) for text in HOSTILE]


def drawn(task: Task, usual: list[Case], hostile: list[Case], draw: random.Random, number: int) -> Iterator[Case]:
    """The cases of a request; ``number`` is its own."""
    for place in range(draw.randint(1, MOST)):
        chance = draw.random()
        if chance < 1 / 30:
            yield draw.choice(hostile)
        elif chance < 1 / 30 + 1 / 8:
            own = 1000 * number + place
            text = f"<think>\n{own}+1={own + 1}\n</think>\n<answer>\n{own + draw.randint(0, 1)}\n</answer>"
            yield case(task, text, str(own), {})
        else:
            yield draw.choice(usual)


class Client:
    """Sends requests one after the other on one connection, and checks what comes back."""

    def __init__(self, port: int, end: float, start: float) -> None:
        self.port, self.end, self.start = port, end, start
        self.answered: list[Answered] = []
        self.wrong: list[str] = []
        self.refused = 0

    def run(self, task: Task, usual: list[Case], hostile: list[Case], seed: int) -> None:
        draw = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        number = seed * 1_000_000
        while time.time() < self.end:
            number += 1
            cases = list(drawn(task, usual, hostile, draw, number))
            items = [{**one.item, "id": f"{number}/{place}"} for place, one in enumerate(cases)]
            body = json.dumps({"task": task.name, "items": items})
            while not self._sent(connection, body, number, cases):
                time.sleep(0.1)

    def _sent(self, connection: http.client.HTTPConnection, body: str, number: int, cases: list[Case]) -> bool:
        before = time.perf_counter()
        try:
            connection.request("POST", "/score", body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            data = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(f"request {number}: {type(error).__name__}: {error}")
            connection.close()
            return True
        seconds = time.perf_counter() - before
        if reply.status == 429:
            self.refused += 1
            return False
        self.answered.append(Answered(time.time() - self.start, seconds, len(cases)))
        if reply.status != 200:
            self.wrong.append(f"request {number}: status {reply.status}: {data[:200]!r}")
            return True
        scores = json.loads(data)["scores"]
        if [score["id"] for score in scores] != [f"{number}/{place}" for place in range(len(cases))]:
            self.wrong.append(f"request {number}: other ids")
            return True
        for score, one in zip(scores, cases, strict=True):
            if plain(score) != one.verdict:
                self.wrong.append(f"item {score['id']}: {json.dumps(plain(score))[:300]}, not {one.verdict!s:.300}")
        return True


def clients(port: int, count: int, seconds: float, seed: int, results: Any) -> None:
    """The client process: ``count`` threads with a connection each."""
    name, rows = make_rows()
    task = load_task(name)
    random.Random(seed).shuffle(rows)
    usual, hostile = make_cases(task, rows)
    start = time.time()
    results.put(start)
    those = [Client(port, start + seconds, start) for _ in range(count)]
    threads = [
        threading.Thread(target=one.run, args=(task, usual, hostile, seed + place)) for place, one in enumerate(those)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([[*one.answered] for one in those])
    results.put([problem for one in those for problem in one.wrong])
    results.put(sum(one.refused for one in those))


class Watch(threading.Thread):
    """Kills scoring processes at random times, and records memory once a second."""

    def __init__(self, server: int, every: float, seed: int) -> None:
        super().__init__()
        self.server, self.every, self.draw = psutil.Process(server), every, random.Random(seed)
        self.memory: list[tuple[float, float]] = []
        self.kills = 0
        self.done = threading.Event()

    def run(self) -> None:
        next_kill = time.monotonic() + self._pause()
        next_look = time.monotonic()
        while not self.done.wait(max(0.0, min(next_kill, next_look) - time.monotonic())):
            if time.monotonic() >= next_kill:
                self._kill()
                next_kill = time.monotonic() + self._pause()
            if time.monotonic() >= next_look:
                self.memory.append((resident([self.server]), resident(self.server.children(recursive=True))))
                next_look += 1

    def _pause(self) -> float:
        return self.draw.expovariate(1 / self.every) if self.every else float("inf")

    def _kill(self) -> None:
        workers = [child for child in self.server.children() if is_worker(child)]
        if workers:
            self.draw.choice(workers).kill()
            self.kills += 1


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return "spawn_main" in " ".join(process.cmdline())
    return False


def resident(processes: list[psutil.Process]) -> float:
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total / 2**20


def report(answered: list[Answered], memory: list[tuple[float, float]], seconds: float) -> None:
    """The table: the whole, and its first, middle and last fifth."""
    fifth = seconds / 5
    spans = {"all": (0, seconds), "first fifth": (0, fifth), "middle fifth": (2 * fifth, 3 * fifth)}
    spans["last fifth"] = (4 * fifth, seconds)
    rows: dict[str, list[str]] = {"requests per second": [], "items per second": [], "latency p50, ms": []}
    rows |= {"latency p99, ms": [], "server, MiB": [], "scoring processes, MiB": []}
    for low, high in spans.values():
        those = [one for one in answered if low <= one.at < high]
        cuts = quantiles([one.seconds * 1000 for one in those], n=100)
        held = memory[int(low) : int(high)]
        values = (
            len(those) / (high - low),
            sum(one.items for one in those) / (high - low),
            cuts[49],
            cuts[98],
            sum(one for one, _ in held) / len(held),
            sum(one for _, one in held) / len(held),
        )
        for row, value in zip(rows.values(), values, strict=True):
            row.append(f"{value:,.1f}" if value < 100 else f"{value:,.0f}")
    print(f"| | {' | '.join(spans)} |\n|---|{'---|' * len(spans)}")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(row)} |")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--clients", type=int, default=8, help="connections that send at the same time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kills-every", type=float, default=5.0, help="mean seconds between kills; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    name, _ = make_rows()
    command = [sys.executable, "-m", "grpo_env", "serve", name, "--port", "0", "--workers", str(given.workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().rpartition(":")[2])
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=clients, args=(port, given.clients, given.seconds, given.seed, results))
    process.start()
    results.get()
    watch = Watch(server.pid, given.kills_every, given.seed)
    watch.start()
    answered = [one for each in results.get() for one in each]
    wrong, refused = results.get(), results.get()
    watch.done.set()
    watch.join()
    process.join()
    server.terminate()
    code = server.wait(timeout=60)
    report(answered, watch.memory, given.seconds)
    items = sum(one.items for one in answered)
    print(
        f"\n{len(answered):,} requests, {items:,} items, {watch.kills} processes killed, {refused} requests sent again"
    )
    print(f"{len(wrong)} answers missing or wrong; the server ended with exit code {code}")
    for problem in wrong[:10]:
        print(problem)
    sys.exit(1 if wrong or code else 0)


if __name__ == "__main__":
    main()
