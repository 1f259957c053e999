"""A sample and a calibration as text for a terminal. Texts from the files are escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grpo_env.plural import counted
from grpo_env.results.rows import location
from grpo_env.terminal import end_of, quoted, visible

from .rates import Calibration, Rate
from .sample import LabelRow

NAME_WIDTH = 44  # at least


def sample_lines(rows: Sequence[LabelRow]) -> Iterator[str]:
    """What was drawn: labels to give and completions, by stratum."""
    counts = Counter(row["stratum"] for row in rows)
    sizes = {row["stratum"]: row["stratum_size"] for row in rows}
    width = _width(sizes)
    yield f"{'stratum':{width}}{'completions':>12}{'to label':>10}"
    for name in sorted(sizes):
        yield f"{visible(name):{width}}{sizes[name]:>12,}{counts[name]:>10,}"
    yield f"{'':{width}}{sum(sizes.values()):>12,}{len(rows):>10,}"


def _width(names: Iterable[str]) -> int:
    return max([NAME_WIDTH, *(len(visible(name)) for name in names)])


def summary_lines(result: Calibration) -> Iterator[str]:
    """The rates, overall and by stratum."""
    names = f"{visible(result.task)}: {visible(result.metric)}"
    yield f"{names} on {counted(result.completions, 'completion')}, {result.labeled:,} labeled"
    if result.unsure:
        yield f"left out: {counted(result.unsure, 'completion')} that could not be decided"
    if result.uncovered:
        yield f"left out: {counted(result.uncovered, 'completion')} in strata without a label"
    yield ""
    yield f"  {'':17}{'rate':>8}  {'95% interval':18}labeled"
    yield _rate("false negatives", result.false_negative, "correct completions rejected")
    yield _rate("false positives", result.false_positive, "wrong completions accepted")
    yield _rate("rejected", result.rejected, "rejected completions correct")
    yield _rate("accepted", result.accepted, "accepted completions wrong")
    if result.one_sided:
        yield "  false negatives and false positives need labels of accepted and of rejected completions"
    negative, positive = result.design_effect
    if max(negative, positive) >= 1.05:
        yield (
            "  the intervals allow for completions of one prompt being alike: design effects "
            f"{negative:.1f} (false negatives) and {positive:.1f} (false positives)"
        )
    yield ""
    width = _width(stratum.name for stratum in result.strata)
    yield f"{'stratum':{width}}{'completions':>12}{'labeled':>9}{'wrong':>7}{'rate':>8}  95% interval"
    for stratum in sorted(result.strata, key=lambda stratum: -(stratum.rate.value or 0.0) * stratum.size):
        rate = stratum.rate
        yield (
            f"{visible(stratum.name):{width}}{stratum.size:>12,}{rate.count:>9,}{rate.errors:>7,}"
            f"{_percent(rate.value):>8}  {_interval(rate)}"
        )


def _rate(name: str, rate: Rate, what: str) -> str:
    seen = f"{rate.errors:,} of {rate.count:,} {what}"
    return f"  {name:17}{_percent(rate.value):>8}  {_interval(rate):18}{seen}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _interval(rate: Rate) -> str:
    return f"{rate.interval[0]:.1%} to {rate.interval[1]:.1%}"


def error_lines(row: LabelRow) -> Iterator[str]:
    """A row with a wrong verdict."""
    verdict = "accepted, but labeled wrong" if row["verdict"] else "rejected, but labeled correct"
    yield f"{visible(location(row))}: {verdict}"
    yield f"  {visible(row['explanation'])}"
    if row["answer"] is not None or row["gold"] is not None:
        kind = f" ({visible(row['kind'])})" if row["kind"] else ""
        yield f"  answer {quoted(row['answer'])}, gold {quoted(row['gold'])}{kind}"
    if text := row["text"]:
        yield f"  text {end_of(text)}"
