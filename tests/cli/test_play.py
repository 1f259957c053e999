"""``grpo_env tasks play`` with turns from standard input."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.taskfile.yaml_file import parse_yaml

TASK = """
version: 1
task: till
dataset: {path: orders.jsonl, split: {train: 1.0}, answer: "{{ total }}"}
prompt: {user: "{{ question }}"}
environment: {use: "till.py:Till", max_turns: 4}
verifiers:
  accuracy: {weight: 1.0}
  tool_calls: {weight: 0.0, process: 0.1, on: each}
  environment_reward: {weight: 0.5, process: 0.0}
metric: accuracy
"""
ROW = {"question": "Tea and rice?\x1b[2J", "total": "7", "stock": {"tea": 3, "rice": 4}}


@pytest.fixture
def folder(tmp_path):
    shutil.copy(Path(__file__).parent.parent / "environments/till.py", tmp_path)
    (tmp_path / "till.yaml").write_text(TASK)
    (tmp_path / "orders.jsonl").write_text(json.dumps(ROW) + "\n")
    return tmp_path


def play(*arguments, turns=""):
    return CliRunner().invoke(app, ["tasks", "play", *map(str, arguments)], input=turns)


def test_an_episode_is_played_shown_scored_and_written(folder):
    out = folder / "episode.jsonl"
    turns = "/price item=tea\n/price item=rice\n.\n/price it=tea\n.\nThe total:\n7\n.\n"
    done = play(folder / "till.yaml", "--out", out, turns=turns)
    assert done.exit_code == 0, done.exception
    assert "price(item: string)  Price of one item." in done.stdout
    assert "\x1b" not in done.stdout
    assert "--- price ---\n3\n--- price ---\n4\n" in done.stdout
    assert "--- price (wrong arguments) ---\nError: the argument item is missing" in done.stdout
    assert "this turn: tool_calls +1" in done.stdout
    assert "total: 1.5" in done.stdout  # accuracy 1, and half of the environment's 1
    assert "step scores by turn: 0.1, 0, 1\n" in done.stdout
    row = json.loads(out.read_text())
    assert (row["finish_reason"], len(row["turns"]), row["environment"]["reward"]) == ("stop", 3, 1.0)
    assert row["turns"][2]["text"] == "The total:\n7"
    assert [tool["function"]["name"] for tool in row["tools"]] == ["price"]
    scores, sft = folder / "scores.jsonl", folder / "sft.jsonl"
    assert CliRunner().invoke(app, ["score", str(folder / "till.yaml"), str(out), "--out", str(scores)]).exit_code == 0
    assert CliRunner().invoke(app, ["export", "sft", str(scores), "--out", str(sft)]).exit_code == 0
    (exported,) = map(json.loads, sft.read_text().splitlines())
    assert json.loads(exported["tools"]) == row["tools"]
    assert exported["completion"][0]["tool_calls"][0]["function"] == {"name": "price", "arguments": {"item": "tea"}}
    assert isinstance(play(folder / "till.yaml", "--out", out).exception, UsageError)


def test_turns_that_end_too_early_and_calls_that_cannot_be_read(folder):
    done = play(folder / "till.yaml", turns='/price item="tea\n')
    assert done.exit_code == 0, done.exception
    assert "No closing quotation; sent as it is" in done.stderr
    done = play(folder / "till.yaml", turns="")
    assert "no more turns" in done.stderr
    assert "environment_reward: unscored" in done.stdout


def test_a_task_of_one_turn(folder):
    text = TASK.replace('environment: {use: "till.py:Till", max_turns: 4}\n', "").replace(", on: each", "")
    (folder / "till.yaml").write_text(text.replace("  environment_reward: {weight: 0.5, process: 0.0}\n", ""))
    done = play(folder / "till.yaml", turns="7\n")
    assert "total: 1 " in done.stdout.replace("\n", " ")
    assert isinstance(play(folder / "till.yaml", "--row", "2").exception, UsageError)


def test_the_key_on_is_text_in_yaml():
    assert parse_yaml("{on: each, no: 1, true: off}", "x") == {"on": "each", "no": 1, True: False}


def test_a_new_task_with_an_environment_passes_its_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["tasks", "new", "my_shop.yaml", "--environment"]).exit_code == 0
    done = CliRunner().invoke(app, ["check", "my_shop.yaml", "--limit", "30"])
    assert done.exit_code == 0, done.stdout
    assert "60 gold paths played: 0 with errors\n" in done.stdout
    assert "0 errors, 0 warnings" in done.stdout
    again = CliRunner().invoke(app, ["tasks", "new", "my_shop.yaml", "--environment"])
    assert "already exists; give another name, or delete it first" in str(again.exception)
    assert isinstance(CliRunner().invoke(app, ["tasks", "new", "a-b.yaml", "--environment"]).exception, UsageError)
