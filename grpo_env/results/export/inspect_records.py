"""Scores for Inspect's ``precomputed_scores``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grpo_env.rows.reader import replace_surrogates

from ..part_scores import full_name, named_scores
from ..rows import ScoreRow, metric_of
from .kinds import Kind, LeftOut


@dataclass(frozen=True)
class Inspect(Kind):
    """Records for Inspect's ``precomputed_scores``; the epoch is the completion's number, from 1.

    An unscored completion has no record, which Inspect treats as unscored.
    """

    part: str | None = None
    """The part (or ``total``) that gives the value; default: the task's metric."""
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    unique: ClassVar[tuple[str, ...]] = ("id", "epoch")  # one score per sample and epoch

    def __call__(self, rows: Sequence[ScoreRow], left_out: LeftOut) -> Iterator[dict[str, Any]]:
        for row in rows:
            scores = named_scores(row)
            score = scores[full_name(row, self.part or metric_of(row), scores)]
            if score.value is None:
                left_out[f"unscored ({score.status})"] += 1
                continue
            yield {
                "id": row["id"],
                "epoch": row["completion"] + 1,
                "value": score.value,
                "answer": None if score.answer is None else replace_surrogates(score.answer),
                "explanation": replace_surrogates(score.explanation),
                "metadata": {
                    "status": score.status,
                    **({"kind": score.kind} if score.kind else {}),
                    **({"rule": replace_surrogates(score.rule)} if score.rule else {}),
                    **{name: part.value for name, part in scores.items()},
                },
            }
