"""verl's reward managers load a file with the adapter by its path and get the task's rewards."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.integrations import verl as adapter
from grpo_env.rows.formats.packed_example import pack
from grpo_env.rows.reader import read_records
from grpo_env.scoring import OutputFile, score_files
from grpo_env.taskfile.task import make_task


def reply(score, task):
    parts = {f"parts/{name}": score.part(name).value for name in task.spec.verifiers}
    return {"score": score.value, "acc": score.part("accuracy").value, **parts}


def test_single_and_batch_scores_are_those_of_the_task(task, cases):
    func = adapter.RewardFunc(task)
    expected = [reply(row.score, task) for row in cases]
    texts, golds = [row.text for row in cases], [pack(row.example) for row in cases]
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda text, gold: func.compute_score("any", text, gold), texts, golds))
    assert scores == expected
    assert func.compute_scores(["any"] * 200, texts, golds) == expected
    assert func.compute_scores(["any"] * 200, texts, golds, [{}] * 200) == expected
    assert func.compute_score("?", texts[0], golds[0], None, reward_router_address=None) == expected[0]


def plain(**verifiers):
    data = {
        "version": 1,
        "task": "plain",
        "dataset": {"path": "none_{split}.jsonl", "answer": "{{ gold }}"},
        "prompt": {"text": "{{ question }}"},
        "verifiers": {"accuracy": {}, **verifiers},
        "metric": "accuracy",
    }
    return adapter.RewardFunc(make_task(data, "plain.yaml", Path()))


def test_plain_gold_answers_with_extra_info():
    func = plain(steps={"use": "equation_steps", "expected": "{{ equations }}"})
    text = "<think>1+1=2</think><answer>2</answer>"
    score = func.compute_score("any", text, 2, {"equations": ["1+1=2"]})
    assert score == {"score": 2.0, "acc": 1.0, "parts/accuracy": 1.0, "parts/steps": 1.0}


def test_an_unscored_completion_is_an_error_or_gets_the_users_reward():
    func = plain(n={"use": "overlong", "max_tokens": 5, "weight": 0.0})
    with pytest.raises(UsageError, match=r"row 0: total is unscored \(bad_gold: .*\), which verl cannot express"):
        func.compute_score("any", "<answer>2</answer>", "")
    assert func.compute_score("any", "2", "", unscored=-1.0)["score"] == -1
    assert math.isnan(func.compute_score("any", "<answer>2</answer>", "2")["parts/n"])


def test_groups_are_scored_only_in_batches():
    func = plain(vote={"use": "majority", "weight": 1.0})
    with pytest.raises(UsageError, match="compares the completions of a group, but verl's compute_score"):
        func.compute_score("any", "<answer>2</answer>", "2")
    gold = '{"grpo_env": "a", "row": {"question": "q", "gold": "1"}}'
    texts = [f"<answer>{answer}</answer>" for answer in (2, 2, 1)]
    scores = func.compute_scores(["any"] * 3, texts, [gold] * 3)
    assert [score["parts/vote"] for score in scores] == [1, 1, 0]


def test_schedules_and_text_prompts_are_refused(tmp_path):
    with pytest.raises(UsageError, match="weights follow a schedule, but verl does not pass the step"):
        plain(fading={"use": "tag_count", "weight": {"linear": {"from": 1.0, "to": 0.0, "steps": 9}}})
    (tmp_path / "none_train.jsonl").write_text('{"question": "1+1", "gold": "2"}\n')
    task = replace(plain().task, folder=tmp_path)
    with pytest.raises(UsageError, match=r"prompt.text: verl's data sets contain chats"):
        next(adapter.rows(task, "train"))


def test_the_data_set_contains_packed_examples(task, tmp_path):
    adapter.write(task, "train", tmp_path / "train.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "train.parquet").to_pylist()
    first = task.examples("train", 1)[0]
    assert len(rows) == 25
    assert rows[0] == {
        "data_source": "arithmetic",
        "prompt": [{"role": "user", "content": first.info["question"]}],
        "ability": "arithmetic",
        "reward_model": {"style": "rule", "ground_truth": pack(first)},
        "extra_info": {"split": "train", "index": 0, "id": "train/0"},
    }


@pytest.fixture
def verl():
    pytest.importorskip("verl", reason="verl is not installed: make test-integrations")
    return pytest.importorskip("verl.trainer.ppo.reward")


@pytest.fixture
def batch(verl, cases):
    """The completions as verl passes them to a reward manager, with bytes as tokens."""
    import numpy as np
    import torch
    from tensordict import TensorDict
    from transformers import ByT5Tokenizer
    from verl import DataProto

    tokenizer = ByT5Tokenizer(eos_token="<|im_end|>", extra_ids=0)
    ids = [[*tokenizer(row.text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id] for row in cases]
    longest = max(map(len, ids))
    responses = torch.tensor([row_ids + [0] * (longest - len(row_ids)) for row_ids in ids])
    mask = torch.tensor([[1] * (2 + len(row_ids)) + [0] * (longest - len(row_ids)) for row_ids in ids])
    tensors = {"prompts": torch.ones(len(ids), 2, dtype=torch.long), "responses": responses, "attention_mask": mask}
    columns = {
        "data_source": np.array(["sums"] * len(ids), dtype=object),
        "reward_model": np.array([{"ground_truth": pack(row.example)} for row in cases], dtype=object),
        "extra_info": np.array([{} for _ in ids], dtype=object),
    }
    lengths = [len(row_ids) for row_ids in ids]
    return tokenizer, lengths, DataProto(TensorDict(tensors, batch_size=len(ids)), columns)


@pytest.fixture
def config(task, tmp_path):
    from omegaconf import OmegaConf

    (tmp_path / "task.yaml").write_text(yaml.safe_dump(task.resolved()))
    code = "from grpo_env import load_task\nfrom grpo_env.integrations.verl import RewardFunc\n"
    code += f"compute_score = RewardFunc(load_task({str(tmp_path / 'task.yaml')!r})).compute_score\n"
    (tmp_path / "reward.py").write_text(code)
    function = {"path": str(tmp_path / "reward.py"), "name": "compute_score", "reward_kwargs": {"unscored": 0.0}}
    manager = {"source": "register", "name": "naive"}
    return OmegaConf.create({"reward": {"custom_reward_function": function, "reward_manager": manager}})


@pytest.mark.filterwarnings("ignore")  # the dependencies' warnings
def test_the_reward_loop_gets_the_rewards_of_the_task(verl, config, batch, task, cases):
    import torch

    tokenizer, lengths, data = batch
    manager = verl.load_reward_manager(config, tokenizer)

    async def score():
        return [await manager.run_single(data[index : index + 1]) for index in range(len(data))]

    results = manager.loop.run_until_complete(score())
    manager.loop.close()
    assert [result["reward_extra_info"] for result in results] == [reply(row.score, task) for row in cases]
    rewards = manager.assemble_rm_scores(data, [result["reward_score"] for result in results])
    assert torch.equal(rewards.sum(1), torch.tensor([row.score.value for row in cases]))
    last_tokens = [length - 1 for length, row in zip(lengths, cases, strict=True) if row.score.value]
    assert rewards.nonzero()[:, 1].tolist() == last_tokens  # the reward is on the last token


@pytest.mark.filterwarnings("ignore")
def test_the_batch_manager_gets_the_rewards_of_the_task(batch, task, cases):
    import torch
    from verl.workers.reward_manager.batch import BatchRewardManager

    tokenizer, _, data = batch
    result = BatchRewardManager(tokenizer, 0, adapter.RewardFunc(task).compute_scores)(data, return_dict=True)
    assert torch.equal(result["reward_tensor"].sum(1), torch.tensor([row.score.value for row in cases]))
    assert result["reward_extra_info"]["parts/accuracy"] == [row.score.part("accuracy").value for row in cases]


def test_scoring_verls_dumps_gives_the_same_rewards(task, cases, tmp_path):
    """The lines of ``_write_generations`` (trainer/ppo/ray_trainer.py); ``gts`` is the gold, hence a packed example."""
    rows = [
        {"input": "?", "output": row.text, "gts": pack(row.example), "score": row.score.value, "step": 3, "acc": 0.0}
        for row in cases
    ]
    (tmp_path / "3.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    score_files(task, [tmp_path / "3.jsonl"], OutputFile(tmp_path / "scores.jsonl"), console=Console(quiet=True))
    scored = [record.row for record in read_records(tmp_path / "scores.jsonl")]
    assert [row["total"] for row in scored] == [row.score.value for row in cases]
    assert [row["id"] for row in scored] == [row.example.id for row in cases]
