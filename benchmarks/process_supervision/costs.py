"""Tables of runs that sample or train more than their completions: at equal steps, equal tokens and equal time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf, nan
from statistics import fmean
from typing import NamedTuple

from figures import BASELINE, EQUATIONS, LAST, Measure, Row, Runs, compared, curve, fastest, held_out, trained_tokens

LONGER = "outcome, longer"  # what the cost of the others would have bought


class Cost(NamedTuple):
    """Sampled tokens and seconds."""

    tokens: float
    seconds: float


class Rates(NamedTuple):
    """Seconds for a token of a completion (with its scoring), of a continuation, for one that is trained on, and for a
    completion that a reward model is trained on."""

    sampling: float
    values: float
    training: float
    reward_model: float


def cost_tables(modes: Mapping[str, Runs], labels: Cost) -> list[str]:
    """Tables at equal steps and at equal cost.

    ``labels`` is what the first reward model cost, which each run with one pays before its first step.
    """
    return [*steps_table(modes), "", *equal_cost_table(modes, labels)]


def steps_table(modes: Mapping[str, Runs]) -> list[str]:
    """What the same number of steps gives."""
    measures: list[Measure] = [
        ("held-out greedy", lambda mode, rows: held_out(rows)[-1]["accuracy"]),
        (f"last {LAST} steps", lambda mode, rows: fmean(curve(rows)[-LAST:])),
        ("all steps", lambda mode, rows: fmean(curve(rows))),
        *((name, lambda mode, rows, of=of: fmean(of(rows)[-LAST:])) for name, of in EQUATIONS.items()),
    ]
    same = {mode: runs for mode, runs in modes.items() if mode != LONGER}
    return compared("equal steps | seeds", same, {}, measures, [BASELINE])


def equal_cost_table(modes: Mapping[str, Runs], labels: Cost) -> list[str]:
    """What the cost of ``LONGER`` gives: a run that ends before has its last steps, one with too few has none."""
    of_modes = costs(modes, labels)
    sums = {mode: totals(of_mode) for mode, of_mode in of_modes.items()}
    budget = sums[LONGER if LONGER in sums else BASELINE]

    def within(field: str) -> Callable[[str, Sequence[Row]], float]:
        def measure(mode: str, rows: Sequence[Row]) -> float:
            spent = next(of_modes[mode][seed] for seed, run in modes[mode].items() if run is rows)
            limit = inf if mode == LONGER else getattr(budget, field)  # some of its runs are above their mean
            steps = sum(getattr(cost, field) <= limit for cost in spent)
            return fmean(curve(rows)[:steps][-LAST:]) if steps >= LAST else nan

        return measure

    measures: list[Measure] = [
        ("held-out greedy", lambda mode, rows: held_out(rows)[-1]["accuracy"]),
        (f"last {LAST} steps in {budget.tokens / 1000:.0f} thousand tokens", within("tokens")),
        (f"last {LAST} steps in {budget.seconds:.0f} s", within("seconds")),
    ]
    spent = {mode: [f"{cost.tokens / 1000:.0f}", f"{cost.seconds:.0f}"] for mode, cost in sums.items()}
    return compared("equal cost | seeds | thousand tokens | s", modes, spent, measures, [LONGER])


def has_model(rows: Sequence[Row]) -> bool:
    return any("parts/prm" in row for row in rows)


def costs(modes: Mapping[str, Runs], labels: Cost) -> dict[str, dict[int, list[Cost]]]:
    """What each run had cost after each of its steps, by mode and seed.

    Runs with a reward model have rates of their own, because scoring by a model is a part of sampling.
    """
    of_modes = {}
    for with_model in (False, True):
        alike = {mode: runs for mode, runs in modes.items() if with_model == any(map(has_model, runs.values()))}
        of_all = rates([rows for runs in alike.values() for rows in runs.values()])
        before = labels if with_model else Cost(0, 0)
        for mode, runs in alike.items():
            of_modes[mode] = {seed: list(spent(rows, of_all, before)) for seed, rows in runs.items()}
    return of_modes


def spent(rows: Sequence[Row], rate: Rates, before: Cost) -> Iterator[Cost]:
    """The cost from the start to the end of each step: all tokens, and seconds computed from the work."""
    steps = [row for row in rows if row["kind"] == "train"]
    tokens = (row["tokens"] + row.get("value_tokens", 0) for row in steps)
    seconds = (
        row["tokens"] * rate.sampling
        + row.get("value_tokens", 0) * rate.values
        + trained_tokens(row) * rate.training
        + row.get("reward_model/completions", 0) * rate.reward_model
        for row in steps
    )
    sums = zip(accumulate(tokens, initial=before.tokens), accumulate(seconds, initial=before.seconds), strict=True)
    return (Cost(*both) for number, both in enumerate(sums) if number)


def rates(runs: Sequence[Sequence[Row]]) -> Rates:
    """The fastest tenth of all steps of some runs, because other load on the machine only adds time."""
    steps = [row for rows in runs for row in rows if row["kind"] == "train"]
    return Rates(
        fastest((row["sample_seconds"] - row.get("value_seconds", 0.0), row["tokens"]) for row in steps),
        fastest((row.get("value_seconds", 0.0), row.get("value_tokens", 0)) for row in steps),
        fastest((row["update_seconds"], trained_tokens(row)) for row in steps),
        fastest((row.get("reward_model/seconds", 0.0), row.get("reward_model/completions", 0)) for row in steps),
    )


def totals(costs: Mapping[int, Sequence[Cost]]) -> Cost:
    """The cost of a whole run: the mean over seeds."""
    ends = [of_run[-1] for of_run in costs.values()]
    return Cost(fmean(end.tokens for end in ends), fmean(end.seconds for end in ends))
