"""How well a reward model predicts held-out labels: accuracy, and the order of a prompt's completions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from grpo_env.confidence_intervals import Interval, estimate
from grpo_env.core import Score

from .labels import Labelled


@dataclass(frozen=True)
class Mean:
    """A mean over prompts with its 95 % interval, see ``estimate``; ``compared`` counts labels or pairs."""

    value: float
    interval: Interval | None
    prompts: int
    compared: int


@dataclass(frozen=True)
class Figures:
    """Held-out figures.

    Attributes:
        accuracy: the fraction of labels on the same side of 0.5 as the model's value, by prompt.
        majority: the same for the more frequent side of the training labels, whatever the completion.
        pairs: of each prompt's pairs of a correct and a wrong completion, the fraction with the higher value for the
            correct one (half for equal values); ``None`` if there is no such pair.
        unscored: completions for which the model has no value.
    """

    accuracy: Mean
    majority: float
    pairs: Mean | None
    unscored: int = 0


def held_out_figures(rows: Sequence[Labelled], scores: Sequence[Score], mostly_good: bool) -> Figures:
    """The figures of held-out completions with the verifier's scores of them, steps or whole texts.

    ``mostly_good`` says which side of 0.5 most training labels are on.
    """
    labels: list[tuple[str, float, float]] = []  # prompt, label and the model's value
    by_prompt, unscored = defaultdict[str, tuple[list[float], list[float]]](lambda: ([], [])), 0
    for row, score in zip(rows, scores, strict=True):
        if score.value is None:
            unscored += 1
            continue
        values = [step.value for step in score.steps] or [score.value]
        labels += [(row.prompt, y, p) for y, p in zip(row.labels, values, strict=True) if y is not None]
        if row.correct is not None:
            by_prompt[row.prompt][row.correct].append(score.value)
    return Figures(
        accuracy=_by_prompt([(prompt, float((value >= 0.5) == (label >= 0.5))) for prompt, label, value in labels]),
        majority=_by_prompt([(prompt, float((label >= 0.5) == mostly_good)) for prompt, label, _ in labels]).value,
        pairs=pair_accuracy(by_prompt),
        unscored=unscored,
    )


def pair_accuracy(by_prompt: dict[str, tuple[list[float], list[float]]]) -> Mean | None:
    """From the values of each prompt's wrong and correct completions."""
    pairs = [
        (prompt, float(right > wrong) + 0.5 * (right == wrong))
        for prompt, (wrongs, rights) in by_prompt.items()
        for wrong, right in product(wrongs, rights)
    ]
    return _by_prompt(pairs) if pairs else None


def _by_prompt(values: Sequence[tuple[str, float]]) -> Mean:
    """The mean over prompts of the mean of each prompt's values."""
    groups = defaultdict[str, list[float]](list)
    for prompt, value in values:
        groups[prompt].append(value)
    means = [fmean(group) for group in groups.values()]
    mean = estimate(means)
    assert mean
    return Mean(mean.value, mean.interval, mean.groups, len(values))
