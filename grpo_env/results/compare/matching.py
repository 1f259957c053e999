"""Matching the rows of two scores files by completion, in constant memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.rows.reader import replace_surrogates

from ..rows import ScoreRow, location

TWO_MODELS = "compare is for two scorings of the same completions; of two models, see grpo_env view report of each"
LOOK_AHEAD = 1000  # rows searched for the next match: bounds memory


def match(a: Iterable[ScoreRow], b: Iterable[ScoreRow]) -> Iterator[tuple[ScoreRow | None, ScoreRow | None]]:
    """Pairs of rows with the same (file, id, completion), in order; ``None`` if one of the two has no such row.

    Both must have the same order, and each may lack at most 1,000 consecutive rows (any number at the end). Raises
    ``UsageError`` otherwise, and if a completion has two different texts.
    """
    left, right = _Window(a), _Window(b)
    while left.fill(1) and right.fill(1):
        if left.keys[0] == right.keys[0]:
            yield _check_text(left.pop(), right.pop())
            continue
        left.fill(LOOK_AHEAD)
        right.fill(LOOK_AHEAD)
        left_only, right_only = _before_match(left, right)
        for _ in range(left_only):
            yield left.pop(), None
        for _ in range(right_only):
            yield None, right.pop()
    while left.fill(1):
        yield left.pop(), None
    while right.fill(1):
        yield None, right.pop()


class _Window:
    """The next rows of a file with their keys."""

    def __init__(self, rows: Iterable[ScoreRow]) -> None:
        self._source = iter(rows)
        self.rows: deque[ScoreRow] = deque()
        self.keys: deque[tuple[Any, ...]] = deque()

    def fill(self, count: int) -> bool:
        """Read until the window has ``count`` rows or the file ends. Returns whether it has any."""
        for row in islice(self._source, max(0, count - len(self.rows))):
            self.rows.append(row)
            file = row.get("file")
            # Only the name: the same file may have been scored from another folder.
            self.keys.append((PurePath(file).name if file else None, row["id"], row["completion"]))
        return bool(self.rows)

    def pop(self) -> ScoreRow:
        self.keys.popleft()
        return self.rows.popleft()


def _before_match(left: _Window, right: _Window) -> tuple[int, int]:
    """How many rows of each come before the first that both have."""
    positions = {key: index for index, key in reversed(list(enumerate(right.keys)))}
    first = next((index for index, key in enumerate(left.keys) if key in positions), None)
    if first is None:
        if max(len(left.keys), len(right.keys)) < LOOK_AHEAD:
            return len(left.keys), len(right.keys)
        raise UsageError(
            f"the next {LOOK_AHEAD:,} rows have none in common, from {location(left.rows[0])} in A and "
            f"{location(right.rows[0])} in B: other completions, or another order; {TWO_MODELS}"
        )
    second = positions[left.keys[first]]
    early = set(islice(right.keys, second))
    if not early.isdisjoint(left.keys):
        raise UsageError(
            f"the files are in different orders: {location(right.rows[0])} comes later in A than in B; score both from "
            "the same file"
        )
    return first, second


def _check_text(a: ScoreRow, b: ScoreRow) -> tuple[ScoreRow, ScoreRow]:
    text_a, text_b = a.get("text"), b.get("text")
    if text_a is None or text_b is None or text_a == text_b:
        return a, b
    if replace_surrogates(text_a) != replace_surrogates(text_b):
        raise UsageError(f"{location(a)}: the files have different texts; {TWO_MODELS}")
    return a, b
