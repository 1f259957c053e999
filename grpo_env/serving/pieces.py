"""What a scoring process gets and returns: some items of a request in, a score as JSON for each out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from grpo_env.core import BatchVerifier, Example, Message, Score
from grpo_env.errors import UsageError
from grpo_env.rows.jsonl import dump_line
from grpo_env.scoring.completion import Recorded, read_completion
from grpo_env.scoring.row_reader import InputRow
from grpo_env.scoring.scorer import score_rows
from grpo_env.taskfile.task import Task

from .schemas import Chat, Item

PIECE = 16  # items: enough to outweigh the cost of sending them, few enough for other requests to wait for


class Piece(NamedTuple):
    """Items of one request. Groups are never divided."""

    task: str
    rows: tuple[InputRow, ...]


@dataclass(frozen=True)
class PieceScorer:
    """Scores pieces by the tasks it knows. Picklable, so that any process can do it."""

    tasks: Mapping[str, Task]

    def __call__(self, piece: Piece) -> list[str]:
        """The scores of a piece as JSON objects, in order. Nothing in it makes this raise."""
        return [
            encode(row.id, row.scores[0] if row.scores else unscored(row.problem))
            for row in score_rows(self.tasks[piece.task], piece.rows)
        ]

    def pieces(self, task: str, rows: Sequence[InputRow]) -> Iterator[list[InputRow]]:
        """The rows of a request, cut into pieces of ``PIECE`` items and the rest of a group.

        A task with a batch verifier is scored whole: its model or server is fast only with many items at once.
        """
        whole = any(isinstance(part, BatchVerifier) for part in self.tasks[task].verifier.walk())
        piece: list[InputRow] = []
        for unit in units(rows):
            piece += unit
            if len(piece) >= PIECE and not whole:
                yield piece
                piece = []
        if piece:
            yield piece


def encode(id: str, score: Score) -> str:
    """A score as it is sent: a JSON object."""
    try:
        return dump_line({"id": id, **score.to_dict()})
    except (TypeError, ValueError) as error:  # an answer of a user's verifier that is no text, say
        return encode(id, unscored(f"the score cannot be written as JSON ({error})"))


def response_body(task: str, scores: Sequence[str]) -> str:
    """``ScoreResponse`` as JSON, put together from what the scoring processes encoded.

    Encoding the scores again would hold up all other requests, as one process answers them.
    """
    return f'{{"task":{json.dumps(task)},"scores":[{",".join(scores)}]}}'


def unscored(why: str) -> Score:
    """The total of an item that could not be scored at all."""
    return Score(None, "error", name="total", explanation=why)


def read_items(task: Task, items: Sequence[Item]) -> list[InputRow]:
    """A request's items as rows. Raises ``UsageError``."""
    return [_row(task, index, item) for index, item in enumerate(items)]


def units(rows: Sequence[InputRow]) -> list[list[InputRow]]:
    """The smallest lists of rows that can be scored on their own: groups, and rows without a group."""
    return [list(unit) for _, unit in groupby(rows, lambda row: row.group)]


def _row(task: Task, index: int, item: Item) -> InputRow:
    text = item.completion
    messages = text if isinstance(text, str) else [message.model_dump() for message in text]
    try:
        completion, _ = read_completion(task, messages, Recorded(None, item.finish, item.num_tokens))
    except UsageError as error:
        raise UsageError(f"items.{index}.completion: {error}") from error
    id = str(index) if item.id is None else item.id
    return InputRow(index, id, item.group, Example(id, _prompt(item.prompt), item.answer, item.info), (completion,))


def _prompt(prompt: str | Chat | None) -> str | tuple[Message, ...]:
    if isinstance(prompt, list):
        return tuple(Message(message.role, message.content or "") for message in prompt)
    return prompt or ()
