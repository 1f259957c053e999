"""What an audit tries, and the clock that ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True)
class AuditRequest:
    """What an audit tries on the first ``limit`` examples: all hacks or agents, or some ``families`` or hacks by name.

    After ``budget`` seconds no other is tried. ``rescore`` scores some of the texts again, in another order and another
    process, to see whether their rewards are stable; episodes are played once.
    """

    limit: int = 50
    families: Collection[str] = ()
    budget: float = 600.0
    rescore: bool = True


def tried(
    items: Sequence[Any], kind: str, start: float, budget: float, progress: Progress, notes: list[str]
) -> Iterator[Any]:
    """The items until ``budget`` seconds after ``start``; ``progress`` is told of each, ``notes`` how many are left."""
    for number, item in enumerate(items):
        if time.perf_counter() - start > budget:
            notes.append(f"{len(items) - number} {kind} were not tried within {budget:g} s")
            return
        progress(f"{number + 1} of {len(items)} {kind}: {item.family}, {item.name}")
        yield item
