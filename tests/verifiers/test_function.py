"""Plain functions as verifiers: what they are called with, what may come back, and that every command takes them."""

from __future__ import annotations

import inspect
import json
import pickle
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from grpo_env.check import check
from grpo_env.check.perturbations import tolerances
from grpo_env.core import Completion, Example, Group, Message, score_groups
from grpo_env.docgen.catalogue import entry
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task, load_task, make_task
from grpo_env.workers.scoring_process import score_in_process

from .. import forked

SEEN = """
seen = []


def of_lists(prompts, completions, completion_ids, level, answer, scale=1.0, **columns):
    seen.append(dict(locals()))
    return [scale * len(text) for text in map(str, completions)]


def of_a_row(completion, prompt, answer, level, text=None, example=None, scale=1.0):
    seen.append(dict(locals()))
    return 0.5


def of_two(completions, level):
    return [level[0] / 4, None]
"""
_names = count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def make(folder: Path, code: str, name: str, prompt: str = "user", **options: Any) -> tuple[Task, Any]:
    """A task with one verifier, the function ``name`` of a file, and the module of that file."""
    module = f"rewards_{next(_names)}"  # a name imports one file only
    (folder / f"{module}.py").write_text(code)
    data = {
        "version": 1,
        "task": "plain",
        "dataset": {"path": "rows.jsonl", "split": {"train": "train", "eval": "train"}, "answer": "{{ gold }}"},
        "prompt": {prompt: "{{ question }}"},
        "verifiers": {"own": {"use": f"{module}.py:{name}", **options}},
        "metric": "own",
    }
    return make_task(data, "x.yaml", folder), sys.modules.get(module)


CHAT = Example("1", (Message("user", "2+2?"),), "4", {"level": 3, "question": "2+2?", "text": "a column"})
PLAIN = Example("1", "2+2?", "4", {"level": 3, "question": "2+2?"})
SAMPLED = (Completion("ab", token_ids=(7, 8)), Completion("c<|im_end|>", prefill="<think>", token_ids=(9,)))


def test_a_function_of_lists_is_called_as_by_trl_once_for_each_group(folder):
    task, module = make(folder, SEEN, "of_lists", scale=2)
    assert len(score_groups(task.verifier, [Group(CHAT, SAMPLED), Group(CHAT, SAMPLED[:1])])) == 2
    first, second = module.seen
    assert first == {
        "prompts": [[{"role": "user", "content": "2+2?"}]] * 2,
        "completions": [
            [{"role": "assistant", "content": "ab"}],
            [{"role": "assistant", "content": "<think>c"}],  # without the token that ends it, with the prefill
        ],
        "completion_ids": [[7, 8], [9]],
        "level": [3, 3],
        "answer": ["4", "4"],
        "scale": 2,
        "columns": {"question": ["2+2?"] * 2, "text": ["a column"] * 2},
    }
    assert second["completion_ids"] == [[7, 8]]


def test_where_the_prompt_is_a_text_completions_are_texts(folder):
    """Also where a file or a case has no prompt, so that the form does not depend on the row."""
    task, module = make(folder, SEEN, "of_lists", prompt="text")
    for example in (PLAIN, Example("1", answer="4", info={"level": 3})):
        (rows,) = score_groups(task.verifier, [Group(example, SAMPLED)])
        assert [score.value for score in rows] == [2.0, 8.0]
    assert [call["completions"] for call in module.seen] == [["ab", "<think>c"]] * 2
    assert module.seen[0]["prompts"] == ["2+2?"] * 2


def test_a_function_of_one_row(folder):
    task, module = make(folder, SEEN, "of_a_row")
    ((score, _),) = score_groups(task.verifier, [Group(CHAT, SAMPLED)])
    assert score.value == 0.5
    assert module.seen[0] == {
        "completion": "ab",
        "prompt": [{"role": "user", "content": "2+2?"}],
        "answer": "4",
        "level": 3,
        "text": "a column",
        "example": CHAT,
        "scale": 1.0,
    }
    assert not task.scores_groups
    assert task.needs_prompt


def test_a_column_takes_the_place_of_a_default_and_an_option_that_of_a_column(folder):
    code = "def reward(text, level=1):\n    return 7 if level is None else level"
    rows = (({}, {}, 1), ({}, {"level": 3}, 3), ({"level": 5}, {"level": 3}, 5), ({"level": None}, {"level": 3}, 7))
    for options, info, value in rows:
        task, _ = make(folder, code, "reward", **options)
        assert task.score("ab", answer="4", info=info).value == value


@pytest.mark.parametrize(
    ("returned", "values", "statuses"),
    [
        ("[1, None]", [1.0, None], ["scored", "not_applicable"]),
        ("(True, 0.25)", [1.0, 0.25], ["scored"] * 2),
        ("iter([1, 2])", [1.0, 2.0], ["scored"] * 2),
        ("[float('nan'), 1]", [None, 1.0], ["error", "scored"]),
        ("['1', 1]", [None, 1.0], ["error", "scored"]),
        ("[1]", [None, None], ["error"] * 2),
        ("1.0", [None, None], ["error"] * 2),
        ("'ab'", [None, None], ["error"] * 2),
        ("None", [None, None], ["error"] * 2),
        ("[1 / 0, 1]", [None, None], ["error"] * 2),
    ],
)
def test_what_a_function_of_lists_may_return(folder, returned, values, statuses):
    task, _ = make(folder, f"def reward(completions):\n    return {returned}", "reward")
    (scores,) = score_groups(task.verifier, [Group(CHAT, SAMPLED)])
    assert [score.value for score in scores] == values
    assert [score.part("own").status for score in scores] == statuses


def test_numbers_of_numpy_and_torch_are_numbers(folder):
    code = "import numpy, torch\ndef reward(completions):\n    return [numpy.float32(0.5), torch.tensor(2.0)]"
    task, _ = make(folder, code, "reward")
    (scores,) = score_groups(task.verifier, [Group(CHAT, SAMPLED)])
    assert [score.value for score in scores] == [0.5, 2.0]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("def reward(response, gold): ...", "takes response, gold; expected reward(completions, **kwargs)"),
        ("def reward(**kwargs): ...", "takes no parameters; expected reward(completions, **kwargs)"),
        ("def reward(completions, trainer_state): ...", "takes 'trainer_state', which only TRL's trainer has"),
        ("def reward(completion, environments): ...", "takes 'environments', which only TRL's trainer has"),
        ("async def reward(completions): ...", "is async"),
        ("def reward(completions, /): ...", "parameters without names"),
        ("reward = 5", "is neither a subclass of grpo_env.core.Verifier nor a function: reward(completions, **kwargs)"),
        ("class reward: ...", "is not a subclass of grpo_env.core.Verifier"),
        ("def other(): ...", "cannot be loaded: module"),
    ],
)
def test_what_is_no_reward_function_is_an_error_in_one_line(folder, code, problem):
    with pytest.raises(UsageError) as error:
        make(folder, code, "reward")
    assert str(error.value).startswith("x.yaml: verifiers.own: verifier ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_what_only_the_trainer_has_may_have_a_default(folder):
    code = "def reward(completions, trainer_state=None, log_metric=None):\n    return [float(log_metric is None)]"
    assert make(folder, code, "reward")[0].score("ab").value == 1.0


def test_a_parameter_may_have_the_name_of_anything_that_a_verifier_has(folder):
    parameters = "text, problem='', home=1, format=2, parts=3, group=4, given=5"
    code = f"def reward({parameters}):\n    return len(problem) + home + given"
    task, _ = make(folder, code, "reward")
    (folder / "rows.jsonl").write_text('{"question": "2+2?", "gold": 4, "problem": "abc"}\n')
    (example,) = task.examples("train")
    ((score,),) = score_groups(task.verifier, [Group(example, SAMPLED[:1])])
    assert score.value == 3 + 1 + 5
    with pytest.raises(UsageError, match=r"verifiers\.own\.given: unknown key"):
        make(folder, code, "reward", given=6)


def test_an_option_that_the_function_does_not_have_is_refused(folder):
    with pytest.raises(UsageError, match=r"^x\.yaml: verifiers\.own\.scal: unknown key; did you mean 'scale'\?$"):
        make(folder, SEEN, "of_lists", scal=2)


def test_a_column_that_is_missing_is_an_error_of_the_row(folder):
    task, _ = make(folder, SEEN, "of_two")
    (folder / "rows.jsonl").write_text('{"question": "2+2?", "gold": 4, "levels": 2}\n')
    with pytest.raises(UsageError, match=r"of_two takes 'level', which the row does not have; did you mean 'levels'\?"):
        task.examples("train")
    score = task.score("ab", answer="4").part("own")
    assert (score.status, score.value) == ("error", None)
    assert "takes 'level'" in score.explanation


def test_token_ids_that_are_not_known_leave_the_group_unscored(folder):
    task, _ = make(folder, SEEN, "of_lists")
    assert task.score("ab", answer="4", info={"level": 3}).part("own").status == "not_applicable"


def test_it_goes_to_worker_processes_and_into_the_folder_of_a_run(folder):
    task, _ = make(folder, SEEN, "of_lists", scale=0.5)
    (scores,) = score_in_process(task.verifier, [Group(CHAT, SAMPLED)])
    copy = pickle.loads(pickle.dumps(task))
    assert copy.verifier == task.verifier
    assert [score.value for score in scores] == [
        score.value for score in score_groups(copy.verifier, [Group(CHAT, SAMPLED)])[0]
    ]
    (folder / "run").mkdir()
    (folder / "run/task.yaml").write_text(yaml.safe_dump(task.resolved()))
    assert load_task(folder / "run/task.yaml").verifier == task.verifier


def test_options_may_be_templates_of_the_row(folder):
    task, _ = make(folder, "def reward(text, most=1):\n    return most", "reward", most="{{ level * 2 }}")
    assert task.score("ab", info={"level": 4}).value == 8.0
    ((score,),) = score_in_process(task.verifier, [Group(CHAT, SAMPLED[:1])])
    assert score.value == 6.0


EXACT = """
def reward(completions, answer):
    blocks = [chat[0]["content"].split("<answer>")[-1].split("</answer>")[0].strip() for chat in completions]
    return [float(block == gold) for block, gold in zip(blocks, answer)]
"""


def test_check_scores_gold_answers_by_it(folder):
    task, _ = make(folder, EXACT, "reward")
    rows = [{"question": f"{n} + {n}?", "gold": 2 * n} for n in range(1, 7)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = check(task)
    assert "0 without full credit from own; total 1" in str(result)


def test_its_page_is_its_docstring(folder):
    _, module = make(folder, 'def reward(text):\n    """Pays for calm."""\n    return 1.0', "reward")
    assert "Pays for calm." in entry(f"{inspect.getfile(module)}:reward")


def test_a_module_is_found_on_the_python_path(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "rewards_of_a_module.py").write_text("def reward(text):\n    return 0.75")
    task, _ = make(folder, "", "reward", use="rewards_of_a_module:reward")
    assert task.score("ab").value == 0.75


TABLE_ROW = """
import re

def format_reward(completions, **kwargs):
    form = r"<think>.*</think>\\s*<answer>.*</answer>"
    return [float(bool(re.fullmatch(form, chat[0]["content"], re.DOTALL))) for chat in completions]
"""


@pytest.mark.slow
def test_every_command_takes_it(tmp_path):
    """In processes of their own, so that the file may have a name that other tests use."""
    (tmp_path / "rewards.py").write_text(TABLE_ROW)
    rows = [{"question": f"{n} + {n}?", "gold": str(2 * n), "place": n} for n in range(1, 9)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = ["<think>a</think><answer>2</answer>", "2"]
    said = [{"completion": text, **rows[0]} for text in texts]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    task = {
        "version": 1,
        "task": "plain",
        "dataset": {"path": "rows.jsonl", "split": {"train": 0.5, "eval": 0.5}, "answer": "{{ gold }}"},
        "prompt": {"user": "{{ question }}"},
        "verifiers": {"accuracy": {}, "format": {"use": "rewards.py:format_reward", "weight": 0.5}},
        "metric": "accuracy",
    }
    (tmp_path / "plain.yaml").write_text(yaml.safe_dump(task))

    def grpo_env(*arguments: str) -> str:
        done = forked.run(["grpo_env", *arguments], tmp_path, {"OMP_NUM_THREADS": "1"}, joined=True)
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "0 errors" in grpo_env("check", "plain.yaml")
    for out, workers in (("one.jsonl", "1"), ("two.jsonl", "2")):
        grpo_env("score", "plain.yaml", "said.jsonl", "--out", out, "--workers", workers)
        scores = [json.loads(line)["parts"]["format"]["value"] for line in (tmp_path / out).read_text().splitlines()]
        assert scores == [1.0, 0.0]
    assert "no difference" in grpo_env("compare", "one.jsonl", "two.jsonl")
    assert "0 failed" in grpo_env("audit", "plain.yaml", "--only", "hedges", "--limit", "2")
    settings = ["steps=1", "prompts_per_step=2", "group_size=2", "eval.every=0", "engine.device=cpu"]
    assert "format" in grpo_env("train", "plain.yaml", "--run", "run", *settings, "sampling.max_new_tokens=8")
    assert f"{tmp_path}/rewards.py:format_reward" in (tmp_path / "run/task.yaml").read_text()


RAISES = """
import json
import {helper}


def itself(completion):
    raise RuntimeError("no room")


def of_a_library(completion):
    return json.loads("{{")


def of_a_file_beside(completion):
    return {helper}.fail()
"""


@pytest.mark.parametrize(
    ("name", "place"), [("itself", "{}:7"), ("of_a_library", "{}:11"), ("of_a_file_beside", "{}:3")]
)
def test_an_exception_is_told_with_the_last_line_of_the_users_files(folder, name, place):
    helper = f"helper_{next(_names)}"
    (folder / f"{helper}.py").write_text("def fail():\n    left = 0\n    return 1 / left\n")
    sys.path.append(str(folder))
    task, module = make(folder, RAISES.format(helper=helper), name)
    ((score,),) = score_groups(task.verifier, [Group(CHAT, SAMPLED[:1])])
    file = f"{helper}.py" if name == "of_a_file_beside" else Path(module.__file__).name
    assert score.status == "error"
    assert score.explanation.endswith(f" ({place.format(file)})")


def test_an_option_that_is_not_set_is_seen_with_its_default(folder):
    code = "def reward(completion, rel_tol={}):\n    return 1.0"
    for default, options, tolerates in (
        ("None", {}, set()),
        ("0.1", {}, {"rel_tol"}),
        ("0.1", {"rel_tol": None}, set()),
    ):
        task, _ = make(folder, code.format(default), "reward", **options)
        assert tolerances([task.metric_verifier]) == tolerates
