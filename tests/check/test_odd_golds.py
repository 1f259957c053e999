"""``grpo_env check`` on gold answers that are no mathematics: their kinds, their changes and the verifier to take.

The oracles are written by hand, or by ``datetime``, ``json`` and arithmetic; none is made by a verifier.
"""

import json
from datetime import datetime, timedelta

import pytest
import yaml
from typer.testing import CliRunner

from grpo_env.check import check
from grpo_env.check.perturbations import another, changes, perturbations
from grpo_env.cli.app import app
from grpo_env.taskfile.kinds_of_golds import gold_warning, odd_kinds
from grpo_env.taskfile.task import load_task
from tests.tables import table_task

DAYS = [datetime(2023, 11, 3) + timedelta(days=37 * index) for index in range(60)]


def make_task(folder, golds, verifiers=None, metric="accuracy"):
    """Write a task with these gold answers, and plain ``accuracy`` if nothing else is said, and load it."""
    rows = [{"question": f"Question number {index} of the survey?", "answer": gold} for index, gold in enumerate(golds)]
    return table_task(folder, rows, verifiers=verifiers or {"accuracy": {"weight": 1.0}}, metric=metric)


def pasted(result):
    """The entries of YAML in the advice, as they are read when pasted under ``verifiers``."""
    lines = [line for line in result.facts["advice"].splitlines() if line.startswith("  ")]
    return [yaml.safe_load(line) for line in lines]


def kinds_findings(result):
    return [finding for finding in result.findings if finding.check == "kinds"]


def test_a_new_task_with_dates_is_right_without_options(tmp_path):
    runner = CliRunner()
    file = tmp_path / "holidays.yaml"
    assert runner.invoke(app, ["tasks", "new", str(file)]).exit_code == 0
    rows = [{"question": f"When is holiday {index}?", "answer": f"{day:%Y-%m-%d}"} for index, day in enumerate(DAYS)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    checked = runner.invoke(app, ["check", str(file)])
    assert checked.exit_code == 0
    assert "60 dates: 20" in checked.stdout
    assert "another year, day and month swapped, another day, another row's, empty): 0 with credit" in checked.stdout
    assert "0 errors, 0 warnings" in checked.stdout

    task = load_task(file)
    for day in DAYS:
        gold = f"{day:%Y-%m-%d}"
        swapped = f"{day.year}-{day.day:02}-{day.month:02}"
        for text, value in [
            (gold, 1),
            (f"{day:%B} {day.day}, {day.year}", 1),
            (f"{day.day} {day:%b} {day.year}", 1),
            (f"{day.year - day.month - day.day}", 0),  # what the gold answer is by algebra
            (f"{day + timedelta(days=1):%Y-%m-%d}", 0),
            (f"{day.replace(year=day.year + 1, day=min(day.day, 28)):%Y-%m-%d}", 0),
            (str(day.year), 0),
            (swapped, day.day == day.month),
        ]:
            score = task.score(f"<think>\nI look it up.\n</think>\n<answer>\n{text}\n</answer>", answer=gold)
            assert score.part("accuracy").value == value, (gold, text)


def test_rows_that_are_no_dates_are_named(tmp_path):
    golds = [f"{day:%Y-%m-%d}" for day in DAYS[:58]] + ["unknown", "see the appendix"]
    result = check(make_task(tmp_path, golds))
    assert result.facts["kinds"].splitlines() == [
        "58 dates: 2023-11-03 | 2023-12-10 | 2024-01-16",
        "2 texts: unknown | see the appendix",
    ]
    (finding,) = kinds_findings(result)
    assert finding.severity == "warning"
    assert "1 text among dates: 'see the appendix' (rows.jsonl, line 60)" in finding.what
    (missing,) = [finding for finding in result.findings if finding.check == "data"]
    assert str(missing) == (
        "warning: data: rows.jsonl, line 59: the gold answer 'unknown' looks like a missing answer; fix it"
    )
    assert pasted(result) == [{"accuracy": {"weight": 1.0, "kind": "date"}}]
    assert result.ok


def test_the_pasted_line_reports_rows_of_another_kind(tmp_path):
    golds = [f"{day:%Y-%m-%d}" for day in DAYS[:58]] + ["unknown", "see the appendix"]
    (line,) = pasted(check(make_task(tmp_path, golds)))
    result = check(make_task(tmp_path, golds, line))
    assert [(finding.check, finding.where) for finding in result.findings] == [
        ("data", "rows.jsonl, line 59"),
        ("data", "rows.jsonl, line 60"),
    ]
    assert result.facts["kinds"].splitlines()[-1] == "2 of no kind (see data)"
    assert "advice" not in result.facts


def test_numbers_with_leading_zeros_among_numbers_get_the_kind_number(tmp_path):
    golds = [*map(str, range(100, 120)), "007", "0042"]
    result = check(make_task(tmp_path, golds))
    (finding,) = kinds_findings(result)
    assert "2 texts among numbers: '007' (rows.jsonl, line 21), '0042' (rows.jsonl, line 22)" in finding.what
    (line,) = pasted(result)
    task = make_task(tmp_path, golds, line)
    assert check(task).findings == []
    assert task.score("<answer>7</answer>", answer="007").value == 1


def test_codes_among_numbers_are_named(tmp_path):
    result = check(make_task(tmp_path, [*map(str, range(30)), "3-1", "192.168.0.1"]))
    assert pasted(result) == [{"accuracy": {"weight": 1.0, "kind": "number"}}]
    (finding,) = kinds_findings(result)
    assert "2 texts among numbers: '3-1' (rows.jsonl, line 31), '192.168.0.1' (rows.jsonl, line 32)" in finding.what
    assert result.ok


def test_letters_with_the_texts_of_their_options_need_no_kind(tmp_path):
    """``kind: choice`` would refuse the texts: outputs of MathVista and MATH-Vision name either."""
    golds = ['["B", "Jupiter"]', '["C", "4"]', '["A", "H2O"]']
    result = check(make_task(tmp_path, golds, {"accuracy": {"golds": "any"}}))
    assert result.findings == []
    assert "advice" not in result.facts


def test_the_advice_keeps_the_other_options(tmp_path):
    verifiers = {"right": {"use": "accuracy", "weight": 0.5, "sources": ["boxed", "answer_tag"]}}
    result = check(make_task(tmp_path, [*map(str, range(30)), "3-1"], verifiers, metric="right"))
    assert pasted(result) == [{"right": {**verifiers["right"], "kind": "number"}}]


def test_a_verifier_that_does_not_suit_the_kind_is_replaced(tmp_path):
    result = check(make_task(tmp_path, ["1/2", "3", "7.5"], {"exact_text": {"weight": 2.0}}, metric="exact_text"))
    assert result.facts["advice"].startswith("exact_text is not made for numbers")
    assert pasted(result) == [{"accuracy": {"weight": 2.0}}]
    result = check(make_task(tmp_path, ["2024-05-01", "2024-06-02"], {"exact_text": {}}, metric="exact_text"))
    assert pasted(result) == [{"accuracy": {"weight": 1.0, "kind": "date"}}]


def test_numbers_and_mathematics_need_no_advice(tmp_path):
    assert "advice" not in check(make_task(tmp_path, ["1", "2", "3"])).facts
    mixed = check(make_task(tmp_path, ["\\frac{1}{2}", "x^2+1", "(1,2)", "\\text{even}", "7", "9"]))
    assert "advice" not in mixed.facts
    assert mixed.findings == []


@pytest.mark.parametrize(
    ("counts", "odd"),
    [
        ({"number": 100}, []),
        ({"number": 97, "literal": 3}, ["literal"]),
        ({"number": 70, "literal": 30}, ["literal"]),
        ({"number": 95, "text": 5}, ["text"]),
        ({"number": 75, "text": 25}, []),  # too many to be a mistake
        ({"number": 80, "formula": 15, "text": 5}, []),  # as in MATH
        ({"number": 80, "formula": 15, "date": 1}, ["date"]),
        ({"date": 58, "text": 2}, ["text"]),
        ({"date": 40, "text": 35, "number": 25}, []),  # no main kind
        ({"text": 98, "formula": 2}, ["formula"]),
        ({"truth": 98, "text": 2}, ["text"]),
        ({"text": 50, "number": 30, "literal": 20}, []),
        ({"choice": 90, "set": 10}, []),  # A, C
        ({}, []),
    ],
)
def test_which_kinds_are_out_of_place(counts, odd):
    assert odd_kinds(counts) == odd


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ("2024-05-01", {"another year": "2025-05-01", "day and month swapped": "2024-01-05"}),
        ("12/6/2020", {"another year": "12/6/2021", "day and month swapped": "6/12/2020"}),
        ("12/6/99", {"a digit changed": "12/6/90"}),
        ("05/13/2021", {"another year": "05/13/2022", "another day": "05/14/2021"}),
        ("May 1, 2024", {"another year": "May 1, 2025"}),
        ("5/5/2020", {"another year": "5/5/2021"}),
        ("3:30 p.m.", {"a digit changed": "3:31 p.m."}),
        ("192.168.0.1", {"a digit changed": "192.168.0.2"}),
        ("3-1", {"a digit changed": "3-2"}),
        ("v1.10", {"a digit changed": "v1.11", "letters reordered": "1v.10"}),
        ("007", {"a digit changed": "008", "the sign changed": "-007"}),
        ("-0x437", {"a number changed": "-1x437", "the sign changed": "0x437"}),
        ("0x437", {"a digit changed": "0x438", "letters reordered": "x0437",
            "the sign changed": "-0x437"}),
        ("12 cm", {"a number changed": "13 cm", "the sign changed": "-12 cm", "another unit": "12 kg"}),
        ("-3.5 g", {"a number changed": "-4.5 g", "the sign changed": "3.5 g", "another unit": "-3.5 km"}),
        ("0 m", {"a number changed": "1 m", "another unit": "0 kg"}),
        ("12 apples", {"a number changed": "13 apples", "the sign changed": "-12 apples"}),
        ("dQw4w9WgXcQ", {"a digit changed": "dQw4w0WgXcQ", "letters reordered": "Qwd4w9WgXcQ",
            "the case changed": "DqW4W9wGxCq"}),
        ("H2O", {"a digit changed": "H3O", "letters reordered": "2HO"}),
        ("TP53", {"a digit changed": "TP54", "letters reordered": "PT53"}),
        ("1920x1080", {"a digit changed": "1920x1081", "letters reordered": "x19201080",
            "the sign changed": "-1920x1080"}),
        ("(3, 4)", {"a number changed": "(4, 4)", "the order reversed": "(4, 3)"}),
        ("(2, 2)", {"a number changed": "(3, 2)"}),
        ("6, 6, 7", {}),
        ("6, 6, 8", {"a number changed": "7, 6, 8"}),
        ("B", {"another letter": "A"}),
        ("(A)", {"another letter": "(B)"}),
        ("New York", {"a word changed": "New banana"}),
        ("Paris", {}),
        ("a sentence of more than four words", {}),
        ("No", {"the opposite": "Yes"}),
        ("['red', 'blue']", {"a value changed": "['red banana', 'blue']", "a key dropped": "['red']"}),
        ('{"a": {"b": 1}, "c": 2}', {"a value changed": '{"a": {"b": 2}, "c": 2}', "a key dropped": '{"a": {"b": 1}}'}),
        ('["red", "blue"]', {"a value changed": '["red banana", "blue"]', "a key dropped": '["red"]'}),
        ("[{'span': (1, 2)}]", {"a value changed": "[{'span': (2, 2)}]", "a key dropped": "[]"}),  # as in CRUXEval
        ("{(1, 2): 3}", {"a value changed": "{(1, 2): 4}", "a key dropped": "{}"}),
        ('{"done": true}', {"a value changed": '{"done": false}', "a key dropped": "{}"}),
    ],
)  # fmt: skip
def test_changes_of_a_gold_answer(gold, expected):
    assert dict(changes(gold)) == expected


def read(text, form):
    """The days that a date can be read as, in its form and with the full name of the month."""
    for spelling in (form, form.replace("%b", "%B")):
        try:
            yield datetime.strptime(text, spelling)
        except ValueError:
            continue


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%B %d, %Y", "%d %b %Y", "%d.%m.%Y"])
def test_changed_dates_are_other_days_in_either_order_of_day_and_month(form):
    """No reading of a changed date, day first or month first, is the gold answer's day read in its own form."""
    for day in DAYS:
        texts = dict(changes(day.strftime(form)))
        assert "another year" in texts
        assert len(texts) == (1 if day.day == day.month or ("%b" in form.lower() and day.day <= 12) else 2)
        for name, text in texts.items():
            assert day not in read(text, form), (name, text)


def test_changes_that_a_verifier_accepts_are_left_out():
    assert dict(changes("2018", frozenset(["rel_tol"])))["a number changed"] == "3018"
    assert dict(changes("150 km", frozenset(["rel_tol"])))["a number changed"] == "250 km"
    assert "the case changed" not in dict(changes("dQw4w9WgXcQ", frozenset(["ignore_case"])))
    assert "a number changed" not in dict(changes("\\sqrt{7}", frozenset(["rel_tol"])))
    assert dict(changes("C. 42 cm", frozenset(["choice"]))) == {"another letter": "B. 42 cm"}
    assert dict(perturbations(["4", "9"], 0, accepted=["4", "5"])) == {
        "the sign changed": "-4",
        "another row's": "9",
        "empty": "",
    }


def test_another_rows_answer_is_plainly_another_one():
    assert another(["1/2", "0.5", "3", "0.7"], 1) == "3"
    assert another(["50", "0.5", "0.7"], 1) == "0.7"  # 50 % is 0.5
    assert another(["May 1, 2024", "2024-05-01", "2023-01-01"], 1) == "2023-01-01"
    assert another(["B", "(b)", "C"], 0) == "C"
    assert another(["2018", "2019", "5"], 0, frozenset(["rel_tol"])) == "5"
    assert another(["2018", "2019"], 0, frozenset(["rel_tol"])) is None


def test_tolerances_and_several_gold_answers_raise_no_alarm(tmp_path):
    golds = ["2018", "1000", "0.98", "1", "\\sqrt{7}"]
    assert check(make_task(tmp_path, golds, {"accuracy": {"rel_tol": 0.05}})).findings == []
    several = ['["4", "5"]', '["6", "7", "8"]', '["9", "10"]']
    assert check(make_task(tmp_path, several, {"accuracy": {"golds": "any"}})).findings == []


def test_algebra_on_dates_and_codes_is_noticed(tmp_path):
    """With ``kind: formula``, as before kinds were known, a date is a difference and a score one, too."""
    golds = ["2024-05-01", "2023-06-02"]
    result = check(make_task(tmp_path, golds, {"accuracy": {"kind": "formula"}}))
    assert any("day and month swapped" in finding.what for finding in result.findings if finding.severity == "error")


def test_a_metric_that_ignores_the_gold_answer_is_reported_once(tmp_path):
    task = make_task(tmp_path, ["4", "5", "6"], {"soft_format": {}}, metric="soft_format")
    result = check(task)
    (finding,) = result.findings
    assert "soft_format gives full credit to any answer, without the gold answer, in 3 of 3 rows" in finding.what


def test_a_metric_that_reads_other_columns_is_checked(tmp_path):
    """Countdown's answers are right by the columns ``numbers`` and ``target``."""
    result = check(load_task("countdown", {"dataset.limit": {"train": 20, "eval": 5}}))
    assert "0 with credit" in result.facts["gold"]
    assert result.findings == []


def test_formulas_that_algebra_cannot_read_are_warnings(tmp_path):
    golds = ["5", "\\bigcup_{k=1}^\\infty(2k\\pi,(2k+1)\\pi)", "x^2+", "\\sqrt{"]
    result = check(make_task(tmp_path, golds))
    assert ("error", "data", "line 4") in [(one.severity, one.check, one.where[-6:]) for one in result.findings]
    assert not any(one.where.endswith(("line 2", "line 3")) and one.check == "data" for one in result.findings)
    unscored = [one for one in result.findings if "wrong answers to it are unscored [bad_gold]" in one.what]
    assert [(one.severity, one.where[-6:]) for one in unscored] == [("warning", "line 2"), ("warning", "line 3")]


def test_free_text_is_counted(tmp_path):
    golds = ["the red one", "Paris", *map(str, range(18)), "10:30", "N/A"]
    free = check(make_task(tmp_path, golds)).facts["text"]
    assert free == (
        "2 of 22 gold answers are free text: they are compared as text; first_of or appeal with a judge reads the rest"
    )
    assert "text" not in check(make_task(tmp_path, golds[:2], {"accuracy": {"kind": "text"}})).facts
    assert "text" not in check(make_task(tmp_path, golds[2:])).facts  # a time of day, and a missing answer


def data_findings(folder, golds, **options):
    result = check(make_task(folder, golds, {"accuracy": options}))
    return [(f.where.rpartition(" ")[2], f.what, f.fix) for f in result.findings if f.check == "data"]


def test_decimal_commas_are_named_with_the_key_that_reads_them(tmp_path):
    fix = "if it is one number, write decimal: comma in the options of accuracy"
    two = "is read as two numbers, not as one with a decimal comma"
    golds = ["3,75", "4,7 kg", "12,5 %", "100", "1.234,56"]
    assert data_findings(tmp_path, golds) == [
        (str(line), f"the gold answer {golds[line - 1]!r} {two}", fix) for line in (1, 2, 3, 5)
    ]
    assert data_findings(tmp_path, golds, decimal="comma") == []
    assert data_findings(tmp_path, ["1.234,56", *map(str, range(99))]) == [
        ("1", f"the gold answer '1.234,56' {two}", fix)  # which is nothing else
    ]
    lists = ["4,7", "(3,75)", *map(str, range(9))]  # lists among numbers
    assert data_findings(tmp_path, lists) == []
    assert check(make_task(tmp_path, lists)).facts["commas"] == (
        "1 of 11 gold answers, such as 4,7 (rows.jsonl, line 1), are read as two numbers; if each is one with a decimal"
        " comma, write decimal: comma in the options of accuracy"
    )
    for options in ({"decimal": "comma"}, {"kind": "set"}):
        numbers = ["4,7", *map(str, range(9))] if "decimal" in options else ["4,7", *(f"{n},{n + 1}" for n in range(9))]
        assert "commas" not in check(make_task(tmp_path, numbers, {"accuracy": options})).facts


def test_a_column_that_mixes_points_and_commas_is_named(tmp_path):
    golds = ["3,75", "4,7", "2.5", "9"]
    assert [what.partition("comma")[2] for _, what, _ in data_findings(tmp_path, golds)] == [
        "; others have decimal points"
    ] * 2
    assert data_findings(tmp_path, golds, decimal="comma") == [
        ("3", "the gold answer '2.5' has a decimal point where decimal: comma is set", "write it with a comma")
    ]


def test_commas_between_thousands_are_named_where_decimal_commas_are_set(tmp_path):
    why = "is read with a decimal comma, as 1.5 for 1,500"
    fix = "leave decimal: comma out if it has a comma between thousands"
    golds = ["$1,500", "12", "7"]
    assert data_findings(tmp_path, golds, decimal="comma") == [("1", f"the gold answer '$1,500' {why}", fix)]
    assert data_findings(tmp_path, [*golds, "33,75 %"], decimal="comma") == []  # others are decimal commas


def test_periods_that_may_be_between_thousands_are_named_beside_decimal_commas(tmp_path):
    """European numbers: 33,75 % is one number wherever it stands, and then 9.612 and 1.200 kg are 9612 and 1200."""
    golds = ["33,75 %", "9.612", "1.200 kg", *map(str, range(20)), "4,7"]
    period = "has a period that is not read as one between thousands; others have decimal commas"
    comma = "is read as two numbers, not as one with a decimal comma"
    key = "write decimal: comma in the options of accuracy"
    assert data_findings(tmp_path, golds) == [
        ("1", f"the gold answer '33,75 %' {comma}", f"if it is one number, {key}"),
        ("2", f"the gold answer '9.612' {period}", f"if 9.612 is 9612, {key}"),
        ("3", f"the gold answer '1.200 kg' {period}", f"if 9.612 is 9612, {key}"),
        ("24", f"the gold answer '4,7' {comma}", f"if it is one number, {key}"),
    ]
    assert data_findings(tmp_path, golds, decimal="comma") == []
    assert data_findings(tmp_path, golds[1:-1]) == []  # three decimals, and nothing that says otherwise


def test_a_column_of_dotted_dates_that_mixes_day_and_month_is_named(tmp_path):
    golds = ["5.6.2024", "12.25.2024", "7.7.2024", "2024-05-06"]
    what, fix = "is read with the day first; others have the month first", "write dates as 2024-12-31"
    assert data_findings(tmp_path, golds) == [
        (line, f"the gold answer {gold!r} {what}", fix) for line, gold in (("1", "5.6.2024"), ("2", "12.25.2024"))
    ]
    assert data_findings(tmp_path, [golds[0], *golds[2:]]) == []
    assert data_findings(tmp_path, [*golds, "31.1.2024"]) == [  # the others have the day first, and this is a slip
        ("2", "the gold answer '12.25.2024' is no date of the calendar", "fix it")
    ]


def test_dates_of_unknown_order_are_counted(tmp_path):
    golds = ["5/6/2024", "12/25/2024", "5.6.2024", "6/5/2023"]
    assert check(make_task(tmp_path, golds)).facts["dates"] == (
        "2 of 4 gold answers are dates such as 5/6/2024, of which nothing says whether the day or the month comes"
        " first: only the same numbers in the same order are right"
    )
    assert "dates" not in check(make_task(tmp_path, golds[1:3])).facts


def test_training_says_what_is_odd_about_the_gold_answers(tmp_path):
    task = make_task(tmp_path, [*map(str, range(10, 30)), "007"])
    line = gold_warning(task, task.examples("train"))
    assert line.startswith("gold answers: 1 text such as '007' (rows.jsonl, line 21) among numbers; ")
    fixed = make_task(tmp_path, [*map(str, range(10, 30)), "007"], {"accuracy": {"kind": "number"}})
    assert gold_warning(fixed, fixed.examples("train")) is None
    other = make_task(tmp_path, [*map(str, range(10, 30)), "007"], {"exact_text": {}}, metric="exact_text")
    assert gold_warning(other, other.examples("train")) is None


@pytest.mark.parametrize("composed", [False, True])
def test_scoring_says_what_is_odd_about_the_gold_answers(tmp_path, composed):
    """Not where a metric is composed of verifiers of several kinds, of which ``check`` says nothing either."""
    parts = {"any": {"use": "any_of", "of": {"accuracy": {}, "exact_text": {}}}} if composed else {"accuracy": {}}
    make_task(tmp_path, ["1"], parts, metric=next(iter(parts)))
    golds = [*map(str, range(10, 30)), "3-1"]
    rows = [{"answer": gold, "completion": f"<answer>{gold}</answer>"} for gold in golds]
    (tmp_path / "completions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "scores.jsonl"
    done = CliRunner().invoke(
        app, ["score", str(tmp_path / "survey.yaml"), str(tmp_path / "completions.jsonl"), "--out", str(out)]
    )
    assert done.exit_code == 0
    note = "gold answers: 1 text such as '3-1' (line 21) among numbers" in " ".join(done.output.split())
    assert note != composed
    assert {json.loads(line)["parts"][next(iter(parts))]["kind"] for line in out.read_text().splitlines()} == {
        "number",
        "text",
    }
