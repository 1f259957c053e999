"""Several tasks in one run: fractions of the prompts, metrics by task, and the resolved file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import torch
import yaml

from grpo_env.core import Score
from grpo_env.errors import RunError, UsageError
from grpo_env.taskfile.mixture import Mixture, load_mixture
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.extensions import prompt_sampler as prompts
from grpo_env.trainer.extensions.prompt_sampler import PromptSampler, sample_prompts, take
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.run.evaluation import summarize
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import read_samples


@pytest.fixture
def mixed(make_task, tmp_path: Path):
    """A file with two tasks that differ in name and reward: one given by a file beside it, one in full."""

    def make(first: float = 1.0, second: float = 3.0, **settings: object) -> Path:
        vowels = make_task().resolved()
        letters = make_task({"repetition": {"n": 1}}).resolved() | {"task": "letters"}
        (tmp_path / "beside.yaml").write_text(yaml.safe_dump(vowels))
        members = [{"use": "beside.yaml", "weight": first}, {"use": letters, "weight": second}]
        train = {**vowels["train"], "prompts_per_step": 4, **settings}
        file = tmp_path / "both.yaml"
        file.write_text(yaml.safe_dump({"version": 1, "task": "both", "mixture": members, "train": train}))
        return file

    return make


def rows(run: Path, kind: str) -> list[dict]:
    return [row for row in map(json.loads, (run / "metrics.jsonl").read_text().splitlines()) if row["kind"] == kind]


def test_a_run_trains_on_all_tasks_and_reports_metrics_by_task(mixed, tmp_path: Path) -> None:
    result = train(str(mixed()), run_dir=tmp_path / "run")
    for row in [*rows(tmp_path / "run", "eval"), *rows(tmp_path / "run", "train")]:
        low, high = sorted((row["vowels/accuracy"], row["letters/accuracy"]))
        assert low <= row["accuracy"] <= high
        assert {"vowels/reward", "letters/reward"} <= set(row)
    assert result.after["accuracy"] == pytest.approx(
        (result.after["vowels/accuracy"] + result.after["letters/accuracy"]) / 2
    )  # as many held-out examples each
    assert "parts/repetition" in result.after
    samples = read_samples(tmp_path / "run")
    assert {sample["task"] for sample in samples} <= {"vowels", "letters"}


def test_a_resumed_mixture_reaches_the_same_weights(mixed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run folder holds the tasks in full: their files are gone."""
    file = mixed()
    train(str(file), run_dir=tmp_path / "whole")
    monkeypatch.setattr("grpo_env.trainer.loop.check_unscored", stop_at(2))
    with pytest.raises(RunError, match="stopped"):
        train(str(file), run_dir=tmp_path / "parted")
    monkeypatch.undo()
    file.unlink()
    (tmp_path / "beside.yaml").unlink()
    resume(tmp_path / "parted")
    states = [
        torch.load(tmp_path / name / "checkpoints/step-000003/state.pt", weights_only=True)
        for name in ("whole", "parted")
    ]
    assert all(states[0]["weights"][name].equal(weight) for name, weight in states[1]["weights"].items())


def stop_at(last: int):
    def check(_: object, __: object, step: int) -> None:
        if step == last:
            raise RunError("stopped")

    return check


def pool_of(task: Task, weight: float) -> PromptSampler:
    return PromptSampler(task, weight, task.examples("train"))


@pytest.mark.parametrize("count", [4, 10, 16])
def test_prompts_are_divided_by_weight(make_task, count: int) -> None:
    tasks = [make_task(), *(make_task({"repetition": {"n": 1}}) for _ in range(2))]
    pools = [pool_of(task, weight) for task, weight in zip(tasks, (5.0, 2.0, 0.5), strict=True)]
    total: Counter[int] = Counter()
    for step in range(200):
        prompts = sample_prompts(pools, count, step, "0")
        assert len(prompts) == count
        counts = Counter(next(n for n, task in enumerate(tasks) if task is prompt.task) for prompt in prompts)
        for number, weight in enumerate((5.0, 2.0, 0.5)):
            assert abs(counts[number] - count * weight / 7.5) < 1
        total += counts
        assert sample_prompts(pools, count, step, "0") == prompts
    for number, weight in enumerate((5.0, 2.0, 0.5)):
        assert total[number] / (200 * count) == pytest.approx(weight / 7.5, abs=0.02)


def test_each_task_takes_its_examples_once_per_epoch(make_task) -> None:
    """Also after steps in which it has fewer prompts or none; a step depends on nothing that was computed before."""
    tasks = [make_task(), make_task({"repetition": {"n": 1}})]
    pools = [pool_of(task, weight) for task, weight in zip(tasks, (4.0, 0.3), strict=True)]
    steps = [sample_prompts(pools, 3, step, "0") for step in range(100)]
    for task, pool in zip(tasks, pools, strict=True):
        taken = Counter({example.id: 0 for example in pool.examples})
        for step in steps:
            taken.update(prompt.example.id for prompt in step if prompt.task is task)
            assert max(taken.values()) - min(taken.values()) <= 1
        assert min(taken.values()) >= 1
    prompts._task_counts.cache_clear()
    assert sample_prompts(pools, 3, 70, "0") == steps[70]


def test_each_task_is_scored_by_its_own_verifier_and_schedules(make_task) -> None:
    pools = [pool_of(make_task(), 1.0), pool_of(make_task({"repetition": {"n": 1}}), 1.0)]
    for task, verifier, _ in sample_prompts(pools, 6, 0, "0"):
        assert verifier == task.verifier.at(0)


def test_a_mixture_of_one_task_samples_like_the_task(make_task) -> None:
    task = make_task()
    pool = pool_of(task, 7.0)
    assert [prompt.example for prompt in sample_prompts([pool], 3, 5, "1")] == take(pool.examples, 3, 15, "1")
    assert Mixture.of(task).resolved() == task.resolved()


def test_summaries_have_means_of_each_task_and_of_all() -> None:
    scored_rows = [
        ScoredRollout(None, Rollout([1], [2], "a", "stop", [0.0]), Score(reward), correct, task)
        for task, reward, correct in (("one", 1.0, 1.0), ("two", 0.0, 0.0), ("two", 0.5, 1.0), ("two", 0.25, 0.0))
    ]
    means = summarize(scored_rows)
    assert (means["accuracy"], means["one/accuracy"], means["two/accuracy"]) == (0.5, 1.0, pytest.approx(1 / 3))
    assert (means["reward"], means["one/reward"], means["two/reward"]) == (0.4375, 1.0, 0.25)
    assert not any("/" in name for name in summarize(scored_rows[1:]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mixture": []}, "mixture"),
        ({"mixture": [{"use": "arithmetic", "weight": 0}]}, r"mixture\.0\.weight"),
        ({"mixture": [{"use": "arithmetic", "wieght": 1}]}, "wieght"),
        ({"mixture": [{"use": "arithmetics"}]}, r"mixture\.0\.use: .*did you mean 'arithmetic'"),
        ({"mixture": [{"use": "both.yaml"}]}, r"mixture\.0\.use: .*give one of its tasks"),
        ({"mixture": {"arithmetic": 2}}, "mixture: .*list"),
        ({"mixture": [{"use": "arithmetic"}, {"use": "arithmetic"}]}, "two tasks are called 'arithmetic'"),
        ({"verifiers": {}}, "verifiers"),
        ({"train": {"stepz": 1}}, "both.yaml: train: unknown setting 'stepz'"),
    ],
)
def test_an_invalid_mixture_is_a_usage_error(tmp_path: Path, change: dict, message: str) -> None:
    file = tmp_path / "both.yaml"
    spec = {"version": 1, "task": "both", "mixture": [{"use": "arithmetic"}], **change}
    file.write_text(yaml.safe_dump(spec))
    with pytest.raises(UsageError, match=message):
        train(str(file), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_other_commands_ask_for_one_of_its_tasks(mixed) -> None:
    with pytest.raises(UsageError, match="give one of its tasks here"):
        load_task(str(mixed()))
    with pytest.raises(UsageError, match="change the keys of its tasks in their own files"):
        load_mixture(str(mixed()), {"dataset.path": "x.jsonl"})
