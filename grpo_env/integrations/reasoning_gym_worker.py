"""The process that scores for ``reasoning_gym``: its scorers parse and some evaluate what a model wrote.

It answers one JSON line on standard output for each on standard input. Every answer is judged in a child of its own,
confined as programs in the sandbox are, which has its memory and processor time and tells nobody what it has done.
Run by ``reasoning_gym.py`` with its folder, the memory in bytes and the processor seconds; never imported by it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from reasoning_gym.factory import create_dataset

_REPLY = 4096  # bytes
_TUPLES = ("arc_agi", "rearc")  # their scorers compare boards as tuples of tuples, which JSON gives as lists


@lru_cache(maxsize=64)
def _scorer(dataset: str, arguments: str) -> Any:
    return create_dataset(dataset, **json.loads(arguments)).score_answer


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _verdict(score: Any, entry: dict[str, Any], answer: str) -> dict[str, Any]:
    """What the child finds: ``value``, or ``unread`` for an answer on which the scorer fails where gold does not."""
    name = entry["metadata"]["source_dataset"]
    if name in _TUPLES:
        entry["metadata"] = {key: _tupled(value) for key, value in entry["metadata"].items()}
    try:
        return {"value": float(score(answer, entry))}
    except MemoryError:
        return {"over": "memory"}
    except RecursionError:
        return {"over": "nesting"}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
    try:
        score(entry["answer"], entry)
    except Exception:
        return {"error": f"{name} cannot score its own answer: {reason}"}
    return {"unread": reason}


def _judged(request: dict[str, Any], shut_in: Callable[[], None], seconds: float) -> bytes:
    """The child's reply, or what ended it."""
    entry = request["entry"]
    try:
        score = _scorer(entry["metadata"]["source_dataset"], json.dumps(request["arguments"]))
    except Exception as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            try:
                shut_in()
                signal.setitimer(signal.ITIMER_PROF, seconds)
                reply = _verdict(score, entry, request["answer"])
            except OSError as error:
                reply = {"error": f"the child cannot be confined: {error}"}
            os.write(writer, json.dumps(reply).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as replies:
        said = replies.read(_REPLY)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -status in (signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL):
        return b'{"late": true}'
    return said if said.startswith(b"{") and b"\n" not in said else b'{"over": "memory"}'


def main() -> None:
    """Serve until standard input ends."""
    # By name and late: the tree of imports points from verifiers to here, not back.
    from grpo_env.verifiers.sandbox.confine import confine

    folder, memory, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    readable = [sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path)]
    shut_in = partial(confine, folder, readable, seconds, memory, file_size=2**20)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who ends us by closing our input
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever a scorer prints must not get between the replies
    replies.write(b"{}\n")
    replies.flush()
    for line in sys.stdin.buffer:
        replies.write(_judged(json.loads(line), shut_in, seconds) + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
