"""Deadlines of verifiers by the clock. A worker process notes what it is doing; its parent ends it when that is late.

The piece of work is then sent to a fresh worker with the late places, which are not run again there: they score 0 with
status ``timeout``, or are unscored where a server or a device was late (``Verifier.late_status``).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from mmap import mmap
from struct import Struct
from typing import NamedTuple

from grpo_env.core import UNSCORED, Completion, Example, Group, Score, Verifier

_RECORD = Struct("2d3q")  # when it is late, after how many seconds; the place (two numbers); the running verifier
_pack = _RECORD.pack_into
_clock = time.perf_counter
_COMBINING = 120.0  # seconds per completion for a composite's own work


class Place(NamedTuple):
    """What is late: a verifier, by its index in the table, and one of the piece's completions, counted from 0.

    A group is the first of its completions; the n-th call of ``score_groups`` as a whole is -n.
    """

    verifier: int
    completion: int


class Lateness(NamedTuple):
    """A late place, the seconds it had, and the verifier that was running."""

    place: Place
    seconds: float
    running: int


Late = Mapping[Place, Lateness]
_Now = tuple[float, float, int, int, int]
_NOTHING: _Now = (inf, inf, 0, 0, 0)


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
        """Until the present place is late."""
        return max(self._now()[0] - _clock(), 0.0)

    def late(self) -> Lateness | None:
        """What is late, if anything is."""
        now = self._now()
        if now[0] > _clock():
            return None
        time.sleep(0.001)
        if self._now() != now:  # it has just moved on, perhaps in the middle of being read
            return None
        _, seconds, verifier, completion, running = now
        return Lateness(Place(verifier, completion), seconds, running)

    def clear(self) -> None:
        """Nothing is running."""
        _RECORD.pack_into(self._memory, 0, *_NOTHING)

    def _now(self) -> _Now:
        return _RECORD.unpack_from(self._memory)


class _Row(NamedTuple):
    """A verifier: its number in the table, its name in the task, its seconds per completion, and budgets.

    ``budget`` are the seconds of a composite for all its parts, ``budgets`` those of the composites around it.
    """

    number: int
    verifier: Verifier  # kept, so that its id stays its own
    name: str
    seconds: float
    budget: float | None
    budgets: tuple[_Row, ...]


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
        self._spent: dict[Place, float] = {}
        self._charged: tuple[Place, ...] = ()
        self._exhausted: set[Place] = set()
        self._set(_NOTHING)

    def score_groups(self, verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
        """``verifier.score_groups(groups)``."""
        if self._depth == 0:
            self._begin(verifier, groups)
        row = self._rows.get(id(verifier))
        if row is None:  # called by another verifier, whose deadline includes this
            return verifier.score_groups(groups)
        place = Place(row.number, -self._calls)
        if place in self._late:
            late, count = self._timeout(place), sum(len(group.completions) for group in groups)
            return [[late.relabel(seconds=late.seconds / count)] * len(group.completions) for group in groups]
        before = self._now
        self._depth += 1
        try:
            self._note(row, row.seconds * sum(len(group.completions) for group in groups), place.completion)
            scores = verifier.score_groups(groups)
        finally:
            self._depth -= 1
            self._set(before)
        return scores if row.budget is None or not self._late else self._mark_late(row, groups, scores)

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
        if self._late and (score := self._late_score(row, number)):
            return score
        # Written out instead of calling _note and _set: this runs for every completion and verifier.
        index, _, _, seconds, _, budgets = row
        if len(completions) > 1:
            seconds *= len(completions)
        if seconds > self._most:
            seconds = self._most
        expiry = _clock() + seconds
        if expiry < before[0]:
            self._now = expiry, seconds, index, number, index
            _pack(self._memory, 0, expiry, seconds, index, number, index)
        else:
            self._set((*before[:4], index))
        if budgets and len(completions) == 1:
            self._note_budgets(row, number)
        return before

    def leave(self, before: object, scores: Sequence[Score]) -> None:
        """Note that it has ended with ``scores``. The memory follows with the next completion or ``score_groups``."""
        self._now = before  # type: ignore[assignment]
        if self._charged:
            for place in self._charged:
                self._spent[place] = self._spent.get(place, 0.0) + scores[0].seconds
            self._charged = ()

    def _begin(self, verifier: Verifier, groups: Sequence[Group]) -> None:
        if verifier is not self._root:
            self._root, self._rows = verifier, {}
            self._add(verifier, "total", None, ())
        self._calls += 1
        places = ((id(example), id(completion)) for example, completions in groups for completion in completions)
        self._numbers = {place: number for number, place in enumerate(places, self._count)}
        self._count += sum(len(group.completions) for group in groups)

    def _add(self, verifier: Verifier, name: str, deadline: float | None, budgets: tuple[_Row, ...]) -> float:
        """Add a verifier and its parts to the table; returns its seconds per completion."""
        index = len(self._rows)
        parts = list(verifier.named_parts())
        budget = getattr(verifier, "deadline", None) if parts else None
        row = _Row(index, verifier, name, deadline or verifier.default_deadline, budget, budgets)
        self._rows[id(verifier)] = row
        if parts:
            within = (*budgets, row) if budget else budgets
            seconds = _COMBINING + sum(self._add(part, label, limit, within) for label, part, limit in parts)
            self._rows[id(verifier)] = row = row._replace(seconds=seconds)
        return row.seconds

    def _note(self, row: _Row, seconds: float, number: int) -> None:
        expiry = _clock() + seconds
        earlier = expiry < self._now[0]
        self._set((expiry, seconds, row.number, number, row.number) if earlier else (*self._now[:4], row.number))

    def _note_budgets(self, row: _Row, number: int) -> None:
        self._charged = tuple(Place(above.number, number) for above in row.budgets)
        for above, place in zip(row.budgets, self._charged, strict=True):
            budget = above.budget or inf
            expiry = _clock() + budget - self._spent.get(place, 0.0)
            if place not in self._late and expiry < self._now[0]:
                self._set((expiry, budget, *place, row.number))

    def _set(self, now: _Now) -> None:
        self._now = now
        _pack(self._memory, 0, *now)

    def _late_score(self, row: _Row, number: int) -> Score | None:
        """The score of a completion whose verifier, or a composite around it, was late."""
        place = Place(row.number, number)
        if place in self._late:
            return self._timeout(place)
        for above in row.budgets:
            place = Place(above.number, number)
            lateness = self._late.get(place)
            if lateness and (lateness.running == row.number or place in self._exhausted):
                self._exhausted.add(place)
                late = self._timeout(place)
                return late if lateness.running == row.number else late.relabel(seconds=0.0)
        return None

    def _mark_late(self, row: _Row, groups: Sequence[Group], scores: list[list[Score]]) -> list[list[Score]]:
        """A composite's scores, with those that were late in all their parts together."""

        def mark(score: Score, example: Example, completion: Completion) -> Score:
            place = Place(row.number, self._numbers.get((id(example), id(completion)), 0))
            if place not in self._late:
                return score
            late = self._timeout(place)
            return replace(score, value=late.value, status=late.status, explanation=late.explanation, rule="")

        return [
            [mark(score, example, completion) for score, completion in zip(members, completions, strict=True)]
            for members, (example, completions) in zip(scores, groups, strict=True)
        ]

    def _timeout(self, place: Place) -> Score:
        _, seconds, running = self._late[place]
        rows = {row.number: row for row in self._rows.values()}
        why = f"{rows[place.verifier].name} did not end within {seconds:.4g} s"
        if running != place.verifier:
            why += f"; {rows[running].name} was running"
        status = rows[running].verifier.late_status
        return Score(None if status in UNSCORED else 0.0, status, explanation=why, seconds=seconds)
