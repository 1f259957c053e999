"""Which groups make a batch: dynamic sampling against the same groups sampled without it."""

from __future__ import annotations

import os

import pytest

from grpo_env.core import Example, Score
from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.extensions import dynamic_sampling
from grpo_env.trainer.extensions.dynamic_sampling import differ, sample_groups
from grpo_env.trainer.extensions.prompt_sampler import PromptSampler
from grpo_env.trainer.loop import train
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.shared_types import Prompt, ScoredRollout

from .shortcuts import roll_out, with_settings
from .toy_verifiers import BatchLengths, Lengths, is_informative

CONFIG = TrainConfig(
    prompts_per_step=3,
    group_size=8,
    sampling={"max_new_tokens": 6},
    dynamic_sampling={"part": "test_informative"},
)


@pytest.fixture
def fill(policy: Policy, make_task):
    def call(step: int = 0, every: int = 2, **changes: object) -> tuple[list[ScoredRollout], list[ScoredRollout]]:
        task = make_task({"test_informative": {"weight": 1.0, "every": every}, "test_vowels": {"weight": 1.0}})
        sampler = PromptSampler(task, 1.0, task.examples("train"))
        sampled = sample_groups(policy, with_settings(CONFIG, **changes), [sampler], step)
        return sampled, sampled[:24]

    return call


def tokens(rollouts: list[ScoredRollout]) -> list[tuple[str, list[int]]]:
    return [(row.example.id, row.rollout.ids) for row in rollouts]


def test_without_a_part_there_is_one_round(fill) -> None:
    sampled, batch = fill(dynamic_sampling={"part": None})
    assert batch == sampled
    assert len(batch) == 24


@pytest.mark.parametrize(
    ("values", "informative"),
    [
        ([1.0, 1.0, 0.0], True),
        ([1.0, 1.0, None], False),  # unscored is no other value
        ([1.0, 0.0, None], True),
        ([None, None, None], False),
        ([0.1 + 0.2, 0.3, 0.3], False),
    ],
)
def test_groups_with_one_value_of_the_part_are_uniform(values: list[float | None], informative: bool) -> None:
    rollout = Rollout([1], [2], "a", "stop", [0.0])
    parts = [Score(value, "scored" if value is not None else "error", name="test_informative") for value in values]
    scores = [Score(1.0, parts=(part,)) for part in parts]
    assert differ([ScoredRollout(Example("0"), rollout, score) for score in scores], "test_informative") == informative


def test_uniform_groups_are_replaced(fill) -> None:
    again = 0
    for step in range(4):
        sampled, batch = fill(step)
        first = tokens(fill(step, dynamic_sampling={"part": None})[1])
        assert all(row in tokens(sampled) for row in first)
        again += len(sampled) > len(first)
        # test_vowels differs within every group: only the named part counts.
        groups = [batch[start : start + 8] for start in range(0, 24, 8)]
        informative = [len({row.score.part("test_informative").value for row in group}) > 1 for group in groups]
        assert informative == [is_informative(group[0].example) for group in groups]
        assert informative == sorted(informative, reverse=True)
        assert all(informative) == (sum(is_informative(row.example) for row in sampled[::8]) >= 3)
    assert again


def test_a_step_is_the_same_whenever_it_runs(fill) -> None:
    once, again, later = (tokens(fill(step)[0]) for step in (2, 2, 3))
    assert once == again != later


@pytest.mark.parametrize("rounds", [0, 1])
def test_rounds_are_bounded(fill, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dynamic_sampling, "MAX_ROUNDS", rounds)
    sampled = [len(fill(step)[0]) for step in range(4)]
    assert 24 * rounds < max(sampled) <= 24 * (1 + rounds)


def test_without_informative_groups_the_first_groups_fill_the_batch(fill) -> None:
    sampled, batch = fill(every=0)
    assert len(sampled) == 4 * len(batch)
    assert tokens(batch) == tokens(fill(every=0, dynamic_sampling={"part": None})[0])


def test_metrics_are_of_everything_sampled(make_task, tmp_path) -> None:
    task = make_task({"test_informative": {"weight": 1.0}})
    run = train(
        task, run_dir=tmp_path / "run", dynamic_sampling={"part": "test_informative"}, eval={"every": 0}, group_size=4
    )
    rows = [row for row in RunFolder(run.run_dir).metrics() if row["kind"] == "train"]
    assert max(row["groups_sampled"] for row in rows) > 3
    # Completions of 12 tokens that never end, and a batch of 12: more tokens than that were sampled.
    assert [row["tokens"] for row in rows] == [row["groups_sampled"] * 4 * row["length"] for row in rows]


def test_an_example_that_a_step_takes_several_times_gets_different_samples(policy: Policy, make_task) -> None:
    task = make_task()
    prompts = [Prompt(task, task.verifier, example) for example in task.examples("train")[:1] * 4]
    scored = roll_out(policy, prompts, 4, max_new_tokens=12, temperature=1.0, seed="0")
    assert len({tuple(row.rollout.ids) for row in scored}) == len(scored) == 16


@pytest.mark.parametrize("kind", [Lengths, BatchLengths])
def test_scores_arrive_at_their_completions_whichever_group_ends_first(policy: Policy, make_task, kind) -> None:
    vars(policy)["end_ids"] = list(range(0, len(policy.tokenizer), 3))
    task = make_task()
    prompts = [Prompt(task, kind(), example) for example in task.examples("train")]
    scored = roll_out(policy, prompts, 3, max_new_tokens=30, temperature=1.0, seed="0")
    assert [row.example.id for row in scored] == [example.id for example in task.examples("train") for _ in range(3)]
    assert all(row.score.value == len(row.rollout.ids) for row in scored)
    assert all(row.score.answer == row.example.id for row in scored)
    assert {row.score.explanation == str(os.getpid()) for row in scored} == {kind is BatchLengths}


def test_a_verifier_that_does_not_end_times_out_in_training(policy: Policy, make_task, tmp_path) -> None:
    task = make_task({"test_endless": {"deadline": 0.3}, "test_vowels": {}})
    prompts = [Prompt(task, task.verifier, example) for example in task.examples("train")[:1]]
    scored = roll_out(policy, prompts, 6, max_new_tokens=12, temperature=1.0, seed="0")
    parts = [(row.score.part("test_endless").status, row.score.part("test_vowels").status) for row in scored]
    assert parts == [("timeout" if len(row.rollout.text) % 2 else "scored", "scored") for row in scored]
    assert len(set(parts)) == 2
    train(task, run_dir=tmp_path / "run", steps=1, prompts_per_step=1, group_size=2, eval={"every": 0, "examples": 1})


def test_an_unknown_part_is_an_error(make_task, tmp_path) -> None:
    with pytest.raises(
        UsageError, match=r"dynamic_sampling.part=vowels: no such part of the reward .*did you mean 'test_vowels'"
    ):
        train(make_task(), run_dir=tmp_path / "run", dynamic_sampling={"part": "vowels"})
