"""What ``grpo_env check`` finds: each test plants one fault in a task or its data and asks for it by name."""

import json
import os
from pathlib import Path

import pytest
import yaml

from grpo_env.check import check
from grpo_env.check.mutations import differs, mutations
from grpo_env.check.overlap import overlaps
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task

QUESTIONS = [
    "A farmer has {} hens and buys {} more at the market on Monday. How many hens has she now?",
    "In a school of {} pupils {} more arrive after the summer holidays. How many pupils does it have then?",
    "Tom reads {} pages before lunch and another {} in the evening. What is the number of pages he read?",
]
TASK = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "{split}.jsonl", "split": {"train": "train", "eval": "eval"}, "answer": "{{ result }}"},
    "prompt": {"system": "Use <{{ format.answer }}>.", "user": "{{ question }}"},
    "verifiers": {"accuracy": {"weight": 1.0}, "strict_format": {"weight": 0.2}},
    "metric": "accuracy",
    "cases": [
        {"completion": "<think>\na\n</think>\n<answer>\n5\n</answer>", "answer": "5", "accuracy": 1, "total": 1.2}
    ],
}


def row(number):
    return {"question": QUESTIONS[number % 3].format(number, number + 3), "result": str(2 * number + 3)}


def written(folder, train=None, held_out=None, **changes):
    """The task in a folder, with rows of its own or the usual ones."""
    rows = {"train": train or [row(n) for n in range(2, 8)], "eval": held_out or [row(n) for n in range(20, 23)]}
    for split, found in rows.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    (folder / "sums.yaml").write_text(yaml.safe_dump({**TASK, **changes}))
    return load_task(folder / "sums.yaml")


def found(report):
    return {(finding.severity, finding.check) for finding in report.findings}


def test_a_sound_task_has_no_findings(tmp_path):
    report = check(written(tmp_path))
    assert (report.findings, report.not_run, report.ok) == ([], {}, True)
    assert "train 6" in report.facts["data"]
    assert "eval 3" in report.facts["data"]
    assert report.facts["gold"].startswith(
        "9 written in the task's form: 0 without full marks from accuracy; total 1.2"
    )
    assert "36 changed ones" in report.facts["gold"]  # nine golds: a number, the sign, another row's, empty
    assert "question*, result*" in report.facts["columns"]
    assert json.loads(json.dumps(report.to_dict()))["ok"] is True


def test_a_verifier_that_pays_wrong_golds_is_found(tmp_path):
    lenient = {"accuracy": {"weight": 1.0, "rel_tol": 0.9}}
    report = check(written(tmp_path, verifiers=lenient, cases=[]))
    assert found(report) == {("error", "gold")}
    assert any("a number changed" in finding.what for finding in report.findings)


def test_a_gold_that_its_own_verifier_refuses_is_found(tmp_path):
    report = check(written(tmp_path, verifiers={"accuracy": {"sources": ["hashes"]}}, cases=[]))
    assert found(report) == {("error", "gold")}
    assert len(report.findings) == 9


def test_every_bad_gold_is_listed_with_its_row(tmp_path):
    rows = [row(2), {**row(3), "result": " "}, row(4), {**row(5), "result": ""}]
    report = check(written(tmp_path, train=rows))
    assert [finding.where for finding in report.findings if finding.check == "data"] == ["train row 2", "train row 4"]
    assert ("warning", "columns") in found(report)
    assert not report.ok


def test_a_prompt_of_both_splits_is_an_error_and_a_near_one_a_warning(tmp_path):
    long = "Every morning the baker puts {} loaves of rye bread and {} rolls on the long wooden shelf behind the door, "
    long += "and by noon all but five of them have been sold to the people of the village. How many were sold by noon?"
    rows = [{"question": long.format(30, 40), "result": "65"}, *[row(n) for n in range(2, 8)]]
    again = {"question": rows[2]["question"].upper().replace(".", " . "), "result": rows[2]["result"]}
    near = {"question": long.format(30, 41), "result": "66"}
    report = check(written(tmp_path, train=rows, held_out=[row(20), again, near]))
    assert found(report) == {("error", "overlap"), ("warning", "overlap")}
    assert [finding.where for finding in report.findings] == ["eval/1", "eval/2"]
    assert "of 3 held-out prompts 1 in train, 1 nearly" in report.facts["overlap"]


def test_repeated_prompts_and_contradicting_golds_are_warnings(tmp_path):
    report = check(written(tmp_path, train=[row(2), row(3), row(2), {**row(3), "result": "8"}]))
    assert [finding.where for finding in report.findings if finding.check == "repeats"] == ["train/3", "train"]
    assert report.ok


def test_an_id_that_stands_twice_is_an_error(tmp_path):
    dataset = {**TASK["dataset"], "id": "{{ question[:9] }}"}
    report = check(written(tmp_path, dataset=dataset))
    assert ("error", "ids") in found(report)


def test_a_case_that_does_not_hold_is_an_error(tmp_path):
    case = {"completion": "<answer>5</answer>", "answer": "5", "accuracy": 0, "why": "a slip"}
    report = check(written(tmp_path, cases=[case]))
    assert found(report) == {("error", "cases")}
    assert "a slip" in report.findings[0].what


def test_prompts_longer_than_the_model_are_errors(tmp_path):
    report = check(written(tmp_path), model="bundled")
    assert "tokens of bundled" in report.facts["lengths"]
    assert report.ok
    task = load_task(tmp_path / "sums.yaml", {"train.max_new_tokens": 100_000})
    assert found(check(task, model="bundled")) == {("error", "lengths")}


def test_data_on_the_hub_that_cannot_be_had_are_said_not_to_be_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    report = check(load_task("math"))
    assert "cannot be loaded" in report.not_run["data"]
    assert report.ok
    assert "not run" in str(report)
    with pytest.raises(UsageError, match="No such file"):
        check(load_task("math", {"dataset.path": str(tmp_path / "absent.jsonl"), "dataset.split": {"train": 1.0}}))


def test_wrong_versions_of_a_gold():
    assert dict(mutations(["$1,000", "7"], 0)) == {
        "a number changed": "$2,000",
        "the sign changed": "-$1,000",
        "another row's": "7",
        "empty": "",
    }
    assert dict(mutations(["zero", "zero", "one"], 0)) == {"another row's": "one", "empty": ""}
    assert not differs("\\dfrac{1}{2}", "\\frac12")
    assert not differs("1,000.0", "1000")
    assert differs("x^2", "x^3")


def test_what_all_prompts_share_does_not_make_them_alike():
    template = "Use the numbers {}, {} and {}, each exactly once, with all four signs and brackets, to make {}."
    train = [template.format(a, a + 2, 9, a * 7) for a in range(40)]
    held_out = [template.format(a, a + 3, 9, a * 5) for a in range(50, 60)]
    assert list(overlaps(train, held_out)) == []
    assert [(pair.held_out, pair.train) for pair in overlaps(train, [*held_out, train[7]])] == [(10, 7)]


DATA = Path(os.environ.get("GRPO_ENV_DATA", "../shared/data"))


@pytest.mark.skipif(not (DATA / "math500.jsonl").exists(), reason=f"no data in {DATA}")
def test_math_golds_are_paid_and_changed_ones_are_not():
    keys = {"dataset.path": str(DATA.resolve() / "math500.jsonl"), "dataset.split": {"train": 0.9, "eval": 0.1}}
    report = check(load_task("math", keys), limit=150)
    assert report.findings == []
