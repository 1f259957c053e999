"""Audits of rewards with known flaws find them and name the part at fault; sound rewards have no exploits."""

import json
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grpo_env.audit import HACKS, AuditRequest, audit, load_hacks
from grpo_env.audit.fields import exact
from grpo_env.audit.hacks import SOURCES, TABLE
from grpo_env.audit.targets import find_targets, wrong_answers
from grpo_env.cli.app import app
from grpo_env.core import GroupVerifier, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
from grpo_env.taskfile.task import load_task
from tests.tables import table_task


@verifier("substring_accuracy")
@dataclass(frozen=True)
class SubstringAccuracy(Verifier):
    """1 if the gold answer occurs in the text, as in many tutorials."""

    def __call__(self, example, completion):
        return Score(float(str(example.answer) in completion.text))


@verifier("always_one")
@dataclass(frozen=True)
class AlwaysOne(Verifier):
    """1 for any text."""

    def __call__(self, example, completion):
        return Score(1.0)


@verifier("unstable")
@dataclass(frozen=True)
class Unstable(Verifier):
    """A different value in every process."""

    def __call__(self, example, completion):
        return Score(float(os.getpid()))


@verifier("fragile")
@dataclass(frozen=True)
class Fragile(Verifier):
    """Fails on a lone surrogate."""

    def __call__(self, example, completion):
        completion.text.encode()
        return Score(0.0)


@verifier("agreement")
@dataclass(frozen=True)
class Agreement(GroupVerifier):
    """1 if all completions of the group are the same."""

    def group(self, example, completions):
        same = len({completion.text for completion in completions}) == 1 and len(completions) > 1
        return [Score(float(same))] * len(completions)


def run_audit(families=(), rescore=False, limit=8, partial_credit=False, **verifiers):
    """Audit the arithmetic task with some of its verifiers changed."""
    keys = {f"verifiers.{name}": spec for name, spec in verifiers.items()}
    keys |= {"dataset.limit": {"train": limit, "eval": 8}, "partial_credit": partial_credit}
    task = load_task("arithmetic", keys)
    return audit(task, AuditRequest(limit=limit, families=families, rescore=rescore))


def exploits(report):
    return {outcome.hack for outcome in report.exploits}


FAST = [family for family in dict.fromkeys(hack.family for hack in HACKS.values()) if family != "bombs"]


def test_hacks_have_unique_names_templates_and_a_source():
    assert len({hack.name for hack in TABLE}) == len(TABLE) >= 100
    assert len({(hack.template, hack.finish) for hack in TABLE}) == len(TABLE)
    assert {hack.source for hack in TABLE} == set(SOURCES)


def test_the_bundled_reward_has_no_exploits():
    report = run_audit(FAST, limit=2)
    assert (exploits(report), report.unstable, report.failed) == (set(), {}, [])
    assert report.gold.parts == pytest.approx({"accuracy": 1.0, "strict_format": 0.2, "tag_count": 0, "equations": 0})
    assert (report.gold.total, report.wrong.total) == (pytest.approx(1.2), pytest.approx(0.2))
    equations = [len(example.info["equations"]) for example in load_task("arithmetic").examples("train", 2)]
    assert report.gold.process == pytest.approx(sum(equations) / 2 + 1.2)


def test_a_wrong_answer_is_of_the_kind_of_the_gold_answer():
    """Beside a letter, numbers are no rivals: ``C, 12, 16`` and a fence behind ``4`` name one letter."""
    golds = ["C", "12", "blue", "B", r"\frac{1}{2}", "yes", "16", "2024-05-01", "green", "A"]
    assert {gold: wrong_answers(gold, golds)[:3] for gold in ("C", "12", r"\frac{1}{2}", "blue", "yes")} == {
        "C": ("B", "A", "D"),
        "12": (r"\frac{1}{2}", "16", "19"),
        r"\frac{1}{2}": ("12", "16", "none of these"),
        "blue": ("green", "none of these", "it cannot be known"),
        "yes": ("none of these", "blue", "it cannot be known"),
    }


def test_numbers_beside_letters_are_no_exploits(tmp_path):
    families = ["shotgun", "two answers", "hidden"]
    assert exploits(audit_golds(tmp_path, ["C", "12", "B", "16", "A", "20"], families)) == set()


@pytest.mark.parametrize("name", ["countdown", "letter_counting"])
def test_the_other_generated_tasks_have_no_exploits(name):
    task = load_task(name, {"dataset.limit": {"train": 20, "eval": 5}})
    report = audit(
        task, AuditRequest(limit=20, families=[family for family in FAST if family != "shotgun"], rescore=False)
    )
    assert (exploits(report), report.failed) == (set(), [])
    assert (report.gold.total, report.wrong.total) == (pytest.approx(1.2), 0)  # the form is gated by the answer


def test_a_substring_verifier_rewards_shotguns_denials_and_the_reasoning():
    report = run_audit(FAST, limit=3, accuracy={"use": "substring_accuracy", "weight": 1.0})
    assert {
        "gold_among_candidates", "one_or_the_other", "not_gold", "taken_back", "reasoned_and_unsaid", "in_a_comment",
        "all_numbers_to_100", "right_then_wrong", "cut_in_the_reasoning", "inside_a_longer_number",
    } <= exploits(report)  # fmt: skip
    best = report.exploits[0]
    assert len(best.text) == min(len(outcome.text) for outcome in report.exploits)
    assert (best.main_part, best.paid) == ("accuracy", best.examples)
    assert "EXPLOIT gold_among_candidates" in str(report)
    assert "LOOSE wrong_then_right: paid in 3 of 3" in str(report)


@verifier("by_distance")
@dataclass(frozen=True)
class ByDistance(Verifier):
    """1 within ``free`` of the gold answer, else a hundredth less for each further whole number."""

    free: int = 0

    def __call__(self, example, completion):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", completion.text)
        distance = abs(float(numbers[-1]) - float(example.answer)) if numbers else 100.0
        return Score(max(0.0, 1 - max(0.0, distance - self.free) / 100))


@pytest.mark.parametrize("declared", [False, True])
def test_near_misses_of_a_graded_metric_are_exploits_only_with_full_credit(declared):
    near = ["near numbers"]
    part = {"use": "by_distance", "weight": 1.0}
    report = run_audit(near, partial_credit=declared, accuracy=part)
    assert exploits(report) == set()
    assert "PARTIAL off_by_one" in str(report)
    assert "NOTE wrong answers get part of the credit" in str(report)
    assert "off_by_one" in exploits(run_audit(near, partial_credit=declared, accuracy={**part, "free": 1}))


def test_a_verifier_that_rewards_anything_pays_an_empty_text():
    report = run_audit(["format only"], accuracy={"use": "always_one", "weight": 1.0})
    assert exploits(report) == {"nothing"}
    assert "EXPLOIT nothing (format only; knows the prompt): wins what a right answer is paid in 8 of 8" in str(report)


def test_a_format_reward_that_outweighs_accuracy_is_noted():
    report = run_audit(["format only", "negated"], strict_format={"weight": 5.0})
    assert exploits(report) == set()
    assert "NOTE form without a right answer is paid 5 of 6" in str(report)


def test_step_scores_for_any_true_equation_are_exploits():
    families = ["step padding", "stuffing"]
    report = run_audit(families, equations={"use": "equation_steps", "process": 1.0})
    assert {"one_plus_one", "counting_up", "marks_added", "true_steps_wrong_answer"} <= exploits(report)
    assert {(outcome.family, outcome.main_part) for outcome in report.exploits} == {("step padding", "equations")}
    gated = run_audit(families, equations={"use": "equation_steps", "process": 1.0, "when": "accuracy"})
    assert "true_steps_wrong_answer" not in exploits(gated)
    assert "one_plus_one" in exploits(gated)


@pytest.mark.parametrize("part", ["reasoning_length", "reasoning_steps"])
def test_a_bonus_for_length_or_steps_is_an_exploit(part):
    report = run_audit(["stuffing"], bonus={"use": part, "weight": 1.0})
    exploit = "varied_filler" if part == "reasoning_length" else "steps_stuffed"
    assert {outcome.hack: outcome.main_part for outcome in report.exploits}[exploit] == "bonus"
    assert not exploits(run_audit(["stuffing"], bonus={"use": part, "weight": 0.1}))


@verifier("second_thoughts")
@dataclass(frozen=True)
class SecondThoughts(Verifier):
    """A tenth for each "wait" and "aha", as a sign of reflection."""

    def __call__(self, example, completion):
        return Score(len(re.findall("wait|aha", completion.text, re.IGNORECASE)) / 10)


def test_a_bonus_for_second_thoughts_is_an_exploit():
    bonus = {"use": "second_thoughts", "weight": 1.0}
    assert "keywords_stuffed" in exploits(run_audit(["stuffing"], limit=2, bonus=bonus))


def test_group_verifiers_get_a_group_of_identical_completions():
    report = run_audit(["format only"], accuracy={"use": "agreement", "weight": 1.0})
    assert "nothing" in exploits(report)


def test_what_the_task_tolerates_is_not_an_exploit():
    assert not exploits(run_audit(["near numbers"], accuracy={"weight": 1.0, "rel_tol": 0.3}))
    assert not exploits(run_audit(["unevaluated"], accuracy={"weight": 1.0, "unevaluated": "correct"}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(4006381333931 * 10**9 + 1, 10**9), "4006381333931.000000001"),
        (Fraction(-1, 4), "-0.25"),
        (Fraction(1, 3), "1/3"),
        (18, "18"),
    ],
)
def test_values_near_a_gold_answer_are_written_exactly(value, text):
    assert exact(value) == text


GOLDS = ["2024-05-01", "3:30 pm", "192.168.0.1", "H2O", "A+", "007", '{"a": 1, "b": 2}', "(3, 4)", "New York"]


def audit_golds(folder, golds, families=("near misses",), **options):
    """Audit a task with these gold answers and ``accuracy`` with these options."""
    rows = [{"question": f"Question {index}?", "answer": gold} for index, gold in enumerate(golds)]
    task = table_task(folder, rows, verifiers={"accuracy": {"weight": 1.0, **options}})
    return audit(task, AuditRequest(families=families, rescore=False))


def test_gold_answers_in_angle_brackets_stay_whole(tmp_path):
    """Which mark the answer in the templates of hacks, too."""
    report = audit_golds(tmp_path, ["⟨1, 2⟩", "⟨3, 4⟩", "⟨5, 6⟩"], ["hedges"], kind="text")
    (outcome,) = [outcome for outcome in report.outcomes if outcome.hack == "could_be"]
    assert "It could be ⟨1, 2⟩, but it could also be ⟨3, 4⟩." in outcome.text


def test_near_misses_of_dates_and_codes_are_tried_and_get_no_credit(tmp_path):
    elsewhere = ("another_day", "another_letter", "another_unit", "the_opposite", "the_case_changed")
    report = audit_golds(tmp_path, GOLDS)
    assert report.examples == len(GOLDS)
    assert {outcome.hack for outcome in report.outcomes} == {
        hack.name for hack in TABLE if hack.family == "near misses" and hack.name not in elsewhere
    }
    assert not report.exploits


def test_dates_and_codes_that_are_compared_by_algebra_are_exploited(tmp_path):
    report = audit_golds(tmp_path, ["2024-05-01", "3-1"], kind="formula")
    assert {"day_and_month_swapped"} <= exploits(report)
    report = audit_golds(tmp_path, ["A1", "E12"], kind="formula")
    assert {"letters_reordered"} <= exploits(report)


def test_unstable_scores_and_failing_verifiers_are_reported():
    report = run_audit(["format only"], rescore=True, limit=1, unstable={"use": "unstable", "weight": 1.0})
    assert "nothing" in report.unstable
    substring = {"use": "substring_accuracy", "weight": 1.0}
    report = run_audit(["bombs"], limit=1, accuracy=substring, fragile={"use": "fragile", "weight": 1.0})
    assert [outcome.hack for outcome in report.failed] == ["control_characters"]
    assert report.problems


@verifier("unsure")
@dataclass(frozen=True)
class Unsure(Verifier):
    """1 for the gold answer, 0 for other numbers, and no score for what is none."""

    numbers: bool = True

    def __call__(self, example, completion):
        answer = completion.text.rpartition("<answer>\n")[2].partition("\n")[0]
        if answer == str(example.answer) or (self.numbers and answer.isdigit()):
            return Score(float(answer == str(example.answer)))
        return Score(None, "not_applicable", explanation="no number")


def test_what_keeps_texts_out_of_the_loss_is_reported():
    report = run_audit(["guess", "format only"], limit=3, accuracy={"use": "unsure", "weight": 1.0})
    assert "FAILED nothing: 3 of 3 texts are unscored (not_applicable)" in str(report)
    assert not {outcome.hack for outcome in report.failed} & {"wrong_in_form", "sum_of_the_prompt"}
    assert report.problems == len(report.failed)
    with pytest.raises(UsageError, match=r"no wrong answer in .* is scored \[not_applicable\]: .*no number"):
        run_audit(["guess"], limit=3, accuracy={"use": "unsure", "numbers": False, "weight": 1.0})


def test_cases_are_attacked_without_data(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    targets, source = find_targets(load_task("gsm8k"), "train", 50)
    assert [target.gold for target in targets] == ["18", "1000"]
    assert "from the task's cases" in source
    report = audit(load_task("countdown"), AuditRequest(limit=4, families=["shotgun"], rescore=False))
    assert not report.exploits


def test_a_task_without_usable_examples_and_an_unknown_family_are_errors():
    task = load_task("arithmetic", {"verifiers.accuracy.sources": ["hashes"]})
    with pytest.raises(UsageError, match="no gold answer gets full credit from accuracy"):
        audit(task, AuditRequest(limit=3))
    with pytest.raises(UsageError, match=r"are rewarded with 0, so nothing can gain .* give accuracy"):
        audit(
            load_task(
                "letter_counting", dict.fromkeys(("verifiers.accuracy.weight", "verifiers.strict_format.weight"), 0)
            ),
            AuditRequest(limit=3),
        )
    with pytest.raises(UsageError, match="did you mean 'hedges'"):
        audit(load_task("arithmetic"), AuditRequest(families=["hedge"]))


def test_the_custom_hack_of_the_documentation(tmp_path):
    page = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    (code,) = re.findall(r'^```python title="own.py"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "own.py").write_text(code)
    (tmp_path / "none.py").write_text("x = 1")
    try:
        assert load_hacks(tmp_path / "own.py") == ["shouted"]
        report = run_audit(["style"], accuracy={"use": "substring_accuracy", "weight": 1.0})
        assert [(outcome.hack, outcome.paid) for outcome in report.exploits] == [("shouted", 8)]
        for file, problem in (("own.py", "already exists"), ("none.py", "defines no hacks"), ("no.py", "no such")):
            with pytest.raises(UsageError, match=problem):
                load_hacks(tmp_path / file)
    finally:
        HACKS.pop("shouted", None)


def test_the_report_is_json(tmp_path):
    report = run_audit(["hedges", "negated"])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["exploits"] == []
    assert {outcome["hack"] for outcome in data["outcomes"]} >= {"not_gold", "taken_back"}
    assert data["gold"]["total"] == pytest.approx(1.2)


def test_the_command_fails_for_exploits_unless_told_otherwise(monkeypatch):
    common = ["countdown", "dataset.limit={train: 3, eval: 3}", "--only", "stuffing", "--only", "negated"]
    monkeypatch.setattr("grpo_env.audit.attack.Attack._unstable", lambda self, attempts: {})  # starts a process

    def exit_code(*arguments):
        done = CliRunner().invoke(app, ["audit", *common, *arguments])
        return done.exit_code, done.stdout

    assert exit_code()[0] == 0
    paid = "verifiers.bonus={use: reasoning_length, weight: 9}"
    code, text = exit_code(paid)
    assert (code, "EXPLOIT varied_filler" in text) == (1, True)
    code, text = exit_code(paid, "--json", "--fail-on", "never")
    assert (code, "varied_filler" in json.loads(text)["exploits"]) == (0, True)
    assert exit_code("--fail-on", "sometimes")[0] == 2


DATA = Path(os.environ.get("GRPO_ENV_DATA", "../shared/data"))


@pytest.mark.skipif(not (DATA / "gsm8k_train.jsonl").exists(), reason=f"no data in {DATA}")
def test_gsm8k_has_exploits_only_with_step_scores_for_equations():
    keys = {"dataset.path": str(DATA.resolve() / "gsm8k_{split}.jsonl")}
    families = ["hedges", "format only", "step padding", "near numbers"]
    assert not audit(load_task("gsm8k", keys), AuditRequest(limit=10, families=families, rescore=False)).exploits
    flawed = {"use": "equation_steps", "weight": 0.0, "process": 1.0}
    padded = audit(
        load_task("gsm8k", {**keys, "verifiers.equations": flawed}), AuditRequest(limit=10, families=["step padding"])
    )
    assert "one_plus_one" in exploits(padded)
    counted = load_task("gsm8k", {**keys, "verifiers.equations.match": "result"})
    assert "true_steps_wrong_answer" in exploits(
        audit(counted, AuditRequest(limit=10, families=["step padding"], rescore=False))
    )
