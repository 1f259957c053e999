"""Scoring rows: columns and selectors, bad rows, and the same scores from any number of processes."""

import io
import json
import math
from ast import literal_eval
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env.core import Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import verifier
from grpo_env.results.part_scores import named_scores
from grpo_env.rows.reader import Record
from grpo_env.scoring import Fields, ScoreSummary, score_records, score_row, select
from grpo_env.scoring.columns import label_value
from grpo_env.scoring.group_advantages import Advantage
from grpo_env.scoring.summary_table import print_summary
from grpo_env.taskfile.task import load_task, make_task

SUMS = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "rows.jsonl", "answer": "{{ answer }}"},
    "prompt": {"user": "{{ question }}"},
    "verifiers": {
        "accuracy": {"weight": 2.0},
        "steps": {"use": "equation_steps", "weight": 0.0, "process": 1.0},
    },
    "metric": "accuracy",
}


@pytest.fixture
def task(tmp_path):
    return make_task(SUMS, "sums.yaml", tmp_path)


def score_one_row(task, row, fields=None):
    (result,) = score_records(task, fields or Fields(), [Record(7, row)])
    return result


def test_one_completion_and_a_group(task):
    single = score_one_row(task, {"id": "a", "answer": "5", "completion": "The answer is 5"})
    assert (single.id, single.row.line, [score.value for score in single.scores]) == ("a", 7, [2.0])
    group = score_one_row(task, {"answer": "5", "completions": ["#### 5", "#### 6"]})
    assert (group.id, [score.value for score in group.scores]) == ("7", [2.0, 0.0])


@verifier("test_sees")
@dataclass(frozen=True)
class Sees(Verifier):
    """Reports its inputs in the explanation."""

    needs_prompt = True

    def __call__(self, example, completion):
        return Score(
            1.0,
            explanation=repr(
                (
                    tuple(map(tuple, example.prompt)) if isinstance(example.prompt, tuple) else example.prompt,
                    completion.finish,
                    completion.num_tokens,
                )
            ),
        )


@pytest.fixture
def spy_task(tmp_path):
    data = {**SUMS, "verifiers": {"both": {"use": "any_of", "of": {"test_sees": {}}}}, "metric": "both"}
    return make_task(data, "sums.yaml", tmp_path)


def inputs_seen(task, row):
    result = score_one_row(task, {"answer": "5", **row})
    return result.problem or [literal_eval(score.part("test_sees").explanation) for score in result.scores]


@pytest.mark.parametrize(
    ("row", "selector", "id"),
    [
        ({"id": None}, None, "7"),
        ({"id": math.nan}, None, "7"),
        ({"id": 3}, None, "3"),
        ({}, None, "7"),
        ({"k": None}, "k", "7"),
        ({"k": None}, "{{ k }}", "7"),
        ({"k": "None"}, "{{ k }}", "None"),
    ],
)
def test_an_id_that_is_null_is_the_line(task, row, selector, id):
    assert score_one_row(task, {"answer": "5", "completion": "5", **row}, Fields(id=selector)).id == id


def test_finish_reason_and_num_tokens_are_read_for_each_completion(spy_task):
    row = {"prompt": "p", "completions": ["a", "b"], "finish_reason": ["length", "tool"], "num_tokens": [3, 1]}
    assert inputs_seen(spy_task, row) == [("p", "length", 3), ("p", "unknown", 1)]
    for number, read in (("7", 7), (7.0, 7), ("7.0", 7), (math.nan, None), (None, None)):
        row_of_one = {"prompt": "p", "completion": "a", "num_tokens": number}
        assert inputs_seen(spy_task, row_of_one) == [("p", "unknown", read)]
    assert "num_tokens: 1 values for 2 completions" in inputs_seen(spy_task, {**row, "num_tokens": [1]})
    assert inputs_seen(spy_task, {"prompt": "p", "completion": "a", "num_tokens": ""}) == [("p", "unknown", None)]
    for number in (-1, True, 2**31, "9" * 5000, 7.5):
        message = f"num_tokens must be a count of tokens, found {number!r}"[:100]
        assert message in inputs_seen(spy_task, {**row, "num_tokens": [1, number]})


@pytest.mark.parametrize("text", ["9\n</think>\n<answer>5</answer>", "<think>9\n</think>\n<answer>5</answer>"])
def test_the_prefill_counts_once_whether_or_not_the_text_repeats_it(tmp_path, text):
    data = {**SUMS, "format": {"prefill": "<think>\n"}, "verifiers": {"strict_format": {}}, "metric": "strict_format"}
    task = make_task(data, "sums.yaml", tmp_path)
    assert score_one_row(task, {"answer": "5", "completion": text}).scores[0].value == 1.0


def test_token_ids_are_read_for_each_completion(spy_task):
    row = {"prompt": "p", "completions": ["a", "b"]}
    assert inputs_seen(spy_task, {**row, "token_ids": [[5, 6, 7], [8]]}) == [("p", "unknown", 3), ("p", "unknown", 1)]
    assert inputs_seen(spy_task, {"prompt": "p", "completion": "a", "token_ids": [5, 6]}) == [("p", "unknown", 2)]
    assert "for each of the 2 completions" in inputs_seen(spy_task, {**row, "token_ids": [5, 6, 7]})
    assert "lists of whole numbers" in inputs_seen(spy_task, {**row, "token_ids": [5, 6]})


def test_a_verifier_gets_the_prompt_of_the_row_or_else_that_of_the_task(spy_task):
    chat = [{"role": "user", "content": "2+3?"}]
    assert inputs_seen(spy_task, {"prompt": chat, "question": "no", "completion": "a"})[0][0] == (("user", "2+3?"),)
    assert inputs_seen(spy_task, {"question": "2+3?", "completion": "a"})[0][0] == (("user", "2+3?"),)
    assert "no column 'prompt', and the task's template" in inputs_seen(spy_task, {"completion": "a"})


QUESTION = [{"role": "user", "content": "2+3?"}]
REPLY = [{"role": "assistant", "content": "5"}]


@pytest.mark.parametrize(
    ("prompt", "row", "recorded"),
    [
        ({"user": "{{ question }}"}, {"prompt": QUESTION, "completion": "5"}, True),
        ({"user": "{{ question }}"}, {"prompt": "2+3?", "completion": "5"}, True),
        ({"user": "{{ question }}"}, {"completion": [*QUESTION, *REPLY]}, True),
        ({"user": "{{ question }}"}, {"question": "2+3?", "completion": "5"}, False),
        ({"user": "{{ question }}"}, {"question": "2+3?", "completion": REPLY}, False),
        ({"text": "{{ question }}="}, {"question": "2+3", "completion": "5"}, False),
        ({"messages": "chat"}, {"chat": QUESTION, "completion": "5"}, True),
        ({"messages": "chat", "system": "Think."}, {"chat": QUESTION, "completion": "5"}, False),
        ({"user": "{{ question }}"}, {"completion": "5"}, None),  # no prompt at all
    ],
)
def test_a_score_row_says_whether_the_file_had_the_prompt(tmp_path, prompt, row, recorded):
    task = make_task({**SUMS, "prompt": prompt}, "sums.yaml", tmp_path)
    result = score_one_row(task, {"answer": "5", **row})
    made = score_row(task, result, 0)
    assert (made.get("prompt_recorded"), "prompt" not in made) == (recorded, recorded is None)
    assert "prompt_recorded" not in score_row(task, result, 0, text=False)


def test_fields_are_mapped_by_column_path_and_template(task):
    row = {"k": 1, "gold": "x = #### 5", "2b": {"text": ["#### 4", "#### 5"], "ok": [False, True]}}
    fields = Fields(
        completion=("2b.text.0", "2b.text.1"),
        answer="{{ gold.split('####')[-1] | trim }}",
        id="q{{ k }}",
        label=("2b.ok.0", "2b.ok.1"),
    )
    result = score_one_row(task, row, fields)
    assert (result.id, [score.value for score in result.scores], result.row.labels) == ("q1", [0.0, 2.0], (False, True))


@pytest.mark.parametrize(
    ("row", "fields", "problem"),
    [
        ({"answer": "5"}, Fields(), "no field 'completion'"),
        ({"answer": "5", "completions": []}, Fields(), "no completions"),
        ({"answer": "5", "completion": 5}, Fields(), "found int"),
        ({"completion": "5"}, Fields(), "unknown field 'answer'"),
        ({"answer": "", "completion": "5"}, Fields(), "accuracy"),
        ({"answer": None, "completion": "None"}, Fields(), "accuracy: the gold answer is missing"),
        ({"answer": math.nan, "completion": "nan"}, Fields(), "the gold answer is missing"),
        ({"answer": "5", "a": None, "completion": "None"}, Fields(answer="a"), "the gold answer is missing"),
        ({"answer": "5", "a": math.nan, "completion": "NaN"}, Fields(answer="a"), "the gold answer is missing"),
        ({"answer": "5", "a": None, "completion": "None"}, Fields(answer="{{ a }}"), "the gold answer is missing"),
        ({"answer": "5", "completion": "5", "y": 2}, Fields(label=("y",)), "a label must be"),
        ({"answer": "5", "completion": "5", "y": [True, True]}, Fields(label=("y",)), "2 labels for 1 completions"),
        ({"answer": "5", "text": "5"}, Fields(completion=("txt",)), "did you mean 'text'?"),
        ({"answer": "5", "a": [{"b": 1}]}, Fields(completion=("a.1.b",)), "the value there is a list"),
    ],
)
def test_a_row_that_cannot_be_scored_has_a_problem(task, row, fields, problem):
    result = score_one_row(task, row, fields)
    assert problem in result.problem
    assert result.scores == ()


def test_verifiers_see_the_finish_reason(tmp_path):
    @verifier("test_scoring_finish")
    @dataclass(frozen=True)
    class WasCut(Verifier):
        def __call__(self, example, completion):
            return Score(float(completion.finish == "length"))

    data = {**SUMS, "verifiers": {"cut": {"use": "test_scoring_finish"}}, "metric": "cut"}
    task = make_task(data, "x.yaml", tmp_path)
    values = {
        reason: score_one_row(task, {"answer": "5", "completion": "x", "finish_reason": reason}).scores[0].value
        for reason in ("stop", "length", "content_filter")
    }
    assert values == {"stop": 0.0, "length": 1.0, "content_filter": 0.0}


def test_a_score_row_has_everything_needed_to_recompute_the_total(task):
    text = "2+2=4\n2+3=6\n#### 5"
    row = score_row(task, score_one_row(task, {"answer": "5", "completion": text}), 0)
    assert json.loads(json.dumps(row)) == row
    assert row["total"] == sum(part["weight"] * part["value"] for part in row["parts"].values())
    assert (row["parts"]["accuracy"]["answer"], row["parts"]["accuracy"]["gold"]) == ("5", "5")
    steps = [(text[step["start"] : step["end"]], step["value"]) for step in row["steps"]]
    assert steps == [("2+2=4", 1.0), ("2+3=6", 0.0), (text, 2.0)]


def test_steps_that_say_no_more_than_the_total_are_left_out(task):
    """Without an equation both parts count once, for the whole text: accuracy as much as in the total."""
    result = score_one_row(task, {"answer": "5", "completion": "#### 5"})
    (score,) = result.scores
    assert (score.value, [(step.start, step.end, step.value) for step in score.steps]) == (2.0, [(0, 6, 2.0)])
    assert "steps" not in score_row(task, result, 0)
    with_advantage = score_row(task, result, 0, advantage=Advantage(0.5, [0.25]))
    assert [step["value"] for step in with_advantage["steps"]] == [2.0]
    other = make_task({**SUMS, "verifiers": {"accuracy": {"weight": 2.0, "process": 1.0}}}, "x.yaml", Path("."))
    row = score_row(other, score_one_row(other, {"answer": "5", "completion": "#### 5"}), 0)
    assert (row["total"], [step["value"] for step in row["steps"]]) == (2.0, [1.0])


@pytest.mark.parametrize("answer", ["#### 5", "#### 6", "nothing"])
def test_a_score_row_has_no_nulls_and_what_it_leaves_out_is_read_again(tmp_path, answer):
    verifiers = {
        **SUMS["verifiers"],
        "tidy": {"use": "tag_count", "weight": 0.0},
        "rare": {"use": "tag_count", "when": "{{ rare }}"},
        "both": {"use": "all_of", "of": {"same": {"use": "accuracy"}, "form": {"use": "strict_format"}}, "weight": 0.5},
    }
    task = make_task({**SUMS, "verifiers": verifiers}, "sums.yaml", tmp_path)
    result = score_one_row(task, {"answer": "5", "completion": f"2+2=4\n{answer}", "rare": "false"})
    (score,) = result.scores
    made = json.loads(json.dumps(score_row(task, result, 0)))
    assert "null" not in json.dumps({**made, "total": 0})
    assert made["parts"]["rare"] == {"status": "left_out"}
    assert (made["parts"]["steps"]["process"], "process" in made["parts"]["accuracy"]) == (1.0, False)
    read = named_scores(made)
    assert read["both.same"].value == score.part("same").value
    for part in score.parts:
        seen = read[part.name]
        for name in ("value", "status", "weight", "process", "answer", "gold", "kind", "rule"):
            assert getattr(seen, name) == getattr(part, name), (part.name, name)


def test_the_summary_counts_agreement_both_ways(task):
    rows = [("#### 5", True), ("#### 5", False), ("#### 6", True), ("#### 6", False), ("#### 5", True)]
    summary = ScoreSummary()
    for text, label in rows:
        summary.add(
            score_one_row(task, {"answer": "5", "completion": text, "y": label}, Fields(label=("y",))), "accuracy"
        )
    summary.add(score_one_row(task, {"answer": "5"}), "accuracy")
    assert (summary.rows, summary.bad_rows, summary.completions, summary.labeled) == (6, 1, 5, 5)
    assert (summary.false_positives, summary.false_negatives) == (1, 1)
    assert summary.mean("accuracy") == pytest.approx(3 / 5)
    assert summary.mean("absent") is None


def test_select_prefers_a_whole_column_name_over_a_path(task):
    assert select({"a.b": 1, "a": {"b": 2}}, "a.b", task) == 1
    with pytest.raises(UsageError, match="the value there is a int"):
        select({"a": 1}, "a.b", task)


def test_a_gsm8k_solution_scores_1_against_itself():
    task = load_task("gsm8k")
    solution = "He has 48/2=<<48/2=24>>24.\nTogether 48+24=<<48+24=72>>72.\n#### 72"
    result = score_one_row(task, {"answer": solution, "completion": solution, "question": "?"})
    assert result.scores[0].part("accuracy").value == 1.0
    assert [step.value for step in result.scores[0].part("equations").steps] == [1.0, 1.0]


@pytest.mark.parametrize("label", [True, 1, "1", "true", "TRUE", "True", " true "])
def test_a_label_can_be_written_as_spreadsheets_and_pandas_write_it(label: object) -> None:
    assert label_value(label) is True


@pytest.mark.parametrize("label", [False, 0, "0", "false", "FALSE", "False", -1, -1.0, "-1"])
def test_a_false_label_is_not_read_as_a_text_that_is_not_empty(label: object) -> None:
    assert label_value(label) is False


@pytest.mark.parametrize("label", ["", "yes", "2", 2, 0.5, None, [True]])
def test_what_is_no_label_is_an_error(label: object) -> None:
    with pytest.raises(UsageError, match="a label must be true, false, 1, 0 or -1"):
        label_value(label)


def test_a_reason_is_told_on_one_line_and_shortened(task):
    summary, console = ScoreSummary(), Console(file=io.StringIO(), width=400)
    result = score_one_row(task, {"answer": "5", "completion": "#### 5"})
    failed = Score(None, "error", explanation="two\nlines " + "x" * 5000, name=task.metric)
    summary.add(result._replace(scores=(failed,)), task.metric)
    print_summary(summary, task, console, seconds=1.0, completions_before=0)
    (line,) = [line for line in console.file.getvalue().splitlines() if "the first reason is" in line]
    assert "error: two\\nlines xxx" in line
    assert len(line) < 400


def test_a_metric_that_is_0_for_one_reason_everywhere_is_said_to_be(task):
    def said(completions):
        summary = ScoreSummary()
        for completion in completions:
            summary.add(score_one_row(task, {"answer": "5", "completion": completion}), task.metric)
        merged = ScoreSummary.from_dict(json.loads(json.dumps(vars(summary))))
        console = Console(file=io.StringIO(), width=400)
        print_summary(merged, task, console, seconds=1.0, completions_before=0)
        return "is 0 for all" in console.file.getvalue()

    assert said(["#### 6"] * 3)
    assert not said(["#### 6", "no answer at all"])
    assert not said(["#### 6", "#### 5"])
    assert not said(["#### 6"])
