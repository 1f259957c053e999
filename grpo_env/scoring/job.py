"""The unit of work: a chunk of a file in, finished lines of output out. Picklable, so that any process can do it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from grpo_env.files.reader import Line, Record, dump_line, parse
from grpo_env.taskfile.task import Task

from .chunks import Chunk
from .reader import Reader
from .score_row import Advantage, advantages, output_row
from .scorer import Scored, judge_rows
from .summary import ScoreSummary


class Reject(NamedTuple):
    """A row that could not be scored, with what was wrong and the row as far as it could be read."""

    file: str
    line: int
    problem: str
    row: dict[str, Any] | str | None


class ChunkResult(NamedTuple):
    """A chunk's output as JSONL, its rejects and sums, and how many bytes of input it was."""

    lines: bytes
    rejects: tuple[Reject, ...]
    tally: ScoreSummary
    size: int = 0


@dataclass(frozen=True)
class Job:
    """Scores chunks of the files ``names``, each with its reader. ``text`` and ``advantages`` are what rows hold."""

    task: Task
    names: tuple[str, ...]
    readers: tuple[Reader, ...]
    text: bool = True
    advantages: bool = False

    def __call__(self, chunk: Chunk) -> ChunkResult:
        """The chunk scored. Nothing that is in it raises."""
        start = time.process_time()
        reader, tally = self.readers[chunk.file], ScoreSummary()
        rows = [row for line in chunk.rows if (row := reader.read(line)) is not None]
        read = time.process_time()
        results = judge_rows(self.task, rows, chunk.continued)
        tally.verdicts = time.process_time() - read
        lines, rejects = [], []
        for result, paid in self._with_advantages(results):
            try:
                lines += self._lines(chunk, result, paid)
            except (TypeError, ValueError) as error:  # a verifier of the user's gave NaN, or no number
                problem = f"its score cannot be written as JSON ({error})"
                result = result._replace(row=result.row._replace(problem=problem), scores=())
            if result.problem:
                raw = next(line for line in chunk.rows if line.line == result.line)
                rejects.append(self.reject(chunk, raw, result.problem))
            tally.add(result, self.task.metric)
        tally.seconds = time.process_time() - start
        return ChunkResult("".join(lines).encode(), tuple(rejects), tally, chunk.size)

    def reject(self, chunk: Chunk, line: Line | Record, problem: str) -> Reject:
        """One of the chunk's lines as a reject."""
        row: dict[str, Any] | str | None = parse(line).row
        if row is None and isinstance(line, Line):
            row = line.data.decode(errors="backslashreplace").rstrip("\r\n")
        return Reject(self.names[chunk.file], line.line, problem, row)

    def _with_advantages(self, results: Sequence[Scored]) -> Iterator[tuple[Scored, list[Advantage | None]]]:
        for _, group in groupby(results, lambda result: result.group):
            members = list(group)
            scores = [score for result in members for score in result.scores]
            paid = iter(advantages(scores) if self.advantages and scores else [None] * len(scores))
            for result in members:
                yield result, [next(paid) for _ in result.scores]

    def _lines(self, chunk: Chunk, result: Scored, paid: Sequence[Advantage | None]) -> list[str]:
        file = self.names[chunk.file] if len(self.names) > 1 else None
        return [
            dump_line(output_row(self.task, result, index, text=self.text, file=file, advantage=advantage))
            for index, advantage in enumerate(paid)
        ]
