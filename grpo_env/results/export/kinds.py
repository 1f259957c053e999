"""What all exports have in common: one group's rows in, a consumer's rows out, and a count of what was left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from grpo_env.files.writer import Column

from ..rows import ScoreRow

LeftOut = Counter[str]


class Kind(ABC):
    """One kind of export. Subclasses are frozen dataclasses; their fields are the options.

    An unscored completion never becomes a 0: it is left out.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)

    @abstractmethod
    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        """The output of one group, in order. Raises ``UsageError`` for rows that lack what is needed."""

    def columns(self, row: Mapping[str, Any]) -> Mapping[str, Column]:
        """The columns of an output row; needed where ``suffixes`` has Parquet."""
        return {}
