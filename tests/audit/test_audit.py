"""Bad rewards whose fault is known: the audit finds it and says which part pays. Sound ones pass."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.audit import HACKS, audit, load_hacks
from grpo_env.audit.targets import targets
from grpo_env.cli.app import app
from grpo_env.core import GroupVerifier, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
from grpo_env.taskfile.task import load_task


@verifier("substring_accuracy")
@dataclass(frozen=True)
class SubstringAccuracy(Verifier):
    """What half of the tutorials do."""

    def __call__(self, example, completion):
        return Score(float(str(example.answer) in completion.text))


@verifier("always_paid")
@dataclass(frozen=True)
class AlwaysPaid(Verifier):
    """Pays anything."""

    def __call__(self, example, completion):
        return Score(1.0)


@verifier("moody")
@dataclass(frozen=True)
class Moody(Verifier):
    """Another value in every process."""

    def __call__(self, example, completion):
        return Score(float(os.getpid()))


@verifier("fragile")
@dataclass(frozen=True)
class Fragile(Verifier):
    """Fails for what it does not expect."""

    def __call__(self, example, completion):
        completion.text.encode()
        return Score(0.0)


@verifier("same_as_the_others")
@dataclass(frozen=True)
class SameAsTheOthers(GroupVerifier):
    """1 for a text that its whole group agrees on."""

    def group(self, example, completions):
        same = len({one.text for one in completions}) == 1 and len(completions) > 1
        return [Score(float(same))] * len(completions)


def attacked(families=(), elsewhere=False, limit=8, **verifiers):
    """An audit of the arithmetic task with other verifiers; ``None`` drops one."""
    keys = {f"verifiers.{name}": spec for name, spec in verifiers.items()}
    task = load_task("arithmetic", {**keys, "dataset.limit": {"train": limit, "eval": 8}})
    return audit(task, limit=limit, families=families, elsewhere=elsewhere)


def names(report):
    return {outcome.hack for outcome in report.exploits}


CHEAP = [family for family in dict.fromkeys(one.family for one in HACKS.values()) if family != "bombs"]


def test_there_are_many_hacks_each_with_a_description():
    assert len(HACKS) >= 100
    assert len({one.family for one in HACKS.values()}) >= 15
    assert all(one.about.endswith(".") and one.name == one.build.__name__ for one in HACKS.values())


def test_the_bundled_reward_passes_and_its_yardsticks_are_right():
    report = attacked(CHEAP, limit=2)
    assert (names(report), report.unstable, report.failed) == (set(), {}, [])
    assert report.honest.parts == pytest.approx({"accuracy": 1.0, "strict_format": 0.2, "tag_count": 0, "equations": 0})
    assert (report.honest.total, report.wrong.total) == (pytest.approx(1.2), pytest.approx(0.2))
    equations = [len(example.info["equations"]) for example in load_task("arithmetic").examples("train", 2)]
    assert report.honest.process == pytest.approx(sum(equations) / 2 + 1.2)


@pytest.mark.parametrize("name", ["countdown", "letter_counting"])
def test_the_other_generated_tasks_pass(name):
    task = load_task(name, {"dataset.limit": {"train": 20, "eval": 5}})
    report = audit(task, limit=20, families=[family for family in CHEAP if family != "shotgun"], elsewhere=False)
    assert (names(report), report.failed) == (set(), [])
    assert (report.honest.total, report.wrong.total) == (pytest.approx(1.2), pytest.approx(0.2))


def test_a_substring_verifier_pays_shotguns_denials_and_the_reasoning():
    report = attacked(CHEAP, limit=3, accuracy={"use": "substring_accuracy", "weight": 1.0})
    assert {
        "gold_among_candidates", "one_or_the_other", "not_gold", "taken_back", "reasoned_and_unsaid", "in_a_comment",
        "all_numbers_to_100", "wrong_then_right", "cut_in_the_reasoning", "inside_a_longer_number",
    } <= names(report)  # fmt: skip
    best = report.exploits[0]
    assert (best.paid_by, best.paid_in) == ("accuracy", best.examples)
    assert "EXPLOIT gold_among_candidates" in str(report)


def test_a_verifier_that_pays_anything_is_found_by_a_wrong_answer_alone():
    report = attacked(["format only"], accuracy={"use": "always_paid", "weight": 1.0})
    assert {"wrong_in_form", "form_without_answer", "nothing"} <= names(report)


def test_format_that_outweighs_accuracy_is_found():
    report = attacked(["format only", "negated"], strict_format={"weight": 5.0})
    assert {"wrong_in_form", "form_without_answer", "dots_in_form"} <= names(report)
    assert {one.family for one in report.exploits} == {"format only"}  # a denial earns no more than a wrong answer
    assert "earns 5 of the honest 6" in report.exploits[0].exploits[0]
    assert {one.paid_by for one in report.exploits} == {"strict_format"}


def test_steps_that_any_true_equation_earns_are_found():
    families = ["step padding", "stuffing"]
    report = attacked(families, equations={"use": "equation_steps", "process": 1.0})
    assert {"one_plus_one", "counting_up", "marks_added", "true_steps_wrong_answer"} <= names(report)
    assert {(one.family, one.paid_by) for one in report.exploits} == {("step padding", "equations")}
    gated = attacked(families, equations={"use": "equation_steps", "process": 1.0, "when": "accuracy"})
    assert "true_steps_wrong_answer" not in names(gated)
    assert "one_plus_one" in names(gated)


@pytest.mark.parametrize("part", ["reasoning_length", "reasoning_steps"])
def test_a_bonus_for_length_or_steps_is_found(part):
    report = attacked(["stuffing"], bonus={"use": part, "weight": 1.0})
    paid = "varied_filler" if part == "reasoning_length" else "steps_stuffed"
    assert paid in names(report)
    assert next(one for one in report.exploits if one.hack == paid).paid_by == "bonus"
    assert not names(attacked(["stuffing"], bonus={"use": part, "weight": 0.1}))


def test_a_reward_for_agreement_is_tried_with_a_whole_group():
    report = attacked(["format only"], accuracy={"use": "same_as_the_others", "weight": 1.0})
    assert "wrong_in_form" in names(report)


def test_a_tolerance_that_the_task_asks_for_is_no_exploit():
    assert not names(attacked(["near numbers"], accuracy={"weight": 1.0, "rel_tol": 0.3}))
    assert not names(attacked(["unevaluated"], accuracy={"weight": 1.0, "unevaluated": "right"}))


def test_verdicts_that_change_and_verifiers_that_fail_are_told():
    report = attacked(["format only"], elsewhere=True, limit=1, moody={"use": "moody", "weight": 1.0})
    assert "nothing" in report.unstable
    simple = {"use": "substring_accuracy", "weight": 1.0}
    report = attacked(["bombs"], limit=1, accuracy=simple, fragile={"use": "fragile", "weight": 1.0})
    assert [one.hack for one in report.failed] == ["control_characters"]
    assert report.problems


def test_without_data_the_cases_are_attacked(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found, source = targets(load_task("gsm8k"), "train", 50)
    assert [target.gold for target in found] == ["18", "1000"]
    assert "from the task's cases" in source
    report = audit(load_task("countdown"), limit=4, families=["shotgun"], elsewhere=False)
    assert not report.exploits


def test_what_there_is_nothing_to_attack_in_is_an_error(tmp_path):
    task = load_task("arithmetic", {"verifiers.accuracy.sources": ["hashes"]})
    with pytest.raises(UsageError, match="no example whose honest answer gets full marks from accuracy"):
        audit(task, limit=3)
    with pytest.raises(UsageError, match="did you mean 'hedges'"):
        audit(load_task("arithmetic"), families=["hedge"])


def test_a_hack_of_ones_own_is_one_function(tmp_path):
    page = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    (code,) = re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "own.py").write_text(code)
    (tmp_path / "none.py").write_text("x = 1")
    try:
        assert load_hacks(tmp_path / "own.py") == ["shouted"]
        report = attacked(["style"], accuracy={"use": "substring_accuracy", "weight": 1.0})
        assert [(one.hack, one.paid_in) for one in report.exploits] == [("shouted", 8)]
        for file, problem in (
            ("own.py", "there is one"),
            ("none.py", "has no hack"),
            ("no.py", "no such"),
        ):
            with pytest.raises(UsageError, match=problem):
                load_hacks(tmp_path / file)
    finally:
        HACKS.pop("shouted", None)


def test_the_report_is_json(tmp_path):
    report = attacked(["hedges", "negated"])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["exploits"] == []
    assert {one["hack"] for one in data["outcomes"]} >= {"not_gold", "taken_back"}
    assert data["honest"]["total"] == pytest.approx(1.2)


def test_the_command_fails_for_exploits_only_when_asked(monkeypatch):
    few = ["countdown", "dataset.limit={train: 3, eval: 3}", "--only", "format only", "--only", "negated"]
    monkeypatch.setattr("grpo_env.audit.attack._unstable", lambda judging, tried: {})  # a process each time

    def exit_code(*arguments):
        done = CliRunner().invoke(app, ["audit", *few, *arguments])
        return done.exit_code, done.stdout

    assert exit_code("--fail-on", "exploit")[0] == 0
    code, text = exit_code("verifiers.strict_format.weight=9", "--fail-on", "exploit")
    assert (code, "EXPLOIT wrong_in_form" in text) == (1, True)
    code, text = exit_code("verifiers.strict_format.weight=9", "--json")
    assert (code, "wrong_in_form" in json.loads(text)["exploits"]) == (0, True)


DATA = Path(os.environ.get("GRPO_ENV_DATA", "../shared/data"))


@pytest.mark.skipif(not (DATA / "gsm8k_train.jsonl").exists(), reason=f"no data in {DATA}")
def test_gsm8k_passes_and_paying_its_equations_does_not():
    keys = {"dataset.path": str(DATA.resolve() / "gsm8k_{split}.jsonl")}
    families = ["hedges", "format only", "step padding", "near numbers"]
    assert not audit(load_task("gsm8k", keys), limit=10, families=families, elsewhere=False).exploits
    paying = load_task("gsm8k", {**keys, "verifiers.equations.process": 1.0})
    assert "one_plus_one" in names(audit(paying, limit=10, families=["step padding"], elsewhere=False))
