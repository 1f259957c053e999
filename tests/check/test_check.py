"""``grpo_env check`` on tasks with one planted fault each."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml

from grpo_env.audit import AuditRequest, audit
from grpo_env.check import check
from grpo_env.check.gold_completion import gold_answer, gold_reasoning, gold_text
from grpo_env.check.overlap import overlaps
from grpo_env.check.perturbations import differs, perturbations
from grpo_env.core import Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
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


def make_task(folder, train=None, held_out=None, **changes):
    """Write the task and its data into a folder, with default rows or given ones, and load it."""
    rows = {"train": train or [row(n) for n in range(2, 8)], "eval": held_out or [row(n) for n in range(20, 23)]}
    for split, split_rows in rows.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in split_rows))
    (folder / "sums.yaml").write_text(yaml.safe_dump({**TASK, **changes}))
    return load_task(folder / "sums.yaml")


def kinds(result):
    return {(finding.severity, finding.check) for finding in result.findings}


def test_a_sound_task_has_no_findings(tmp_path):
    result = check(make_task(tmp_path))
    assert (result.findings, result.not_run, result.ok) == ([], {}, True)
    assert "train 6" in result.facts["data"]
    assert "eval 3" in result.facts["data"]
    assert result.facts["gold"].startswith(
        "9 answers in the task's format: 0 without full credit from accuracy; total 1.2"
    )
    assert "36 perturbed answers" in result.facts["gold"]  # nine gold answers: a number, the sign, another row's, empty
    assert "question*, result*" in result.facts["columns"]
    assert json.loads(json.dumps(result.to_dict()))["ok"] is True


def test_a_filter_is_a_fact_and_findings_have_the_numbers_of_the_source(tmp_path):
    rows = [{"question": "1+1?", "result": "2"}, {"question": "1+2?", "result": "3"}, {"question": "?", "result": ""}]
    dataset = {**TASK["dataset"], "filter": "{{ result != '2' }}"}
    result = check(make_task(tmp_path, train=rows, dataset=dataset))
    assert result.facts["filter"] == "eval: keeps all rows; train: dataset.filter leaves out 1 of 3 rows"
    assert [finding.where for finding in result.findings if finding.check == "data"] == ["train.jsonl, line 3"]


def test_credit_for_perturbed_answers_is_an_error(tmp_path):
    lenient = {"accuracy": {"weight": 1.0, "rel_tol": 0.9}}
    result = check(make_task(tmp_path, verifiers=lenient, cases=[]))
    assert kinds(result) == {("error", "gold")}
    assert any("a number changed" in finding.what for finding in result.findings)


SHOWN = {"user": "{{ question }} {{ result }}"}
OTHER_TAGS = {"system": "Think in <reasoning> tags, then answer in <final> tags.", "user": "{{ question }}"}


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"dataset": {**TASK["dataset"], "answer": "result"}}, "warning: templates: dataset.answer: 'result' is"),
        ({"prompt": {"user": "{question}"}}, "error: templates: prompt.user: all 9 rows have the same"),
        ({"prompt": {"text": "{{ 'Add.' }}"}}, "error: templates: prompt.text: all 9 rows have the same"),
        ({"prompt": SHOWN}, "warning: templates: prompt: the prompt shows column 'result', and"),
        ({"prompt": OTHER_TAGS}, "warning: templates: prompt: names <reasoning> and <final>, but"),
        ({"verifiers": {"accuracy": {"weight": 0}}}, "error: verifiers: verifiers: the reward of sums is 0"),
        ({"verifiers": {"accuracy": {"weight": 0, "process": 1.0}}}, "error: verifiers: verifiers: the reward of sums"),
        ({"verifiers": {"accuracy": {"weight": -1.0}}}, "error: gold: verifiers: a wrong answer in the task"),
        ({"verifiers": {"accuracy": {"weight": 0}, "tag_count": {}}}, "error: gold: verifiers: a wrong answer in"),
    ],
)
def test_a_plausible_mistake_of_a_task_is_one_finding(tmp_path, changes, finding):
    (found,) = check(make_task(tmp_path, cases=[], **changes)).findings
    assert str(found).startswith(finding)


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": {"user": "Use <{{ format.answer }}>, not <final>. {{ question }}"}},
        {"prompt": {"user": "Give the <answer>. {{ question }}"}, "format": {"prefill": "<think>"}},
        {"prompt": {"user": "{{ question }}", "system": "What is <b>?"}},
        {"prompt": {"system": "{{ question }}", "user": "Solve it."}},
        {"prompt": {"user": "{{ question }} Not {{ result | int + 1 }}."}},
        {"prompt": {"user": "{{ question }} The result is one of 7, 9, 11, 13, 15, 17, 43, 45 and 47."}},
        {"verifiers": {"accuracy": {"weight": 0}, "reward": {"use": "accuracy"}}},
    ],
)
def test_what_only_looks_like_such_a_mistake_is_no_finding(tmp_path, changes):
    assert check(make_task(tmp_path, cases=[], **changes)).findings == []


def test_process_supervision_needs_a_part_that_may_score_steps(tmp_path):
    file, by_steps = make_task(tmp_path, cases=[]).source, {"train": {"supervision": "process"}}
    (finding,) = check(load_task(file, by_steps)).findings
    assert str(finding).startswith("error: verifiers: verifiers: supervision=process needs step scores, and no part of")
    watched = {**by_steps, "verifiers.steps": {"use": "equation_steps", "weight": 0}}
    assert len(check(load_task(file, watched)).findings) == 1
    (tmp_path / "plain.py").write_text("def paid(text):\n    return 1.0\n")
    plain = {**by_steps, "verifiers.plain": {"use": f"{tmp_path}/plain.py:paid"}}
    assert [finding.what.partition(",")[0] for finding in check(load_task(file, plain)).findings] == [
        "supervision=process needs step scores"
    ]
    assert check(load_task(file, {**by_steps, "verifiers.steps": {"use": "equation_steps"}})).findings == []
    assert check(load_task(file, {**by_steps, "train.step_values": {"rollouts": 2}})).findings == []


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("{{ question }}{% if hint %} ({{ hint }}){% endif %}", []),
        (
            "{{ question }}{%- if note is not none and row['unit'] %} {{ unit }}{% elif hint %} {{ hint }}{% endif %}",
            [],
        ),
        ("{{ question ~ ' ' ~ unit if unit | trim else question ~ hint }}", ["hint"]),
        ("If there is a hint: {{ hint }} {{ question }}", ["hint"]),
    ],
)
def test_an_empty_column_that_a_condition_tests_is_no_finding(tmp_path, user, found):
    columns = {"hint": "", "unit": " ", "note": None}
    task = make_task(tmp_path, train=[{**row(n), **columns} for n in range(2, 8)], held_out=[{**row(9), **columns}])
    result = check(load_task(task.source, {"prompt.user": user}))
    assert sorted({finding.what for finding in result.findings}) == [f"column {name!r} is empty" for name in found]


@pytest.mark.parametrize(
    ("header", "answer", "found"),
    [
        ("question,result,", "{{ result }}", []),  # as spreadsheets write it
        ("question,result,why?", "{{ row['why?'] or result }}", ["column 'why?' is empty"]),
    ],
)
def test_a_column_counts_as_used_by_its_whole_name(tmp_path, header, answer, found):
    task = make_task(tmp_path, cases=[])
    (tmp_path / "own.csv").write_text(f"{header}\n1+1?,2,\n1+2?,3,\n2+2?,4,\n1+6?,7,\n")
    split = {"train": 0.5, "eval": 0.5}
    task = load_task(task.source, {"dataset": {"path": str(tmp_path / "own.csv"), "split": split, "answer": answer}})
    assert sorted({finding.what for finding in check(task).findings}) == found


def test_gold_answers_without_full_credit_are_errors(tmp_path):
    result = check(make_task(tmp_path, verifiers={"accuracy": {"sources": ["hashes"]}}, cases=[]))
    assert kinds(result) == {("error", "gold")}
    assert len(result.findings) == 9


def tagged(number):
    """A row with a whole response in the task's tags."""
    made = row(number)
    response = f"<think>\n{number} and {number + 3}.\n</think>\n<answer>\n{made['result']}\n</answer>"
    return {**made, "response": response}


def test_a_response_in_the_tasks_tags_is_the_honest_text(tmp_path):
    """Its tags are not written a second time, which would cost it the credit for the format."""
    rows = {"train": [tagged(n) for n in range(2, 8)], "held_out": [tagged(n) for n in range(20, 23)]}
    task = make_task(tmp_path, **rows)
    example = task.examples("train")[0]
    assert gold_text(task, example, "7") == example.info["response"]
    assert gold_reasoning(task, example, "7") == "2 and 5."
    result = check(task)
    assert not kinds(result)
    assert "total 1.2" in result.facts["gold"]


def test_a_response_in_the_tasks_tags_as_gold_answer(tmp_path):
    rows = {"train": [tagged(n) for n in range(2, 8)], "held_out": [tagged(n) for n in range(20, 23)]}
    task = make_task(tmp_path, **rows, dataset={**TASK["dataset"], "answer": "{{ response }}"})
    assert gold_answer(task, task.examples("train")[0]) == "7"
    assert not kinds(check(task))


def test_one_cause_is_said_once_with_a_count(tmp_path):
    rows = [{**row(n), "result": f"unknown {n}"} for n in range(2, 8)]
    task = make_task(tmp_path, rows, verifiers={"accuracy": {"weight": 1.0, "kind": "number"}}, cases=[])
    result = check(task)
    assert sum(finding.check == "data" for finding in result.findings) == 6
    (line,) = [line for line in str(result).splitlines() if line.startswith("error: data")]
    assert "train.jsonl, line 1" in line
    assert line.endswith("(and 5 other rows)")


def test_bad_gold_answers_are_listed_by_row(tmp_path):
    rows = [row(2), {**row(3), "result": " "}, row(4), {**row(5), "result": ""}, {**row(6), "result": None}]
    result = check(make_task(tmp_path, train=rows))
    assert [finding.where for finding in result.findings if finding.check == "data"] == [
        "train.jsonl, line 2",
        "train.jsonl, line 4",
        "train.jsonl, line 5",
    ]
    assert ("warning", "columns") not in kinds(result)  # which would say it again
    assert str(result).splitlines()[-1].startswith("1 error, 0 warnings")  # as many as lines above
    assert not result.ok


def test_findings_name_the_lines_of_the_users_one_file(tmp_path):
    """Lines are counted by hand: the header is line 1, and the question of line 3 goes on in line 4."""
    lines = [
        "key,question,result",
        "a,1+1?,2",
        'b,"One',
        'and two?",3',
        "c,2+2?,",
        "",
        "d,5+1?,6",
        "e,5+1?,7",
        "e,9+1?,10",
    ]
    lines.append("f,,11")
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    dataset = {"path": "own.csv", "split": {"train": 1.0}, "id": "{{ key }}", "answer": "{{ result }}"}
    result = check(make_task(tmp_path, dataset=dataset))
    found = {finding.check: finding for finding in result.findings if finding.where != "train"}
    assert found["data"].where == "own.csv, line 5"
    assert str(found["repeats"]).startswith(
        "warning: repeats: own.csv, line 8, id e: same prompt as own.csv, line 7, id d"
    )
    assert str(found["ids"]).startswith(
        "error: ids: own.csv, line 9, id e: the id 'e' is also that of own.csv, line 8, id e"
    )
    assert str(found["columns"]).startswith("warning: columns: own.csv, line 10, id f: column 'question' is empty")
    with pytest.raises(UsageError, match=r"sums.yaml: own.csv, line 5: .*missing"):
        load_task(tmp_path / "sums.yaml").examples("train")


def test_rows_of_parquet_are_counted_from_1(tmp_path):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row(2), {**row(3), "result": ""}]), tmp_path / "own.parquet")
    dataset = {**TASK["dataset"], "path": "own.parquet", "split": {"train": 1.0}}
    findings = check(make_task(tmp_path, dataset=dataset)).findings
    assert [finding.where for finding in findings if finding.check == "data"] == ["own.parquet, row 2 (from 1)"]


def test_a_prompt_in_both_splits_is_an_error_and_a_similar_one_a_warning(tmp_path):
    long = "Every morning the baker puts {} loaves of rye bread and {} rolls on the long wooden shelf behind the door, "
    long += "and by noon all but five of them have been sold to the people of the village. How many were sold by noon?"
    rows = [{"question": long.format(30, 40), "result": "65"}, *[row(n) for n in range(2, 8)]]
    again = {"question": rows[2]["question"].upper().replace(".", " . "), "result": rows[2]["result"]}
    near = {"question": long.format(30, 41), "result": "66"}
    result = check(make_task(tmp_path, train=rows, held_out=[row(20), again, near]))
    assert kinds(result) == {("error", "overlap"), ("warning", "overlap")}
    assert [finding.where for finding in result.findings] == ["eval.jsonl, line 2", "eval.jsonl, line 3"]
    assert "1 of 3 held-out prompts in train, 1 nearly" in result.facts["overlap"]


@pytest.mark.parametrize(
    ("trained", "held_out", "warned"), [(11, 1, True), (9, 3, False), (10, 2, False), (2, 9, True)]
)
def test_a_split_by_hash_with_less_than_half_of_its_rows_is_a_warning(tmp_path, trained, held_out, warned):
    dataset = {**TASK["dataset"], "path": "own.jsonl", "split": {"train": 0.7, "eval": 0.3}}
    rows = [row(n) for n in range(2, 60)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {
        split: [row.row for row in make_task(tmp_path, dataset=dataset).rows(split).rows] for split in ("train", "eval")
    }
    chosen = [*found["train"][:trained], *found["eval"][:held_out]]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chosen))
    task = make_task(tmp_path, dataset=dataset)
    said = [str(finding).partition(";")[0] for finding in check(task).findings if finding.check == "splits"]
    few, asked = min(("eval", held_out, 0.3), ("train", trained, 0.7), key=lambda split: split[1] / split[2])[::2]
    count = min(trained, held_out)
    line = f"warning: splits: {few}: {count} of {len(chosen)} rows, though dataset.split asks for {asked}"
    assert said == ([line] if warned else [])
    assert not [finding for finding in check(task, limit=1).findings if finding.check == "splits"]


def test_prompts_in_both_splits_are_one_problem_of_several_rows_unless_gold_answers_differ(tmp_path):
    other = {**row(4), "result": "5000"}
    result = check(make_task(tmp_path, train=[row(n) for n in range(2, 8)], held_out=[row(2), row(3), other, row(20)]))
    assert [line for line in str(result).splitlines() if line.startswith("error: overlap")] == [
        "error: overlap: eval.jsonl, line 1: same prompt as train.jsonl, line 1; remove one of the two rows "
        "(and 1 other row)",
        "error: overlap: eval.jsonl, line 3: same prompt as train.jsonl, line 3, with another gold answer; "
        "remove one of the two rows",
    ]


def test_repeated_prompts_and_contradictory_gold_answers_are_warnings(tmp_path):
    result = check(make_task(tmp_path, train=[row(2), row(3), row(2), {**row(3), "result": "8"}]))
    assert [finding.where for finding in result.findings if finding.check == "repeats"] == [
        "train.jsonl, line 4",
        "train",
    ]
    assert result.ok


def test_a_column_that_no_template_names_is_not_said_to_be_used(tmp_path):
    """Its name is one of a key of the task file."""
    assert (
        check(make_task(tmp_path, [{**row(2), "prompt": "v1"}]))
        .facts["columns"]
        .startswith("question*, result*, prompt ")
    )


def test_another_gold_answer_in_the_other_split_is_said(tmp_path):
    result = check(make_task(tmp_path, held_out=[row(2), {**row(3), "result": "8"}]))
    assert [finding.what.partition("jsonl, ")[2] for finding in result.findings] == [
        "line 1",
        "line 2, with another gold answer",
    ]


def test_a_duplicate_id_is_an_error(tmp_path):
    dataset = {**TASK["dataset"], "id": "{{ question[:9] }}"}
    result = check(make_task(tmp_path, dataset=dataset))
    assert ("error", "ids") in kinds(result)


def test_a_failed_case_is_an_error(tmp_path):
    case = {"completion": "<answer>5</answer>", "answer": "5", "accuracy": 0, "why": "a slip"}
    result = check(make_task(tmp_path, cases=[case]))
    assert kinds(result) == {("error", "cases")}
    assert "a slip" in result.findings[0].what


def test_prompts_too_long_for_the_model_are_errors(tmp_path):
    result = check(make_task(tmp_path), model="bundled")
    assert "tokens of bundled" in result.facts["lengths"]
    assert result.ok
    task = load_task(tmp_path / "sums.yaml", {"train.sampling.max_new_tokens": 100_000})
    assert kinds(check(task, model="bundled")) == {("error", "lengths")}


def test_control_tokens_in_a_prompt_are_warnings(tmp_path):
    task = load_task(make_task(tmp_path).source, {"prompt.user": "{{ question }}<|end|> so"})
    (finding, *_) = check(task, model="bundled-tools").findings
    assert (finding.severity, finding.check) == ("warning", "control tokens")
    assert "'<|end|> so' in the prompt begins with a control token of bundled-tools" in str(finding)


def test_unavailable_hub_data_are_reported_as_not_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = check(load_task("math"))
    assert "cannot be loaded" in result.not_run["data"]
    assert result.ok
    assert "not run" in str(result)
    with pytest.raises(UsageError, match="no such file"):
        check(load_task("math", {"dataset.path": str(tmp_path / "absent.jsonl"), "dataset.split": {"train": 1.0}}))


def test_perturbations_of_a_gold_answer():
    assert dict(perturbations(["$1,000", "7"], 0)) == {
        "a number changed": "$2,000",
        "the sign changed": "-$1,000",
        "another row's": "7",
        "empty": "",
    }
    quantities = {"12 km": None, "12000 m": None, "€12": None, "12.0": None, "13 km": "13 km", "5000": "5000"}
    for other, expected in quantities.items():  # by the rules for units in docs/verdicts.md
        assert dict(perturbations(["12 km", other], 0)).get("another row's") == expected
    assert dict(perturbations(["zero", "zero", "one"], 0)) == {"another row's": "one", "empty": ""}
    assert not differs("\\dfrac{1}{2}", "\\frac12")
    assert not differs("1,000.0", "1000")
    assert differs("x^2", "x^3")


def test_a_shared_template_does_not_make_prompts_similar():
    template = "Use the numbers {}, {} and {}, each exactly once, with all four signs and brackets, to make {}."
    train = [template.format(a, a + 2, 9, a * 7) for a in range(40)]
    held_out = [template.format(a, a + 3, 9, a * 5) for a in range(50, 60)]
    assert list(overlaps(train, held_out)) == []
    assert [(pair.held_out, pair.train) for pair in overlaps(train, [*held_out, train[7]])] == [(10, 7)]


DATA = Path(os.environ.get("GRPO_ENV_DATA", "../shared/data"))


@pytest.mark.skipif(not (DATA / "math500.jsonl").exists(), reason=f"no data in {DATA}")
def test_math_has_no_findings():
    keys = {"dataset.path": str(DATA.resolve() / "math500.jsonl"), "dataset.split": {"train": 0.9, "eval": 0.1}}
    result = check(load_task("math", keys), limit=150)
    assert result.findings == []


@pytest.mark.parametrize("tolerance", [0.05, "{{ tolerance }}"])
def test_a_tolerance_raises_no_alarm_also_where_the_row_decides(tmp_path, tolerance):
    train, held_out = ([{**row(n), "tolerance": 0.05} for n in range(start, start + 4)] for start in (20, 30))
    verifiers = {"accuracy": {"weight": 1.0, "rel_tol": tolerance}}
    assert not kinds(check(make_task(tmp_path, train, held_out, verifiers=verifiers, cases=[])))


def test_an_appeal_is_heard_as_in_a_group_with_a_correct_completion(tmp_path):
    (tmp_path / "any_digit.py").write_text("def a_digit(completion):\n    return any(map(str.isdigit, completion))\n")
    parts = {"rule": {"use": "accuracy"}, "second": {"use": "any_digit.py:a_digit"}}
    verifiers = {"accuracy": {"use": "appeal", "of": parts}}
    cases = [{"completion": "<answer>6</answer>", "answer": "5", "accuracy": 0}]  # alone, as in a file of completions
    task = make_task(tmp_path, verifiers=verifiers, cases=cases)
    assert {kind for kind in kinds(check(task)) if kind[0] == "error"} == {("error", "gold")}
    assert audit(task, AuditRequest(limit=4)).exploits


@verifier("breaks")
@dataclass(frozen=True)
class Breaks(Verifier):
    """Raises."""

    def __call__(self, example, completion):
        raise AttributeError("no such thing")


def test_a_verifier_that_breaks_is_one_problem_and_gives_no_credit():
    keys = {"verifiers.accuracy": {"use": "breaks", "weight": 1.0}, "dataset.limit": {"train": 4, "eval": 4}}
    result = check(load_task("arithmetic", keys))
    lines = [line for line in str(result).splitlines() if "no such thing" in line and "gold" in line]
    assert len(lines) == 1
    assert "[error]: AttributeError: no such thing" in lines[0]
    assert lines[0].endswith("(and 7 other rows)")
    assert ": 0 with credit" in result.facts["gold"]


@verifier("stuck")
@dataclass(frozen=True)
class Stuck(Verifier):
    def __call__(self, example, completion):
        while "<answer>\n7\n<" in completion.text:
            pass
        return Score(1.0 if "44" in completion.text else 0.0)


def test_a_verifier_that_never_ends_is_a_finding(tmp_path):
    changes = {"verifiers": {"stuck": {"deadline": 0.2}}, "metric": "stuck", "cases": []}
    rows = {"train": [{"question": "3 + 4", "result": "7"}], "held_out": [{"question": "40 + 4", "result": "44"}]}
    findings = check(make_task(tmp_path, **rows, **changes)).findings
    what = [finding.what for finding in findings]
    assert "the gold answer '7' gets stuck 0.0 [timeout]: stuck did not end within 0.2 s" in what
    assert not any("gold answer '44'" in line for line in what)


@verifier("leaves")
@dataclass(frozen=True)
class Leaves(Verifier):
    def __call__(self, example, completion):
        os._exit(3)


def test_a_verifier_that_ends_its_process_is_a_finding(tmp_path):
    changes = {"verifiers": {"leaves": {}}, "metric": "leaves", "cases": [{"completion": "7", "leaves": 1}]}
    task = make_task(tmp_path, **changes)
    lines = str(check(task)).splitlines()
    ended = (
        "leaves None [error]: scoring ended its process, twice; fix dataset.answer or the verifier (and 8 other rows)"
    )
    assert any(line.startswith("error: gold") and line.endswith(ended) for line in lines)
    assert any(line.startswith("error: cases: ") and "leaves should be 1, but is None" in line for line in lines)
    with pytest.raises(UsageError, match="no gold answer gets full credit from leaves"):
        audit(task)


def test_a_model_that_is_missing_or_of_another_kind_is_an_error_with_its_key(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    folder = tmp_path / "empty"
    folder.mkdir()
    for model, message in {"no/model": "is not a folder, and cannot be", str(folder): "has no config.json"}.items():
        inner = {"of": {"rm": {"use": "reward_model", "model": model, "activation": "sigmoid"}, "exact_text": {}}}
        task = load_task("arithmetic", {"verifiers.any_of": inner})
        result = check(task)
        assert not result.ok
        (finding,) = result.findings
        assert (finding.check, finding.where) == ("verifiers", "verifiers.any_of.of.rm")
        assert f"model: {model} {message}" in finding.what
        assert "cases, data not run: a verifier cannot be used" in str(result)


@verifier("first_digit")
@dataclass(frozen=True)
class FirstDigit(Verifier):
    """Compares only the first digits, or nothing at all."""

    compares: bool = True

    def __call__(self, example, completion):
        digits = [re.findall(r"\d", text or "-") for text in (completion.text, example.answer)]
        return Score(float(not self.compares or digits[0][:1] == digits[1][:1]))


MIXED = [
    {"kind": "number", "question": "1,000 + 1,250?", "result": "2250"},
    {"kind": "number", "question": "2 + 3?", "result": "5"},
    {"kind": "date", "question": "The day after 5 March 2024?", "result": "2024-03-06"},
    {"kind": "choice", "question": "A prime: (A) 21, (B) 23?", "result": "B"},
]
SECOND_HALF = [{**row, "question": f"Once more: {row['question']}"} for row in MIXED]


def mixed_task(folder, other, **changes):
    """A task of letters and of other answers, which the verifier ``other`` judges."""
    parts = {"other": {"when": "{{ kind != 'choice' }}", **other}, "choice": {"when": "{{ kind == 'choice' }}"}}
    verifiers = {"verdict": {"use": "weighted_sum", "of": parts}}
    return make_task(folder, MIXED, MIXED[3:], **{"verifiers": verifiers, "metric": "verdict", "cases": []} | changes)


def gold_findings(task):
    return [finding for finding in check(task).findings if finding.check == "gold"]


def test_in_a_task_of_several_kinds_the_answers_of_each_are_perturbed(tmp_path):
    """By the verifiers that judge its row: letters by letters, numbers by numbers."""
    assert gold_findings(mixed_task(tmp_path, {"use": "accuracy"})) == []
    findings = gold_findings(mixed_task(tmp_path, {"use": "first_digit"}))
    assert {finding.severity for finding in findings} == {"error"}
    names = [finding.what.partition(" (")[2].partition(")")[0] for finding in findings]
    signs = ["the sign changed"] * 2
    assert names == ["a number changed", *signs, "another year", "day and month swapped"]  # which keep the first digit


def test_golds_of_several_forms_are_read_by_the_verifiers_of_their_rows(tmp_path):
    task = mixed_task(tmp_path, {"use": "accuracy", "golds": "any"})
    listed = [{**row, "result": f'["{row["result"]}", "none"]'} if row["kind"] != "choice" else row for row in MIXED]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed))
    assert gold_findings(task) == []


def test_a_metric_that_ignores_some_gold_answers_is_checked_with_the_others(tmp_path):
    task = mixed_task(tmp_path, {"use": "first_digit", "compares": False})
    (finding,) = gold_findings(task)
    assert (finding.severity, finding.where) == ("warning", "train.jsonl, line 1")
    assert "gives full credit to any answer, without the gold answer, in 3 of 5 rows" in finding.what


@verifier("some_rows")
@dataclass(frozen=True)
class SomeRows(Verifier):
    """Does not apply to a kind of rows."""

    kind: str = "choice"

    def __call__(self, example, completion):
        if example.info["kind"] == self.kind:
            return Score(None, "not_applicable", explanation=f"not for {self.kind}")
        return Score(1.0)


@pytest.mark.parametrize(
    ("kind", "severity", "count"), [("date", "error", 1), ("number", "error", 2), ("absent", None, 0)]
)
def test_gold_answers_without_a_total_are_found(tmp_path, kind, severity, count):
    verifiers = {"accuracy": {}, "some_rows": {"kind": kind, "weight": 0.1}}
    task = make_task(tmp_path, MIXED, SECOND_HALF[3:], verifiers=verifiers, cases=[])
    findings = gold_findings(task)
    assert [finding.severity for finding in findings] == [severity] * count
    for finding in findings:
        assert f"is unscored [not_applicable]: some_rows: not for {kind}; fix the verifier" in str(finding)
    assert (f"; {count} without a total" in check(task).facts["gold"]) == bool(count)
    if count:
        lenient = {**task.spec.train, "max_unscored_fraction": count / 5}
        task = load_task(task.source, {"train": lenient})
        assert {finding.severity for finding in gold_findings(task)} == {"warning"}


def test_rows_that_a_nested_metric_does_not_judge_are_counted(tmp_path):
    outer = {"use": "weighted_sum", "when": "{{ kind == 'number' }}", "of": {"accuracy": {}}}
    task = make_task(tmp_path, MIXED, SECOND_HALF[3:], verifiers={"outer": outer, "tag_count": {}}, cases=[])
    assert "accuracy judges 2 of them (when)" in check(task).facts["gold"]
    assert gold_findings(task) == []
