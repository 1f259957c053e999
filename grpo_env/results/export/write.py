"""Writes exports: streams a scores file group by group into rows for a trainer or another tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.plural import counted
from grpo_env.rows.writer import new_rows

from ..rows import ScoreRow, groups
from .inspect_records import Inspect
from .kinds import Kind
from .training_sets import Dpo, Prm, Sft

KINDS: dict[str, type[Kind]] = {"sft": Sft, "dpo": Dpo, "prm": Prm, "inspect": Inspect}


@dataclass
class ExportSummary:
    """How much was read, written and left out."""

    completions: int = 0
    groups: int = 0
    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Completions by reason."""
    unrecorded: int = 0
    """Completions with a prompt that is not recorded as theirs."""
    labels: Counter[bool] = field(default_factory=Counter)
    """Steps by label, of ``prm``."""

    def label_note(self) -> str:
        """What to know about the labels of the output; empty if there are good and bad ones, or none at all."""
        if len(self.labels) != 1:
            return ""
        ((label, count),) = self.labels.items()
        return f"all {counted(count, 'label')} are {str(label).lower()}: there is nothing to tell apart"

    def __str__(self) -> str:
        count = self.left_out.total()
        text = f"left out {count:,} of {counted(self.completions, 'completion')} in {counted(self.groups, 'group')}"
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.most_common())
        return f"{text}: {reasons}" if reasons else text


def make_kind(name: str, options: Mapping[str, Any]) -> Kind:
    """A kind by name with its options. Raises ``UsageError`` for an unknown kind or option."""
    if name not in KINDS:
        raise UsageError(f"unknown kind of export {name!r}; {nearest(name, KINDS)}")
    known = {option.name for option in fields(cast(Any, KINDS[name]))}
    for option in options.keys() - known:
        flag, *valid = [f"--{name.replace('_', '-')}" for name in (option, *sorted(known))]
        raise UsageError(f"export {name} has no option {flag}; its options are {', '.join(valid)}")
    return KINDS[name](**options)


def export(rows: Iterable[ScoreRow], kind: Kind, summary: ExportSummary) -> Iterator[dict[str, Any]]:
    """Yield the output rows of a kind, in order, and fill ``summary``. Keeps one group in memory.

    Raises ``UsageError`` as the kind and ``groups`` do, if some prompts are chats and others are text, and if two
    output rows are the same for their reader.
    """
    chats: set[bool] = set()
    seen: set[int] = set()
    for group_rows in groups(rows):
        summary.completions += len(group_rows)
        summary.groups += 1
        summary.unrecorded += sum(bool(row.get("prompt")) and not row.get("prompt_recorded") for row in group_rows)
        for row in kind(group_rows, summary.left_out):
            chats.add(isinstance(row.get("prompt"), list))
            if len(chats) > 1:
                raise UsageError(f"row {row['id']!r}: some prompts are chats and others text; export them separately")
            key = hash(tuple(row[name] for name in kind.unique))
            if kind.unique and key in seen:
                names = ", ".join(f"{name} {row[name]!r}" for name in kind.unique)
                raise UsageError(
                    f"{names}: twice in the file; give each row an id of its own when you score, or score the rows of "
                    "an id as one group (--group COLUMN)"
                )
            seen.add(key)
            summary.written += 1
            summary.labels.update(row.get("labels", ()))
            yield row


def export_file(rows: Iterable[ScoreRow], kind: Kind, out: Path, *, overwrite: bool = False) -> ExportSummary:
    """Write an export to ``out``, JSONL or Parquet by its suffix.

    Raises ``UsageError`` as ``export`` and ``new_rows`` do, and ``RunError`` if there is nothing to write.
    """
    summary = ExportSummary()
    with new_rows(out, kind.suffixes, overwrite=overwrite) as write:
        for row in export(rows, kind, summary):
            if out.suffix == ".parquet":
                _refuse_tools(row)
            write(row)
        if not summary.written:
            raise RunError(f"nothing to export: {summary}")
    return summary


def _refuse_tools(row: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` for tools and calls: Arrow gives all calls the same arguments, and fills in nulls."""
    chats = [value for value in row.values() if isinstance(value, list)]
    calls = any(isinstance(item, dict) and item.keys() != {"role", "content"} for chat in chats for item in chat)
    if calls or "tools" in row:
        raise UsageError(
            f"row {row['id']!r}: tools cannot be written as Parquet; give a name that ends in .jsonl with --out"
        )
