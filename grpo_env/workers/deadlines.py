"""Deadlines of verifiers by the clock. A worker process notes what it is doing; its parent ends it when that is late.

The piece of work is then sent to a fresh worker with the late places, which are not run again there: they score 0 with
status ``timeout``, or are unscored where a server or a device was late (``Verifier.late_status``).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from math import inf
from mmap import mmap
from struct import Struct
from typing import NamedTuple

from grpo_env.core import UNSCORED, Completion, Example, Group, Score, Verifier

_RECORD = Struct("2d2q")  # when it is late, after how many seconds; the place (two numbers)
_pack = _RECORD.pack_into
_clock = time.perf_counter
_COMBINING = 120.0  # seconds per completion for a composite's own work


class Place(NamedTuple):
    """What is late: a verifier, by its index in the table, and one of the piece's completions, counted from 0.

    A group is the first of its completions; the n-th call of ``score_groups`` as a whole is -n.
    """

    verifier: int
    completion: int


class LatePlaceError(Exception):
    """A worker is late with ``place``, which had ``seconds``."""

    def __init__(self, place: Place, seconds: float) -> None:
        super().__init__(place, seconds)
        self.place, self.seconds = place, seconds


Late = Mapping[Place, float]
"""Late places, with the seconds they had."""
_Now = tuple[float, float, int, int]
_NOTHING: _Now = (inf, inf, 0, 0)


def make_memory() -> int:
    """A file descriptor of memory for a worker and its parent."""
    if hasattr(os, "memfd_create"):
        memory = os.memfd_create("grpo_env")
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, _RECORD.size)
    os.pwrite(memory, _RECORD.pack(*_NOTHING), 0)
    return memory


class Clock:
    """The parent's view of the memory."""

    def __init__(self, memory: int) -> None:
        self._memory = mmap(memory, _RECORD.size)

    def seconds_left(self) -> float:
        """Until the present place is late. Raises ``LatePlaceError`` when it is."""
        now = self._now()
        if now[0] <= _clock():
            time.sleep(0.001)
            if self._now() == now:  # else it has just moved on, perhaps in the middle of being read
                _, seconds, verifier, completion = now
                raise LatePlaceError(Place(verifier, completion), seconds)
        return max(self._now()[0] - _clock(), 0.0)

    def clear(self) -> None:
        """Nothing is running."""
        _pack(self._memory, 0, *_NOTHING)

    def _now(self) -> _Now:
        return _RECORD.unpack_from(self._memory)


class _Row(NamedTuple):
    """A verifier: its number in the table, its name in the task, its seconds per completion."""

    number: int
    verifier: Verifier  # kept, so that its id stays its own
    name: str
    seconds: float


class Watch:
    """Notes in the shared memory what this process is doing. Installed in ``core`` by worker processes only.

    Times are ``perf_counter``'s, which is the same clock in all processes of a machine.
    """

    def __init__(self, memory: int) -> None:
        self._memory = mmap(memory, _RECORD.size)
        self._now: _Now = _NOTHING
        self._root: Verifier | None = None
        self._rows: dict[int, _Row] = {}
        self.start({}, inf)

    def start(self, late: Late, most: float) -> None:
        """Begin a piece. ``most`` bounds the seconds of verifiers that score single completions and groups."""
        self._late, self._most = late, most
        self._calls, self._count, self._depth = 0, 0, 0
        self._numbers: dict[tuple[int, int], int] = {}
        self._set(_NOTHING)

    def score_groups(self, verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
        """``verifier.score_groups(groups)``."""
        if self._depth == 0:
            self._begin(verifier, groups)
        row = self._rows.get(id(verifier))
        if row is None:  # called by another verifier, whose deadline includes this
            return verifier.score_groups(groups)
        count = sum(len(group.completions) for group in groups)
        place = Place(row.number, -self._calls)
        if place in self._late:
            late = self._timeout(row, place)
            return [[late.relabel(seconds=late.seconds / count)] * len(group.completions) for group in groups]
        before = self._now
        self._depth += 1
        try:
            seconds = row.seconds * count
            expiry = _clock() + seconds
            if expiry < before[0]:
                self._set((expiry, seconds, *place))
            return verifier.score_groups(groups)
        finally:
            self._depth -= 1
            self._set(before)

    def enter(self, verifier: Verifier, example: Example, completions: Sequence[Completion]) -> object:
        """Note that a verifier starts on one completion or on a whole group.

        Returns what ``leave`` needs, or a ``Score`` if it was late before: then do not run it, and do not ``leave``.
        """
        before = self._now
        try:
            row = self._rows[id(verifier)]
            number = self._numbers[id(example), id(completions[0])]
        except KeyError:  # called by another verifier, whose deadline includes this
            return before
        if self._late and (place := Place(row.number, number)) in self._late:
            return self._timeout(row, place)
        seconds = min(row.seconds * len(completions), self._most)
        expiry = _clock() + seconds
        if expiry < before[0]:
            self._now = expiry, seconds, row.number, number
        _pack(self._memory, 0, *self._now)
        return before

    def leave(self, before: object) -> None:
        """Note that it has ended. The memory follows with the next completion or ``score_groups``."""
        self._now = before  # type: ignore[assignment]

    def _begin(self, verifier: Verifier, groups: Sequence[Group]) -> None:
        if verifier is not self._root:
            self._root, self._rows = verifier, {}
            self._add(verifier, "total", None)
        self._calls += 1
        places = ((id(example), id(completion)) for example, completions in groups for completion in completions)
        self._numbers = {place: number for number, place in enumerate(places, self._count)}
        self._count += sum(len(group.completions) for group in groups)

    def _add(self, verifier: Verifier, name: str, deadline: float | None) -> float:
        """Add a verifier and its parts to the table; returns its seconds per completion."""
        of_parts = [self._add(part, label, limit) for label, part, limit in verifier.named_parts()]
        seconds = _COMBINING + sum(of_parts) if of_parts else deadline or verifier.default_deadline
        self._rows[id(verifier)] = _Row(len(self._rows), verifier, name, seconds)
        return seconds

    def _set(self, now: _Now) -> None:
        self._now = now
        _pack(self._memory, 0, *now)

    def _timeout(self, row: _Row, place: Place) -> Score:
        """The score of what was late."""
        seconds, status = self._late[place], row.verifier.late_status
        why = f"{row.name} did not end within {seconds:.4g} s"
        return Score(None if status in UNSCORED else 0.0, status, explanation=why, seconds=seconds)
