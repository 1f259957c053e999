"""Warnings in plain words while a run goes wrong: what was seen, and what to try. Functions of its metrics alone.

The bounds are rules of thumb, loose enough that a sound run stays silent; nothing in the run depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import Any

Row = Mapping[str, Any]
Finding = tuple[str, str]  # what was seen, what to try

WINDOW = 10  # steps that a mean is over, and without a cause after which the same cause is said again
GROWTH = 50  # steps within which a doubled length is an explosion


def warnings(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows for ``metrics.jsonl`` with what begins to be wrong at the last of these training rows.

    What stays wrong is said once: it must have been right for ``WINDOW`` steps before it is said again.
    """
    found = {name: guard(rows) for name, guard in ALERTS.items()}
    return [
        {"kind": "warning", "step": rows[-1]["step"], "guard": name, "seen": warning[0], "try": warning[1]}
        for name, warning in found.items()
        if warning and not any(ALERTS[name](rows[:-back]) for back in range(1, WINDOW + 1))
    ]


def reward_collapse(rows: Sequence[Row]) -> Finding | None:
    """At least half of what was gained, and a fifth of the best mean, is lost, far beyond the noise of the means."""
    values = [value for row in rows if (value := row["reward"]) is not None]
    if len(values) <= WINDOW:
        return None
    sums = list(accumulate(values, initial=0.0))
    means = [(high - low) / WINDOW for low, high in zip(sums, sums[WINDOW:], strict=False)]
    # Of the last steps the median too, so that one step is no collapse.
    first, best, now = means[0], max(means), max(means[-1], median(values[-WINDOW:]))
    # The median step between normal values is 0.954 of their deviation, whatever a trend or a jump adds to a few.
    noise = median(abs(b - a) for a, b in pairwise(values)) / 0.954 / math.sqrt(WINDOW)
    if best - now <= max(6 * noise, abs(best) / 5) or now > (first + best) / 2:
        return None
    return (
        f"the reward, over {WINDOW} steps, fell from {best:.3f} to {now:.3f}",
        "Unless a schedule made the task harder: go back to a checkpoint with a lower optimizer.learning_rate or a "
        "kl.coef of 0.01, and read in samples.jsonl what the model writes now",
    )


def uniform_groups(rows: Sequence[Row]) -> Finding | None:
    """Nearly all groups have equal rewards, so nearly nothing is learnt."""
    share, accuracy = _mean(rows, "uniform_groups"), _mean(rows, "accuracy")
    if share is None or share < 0.9:
        return None
    seen = f"in {share:.0%} of the groups of {WINDOW} steps all rewards were equal, and such groups teach nothing"
    if accuracy is not None and accuracy >= 0.9:
        return seen, f"The task is as good as solved (accuracy {accuracy:.2f}): stop here, or give harder examples"
    if accuracy is not None and accuracy > 0.1:
        return (
            seen,
            "A group's completions are all alike: try a higher sampling.temperature, or go back to a checkpoint before",
        )
    return seen, "The task is too hard: try easier examples, a larger group_size, a reward with parts"


def entropy_collapse(rows: Sequence[Row]) -> Finding | None:
    """A fifth of the first entropy is left, while the task is not solved: exploring ends before it has paid."""
    start, now, accuracy = _mean(rows[:WINDOW], "entropy"), _mean(rows, "entropy"), _mean(rows, "accuracy")
    if start is None or now is None or now >= start / 5 or (accuracy or 0.0) >= 0.9:
        return None
    return (
        f"the entropy fell from {start:.3f} to {now:.3f} nats a token: completions become all alike",
        "Try a higher loss.clip_high, a small loss.entropy_coef (0.001), a lower optimizer.learning_rate or a kl.coef",
    )


def length_explosion(rows: Sequence[Row]) -> Finding | None:
    """Within ``GROWTH`` steps completions became twice as long and the reward did not rise."""
    before = rows[: max(WINDOW, len(rows) - GROWTH)]
    old, now = _mean(before, "length"), _mean(rows, "length")
    reward, paid = _mean(before, "reward"), _mean(rows, "reward")
    if old is None or now is None or reward is None or paid is None or now < 2 * old:
        return None
    if paid > reward + abs(reward) / 20:
        return None
    return (
        f"completions grew from {old:.0f} to {now:.0f} tokens, and the reward did not rise",
        "Try loss.aggregation=sequence or constant, a verifier that rewards length less (overlong, length), or a "
        "kl.coef",
    )


def truncated(rows: Sequence[Row]) -> Finding | None:
    """Half of the completions do not come to their end."""
    share = _mean(rows, "truncated")
    if share is None or share < 0.5:
        return None
    return (
        f"{share:.0%} of the completions of {WINDOW} steps were cut off",
        "Try a larger sampling.max_new_tokens, a prompt that asks for less, or an overlong verifier",
    )


def kl_explosion(rows: Sequence[Row]) -> Finding | None:
    """The KL divergence of three steps is ten times what it was in those before, or above one nat a token."""
    values = [value for row in rows if (value := row.get("kl")) is not None]
    if len(values) < WINDOW + 3:
        return None
    now, before = fmean(values[-3:]), median(values[-WINDOW - 3 : -3])
    if now <= 0.1 or now <= min(1.0, 10 * before):
        return None
    return (
        f"the KL divergence to the reference model rose from {before:.2g} to {now:.2g} nats a token",
        "Try a lower optimizer.learning_rate or a higher kl.coef; kl.estimator=k2 is less ruled by single tokens than "
        "k3",
    )


def unscored(rows: Sequence[Row]) -> Finding | None:
    """One completion in fifty cannot be scored."""
    share = _mean(rows, "unscored")
    if share is None or share < 0.02:
        return None
    return (
        f"{share:.1%} of the completions of {WINDOW} steps could not be scored",
        "Read the reasons in samples.jsonl; a step with more than max_unscored_fraction ends the run",
    )


def rollout_logprob_gap(rows: Sequence[Row]) -> Finding | None:
    """A token's probability is a tenth off from what it was sampled with.

    Rounding to bfloat16 makes about 0.02 nats; a tenth is half of what the usual clip lets an update change.
    """
    gap = _mean(rows, "rollout_logprob_gap")
    if gap is None or gap < 0.1:
        return None
    return (
        f"log-probabilities in the loss are {gap:.2f} nats from those that tokens were sampled with",
        "Try loss.tis_cap=2, which weights tokens against the difference, or engine.precision=fp32; a gap this wide "
        "may also mean that whatever samples has other weights or another temperature",
    )


ALERTS: dict[str, Callable[[Sequence[Row]], Finding | None]] = {
    guard.__name__: guard
    for guard in (
        *(reward_collapse, uniform_groups, entropy_collapse, length_explosion),
        *(truncated, kl_explosion, unscored, rollout_logprob_gap),
    )
}


def _mean(rows: Sequence[Row], name: str) -> float | None:
    """Mean of a metric over the last ``WINDOW`` rows; none where fewer than half of them have it."""
    values = [value for row in rows[-WINDOW:] if (value := row.get(name)) is not None]
    return fmean(values) if len(rows) >= WINDOW and len(values) >= WINDOW // 2 else None
