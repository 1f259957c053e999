"""The kinds of gold answers (numbers, dates, texts, ...) that a data set has, and those that look out of place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from grpo_env.core import Completion, Example, score_one

from .task import Task

MATHEMATICS = ("number", "formula", "set", "tuple")
ALWAYS_ODD = ("date", "literal")
USUAL_BESIDE = {
    "formula": ("text", "choice", "truth"),
    "choice": ("set",),
    "text": ("number", "choice", "date", "truth", "literal"),
}
"""Kinds that data sets have beside their main kind."""
USUAL = 0.2  # if other kinds are this fraction of the rows or more, they are taken to be meant
STRAY = 0.05  # the same for formulas among texts
FORMULAS = 0.02  # with a smaller fraction of other mathematics, a data set is one of numbers

NAMES: dict[str, tuple[str, str]] = {
    "number": ("number", "numbers"),
    "formula": ("formula", "formulas"),
    "set": ("set or interval", "sets or intervals"),
    "tuple": ("tuple", "tuples"),
    "text": ("text", "texts"),
    "truth": ("yes or no", "yes or no"),
    "choice": ("choice letter", "choice letters"),
    "date": ("date", "dates"),
    "literal": ("JSON or Python literal", "JSON or Python literals"),
}
PLURALS = {kind: plural for kind, (_, plural) in NAMES.items()} | {"formula": "mathematics"}


def counted(kind: str, count: int) -> str:
    """``1 date``, ``58 dates``."""
    return f"{count:,} {NAMES[kind][count != 1]}"


def main_kind(counts: Mapping[str, int]) -> str | None:
    """The kind of at least half of the gold answers, ``None`` if there is none; mathematics counts as one kind.

    For mathematics it is ``number`` if nearly all of it are numbers, else ``formula``.
    """
    total = sum(counts.values())
    mathematics = sum(counts.get(kind, 0) for kind in MATHEMATICS)
    if total and 2 * mathematics >= total:
        return "number" if mathematics - counts.get("number", 0) < FORMULAS * total else "formula"
    return next((kind for kind, count in counts.items() if 2 * count >= total > 0 and kind not in MATHEMATICS), None)


def odd_kinds(counts: Mapping[str, int]) -> list[str]:
    """The kinds that are too rare, or too different from the main kind, to be taken as meant.

    Dates and literals always are, except among texts. Without a main kind there are none.
    """
    main, total = main_kind(counts), sum(counts.values())
    if main is None:
        return []
    usual = {main, *(MATHEMATICS if main in MATHEMATICS else ()), *USUAL_BESIDE.get(main, ())}
    others = [kind for kind, count in counts.items() if count and kind not in usual]
    rare = [kind for kind in others if kind not in ALWAYS_ODD]
    limit = STRAY if main == "text" else USUAL
    if sum(counts[kind] for kind in rare) >= limit * total:
        rare = []
    return [kind for kind in others if kind in ALWAYS_ODD or kind in rare]


def compares_by_kind(task: Task) -> bool:
    """Whether the metric compares each gold answer by its own kind, so that one of another kind may be a slip.

    A metric composed of verifiers for several kinds does not: its kinds are meant.
    """
    return getattr(task.metric_verifier, "kind", "") is None


def gold_warning(task: Task, examples: Iterable[Example]) -> str | None:
    """A line about gold answers that look out of place, for a metric that compares each by its kind."""
    if not compares_by_kind(task):
        return None
    verifier = task.metric_verifier
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for example in examples:
        score = score_one(verifier, example, Completion(""))
        if score.kind is not None:
            counts[score.kind] += 1
            first.setdefault(score.kind, f"{score.gold!r:.60} ({example.name})")
    return odd_golds(counts, first)


def odd_golds(counts: Mapping[str, int], first: Mapping[str, str]) -> str | None:
    """A line about kinds of gold answers that look out of place; ``first`` describes one of each kind."""
    odd = odd_kinds(counts)
    if not odd:
        return None
    others = PLURALS[main_kind(counts) or "formula"]
    listed = ", ".join(f"{counted(kind, counts[kind])} such as {first[kind]}" for kind in odd)
    return f"gold answers: {listed} among {others}; grpo_env check says how they are compared"
