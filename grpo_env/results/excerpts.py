"""A few completions of a scores file for a terminal, by the reason why the metric is below 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from grpo_env.equality import is_correct
from grpo_env.plural import counted
from grpo_env.terminal import LONGEST, end_of, quoted, visible

from .compare.comparison_text import value_and_status
from .part_scores import PartScore, named_parts, part_called, total_score
from .rows import ScoreRow, metric_of, name_of, question_of

MAX_REASONS = 1000  # of which an example is kept, so that memory is bounded


def excerpts(
    rows: Iterable[ScoreRow], limit: int, reason: str | None = None, *, disagrees: bool = False
) -> Iterator[str]:
    """The lines: how many completions have a metric below 1, or metric or total unscored, and ``limit`` of them.

    The most frequent reasons come first, with equally many examples each. With ``reason``, of the completions, right or
    wrong, whose explanation contains that text; with ``disagrees``, of those whose label is not the verdict. Raises
    ``UsageError`` as ``metric_of`` and ``named_parts`` do.
    """
    counts, examples, total = Counter[str](), dict[str, list[list[str]]](), 0
    metric = "the metric"
    for row in rows:
        metric = metric_of(row)
        part = part_called(named_parts(row), metric)
        why = _reason(row, part)
        total += 1
        if not _is_asked_for(row, part, why, reason, disagrees=disagrees):
            continue
        counts[why] += 1
        if why in examples or len(examples) < MAX_REASONS:
            of_reason = examples.setdefault(why, [])
            of_reason += [list(_example(row, part))] if len(of_reason) < limit else []
    asked = "a verdict that is not their label" if disagrees else f"{metric} below 1, or unscored"
    asked = asked if reason is None else f"a reason with {reason!r}"
    yield f"{sum(counts.values()):,} of {counted(total, 'completion')}: {visible(asked)}"
    shown = [why for why, _ in counts.most_common() if why in examples][:limit]
    for why in shown:
        yield f"\n{counts[why]:,} x {visible(why, 2 * LONGEST)}"
        for lines in examples[why][: limit // len(shown)]:
            yield from lines
    if hidden := len(counts) - len(shown):
        yield f"\n{counted(hidden, 'more reason')}: --limit N shows more, --reason TEXT others of one reason"


def _is_right(part: PartScore | None) -> bool:
    return part is not None and is_correct(part.value)


def _reason(row: ScoreRow, part: PartScore | None) -> str:
    """Why the metric is what it is; first, if it is right, why the total is unscored nonetheless."""
    why = (part.explanation or part.status) if part else "not in this row"
    if not _is_right(part) or (whole := total_score(row)).value is not None:
        return why
    return f"total unscored, {whole.explanation or whole.status}; {why}"


def _is_asked_for(row: ScoreRow, part: PartScore | None, why: str, reason: str | None, *, disagrees: bool) -> bool:
    if disagrees and row.get("label") in (None, _is_right(part)):
        return False
    return (disagrees or not _is_right(part) or row["total"] is None) if reason is None else reason in why


def _example(row: ScoreRow, part: PartScore | None) -> Iterator[str]:
    value = f", {metric_of(row)} {value_and_status(part)}" if part else ""
    label = row.get("label")
    labelled = "" if label is None else f", labelled {'right' if label else 'wrong'}"
    yield f"  {visible(name_of(row))}, completion {row['completion']}{value}{labelled}"
    if question := question_of(row):
        yield f"  question {visible(question)}"
    if text := row.get("text"):
        yield f"  text     {end_of(text)}"
    if part:
        yield f"  answer   {quoted(part.answer)}, gold {quoted(part.gold)}"
