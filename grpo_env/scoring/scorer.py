"""Scores rows: neighbors of one group together, and each row independently of what goes wrong in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import NamedTuple

from grpo_env.core import Group, Score, Verifier, score_groups
from grpo_env.rows.reader import Record
from grpo_env.taskfile.task import Task

from .chunks import cut_file
from .columns import Fields
from .row_reader import InputRow, RowReader

Scorer = Callable[[Verifier, Sequence[Group]], list[list[Score]]]


class RowResult(NamedTuple):
    """The result for one row: a score for each of its completions, or none and the row's ``problem``."""

    row: InputRow
    scores: tuple[Score, ...] = ()

    @property
    def group(self) -> str:
        """Neighbors with the same value are completions of one prompt."""
        group = self.row.group
        return f"line {group}" if isinstance(group, int) else group

    @property
    def id(self) -> str:
        """The row's id, by default its line."""
        return self.row.id

    @property
    def problem(self) -> str:
        """Why the row could not be scored; empty if it was."""
        return self.row.problem


def score_records(task: Task, fields: Fields, records: Iterable[Record]) -> Iterator[RowResult]:
    """Score records in this process, in order. Memory does not grow with the input."""
    reader = RowReader(task, fields)
    for chunk in cut_file(0, records, reader.key):
        yield from score_rows(task, reader.read_all(chunk.rows))


def score_rows(task: Task, rows: Iterable[InputRow], score: Scorer = score_groups) -> list[RowResult]:
    """Score rows in order, by ``score``. Rows that could not be read are in no group, and do not end one."""
    in_order, groups = list(rows), list[Group]()
    readable = [place for place, row in enumerate(in_order) if not row.problem]
    for key, adjacent in groupby(readable, lambda place: in_order[place].group):
        places = list(adjacent)
        members = [in_order[place] for place in places]
        if not task.scores_groups:
            groups += [Group(row.example, row.completions) for row in members]
        elif len({row.example.answer for row in members}) > 1:
            problem = f"the group {key!r} is scored as a whole, but its rows have different gold answers"
            for place in places:
                in_order[place] = in_order[place]._replace(problem=problem)
        else:
            completions = [completion for row in members for completion in row.completions]
            groups.append(Group(members[0].example, completions))
    scores = chain.from_iterable(score(task.verifier, groups))
    return [RowResult(row, tuple(islice(scores, 0 if row.problem else len(row.completions)))) for row in in_order]
