"""Finds out from the first rows of a file that nothing of it can be scored, because a column has another name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.rows.column_names import ANSWER, COMPLETION, QUESTION, guess, rows_below
from grpo_env.rows.formats.chat import is_chat
from grpo_env.rows.formats.file_format import Row

Read = Callable[[Row], Any]
"""Reads one thing from a row. Raises ``UsageError``."""


def check_columns(rows: Sequence[Row], readers: Mapping[str, Read]) -> None:
    """Raises ``UsageError`` if one of ``readers`` (by name: ``completion``, ``answer``, ...) fails for all of ``rows``.

    The message says why the first row has it not, which columns hold texts, and which flags may help.
    """
    problems = {name: problem for name, read in readers.items() if (problem := _problem(rows, read)) is not None}
    if not problems:
        return
    texts = _text_columns(rows)
    held = ", ".join(f"{name} ({size} each)" if size else name for name, size in texts.items())
    columns = f"columns that hold texts: {held}" if texts else "no column holds texts"
    others = {name: size for name, size in texts.items() if not all(_is_gold(row, name, readers) for row in rows)}
    tips = _tips(problems, _flags(rows[0], others, problems), bool(texts))
    one = len(rows) == 1
    of = "the first row" if one else f"any of the first {len(rows)} rows"
    golds = [name for name in texts if name not in others]
    missing = [f"no {name} ({_without_hint(problem, golds)})" for name, problem in problems.items()]
    below = rows_below(rows[0]) if one else ""
    raise UsageError(f"{' and '.join(missing)} in {of}; {'; '.join([columns, *tips])}{below}")


def _without_hint(problem: str, golds: Sequence[str]) -> str:
    """A problem without the list of all columns, and without a hint at one that has the gold answers."""
    said, _, hint = problem.partition("; ")
    return said if hint.startswith("known: ") or any(hint == f"did you mean {name!r}?" for name in golds) else problem


def _tips(problems: Mapping[str, str], flags: str, has_texts: bool) -> Iterator[str]:
    """What to try: the ``flags`` that name columns, and how to name those that none of them names."""
    if flags:
        yield f"try {flags}"
    unnamed = [f"--{name}" for name in ("completion", "answer") if name in problems and f"--{name}" not in flags]
    if has_texts and "--completion" in unnamed:
        yield f"name them with {' '.join(f'{flag} COLUMN' for flag in unnamed)}"
    if "--answer" in unnamed:
        yield "--join id, prompt or order finds the answers in the task's data"


def _problem(rows: Sequence[Row], read: Read) -> str | None:
    """The problem of the first row, if all rows have one."""
    first = None
    for row in rows:
        try:
            read(row)
        except UsageError as error:
            first = first or str(error)
        else:
            return None
    return first


def _is_gold(row: Row, name: str, readers: Mapping[str, Read]) -> bool:
    """Whether a column has a row's gold answer, or what is in a column that looks like it: no completion does."""
    names = [other for other in row if guess([other], ANSWER) and not guess([other], COMPLETION)]
    known = [row[other] for other in names if other != name]
    with suppress(UsageError, KeyError):
        known.append(readers["answer"](row))
    return row[name] in known


def _text_columns(rows: Sequence[Row]) -> dict[str, int | str]:
    """The columns with a text, chat, or list of them in all rows; with the length of the lists, 0 for a single text."""
    columns: dict[str, int | str] = {}
    for name in rows[0]:
        sizes = {_size(row.get(name)) for row in rows}
        if None not in sizes:
            columns[name] = next(iter(sizes)) or 0 if len(sizes) == 1 else "several"
    return columns


def _size(value: Any) -> int | None:
    """How many texts a value has: 0 for a single one, ``None`` if it is anything else."""
    if isinstance(value, str) or is_chat(value):
        return 0
    if isinstance(value, list) and value and all(isinstance(item, str) or is_chat(item) for item in value):
        return len(value)
    return None


def _flags(row: Row, texts: Mapping[str, int | str], problems: Mapping[str, str]) -> str:
    """The flags that name the columns that look right, for what was not found."""
    flags, taken = [], guess(row, QUESTION)
    if "completion" in problems:
        lists = [name for name, size in texts.items() if size]
        found = guess(texts, COMPLETION) or (lists[0] if len(lists) == 1 else None)
        flags += [f"--completion {found}"] if found is not None and found != taken else []
        taken = found or taken
    if "answer" in problems:
        found = guess([name for name in row if name != taken], ANSWER)
        flags += [f"--answer {found}"] if found is not None else []
    return " ".join(flags)
