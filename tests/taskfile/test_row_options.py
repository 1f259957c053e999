"""Options of verifiers that are templates of the row."""

import pickle
import re
import textwrap

import pytest
from typer.testing import CliRunner

from grpo_env.cli.app import app
from grpo_env.core import Completion, Example, Group, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task, make_task
from grpo_env.verifiers.accuracy import Accuracy


def task_of(tmp_path, **verifiers):
    (tmp_path / "rows.jsonl").write_text('{"q": "?", "a": "10"}\n')
    spec = {
        "version": 1,
        "task": "rows",
        "dataset": {"path": "rows.jsonl", "split": {"train": "train", "eval": "eval"}, "answer": "{{ a }}"},
        "prompt": {"user": "{{ q }}"},
        "verifiers": verifiers,
        "metric": next(iter(verifiers)),
    }
    return make_task(spec, "rows.yaml", tmp_path)


def value(task, text, **row):
    return task.score(text, answer="10", info=row).part(task.metric).value


def test_each_row_has_its_own_options(tmp_path):
    task = task_of(tmp_path, numeric={"rel_tol": "{{ tolerance }}", "sources": "{{ [source] }}"})
    for copy in (task, pickle.loads(pickle.dumps(task))):
        assert value(copy, "<answer>10.5</answer>", tolerance=0.1, source="answer_tag") == 1
        assert value(copy, "<answer>10.5</answer>", tolerance=0.01, source="answer_tag") == 0
        assert value(copy, "<answer>10.5</answer>", tolerance="0.1", source="boxed") == 0


def test_lists_are_read_as_yaml_and_texts_as_they_are(tmp_path):
    task = task_of(tmp_path, keywords={"keywords": "{{ words | tojson }}", "where": "all"})
    assert value(task, "There were one or two, and then six of us.", words=["one", "two"]) == 0.2
    assert value(task, "There were one or two, and then six of us.", words=["six"]) == 0.1
    task = task_of(tmp_path, choice={"letters": "{{ letters }}"})
    assert value(task, "<answer>10</answer>", letters="12") is None  # as YAML, a number


def test_more_rows_than_verifiers_are_kept(tmp_path):
    task = task_of(tmp_path, numeric={"abs_tol": "{{ n }}"})
    for _ in range(2):
        assert [value(task, f"<answer>{10 + n}</answer>", n=n) for n in range(300)] == [1] * 300
    assert value(task, "<answer>13</answer>", n=2) == 0


def test_options_that_are_not_valid_are_errors_of_their_rows(tmp_path):
    task = task_of(tmp_path, numeric={"rel_tol": "{{ tolerance }}"})
    for row, why in [({"tolerance": "much"}, "number"), ({"tolerance": -1}, "rel_tol"), ({}, "unknown field")]:
        score = task.score("<answer>10</answer>", answer="10", info=row)
        assert (score.value, score.status) == (None, "error")
        assert why in score.explanation
        with pytest.raises(UsageError, match=why):
            task.verifier.problem(Example("x", answer="10", info=row))
    assert task.verifier.problem(Example("x", answer="ten?", info={"tolerance": 0.1}))  # of the gold answer itself


@pytest.mark.parametrize(
    ("verifier", "options", "deadline"),
    [
        ("accuracy", {"rel_tol": "{{ tolerance }}"}, Accuracy().default_deadline),
        ("python_tests", {"timeout": "{{ seconds }}", "deadline": 500}, 800),
        ("python_tests", {"deadline": 500}, 800),
        ("keywords", {"keywords": "{{ words }}"}, 120),  # which has no value without a row
    ],
)
def test_the_default_deadline_is_that_of_the_verifier(tmp_path, verifier, options, deadline):
    (part,) = task_of(tmp_path, **{verifier: options}).verifier.parts
    assert (part.deadline, part.verifier.default_deadline) == (None, deadline)


def test_group_verifiers_compare_the_completions_of_a_row(tmp_path):
    task = task_of(tmp_path, majority={"rel_tol": "{{ tolerance }}"})
    assert task.scores_groups
    texts = [Completion("10"), Completion("11")]
    groups = [Group(Example("x", info={"tolerance": tolerance}), texts) for tolerance in (0.0, 0.2)]
    assert [[score.value for score in scores] for scores in score_groups(task.verifier, groups)] == [
        [0.0] * 2,
        [1.0] * 2,
    ]


@pytest.mark.parametrize(
    ("verifier", "message"),
    [
        ({"use": "reward_model", "model": "{{ name }}"}, "reward.model: a template of the row is not possible here"),
        ({"use": "numeric", "tol": "{{ t }}"}, "unknown key"),
        ({"rel_tol": "{{ t }}", "tol": 1}, r"^rows.yaml: verifiers.numeric.tol: unknown key"),
        (
            {"rel_tol": "{{ t }}", "sources": ["box"]},
            r"^rows.yaml: verifiers.numeric.sources.*: Input should be .*, got 'box'",
        ),
        (
            {"use": "keywords", "keywords": ["a", "{{ t }}"]},
            r"^rows.yaml: verifiers.reward.keywords.1: .* as one template, with tojson: "
            r'keywords: "\{\{ ... \| tojson \}\}"$',
        ),
        (
            {"use": "weighted_sum", "of": {"own": {"use": "tag_count", "format": {"reasoning": "{{ t }}"}}}},
            "verifiers.reward.of.own.format.reasoning: a template is not filled",
        ),
        ({"rel_tol": "{{ t }"}, "^rows.yaml: verifiers.numeric.rel_tol: template line 1: unexpected '}'"),
        ({"when": "{{ t = 1 }}"}, "^rows.yaml: verifiers.numeric.when: .* got '=': '{{ t = 1 }}'; compare with =="),
    ],
)
def test_what_cannot_be_a_template(tmp_path, verifier, message):
    with pytest.raises(UsageError, match=message):
        task_of(tmp_path, **{"reward" if "use" in verifier else "numeric": verifier})


def test_a_misspelled_column_is_an_error_also_where_bad_golds_are_skipped(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"q": "?", "a": "10", "tol": 0.1}\n' * 3)
    task = """
        version: 1
        task: rows
        dataset: {path: rows.jsonl, split: {train: 1.0}, answer: "{{ a }}", bad_gold: skip}
        prompt: {user: "{{ q }}"}
        verifiers: {numeric: {rel_tol: "{{ tolerance }}"}}
        metric: numeric
    """
    (tmp_path / "rows.yaml").write_text(textwrap.dedent(task))
    message = "rows.jsonl, line 1: verifiers.numeric.rel_tol: template '{{ tolerance }}' uses the unknown field"
    with pytest.raises(UsageError, match=re.escape(message)):
        load_task(tmp_path / "rows.yaml").examples("train")
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "rows.yaml")])
    assert checked.exit_code == 1
    assert "unknown field 'tolerance'" in checked.output
    (tmp_path / "answers.jsonl").write_text('{"a": "10", "completion": "<answer>10</answer>"}\n')
    scored = CliRunner().invoke(app, ["score", str(tmp_path / "rows.yaml"), str(tmp_path / "answers.jsonl")])
    assert scored.exit_code == 1
    assert "unknown field 'tolerance'" in scored.output
