"""Values of the turns of an episode: the environment repeats the turns before, and the policy goes on from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_env.environments import pool
from grpo_env.errors import RunError
from grpo_env.taskfile.task import Task
from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.config import SamplingConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.extensions.step_values import continuations, step_values
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.shared_types import ScoredRollout, Start

from .shortcuts import roll_out
from .test_episodes import a_task, call, examples, scripted, talker  # noqa: F401

CONFIG = TrainConfig(
    prompts_per_step=1,
    group_size=2,
    supervision="process",
    sampling={"max_new_tokens": 999},
    step_values={"rollouts": 2},
    advantage={"scale": "none"},
)


@pytest.fixture(autouse=True)
def _no_process_is_left():
    yield
    pool.close_idle()


def play(policy: Policy, task: Task, size: int = 2, tokens: int = 999, **info: object) -> list[ScoredRollout]:
    return roll_out(
        policy, make_prompts(task, examples(1, **info)), size, max_new_tokens=tokens, temperature=1.0, seed="0"
    )


def test_values_by_hand(policy: Policy) -> None:
    """Row 0 of a group adds 3 and gives up, row 1 adds 4 as well; both say 7 if they have a third turn."""
    policy = scripted(policy, [call("add", number=3), "3", "7"], [call("add", number=3), call("add", number=4), "7"])
    task = a_task("Counter", {"exact_text": {}})
    rollouts = play(policy, task)
    assert [row.score.value for row in rollouts] == [0, 1]
    values = step_values(policy, [task], rollouts, CONFIG, 0)
    # After the first turn, which both share: continuations score 0 and 1. After the second of row 1: 1 and 1.
    first, second = ([(step.before, step.after) for step in row] for row in values.rows)
    assert first == [(1, pytest.approx(2 / 4)), (pytest.approx(2 / 3), 0)]
    assert second == [(0, pytest.approx(2 / 4)), (pytest.approx(1 / 3), 1), (1, 1)]
    assert [[step.token + 1 for step in row] for row in values.rows] == [
        [end for _, end in row.rollout.spans] for row in rollouts
    ]
    assert values.values == 2
    letters = [len(policy.tokenizer(text)["input_ids"]) + 1 for text in ("3", call("add", number=4), "7")]
    assert values.tokens == letters[0] + letters[1] + letters[2] + 2 * letters[2]  # nothing told, nothing repeated
    advantages = token_advantages(policy, rollouts, CONFIG, values.rows)
    for row, steps, tokens in zip(rollouts, values.rows, advantages, strict=True):
        for (start, end), step in zip(row.rollout.spans, steps, strict=True):
            assert tokens[start:end].tolist() == pytest.approx([step.after - step.before] * (end - start))


def test_the_turns_before_are_those_of_the_episode(talker: Policy) -> None:  # noqa: F811
    task = a_task()
    rollouts = play(talker, task, size=4, tokens=20, turns=4)
    (prompt,) = make_prompts(task, examples(1, turns=4))
    starts = [
        Start(prompt, row.rollout, end, f"{number}/{turn}")
        for number, row in enumerate(rollouts)
        for turn, (_, end) in enumerate(row.rollout.spans[:-1])
    ]
    assert len(starts) > 3
    groups = continuations(talker, starts, 3, SamplingConfig(max_new_tokens=20))
    for start, group in zip(starts, groups, strict=True):
        turns = sum(end <= start.length for _, end in start.rollout.spans)
        for rollout in (row.rollout for row in group):
            assert rollout.ids[: start.length] == start.rollout.ids[: start.length]
            assert rollout.logps[: start.length] == start.rollout.logps[: start.length]
            assert rollout.episode.turns[:turns] == start.rollout.episode.turns[:turns]
            assert len(rollout.spans) > turns
            assert rollout.turn(turns).prompt_ids == start.rollout.turn(turns).prompt_ids
            assert rollout.num_sampled <= 20
    assert any(len({tuple(row.rollout.ids) for row in group}) > 1 for group in groups)


def test_an_environment_that_answers_differently_is_an_error(policy: Policy) -> None:
    policy = scripted(policy, [call("look"), "7"], [call("look"), "8"])
    task = a_task("Clock", {"exact_text": {}})
    with pytest.raises(RunError, match=r"talk.py:Clock: example 0: the environment said something else when turn 1 of"):
        step_values(policy, [task], play(policy, task), CONFIG, 0)


def test_an_environment_that_fails_while_turns_are_repeated_is_no_sample(policy: Policy, tmp_path: Path) -> None:
    policy = scripted(policy, [call("mark"), "8"], [call("mark"), "7"])
    task = a_task("Twice", {"exact_text": {}})
    rollouts = play(policy, task, folder=str(tmp_path))
    rows = step_values(policy, [task], rollouts, CONFIG, 0).rows
    assert [[step.before for step in row] for row in rows] == [[1, 1], [0, 0]]  # those of the other row alone
