"""Whether the reward tells gold answers from wrong ones."""

import pytest

from grpo_env.check import gain_warning
from grpo_env.taskfile.task import load_task

FORM = {"verifiers.accuracy.weight": 0, "verifiers.equations.process": 0}


@pytest.mark.parametrize(
    ("overrides", "warned"),
    [
        ({}, False),
        (FORM, True),  # only the form is paid
        ({"verifiers.accuracy.weight": -1.0, "verifiers.accuracy.process": -1.0}, True),
        ({**FORM, "verifiers.accuracy.process": 1.0}, False),  # the steps tell
        ({**FORM, "verifiers.vote": {"use": "accuracy"}}, False),  # another part does
        ({**FORM, "verifiers.model": {"use": "reward_model", "model": "hub/model"}}, False),  # no model is asked
    ],
)
def test_a_reward_that_does_not_pay_for_answers_is_warned_of(overrides, warned):
    line = gain_warning(load_task("arithmetic", overrides))
    assert (line is not None) == warned
    if line:
        assert "gold answer with 0.2; give accuracy or what rewards it a weight" in line or "-0.8" in line


def test_an_environment_is_left_to_check():
    assert gain_warning(load_task("till", {"verifiers.accuracy.weight": 0})) is None
