"""A soak of ``grpo_env serve``: mixed load for a long time, then SIGTERM under load.

    SOAK_SECONDS=600 python benchmarks/soak.py

Clients send honest and hostile items, whose scores are compared with scoring offline as in ``serving.py``. Beside them
one client leaves before its answer, another one sends too much or no JSON, and a random scoring process is killed every
few seconds. At the end the server gets SIGTERM while requests are in progress: all that it accepted have to be
answered, and it has to exit with 0. The exit code is 1 if an answer is wrong or missing, for a status of 500 or more,
and if memory grew between the first and the last quarter by more than ``--growth``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from statistics import fmean

from scoring import make_rows
from serving import Client, Disturber, make_cases

from grpo_env.taskfile.task import load_task

MIB = 2**20
WARM_UP = 30.0  # seconds that are not counted: imports, caches, the first processes


class Statuses:
    """What the clients that only look at statuses got."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.lock = threading.Lock()

    def add(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1


def leave(port: int, end: float, body: bytes, rng: random.Random, statuses: Statuses) -> None:
    """Send a part or all of a request and close the connection."""
    head = f"POST /score HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    data = head.encode() + body
    while time.time() < end:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(data[: rng.randint(1, len(data))] if rng.random() < 0.5 else data)
            time.sleep(rng.choice([0, 0.01, 0.2]))
        statuses.add("left")
        time.sleep(0.5)


def send_nonsense(port: int, end: float, rng: random.Random, statuses: Statuses) -> None:
    """Send requests that have to be refused: too large, too deep, no JSON, unknown tasks and routes."""
    bodies = [b"{", b"", b"\xff\xfe", b"[" * 200_000, b" " * (9 * MIB), b'{"items": [{"completion": 5}]}']
    bodies += [json.dumps({"items": [{"completion": ""}] * 5000}).encode(), b'{"task": "none", "items": []}']
    while time.time() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            connection.request("POST", "/score", rng.choice(bodies), {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            statuses.add(str(reply.status))
        except OSError:
            statuses.add("closed while sending")  # the answer to a body that is too large may come before its end
        finally:
            connection.close()
        time.sleep(0.5)


def quarter(memory: list[tuple[float, float]], number: int) -> tuple[float, float]:
    """Mean MiB of the server and of its scoring processes in a quarter of the time, after the warm-up."""
    counted = memory[int(min(WARM_UP, len(memory) / 5)) :]
    size = len(counted) // 4
    part = counted[number * size : (number + 1) * size]
    return fmean(server for server, _ in part), fmean(children for _, children in part)


def stop_under_load(server: subprocess.Popen[str], threads: list[threading.Thread], clients: list[Client]) -> list[str]:
    """End the server while the clients go on, and return what went wrong with the requests before it was ended."""
    before = [len(client.problems) for client in clients]
    server.terminate()
    for thread in threads:
        thread.join()
    problems = []
    for client, count in zip(clients, before, strict=True):
        # After SIGTERM no connection is accepted any more; what was accepted is answered, and rightly.
        closed = ("ConnectionRefusedError", "RemoteDisconnected", "ConnectionResetError", "BrokenPipeError")
        late = [problem for problem in client.problems[count:] if not any(name in problem for name in closed)]
        problems += [*client.problems[:count], *late]
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "600")))
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills-every", type=float, default=10.0, help="mean seconds between kills")
    parser.add_argument("--growth", type=float, default=0.1, help="largest growth of memory, as a fraction")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    name, rows = make_rows()
    task, rng = load_task(name), random.Random(options.seed)
    rng.shuffle(rows)
    ordinary, hostile = make_cases(task, rows)
    command = [sys.executable, "-m", "grpo_env", "serve", name, "--port", "0", "--workers", str(options.workers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().rpartition(":")[2])
    start = time.time()
    end = start + options.seconds
    # The clients go on after the end, when the server is stopped.
    clients = [Client(port, end + 5, start) for _ in range(options.clients)]
    threads = [
        threading.Thread(target=client.run, args=(task, ordinary, hostile, options.seed + index), daemon=True)
        for index, client in enumerate(clients)
    ]
    statuses = Statuses()
    body = json.dumps({"task": name, "items": [case.item for case in ordinary[:64]]}).encode()
    others = [
        threading.Thread(target=leave, args=(port, end - 2, body, random.Random(1), statuses), daemon=True),
        threading.Thread(target=send_nonsense, args=(port, end - 2, random.Random(2), statuses), daemon=True),
    ]
    disturber = Disturber(server.pid, options.kills_every, options.seed)
    for thread in (*threads, *others, disturber):
        thread.start()
    time.sleep(max(0.0, end - time.time()))
    disturber.done.set()
    for thread in (*others, disturber):
        thread.join()
    problems = stop_under_load(server, threads, clients)
    code = server.wait(timeout=300)
    responses = [response for client in clients for response in client.responses]
    items = sum(response.items for response in responses)
    print(f"{options.seconds:.0f} s: {len(responses):,} answered requests with {items:,} items, each as offline")
    print(f"{disturber.kills} processes killed")
    print(f"others: {', '.join(f'{count:,} times {status}' for status, count in sorted(statuses.counts.items()))}")
    print(f"{len(problems)} wrong or missing answers; exit code of the server after SIGTERM under load: {code}")
    first, last = quarter(disturber.memory, 0), quarter(disturber.memory, 3)
    growth = [after / before - 1 for before, after in zip(first, last, strict=True)]
    for label, before, after, change in zip(("server", "scoring processes"), first, last, growth, strict=True):
        print(f"{label}: {before:.1f} MiB in the first quarter, {after:.1f} MiB in the last: {change:+.1%}")
    for problem in problems[:10]:
        print(problem)
    errors = [status for status in statuses.counts if status.startswith("5")]
    flat = max(growth) <= options.growth
    print("memory is flat" if flat else f"memory grew by more than {options.growth:.0%}")
    sys.exit(1 if problems or code or errors or not flat else 0)


if __name__ == "__main__":
    main()
