"""Rows judged: neighbours of one group together, and the rest of the file untouched by what one row does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, groupby, islice
from typing import NamedTuple

from grpo_env.core import Group, Score, score_groups
from grpo_env.files.reader import Record
from grpo_env.taskfile.task import Task

from .chunks import Chunk, cut
from .fields import MAX_GROUP, Fields
from .reader import Reader, Row
from .worker_pool import on_all


class Scored(NamedTuple):
    """What became of one row: a score for each of its completions, or none and the row's ``problem``.

    Rows with the same ``group`` that stand next to each other are the completions of one prompt.
    """

    row: Row
    group: str
    scores: tuple[Score, ...] = ()

    @property
    def line(self) -> int:
        """The row's line or number in its file, from 1."""
        return self.row.line

    @property
    def id(self) -> str:
        """The row's own id, by default its line."""
        return self.row.id

    @property
    def labels(self) -> tuple[bool | None, ...]:
        """The known verdicts, one for each completion."""
        return self.row.labels

    @property
    def problem(self) -> str:
        """Why the row could not be judged; empty where it was."""
        return self.row.problem


def score_rows(task: Task, fields: Fields, records: Sequence[Record]) -> list[Scored]:
    """Score rows together, for the verifiers that judge many at once. A row that cannot be scored keeps its problem."""
    return judge_chunk(Reader(task, fields), Chunk(0, tuple(records)))


def score_records(task: Task, fields: Fields, records: Iterable[Record], workers: int = 1) -> Iterator[Scored]:
    """Score records in order, on ``workers`` processes; one is this process. Memory does not grow with their number.

    Raises ``RunError`` if a process dies; ``score_files`` finds the row that did it.
    """
    reader = Reader(task, fields)
    work, chunks = partial(judge_chunk, reader), cut(0, records, reader.key)
    if workers == 1:
        yield from chain.from_iterable(map(work, chunks))
        return
    with closing(on_all(work, chunks, workers)) as judged:
        yield from chain.from_iterable(judged)


def judge_chunk(reader: Reader, chunk: Chunk) -> list[Scored]:
    """A chunk's rows, read and judged."""
    rows = [row for line in chunk.rows if (row := reader.read(line)) is not None]
    return judge_rows(reader.task, rows, chunk.continued)


def judge_rows(task: Task, rows: Sequence[Row], continued: str | None = None) -> list[Scored]:
    """The rows' scores, in order. The first rows whose key is ``continued`` belong to a group that is too large."""
    together = task.scores_groups
    problems = [row.problem for row in rows]
    asked = []
    for places in _groups(rows):
        members = [rows[place] for place in places]
        problem = _problem(members, continued, together)
        continued = None
        if problem:
            for place in places:
                problems[place] = problem
        elif together:
            texts = [completion for row in members for completion in row.completions]
            asked.append(Group(members[0].example, texts))
        else:
            asked += [Group(row.example, row.completions) for row in members]
    scores = chain.from_iterable(score_groups(task.verifier, asked))
    return [
        Scored(row._replace(problem=problem), row.key or str(row.line), tuple(islice(scores, count)))
        for row, problem in zip(rows, problems, strict=True)
        for count in [0 if problem else len(row.completions)]
    ]


def _groups(rows: Sequence[Row]) -> list[list[int]]:
    """Places of the rows of each group; rows that could not be read are in none, and end none."""
    sound = [place for place, row in enumerate(rows) if not row.problem]
    return [list(places) for _, places in groupby(sound, lambda place: rows[place].key or place)]


def _problem(members: Sequence[Row], continued: str | None, together: bool) -> str:
    """Why the rows of a group cannot be judged as one."""
    key = members[0].key
    if key is not None and (key == continued or len(members) > MAX_GROUP):
        return f"the group {key!r} has more than {MAX_GROUP:,} completions"
    if together and len({row.example.answer for row in members}) > 1:
        return f"the group {key!r} is judged as a whole, but its rows have different gold answers"
    return ""
