"""Cuts files into chunks that processes can score independently: no group is in two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from grpo_env.errors import UsageError
from grpo_env.rows.reader import Line, Record

from .columns import MAX_GROUP

CHUNK_ROWS = 64  # enough to hide the cost of sending them to a process
CHUNK_BYTES = 1 << 20  # fewer rows if they are long

Key = Callable[[Line | Record], str | None]


class Chunk(NamedTuple):
    """Neighboring rows of the ``file``-th file, unparsed if they are lines.

    ``continued`` is the key of a group that is too large to be scored, if the chunk begins inside one.
    """

    file: int
    rows: tuple[Line | Record, ...]
    continued: str | None = None

    @property
    def size(self) -> int:
        """Bytes of its lines."""
        return sum(len(row.data) for row in self.rows if isinstance(row, Line))


def cut_file(file: int, rows: Iterable[Line | Record], key: Key) -> Iterator[Chunk]:
    """Cut the rows of a file. ``key`` tells which neighbors are one group (``RowReader.key``).

    Only rows near the ends of chunks are asked for their key. A group that is too large to be scored is cut all the
    same, and the chunks that continue it have its key.
    """
    pending: list[Line | Record] = []
    size, room = 0, 0
    last = continued = None  # the key of the chunk's last group, and of the too large one that it begins in
    full = False
    for row in rows:
        if full:
            in_last_group = last is not None and _belongs_to(last, row, key)
            if in_last_group and room:
                pending.append(row)
                room -= 1
                continue
            yield Chunk(file, tuple(pending), continued)
            continued = last if in_last_group else None
            pending, size = [], 0
        pending.append(row)
        size += len(row.data) if isinstance(row, Line) else 0
        full = len(pending) >= CHUNK_ROWS or size >= CHUNK_BYTES
        if full:
            last = _last_key(pending, key)
            room = 0 if last == continued else MAX_GROUP
    if pending:
        yield Chunk(file, tuple(pending), continued)


def cut_files(files: Iterable[tuple[Iterable[Line | Record], Key]]) -> Iterator[Chunk]:
    """The chunks of several files, each given by its rows and its key."""
    for number, (rows, key) in enumerate(files):
        yield from cut_file(number, rows, key)


def _belongs_to(group: str, row: Line | Record, key: Key) -> bool:
    try:
        return key(row) == group
    except UsageError:
        return True  # a row that cannot be scored does not split the group around it


def _last_key(rows: list[Line | Record], key: Key) -> str | None:
    for row in reversed(rows):
        try:
            return key(row)
        except UsageError:
            continue
    return None
