"""What a report says of files made by hand: its numbers, its warnings, what it refuses, what the command writes."""

import json
import re

import pytest
from typer.testing import CliRunner

from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.results.report import make_report
from grpo_env.results.report.reward_warnings import findings


def write(path, made):
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    return path


# What it says


def test_the_numbers_of_a_small_file(rows):
    report = make_report(rows)
    assert (report.task, report.metric, report.completions, report.groups, report.input_rows) == (
        "sums",
        "accuracy",
        10,
        5,
        5,
    )
    assert (report.unscored, report.cut, report.finish_known) == (2, 0, 10)
    assert report.accuracy.value == 4 / 8
    assert report.reward.value == (1 + 2 + 3 + 3 + 0 + 0 + 1 + 1) / 8
    assert report.kinds == {"mixed": 1, "all right": 1, "all wrong": 1, "starved": 2}
    assert (report.dropped, report.contrasted, report.misranked) == (8, 2, 1)
    assert report.pass_at[1].value == (0.5 + 1 + 0 + 0.5) / 4
    assert report.pass_at[2].value == 3 / 4
    assert report.maj_at[2].value == (0.5 + 1 + 0 + 0.5) / 4  # all say 4: the vote is as right as they are
    # Rewards 1 2 3 3 0 0 1 1: mean 11/8, sum of squares 25 - 121/8 = 79/8. Accuracy has with them 8 - 4 * 11/8 = 5/2.
    assert {part.name: part.variance_share for part in report.parts} == pytest.approx(
        {"accuracy": 20 / 79, "tidy": 59 / 79}
    )
    assert report.length.unit == "characters"


def test_length_is_in_tokens_where_every_row_has_a_count(rows):
    counted = [one | {"num_tokens": 7} for one in rows]
    made = make_report(counted)
    assert (made.length.unit, made.length.mean) == ("tokens", 7)
    assert make_report([rows[0], *counted[1:]]).length.unit == "characters"


def test_warnings_say_what_is_wrong_with_numbers(rows):
    seen = " / ".join(finding.seen for finding in findings(make_report(rows)))
    for words in (
        "20% of the completions are unscored; first reasons: accuracy: gold is no number",
        "in 50% of the groups with right and wrong completions a wrong one earns more than a right one",
        "tidy pays 0.75 of the reward's variance",
        "80% of the groups carry no signal: all their rewards are equal (1 all wrong, 1 all right, 2 starved)",
        "40% of the groups are starved",
    ):
        assert words in seen


def test_a_sound_reward_is_silent(row):
    made = [row(p, c, float(c), 0.5 + 0.5 * c, text="so it is 4", steps=[]) for p in range(30) for c in range(2)]
    made = [
        one | {"parts": {"accuracy": one["parts"]["accuracy"]}, "total": one["parts"]["accuracy"]["value"]}
        for one in made
    ]
    assert findings(make_report(made)) == []
    assert "No warnings" in make_report(made).html


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one, at: {"finish_reason": "length" if at % 9 == 0 else "stop"}, "11% of the completions were cut"),
        (lambda one, at: {"seconds": 9.0 if at == 3 else 0.001}, "slowest 1 % of the verdicts take 98% of the time"),
        (lambda one, at: {"label": at % 2 == 0}, "accuracy disagrees with 100% of the labels"),
        (lambda one, at: {"text": "x" * (5 + 90 * (at % 2))}, "accuracy and length correlate at 1.00: longer"),
    ],
)  # fmt: skip
def test_each_other_warning_has_its_cause(row, change, words):
    made = [row(at // 2, at % 2, float(at % 2), 0.0, text="4") for at in range(180)]
    made = [one | change(one, at) for at, one in enumerate(made)]
    seen = [finding.seen for finding in findings(make_report(made))]
    assert any(words in one for one in seen), seen
    assert any("tidy never varies: it is 0 for all 180 completions" in one for one in seen)


def test_steps_have_a_profile_and_a_colour(rows):
    steps = [
        {"start": 0, "end": 2, "value": 1.0, "explanation": "fine"},
        {"start": 3, "end": 5, "value": 0.0, "explanation": ""},
    ]
    for one in rows:
        one["parts"]["tidy"]["steps"] = steps
    report = make_report(rows)
    (profile,) = report.steps
    assert (profile.part, profile.completions, profile.steps, profile.lowest, profile.highest) == ("tidy", 10, 20, 0, 1)
    assert profile.by_position == (None, 1, None, 0, None)
    assert profile.by_index == (1, 0)
    assert '<span class="step v4" title="tidy: fine">so</span><sup class="v4">1</sup>' in report.html


# What can be wrong with a file


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda row: [], "no scores in it"),
        (lambda row: [{"id": 1}], "line 1: no key 'completion'"),
        (lambda row: [{**row(0, 0, 1), "group": None}], "has no 'group'; score the file anew"),
        (lambda row: [row(0, 0, 1), {**row(1, 0, 1), "metric": "other"}], "two tasks, sums (by accuracy) and"),
        (lambda row: [row(0, 0, 1), row(1, 0, 1), row(0, 1, 1)], "the rows of group 'g0' are not together"),
        (lambda row: [{**row(0, 0, 1), "parts": {"accuracy": {}}}], "1 is not as grpo_env score writes it (KeyError"),
        (lambda row: [{**row(0, 0, 1), "total": "1"}], "completion 1 is not as grpo_env score writes it (TypeError"),
        (lambda row: [{**row(0, 0, 1), "total": float("nan")}], "nan is no finite number"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_of_scores_is_refused(row, tmp_path, made, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        make_report(write(tmp_path / "scores.jsonl", made(row)))


def test_no_texts_no_answers_no_rewards_no_groups(row, rows):
    bare = [{key: value for key, value in one.items() if key not in ("text", "prompt", "seconds")} for one in rows]
    assert "keeps no texts" in make_report(bare).html
    assert make_report(bare).length is None
    alone = make_report([row(p, 0, None) for p in range(3)])
    assert (alone.reward, alone.accuracy, alone.maj_at, alone.kinds) == (None, None, {}, {"single": 3})
    assert "No completion could be judged by accuracy" in alone.html


def test_a_parquet_file_says_the_same(rows, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "scores.parquet")
    jsonl = make_report(write(tmp_path / "scores.jsonl", rows), source="same")
    assert make_report(tmp_path / "scores.parquet", source="same").html == jsonl.html


# The command


def test_the_command_writes_a_page_and_pictures_and_never_over_one(rows, tmp_path):
    scores, out, folder = write(tmp_path / "scores.jsonl", rows), tmp_path / "r.html", tmp_path / "png"
    done = CliRunner().invoke(app, ["report", str(scores), "--out", str(out), "--png", str(folder)])
    assert done.exit_code == 0, done.output
    assert "warning: tidy pays 0.75 of the reward's variance" in done.stderr
    assert out.read_text() == make_report(scores).html
    pictures = sorted(path.name for path in folder.iterdir())
    assert pictures == ["groups.png", "length.png", "parts.png", "pass.png", "shares.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.iterdir())
    again = CliRunner().invoke(app, ["report", str(scores), "--out", str(out)])
    assert isinstance(again.exception, UsageError)
    other = CliRunner().invoke(app, ["report", str(scores), "--out", str(tmp_path / "new.html"), "--png", str(folder)])
    assert "exists already" in str(other.exception)
    assert not (tmp_path / "new.html").exists()
