"""Advantages for a metric with known error rates: Cai et al. 2025, arXiv:2510.00915v4, by exact enumeration."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from grpo_env.core import Completion, Example, Score
from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.task import make_task
from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.config import AdvantageConfig, TrainConfig
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.error_correction import corrected_advantages, forward_weight, unbiased_verdict
from grpo_env.trainer.loop import train
from grpo_env.trainer.rollout import ScoredRollout
from grpo_env.trainer.run.run import Run
from grpo_env.trainer.run.task_checks import check_reward

from .shortcuts import groups_of

FALSE_POSITIVE, FALSE_NEGATIVE = 0.1, 0.25
RATES = [(FALSE_POSITIVE, FALSE_NEGATIVE), (0.0, 0.4), (0.3, 0.0), (0.45, 0.5)]


def tensor(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def flips(clean: tuple[int, ...], false_positive: float, false_negative: float):
    """Every observed group with its probability: equation 2, independent errors."""
    for observed in product((0, 1), repeat=len(clean)):
        chances = [
            (1 - false_negative if seen else false_negative)
            if true
            else (false_positive if seen else 1 - false_positive)
            for true, seen in zip(clean, observed, strict=True)
        ]
        yield observed, math.prod(chances)


def settings(rates: tuple[float, float], **others) -> AdvantageConfig:
    """With rates that may both be 0, which a run refuses."""
    both = dict(zip(("false_positive_rate", "false_negative_rate"), rates, strict=True))
    return AdvantageConfig(scale="none").model_copy(update=both | others)


def advantages(verdicts, correction: str, rates, weight=1.0, rest=None, baseline="group", scored=None):
    metric, weights = tensor(verdicts), tensor([weight] * len(verdicts))
    rewards = tensor(rest or [0.0] * len(verdicts)) + weights * metric
    groups = groups_of(rewards, scored=scored, metric=metric, metric_weights=weights)
    return corrected_advantages(groups, settings(rates, error_correction=correction, baseline=baseline)).tolist()


# Rates 0.1 and 0.25, so that 1 - 0.1 - 0.25 = 0.65: equation 3, and proposition 3.4 divided by 0.65.
def test_worked_by_hand() -> None:
    rates = settings((0.1, 0.25))
    assert unbiased_verdict(tensor([0, 1]), rates).tolist() == pytest.approx([-0.1 / 0.65, 0.9 / 0.65])
    assert forward_weight(tensor([0, 1]), rates).tolist() == pytest.approx([-0.75 / 0.65, 0.25 / 0.65])
    # Two of four accepted, weight 2: plus or minus half of 2 / 0.65.
    assert advantages([1, 1, 0, 0], "backward", (0.1, 0.25), 2) == pytest.approx([1 / 0.65] * 2 + [-1 / 0.65] * 2)


@pytest.mark.parametrize("rates", RATES)
def test_expected_coefficients(rates: tuple[float, float]) -> None:
    """Theorem 3.3 and proposition 3.4: 1 and 0 (backward), 0 and -1 (forward) for correct and wrong completions."""
    for clean, backward, forward in ((1, 1.0, 0.0), (0, 0.0, -1.0)):
        for coefficient, expected in ((unbiased_verdict, backward), (forward_weight, forward)):
            mean = sum(
                chance * coefficient(tensor(seen), settings(rates)) for (seen,), chance in flips((clean,), *rates)
            )
            assert mean.item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("baseline", ["group", "leave_one_out"])
@pytest.mark.parametrize("clean", [(1, 0, 0), (1, 1, 0), (0, 0, 0), (1, 1, 1)])
def test_backward_advantages_are_those_of_the_clean_rewards_on_average(rates, baseline, clean) -> None:
    weight, rest = 2.0, [0.5, 0.0, -0.25]
    rewards = [weight * true + other for true, other in zip(clean, rest, strict=True)]
    if baseline == "leave_one_out":
        expected = [reward - (sum(rewards) - reward) / 2 for reward in rewards]
    else:
        expected = [reward - sum(rewards) / 3 for reward in rewards]
    mean = [0.0] * 3
    for observed, chance in flips(clean, *rates):
        row = advantages(observed, "backward", rates, weight, rest, baseline)
        mean = [total + chance * value for total, value in zip(mean, row, strict=True)]
    assert mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("correction", ["backward", "forward"])
@pytest.mark.parametrize("rates", RATES)
def test_the_expected_update_is_the_clean_policy_gradient(correction: str, rates: tuple[float, float]) -> None:
    """Theorems 3.3 and 3.5 over all groups of two samples of a softmax over three responses, and over all errors."""
    logits = tensor([0.3, -0.5, 0.1]).requires_grad_()
    clean, others = (1, 0, 1), (0.0, 0.5, -0.2)  # the true verdict and the other parts of each response
    probs = logits.softmax(0)
    gradient = torch.autograd.grad((probs * tensor([c + o for c, o in zip(clean, others, strict=True)])).sum(), logits)[
        0
    ]
    score = torch.eye(3, dtype=torch.float64) - probs.detach()  # grad log pi of each response
    expected = torch.zeros(3, dtype=torch.float64)
    for group in product(range(3), repeat=2):
        for observed, chance in flips(tuple(clean[y] for y in group), *rates):
            row = advantages(observed, correction, rates, 1.0, [others[y] for y in group], baseline="leave_one_out")
            update = sum(value * score[y] for value, y in zip(row, group, strict=True)) / 2
            expected += probs.detach()[list(group)].prod() * chance * update
    assert expected.tolist() == pytest.approx(gradient.tolist(), abs=1e-12)


def test_without_the_correction_the_expected_update_is_not_the_clean_one() -> None:
    """The same other parts beside a verdict that shrinks by 0.65: the reason for the correction."""
    mean = [0.0, 0.0]
    for observed, chance in flips((1, 0), FALSE_POSITIVE, FALSE_NEGATIVE):
        row = advantages(observed, "backward", (0.0, 0.0))
        mean = [total + chance * value for total, value in zip(mean, row, strict=True)]
    assert mean == pytest.approx([0.65 / 2, -0.65 / 2])


def test_unscored_completions_have_no_advantage_and_no_part_in_the_baseline() -> None:
    for correction in ("backward", "forward"):
        rest, scored = [0.2, 0.0, math.nan], [True, True, False]
        result = advantages([1, 0, 1], correction, (0.1, 0.25), rest=rest, scored=scored)
        assert result[:2] == pytest.approx(advantages([1, 0], correction, (0.1, 0.25), 1.0, [0.2, 0.0]))
        assert result[2] == 0.0


class Text:
    """A policy of which only the texts matter."""


def rollout(value: float | None, rest: float = 0.0, finish: str = "stop") -> ScoredRollout:
    parts = (Score(value, name="accuracy", weight=2.0), Score(rest, name="format")) if value is not None else ()
    total = Score(2 * value + rest, parts=parts) if value is not None else Score(None, "error")
    return ScoredRollout(Example("e"), Rollout([1], [5, 6], "ab", finish, [0.0, 0.0]), total, value, "t", "accuracy")


def config(correction: str = "backward", **advantage) -> TrainConfig:
    settings = {"scale": "none", "error_correction": correction, "false_positive_rate": 0.1}
    return TrainConfig.from_mapping(
        {"group_size": 2, "advantage": {**settings, "false_negative_rate": 0.25, **advantage}}
    )


def test_the_metric_is_corrected_in_the_reward_and_nothing_else() -> None:
    rows = [rollout(1.0, 0.3), rollout(0.0, 0.5)]
    backward = token_advantages(Text(), rows, config())
    assert backward.tolist() == [[pytest.approx(value, rel=1e-6)] * 2 for value in (1 / 0.65 - 0.1, 0.1 - 1 / 0.65)]
    forward = token_advantages(Text(), rows, config("forward"))
    assert forward[:, 0].tolist() == pytest.approx([0.5 / 0.65 - 0.1, -1.5 / 0.65 + 0.1], rel=1e-6)


def test_a_truncated_reward_of_zero_is_no_observation_and_stays_zero() -> None:
    rows = [rollout(1.0), rollout(1.0, finish="length")]
    first, second = token_advantages(Text(), rows, config(truncated="zero"))[:, 0].tolist()
    assert (first, second) == pytest.approx((0.9 / 0.65, -0.9 / 0.65), rel=1e-6)


def test_an_unscored_rollout_and_a_graded_metric() -> None:
    assert token_advantages(Text(), [rollout(1.0), rollout(None)], config()).tolist() == [[0.0, 0.0]] * 2
    with pytest.raises(RunError, match=r"metric of 0 or 1; accuracy is 0\.5 for a completion of example e"):
        token_advantages(Text(), [rollout(1.0), rollout(0.5)], config())


def task(**verifiers):
    data = {
        "version": 1,
        "task": "sums",
        "dataset": {"generator": "grpo_env.tasks.arithmetic:rows", "limit": {"train": 4, "eval": 4}},
        "prompt": {"user": "{{ question }}"},
        "metric": "accuracy",
        "verifiers": verifiers,
    }
    return make_task(data, "sums.yaml", None)


@pytest.mark.parametrize(
    ("verifiers", "message"),
    [
        ({"accuracy": {"weight": 0.0}, "tag_count": {}}, "has weight 0"),
        ({"accuracy": {"statuses": {"no_answer": -0.5}}}, "has clip, statuses or when"),
        ({"accuracy": {"clip": [0, 1]}}, "has clip, statuses or when"),
        ({"accuracy": {"when": "tag_count"}, "tag_count": {}}, "has clip, statuses or when"),
        ({"accuracy": {}, "tag_count": {"when": "accuracy"}}, "is the gate (when) of tag_count"),
        ({"either": {"use": "any_of", "of": {"accuracy": {}, "tag_count": {}}}}, "inside of another part"),
    ],
)
def test_rewards_that_cannot_be_corrected(verifiers, message: str) -> None:
    with pytest.raises(UsageError, match="the metric 'accuracy' of the task sums") as caught:
        check_reward(task(**verifiers), config())
    assert message in str(caught.value)
    check_reward(task(**verifiers), TrainConfig())


def test_a_reward_that_can_be_corrected() -> None:
    graded = task(accuracy={"weight": 2.0}, tag_count={"weight": 0.5})
    check_reward(graded, config())
    assert graded.score(Completion("<answer>4</answer>"), answer="4").part("accuracy").weight == 2.0


def test_a_run_with_the_correction(tmp_path) -> None:
    settings = {"steps": 1, "prompts_per_step": 2, "group_size": 2, "eval": {"examples": 2, "samples": 0}}
    settings |= {"sampling": {"max_new_tokens": 8}, "advantage": config("forward").advantage.model_dump()}
    train("arithmetic", run_dir=tmp_path / "run", **settings)
    assert (tmp_path / "run" / "metrics.jsonl").exists()


def test_rates_are_of_one_task() -> None:
    with pytest.raises(UsageError, match="train on one task"):
        Run.load(SimpleNamespace(tasks=[1, 2]), config())
