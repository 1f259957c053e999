"""Scores groups in a worker process, within the verifiers' deadlines. One process for all tasks of this process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from grpo_env.core import Group, Score, Verifier, score_groups
from grpo_env.errors import RunError
from grpo_env.workers.killable_worker import ReplaceableWorker, WorkerDiedError
from grpo_env.workers.pipe_messages import from_bytes, to_bytes


class _Piece(NamedTuple):
    path: list[str]
    """Where the caller's modules are, of which some may have been added since the process started."""
    verifier: bytes
    groups: list[Group]


def score_in_process(verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
    """``core.score_groups`` in the worker process: the scores in the shape of ``groups``.

    If they end the process twice, they are unscored, with status ``error``. Raises ``RunError`` if the verifier cannot
    be sent there or no process starts.
    """
    try:
        piece = _Piece(list(sys.path), _bytes_of(verifier), list(groups))
    except Exception as error:
        raise RunError(f"the task's verifiers cannot be sent to the process that scores ({error})") from error
    try:
        return _process(piece)
    except WorkerDiedError:  # not necessarily because of them: try once more
        with suppress(WorkerDiedError):
            return _process(piece)
        death = Score(None, "error", name="total", explanation="scoring ended its process, twice")
        return [[death] * len(group.completions) for group in groups]


_last: tuple[Verifier | None, bytes] = None, b""


def _bytes_of(verifier: Verifier) -> bytes:
    """A verifier as bytes, which are made once for all groups of a step, one after the other."""
    global _last
    known, data = _last  # together, since other threads may score with other verifiers
    if known is not verifier:
        data = to_bytes(verifier)
        _last = verifier, data
    return data


def start() -> None:
    """Start the process in the background, so that it is ready when the first completions are."""

    def start() -> None:
        with suppress(RunError):  # the first call reports it
            _process.start()

    threading.Thread(target=start, daemon=True).start()


def kill() -> None:
    """End the process, whatever it is doing; the next call starts another."""
    _process.kill()


def _score(piece: _Piece) -> list[list[Score]]:
    sys.path[:] = piece.path
    return score_groups(_verifier(piece.verifier), piece.groups)


@lru_cache(maxsize=16)
def _verifier(data: bytes) -> Verifier:
    """Unpickled once, since verifiers may cache."""
    verifier: Verifier = from_bytes(data)
    return verifier


_process: ReplaceableWorker[_Piece, list[list[Score]]] = ReplaceableWorker(_score)
