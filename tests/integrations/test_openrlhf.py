"""OpenRLHF's executor loads a file with the adapter and gets the rewards of the task; only end tokens are removed."""

import asyncio
import json
import logging
import math
import sys
from types import SimpleNamespace

import pytest

from grpo_env.core import Completion
from grpo_env.errors import UsageError
from grpo_env.integrations import openrlhf as adapter
from grpo_env.rows.formats.packed_example import pack
from grpo_env.taskfile.task import make_task

USER, TURN = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
PLAIN = {
    "version": 1,
    "task": "plain",
    "dataset": {"path": "none_{split}.jsonl", "answer": "{{ gold }}"},
    "prompt": {"user": "{{ question }}"},
    "format": {"reasoning": "think", "answer": "answer", "prefill": "<think>\n"},
    "verifiers": {"accuracy": {"weight": 2.0}, "form": {"use": "strict_format"}},
    "metric": "accuracy",
}


def prompt_of(example):
    return f"{USER}{example.info['question']}{TURN}"


def cut(query, prompt="p"):
    ((_, completion),) = adapter.RewardFunc(make_task(PLAIN, "t", None)).read([query], [prompt], ["1"])
    return completion.text, completion.finish


def test_all_completions_get_the_rewards_of_the_task(task, cases):
    func = adapter.RewardFunc(task)
    prompts = [prompt_of(row.example) for row in cases]
    queries = [f"{prompt}{row.text}<|im_end|>" for prompt, row in zip(prompts, cases, strict=True)]
    labels = [pack(row.example) for row in cases]
    pairs = func.read(queries, prompts, labels)
    assert pairs == [(row.example, Completion(row.text, "stop")) for row in cases]
    reply = func.reply([row.score for row in cases])
    assert reply["rewards"] == [row.score.value for row in cases]
    assert reply["scores"] == [row.score.part("accuracy").value for row in cases]
    assert reply["extra_logs"] == {
        f"parts/{name}": [row.score.part(name).value for row in cases] for name in task.spec.verifiers
    }
    tensors = func(queries, prompts, labels)
    assert tensors["rewards"].tolist() == pytest.approx(reply["rewards"])
    assert tensors["scores"].tolist() == reply["scores"]
    for name, values in reply["extra_logs"].items():
        assert tensors["extra_logs"][name].tolist() == pytest.approx(values)


@pytest.mark.parametrize(
    "end", ["<|im_end|>", "<|eot_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "</s>", "<eos>"]
)
def test_special_tokens_at_the_end_are_cut(end):
    assert cut(f"pa {end} b{end}") == (f"a {end} b", "stop")
    assert cut(f"pa{end}<|endoftext|>") == ("a", "stop")


@pytest.mark.parametrize("text", ["a", "a</answer>", "<|im_end|> a", "a <| b |>", "<|im_end|>\n", "a</b>", "|>"])
def test_nothing_else_at_the_end_is_cut(text):
    assert cut(f"p{text}") == (text, "unknown")


def test_prompts_changed_by_decoding_are_recognized():
    # Composed characters, as Qwen's tokenizer makes of them; spaces, as a clean-up or Llama 2's leaves them.
    assert cut("u\u0308 x\n y", "u\u0308 x\n") == (" y", "unknown")
    assert cut("\u00fc x\n y", "u\u0308 x\n") == (" y", "unknown")
    assert cut("<s> [INST] is it 3? [/INST] y", "<s>[INST] is it 3 ? [/INST]") == (" y", "unknown")
    for query in ("q y", "", "y p"):
        with pytest.raises(UsageError, match="row 0: the query does not begin with its prompt"):
            cut(query)
    with pytest.raises(UsageError, match="1 queries, 2 prompts and 1 labels"):
        adapter.RewardFunc(make_task(PLAIN, "t", None)).read(["a"], ["a", "b"], ["1"])


def test_plain_gold_answers_and_a_prefill():
    func = adapter.RewardFunc(make_task(PLAIN, "t", None))
    text = "so\n</think>\n<answer>\n7\n</answer></s>"
    reply = func(
        [f"p<think>\n{text}", f"p<think>\n{text}", f"p<think>\n{text}"], ["p<think>\n"] * 2 + ["p"], ["7", 7, "8"]
    )
    assert reply["rewards"].tolist() == [3.0, 3.0, 1.0]


def test_an_unscored_completion_is_an_error_or_gets_the_users_reward():
    task = make_task({**PLAIN, "verifiers": {"accuracy": {}, "watched": {"use": "majority", "weight": 0.0}}}, "t", None)
    with pytest.raises(UsageError, match="compares the completions of a group, but OpenRLHF"):
        adapter.RewardFunc(task)
    task = make_task(
        {**PLAIN, "verifiers": {"accuracy": {}, "n": {"use": "overlong", "max_tokens": 5, "weight": 0}}}, "t", None
    )
    reply = adapter.RewardFunc(task)(["p</think><answer>3</answer>"], ["p"], ["3"])
    assert reply["rewards"].tolist() == [1.0]
    assert math.isnan(reply["extra_logs"]["parts/n"].item())  # OpenRLHF needs the key, not a number
    with pytest.raises(UsageError, match=r"row 0: total is unscored \(bad_gold: .*\), which OpenRLHF cannot express"):
        adapter.RewardFunc(task)(["p3"], ["p"], [""])
    assert adapter.RewardFunc(task, unscored=0.25)(["p3"], ["p"], [""])["rewards"].tolist() == [0.25]


def test_a_task_with_a_schedule_is_refused():
    fading = {"accuracy": {"weight": {"linear": {"from": 1.0, "to": 0.0, "steps": 9}}}}
    with pytest.raises(UsageError, match="task plain: weights follow a schedule, but OpenRLHF does not pass the step"):
        adapter.RewardFunc(make_task({**PLAIN, "verifiers": fading}, "t", None))


def test_the_data_set_contains_packed_examples(task, tmp_path):
    adapter.write(task, "train", tmp_path / "train.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == [pack(example) for example in task.examples("train")]
    assert rows[0]["prompt"][0]["role"] == "user"


class Engine:
    """Replaces vLLM: returns the token ids of a completion."""

    def __init__(self, tokenizer, text):
        self.ids = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]

    async def generate(self, ids, params, multi_modal_data=None):
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=self.ids, finish_reason="stop", logprobs=None)])


@pytest.fixture
def agent():
    pytest.importorskip("openrlhf", reason="OpenRLHF is not installed: make test-integrations")
    return pytest.importorskip("openrlhf.utils.agent")


@pytest.fixture
def execute(agent, task, tmp_path):
    """A function that runs OpenRLHF's executor with the adapter on a prompt, a label and a completion."""
    from transformers import ByT5Tokenizer

    tokenizer = ByT5Tokenizer(eos_token="<|im_end|>", extra_ids=0)
    (tmp_path / "task.yaml").write_text(json.dumps(task.resolved()))
    code = "from grpo_env import load_task\nfrom grpo_env.integrations.openrlhf import RewardFunc\n"
    file = tmp_path / "reward.py"
    file.write_text(f"{code}reward_func = RewardFunc(load_task({str(tmp_path / 'task.yaml')!r}))\n")
    executor = agent.SingleTurnAgentExecutor(str(file))

    def run(prompt, label, text):
        params, engine = SimpleNamespace(max_tokens=20000, logprobs=None), Engine(tokenizer, text)
        return asyncio.run(executor.execute(prompt, label, params, 30000, tokenizer, engine))

    return run


@pytest.mark.filterwarnings("ignore")  # the dependencies' warnings
def test_the_executor_gets_the_rewards_of_the_task(execute, cases):
    for row in cases:
        reply = execute(prompt_of(row.example), pack(row.example), row.text)
        assert reply["reward"].tolist() == [pytest.approx(row.score.value, abs=1e-6)]
        assert reply["scores"].tolist() == [row.score.part("accuracy").value]


@pytest.mark.filterwarnings("ignore")
def test_an_unscored_completion_is_logged_and_stops_the_run(execute, cases, agent, monkeypatch):
    """OpenRLHF continues without the reward and fails when it combines the samples."""
    import torch

    for name in ("ray", "vllm", "openrlhf.trainer.ray.vllm_engine"):  # imported by the module and need a GPU
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(SamplingParams=None, batch_vllm_engine_call=None))
    from openrlhf.trainer.ppo_utils.experience import Experience
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    messages = []
    monkeypatch.setattr(agent.logger, "info", messages.append)
    row = cases[0]
    scored = execute(prompt_of(row.example), pack(row.example), row.text)
    unscored = execute(prompt_of(row.example), "no number", row.text)
    assert unscored["reward"] is None
    assert "which OpenRLHF cannot express" in messages[-1]
    experiences = [
        SamplesGenerator._process_response_into_experience(None, reply, max_len=30000) for reply in (scored, unscored)
    ]
    assert torch.equal(experiences[0].rewards, torch.tensor([row.score.value]))
    assert experiences[0].info["parts/accuracy"].tolist() == [1.0]
    with pytest.raises(AttributeError):
        Experience.concat_experiences(experiences, 0)
    logging.getLogger("openrlhf").handlers.clear()
