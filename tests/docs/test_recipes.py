"""Every task file and command of docs/recipes.md trains: for a step or two, with the bundled model and made-up rows."""

from __future__ import annotations

import itertools
import json
import re
import shlex

import pytest
import yaml

from grpo_env import load_task
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.config.hints import HINTS

from .. import forked
from .pages import blocks
from .test_pages import ROOT

PAGE = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in blocks(PAGE)
    if block.language == "sh"
    for line in block.text.replace("\\\n", " ").splitlines()
]
TASKS = {block.title: yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"}
STAGES = [command for command in COMMANDS if command[2] == "arithmetic"]
HUB = re.compile(r"(Qwen|deepseek-ai)/[\w.-]+")
# What a small machine without a hub needs; all else is as on the page. `epochs` and `steps` exclude each other.
SMALL = "eval.every=0 eval.at_start=false eval.examples=1 eval.samples=0 checkpoint.every=0 engine.device=cpu"
FROM_THE_HUB = ("gsm8k", "naive.yaml", "zero.yaml")
SMALLER = "prompts_per_step=1 sampling.max_new_tokens=24"


@pytest.fixture
def folder(tmp_path):
    for block in blocks(PAGE):
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    for split, first in (
        ("train", (3, 5, 8)),
        ("test", (2, 6, 7)),
    ):  # rows in GSM8K's form, one of them with a long solution
        rows = [
            {"question": f"What is {a} + {b}?", "answer": f"<<{a}+{b}={a + b}>>\n#### {a + b}"}
            for a, b in itertools.product(first, (4, 9))
        ]
        rows.append({"question": f"What is 1 + 1? ({split})", "answer": "1 + 1 " * 200 + "\n#### 2"})
        (tmp_path / f"gsm8k_{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def small(command: list[str], folder) -> list[str]:
    """The command with the bundled model, rows of its own for GSM8K, and fewer and shorter completions."""
    task = command[2]
    settings = TASKS[task]["train"] if task in TASKS else {}
    more = [*SMALL.split(), *SMALLER.split(), "epochs=null", "steps=1"]
    if task in FROM_THE_HUB:
        more.append(f"dataset.path={folder}/gsm8k_{{split}}.jsonl")
    if "max_prompt_tokens" in settings.get("sampling", {}):
        more.append("sampling.max_prompt_tokens=200")
    if settings.get("optimizer", {}).get("name") == "paged_adamw_8bit":
        more += ["optimizer.name=adamw", "engine.precision=fp32"]
    return [HUB.sub("bundled", word) for word in command] + more


def train(command: list[str], folder) -> str:
    done = forked.run(small(command, folder), folder, {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}, joined=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_of(command: list[str]) -> str:
    return command[command.index("--run") + 1]


def test_every_task_file_has_a_command():
    assert set(TASKS) <= {command[2] for command in COMMANDS}
    assert len(COMMANDS) == 13


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in STAGES], ids=run_of)
def test_a_recipe_trains(command, folder):
    train(command, folder)
    lines = [json.loads(line) for line in (folder / run_of(command) / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if line["kind"] == "train"] == [0]
    config = yaml.safe_load((folder / run_of(command) / "config.yaml").read_text())
    assert config["group_size"] == TASKS.get(command[2], {}).get("train", {}).get("group_size", config["group_size"])


@pytest.mark.slow
def test_the_stages_train_one_after_another(folder):
    for command, before in zip(STAGES, ("bundled", "stage1/model", "stage2/model"), strict=True):
        assert before in train(command, folder)


def test_the_naive_recipe_takes_the_first_1024_questions_with_short_solutions(folder):
    rows = [{"question": f"{n}", "answer": "1 + " * (400 * (n % 10 == 0)) + f"#### {n}"} for n in range(1200)]
    (folder / "gsm8k_train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = load_task(folder / "naive.yaml", {"dataset.path": f"{folder}/gsm8k_{{split}}.jsonl"})
    assert [example.answer for example in task.examples("train")] == [f"{n}" for n in range(1200) if n % 10][:1024]
    text = "<think>\n3 + 4 = 7\n</think>\n<answer>\n7\n</answer>"
    assert [task.score(text, answer=gold).value for gold in ("7", "8")] == [2.0, 1.0]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_file_passes_its_checks(name, folder):
    data = [f"dataset.path={folder}/gsm8k_{{split}}.jsonl"] if name in FROM_THE_HUB else []
    done = forked.run(["grpo_env", "check", name, *data], folder, {"HF_HUB_OFFLINE": "1"}, joined=True)
    assert done.returncode == 0, done.stdout
    assert " 0 errors, " in " " + done.stdout.splitlines()[-1], done.stdout


def test_the_rewards_of_the_choices_sum_to_at_most_4_75(folder):
    words = (
        "we check each option because we compare all of the numbers, and therefore we take our time. "
        + "so it goes " * 30
    )
    text = f"<think>\n{words}\n</think>\n<answer>\n\\boxed{{C}}\n</answer>"
    assert load_task(folder / "choices.yaml").score(text, answer="C").value == pytest.approx(4.75)


def test_names_in_other_trainers_are_those_of_the_hints():
    table = PAGE.partition("## Names in other trainers")[2]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 33
    settings = TrainConfig.model_fields
    for theirs, ours in rows:
        names = re.findall(r"`([^`]+)`", ours)
        for name in re.findall(r"`([^`]+)`", theirs):
            hint = HINTS[name]
            if ours.strip().startswith("none"):
                assert "it is called" not in hint, name
            else:
                assert any(ours_name in hint for ours_name in names), (name, hint, names)
        for name in names:
            assert name.split(".")[0] in {*settings, "--run", "verifiers", "weight"}, name


@pytest.mark.parametrize(
    "words", ["4090", "24 GB", "group_size=64", "few-shot", "1,024 questions", "num_generations", "beta", "epsilon"]
)
def test_what_people_search_for_is_on_the_page(words):
    assert words in PAGE
