"""The work of a judging process: some items of a request in, a verdict as JSON for each out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

from grpo_env.core import Example, Message, Score, Status
from grpo_env.errors import UsageError
from grpo_env.files.reader import dump_line
from grpo_env.scoring.fields import completion_of
from grpo_env.scoring.reader import Row
from grpo_env.scoring.scorer import judge_rows
from grpo_env.taskfile.task import Task

from .schemas import Chat, Item

PIECE = 32  # items: enough to hide the cost of handing them over, few enough for several processes to share a request


class Piece(NamedTuple):
    """Items of one request, of which a group is in one piece as a whole."""

    task: str
    rows: tuple[Row, ...]


class Verdict(NamedTuple):
    """The verdict on an item: its status, for the metrics, and all of it as JSON."""

    status: Status
    line: bytes


@dataclass(frozen=True)
class Judge:
    """Judges pieces by the tasks it knows. Picklable, so that any process can do it."""

    tasks: Mapping[str, Task]

    def __call__(self, piece: Piece) -> list[Verdict]:
        """A verdict for each row, in order. Nothing that is in the piece raises."""
        results = judge_rows(self.tasks[piece.task], piece.rows)
        return [
            verdict(result.id, result.scores[0] if result.scores else unscored(result.problem)) for result in results
        ]


def verdict(id: str, score: Score) -> Verdict:
    """A score as it is sent."""
    try:
        return Verdict(score.status, dump_line({"id": id, **score.to_dict()}).encode())
    except (TypeError, ValueError) as error:  # a verifier of the user's gave NaN, or no number
        return verdict(id, unscored(f"the score cannot be written as JSON ({error})"))


def unscored(why: str) -> Score:
    """The total of an item that could not be judged at all."""
    return Score(None, "error", name="total", explanation=why)


def read(task: Task, items: Sequence[Item]) -> list[Row]:
    """A request's items as rows. Raises ``UsageError`` for a group that cannot be judged as one."""
    rows = [_row(task, place, item) for place, item in enumerate(items)]
    if task.scores_groups:
        for before, row in pairwise(rows):
            if row.key is not None and row.key == before.key and row.example.answer != before.example.answer:
                raise UsageError(
                    f"items.{row.line}.answer: the group {row.key[:100]!r} is judged as a whole, "
                    "but its items have different gold answers"
                )
    return rows


def pieces(task: str, rows: Sequence[Row]) -> list[Piece]:
    """A request cut for several processes, its groups whole."""
    found: list[list[Row]] = []
    for unit in units(rows):
        if not found or len(found[-1]) + len(unit) > PIECE:
            found.append([])
        found[-1] += unit
    return [Piece(task, tuple(rows)) for rows in found]


def units(rows: Sequence[Row]) -> list[list[Row]]:
    """The smallest lists of rows that can be judged without the others: groups, and rows by themselves."""
    return [list(unit) for _, unit in groupby(rows, lambda row: row.line if row.key is None else row.key)]


def _row(task: Task, place: int, item: Item) -> Row:
    found = item.completion if isinstance(item.completion, str) else [one.model_dump() for one in item.completion]
    completion, _ = completion_of(task, found, None, item.finish, item.num_tokens, None)
    id = str(place) if item.id is None else item.id
    return Row(place, id, item.group, Example(id, _prompt(item.prompt), item.answer, item.info), (completion,))


def _prompt(prompt: str | Chat | None) -> str | tuple[Message, ...]:
    if isinstance(prompt, list):
        return tuple(Message(message.role, message.content or "") for message in prompt)
    return prompt or ()
