"""The first lines of a run: what the user is told of a model."""

import pytest

from grpo_env.taskfile.task import load_task
from grpo_env.trainer.engine.bundled import MODELS, TASKS
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.run.start_lines import model_line


@pytest.mark.parametrize("name", MODELS)
def test_a_bundled_model_is_said_to_know_one_task(name):
    line = model_line(load_policy(name, device="cpu"))
    assert line.startswith(f"{name} (knows only problems like those of {TASKS[name]}): ")
    assert load_task(TASKS[name]).defaults.get("model", "bundled") == name


def test_nothing_is_said_of_other_models(policy):
    assert " (" not in model_line(policy)
