"""Tables of runs that sample or train more than their completions: at equal steps, equal tokens and equal time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from statistics import fmean
from typing import NamedTuple

from figures import BASELINE, EQUATIONS, LAST, Row, Runs, compared, curve, fastest, held_out, trained_tokens

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
    """Accuracy at equal steps and at equal cost, and how reward models agree with the verdicts of completions.

    ``labels`` is what the first reward model cost, which each run with one pays before its first step. Equal cost is
    that of ``LONGER``; a run that ends before has its last steps.
    """
    costs = {mode: mode_costs(runs, labels) for mode, runs in modes.items()}
    budget = totals(costs[LONGER]) if LONGER in modes else totals(costs[BASELINE])

    def within(field: str) -> Callable[[str, Sequence[Row]], float]:
        def measure(mode: str, rows: Sequence[Row]) -> float:
            spent = next(costs[mode][seed] for seed, run in modes[mode].items() if run is rows)
            steps = sum(getattr(cost, field) <= getattr(budget, field) for cost in spent)
            return fmean(curve(rows)[:steps][-LAST:]) if steps else float("nan")

        return measure

    measures: list[tuple[str, Callable[[str, Sequence[Row]], float]]] = [
        ("held-out greedy", lambda mode, rows: held_out(rows)[-1]["accuracy"]),
        (f"last {LAST} steps", lambda mode, rows: fmean(curve(rows)[-LAST:])),
        ("first 30 steps", lambda mode, rows: fmean(curve(rows)[:30])),
        (f"last {LAST} in {budget.tokens / 1000:.0f} thousand tokens", within("tokens")),
        (f"last {LAST} in {budget.seconds:.0f} s", within("seconds")),
        *((name, lambda mode, rows, of=of: fmean(of(rows)[-LAST:])) for name, of in EQUATIONS.items()),
    ]
    sums = {mode: totals(of_mode) for mode, of_mode in costs.items()}
    first = {mode: f"{cost.tokens / 1000:.0f} | {cost.seconds:.0f}" for mode, cost in sums.items()}
    head = "supervision | seeds | thousand tokens | s"
    return [*compared(head, modes, first, measures, [BASELINE, LONGER]), "", *watch_table(modes)]


def watch_table(modes: Mapping[str, Runs]) -> list[str]:
    """The mean value that a reward model gives to a step, beside the mean verdict on the step's completion."""
    learned = {mode: runs for mode, runs in modes.items() if any(map(has_model, runs.values()))}
    if not learned:
        return []
    measures: list[tuple[str, Callable[[str, Sequence[Row]], float]]] = [
        (f"{title}, {when} {LAST} steps", lambda mode, rows, name=name, part=part: mean_known(rows, name, part))
        for title, name in (("reward", "learned"), ("verdict", "rule"), ("pairs", "pairs"))
        for when, part in (("first", slice(LAST)), ("last", slice(-LAST, None)))
    ]
    return compared("reward model | seeds", learned, dict.fromkeys(learned, ""), measures, [])


def mean_known(rows: Sequence[Row], name: str, part: slice) -> float:
    """The mean of a figure of the reward model over some steps, without those that have none."""
    return fmean(value for value in curve(rows, f"reward_model/{name}")[part] if value is not None)


def has_model(rows: Sequence[Row]) -> bool:
    return any("reward_model/learned" in row for row in rows)


def mode_costs(runs: Runs, labels: Cost) -> dict[int, list[Cost]]:
    """What each run of a mode had cost after each of its steps, by seed."""
    of_mode = rates(runs)
    return {seed: list(spent(rows, of_mode, labels if has_model(rows) else Cost(0, 0))) for seed, rows in runs.items()}


def spent(rows: Sequence[Row], of_mode: Rates, before: Cost) -> Iterator[Cost]:
    """The cost from the start to the end of each step: all tokens, and seconds computed from the work."""
    steps = [row for row in rows if row["kind"] == "train"]
    tokens = (row["tokens"] + row.get("value_tokens", 0) for row in steps)
    seconds = (
        row["tokens"] * of_mode.sampling
        + row.get("value_tokens", 0) * of_mode.values
        + trained_tokens(row) * of_mode.training
        + row.get("reward_model/completions", 0) * of_mode.reward_model
        for row in steps
    )
    sums = zip(accumulate(tokens, initial=before.tokens), accumulate(seconds, initial=before.seconds), strict=True)
    return (Cost(*both) for number, both in enumerate(sums) if number)


def rates(runs: Runs) -> Rates:
    """The fastest tenth of a mode's steps, because other load on the machine only adds time."""
    steps = [row for rows in runs.values() for row in rows if row["kind"] == "train"]
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
