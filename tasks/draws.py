"""How the generators draw rows: the same ones for a seed, and a tenth held out by a hash, whatever the seeds."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from grpo_env.errors import UsageError

HELD_OUT = 10  # one key in this many belongs to the eval split
MAX_DRAWS = 2000  # for a row: about one draw in thirty is a new eval problem of countdown


class Draw(NamedTuple):
    """A row, the ``key`` that no other row has, and what is held out with it, if that is less than the key."""

    row: dict[str, Any]
    key: str
    held_out_by: str | None = None


def is_held_out(key: str) -> bool:
    """Whether rows with this key belong to the eval split."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % HELD_OUT == 0


def check_split(task: str, split: str) -> None:
    """Raise ``UsageError`` for a split other than ``train`` and ``eval``."""
    if split not in ("train", "eval"):
        raise UsageError(f"{task}: unknown split {split!r}; use 'train' or 'eval'")


def check_ranges(task: str, ranges: dict[str, tuple[Any, int, int | None]]) -> None:
    """Raise ``UsageError`` for an inclusive range, by name, that is empty or not within the two bounds beside it."""
    for name, ((low, high), least, most) in ranges.items():
        if not least <= low <= high or (most is not None and high > most):
            bound = "" if most is None else f" <= {most}"
            raise UsageError(f"{task}: {name} is [{low}, {high}]; it needs {least} <= first <= last{bound}")


def distinct(
    task: str, split: str, size: int, seed: int, draw: Callable[[random.Random], Draw | None]
) -> Iterator[tuple[dict[str, Any], random.Random]]:
    """``size`` rows of a split, no two alike, with what they were drawn by. ``draw`` may give ``None`` for no row.

    Raises ``UsageError`` for an unknown split, and if there are too few rows.
    """
    check_split(task, split)
    seen: set[str] = set()
    for index in range(size):
        rng = random.Random(f"{seed}/{split}/{index}")
        for _ in range(MAX_DRAWS):
            drawn = draw(rng)
            if drawn is None or drawn.key in seen:
                continue
            if is_held_out(drawn.held_out_by or drawn.key) == (split == "eval"):
                break
        else:
            raise UsageError(f"{task}: found only {index} different {split} problems; widen the ranges")
        seen.add(drawn.key)
        yield drawn.row, rng
