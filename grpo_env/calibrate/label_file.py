"""Files of rows to be labeled: reads them, and appends the labels that are given in a terminal.

A label that is given in a terminal is a short row at the end of the file, which applies to the row above with the same
id, completion, line and file. So nothing that is in the file is ever changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.results.rows import first_row
from grpo_env.rows.jsonl import dump_line
from grpo_env.rows.reader import read_records
from grpo_env.rows.writer import writing
from grpo_env.terminal import printable

from .rates import UNSURE
from .sample import LabelRow

KEYS: dict[str, bool | str] = {"y": True, "n": False, "s": UNSURE}
UNDO, QUIT = "u", "q"
HELP = "y: the answer is correct   n: it is wrong   s: cannot tell   u: undo   q: quit"
_REQUIRED: dict[str, tuple[tuple[type, ...], str]] = {  # of a row to be labeled
    **dict.fromkeys(("task", "metric", "problem", "text", "explanation", "stratum"), ((str,), "a text")),
    **dict.fromkeys(("answer", "gold", "kind"), ((str, NoneType), "a text or null")),
    "verdict": ((bool,), "true or false"),
    "stratum_size": ((int,), "a whole number"),
}
_ENDS = (QUIT, "", "\x03", "\x04")  # the last two are Ctrl-C and Ctrl-D, where a terminal passes them on


def is_label_file(path: Path) -> bool:
    """Whether the first row of a file is one to be labeled. Raises ``UsageError`` if the file cannot be read."""
    return {"stratum_size", "verdict", "label"} <= first_row(path).keys()


def read_labels(path: Path) -> list[LabelRow]:
    """The rows of a file of labels, in order, each with its last label. Raises ``UsageError`` with the line."""
    rows: dict[tuple[str, ...], LabelRow] = {}
    for record in read_records(path):
        row, where = record.row, f"{path}, {record.place}"
        if row is None:
            raise UsageError(f"{where}: {record.problem}")
        if "id" not in row or "completion" not in row or (_key(row) not in rows and "stratum_size" not in row):
            raise UsageError(f"{where}: is neither a row to be labeled nor a label of one above")
        if "stratum_size" in row and _key(row) in rows:
            raise UsageError(f"{where}: the same completion as above")
        if _key(row) not in rows:
            _check(row, where)
        rows.setdefault(_key(row), row)["label"] = _label(row.get("label"), where)
    return list(rows.values())


def _key(row: LabelRow) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in ("file", "line", "id", "completion"))  # ids need not be unique


def _check(row: LabelRow, where: str) -> None:
    for key, (types, what) in _REQUIRED.items():
        if not isinstance(row.get(key, ...), types):
            problem = f"must be {what}" if key in row else f"is missing; it must be {what}"
            raise UsageError(f'{where}: "{key}" {problem}')


def _label(value: Any, where: str) -> bool | str | None:
    if value is None or value in (True, False):
        return None if value is None else bool(value)
    if value == UNSURE:
        return UNSURE
    raise UsageError(f'{where}: "label" must be true (the answer is correct), false, "?" (cannot tell) or null')


def ask(path: Path, key: Callable[[], str], show: Callable[[str], None]) -> bool:
    """Ask for the labels that are missing, one key for each, and append each to the file at once.

    Returns whether all are labeled: False after ``q``, Ctrl-C or the end of the input. The verdict is not shown,
    because it would influence the label. Raises ``UsageError`` as ``read_labels`` does and for a file that is not
    ``.jsonl``, and ``RunError`` if the file cannot be written.
    """
    if path.suffix != ".jsonl":
        raise UsageError(f"{path}: answers are appended as lines, which needs a file whose name ends in .jsonl")
    rows = read_labels(path)
    missing = [row for row in rows if row["label"] is None]
    at = 0
    while at < len(missing):
        show(_question(missing[at], len(rows) - len(missing) + at + 1, len(rows)))
        pressed = _press(key, at)
        if pressed == QUIT:
            return False
        if pressed == UNDO:
            at -= 1
            _append_label(path, missing[at], None)
        else:
            _append_label(path, missing[at], KEYS[pressed])
            at += 1
    return True


def _press(key: Callable[[], str], answered: int) -> str:
    """The next key that means something; the end of the input means ``q``."""
    while True:
        try:
            pressed = key().lower()
        except (KeyboardInterrupt, EOFError):
            return QUIT
        if pressed in _ENDS:
            return QUIT
        if pressed in KEYS or (pressed == UNDO and answered):
            return pressed


def _append_label(path: Path, row: LabelRow, label: bool | str | None) -> None:
    """Append the label of a row to its file. Raises ``RunError`` if it cannot be written."""
    names = ("id", "completion", "line", "file")
    line = dump_line({name: row[name] for name in names if name in row} | {"label": label}).encode()
    with writing(path), path.open("r+b") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _question(row: LabelRow, number: int, count: int) -> str:
    lines = [f"{'─' * 20} {number:,} of {count:,}"]
    for name, key in (("problem", "problem"), ("completion", "text"), ("answer", "answer"), ("gold", "gold")):
        if row[key] not in (None, ""):
            lines += [name, *(f"    {printable(line)}" for line in str(row[key]).splitlines() or [""])]
    return "\n".join([*lines, HELP])
