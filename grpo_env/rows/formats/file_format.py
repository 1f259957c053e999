"""``FileFormat``: how the files of one tool are recognized, and how their rows become rows of ours.

The row function of a format returns the row's own columns and over them ``completions`` (texts or chats) and, where the
file has them, ``id``, ``prompt``, ``group``, and, as lists with an entry for each completion, ``finish_reason``,
``num_tokens`` and ``token_ids``. It raises ``UsageError`` for a row without completions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from grpo_env.core import Example
from grpo_env.errors import UsageError

from .join import By, find, index_by_id, index_by_prompt
from .packed_example import is_packed, unpack

Row = Mapping[str, Any]
GoldTemplate = Callable[[Row], Any]
"""From a row to its gold answer by the task's template. Raises ``UsageError`` if the template does not fit the row."""

PROMPT_RECORDED = "prompt_recorded"
"""The column that says whether the file has the prompt of a row, rather than the task makes it."""

_COMPLETION_COLUMNS = {"completion", "completions"}


@dataclass(frozen=True)
class FileFormat:
    """The files that one tool writes. Picklable."""

    name: str
    """For messages."""
    columns: tuple[str, ...]
    """The columns that all rows have."""
    row_function: Callable[[Row], dict[str, Any]]
    """Makes a row of the file one of ours."""
    condition: Callable[[Row], bool] | None = None
    """Tells the format from another one with the same columns."""
    adapt: Callable[[FileFormat, Sequence[Row], GoldTemplate | None], FileFormat] | None = None
    """Fits the format to one file, given the file's first rows and the task's template."""
    gold: tuple[str, ...] = ()
    """Path to the gold answer in the converted row, if the file has it."""
    template_first: bool = False
    """The task's template is preferred to the gold answer of the file."""
    joins: By | None = None
    """Rows have no question: it comes from the task's dataset, found by this."""
    filter: str | None = None
    """Only rows of this lm-eval filter are read: those of other filters repeat the same completions."""
    mixed_within: str | None = None
    """The tool mixes the groups of neighboring rows with the same value of this column (``RowReader.in_groups``).

    Empty: the groups of the whole file.
    """
    number: Callable[[Row], Any] | None = None
    """A row's place in its group, from 0; none: rows are counted."""

    def matches(self, row: Row) -> bool:
        """Whether a row can be of this format.

        A row with a ``completion`` column that the format does not have is our own, with additional columns.
        """
        return (
            row.keys() >= set(self.columns)
            and row.keys().isdisjoint(_COMPLETION_COLUMNS - set(self.columns))
            and (self.condition is None or self.condition(row))
        )

    def convert(self, row: Row) -> dict[str, Any] | None:
        """A row of the file as one of ours; ``None`` for a row that repeats another one's completions.

        Raises ``UsageError`` for a row without completions.
        """
        if self.filter is not None and row.get("filter") != self.filter:
            return None
        for column in self.columns:
            if column not in row:
                raise UsageError(f"no column {column!r}, which all rows of {self.name} have")
        try:
            return self.row_function(row)
        except UsageError:
            raise
        except (TypeError, AttributeError, LookupError, ValueError, OverflowError, RecursionError) as error:
            raise UsageError(f"not a row of {self.name} ({type(error).__name__}: {error})") from error

    def index(self, examples: Iterable[Example]) -> dict[str, Example]:
        """The task's examples by what rows are joined by, if that is their id or prompt. Raises ``UsageError``."""
        return index_by_prompt(examples) if self.joins == "prompt" else index_by_id(examples)

    def join(self, row: Row, index: Mapping[str, Example]) -> dict[str, Any]:
        """A converted row with its example's columns and, unless it has one, prompt. Raises ``UsageError``."""
        example = find(row, index, self.joins or "id")
        info = {key: value for key, value in example.info.items() if key not in _COMPLETION_COLUMNS}
        return {**info, "id": example.id, "prompt": example.prompt, PROMPT_RECORDED: bool(row.get("prompt")), **row}

    def gold_answer(self, row: Row, template: GoldTemplate) -> Any:
        """The gold answer of a converted (and joined) row: the file's if it has one, else by the task's template.

        Raises the ``UsageError`` of ``template`` if there is neither.
        """
        answer: Any = row if self.gold else None
        for key in self.gold:
            answer = answer.get(key) if isinstance(answer, Mapping) else None
        if answer is None:
            return template(row)
        with suppress(UsageError):
            if self.template_first and (made := template(row)) is not None:
                return made
        return answer


NATIVE = FileFormat("grpo_env rows", columns=(), row_function=dict)
"""Rows of our own (docs/scoring.md): they need no conversion, and any file that no other format matches has them."""


def join_unless_gold(file_format: FileFormat, rows: Sequence[Row], template: GoldTemplate | None) -> FileFormat:
    """The format, joined with the task's examples only if no row has the gold answer in a column of its own."""
    if template is None or any(_has_gold(file_format, row, template) for row in rows):
        return replace(file_format, joins=None)
    return file_format


def _has_gold(file_format: FileFormat, row: Row, template: GoldTemplate) -> bool:
    try:
        template(file_format.convert(row) or {})
    except UsageError:
        return False
    return True


def converted(row: Row, completions: str | Sequence[Any], **columns: Any) -> dict[str, Any]:
    """The row's own columns, with ``completions`` (a text is one) and with those of ``columns`` that have a value."""
    completions = [completions] if isinstance(completions, str) else completions
    own = {key: value for key, value in row.items() if key not in _COMPLETION_COLUMNS}
    known = {key: value for key, value in columns.items() if value is not None and value != [None] * len(completions)}
    return {**own, "completions": list(completions), **known}


def unpacked(row: Row, column: str) -> tuple[Row, str | None]:
    """The row with the columns of the example packed into ``column``, and the example's id, if there is one."""
    text = row.get(column)
    if not is_packed(text):
        return row, None
    id, columns = unpack(text, column)
    return {**{key: value for key, value in row.items() if key != column}, **columns}, id


def group_key(step: Any, prompt: Any) -> str:
    """A key for the completions of one prompt at one training step."""
    text = json.dumps(prompt, sort_keys=True, default=str)
    return f"{step}/{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


def error_message(error: Any) -> str:
    """The message of an error as OpenAI, vLLM (an error in an error) or verifiers write it."""
    while isinstance(error, Mapping):
        keys = ("error_chain_str", "message", "error", "code", "type")
        error = next((error[key] for key in keys if error.get(key)), None)
    return str(error)[:500] if error else "no reason given"
