"""A comparison as text for a terminal. Texts from the files are escaped: they may contain control characters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.progress import track

from grpo_env.equality import is_correct
from grpo_env.rows.writer import new_rows
from grpo_env.terminal import end_of, quoted, visible

from ..part_scores import TOTAL, PartScore
from ..rows import location, read_scores
from .comparison import Comparison, Disagreement, PartComparison, compare
from .paired_tests import MIN_GROUPS

MAX_RULES = 10  # pairs of rules shown for each part


def compare_files(
    a: Path, b: Path, part: str | None, out: Path | None, show: int, console: Console
) -> tuple[Comparison, list[Disagreement]]:
    """Compare two scores files and write all disagreements to ``out`` (JSONL), with a progress bar on ``console``.

    Returns ``show`` disagreements on the main part too, in order: those where only one file says correct, before
    others. Raises ``UsageError`` as ``compare`` does, and if ``out`` exists.
    """
    result = Comparison()
    flipped: list[Disagreement] = []
    others: list[Disagreement] = []
    rows = track(read_scores(a), "comparing", console=console, transient=True, disable=not console.is_terminal)
    with new_rows(out, overwrite=None) if out else nullcontext() as write:
        for disagreement in compare(rows, read_scores(b), part, result):
            if write:
                write(disagreement.to_dict())
            if result.main in disagreement.scores:
                first, second = disagreement.scores[result.main]
                chosen = flipped if is_correct(first.value) != is_correct(second.value) else others
                chosen += [disagreement] if len(chosen) < show else []
    return result, [*flipped, *others][:show]


def summary_lines(result: Comparison) -> Iterator[str]:
    """The summary: what differs, and how significant that is."""
    yield f"{result.pairs:,} completions in both files, {result.changed:,} of them differ"
    for side, examples in result.unmatched_examples.items():
        if count := result.unmatched[side]:
            more = ", …" if count > len(examples) else ""
            yield f"{count:,} only in {side.upper()}: {'; '.join(map(visible, examples))}{more}"
    if result.without_text:
        yield f"{result.without_text:,} matched by id only: a file has no texts"
    for side, names in result.missing_parts.items():
        if names:
            yield f"not in {side.upper()}, so not compared: {_names(sorted(names))}"
    for name, part in result.parts.items():
        if part.changed or name == result.main:
            yield ""
            yield from _part_lines(name, part, name == result.main)
    same = [name for name, part in result.parts.items() if not part.changed and name != result.main]
    if same:
        yield f"\nno difference: {_names(same)}"


def _part_lines(name: str, part: PartComparison, is_main: bool) -> Iterator[str]:
    yield f"{visible(name)}: {part.changed:,} differ"
    if part.both and (is_main or part.binary):
        yield f"  {'':10}{'B correct':>12}{'B wrong':>12}"
        for label, correct in (("A correct", True), ("A wrong", False)):
            yield f"  {label:10}{part.table[(correct, True)]:>12,}{part.table[(correct, False)]:>12,}"
        gained, lost = part.table[(False, True)], part.table[(True, False)]
        yield f"  {gained:,} became correct, {lost:,} became wrong; McNemar's exact test: {_p(part.p_value)}"
        yield from _rule_lines(part)
        if part.difference.groups < part.both:
            up, down = part.difference.gained, part.difference.lost
            yield f"  by group: {up:,} better, {down:,} worse; exact sign test: {_p(part.group_p_value)}"
    if part.both:
        mean_a, mean_b = (total / part.both for total in part.sums)
        difference = f"difference {part.difference.mean:+.4f}, {_interval(part)}"
        yield f"  mean {mean_a:.4f} in A, {mean_b:.4f} in B; {difference}"
    for (a, b), count in part.transitions.most_common():
        yield f"  {visible(a)} -> {visible(b)}: {count:,}"


def _rule_lines(part: PartComparison) -> Iterator[str]:
    for (gained, a, b), count in part.rules.most_common(MAX_RULES):
        now, before = ("correct", "wrong") if gained else ("wrong", "correct")
        yield f"    {now}{_by(b)}, before {before}{_by(a)}: {count:,}"
    if rest := sum(count for _, count in part.rules.most_common()[MAX_RULES:]):
        yield f"    by other rules: {rest:,}"


def _by(rule: str) -> str:
    return f" by '{visible(rule)}'" if rule else ""


def _p(value: float) -> str:
    return f"p = {value:.2g}" if value >= 1e-300 else "p < 1e-300"


def _interval(part: PartComparison) -> str:
    interval = part.difference.interval()
    if interval is None:
        return f"no interval with fewer than {MIN_GROUPS} groups"
    return f"95% interval {interval[0]:+.4f} to {interval[1]:+.4f} ({part.difference.groups:,} groups)"


def disagreement_lines(disagreement: Disagreement, main: str) -> Iterator[str]:
    """One disagreement: the main part in both files and the end of the completion."""
    yield visible(location(disagreement.a))
    for side, score in zip("AB", disagreement.scores[main], strict=True):
        yield f"  {side}  {value_and_status(score)}  {visible(score.explanation)}"
        if score.answer is not None or score.gold is not None:
            kind = f" ({visible(score.kind)})" if score.kind else ""
            yield f"     answer {quoted(score.answer)}, gold {quoted(score.gold)}{kind}"
        if score.rule:
            yield f"     rule {quoted(score.rule)}"
    others = [name for name in disagreement.scores if name not in (main, TOTAL)]
    if others:
        yield f"  also different: {_names(others)}"
    if text := disagreement.a.get("text"):
        yield f"  text {end_of(text)}"


def value_and_status(score: PartScore) -> str:
    """The value of a score, and its status if it is not ``scored``."""
    value = "unscored" if score.value is None else f"{score.value:.4g}"
    return value if score.status == "scored" else f"{value} [{visible(score.status)}]"


def _names(names: list[str]) -> str:
    return ", ".join(map(visible, names))
