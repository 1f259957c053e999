"""``check`` of tasks with an environment: each mistake is one clear line."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from grpo_env.check import check
from grpo_env.environments.children import descendants
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_task

HERE = Path(__file__).parent.parent / "environments"


def a_task(folder, cls="Till", verifiers=None, **environment):
    row = {"question": "How much?", "total": "7", "stock": {"tea": 3, "rice": 4}, "number": 7}
    (folder / "orders.jsonl").write_text(json.dumps(row) + "\n")
    data = {
        "version": 1,
        "task": "till",
        "dataset": {"path": str(folder / "orders.jsonl"), "split": {"train": 1.0}, "answer": "{{ total }}"},
        "prompt": {"user": "{{ question }}"},
        "environment": {"use": f"till.py:{cls}", **environment},
        "verifiers": verifiers or {"accuracy": {}},
        "metric": "accuracy",
    }
    return make_task(data, "till.yaml", HERE)


def test_gold_paths_are_played_and_get_full_credit(tmp_path):
    result = check(a_task(tmp_path, gold="till.py:gold"))
    assert result.findings == []
    assert result.facts["episodes"] == "tools: price; get_reward; at most 8 turns\n1 gold paths played: 0 with errors"
    assert "gold" in result.facts  # texts with gold and perturbed answers are scored too


def test_a_part_that_judges_states_cannot_score_the_texts_of_gold_answers(tmp_path):
    """Which is no fault of the task: its rewards are those of episodes."""
    verifiers = {"accuracy": {}, "stocked": {"use": "till.py:Stocked", "on": "state"}}
    result = check(a_task(tmp_path, verifiers=verifiers))
    assert "total none" in result.facts["gold"]
    assert [finding.check for finding in result.findings] == ["episodes"]  # no gold path


def test_a_metric_over_turns_is_left_to_the_gold_paths(tmp_path):
    task = a_task(tmp_path, verifiers={"accuracy": {"use": "environment_reward"}}, gold="till.py:gold")
    result = check(task)
    assert result.findings == []
    assert "gold" in result.not_run


def test_so_is_one_that_is_composed_of_a_state(tmp_path):
    stocked = {"use": "till.py:Stocked", "on": "state"}
    task = a_task(tmp_path, verifiers={"accuracy": {"use": "all_of", "of": {"stocked": stocked}}}, gold="till.py:gold")
    result = check(task)
    assert result.findings == []
    assert "gold" in result.not_run


@pytest.mark.parametrize(
    ("cls", "gold", "severity", "line"),
    [
        ("Till", None, "warning", "no environment.gold"),
        ("Till", "gold_wrong", "error", "turn 1 of the gold path: price: 'Error: the argument item is missing'"),
        ("Till", "gold_wrong", "error", "the gold path gets accuracy 0.0 [scored]"),
        ("Till", "gold_long", "error", "the gold path has 20 turns; environment.max_turns is 8"),
        ("Till", "gold_none", "error", "TypeError: 'int' object is not iterable"),
        ("Rough", "gold_late", "error", "sleep: 'Error: sleep did not end within 1 s'"),
        (
            "Rough",
            "gold_fill",
            "warning",
            "turn 1 of the gold path: the state is longer than 100,000 characters: not recorded",
        ),
        ("Needs", "gold_nothing", "error", "reset raised TypeError: Needs.reset() missing 1 required positional"),
        ("Higher", "gold_13", "error", "reply returned int; it must return text or None"),
    ],
)
def test_mistakes_are_one_line_each(tmp_path, cls, gold, severity, line):
    environment = {} if gold is None else {"gold": f"till.py:{gold}"}
    result = check(a_task(tmp_path, cls, tool_timeout=1.0, **environment))
    lines = [str(finding) for finding in result.findings if finding.severity == severity]
    assert any(line in text and "\n" not in text for text in lines), lines


@pytest.mark.parametrize("cls", ["NoReset", "NoTypes", "NoDocstring", "NoTools", "Arguments", "Nothing"])
def test_a_class_that_cannot_work_stops_the_check(tmp_path, cls):
    with pytest.raises(UsageError, match=r"till.yaml: environment.use"):
        check(a_task(tmp_path, cls))


def test_a_gold_function_that_is_missing_and_a_template_without_tools(tmp_path):
    with pytest.raises(UsageError, match=r"environment.gold 'till.py:goold' cannot be loaded"):
        check(a_task(tmp_path, gold="till.py:goold"))
    with pytest.raises(UsageError, match="chat template"):
        check(a_task(tmp_path), model="bundled")


def test_processes_that_an_environment_left_behind_are_ended(tmp_path):
    before = set(descendants(os.getpid()))
    check(a_task(tmp_path, "Leaky"))
    names = []
    for pid in set(descendants(os.getpid())) - before:
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    assert "sleep" not in names
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if _text(path) == "sleep\0300\0"], (
        "the environment's process is still running"
    )


def _text(path):
    try:
        return path.read_text()
    except OSError:
        return ""
