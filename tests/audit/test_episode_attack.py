"""Audits of environments with one planted hole each find it; a sound one has none."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.audit import AuditRequest, audit_episodes
from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_task

HERE = Path(__file__).parent
ROWS = [{"prices": {"tea": n, "rice": 3 * n}, "total": 4 * n} for n in (2, 5)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Agents write files of the current folder, where two audits at once would keep each other's."""
    monkeypatch.chdir(tmp_path)


def a_task(folder, cls="Sound", verifiers=None, **environment):
    (folder / "orders.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    data = {
        "version": 1,
        "task": "lookup",
        "dataset": {"path": str(folder / "orders.jsonl"), "split": {"train": 1.0}, "answer": "{{ total }}"},
        "prompt": {"user": "What do tea and rice cost together?"},
        "environment": {"use": f"holes.py:{cls}", "gold": "holes.py:gold", **environment},
        "verifiers": verifiers or {"environment_reward": {}},
        "metric": next(iter(verifiers or {"environment_reward": {}})),
    }
    return make_task(data, "lookup.yaml", HERE)


def test_a_sound_environment_has_no_exploit_and_its_gold_path_full_credit(tmp_path):
    audit = audit_episodes(a_task(tmp_path))
    assert [outcome.hack for outcome in audit.exploits] == []
    assert audit.failed == []
    assert (audit.gold.metric, audit.wrong.metric, audit.examples) == (1.0, 0.0, 2)
    rewards = {outcome.hack: outcome.reward.total for outcome in audit.outcomes}
    assert rewards["gold path"] == 1.0
    assert [rewards[f"without turn {n}"] for n in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert audit.notes == ("the reward is the same without turn 3 of the gold path",)
    assert "EXPLOIT" not in str(audit)


@pytest.mark.parametrize(
    ("cls", "hack"),
    [
        ("FilePays", "save: writes 1.0"),
        ("StatePays", "remember: writes true"),
        ("CodePays", "calculate: sets the state to 1.0"),
        ("AnswerInResult", "price: for ever"),
    ],
)
def test_a_reward_that_can_be_had_without_the_work_is_an_exploit(tmp_path, cls, hack):
    audit = audit_episodes(a_task(tmp_path, cls), AuditRequest(families=["lazy", "tampering"]))
    assert hack in [outcome.hack for outcome in audit.exploits], str(audit)
    assert f"EXPLOIT {hack}" in str(audit)


@pytest.mark.parametrize(
    ("cls", "hack", "why"),
    [
        ("ErrorUnscores", "silent", "get_reward raised ZeroDivisionError"),
        ("CodePays", "calculate: exits by an expression", "process ended in call"),
    ],
)
def test_an_error_that_unscores_is_an_escape(tmp_path, cls, hack, why):
    audit = audit_episodes(a_task(tmp_path, cls), AuditRequest(families=["lazy", "arguments"]))
    (outcome,) = [outcome for outcome in audit.failed if outcome.hack == hack]
    assert why in outcome.explanation
    assert f"ESCAPE {hack}: 2 of 2 episodes are unscored" in str(audit)


def test_an_answer_that_a_tool_tells_and_steps_that_pay_for_calls(tmp_path):
    verifiers = {"accuracy": {}, "tool_calls": {"process": 1.0, "on": "each"}}
    audit = audit_episodes(a_task(tmp_path, "AnswerInResult", verifiers), AuditRequest(families=["lazy"]))
    exploits = {outcome.hack: outcome.reasons for outcome in audit.exploits}
    assert "mean accuracy 1" in exploits["price: repeated"]
    assert any("step scores 8" in reason for reason in exploits["price: for ever"])
    assert "silent" not in exploits


@pytest.mark.slow
def test_the_command_prints_both_audits_and_fails_on_exploits(tmp_path):
    task = a_task(tmp_path, "FilePays", {"accuracy": {}, "environment_reward": {}})
    file = HERE / "lookup.yaml"
    data = task.spec.model_dump(mode="json", exclude_unset=True)
    path = tmp_path / "lookup.yaml"
    data["environment"]["use"] = f"{HERE}/holes.py:FilePays"
    data["environment"]["gold"] = f"{HERE}/holes.py:gold"
    path.write_text(json.dumps(data))
    assert not file.exists()
    command = ["audit", str(path), "--only", "tampering", "--only", "hedges"]
    done = CliRunner().invoke(app, [*command, "--fail-on", "exploit"])
    assert done.exit_code == 1
    assert "agents" in done.stdout
    assert "hacks" in done.stdout
    done = CliRunner().invoke(app, [*command, "--json"])
    result = json.loads(done.stdout)
    assert "save: writes 1.0" in result["episodes"]["exploits"]
    assert result["texts"]["exploits"] == []
    with pytest.raises(UsageError, match="no such family of agents"):
        audit_episodes(task, AuditRequest(families=["lazzy"]))


def test_a_family_that_no_audit_of_a_task_knows_is_refused():
    """Of search only episodes are audited: its metric judges all turns."""
    done = CliRunner().invoke(app, ["audit", "search", "--only", "hedges"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("--only hedges: no such family of agents; ")


def test_files_that_agents_write_are_as_before(tmp_path):
    """A tool that runs code writes to the current folder too, where a file of the same name may be the user's."""
    (tmp_path / "notes.json").write_text("mine")
    audit = audit_episodes(a_task(tmp_path, "CodeInFolder"), AuditRequest(families=["tampering"]))
    assert "EXPLOIT calculate: runs code: 1.0" in str(audit)
    assert (tmp_path / "notes.json").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.json", "orders.jsonl"]


@pytest.mark.parametrize(
    ("cls", "only", "exploit", "problem", "line"),
    [
        ("Sound", "lazy", 0, 0, ""),
        (
            "FilePays",
            "tampering",
            1,
            1,
            "EXPLOIT save: writes 1.0 (tampering; knows the prompt): mean environment_reward 1",
        ),
        (
            "StatePays",
            "tampering",
            1,
            1,
            "EXPLOIT remember: writes true (tampering; knows the prompt): mean environment_reward 2",
        ),
        (
            "ErrorUnscores",
            "lazy",
            0,
            1,
            "ESCAPE silent: 1 of 1 episodes are unscored (get_reward raised ZeroDivisionError",
        ),
    ],
)
def test_exit_codes_and_messages_of_planted_holes(tmp_path, cls, only, exploit, problem, line):
    data = a_task(tmp_path, cls).spec.model_dump(mode="json", exclude_unset=True)
    data["environment"] |= {"use": f"{HERE}/holes.py:{cls}", "gold": f"{HERE}/holes.py:gold"}
    (tmp_path / "lookup.yaml").write_text(json.dumps(data))
    command = ["audit", str(tmp_path / "lookup.yaml"), "--only", only, "--limit", "1", "--fail-on"]
    done = {fail_on: CliRunner().invoke(app, [*command, fail_on]) for fail_on in ("exploit", "problem")}
    assert {name: result.exit_code for name, result in done.items()} == {"exploit": exploit, "problem": problem}
    assert line in done["problem"].stdout


@pytest.mark.parametrize(
    ("cls", "gold", "found"),
    [
        ("Repeats", "gold", "turn 1 repeated"),
        ("FailedCallsCount", "gold", "price: for ever"),
        ("ManyTries", "handed_in", "submit: counts up"),
        ("DonePays", "finished", "finish: sets true"),
        ("Contains", "written", "submit: all numbers"),
        ("PartnerShotgun", "guessed_at_once", "all numbers"),
    ],
)
def test_planted_holes_are_found(tmp_path, cls, gold, found):
    audit = audit_episodes(a_task(tmp_path, cls, gold=f"holes.py:{gold}"))
    assert found in [outcome.hack for outcome in (*audit.exploits, *audit.failed)], str(audit)


@pytest.mark.parametrize(
    ("cls", "gold", "verifiers"),
    [
        ("Sound", "gold", None),
        ("Sound", "gold", {"accuracy": {}, "environment_reward": {"weight": 0.5}}),
        ("Logged", "gold", None),
        ("Costs", "gold", None),
        ("Submits", "handed_in", None),
        ("Written", "written", None),
        ("Partner", "guessed", None),
    ],
)
def test_sound_environments_are_not_accused(tmp_path, cls, gold, verifiers):
    audit = audit_episodes(a_task(tmp_path, cls, verifiers, gold=f"holes.py:{gold}"))
    assert ([outcome.hack for outcome in audit.exploits], audit.failed) == ([], []), str(audit)
