"""Presets in the terms of their papers: the coefficient of each token's grad log pi, worked out by hand."""

from __future__ import annotations

import pytest
import torch

from grpo_env.core import Example, Score
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.losses import LossInputs, aggregate, denominators, policy_loss
from grpo_env.trainer.run.start_lines import settings_text
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import advantages_of

LENGTHS = (2, 4, 1, 3)


def rollout(correct: float | None, length: int, other: float = 0.25, finish: str = "stop") -> ScoredRollout:
    """A completion whose reward is its metric and a part of another kind."""
    value = None if correct is None else correct + other
    parts = () if correct is None else (Score(correct, name="accuracy"), Score(other, name="format"))
    score = Score(value, "scored" if value is not None else "error", parts=parts)
    tokens = Rollout([1], [5] * length, "x" * length, finish, [-1.0] * length)
    return ScoredRollout(Example("e"), tokens, score, correct, "t")


def coefficients(preset: str, correct: list[float | None], **more) -> list[list[float]]:
    """The coefficient of grad log pi of each token in the gradient of minus the loss, at ratio 1."""
    config = TrainConfig.from_mapping({"preset": preset, "group_size": 4, "sampling.max_new_tokens": 8, **more})
    rows = [rollout(value, LENGTHS[number % 4]) for number, value in enumerate(correct)]
    advantages = advantages_of(None, rows, config)  # type: ignore[arg-type]
    scored = torch.tensor([row.score.scored for row in rows])
    lengths = torch.tensor([len(row.rollout.ids) for row in rows])
    mask = (torch.arange(4) < lengths[:, None]) & scored[:, None]
    logp = torch.full((len(rows), 4), -1.0, requires_grad=True)
    old = logp.detach()
    loss = policy_loss(LossInputs(logp, old, old, None, advantages, mask, old), config.loss)
    mode = config.loss.aggregation
    aggregate(loss, mask, mode, denominators(lengths[scored], int(scored.sum()), mode, 8)).backward()
    return [(-row[:length]).tolist() for row, length in zip(logp.grad, LENGTHS * 9, strict=False)]


def spread(values: list[float], divisors: list[float]) -> list[list[float]]:
    """Each value over its divisor, once for every token of its row."""
    return [
        [pytest.approx(value / divisor, rel=1e-5)] * length
        for value, divisor, length in zip(values, divisors, LENGTHS, strict=True)
    ]


def test_grpo_and_dr_grpo() -> None:
    """Rewards 1.25, 1.25, 1.25, .25 have mean 1 and variance 1/4 over n - 1: equations 3 and 21 of DeepSeekMath."""
    correct, centered = [1.0, 1.0, 1.0, 0.0], [0.25, 0.25, 0.25, -0.75]
    assert coefficients("dr_grpo", correct) == spread(centered, [32] * 4)
    assert coefficients("grpo", correct) == spread(centered, [0.5 * 4 * length for length in LENGTHS])


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
