"""TRL's trainer pays what the task pays: its own code calls our functions, logs them, and finds them by name."""

import json
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from grpo_env import Example, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.files.reader import read_records
from grpo_env.formats.packed_example import COLUMN, pack
from grpo_env.integrations import trl as door
from grpo_env.taskfile.task import Task, make_task

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "trainer/bundled"
SETTINGS = {
    "max_steps": 20,
    "per_device_train_batch_size": 8,
    "num_generations": 4,
    "max_completion_length": 48,
    "learning_rate": 1e-3,
    "bf16": False,
    "use_cpu": True,
    "report_to": "none",
    "save_strategy": "no",
    "logging_steps": 1,
    "log_completions": True,
    "disable_tqdm": True,
}


@dataclass(frozen=True)
class Counted(Verifier):
    """Unscored for "?"; counts its calls."""

    calls = 0

    def __call__(self, example, completion):
        Counted.calls += 1
        return Score(None, "not_applicable") if completion.text == "?" else Score(float(completion.text))


def call(functions, asked, **more):
    columns = {COLUMN: [pack(row.example) for row in asked]}
    said = {"prompts": ["?"] * len(asked), "completions": [row.text for row in asked]}
    return [function(**{**said, **columns, **more}) for function in functions]


def expected(task: Task, asked) -> list[list[float | None]]:
    return [[row.score.value for row in asked], *([r.score.part(n).value for r in asked] for n in task.spec.verifiers)]


def test_the_two_hundred_text_and_chat(task, asked):
    functions = pickle.loads(pickle.dumps(door.reward_funcs(task)))
    assert [function.__name__ for function in functions] == [
        "arithmetic",
        "arithmetic/accuracy",
        "arithmetic/strict_format",
        "arithmetic/tag_count",
        "arithmetic/equations",
    ]
    assert [function.weight for function in functions] == [1, 0, 0, 0, 0]
    assert call(functions, asked) == expected(task, asked)
    chats = [[{"role": "assistant", "content": row.text}] for row in asked]
    assert call(functions, asked, completions=chats) == expected(task, asked)


def test_a_batch_is_judged_once_and_another_one_anew(task):
    task = Task(task.spec, task.source, task.folder, Counted())
    first, second = door.reward_funcs(task)[0], pickle.loads(pickle.dumps(door.reward_funcs(task)[0]))
    said = {"prompts": ["p", "p"], COLUMN: [pack(Example("a", info={"question": "", "answer": "1"}))] * 2}
    Counted.calls = 0
    texts = ["1", "2"]
    assert [first(**said, completions=texts) for _ in range(3)] == [[1, 2]] * 3
    assert Counted.calls == 2
    texts[1] = "3"  # the same list
    assert first(**said, completions=texts) == [1, 3]
    assert second(**said, completions=texts) == [1, 3]
    assert Counted.calls == 6
    assert first(**said, completions=texts, trainer_state=SimpleNamespace(global_step=1)) == [1, 3]
    assert Counted.calls == 8


def test_right_from_many_threads(task, asked):
    functions = door.reward_funcs(task)
    whole = expected(task, asked)
    parts = [slice(start, start + 8) for start in range(0, 200, 8)] * 4

    def ask(where):
        return where, call(functions, asked[where])

    with ThreadPoolExecutor(8) as pool:
        for where, found in pool.map(ask, parts):
            assert found == [values[where] for values in whole]


PLAIN = {
    "version": 1,
    "task": "plain",
    "dataset": {"path": "none_{split}.jsonl", "answer": "{{ gold }}"},
    "prompt": {"text": "Q: {{ question }}\nA:"},
    "format": {"reasoning": "think", "answer": "answer", "prefill": " <think>\n"},
    "verifiers": {
        "accuracy": {"weight": {"linear": {"from": 1.0, "to": 3.0, "steps": 4}}},
        "form": {"use": "strict_format", "weight": 1.0},
        "steps": {"use": "equation_steps", "expected": "equations", "weight": 0.5, "process": 1.0},
    },
    "metric": "accuracy",
}
RIGHT = "1+1=2\n</think>\n<answer>\n2\n</answer>"


@pytest.fixture
def plain(tmp_path) -> Task:
    (tmp_path / "none_train.jsonl").write_text('{"question": "1+1", "gold": "2", "equations": ["1+1=2"]}\n')
    return make_task(PLAIN, "plain.yaml", tmp_path)


def test_columns_of_the_users_own_data_are_the_row(plain):
    function = door.reward_funcs(plain)[0]
    said = {"prompts": ["1+1?"] * 3, "completions": [RIGHT, "", RIGHT]}
    columns = {"gold": ["2", "2", "3"], "equations": [["1+1=2"]] * 3}
    assert function(**said, **columns) == [2.5, 0.0, 1.5]
    with pytest.raises(UsageError, match=r"completion 0: dataset.answer: .*unknown field 'gold'"):
        function(**said, golden=["2"] * 3)


def test_schedules_follow_the_trainers_step(plain):
    function = door.reward_funcs(plain)[0]
    said = {"prompts": ["1+1?"], "completions": [RIGHT], "gold": ["2"], "equations": [["1+1=2"]]}
    steps = [function(**said, trainer_state=SimpleNamespace(global_step=step)) for step in (0, 2, 4, 9)]
    assert steps == [[2.5], [3.5], [4.5], [4.5]]


def test_what_is_unscored_is_none_everywhere_and_logged(plain):
    reward, *parts = door.reward_funcs(plain)
    extras, metrics = {}, {}
    said = {"prompts": ["1+1?"] * 2, "completions": [RIGHT] * 2, "gold": ["2", "2"], "equations": [None, ["1+1=2"]]}
    logs = {"log_extra": extras.__setitem__, "log_metric": metrics.__setitem__}
    assert reward(**said, **logs) == [None, 2.5]
    # Accuracy has a value, but 0 x that value beside no reward would be a reward of 0 to TRL.
    assert [part(**said, **logs) for part in parts] == [[None, 1.0]] * 3
    assert metrics == {"plain/metric/accuracy": 1.0, "plain/unscored": 0.5}
    assert set(extras) == {COLUMN, "plain/why", "plain/steps"}
    assert json.loads(extras["plain/steps"][1]) == [[0, 5, 1.0]]
    assert "accuracy: 1" in extras["plain/why"][1]


def test_tool_calls_and_reasoning_apart(task):
    function = door.reward_funcs(task)[1]
    row = [pack(example) for example in task.examples("train", 1)] * 2
    gold = task.examples("train", 1)[0].answer
    said = [
        [{"role": "assistant", "content": None, "tool_calls": []}],
        [{"role": "assistant", "reasoning_content": "1", "content": f"<answer>{gold}</answer>"}],
    ]
    assert function(prompts=["", ""], completions=said, grpo_env=row) == [0, 1]


def test_a_data_set_for_trl(task, plain):
    found = door.to_dataset(task, "train")
    assert found.column_names == ["prompt", COLUMN]
    assert len(found) == 25
    assert found[0]["prompt"] == [{"role": "user", "content": task.examples("train", 1)[0].info["question"]}]
    assert door.to_dataset(plain, "train")[0]["prompt"] == "Q: 1+1\nA: <think>\n"


def test_tasks_are_attributes_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(json.dumps({**PLAIN, "task": "mine"}))
    monkeypatch.setenv("GRPO_ENV_TASKS", str(tmp_path))
    assert [getattr(door, name).__name__ for name in ("gsm8k", "mine")] == ["gsm8k", "mine"]
    with pytest.raises(AttributeError, match=r"unknown task 'gsm9k'.*gsm8k"):
        _ = door.gsm9k


@pytest.fixture
def trl():
    return pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")


@pytest.fixture
def trainer(trl, task, tmp_path):
    functions = door.reward_funcs(task)
    weights = [function.weight for function in functions]
    return trl.GRPOTrainer(
        model=str(BUNDLED),
        reward_funcs=functions,
        args=trl.GRPOConfig(output_dir=str(tmp_path), reward_weights=weights, **SETTINGS),
        train_dataset=door.to_dataset(task, "train"),
    )


@pytest.mark.filterwarnings("ignore")  # the other packages' own
def test_the_two_hundred_through_the_trainer(trainer, task, asked):
    import torch

    prompts = [[{"role": "user", "content": row.example.info["question"]}] for row in asked]
    rows = [{"prompt": prompt, COLUMN: pack(row.example)} for prompt, row in zip(prompts, asked, strict=True)]
    chats = [[{"role": "assistant", "content": row.text}] for row in asked]
    found = trainer._calculate_rewards(rows, prompts, chats, [[1]] * len(asked))
    assert torch.equal(found, torch.tensor(expected(task, asked)).T)


@pytest.mark.filterwarnings("ignore")
def test_twenty_steps_are_logged_as_we_score_them(trainer, task, tmp_path):
    """Each row of TRL's tables of completions, scored again from the table: by the file scorer and by the task."""
    trainer.train()
    tables = sorted((tmp_path / "completions").glob("*.parquet"))
    assert len(tables) == 20
    rows = [record.row for table in tables for record in read_records(table)]
    assert len(rows) == 160
    own = []
    for row in rows:
        info = json.loads(row[COLUMN])["row"]
        score = task.score(row["completion"][0]["content"], answer=info["answer"], info=info)
        values = {"arithmetic": score.value, **{f"arithmetic/{part.name}": part.value for part in score.parts}}
        assert {name: row[name] for name in values} == pytest.approx(values, abs=1e-6)
        own.append(score.value)
    assert len(set(own)) > 2
    logged = [record["reward"] for record in trainer.state.log_history if "reward" in record]
    assert logged == pytest.approx([sum(own[at : at + 8]) / 8 for at in range(0, 160, 8)], abs=1e-6)

    command = ["score", "arithmetic", *tables, "verifiers.tag_count.weight=0.05", "--out", tmp_path / "scores.jsonl"]
    subprocess.run([sys.executable, "-m", "grpo_env", *command], check=True, capture_output=True, timeout=300)
    assert [record.row["total"] for record in read_records(tmp_path / "scores.jsonl")] == own


def test_the_command_line_finds_a_task_by_its_dotted_path(trl, task, tmp_path):
    (tmp_path / "data").mkdir()
    door.to_dataset(task, "train").to_parquet(tmp_path / "data/train.parquet")
    settings = {**SETTINGS, "max_steps": 1, "disable_tqdm": "true", "use_cpu": "true", "log_completions": "true"}
    options = [part for key, value in settings.items() for part in (f"--{key}", str(value))]
    run = [sys.executable, "-m", "trl.scripts.grpo", "--model_name_or_path", BUNDLED, "--dataset_name", "data"]
    own = ["--reward_funcs", "grpo_env.integrations.trl.arithmetic", "--output_dir", "out"]
    done = subprocess.run([*run, *own, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "rewards/arithmetic/mean" in done.stdout


def test_the_snippet_of_the_page_trains(trl, tmp_path):
    page = (ROOT / "docs/integrations.md").read_text()
    (snippet,) = re.findall(r'^```python title="train_trl.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "rewards/arithmetic/mean" in done.stdout
    assert len(list((tmp_path / "run/completions").glob("*.parquet"))) > 0
