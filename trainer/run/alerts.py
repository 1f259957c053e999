"""Alerts: warnings about a run that goes wrong, with advice, computed from its training metrics alone.

The thresholds are rules of thumb, loose enough that a healthy run gets no warning; nothing in the run depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import Any

Row = Mapping[str, Any]
Alert = tuple[str, str]  # what is wrong, what to try

WINDOW = 10  # steps of a mean; also the steps without an alert after which it may be raised again
GROWTH = 50  # steps within which doubled completion length counts as an explosion


def warnings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows for ``metrics.jsonl``: the alerts that begin at the last of these training rows.

    An alert that persists is raised once; it must be absent for ``WINDOW`` steps before it is raised again.
    """
    raised = {name: alert for name, check in ALERTS.items() if (alert := check(rows))}
    return [
        {"kind": "warning", "step": rows[-1]["step"], "alert": name, "seen": seen, "try": advice}
        for name, (seen, advice) in raised.items()
        if not any(ALERTS[name](rows[:-back]) for back in range(1, WINDOW + 1))
    ]


def reward_collapse(rows: Sequence[Row]) -> Alert | None:
    """At least half of the gain and a fifth of the best mean are lost, by more than their noise (open-r1#257)."""
    values = [value for row in rows if (value := row["reward"]) is not None]
    if len(values) <= WINDOW:
        return None
    sums = list(accumulate(values, initial=0.0))
    means = [(high - low) / WINDOW for low, high in zip(sums, sums[WINDOW:], strict=False)]
    # The median of the last steps counts too, so that a single step is no collapse.
    first, best, now = means[0], max(means), max(means[-1], median(values[-WINDOW:]))
    # The median difference of successive normal values is 0.954 standard deviations; trends and jumps hardly move it.
    noise = median(abs(b - a) for a, b in pairwise(values)) / 0.954 / math.sqrt(WINDOW)
    if best - now <= max(6 * noise, abs(best) / 5) or now > (first + best) / 2:
        return None
    return (
        f"the reward, over {WINDOW} steps, fell from {best:.3f} to {now:.3f}",
        "Unless a schedule made the task harder: go back to a checkpoint with a lower optimizer.learning_rate or a "
        "kl.coef of 0.01, and read the recent completions (grpo_env view RUN)",
    )


def uniform_groups(rows: Sequence[Row]) -> Alert | None:
    """Nearly all groups have equal rewards, so there is almost no gradient (trl#3857)."""
    fraction, accuracy = _mean(rows, "uniform_groups"), _mean(rows, "accuracy")
    if not fraction >= 0.9:
        return None
    seen = f"{fraction:.0%} of the groups of the last {WINDOW} steps had equal rewards, which give no gradient"
    if accuracy >= 0.9:
        return seen, f"The task is nearly solved (accuracy {accuracy:.2f}): stop here, or use harder examples"
    if accuracy > 0.1:
        alike = "The completions of a group are all alike: try a higher sampling.temperature, or an earlier checkpoint"
        return seen, alike
    return seen, "The task is too hard: try easier examples, a larger group_size, or a reward with partial credit"


def phantom_gradient(rows: Sequence[Row]) -> Alert | None:
    """Half of the gradient is of groups in which nothing is right, and accuracy has not risen (verl-recipe#125)."""
    share, accuracy, start = _mean(rows, "phantom_gradient"), _mean(rows, "accuracy"), _mean(rows[:WINDOW], "accuracy")
    if not (share >= 0.5 and len(rows) >= 2 * WINDOW and accuracy <= start + max(0.02, start / 5)):
        return None
    return (
        f"{share:.0%} of the gradient of the last {WINDOW} steps came from groups in which no completion is right, and "
        f"the accuracy went from {start:.2f} to {accuracy:.2f}",
        "Let the other parts of the reward count for right completions only (when: METRIC), replace these groups "
        "(dynamic_sampling.part), or use easier examples or a model that can answer now and then",
    )


def entropy_collapse(rows: Sequence[Row]) -> Alert | None:
    """Less than a fifth of the initial entropy is left and the task is not solved (verl#5953)."""
    start, now = _mean(rows[:WINDOW], "entropy"), _mean(rows, "entropy")
    if not now < start / 5 or _mean(rows, "accuracy") >= 0.9:
        return None
    return (
        f"the entropy fell from {start:.3f} to {now:.3f} nats per token: completions become alike",
        "Try a higher loss.clip_high, a lower optimizer.learning_rate or a kl.coef",
    )


def length_explosion(rows: Sequence[Row]) -> Alert | None:
    """Completions became twice as long within ``GROWTH`` steps and the reward did not rise (Liu et al. 2025)."""
    before = rows[: max(WINDOW, len(rows) - GROWTH)]
    old, new = _mean(before, "length"), _mean(rows, "length")
    old_reward, new_reward = _mean(before, "reward"), _mean(rows, "reward")
    if not (new >= 2 * old and new_reward <= old_reward + abs(old_reward) / 20):
        return None
    return (
        f"completions grew from {old:.0f} to {new:.0f} tokens, and the reward did not rise",
        "Try loss.aggregation=sequence or constant, a length penalty (the overlong or length verifier), or a kl.coef",
    )


def truncated(rows: Sequence[Row]) -> Alert | None:
    """Half of the completions are cut off before they end (trl#5697)."""
    fraction = _mean(rows, "truncated")
    if not fraction >= 0.5:
        return None
    return (
        f"{fraction:.0%} of the completions of the last {WINDOW} steps were cut off",
        "Try a larger sampling.max_new_tokens, a prompt that asks for shorter answers, or the overlong verifier",
    )


def kl_explosion(rows: Sequence[Row]) -> Alert | None:
    """The KL divergence of three steps is ten times that before, or above one nat a token (torchforge#664)."""
    values = [value for row in rows if (value := row.get("kl")) is not None]
    if len(values) < WINDOW + 3:
        return None
    now, before = fmean(values[-3:]), median(values[-WINDOW - 3 : -3])
    if now <= 0.1 or now <= min(1.0, 10 * before):
        return None
    return (
        f"the KL divergence to the reference model rose from {before:.2g} to {now:.2g} nats per token",
        "Try a lower optimizer.learning_rate or a higher kl.coef",
    )


def rollout_logprob_gap(rows: Sequence[Row]) -> Alert | None:
    """Token probabilities in the loss differ by a tenth from those of sampling.

    Rounding to bfloat16 makes about 0.02 nats; a tenth is half of the change that the usual clip range allows.
    """
    gap = _mean(rows, "rollout_logprob_gap")
    if not gap >= 0.1:
        return None
    return (
        f"log-probabilities in the loss differ by {gap:.2f} nats from those of sampling",
        "Try loss.tis_cap=2, which corrects for the difference, or engine.precision=fp32; so large a gap may also mean "
        "that the rollout engine uses other weights or another temperature",
    )


ALERTS: dict[str, Callable[[Sequence[Row]], Alert | None]] = {
    check.__name__: check
    for check in (
        *(reward_collapse, uniform_groups, phantom_gradient, entropy_collapse, length_explosion),
        *(truncated, kl_explosion, rollout_logprob_gap),
    )
}


def _mean(rows: Sequence[Row], name: str) -> float:
    """Mean of a metric over the last ``WINDOW`` rows; NaN, for which no comparison holds, if under half have it."""
    values = [value for row in rows[-WINDOW:] if (value := row.get(name)) is not None]
    return fmean(values) if len(rows) >= WINDOW and len(values) >= WINDOW // 2 else math.nan
