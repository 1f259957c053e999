"""When two rewards count as equal: the definition that advantages, reports, comparisons and exports share."""

from __future__ import annotations

from collections.abc import Sequence

# Relative to the larger magnitude, and absolute below 1: 0.1 + 0.2 and 0.3 must not become advantages of -1 and +1.
TOLERANCE = 1e-9


def equal(a: float, b: float) -> bool:
    """Whether two values differ by rounding only."""
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def all_equal(values: Sequence[float]) -> bool:
    """Whether the lowest and the highest value are equal; true for no values."""
    return not len(values) or equal(min(values), max(values))
