"""The unit of work: a chunk of a file in, finished lines of output out. Picklable, so that any process can do it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, NamedTuple

from grpo_env.core import score_groups
from grpo_env.rows.jsonl import dump_line
from grpo_env.rows.reader import Line, Record, parse
from grpo_env.taskfile.task import Task

from .chunks import Chunk
from .group_advantages import Advantage, group_advantages
from .row_reader import InputRow, RowReader
from .score_row import score_row
from .scorer import RowResult, Scorer, score_rows
from .summary import ScoreSummary


class Reject(NamedTuple):
    """A row that could not be scored, why, and the row as far as it could be read."""

    file: str
    line: int
    problem: str
    row: dict[str, Any] | str | None


class KeyedGroup(NamedTuple):
    """A run of rows of a file that share a key (``InputRow.key``), and the line of the first."""

    file: str
    key: str
    line: int


class ChunkResult(NamedTuple):
    """A chunk's output as JSONL, its rejects and summary, its size (``Chunk.size``) and its groups with a key."""

    lines: bytes
    rejects: tuple[Reject, ...]
    summary: ScoreSummary
    size: int = 0
    groups: tuple[KeyedGroup, ...] = ()


@dataclass(frozen=True)
class Job:
    """Scores chunks of the files ``names``, each with its reader. ``text`` and ``advantages`` add columns."""

    task: Task
    names: tuple[str, ...]
    readers: tuple[RowReader, ...]
    text: bool = True
    advantages: bool = False
    score: Scorer = score_groups

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """Score a chunk. Never raises because of its rows."""
        start = time.process_time()
        reader, summary = self.readers[chunk.file], ScoreSummary()
        read = reader.read_all(chunk.rows)
        rows = [row for row in read if not row.skipped]
        summary.skipped = len(read) - len(rows)
        lines, rejects = [], []
        results = score_rows(self.task, rows, self.score)
        advantages = iter(self._advantages(results))
        for result in results:
            try:
                lines += self._lines(chunk, result, list(islice(advantages, len(result.scores))))
            except (TypeError, ValueError) as error:  # an answer of a user's verifier that is no text, say
                problem = f"its score cannot be written as JSON ({error})"
                result = result._replace(row=result.row._replace(problem=problem), scores=())
            if result.problem:
                line = next(line for line in chunk.rows if line.line == result.row.line)
                rejects.append(self.reject(chunk, line, result.problem))
            summary.add(result, self.task.metric)
        summary.seconds = time.process_time() - start
        groups = self._groups(chunk, rows)
        return ChunkResult("".join(lines).encode(), tuple(rejects), summary, chunk.size, groups)

    def reject(self, chunk: Chunk, line: Line | Record, problem: str) -> Reject:
        """One of the chunk's lines as a reject."""
        row: dict[str, Any] | str | None = parse(line).row
        if row is None and isinstance(line, Line):
            row = line.data.decode(errors="backslashreplace").rstrip("\r\n")
        return Reject(self.names[chunk.file], line.line, problem, row)

    def _groups(self, chunk: Chunk, rows: Sequence[InputRow]) -> tuple[KeyedGroup, ...]:
        keyed = [row for row in rows if row.key is not None or not row.problem]
        runs = ((key, next(run)) for key, run in groupby(keyed, lambda row: row.key))
        return tuple(KeyedGroup(self.names[chunk.file], key, row.line) for key, row in runs if key is not None)

    def _advantages(self, results: Sequence[RowResult]) -> list[Advantage | None]:
        advantages: list[Advantage | None] = []
        scored = (result for result in results if result.scores)  # the others are in no group and do not end one
        for _, group in groupby(scored, lambda result: result.row.group):
            scores = [score for result in group for score in result.scores]
            advantages += group_advantages(scores) if self.advantages else [None] * len(scores)
        return advantages

    def _lines(self, chunk: Chunk, result: RowResult, advantages: Sequence[Advantage | None]) -> list[str]:
        file = self.names[chunk.file] if len(self.names) > 1 else None
        return [
            dump_line(score_row(self.task, result, index, text=self.text, file=file, advantage=advantage))
            for index, advantage in enumerate(advantages)
        ]
