"""Draws a stratified sample of a file of scores, as rows to be labeled."""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.results.rows import location, question_of, read_scores

from .strata import Verdict, merged, verdicts

MAX_STRATA = 20
MIN_LABELS = 5  # of a stratum, if it has so many completions and the sample is large enough
TEXT_LENGTH = 1500  # last characters of a completion in a row to be labeled
PROBLEM_LENGTH = 4000

LabelRow = dict[str, Any]  # the keys are in docs/calibration.md


def draw(scores: Path, size: int, seed: int = 0, second: str | None = None) -> list[LabelRow]:
    """A stratified sample of ``size`` rows of a file of scores, in random order. Unscored rows are left out.

    ``second`` is the part whose agreement with the metric divides the strata.

    Raises ``UsageError`` if there are no scored rows, or if they have no texts.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, verdict in enumerate(verdicts(read_scores(scores), second)):
        if verdict.stratum:
            places[verdict.stratum].append(place)
    if not places:
        raise UsageError(f"{scores}: no scored completions")
    names = merged({name: len(own) for name, own in places.items()}, min(MAX_STRATA, max(2, size // 10)))
    strata: dict[str, list[int]] = defaultdict(list)
    for name, own in places.items():
        strata[names[name]] += own
    sizes = {name: len(own) for name, own in strata.items()}
    chosen = {
        place: name
        for name, count in allocate(sizes, size).items()
        for place in random.Random(f"{seed}/{name}").sample(sorted(strata[name]), count)
    }
    rows = []
    for place, verdict in enumerate(verdicts(read_scores(scores), second)):
        if place in chosen:
            if verdict.row.get("text") is None:
                raise UsageError(
                    f"{location(verdict.row)}: the scores were written without texts, which you would label"
                )
            rows.append(label_row(verdict, chosen[place], sizes[chosen[place]]))
    random.Random(seed).shuffle(rows)
    return rows


def allocate(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many rows to draw from each stratum: in proportion to the square root of its size, and at least a few.

    Power allocation (Bankier 1988) with exponent 1/2: between proportional, best for the overall rates, and equal, best
    for comparing strata. Rounded by highest averages.
    """
    size = min(size, sum(sizes.values()))
    least = min(MIN_LABELS, size // len(sizes))
    counts = {name: min(total, least) for name, total in sizes.items()}

    def priority(name: str) -> tuple[float, str]:
        return -math.sqrt(sizes[name]) / (counts[name] + 1), name

    queue = [priority(name) for name in sizes if counts[name] < sizes[name]]
    heapq.heapify(queue)
    for _ in range(size - sum(counts.values())):
        _, name = heapq.heappop(queue)
        counts[name] += 1
        if counts[name] < sizes[name]:
            heapq.heappush(queue, priority(name))
    return {name: count for name, count in counts.items() if count}


def labeled_rows(scores: Path, second: str | None = None) -> tuple[list[LabelRow], int]:
    """All scored rows of a file with labels (``grpo_env score --label``), and the number of unscored rows.

    Only rows whose verdict is wrong have their texts, since there may be millions.
    """
    sizes = Counter(verdict.stratum for verdict in verdicts(read_scores(scores), second))
    unscored = sizes.pop("", 0)
    names = merged(sizes, MAX_STRATA)
    totals: Counter[str] = Counter()
    for name, count in sizes.items():
        totals[names[name]] += count
    rows = list(_labeled(scores, second, names, totals))
    return rows, unscored


def _labeled(
    scores: Path, second: str | None, names: Mapping[str, str], totals: Mapping[str, int]
) -> Iterator[LabelRow]:
    for verdict in verdicts(read_scores(scores), second):
        if verdict.stratum:
            name = names[verdict.stratum]
            label = verdict.row.get("label")
            texts = {} if label == (not verdict.accepted) else {"problem": "", "text": ""}
            yield label_row(verdict, name, totals[name]) | texts | {"label": label}


def label_row(verdict: Verdict, stratum: str, size: int) -> LabelRow:
    """A row to be labeled. ``size`` is the number of completions of its stratum in the file."""
    row, score = verdict.row, verdict.score
    keys = {
        key: row[key]
        for key in ("id", "completion", "line", "file", "group", "task", "metric")
        if row.get(key) is not None
    }
    return keys | {
        "problem": question_of(row)[-PROBLEM_LENGTH:],
        "text": _end(row.get("text") or ""),
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


def _end(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH else f"…{text[-TEXT_LENGTH:]}"
