"""The process that scores for ``reasoning_gym``: its scorers parse and some evaluate what a model wrote.

Every answer is scored in a child process of its own, which is confined like programs in the sandbox, with limits on its
memory and processor time. Run by ``reasoning_gym.py`` with its folder, the memory in bytes and the processor seconds;
never imported by it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NoReturn

from reasoning_gym.factory import create_dataset

from grpo_env.workers.child_process import limit_processor_time, read_requests

_REPLY = 4096  # bytes
_TOO_LARGE = {"status": "over_limit", "why": "too large: memory"}
_TUPLES = ("arc_agi", "rearc")  # their scorers compare boards as tuples of tuples, which JSON gives as lists


@lru_cache(maxsize=64)
def _scorer(dataset: str, arguments: str) -> Any:
    return create_dataset(dataset, **json.loads(arguments)).score_answer


def _score(request: dict[str, Any], confine_child: Callable[[], None], seconds: float) -> dict[str, Any]:
    """The child's reply, or what ended it."""
    entry = request["entry"]
    try:
        score = _scorer(entry["metadata"]["source_dataset"], json.dumps(request["arguments"]))
    except Exception as error:
        return {"status": "error", "why": f"{type(error).__name__}: {error}"}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _score_in_child(score, entry, request["answer"], confine_child, seconds, writer)
    os.close(writer)
    with open(reader, "rb") as replies:
        data = replies.read(_REPLY)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -status in (signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL):
        return {"status": "timeout", "why": "not scored in time"}
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):  # it died before it had written all, or the answer wrote something else
        reply = None
    return reply if isinstance(reply, dict) else _TOO_LARGE


def _score_in_child(
    score: Any, entry: dict[str, Any], answer: str, confine_child: Callable[[], None], seconds: float, writer: int
) -> NoReturn:
    try:
        try:
            confine_child()
            limit_processor_time(seconds)
            reply = _reply(score, entry, answer)
        except OSError as error:
            reply = {"status": "error", "why": f"the child cannot be confined: {error}"}
        os.write(writer, json.dumps(reply).encode())
    finally:
        os._exit(0)


def _reply(score: Any, entry: dict[str, Any], answer: str) -> dict[str, Any]:
    """The ``value`` of an answer, or the status ``no_answer`` if its scorer fails on it but not on the gold answer."""
    name = entry["metadata"]["source_dataset"]
    if name in _TUPLES:
        entry["metadata"] = {key: _as_tuples(value) for key, value in entry["metadata"].items()}
    try:
        return {"value": float(score(answer, entry))}
    except MemoryError:
        return _TOO_LARGE
    except RecursionError:
        return {"status": "over_limit", "why": "too large: nesting"}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
    try:
        score(entry["answer"], entry)
    except Exception:
        return {"status": "error", "why": f"{name} cannot score its own answer: {reason}"}
    return {"status": "no_answer", "why": f"its scorer raised {reason}"}


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def main() -> None:
    """Answer requests until the caller closes the pipe."""
    # Imported here: the verifiers import the package, not the other way round.
    from grpo_env.verifiers.sandbox.confine import confine

    folder, memory, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    readable = [sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path)]
    confine_child = partial(confine, folder, readable, seconds, memory, file_size=2**20)
    for request, send in read_requests(sys.argv):
        send(_score(request, confine_child, seconds))


if __name__ == "__main__":
    main()
