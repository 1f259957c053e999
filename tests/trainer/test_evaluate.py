"""Evaluation: pass@k against enumeration, intervals against known values, and whole evaluations."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import pytest

from grpo_env import Example, Score, load_task
from grpo_env.confidence_intervals import wilson
from grpo_env.errors import UsageError
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.commands.sampling_policy import sampling_config
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.bundled import TASKS
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.extensions.prompt_sampler import take
from grpo_env.trainer.rollout import make_prompts, sample_rollouts
from grpo_env.trainer.run.evaluation import evaluate, summarize
from grpo_env.trainer.run.samples import write_scores
from grpo_env.trainer.shared_types import ScoredRollout


def scored(value: float | None, status: str = "scored") -> ScoredRollout:
    part = Score(value, status, name="m")
    return ScoredRollout(
        Example("e"), Rollout([1], [2, 3], "ab", "length", [0.0, 0.0]), Score(value, status, parts=(part,)), value
    )


def test_unscored_completions_are_left_out_of_means() -> None:
    means = summarize([scored(1.0), scored(0.0), scored(None, "error"), scored(0.5)])
    assert means["accuracy"] == means["reward"] == means["parts/m"] == 0.5
    assert means["unscored"] == 0.25
    assert (means["length"], means["truncated"]) == (2.0, 1.0)
    assert math.isnan(summarize([scored(None, "error")])["accuracy"])


def test_a_score_that_is_no_json_costs_only_its_row(tmp_path: Path, make_task) -> None:
    task, lines = make_task(), []
    rollouts = [scored(1.0)._replace(task=task.name) for _ in range(3)]
    rollouts[1] = rollouts[1]._replace(score=Score(1.0, parts=(Score(1.0, name="m", answer=object()),)))
    write_scores(tmp_path / "out.jsonl", task, rollouts, 3, report=lines.append)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["completion"] for row in rows] == [0, 2]
    (line,) = lines
    assert "example e, completion 1 is left out" in line


def test_batches_change_neither_order_nor_result(policy: Policy, make_task) -> None:
    examples = make_task().examples("eval")
    for samples in (0, 3):
        results = [
            evaluate(
                partial(sample_rollouts, policy),
                make_prompts(make_task(), examples),
                TrainConfig(prompts_per_step=p, sampling={"max_new_tokens": 10}),
                samples=samples,
            )
            for p in (1, 100)
        ]
        assert [(row.example.id, row.rollout.ids) for row in results[0]] == [
            (row.example.id, row.rollout.ids) for row in results[1]
        ]
        assert [row.example.id for row in results[0]] == [e.id for e in examples for _ in range(max(1, samples))]


def test_run_eval(make_task, model_folder: Path) -> None:
    task = make_task({"test_has_letter": {}})
    result = run_eval(task, samples=6, limit=4, sampling={"max_new_tokens": 20}, seed=1)
    assert result["model"] == str(model_folder)
    assert (result["examples"], result["samples"], result["max_new_tokens"]) == (4, 6, 20)
    assert [key for key in result if key.startswith("pass@")] == ["pass@1", "pass@2", "pass@4", "pass@6"]
    values = [result[f"pass@{k}"]["value"] for k in (1, 2, 4, 6)]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1]
    assert values[0] == pytest.approx(result["sampled"]["accuracy"])
    for k in (1, 2, 4, 6):
        low, high = result[f"pass@{k}"]["interval"]
        assert low <= result[f"pass@{k}"]["value"] <= high
    low, high = result["greedy_interval"]
    assert low <= result["greedy"]["accuracy"] <= high
    assert run_eval(task, samples=6, limit=4, sampling={"max_new_tokens": 20}, seed=1) == result
    assert run_eval(task, samples=6, limit=4, sampling={"max_new_tokens": 20}, seed=2)["sampled"] != result["sampled"]


def test_pass_at_k_of_problems_never_solved_has_an_interval(make_task) -> None:
    """That of 0 of 4 problems, whose completions are paid in part; resamples of equal values have the same mean."""
    result = run_eval(make_task(), samples=2, limit=4, sampling={"max_new_tokens": 12})
    assert result["sampled"]["accuracy"] > 0
    for k in (1, 2):
        assert result[f"pass@{k}"] == {"value": 0.0, "interval": wilson(0, 4)}


def test_the_result_is_json_also_where_nothing_can_be_scored(make_task) -> None:
    result = run_eval(make_task({"test_nothing": {}}), samples=1, limit=1, sampling={"max_new_tokens": 2})
    assert json.loads(json.dumps(result, allow_nan=False))["greedy"]["accuracy"] is None
    assert result["sampled"]["parts/test_nothing"] is None


def test_run_eval_refuses_settings_of_training(make_task) -> None:
    with pytest.raises(UsageError, match=r"optimizer\.learning_rate has no effect here"):
        run_eval(make_task(), optimizer={"learning_rate": 1.0})
    with pytest.raises(UsageError, match=r"group_size has no effect here"):  # and not that it must be at least 2
        run_eval(make_task(), group_size=1)
    with pytest.raises(UsageError, match=r"unknown setting 'max_tokens'; .*'sampling\.max_new_tokens'"):
        run_eval(make_task(), max_tokens=1)


def test_an_evaluation_samples_by_the_engine_of_its_settings(make_task) -> None:
    with pytest.raises(UsageError, match=r"sampling\.engine=vllm needs vLLM"):
        run_eval(make_task(), sampling={"engine": "vllm"})


def test_what_is_evaluated_is_named(make_task, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled model knows nothing but its task."""
    nameless = load_task(make_task().source)
    object.__setattr__(nameless, "spec", nameless.spec.model_copy(update={"train": {}}))
    line = r"^eval: of which model\? .*vowels.yaml names none \(train.model\); give --model, a folder or a hub id"
    with pytest.raises(UsageError, match=line):
        run_eval(nameless)
    with pytest.raises(UsageError, match=line.replace("eval", "generate")):
        sampling_config(nameless, "generate", None, {})
    assert sampling_config(nameless, "eval", "bundled", {}).model == "bundled"
    models = {name: sampling_config(load_task(name), "eval", None, {}).model for name in TASKS.values()}
    assert models == {task: model for model, task in TASKS.items()}


def test_a_bundled_model_for_episodes_is_named(make_task) -> None:
    with pytest.raises(UsageError, match=r"does not mention tools.*, such as --model bundled-tools$"):
        run_eval("till", "bundled", limit=1)


def test_take_goes_through_every_example_once_an_epoch() -> None:
    examples = [Example(str(number)) for number in range(10)]
    taken = [example.id for step in range(10) for example in take(examples, 3, 3 * step, seed=0)]
    epochs = [taken[0:10], taken[10:20], taken[20:30]]
    assert all(sorted(epoch) == sorted(example.id for example in examples) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert taken[:10] != [example.id for step in range(4) for example in take(examples, 3, 3 * step, seed=1)][:10]
