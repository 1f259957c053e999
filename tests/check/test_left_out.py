"""Columns that a prompt leaves out: options, passages, tables, units; each data set has its columns as published."""

import pytest
import yaml

from grpo_env.check import check
from tests.tables import table_task

OPTIONS = [[f"{n} pens", f"{2 * n} pens", f"{n + 31} inks", f"{n + 57} caps"] for n in range(10, 30)]
QUESTIONS = [f"What did person {n} buy first in shop number {n * 7}?" for n in range(10, 30)]
LETTERS = ["ABCD"[n % 4] for n in range(20)]
TEXTS = [options["ABCD".index(letter)] for options, letter in zip(OPTIONS, LETTERS, strict=True)]


def found(folder, rows, user="{{ question }}", answer="{{ answer }}", **changes):
    """The findings about templates of a task with these rows, as lines."""
    dataset = {"path": "rows.jsonl", "split": {"train": 1.0}, "answer": answer}
    task = table_task(folder, rows, **{"dataset": dataset, "prompt": {"user": user}, **changes})
    return [str(finding) for finding in check(task).findings if finding.check == "templates"]


def table(**columns):
    """Rows of the questions with these columns."""
    return [
        dict(zip(("question", *columns), row, strict=True)) for row in zip(QUESTIONS, *columns.values(), strict=True)
    ]


FOUR = {letter: [options[n] for options in OPTIONS] for n, letter in enumerate("ABCD")}
DATA = {
    "MMLU, C-Eval": table(**FOUR, answer=LETTERS),
    "MMLU on the hub": table(choices=OPTIONS, answer=["ABCD".index(letter) for letter in LETTERS]),
    "MedMCQA": table(**dict(zip(("opa", "opb", "opc", "opd"), FOUR.values(), strict=True)), answer=LETTERS),
    "simple-evals-ru": table(options=[dict(zip("ABCD", o, strict=True)) for o in OPTIONS], answer=LETTERS),
    "ARC": table(choices=[{"text": o, "label": list("ABCD")} for o in OPTIONS], answer=LETTERS),
    "AQuA": table(options=[[f"{c}){t}" for c, t in zip("ABCD", o, strict=True)] for o in OPTIONS], answer=LETTERS),
    "texts": table(options=OPTIONS, answer=TEXTS),
}


@pytest.mark.parametrize("rows", DATA.values(), ids=DATA)
def test_options_that_no_prompt_shows_are_an_error_with_what_to_write(tmp_path, rows):
    (line,) = found(tmp_path, rows)
    assert line.startswith("error: templates: prompt.user: the gold answers name options in ")
    assert "20 of 20 prompts leave out, such as " in line
    template = yaml.safe_load(line.partition("write behind the question: ")[2])
    assert found(tmp_path, rows, user=f"{{{{ question }}}}\n{template}") == []


def test_options_in_the_question_or_unlike_the_answers_are_no_finding(tmp_path):
    asked = [f"{q} A) {a} B) {b} C) {c} D) {d}" for q, (a, b, c, d) in zip(QUESTIONS, OPTIONS, strict=True)]
    rows = [{**row, "question": q} for row, q in zip(DATA["MMLU, C-Eval"], asked, strict=True)]
    assert found(tmp_path, rows) == []
    sides = table(a=list(range(20)), b=list(range(3, 23)), c=list(range(5, 25)), answer=[2 * n + 40 for n in range(20)])
    assert found(tmp_path, sides) == []


PASSAGES = [f"In the year {1900 + n} the firm sold {n * 13} cars in the north." for n in range(20)]
COUNTS = [str(n * 13) for n in range(20)]


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"text": PASSAGES, "table": [f"| year | {n} |\n|---|---|" for n in range(20)]}, ["text", "table"]),  # TAT-QA
        ({"Body": PASSAGES}, ["Body"]),  # SVAMP
        ({"passage": PASSAGES}, ["passage"]),  # DROP
        ({"pre_text": [[text, "And so on."] for text in PASSAGES]}, ["pre_text"]),  # FinQA
        ({"level": ["Level 5"] * 20, "subject": ["Algebra"] * 20, "solution": PASSAGES}, []),  # MATH
        ({"text": [f"{q}\n\nIt is {n}." for q, n in zip(QUESTIONS, COUNTS, strict=True)]}, []),  # Alpaca
    ],
)
def test_passages_and_tables_that_no_prompt_shows_are_warnings(tmp_path, columns, named):
    rows = table(**columns, answer=COUNTS)
    lines = found(tmp_path, rows)
    assert [line.partition("column ")[2].split()[0].strip("'") for line in lines] == named
    assert all(line.startswith("warning: templates: prompt.user: ") for line in lines)
    shown = "\n".join(yaml.safe_load(line.partition("write before them: ")[2]) for line in lines)
    assert found(tmp_path, rows, user=f"{shown}\n{{{{ question }}}}") == []


def test_a_column_that_a_verifier_reads_is_not_left_out(tmp_path):
    verifiers = {"accuracy": {"weight": 1.0}, "keywords": {"weight": 0.0, "keywords": "{{ [text] | tojson }}"}}
    assert found(tmp_path, table(text=PASSAGES, answer=COUNTS), verifiers=verifiers) == []


def test_a_column_of_units_belongs_to_the_prompt_or_to_the_answer(tmp_path):
    rows = table(unit=["$\\mathrm{atm}$", "m"] * 10, answer=COUNTS)  # SciBench
    (line,) = found(tmp_path, rows)
    assert "dataset.answer: column 'unit' is neither in the prompt nor in the gold answer, such as " in line
    assert found(tmp_path, rows, user="{{ question }} In {{ unit }}.") == []
    assert found(tmp_path, rows, answer="{{ answer }} {{ unit }}") == []


def test_a_tag_of_the_format_is_no_column(tmp_path):
    system = "Give the letter inside <{{ format.answer }}> tags."
    rows = DATA["MMLU, C-Eval"]
    user = "{{ question }}\nA) {{ A }} B) {{ B }} C) {{ C }} D) {{ D }}"
    assert found(tmp_path, rows, prompt={"system": system, "user": user}) == []
