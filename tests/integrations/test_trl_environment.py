"""A task's environment runs in TRL's trainer: its tool loop, rewards, loss and step; only sampled texts are given."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_env.errors import UsageError
from grpo_env.integrations import trl as adapter
from grpo_env.rows.reader import read_records
from grpo_env.taskfile.task import make_task

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests/environments"  # of till.py
STOCK = {"tea": 3, "rice": 4}


def a_task(folder, cls="Till", **verifiers):
    rows = [{"question": "Tea and rice?", "stock": STOCK, "total": "7"}]
    (folder / "orders.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    verifiers = verifiers or {
        "accuracy": {"weight": 1.0},
        "tool_calls": {"weight": 0.5, "process": 0.1},
        "environment_reward": {"weight": 0.25},
        "stocked": {"use": "till:Stocked", "weight": 0.125, "process": 0.5, "on": "state"},
    }
    data = {
        "version": 1,
        "task": "till",
        "dataset": {
            "path": str(folder / "orders.jsonl"),
            "split": {"train": "train", "eval": "train"},
            "answer": "{{ total }}",
        },
        "prompt": {"user": "{{ question }}"},
        "environment": {"use": f"till.py:{cls}", "max_turns": 4},
        "verifiers": verifiers,
        "metric": next(iter(verifiers)),
    }
    return make_task(data, "till.yaml", HERE)


def call(**arguments):
    return f"<tool_call>\n{json.dumps({'name': 'price', 'arguments': arguments})}\n</tool_call>"


# By rollout, the texts of its turns: both prices and the answer; a wrong argument; an unknown tool; nothing; an
# argument that each method has already.
SCRIPTS = [
    [call(item="tea") + "\n" + call(item="rice"), "<answer>7</answer>"],
    [call(goods="tea"), call(item="tea"), "<answer>7</answer>"],
    [call(item="tea").replace("price", "buy"), call(item="bread"), "<answer>8</answer>"],
    ["<answer>7</answer>"],
    [call(self="rice"), call(item="rice"), "<answer>7</answer>"],
]
# accuracy + tool_calls / 2 + reward / 4 + state / 8, by hand.
REWARDS = [1 + 0.5 + 0.25 + 0.125, 1 + 0.25 + 0.125 + 0.0625, 0 + 0.25 + 0 + 0, 1 + 0 + 0 + 0]
REWARDS.append(REWARDS[1])


@pytest.fixture
def trl(monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.syspath_prepend(HERE)
    return pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")


def tokenizer_and_model(trl):
    """A tokenizer with Qwen 2.5's template, which TRL can read calls of, and a model of one layer."""
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(ROOT / "trainer/bundled")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.eos_token = "<|im_end|>"
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates/qwen2_5.jinja").read_text()
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    return tokenizer, LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=8192, **sizes))


def trainer_of(trl, task, folder):
    tokenizer, model = tokenizer_and_model(trl)

    class Scripted(trl.GRPOTrainer):
        def _generate_single_turn(self, prompt_ids, *args, **kwargs):
            if len(prompt_ids) == len(SCRIPTS):
                self.rests = [list(texts) for texts in SCRIPTS]
                self.waiting = list(range(len(SCRIPTS)))
            else:  # those that called a tool
                self.waiting = [index for index in self.waiting if self.rests[index]]
            texts = [self.rests[index].pop(0) for index in self.waiting]
            return [tokenizer(f"{text}<|im_end|>", add_special_tokens=False)["input_ids"] for text in texts], None

    functions = adapter.reward_funcs(task)
    settings = {"max_steps": 1, "per_device_train_batch_size": 5, "num_generations": 5, "max_completion_length": 4000}
    settings |= {"bf16": False, "use_cpu": True, "report_to": "none", "save_strategy": "no", "log_completions": True}
    settings |= {"logging_steps": 1, "learning_rate": 1e-3, "disable_tqdm": True}
    return Scripted(
        model=model,
        processing_class=tokenizer,
        reward_funcs=functions,
        args=trl.GRPOConfig(output_dir=str(folder), reward_weights=[func.weight for func in functions], **settings),
        train_dataset=adapter.to_dataset(task, "train"),
        environment_factory=adapter.environment_factory(task),
    )


@pytest.mark.filterwarnings("ignore")  # the dependencies' warnings
def test_a_step_of_the_trainer_has_the_rewards_of_the_task_and_its_log_is_scored_again(trl, tmp_path):
    task = a_task(tmp_path)
    trainer = trainer_of(trl, task, tmp_path)
    before = {name: parameter.clone() for name, parameter in trainer.model.named_parameters()}
    trainer.train()
    assert any((before[name] != parameter).any() for name, parameter in trainer.model.named_parameters())
    (table,) = (tmp_path / "completions").glob("*.parquet")
    rows = [record.row for record in read_records(table)]
    assert [row["till"] for row in rows] == pytest.approx(REWARDS)
    episodes = [json.loads(row["grpo_env/episode"]) for row in rows]
    problems = [[result["problem"] for turn in e["turns"] for result in turn["results"]] for e in episodes]
    wrong = ["wrong_arguments", ""]
    assert problems == [["", ""], wrong, ["unknown_tool", "raised"], [], wrong]
    for number, seen in {1: ["tea"], 4: ["rice"]}.items():
        assert [turn["state"]["seen"] for turn in episodes[number]["turns"]] == [[], seen, seen]

    # The file has all that was known, so that a changed task is compared on the same episodes.
    spec = task.spec.model_dump(mode="json", exclude_unset=True)
    spec["environment"]["use"] = f"{HERE}/till.py:Till"
    (tmp_path / "till.yaml").write_text(json.dumps(spec))
    (tmp_path / "till.py").write_text((HERE / "till.py").read_text())
    command = [sys.executable, "-m", "grpo_env", "score", "till.yaml", table, "--out", "scores.jsonl"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    scores = [record.row for record in read_records(tmp_path / "scores.jsonl")]
    assert [row["total"] for row in scores] == pytest.approx(REWARDS)

    # Without our column it is a conversation: the state after each turn is unknown, all else is the same.
    import pyarrow.parquet

    plain = pyarrow.parquet.read_table(table)
    pyarrow.parquet.write_table(plain.drop_columns(["grpo_env/episode"]), tmp_path / "plain.parquet")
    command[-3:] = [tmp_path / "plain.parquet", "--out", "plain.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=300)
    assert done.returncode == 1  # without states, no completion has a total
    foreign = [record.row for record in read_records(tmp_path / "plain.jsonl")]
    assert [row["parts"]["stocked"]["status"] for row in foreign] == ["not_applicable"] * 5
    for name in ("accuracy", "tool_calls"):
        assert [row["parts"][name]["value"] for row in foreign] == [row["parts"][name]["value"] for row in scores]
    assert [len(row.get("turns", [0])) for row in foreign] == [2, 3, 3, 1, 3]


def test_an_environment_that_does_not_record_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    (reward,) = adapter.reward_funcs(a_task(tmp_path))[:1]
    for others in ({"environments": [object()]}, {}):
        with pytest.raises(UsageError, match=r"pass environment_factory=grpo_env\.integrations\.trl"):
            reward(prompts=["?"], completions=["7"], total=["7"], question=["?"], **others)


def test_the_class_has_the_tools_of_the_task_and_a_fresh_object_for_each_episode(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    environment = adapter.environment_factory(a_task(tmp_path))()
    assert not hasattr(environment, "get_reward")
    for _ in range(2):
        assert environment.reset(stock=STOCK) is None
        assert environment.price(item="tea") == "3"
        assert environment._object.seen == ["tea"]
    with pytest.raises(UsageError, match="has a method reply"):
        adapter.environment_factory(a_task(tmp_path, "Higher", turns={"most": 4}))


def test_a_call_that_trl_could_not_pass_on_is_not_in_the_log(tmp_path, monkeypatch):
    """TRL calls ``tool(**arguments)``, which fails if they are a text, and tells the model so."""
    monkeypatch.syspath_prepend(HERE)
    task = a_task(tmp_path)
    environment = adapter.environment_factory(task)()
    environment.reset(stock=STOCK)
    arguments = ['{"item": "rice"}', {"item": "rice"}]
    chat = []
    for given, told in zip(arguments, ["{'error': 'argument after ** must be a mapping'}", None], strict=True):
        function = {"name": "price", "arguments": given}
        chat.append({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]})
        chat.append({"role": "tool", "name": "price", "content": told or environment.price(**given)})
    chat.append({"role": "assistant", "content": "<answer>7</answer>"})
    first, second, _ = environment._completion(task, chat).turns
    assert [turn.results[0].problem for turn in (first, second)] == ["wrong_arguments", ""]
    assert [turn.state["seen"] for turn in (first, second)] == [[], ["rice"]]


def test_static_methods_are_tools_as_elsewhere(tmp_path, monkeypatch):
    from transformers.utils import get_json_schema

    monkeypatch.syspath_prepend(HERE)
    environment = adapter.environment_factory(a_task(tmp_path, "Static", accuracy={}))()
    environment.reset()
    for tool in (environment.twice, environment.name):
        described = get_json_schema(tool)["function"]["parameters"]
        assert (list(described["properties"]), described["required"]) == (["text"], ["text"])
        assert tool(text="ab") == {"twice": "abab", "name": "Static ab"}[tool.__name__]


def test_a_reset_that_fails_leaves_the_episode_unscored(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    task = a_task(tmp_path, "Rough", accuracy={})
    environment = adapter.environment_factory(task)()
    environment.reset(fail="reset")
    (reward,) = adapter.reward_funcs(task)[:1]
    columns = {"total": ["7"], "question": ["?"]}
    chats = [[{"role": "assistant", "content": "<answer>7</answer>"}]]
    assert reward(prompts=["?"], completions=chats, environments=[environment], **columns) == [None]
    environment.reset()
    assert reward(prompts=["?"], completions=chats, environments=[environment], **columns) == [1.0]
