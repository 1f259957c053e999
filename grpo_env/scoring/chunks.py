"""A file cut into chunks that processes can score by themselves: no group is in two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from grpo_env.errors import UsageError
from grpo_env.files.reader import Line, Record

from .fields import MAX_GROUP

CHUNK = 64  # rows: enough to hide the cost of handing them over
CHUNK_BYTES = 1 << 20  # fewer rows where they are long

Key = Callable[[Line | Record], str | None]


class Chunk(NamedTuple):
    """Neighbouring rows of the ``file``-th file, unread where they are lines.

    ``continued`` is the key of a group that is too large to be judged, if the chunk begins inside one.
    """

    file: int
    rows: tuple[Line | Record, ...]
    continued: str | None = None

    @property
    def size(self) -> int:
        """Bytes of its lines; a row that is no line counts 1, as in ``Input.size``."""
        return sum(len(row.data) if isinstance(row, Line) else 1 for row in self.rows)


def cut(file: int, rows: Iterable[Line | Record], key: Key) -> Iterator[Chunk]:
    """The rows of a file in chunks. ``key`` tells which neighbours are one group (``Reader.key``).

    Only rows near the ends of chunks are asked for their key. A group that is too large to be judged is cut all the
    same, and the chunks that go on with it say so.
    """
    held: list[Line | Record] = []
    size, room = 0, 0
    last = continued = None  # the key of the chunk's last group, and of the too large one that it begins in
    full = False
    for row in rows:
        if full:
            within = last is not None and _is_of(last, row, key)
            if within and room:
                held.append(row)
                room -= 1
                continue
            yield Chunk(file, tuple(held), continued)
            continued = last if within else None
            held, size = [], 0
        held.append(row)
        size += len(row.data) if isinstance(row, Line) else 0
        full = len(held) >= CHUNK or size >= CHUNK_BYTES
        if full:
            last = _last_key(held, key)
            room = 0 if last == continued else MAX_GROUP
    if held:
        yield Chunk(file, tuple(held), continued)


def cut_all(files: Iterable[tuple[Iterable[Line | Record], Key]]) -> Iterator[Chunk]:
    """The chunks of several files, each given by its rows and its key."""
    for number, (rows, key) in enumerate(files):
        yield from cut(number, rows, key)


def _is_of(group: str, row: Line | Record, key: Key) -> bool:
    try:
        return key(row) == group
    except UsageError:
        return True  # it cannot be judged, and must not tear apart the rows around it


def _last_key(rows: list[Line | Record], key: Key) -> str | None:
    for row in reversed(rows):
        try:
            return key(row)
        except UsageError:
            continue
    return None
