"""Advantages of scored groups are those that the trainer computes with its default settings."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Score, StepScore
from grpo_env.scoring.group_advantages import group_advantages
from grpo_env.trainer.advantages import outcome_advantages, process_advantages
from grpo_env.trainer.config import AdvantageConfig

from ..trainer.shortcuts import groups_of

values = st.sampled_from([0.0, 0.1, 0.1 + 0.2, 0.3, 1.0, -2.5, 1e9, 1e9 + 1e-3]) | st.floats(-3, 3)
completions = st.tuples(st.none() | values, st.lists(values, max_size=4))


def score(value, steps):
    places = [StepScore(start, start + 1, step) for start, step in enumerate(steps)]
    return Score(value, "scored" if value is not None else "error", steps=tuple(places))


def by_trainer(group):
    size, length = len(group), max(1, *(len(score.steps) for score in group))
    steps = torch.zeros(size, length, dtype=torch.float64)
    for row, score in enumerate(group):
        for column, step in enumerate(score.steps):
            steps[row, column] = step.value
    tokens = torch.arange(length).expand(size, length)
    mask = tokens < torch.tensor([len(score.steps) for score in group])[:, None]
    fields = {"step_rewards": steps, "step_tokens": tokens, "step_mask": mask, "length": length}
    scored = [score.scored for score in group]
    groups, settings = groups_of([score.value or 0.0 for score in group], scored=scored, **fields), AdvantageConfig()
    by_step = process_advantages(groups, settings).tolist()
    return [
        (outcome, step_advantages[: len(score.steps)]) if score.scored else (None, [])
        for score, outcome, step_advantages in zip(
            group, outcome_advantages(groups, settings).tolist(), by_step, strict=True
        )
    ]


@given(st.lists(completions, min_size=1, max_size=6))
def test_they_equal_the_trainers(group):
    scores = [score(value, steps) for value, steps in group]
    for actual, (outcome, steps) in zip(group_advantages(scores), by_trainer(scores), strict=True):
        assert actual.outcome == (None if outcome is None else pytest.approx(outcome, rel=1e-6, abs=1e-9))
        assert actual.steps == pytest.approx(steps, rel=1e-6, abs=1e-9)


def test_the_step_advantages_of_a_group_by_hand():
    # Totals 1, 0, 1: mean 2/3, sample deviation 0.57735. Step rewards 1; 0, 1; none: the same three numbers.
    group = [score(1.0, [1.0]), score(0.0, [0.0, 1.0]), score(1.0, []), score(None, [1.0])]
    good, bad = (1 - 2 / 3) / 0.5773503, (0 - 2 / 3) / 0.5773503
    expected = [(good, [good]), (bad, [bad + good, good]), (good, [])]
    for actual, (outcome, steps) in zip(group_advantages(group), expected, strict=False):
        assert actual.outcome == pytest.approx(outcome, abs=1e-6)
        assert actual.steps == pytest.approx(steps, abs=1e-6)
    assert group_advantages(group)[3] == (None, [])
