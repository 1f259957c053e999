"""A few completions of a scores file for a terminal: of each reason why the metric is below 1 the first one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from grpo_env.plural import counted

from .compare.view import MAX_LENGTH, quoted, value_and_status, visible
from .parts import PartScore, is_called, named_parts
from .rows import ScoreRow, metric_of, name_of, prompt_of

MAX_REASONS = 1000  # of which an example is kept, so that memory is bounded


def excerpts(rows: Iterable[ScoreRow], limit: int, reason: str | None = None) -> Iterator[str]:
    """The lines: how many completions have a metric below 1 or none, and the first of each reason, frequent ones first.

    With ``reason``, the first ``limit`` completions, right or wrong, whose explanation contains that text instead.
    Raises ``UsageError`` as ``metric_of`` and ``named_parts`` do.
    """
    counts, examples, total = Counter[str](), dict[str, list[str]](), 0
    metric = "the metric"
    for row in rows:
        metric = metric_of(row)
        part = next((part for name, part in named_parts(row) if is_called(name, metric)), None)
        why = (part.explanation or part.status) if part else "not in this row"
        total += 1
        if reason is None and part and part.value is not None and part.value >= 1:
            continue
        if reason is not None and reason not in why:
            continue
        key = why if reason is None else str(total)  # with a reason, every completion for itself
        counts[key] += 1
        if len(examples) < (MAX_REASONS if reason is None else limit):
            examples.setdefault(key, list(_example(row, part, why)))
    asked = f"{metric} below 1 or none" if reason is None else f"a reason with {reason!r}"
    yield f"{sum(counts.values()):,} of {counted(total, 'completion')}: {visible(asked)}"
    shown = [key for key, _ in counts.most_common() if key in examples][:limit]
    for key in shown:
        yield ""
        yield from ([f"{counts[key]:,} x {examples[key][0]}", *examples[key][1:]] if reason is None else examples[key])
    if hidden := len(counts) - len(shown):
        yield f"\n{counted(hidden, 'more reason' if reason is None else 'more completion')} (--limit)"


def _example(row: ScoreRow, part: PartScore | None, why: str) -> Iterator[str]:
    yield visible(why, 2 * MAX_LENGTH)
    value = f", {metric_of(row)} {value_and_status(part)}" if part else ""
    yield f"  {visible(name_of(row))}, completion {row['completion']}{value}"
    prompt = prompt_of(row)
    question = prompt[-1]["content"] if isinstance(prompt, list) and prompt else prompt
    if question:
        yield f"  question {visible(question)}"
    if text := row.get("text"):
        yield f"  text     {'…' if len(text) > MAX_LENGTH else ''}{visible(text[-MAX_LENGTH:])}"
    if part:
        yield f"  answer   {quoted(part.answer)}, gold {quoted(part.gold)}"
