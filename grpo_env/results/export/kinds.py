"""The interface of all exports: one group's rows in, output rows out, and a count of what was left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ..rows import ScoreRow

LeftOut = Counter[str]


class Kind(ABC):
    """One kind of export. Subclasses are frozen dataclasses whose fields are the options.

    Unscored completions are left out; they never become a 0.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".parquet")
    unique: ClassVar[tuple[str, ...]] = ()
    """Keys of an output row that no other row has together."""

    @abstractmethod
    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        """The output rows of one group, in order. Raises ``UsageError`` for rows without the necessary keys."""
