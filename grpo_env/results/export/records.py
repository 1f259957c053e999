"""Scores for tools that read scores: Inspect's ``precomputed_scores``, and audits of rewards by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.errors import UsageError

from ..parts import TOTAL, group, metric, named, valid, verdict, verdicts, where
from ..rows import ScoreRow
from .kinds import Kind, LeftOut


@dataclass(frozen=True)
class Inspect(Kind):
    """Records for Inspect's ``precomputed_scores``; the epoch is the completion's number, from 1.

    An unscored completion has no record, which Inspect takes as unscored.
    """

    part: str | None = None
    """The value: a part's, or ``total``; default: the task's metric."""

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        seen = set()
        for row in rows:
            found = verdicts(row)
            here = found[named(row, self.part or metric(row), found)]
            key = row["id"], row["completion"]
            if key in seen:
                raise UsageError(f"{where(row)}: twice in the file; Inspect reads one score for a sample and epoch")
            seen.add(key)
            if here.value is None:
                left_out[f"unscored ({here.status})"] += 1
                continue
            yield {
                "id": row["id"],
                "epoch": row["completion"] + 1,
                "value": here.value,
                "answer": None if here.answer is None else valid(here.answer),
                "explanation": valid(here.explanation),
                "metadata": {"status": here.status, **{name: each.value for name, each in found.items()}},
            }


@dataclass(frozen=True)
class Rewards(Kind):
    """One row for a group, ``{"prompt_id", "rewards"}``, as tools that audit rewards read it. No unscored ones."""

    part: str | None = None
    """The reward: a part's value instead of the total."""

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        found = [verdict(row, self.part or TOTAL) for row in rows]
        left_out.update(f"unscored ({each.status})" for each in found if each.value is None)
        rewards = [each.value for each in found if each.value is not None]
        if rewards:
            yield {"prompt_id": group(rows[0]), "rewards": rewards}
