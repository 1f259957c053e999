"""A few completions in the terminal: by reason, frequent ones first, and nothing that steers the terminal."""

import json

import pytest
from typer.testing import CliRunner

from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.results import excerpts as module
from grpo_env.results.excerpts import excerpts


def with_reasons(row, *reasons):
    """Wrong completions with these reasons, and a right one before them."""
    rows = [row(n, 0, float(reason is None)) for n, reason in enumerate([None, *reasons])]
    for made, reason in zip(rows[1:], reasons, strict=True):
        made["parts"]["accuracy"]["explanation"] = reason
    return rows


def names(lines):
    return [line.split(",")[0].strip() for line in lines if "completion 0" in line]


def headings(lines):
    return [line.strip() for line in lines if " x " in line]


@pytest.mark.parametrize(
    ("limit", "reasons", "shown", "more"),
    [
        (1, ["3 x often"], ["q2"], 2),
        (2, ["3 x often", "2 x twice"], ["q2", "q5"], 1),
        (3, ["3 x often", "2 x twice", "1 x rare"], ["q2", "q5", "q1"], 0),
        (7, ["3 x often", "2 x twice", "1 x rare"], ["q2", "q3", "q5", "q6", "q1"], 0),
    ],
)
def test_the_first_completions_of_each_reason_are_shown_frequent_reasons_first(row, limit, reasons, shown, more):
    lines = list(excerpts(with_reasons(row, "rare", "often", "often", "often", "twice", "twice"), limit))
    assert lines[0] == "6 of 7 completions: accuracy below 1, or unscored"
    assert (headings(lines), names(lines)) == (reasons, shown)
    assert (f"{more} more reason" in lines[-1]) == (more > 0)


def test_a_completion_is_shown_with_its_question_the_end_of_its_text_answer_and_gold(row):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2+2?"}]
    (made,) = with_reasons(row, "why not")[1:]
    made |= {"id": "9", "line": 9, "prompt": chat, "text": "x" * 500 + " the end"}
    lines = list(excerpts([made], 5))
    assert lines[1:4] == ["\n1 x why not", "  line 9, completion 0, accuracy 0", "  question What is 2+2?"]
    assert lines[4].startswith("  text     …xxx")
    assert lines[4].endswith("x the end")
    assert lines[5] == "  answer   '4', gold '4'"


def test_a_prompt_that_is_no_chat_is_shown_as_it_is(row):
    (made,) = with_reasons(row, "why not")[1:]
    assert "  question [{'content': '2+2?'}]" in list(excerpts([made | {"prompt": [{"content": "2+2?"}]}], 5))


def test_completions_whose_label_is_not_the_verdict_are_shown_with_it(row):
    rows = with_reasons(row, "missed", "rightly refused", "without a label")  # the first one, q0, is right
    for made, label in zip(rows, (False, True, False), strict=False):
        made["label"] = label
    lines = list(excerpts(rows, 4, disagrees=True))
    assert lines[0] == "2 of 4 completions: a verdict that is not their label"
    assert names(lines) == ["q0", "q1"]
    assert any("accuracy 1, labelled wrong" in line for line in lines)
    assert any("accuracy 0, labelled right" in line for line in lines)
    assert names(excerpts(rows, 4, "missed", disagrees=True)) == ["q1"]


def test_completions_with_a_given_reason_are_shown_right_or_wrong(row):
    rows = with_reasons(row, "a different number", "a different unit", "a different number")
    rows[0]["parts"]["accuracy"]["explanation"] = "the same number"
    lines = list(excerpts(rows, 4, "number"))
    assert lines[0] == "3 of 4 completions: a reason with 'number'"
    assert (headings(lines), names(lines)) == (["2 x a different number", "1 x the same number"], ["q1", "q3", "q0"])


def test_unscored_completions_files_without_texts_and_many_reasons(row, monkeypatch):
    monkeypatch.setattr(module, "MAX_REASONS", 2)
    bare = {key: value for key, value in row(0, 0, None).items() if key not in ("text", "prompt")}
    assert list(excerpts([bare], 5))[1:] == [
        "\n1 x gold is not a number", "  q0, completion 0, accuracy unscored [bad_gold]", "  answer   '4', gold '4'"
    ]  # fmt: skip
    lines = list(excerpts(with_reasons(row, "a", "b", "c", "c"), 5))
    assert headings(lines) == ["1 x a", "1 x b"]
    assert "1 more reason" in lines[-1]


def test_a_right_completion_whose_total_is_unscored_is_shown_with_both_reasons(row):
    rows = [row(0, 0, 1.0), row(1, 0, 1.0)]
    rows[1] |= {"total": None, "status": "error", "explanation": "tidy: ValueError: no room"}
    rows[1]["parts"]["accuracy"]["explanation"] = "the same number"
    lines = list(excerpts(rows, 5))
    assert lines[0] == "1 of 2 completions: accuracy below 1, or unscored"
    assert headings(lines) == ["1 x total unscored, tidy: ValueError: no room; the same number"]
    assert names(lines) == names(excerpts(rows, 5, "same number")) == ["q1"]


def test_the_command_shows_texts_that_cannot_steer_the_terminal(row, tmp_path):
    hostile = "\x1b[31m\u202e\r"
    rows = with_reasons(row, hostile)
    rows[1] |= {"text": hostile, "prompt": hostile, "id": hostile}
    rows[1]["parts"]["accuracy"] |= {"answer": hostile, "gold": hostile}
    scores = tmp_path / "scores.jsonl"
    scores.write_text("".join(json.dumps(made) + "\n" for made in rows))
    done = CliRunner().invoke(app, ["view", "show", str(scores)])
    assert done.exit_code == 0, done.output
    assert "1 of 2 completions" in done.stdout
    assert not set("\x1b\u202e\r") & set(done.output)
    scores.write_text('{"completion": "4"}\n')
    assert isinstance(CliRunner().invoke(app, ["view", "show", str(scores)]).exception, UsageError)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_1(limit, tmp_path):
    assert CliRunner().invoke(app, ["view", "show", "x", "--limit", str(limit)]).exit_code == 2
