"""A comparison in words. What a model wrote is shown escaped: it may hold control characters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import track

from grpo_env.files.writer import new_rows

from ..parts import TOTAL, Verdict, where
from ..rows import read_scores
from .comparison import Comparison, Disagreement, GroupChanges, PartComparison, compare
from .paired_tests import FEWEST_GROUPS

LONGEST = 160  # characters of one field that are shown; of a text its end, where answers are


def compare_files(
    a: Path, b: Path, part: str | None, out: Path | None, show: int, talk: Console
) -> tuple[Comparison, list[Disagreement]]:
    """Compare two files of scores and write all disagreements to ``out`` (JSONL), with progress on ``talk``.

    The first ``show`` disagreements on the part in question are returned. Raises ``UsageError`` as ``compare`` does,
    and if ``out`` exists.
    """
    result = Comparison()
    first: list[Disagreement] = []
    rows = track(read_scores(a), "comparing", console=talk, transient=True, disable=not talk.is_terminal)
    with _disagreements(out) as write:
        for found in compare(rows, read_scores(b), part, result):
            write(found)
            if len(first) < show and result.main in found.verdicts:
                first.append(found)
    return result, first


@contextmanager
def _disagreements(out: Path | None) -> Iterator[Callable[[Disagreement], None]]:
    if out is None:
        yield lambda found: None
        return
    with new_rows(out) as write:
        yield lambda found: write(found.to_dict())


def described(result: Comparison) -> Iterator[str]:
    """The lines that say what differs, and how sure that is."""
    yield f"{result.pairs:,} completions in both, {result.changed:,} of them with a difference"
    for side, some in (("a", result.only_a), ("b", result.only_b)):
        if result.alone[side]:
            more = ", …" if result.alone[side] > len(some) else ""
            yield f"{result.alone[side]:,} only in {side.upper()}: {'; '.join(map(visible, some))}{more}"
    if result.without_text:
        yield f"{result.without_text:,} were matched by id alone: a file has no texts"
    for side, names in result.lacking.items():
        if names:
            yield f"not in {side.upper()}, so not compared: {', '.join(map(visible, sorted(names)))}"
    for name, part in result.parts.items():
        if part.changed or name == result.main:
            yield ""
            yield from _part(name, part, name == result.main)
    same = [name for name, part in result.parts.items() if not part.changed and name != result.main]
    if same:
        yield f"\nno difference: {', '.join(map(visible, same))}"
    if result.groups.groups:
        yield ""
        yield from _groups(result.groups)


def _part(name: str, part: PartComparison, is_main: bool) -> Iterator[str]:
    yield f"{visible(name)}: {part.changed:,} differ"
    if part.both and (is_main or part.binary):
        counts = [[f"{part.table[(a, b)]:,}" for b in (True, False)] for a in (True, False)]
        yield f"  {'':8}{'B right':>12}{'B wrong':>12}"
        for label, row in zip(("A right", "A wrong"), counts, strict=True):
            yield f"  {label:8}{row[0]:>12}{row[1]:>12}"
        gained, lost = part.table[(False, True)], part.table[(True, False)]
        yield f"  {gained:,} became right, {lost:,} became wrong; McNemar's exact test: {_p(part.p_value)}"
        if part.difference.groups < part.both:
            up, down = part.difference.gained, part.difference.lost
            yield f"  by group: {up:,} better, {down:,} worse; exact sign test: {_p(part.p_value_of_groups)}"
    if part.both:
        mean_a, mean_b = (total / part.both for total in part.sums)
        difference = f"difference {part.difference.mean:+.4f}, {_interval(part)}"
        yield f"  mean {mean_a:.4f} in A, {mean_b:.4f} in B; {difference}"
    for (a, b), count in part.transitions.most_common():
        yield f"  {visible(a)} -> {visible(b)}: {count:,}"


def _p(value: float) -> str:
    return f"p = {value:.2g}" if value >= 1e-300 else "p < 1e-300"


def _interval(part: PartComparison) -> str:
    interval = part.difference.interval()
    if interval is None:
        return f"no interval from fewer than {FEWEST_GROUPS} groups"
    return f"95 % interval {interval[0]:+.4f} to {interval[1]:+.4f} ({part.difference.groups:,} groups)"


def _groups(groups: GroupChanges) -> Iterator[str]:
    share = groups.best_changed / groups.groups
    yield f"{groups.groups:,} groups with several totals in both files, {groups.completions:,} completions:"
    yield f"  another best completion: {groups.best_changed:,} groups ({share:.1%})"
    yield f"  all totals equal only in A: {groups.awakened:,}, only in B: {groups.silenced:,}"
    yield f"  advantage of the other sign: {groups.flips:,} completions"


def shown(found: Disagreement, main: str) -> Iterator[str]:
    """The lines that show one disagreement: the part in question on both sides, the end of the text."""
    yield visible(where(found.a))
    for side, verdict in zip("AB", found.verdicts[main], strict=True):
        yield f"  {side}  {_value(verdict)}  {visible(verdict.explanation)}"
        if verdict.answer is not None or verdict.gold is not None:
            yield f"     answer {_quoted(verdict.answer)}, gold {_quoted(verdict.gold)}"
    others = [name for name in found.verdicts if name not in (main, TOTAL)]
    if others:
        yield f"  also different: {', '.join(map(visible, others))}"
    text = found.a.get("text")
    if text:
        yield f"  text {'…' if len(text) > LONGEST else ''}{visible(text[-LONGEST:])}"


def _value(verdict: Verdict) -> str:
    value = "unscored" if verdict.value is None else f"{verdict.value:.4g}"
    return value if verdict.status == "scored" else f"{value} [{visible(verdict.status)}]"


def _quoted(text: str | None) -> str:
    return "none" if text is None else f"'{visible(text)}'"


def visible(text: object) -> str:
    """Text for a terminal: control, format and invisible characters escaped, long text cut."""
    text = str(text)
    escaped = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[:LONGEST])
    return escaped + (f"… ({len(text):,} characters)" if len(text) > LONGEST else "")
