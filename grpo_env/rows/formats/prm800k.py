"""PRM800K (Lightman et al. 2023, arXiv:2305.20050): solutions with a rating of each step, as its README describes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grpo_env.errors import UsageError

from .file_format import FileFormat, Row, converted


def _row(row: Row) -> dict[str, Any]:
    """The chosen steps, in ``labels`` with their ratings (-1, 0 or 1), up to the first without a choice.

    Blank lines separate steps (``segments: paragraph``), so those within a step are removed.
    """
    steps, labels = [], []
    for step in row["label"]["steps"]:
        chosen, human = step["chosen_completion"], step["human_completion"]
        if chosen is None and human is None and not step["completions"]:
            break
        taken = human if chosen is None and human is not None else step["completions"][chosen or 0]
        rating = 1 if taken is human else taken["rating"]
        if rating is None:
            break
        steps.append(re.sub(r"\n\s*\n", "\n", taken["text"].strip()))
        labels.append(float(rating))
        if chosen is None and human is None:
            break
    if not steps:
        raise UsageError("no step has a rating")
    question = row["question"]
    columns = {"question": question["problem"], "answer": question.get("ground_truth_answer")}
    return converted({**row, **columns, "steps": steps, "labels": labels}, ["\n\n".join(steps)])


def _has_steps(row: Row) -> bool:
    label, question = row["label"], row["question"]
    return isinstance(label, Mapping) and "steps" in label and isinstance(question, Mapping) and "problem" in question


PRM800K = FileFormat(
    "PRM800K", columns=("question", "label"), row_function=_row, condition=_has_steps, gold=("answer",)
)
