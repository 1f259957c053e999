"""Reports on handmade files: numbers, warnings, rejected files, and what the command writes."""

import json
import re

import pytest
from typer.testing import CliRunner

from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.results.report import captions, make_report, render
from grpo_env.results.report.captions import constants
from grpo_env.results.report.caveats import reward_warnings
from grpo_env.results.report.charts import charts


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# Numbers and warnings


def test_the_numbers_of_a_small_file(rows):
    report = make_report(rows)
    assert (report.task, report.metric, report.completions, report.groups, report.input_rows) == (
        "sums",
        "accuracy",
        10,
        5,
        5,
    )
    assert (report.unscored, report.truncated, report.finish_known) == (2, 0, 10)
    assert report.accuracy.value == 4 / 8
    assert report.reward.value == (1 + 2 + 3 + 3 + 0 + 0 + 1 + 1) / 8
    assert report.kinds == {"mixed": 1, "all correct": 1, "all wrong": 1, "masked signal": 2}
    assert (report.uninformative, report.rankable, report.misranked) == (8, 2, 1)
    assert report.pass_at[1].value == (0.5 + 1 + 0 + 0.5) / 4
    assert report.pass_at[2].value == 3 / 4
    assert report.maj_at[2].value == (0.5 + 1 + 0 + 0.5) / 4  # all answers are 4, so the vote is as correct as they are
    # Rewards 1 2 3 3 0 0 1 1: mean 11/8, sum of squares 25 - 121/8 = 79/8. Accuracy has with them 8 - 4 * 11/8 = 5/2.
    assert {part.name: part.variance_fraction for part in report.parts} == pytest.approx(
        {"accuracy": 20 / 79, "tidy": 59 / 79}
    )
    assert report.length.unit == "characters"


def test_the_weights_of_a_part_are_those_of_the_rows_that_have_it(rows):
    """The last row leaves accuracy out; of the others, half weigh it 1 and half 3."""
    for number, row in enumerate(rows):
        row["parts"]["accuracy"]["weight"] = 3.0 if number % 2 else 1.0
    left_out = {"value": None, "weight": 0.0, "status": "left_out"}
    rows[-1]["parts"]["accuracy"] |= left_out
    report = make_report(rows)
    accuracy = next(part for part in report.parts if part.name == "accuracy")
    assert (accuracy.rewarded, accuracy.weight_text) == (True, "1 to 3")
    assert "accuracy, weight 1 to 3" in [chart.title for chart in charts(report)["parts"]]


def test_verdicts_are_counted_by_rule(row):
    verdicts = [(1, "number"), (1, "number"), (0, "number"), (0, "same text"), (0, None), (None, "number")]
    rows = [row(p, 0, value) for p, (value, _) in enumerate(verdicts)]
    assert "<h2>Rules</h2>" not in render(make_report(rows))
    for made, (_, rule) in zip(rows, verdicts, strict=True):
        made["parts"]["accuracy"] |= {"rule": rule}
    report = make_report(rows)
    rules = {part.name: part.rules for part in (report.total, *report.parts)}
    assert rules == {"total": {}, "accuracy": {"number": (2, 1), "": (0, 1), "same text": (0, 1)}, "tidy": {}}
    html = render(report)
    table = html.partition("<h2>Rules</h2>")[2].partition("</table>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", table)
    assert cells == ["accuracy", "number", "2", "1", "", "no rule accepts it", "0", "1", "", "same text", "0", "1"]
    assert "rule: same text" in html


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (["length"] * 2 + ["stop"] * 8, "20% of the completions were truncated"),
        (["length", "stop"] + [None] * 8, "50% of the 2 completions with a finish reason were truncated"),
    ],
)
def test_truncated_completions_are_counted_among_those_with_a_finish_reason(rows, reasons, words):
    changed = [row | {"finish_reason": reason} for row, reason in zip(rows, reasons, strict=True)]
    assert any(words in warning.problem for warning in reward_warnings(make_report(changed)))


def test_the_first_lines_of_two_files_are_two_input_rows(row):
    assert make_report([row(0, 0, 1, file=name, group=name) for name in "ab"]).input_rows == 2
    assert make_report([row(0, c, 1, file="a") for c in range(2)]).input_rows == 1


def test_length_is_in_tokens_if_every_row_has_a_count(rows):
    counted = [row | {"num_tokens": 7} for row in rows]
    report = make_report(counted)
    assert (report.length.unit, report.length.mean) == ("tokens", 7)
    assert make_report([rows[0], *counted[1:]]).length.unit == "characters"


def test_warnings_give_the_numbers(rows):
    problems = " / ".join(warning.problem for warning in reward_warnings(make_report(rows)))
    for words in (
        "20% of the completions are unscored; first reasons: accuracy: gold is not a number",
        "in 50% of the groups with correct and wrong completions a wrong one has a higher reward than a correct one",
        "tidy accounts for 75% of the reward's variance",
        "80% of the groups have identical rewards (1 all wrong, 1 all correct, 2 masked signal)",
        "in 40% of the groups the signal is masked",
    ):
        assert words in problems


def test_a_sound_reward_has_no_warnings(row):
    rows = [row(p, c, float(c), text="so it is 4", steps=[], total=float(c)) for p in range(30) for c in range(2)]
    for score_row in rows:
        del score_row["parts"]["tidy"]
    report = make_report(rows)
    assert reward_warnings(report) == []
    assert "No warnings" in render(report)
    for score_row in rows:  # the metric is a part of the only weighted part
        metric = score_row["parts"]["accuracy"]
        score_row["parts"] = {"gate": {**metric, "parts": {"accuracy": metric | {"weight": 0.0}}}}
    assert reward_warnings(make_report(rows)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda index: {"finish_reason": "length" if index % 9 == 0 else "stop"}, "11% of the completions were"),
        (lambda index: {"text": "x" * (5 + 90 * (index % 2))}, "accuracy and length the correlation is 1.00 ("),
    ],
)  # fmt: skip
def test_further_warnings(row, change, words):
    rows = [row(n // 2, n % 2, float(n % 2), 0.0, text="4") | change(n) for n in range(180)]
    problems = " / ".join(warning.problem for warning in reward_warnings(make_report(rows)))
    assert words in problems
    assert "always the same: tidy (0 for all 180 completions)" in problems


@pytest.mark.parametrize(("prompts", "told"), [(5, False), (20, False), (200, True)])
def test_a_trend_is_told_of_enough_prompts_only(row, prompts, told):
    """In three of four prompts the longer completion is right: a correlation of 0.5 in each of these files."""
    rows = [row(n, 0, float((n % 4 == 0) ^ (n % 2)), 1.0, text="x" * (5 + 90 * (n % 2))) for n in range(prompts)]
    report = make_report(rows)
    assert 0.4 < report.length.reward_correlation < 0.7
    problems = " / ".join(warning.problem for warning in reward_warnings(report))
    assert ("longer completions score higher" in problems) == told
    assert ("5 prompts cannot tell" in captions.length(report)) == (prompts == 5)
    assert ("longer completions get higher rewards" in captions.length(report)) == (prompts > 5)
    assert "95% interval" in captions.length(report)


def test_three_prompts_have_no_interval(row):
    report = make_report([row(n, 0, float(n == 2), text="x" * (5 + n)) for n in range(3)])
    assert "3 prompts cannot tell whether the reward depends on length" in captions.length(report)
    assert "interval" not in captions.length(report)


@pytest.mark.parametrize("recorded", [True, False, None])
def test_a_constant_part_may_be_of_another_prompt(row, recorded):
    rows = [row(n // 2, n % 2, float(n % 2), 0.0, prompt_recorded=recorded) for n in range(20)]
    (warning,) = (
        warning for warning in reward_warnings(make_report(rows)) if "always the same: tidy" in warning.problem
    )
    assert ("The prompts of these completions are not in the file" in warning.advice) == (recorded is False)
    assert ("gives no gradient" in warning.advice) == (recorded is not False)


def test_parts_that_never_vary_have_a_line_in_place_of_a_chart(row):
    rows = [row(n // 2, n % 2, float(n % 2), 0.25, text="4") for n in range(8)]
    report = make_report(rows)
    assert constants(report) == "Distributed as the reward: accuracy. Always the same: tidy 0.25."
    assert [chart.title for chart in charts(report)["parts"]] == ["total (the reward)"]
    varied = make_report([*rows, row(9, 0, 0.0, 0.5, text="4")])
    assert constants(varied) == ""
    assert any(chart.title.startswith("tidy") for chart in charts(varied)["parts"])


def test_steps_have_a_color(rows):
    steps = [
        {"start": 0, "end": 2, "value": 1.0, "explanation": "fine"},
        {"start": 3, "end": 5, "value": 0.0, "explanation": ""},
    ]
    for row in rows:
        row["parts"]["tidy"]["steps"] = steps
    page = render(make_report(rows))
    assert '<span class="step v4" title="tidy: fine">so</span><sup class="v4">1</sup>' in page


def test_a_row_without_steps_has_one_that_is_worth_its_total(row):
    """``score`` leaves such a step out: beside steps of another value it is a signal of its own."""
    half = {"steps": [{"start": 0, "end": 2, "value": 0.5}]}
    members = [[row(0, 0, 1.0), row(0, 1, 1.0)], [row(1, 0, 1.0), row(1, 1, 1.0) | half], [row(2, 0, 1.0) | half] * 2]
    assert [make_report(group).with_step_signal for group in members] == [0, 1, 0]


# Rejected files


@pytest.mark.parametrize(
    ("make_rows", "words"),
    [
        (lambda row: [], "no scores in it"),
        (lambda row: [{"id": 1}], "line 1: no key 'completion'"),
        (lambda row: [{**row(0, 0, 1), "metric": None}], "no key 'metric'; score the file again"),
        (lambda row: [row(0, 0, 1), {**row(1, 0, 1), "metric": "other"}], "two tasks, sums (metric accuracy) and"),
        (lambda row: [row(0, 0, 1), row(1, 0, 1), row(0, 1, 1)], "the rows of group 'g0' are not adjacent"),
        (lambda row: [{**row(0, 0, 1), "parts": {"accuracy": {}}}], "part 'accuracy' was not written by"),
        (lambda row: [{**row(0, 0, 1), "steps": [{"start": 0}]}], "completion 0: not a row that grpo_env score wrote"),
        (lambda row: [{**row(0, 0, 1), "total": "1"}], "a value must be a finite number or null, found '1'"),
        (lambda row: [{**row(0, 0, 1), "total": float("nan")}], "a value must be a finite number or null, found nan"),
    ],
)  # fmt: skip
def test_files_that_are_not_scores_are_rejected(row, tmp_path, make_rows, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        make_report(write(tmp_path / "scores.jsonl", make_rows(row)))


def test_files_without_texts_answers_rewards_or_groups(row, rows):
    bare = [{key: row[key] for key in row if key not in ("text", "prompt", "seconds", "group")} for row in rows]
    assert "has no texts" in render(make_report(bare))
    assert make_report(bare).kinds == make_report(rows).kinds
    assert make_report(bare).length is None
    unscored = make_report([row(p, 0, None) for p in range(3)])
    assert (unscored.reward, unscored.accuracy, unscored.maj_at, unscored.kinds) == (None, None, {}, {"single": 3})
    assert "No completion could be scored by accuracy" in render(unscored)
    page = render(make_report([row(0, c, None) for c in range(4)]))
    for untrue in ("rewards are equal", "one completion per prompt", "total (the reward)", "a tenth of the"):
        assert untrue not in page
    one = captions.headline(make_report([row(0, 0, 1.0)]))
    assert one.startswith("1 completion: mean accuracy 1.000 (95% interval 0.207 to 1.000). The")
    half = make_report([row(0, c, float(c % 2)) for c in range(4)])
    assert captions.headline(half).startswith("4 completions of 1 prompt: mean accuracy 0.500. The mean")
    assert "95%: " not in render(half)


def test_a_parquet_file_gives_the_same_report(rows, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "scores.parquet")
    page = render(make_report(tmp_path / "scores.parquet"))
    assert page.replace("scores.parquet", "scores.jsonl") == render(make_report(write(tmp_path / "scores.jsonl", rows)))


# The command


def test_the_command_writes_a_page_and_overwrites_nothing(rows, tmp_path):
    scores, out = write(tmp_path / "scores.jsonl", rows), tmp_path / "r.html"
    done = CliRunner().invoke(app, ["view", "report", str(scores), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "warning: tidy accounts for 75% of the reward's variance" in done.stderr
    assert out.read_text() == render(make_report(scores))
    again = CliRunner().invoke(app, ["view", "report", str(scores), "--out", str(out)])
    assert isinstance(again.exception, UsageError)


def test_names_from_a_file_do_not_steer_the_terminal(rows, tmp_path):
    name = "acc\x1b[31m\u202e"
    for row in rows:
        row |= {"metric": name, "parts": {name: row["parts"]["accuracy"]}}
    scores = write(tmp_path / "scores.jsonl", rows)
    for command, out in ((["view", "report"], "report.html"), (["export", "sft"], "sft.jsonl")):
        done = CliRunner().invoke(app, [*command, str(scores), "--out", str(tmp_path / out)])
        assert done.exit_code == 0, done.output
        assert "acc\\x1b[31m\\u202e" in done.output
        assert not {"\x1b", "\u202e"} & set(done.output)


def test_a_bad_value_is_named_with_its_file_and_line(tmp_path, row):
    bad = {**row(0, 1, 1), "total": "high"}
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (row(0, 0, 1), bad)))
    with pytest.raises(UsageError, match=r"scores\.jsonl, line 2: row .*: a value must be a finite number"):
        make_report(path)
