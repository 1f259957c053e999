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
    """Neighboring rows of the ``file``-th file, unparsed if they are lines."""

    file: int
    rows: tuple[Line | Record, ...]

    @property
    def size(self) -> int:
        """Bytes of its lines."""
        return sum(len(row.data) for row in self.rows if isinstance(row, Line))


def cut_file(file: int, rows: Iterable[Line | Record], key: Key, most: int | None = None) -> Iterator[Chunk]:
    """Cut the rows of a file. ``key`` tells which neighbors are one group (``RowReader.key``).

    Chunks have ``most`` rows, by default ``CHUNK_ROWS``, and then the rest of a group. Only rows near the ends of
    chunks are asked for their key. Raises ``UsageError`` for a group that is too large.
    """
    most = CHUNK_ROWS if most is None else most
    pending: list[Line | Record] = []
    size = 0
    last = None  # the key of the last group of a full chunk
    full = False
    for row in rows:
        if full and (last is None or not _belongs_to(last, row, key)):
            yield Chunk(file, tuple(pending))
            pending, size, full = [], 0, False
        pending.append(row)
        size += len(row.data) if isinstance(row, Line) else 0
        if len(pending) > most + MAX_GROUP:
            problem = f"the group {last!r:.60} has more than {MAX_GROUP:,} completions; is --group the right column?"
            raise UsageError(f"row {row.line:,}: {problem}")
        if not full and (len(pending) >= most or size >= CHUNK_BYTES):
            full, last = True, _last_key(pending, key)
    if pending:
        yield Chunk(file, tuple(pending))


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
