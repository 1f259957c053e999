"""Two files of scores side by side: the rows of the same completions, in constant memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from typing import Any

from grpo_env.errors import UsageError

from ..parts import valid, where
from ..rows import ScoreRow

LOOK_AHEAD = 1000  # rows looked at to find where two files meet again: bounds memory


def match(a: Iterable[ScoreRow], b: Iterable[ScoreRow]) -> Iterator[tuple[ScoreRow | None, ScoreRow | None]]:
    """The rows of both by (file, id, completion), in order; ``None`` where one of the two has no such row.

    Both must have one order, and up to 1,000 rows in a row may be missing in the middle of either: memory is constant.
    Raises ``UsageError`` where that does not hold, and for two texts of one completion.
    """
    left, right = _Window(a), _Window(b)
    while left.fill(1) and right.fill(1):
        if left.keys[0] == right.keys[0]:
            yield _same_text(left.pop(), right.pop())
            continue
        left.fill(LOOK_AHEAD)
        right.fill(LOOK_AHEAD)
        alone = _before_meeting(left, right)
        for _ in range(alone[0]):
            yield left.pop(), None
        for _ in range(alone[1]):
            yield None, right.pop()
    while left.fill(1):
        yield left.pop(), None
    while right.fill(1):
        yield None, right.pop()


class _Window:
    """The next rows of a file, and what they are matched by."""

    def __init__(self, rows: Iterable[ScoreRow]) -> None:
        self._source = iter(rows)
        self.rows: deque[ScoreRow] = deque()
        self.keys: deque[tuple[Any, ...]] = deque()

    def fill(self, count: int) -> bool:
        """Read on until there are ``count`` rows, if the file has so many. Whether there is any."""
        for row in islice(self._source, max(0, count - len(self.rows))):
            self.rows.append(row)
            file = row.get("file")
            # The name alone: the same file may have been scored from another folder.
            self.keys.append((PurePath(file).name if file else None, row["id"], row["completion"]))
        return bool(self.rows)

    def pop(self) -> ScoreRow:
        self.keys.popleft()
        return self.rows.popleft()


def _before_meeting(left: _Window, right: _Window) -> tuple[int, int]:
    """How many rows of each come before the first that both have."""
    at = {key: index for index, key in reversed(list(enumerate(right.keys)))}
    first = next((index for index, key in enumerate(left.keys) if key in at), None)
    if first is None:
        if max(len(left.keys), len(right.keys)) < LOOK_AHEAD:
            return len(left.keys), len(right.keys)
        raise UsageError(
            f"of the next {LOOK_AHEAD:,} rows, from {where(left.rows[0])} in the one and {where(right.rows[0])} in "
            "the other file, none is in both: not the same completions, or not in the same order"
        )
    second = at[left.keys[first]]
    early = set(islice(right.keys, second))
    if not early.isdisjoint(left.keys):
        raise UsageError(
            f"the files are in different orders: {where(right.rows[0])} comes later in the one than in the other; "
            "score both from the same file"
        )
    return first, second


def _same_text(a: ScoreRow, b: ScoreRow) -> tuple[ScoreRow, ScoreRow]:
    first, second = a.get("text"), b.get("text")
    if first is not None and second is not None and first != second and valid(first) != valid(second):
        raise UsageError(f"{where(a)}: the files have different texts for it; these are not the same completions")
    return a, b
