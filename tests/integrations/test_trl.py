"""The reward functions of a task return its rewards in TRL's trainer, and TRL's command line finds them by name."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from grpo_env import Example, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.integrations import trl as adapter
from grpo_env.rows.formats.packed_example import COLUMN, pack
from grpo_env.rows.reader import read_records
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


def call(functions, cases, **changes):
    columns = {COLUMN: [pack(row.example) for row in cases]}
    arguments = {"prompts": ["?"] * len(cases), "completions": [row.text for row in cases]}
    return [function(**{**arguments, **columns, **changes}) for function in functions]


def expected(task: Task, cases) -> list[list[float | None]]:
    return [[row.score.value for row in cases], *([r.score.part(n).value for r in cases] for n in task.spec.verifiers)]


def test_texts_and_chats_get_the_scores_of_the_task(task, cases):
    functions = pickle.loads(pickle.dumps(adapter.reward_funcs(task)))
    assert [function.__name__ for function in functions] == [
        "arithmetic",
        "arithmetic/accuracy",
        "arithmetic/strict_format",
        "arithmetic/tag_count",
        "arithmetic/equations",
    ]
    assert [function.weight for function in functions] == [1, 0, 0, 0, 0]
    assert call(functions, cases) == expected(task, cases)
    chats = [[{"role": "assistant", "content": row.text}] for row in cases]
    assert call(functions, cases, completions=chats) == expected(task, cases)


def test_a_batch_is_scored_once_for_all_functions(task):
    task = Task(task.spec, task.source, task.folder, Counted())
    first, second = adapter.reward_funcs(task)[0], pickle.loads(pickle.dumps(adapter.reward_funcs(task)[0]))
    arguments = {"prompts": ["p", "p"], COLUMN: [pack(Example("a", info={"question": "", "answer": "1"}))] * 2}
    Counted.calls = 0
    texts = ["1", "2"]
    assert [first(**arguments, completions=texts) for _ in range(3)] == [[1, 2]] * 3
    assert Counted.calls == 2
    texts[1] = "3"  # the same list
    assert first(**arguments, completions=texts) == [1, 3]
    assert second(**arguments, completions=texts) == [1, 3]
    assert Counted.calls == 6
    assert first(**arguments, completions=texts, trainer_state=SimpleNamespace(global_step=1)) == [1, 3]
    assert Counted.calls == 8


def test_values_are_correct_from_many_threads(task, cases):
    functions = adapter.reward_funcs(task)
    all_values = expected(task, cases)
    parts = [slice(start, start + 8) for start in range(0, 200, 8)] * 4

    def score_slice(rows):
        return rows, call(functions, cases[rows])

    with ThreadPoolExecutor(8) as pool:
        for rows, values in pool.map(score_slice, parts):
            assert values == [column[rows] for column in all_values]


PLAIN = {
    "version": 1,
    "task": "plain",
    "dataset": {"path": "none_{split}.jsonl", "answer": "{{ gold }}"},
    "prompt": {"text": "Q: {{ question }}\nA:"},
    "format": {"reasoning": "think", "answer": "answer", "prefill": " <think>\n"},
    "verifiers": {
        "accuracy": {"weight": {"linear": {"from": 1.0, "to": 3.0, "steps": 4}}},
        "form": {"use": "strict_format", "weight": 1.0},
        "steps": {"use": "equation_steps", "expected": "{{ equations }}", "weight": 0.5, "process": 1.0},
    },
    "metric": "accuracy",
}
RIGHT = "1+1=2\n</think>\n<answer>\n2\n</answer>"


@pytest.fixture
def plain(tmp_path) -> Task:
    (tmp_path / "none_train.jsonl").write_text('{"question": "1+1", "gold": "2", "equations": ["1+1=2"]}\n')
    return make_task(PLAIN, "plain.yaml", tmp_path)


def test_the_columns_of_a_users_data_set_are_the_row(plain):
    function = adapter.reward_funcs(plain)[0]
    arguments = {"prompts": ["1+1?"] * 3, "completions": [RIGHT, "", RIGHT]}
    columns = {"gold": ["2", "2", "3"], "equations": [["1+1=2"]] * 3}
    assert function(**arguments, **columns) == [2.5, 0.0, 1.5]
    with pytest.raises(UsageError, match=r"completion 0: dataset.answer: .*unknown field 'gold'"):
        function(**arguments, golden=["2"] * 3)


def test_schedules_follow_the_trainers_step(plain):
    function = adapter.reward_funcs(plain)[0]
    arguments = {"prompts": ["1+1?"], "completions": [RIGHT], "gold": ["2"], "equations": [["1+1=2"]]}
    steps = [function(**arguments, trainer_state=SimpleNamespace(global_step=step)) for step in (0, 2, 4, 9)]
    assert steps == [[2.5], [3.5], [4.5], [4.5]]


def test_an_unscored_completion_is_none_in_all_functions_and_logged(plain):
    reward, *parts = adapter.reward_funcs(plain)
    extras, metrics = {}, {}
    arguments = {
        "prompts": ["1+1?"] * 2,
        "completions": [RIGHT] * 2,
        "gold": ["2", "2"],
        "equations": [None, ["1+1=2"]],
    }
    logs = {"log_extra": extras.__setitem__, "log_metric": metrics.__setitem__}
    assert reward(**arguments, **logs) == [None, 2.5]
    assert reward(**{**arguments, "gold": [None, "2"], "equations": [["1+1=2"]] * 2}) == [None, 2.5]
    # Accuracy has a value, but TRL would turn 0 x that value without a reward into a reward of 0.
    assert [part(**arguments, **logs) for part in parts] == [[None, 1.0]] * 3
    assert metrics == {"plain/metric/accuracy": 1.0, "plain/unscored": 0.5}
    assert set(extras) == {COLUMN, "plain/why", "plain/steps"}
    assert json.loads(extras["plain/steps"][1]) == [[0, 5, 1.0], [0, len(RIGHT), 2.0]]
    assert "accuracy: 1" in extras["plain/why"][1]


def test_tool_calls_and_split_off_reasoning(task):
    function = adapter.reward_funcs(task)[1]
    row = [pack(example) for example in task.examples("train", 1)] * 2
    gold = task.examples("train", 1)[0].answer
    chats = [
        [{"role": "assistant", "content": None, "tool_calls": []}],
        [{"role": "assistant", "reasoning_content": "1", "content": f"<answer>{gold}</answer>"}],
    ]
    assert function(prompts=["", ""], completions=chats, grpo_env=row) == [0, 1]


def test_a_data_set_for_trl(task, plain):
    dataset = adapter.to_dataset(task, "train")
    assert dataset.column_names == ["prompt", COLUMN]
    assert len(dataset) == 25
    assert dataset[0]["prompt"] == [{"role": "user", "content": task.examples("train", 1)[0].info["question"]}]
    assert adapter.to_dataset(plain, "train")[0]["prompt"] == "Q: 1+1\nA: <think>\n"


def test_tasks_are_attributes_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text(json.dumps({**PLAIN, "task": "mine"}))
    monkeypatch.setenv("GRPO_ENV_TASKS", str(tmp_path))
    assert [getattr(adapter, name).__name__ for name in ("gsm8k", "mine")] == ["gsm8k", "mine"]
    with pytest.raises(AttributeError, match=r"unknown task 'gsm9k'.*gsm8k"):
        _ = adapter.gsm9k


@pytest.fixture
def trl():
    return pytest.importorskip("trl", reason="TRL is not installed: make test-integrations")


@pytest.fixture
def trainer(trl, task, tmp_path):
    functions = adapter.reward_funcs(task)
    weights = [function.weight for function in functions]
    return trl.GRPOTrainer(
        model=str(BUNDLED),
        reward_funcs=functions,
        args=trl.GRPOConfig(output_dir=str(tmp_path), reward_weights=weights, **SETTINGS),
        train_dataset=adapter.to_dataset(task, "train"),
    )


@pytest.mark.filterwarnings("ignore")  # the dependencies' warnings
def test_the_trainer_gets_the_rewards_of_the_task(trainer, task, cases):
    import torch

    prompts = [[{"role": "user", "content": row.example.info["question"]}] for row in cases]
    rows = [{"prompt": prompt, COLUMN: pack(row.example)} for prompt, row in zip(prompts, cases, strict=True)]
    chats = [[{"role": "assistant", "content": row.text}] for row in cases]
    rewards = trainer._calculate_rewards(rows, prompts, chats, [[1]] * len(cases))
    assert torch.equal(rewards, torch.tensor(expected(task, cases)).T)


@pytest.mark.filterwarnings("ignore")
def test_logged_completions_have_the_rewards_of_the_task(trainer, task, tmp_path):
    """Each row of TRL's completion tables is scored again, by ``grpo_env score`` and by the task."""
    trainer.train()
    tables = sorted((tmp_path / "completions").glob("*.parquet"))
    assert len(tables) == 20
    rows = [record.row for table in tables for record in read_records(table)]
    assert len(rows) == 160
    totals = []
    for row in rows:
        info = json.loads(row[COLUMN])["row"]
        score = task.score(row["completion"][0]["content"], answer=info["answer"], info=info)
        values = {"arithmetic": score.value, **{f"arithmetic/{part.name}": part.value for part in score.parts}}
        assert {name: row[name] for name in values} == pytest.approx(values, abs=1e-6)
        totals.append(score.value)
    assert len(set(totals)) > 2
    logged = [record["reward"] for record in trainer.state.log_history if "reward" in record]
    assert logged == pytest.approx([sum(totals[at : at + 8]) / 8 for at in range(0, 160, 8)], abs=1e-6)

    command = ["score", "arithmetic", *tables, "verifiers.tag_count.weight=0.05", "--out", tmp_path / "scores.jsonl"]
    subprocess.run([sys.executable, "-m", "grpo_env", *command], check=True, capture_output=True, timeout=300)
    assert [record.row["total"] for record in read_records(tmp_path / "scores.jsonl")] == totals


def test_the_command_line_finds_a_task_by_its_dotted_path(trl, task, tmp_path):
    (tmp_path / "data").mkdir()
    adapter.to_dataset(task, "train").to_parquet(tmp_path / "data/train.parquet")
    settings = {**SETTINGS, "max_steps": 1, "disable_tqdm": "true", "use_cpu": "true", "log_completions": "true"}
    options = [part for key, value in settings.items() for part in (f"--{key}", str(value))]
    command = [sys.executable, "-m", "trl.scripts.grpo", "--model_name_or_path", BUNDLED, "--dataset_name", "data"]
    reward_options = ["--reward_funcs", "grpo_env.integrations.trl.arithmetic", "--output_dir", "out"]
    done = subprocess.run(
        [*command, *reward_options, *options], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "rewards/arithmetic/mean" in done.stdout
