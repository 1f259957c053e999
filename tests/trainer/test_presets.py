"""Presets in the terms of their papers: the coefficient of each token's grad log pi, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from grpo_env.core import Example, Score
from grpo_env.errors import RunError
from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.extensions.greedy_baseline import greedy_rollouts
from grpo_env.trainer.loop import train
from grpo_env.trainer.losses import LossInputs, aggregate, denominators, loss_function
from grpo_env.trainer.rollout import ScoredRollout
from grpo_env.trainer.run.start_lines import settings_text

LENGTHS = (2, 4, 1, 3)


def rollout(correct: float | None, length: int, other: float = 0.25, finish: str = "stop") -> ScoredRollout:
    """A completion whose reward is its metric and a part of another kind."""
    value = None if correct is None else correct + other
    parts = () if correct is None else (Score(correct, name="accuracy"), Score(other, name="format"))
    score = Score(value, "scored" if value is not None else "error", parts=parts)
    tokens = Rollout([1], [5] * length, "x" * length, finish, [-1.0] * length)
    return ScoredRollout(Example("e"), tokens, score, correct, "t", "accuracy")


def coefficients(
    preset: str, correct: list[float | None], greedy: list[float | None] = (), **more
) -> list[list[float]]:
    """The coefficient of grad log pi of each token in the gradient of minus the loss, at ratio 1."""
    config = TrainConfig.from_mapping({"preset": preset, "group_size": 4, "sampling.max_new_tokens": 8, **more})
    rows = [rollout(value, LENGTHS[number % 4]) for number, value in enumerate(correct)]
    baselines = [rollout(value, 3) for value in greedy]
    advantages = token_advantages(None, rows, config, baselines)  # type: ignore[arg-type]
    scored = torch.tensor([row.score.scored for row in rows])
    lengths = torch.tensor([len(row.rollout.ids) for row in rows])
    mask = (torch.arange(4) < lengths[:, None]) & scored[:, None]
    logp = torch.full((len(rows), 4), -1.0, requires_grad=True)
    old = logp.detach()
    loss = loss_function(config.loss)(LossInputs(logp, old, old, None, advantages, mask, old))
    mode = config.loss.aggregation
    aggregate(loss, mask, mode, denominators(lengths[scored], int(scored.sum()), mode, 8)).backward()
    return [(-row[:length]).tolist() for row, length in zip(logp.grad, LENGTHS * 9, strict=False)]


def spread(values: list[float], divisors: list[float]) -> list[list[float]]:
    """Each value over its divisor, once for every token of its row."""
    return [
        [pytest.approx(value / divisor, rel=1e-5)] * length
        for value, divisor, length in zip(values, divisors, LENGTHS, strict=True)
    ]


def test_maxrl() -> None:
    """Mean 1/4: (1 - 1/4) / (1/4) = 3 and (0 - 1/4) / (1/4) = -1, whatever else is in the reward."""
    assert coefficients("maxrl", [0.0, 1.0, 0.0, 0.0]) == spread([-1, 3, -1, -1], [4 * 8] * 4)


def test_maxrl_averages_over_scored_completions_and_needs_a_correct_one() -> None:
    """Mean 2/3 of three: 1/2 and -1. Nothing correct: 0, and no division by 0."""
    assert coefficients("maxrl", [1.0, None, 0.0, 1.0]) == spread([0.5, 0, -1, 0.5], [3 * 8] * 4)
    assert coefficients("maxrl", [0.0] * 4) == spread([0] * 4, [1] * 4)


def test_the_sum_of_maxrl_over_successes_is_the_average_score_function_of_them() -> None:
    """Without the baseline's -1, each of K successes among N completions weighs N / K, and so 1 / K on average."""
    rows = coefficients("maxrl", [1.0, 1.0, 0.0, 0.0])
    assert [(row[0] * 32 + 1) / 4 for row in rows] == pytest.approx([1 / 2, 1 / 2, 0, 0])


def test_division_by_the_mean_refuses_negative_rewards() -> None:
    with pytest.raises(RunError, match=r"advantage\.scale=mean divides by the mean reward .* must not be negative"):
        coefficients("maxrl", [-1.0, 1.0, 0.0, 0.0], **{"advantage.reward": "total"})
    totals = coefficients("maxrl", [0.0, 1.0, 0.0, 0.0], **{"advantage.reward": "total"})
    assert totals == spread([-0.5, 1.5, -0.5, -0.5], [32] * 4)  # .25 and 1.25, mean .5


def test_remax() -> None:
    """The greedy completion of the first group is wrong, .25; that of the second is correct, 1.25."""
    rows = coefficients("remax", [1.0, 0.0, 0.5, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 1.0])
    assert rows[:4] == spread([1, 0, 0.5, 0], [64] * 4)
    assert rows[4:] == spread([0, 0, -1, 0], [64] * 4)


def test_remax_without_a_score_of_the_greedy_completion_learns_nothing_from_the_group() -> None:
    rows = coefficients("remax", [1.0, 0.0, 0.5, None, 1.0, 1.0, 0.0, 1.0], [None, 0.0])
    assert rows[:4] == spread([0] * 4, [1] * 4)
    assert rows[4:] == spread([1, 1, 0, 1], [7 * 8] * 4)


def test_reinforce_with_and_without_a_baseline() -> None:
    correct = [1.0, 1.0, 1.0, 0.0]
    assert coefficients("reinforce_no_baseline", correct) == spread([1.25, 1.25, 1.25, 0.25], [32] * 4)
    assert coefficients("reinforce", correct) == spread([0.25, 0.25, 0.25, -0.75], [32] * 4)
    assert coefficients("reinforce_no_baseline", [1.0] * 4) == spread([1.25] * 4, [32] * 4)


def test_online_rft() -> None:
    """Equation 11: 1 / |o| for the tokens of correct completions, averaged over all completions; graded is wrong."""
    assert coefficients("online_rft", [1.0, 1.0, 0.0, 0.5]) == spread([1, 1, 0, 0], [4 * length for length in LENGTHS])


def test_sapo_at_ratio_1_is_grpo_without_a_penalty() -> None:
    """Mean 1/2, sample deviation 1 / sqrt(3): +-.5 sqrt(3), and 1 / |o| as in GRPO."""
    a = math.sqrt(3) / 2
    expected = spread([a, -a, a, -a], [4 * length for length in LENGTHS])
    assert coefficients("sapo", [1.0, 0.0, 1.0, 0.0]) == expected


def test_truncated_greedy_completions_are_worth_0_under_zero() -> None:
    config = TrainConfig.from_mapping({"preset": "remax", "group_size": 2, "advantage.truncated": "zero"})
    rows = [rollout(1.0, 2), rollout(1.0, 2, finish="length")]
    for finish, expected in (("stop", [0.0, -1.25]), ("length", [1.25, 0.0])):
        advantages = token_advantages(None, rows, config, [rollout(1.0, 2, finish=finish)])  # type: ignore[arg-type]
        assert advantages[:, 0].tolist() == pytest.approx(expected)


def test_greedy_rollouts_are_those_of_the_policy(policy: Policy, make_task) -> None:
    """One row for each group, in order, of the most likely tokens by a plain forward pass."""
    task = make_task({"test_ascii": {"weight": 1.0}})
    config = TrainConfig.from_mapping({"preset": "remax"}, defaults=task.defaults)
    examples = task.examples("train")[:2]
    rows = [rollout(1.0, 2)._replace(example=example, task=task.name) for example in examples for _ in range(4)]
    greedy = greedy_rollouts(policy, [task], rows, config, 0)
    assert [row.example.id for row in greedy] == [example.id for example in examples]
    for row in greedy:
        ids = list(row.rollout.prompt_ids)
        for token in row.rollout.ids:
            logits = policy.model(torch.tensor([ids])).logits[0, -1]
            assert logits[token].item() == pytest.approx(logits.max().item(), abs=1e-4)
            ids.append(token)
    assert greedy_rollouts(policy, [task], rows, TrainConfig(), 0) == []


@pytest.mark.parametrize("preset", ["remax", "online_rft"])
def test_a_run(make_task, tmp_path: Path, preset: str) -> None:
    settings = {"steps": 1, "eval.every": 0, "eval.examples": 1, "eval.samples": 0}
    result = train(make_task({"test_vowels": {"weight": 1.0}}, preset=preset, **settings), run_dir=tmp_path / preset)
    assert (result.run_dir / "model").is_dir()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"steps": 7, "optimizer.learning_rate": 0.1}, "default settings"),
        ({"preset": "dapo"}, "dapo settings"),
        ({"preset": "grpo", "kl.coef": 0.1}, "grpo settings except kl.coef"),
        (
            {"loss.function": "my_loss.py:loss", "advantage.function": "mine.py:advantages"},
            "default settings except advantage.function, loss.function",
        ),
    ],
)
def test_the_console_says_what_differs_from_the_preset(settings: dict[str, object], text: str) -> None:
    assert settings_text(TrainConfig.from_mapping(settings)) == text
