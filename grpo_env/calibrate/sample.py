"""Draws a stratified sample of a file of scores, as rows to be labeled."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.results.rows import location, question_of, read_scores

from .strata import Verdict, merged, verdicts

MAX_STRATA = 20
MIN_LABELS = 5  # of a stratum, if it has so many completions
TEXT_LENGTH = 1500  # last characters of a completion in a row to be labeled
PROBLEM_LENGTH = 4000

LabelRow = dict[str, Any]  # the keys are in docs/calibration.md


def draw(scores: Path, size: int, seed: int = 0, second: str | None = None) -> list[LabelRow]:
    """A stratified sample of ``size`` rows of a file of scores, in random order. Unscored rows are left out.

    ``second`` is the part whose agreement with the metric divides the strata.

    Raises ``UsageError`` if there are no scored rows, or if they have no texts.
    """
    strata = _strata(scores, second, most_strata(size))
    sizes = Counter(filter(None, strata))
    if not sizes:
        raise UsageError(f"{scores}: no scored completions")
    chosen: set[int] = set()
    for name, count in allocate(sizes, size).items():
        places = [place for place, stratum in enumerate(strata) if stratum == name]
        chosen.update(random.Random(f"{seed}/{name}").sample(places, count))
    rows = []
    for place, verdict in enumerate(verdicts(read_scores(scores), second)):
        if place not in chosen:
            continue
        if verdict.row.get("text") is None:
            raise UsageError(f"{location(verdict.row)}: the scores were written without texts, which you would label")
        rows.append(label_row(verdict, strata[place], sizes[strata[place]]))
    random.Random(seed).shuffle(rows)
    return rows


def most_strata(size: int) -> int:
    """The most strata of a sample of ``size`` rows."""
    return min(MAX_STRATA, max(2, size // 10))


def _strata(scores: Path, second: str | None, most: int) -> list[str]:
    """The stratum of each row, of which the smallest are merged; empty for an unscored one."""
    strata = [verdict.stratum for verdict in verdicts(read_scores(scores), second)]
    names = {"": ""} | merged(Counter(filter(None, strata)), most)
    return [names[stratum] for stratum in strata]


def allocate(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many rows to draw from each stratum: in proportion to the square root of its size, and at least a few.

    Power allocation (Bankier 1988) with exponent 1/2: between proportional, best for the overall rates, and equal, best
    for comparing strata. Rounded by highest averages.
    """
    size = min(size, sum(sizes.values()))
    least = min(MIN_LABELS, size // len(sizes))
    counts = {name: min(total, least) for name, total in sizes.items()}

    for _ in range(size - sum(counts.values())):
        open_names = (name for name in sizes if counts[name] < sizes[name])
        counts[min(open_names, key=lambda name: (-math.sqrt(sizes[name]) / (counts[name] + 1), name))] += 1
    return {name: count for name, count in counts.items() if count}


def labeled_rows(scores: Path, second: str | None = None) -> tuple[list[LabelRow], int]:
    """All scored rows of a file with labels (``grpo_env score --label``), and the number of unscored rows.

    Only rows whose verdict is wrong have their texts, since there may be millions.
    """
    strata = _strata(scores, second, MAX_STRATA)
    sizes = Counter(strata)
    rows = []
    for stratum, verdict in zip(strata, verdicts(read_scores(scores), second), strict=True):
        if stratum:
            label = verdict.row.get("label")
            texts = {} if label == (not verdict.accepted) else {"problem": "", "text": ""}
            rows.append(label_row(verdict, stratum, sizes[stratum]) | texts | {"label": label})
    return rows, sizes[""]


def label_row(verdict: Verdict, stratum: str, size: int) -> LabelRow:
    """A row to be labeled. ``size`` is the number of completions of its stratum in the file."""
    row, score = verdict.row, verdict.score
    text = row.get("text") or ""
    keys = ("id", "completion", "line", "file", "group", "task", "metric")
    return {key: row[key] for key in keys if row.get(key) is not None} | {
        "problem": question_of(row)[-PROBLEM_LENGTH:],
        "text": text if len(text) <= TEXT_LENGTH else f"…{text[-TEXT_LENGTH:]}",
        "answer": score.answer,
        "gold": score.gold,
        "verdict": verdict.accepted,
        "status": score.status,
        "kind": score.kind,
        "explanation": score.explanation,
        **({"rule": score.rule} if score.rule else {}),
        "stratum": stratum,
        "stratum_size": size,
        "label": None,
    }
