"""Turns a file of scores into what a trainer or another tool reads: streamed group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.files.writer import Column, new_rows

from ..parts import group
from ..rows import ScoreRow
from .kinds import Kind
from .records import Inspect, Rewards
from .training import Dpo, Prm, Sft

KINDS: dict[str, type[Kind]] = {"sft": Sft, "dpo": Dpo, "prm": Prm, "inspect": Inspect, "rewards": Rewards}


@dataclass
class Exported:
    """What was taken and what was not."""

    completions: int = 0
    groups: int = 0
    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Completions by reason."""


def make_kind(name: str, options: Mapping[str, Any]) -> Kind:
    """A kind by name with its options. Raises ``UsageError`` for an unknown kind, and for another kind's options."""
    if name not in KINDS:
        raise UsageError(f"unknown kind of export {name!r}; {nearest(name, KINDS)}")
    known = {one.name for one in fields(cast(Any, KINDS[name]))}
    for option in options.keys() - known:
        flags = [f"--{one.replace('_', '-')}" for one in (option, *sorted(known))]
        raise UsageError(f"{flags[0]} is no option of export {name}; it has: {', '.join(flags[1:])}")
    return KINDS[name](**options)


def export(rows: Iterable[ScoreRow], kind: Kind, counts: Exported) -> Iterator[dict[str, Any]]:
    """The output rows of a kind, in order, while ``counts`` fills. Memory is that of one group.

    Raises ``UsageError`` as the kind does, and where some prompts are chats and others are text.
    """
    columns: Mapping[str, Column] | None = None
    for _, members in groupby(rows, group):
        here = list(members)
        counts.completions += len(here)
        counts.groups += 1
        for row in kind(here, counts.left_out):
            columns = columns or kind.columns(row)
            if kind.columns(row) != columns:
                raise UsageError(f"row {row['id']!r}: some prompts are chats and others text; export them apart")
            counts.written += 1
            yield row


def export_file(rows: Iterable[ScoreRow], kind: Kind, out: Path) -> Exported:
    """Write an export to ``out``, JSONL or Parquet by its suffix.

    Raises ``UsageError`` as ``export`` and ``new_rows`` do, and ``RunError`` if there is nothing to write.
    """
    counts = Exported()
    with new_rows(out, kind.suffixes, kind.columns) as write:
        for row in export(rows, kind, counts):
            write(row)
        if not counts.written:
            raise RunError(f"nothing to export: {described(counts)}")
    return counts


def described(counts: Exported) -> str:
    """What was left out, in words."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.left_out.most_common())
    return f"of {counts.completions:,} completions in {counts.groups:,} groups left out: {reasons or 'none'}"
