"""``tasks new --data``: the task that it writes reads the table and passes ``check``."""

import csv
import json

import pyarrow.parquet
import pytest

from grpo_env.check import check
from grpo_env.errors import UsageError
from grpo_env.taskfile.doubtful_golds import doubtful
from grpo_env.taskfile.draft import draft_task
from grpo_env.taskfile.task import load_task
from tests.physics import physics_rows

SHOP = [
    ["sku", "question", "result"],
    *[[f"A{n}", f"What do {n} pens of {n + 2} dollars cost?", f"${n * (n + 2):,}"] for n in range(1, 40)],
    ["B1", "What does a scarf cost?", "#REF!"],
]
GSM8K = [{"problem": f"Twice {n}?", "solution": f"2*{n}={2 * n}\n#### {2 * n}"} for n in range(30)]
TAGGED = [
    {"question": f"{n}+1?", "answer": f"<think>\n{n}+1\n</think>\n<answer>\n{n + 1}\n</answer>"} for n in range(20)
]
WORDS = [{"Text of it": f"Capital {n}?", "gold answer": f"City {'abcdefghijklmnopqrst'[n] * 3}"} for n in range(20)]
MIXED = [
    *[{"ticket": f"T{n}", "question": f"{n} + 1?", "gold": str(n + 1)} for n in range(20)],
    *[{"ticket": f"D{n}", "question": f"What day follows 2024-05-{n}?", "gold": f"2024-05-{n + 1}"} for n in (11, 25)],
    *[{"ticket": f"C{n}", "question": f"Which is {n}: (A) {n + 1} (B) {n}?", "gold": "B"} for n in range(3)],
]
PADDED = [{"question": f"{n} + 1, with three digits?", "answer": f"{n + 1:03}"} for n in range(90, 110)]
FOUR = [{"question": f"{n}+1?", "answer": n + 1, "id": "same"} for n in range(4)]


def write(path, rows):
    with path.open("w", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.mark.parametrize(
    ("name", "rows", "answers", "id"),
    [
        ("shop.csv", SHOP, {row[0]: row[2] for row in SHOP[1:-1]}, True),
        ("sums.jsonl", GSM8K, [str(2 * n) for n in range(30)], False),
        ("tagged.jsonl", TAGGED, [str(n) for n in range(1, 21)], False),
        ("words.jsonl", WORDS, [row["gold answer"] for row in WORDS], False),
        ("mixed.jsonl", MIXED, [row["gold"] for row in MIXED], False),
        ("padded.jsonl", PADDED, [row["answer"] for row in PADDED], False),
        ("four.jsonl", FOUR, ["1", "2", "3", "4"], False),
    ],
)
def test_the_task_passes_check_and_has_all_rows(tmp_path, name, rows, answers, id):
    (tmp_path / "data").mkdir()
    data, file = write(tmp_path / "data" / name, rows), tmp_path / "own.yaml"
    file.write_text(draft_task(file, data).text)
    task = load_task(file)
    examples = [*task.examples("train"), *task.examples("eval")]
    assert sorted(example.answer for example in examples) == sorted(answers.values() if id else answers)
    if id:
        assert {example.id: example.answer for example in examples} == answers
    result = check(task)
    assert result.ok, str(result)
    assert "0 without full credit" in str(result)


def test_a_column_of_chats_is_the_prompt(tmp_path):
    """As in trl-lib/DeepMath-103K."""
    rows = [{"prompt": [{"role": "user", "content": f"{n} + 1?"}], "solution": str(n + 1)} for n in range(20)]
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, write(tmp_path / "data.jsonl", rows)).text)
    task = load_task(file)
    assert {example.prompt[-1].content for example in task.examples("all")} == {f"{n} + 1?" for n in range(20)}
    assert check(task).findings == []


def test_a_majority_of_numbers_does_not_discard_the_other_answers(tmp_path):
    draft = draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", MIXED))
    assert "skip" not in draft.text.partition("format:")[0]
    assert "compared by its kind: 20 numbers, 2 dates, 3 choice letters.\n  accuracy: {weight: 1.0}\n" in draft.text
    numbers = draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", PADDED))
    assert "accuracy: {weight: 1.0, kind: number}" in numbers.text


def test_notes_say_what_the_data_are(tmp_path):
    rows = [*FOUR, {**FOUR[0], "answer": "7"}, {**FOUR[1], "answer": ""}, {**FOUR[2], "question": "?", "answer": "N/A"}]
    notes = "\n".join(draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows)).notes)
    for line in (
        "7 rows; ",
        "answers: 5 numbers",
        "usable answer: 2;",
        "ids: train/0",
    ):
        assert line in notes


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        (["question", "predicted_answer", "answer_idx"], "answer_idx"),  # MedAgents
        (["prompt", "answer", "ref_answer"], "ref_answer"),  # LLMDrift
        (["question", "answer", "gold"], "answer"),
    ],
)
def test_the_answer_of_a_model_is_no_gold_answer(tmp_path, columns, answer):
    rows = [dict(zip(columns, (f"{n}+{n}?", str(2 * n), str(2 * n)), strict=True)) for n in range(1, 20)]
    draft = draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows))
    assert f"answer: {answer}" in "\n".join(draft.notes)


def found(golds):
    return {index: why for index, why, _ in doubtful(golds)}


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        *[(gold, "looks like a missing answer") for gold in ("N/A", " none ", "-", "?", "#REF!", "nan", "...")],
        *[(gold, "is no date of the calendar") for gold in ("2024-02-30", "2023-2-29", "31/31/2020", "31.04.2021")],
        *[(gold, None) for gold in ("2024-02-29", "30/4/2021", "4/30/2021", "-1", "0", "no", "x-y", "1234-56-789")],
    ],
)
def test_golds_that_look_wrong(gold, why):
    golds = [*map(str, range(20)), gold]
    assert found(golds) == ({20: why} if why else {})


def test_decimal_commas_look_wrong_unless_they_are_few():
    why = "is read as two numbers, not as one with a decimal comma"
    numbers = ["3", "12", "1.5", "1,234", "(1,5)"]
    mixed = f"{why}; others have decimal points"
    assert found([*numbers, "1,5", "-12,25"]) == {5: mixed, 6: mixed}
    assert found([*numbers[:2], "1,5", "-12,25"]) == {2: why, 3: why}
    assert not found([*numbers, *numbers, "2,3"])  # the roots of an equation


def test_a_frequent_answer_is_a_class_of_its_own():
    assert not found(["none", "none", "spam", "spam", "spam"])
    assert list(found(["none", "spam", "ham", "spam", "spam"])) == [0]


@pytest.mark.parametrize(
    ("rows", "given", "problem"),
    [
        ([{"a": "1", "b": "2"}], {}, "no column looks like the question; name it with --question; .*: a, b"),
        (
            [{"question": "1", "b": "2"}],
            {},
            r"no column looks like the answer \(the question: question\); name .* --answer; .*: question, b",
        ),
        (FOUR, {"answer": "gold"}, "no column 'gold'; name it with --answer; .*: question, answer, id"),
        (FOUR, {"answer": "anwser"}, "no column 'anwser'; did you mean 'answer'.; name it with --answer; "),
        (FOUR, {"question": "qestion"}, "no column 'qestion'; did you mean 'question'.; name it with --question; "),
        (
            [{"canary": "x", "examples": [{"input": "2+2?"}]}],
            {},
            r"the rows are under 'examples': jq -c '.examples\[\]'",
        ),
        (
            [{"features": [{"name": "question"}], "rows": [{"row_idx": 0, "row": {"question": "2+2?"}}]}],
            {},
            r"the rows are under 'rows': jq -c '.rows\[\].row'",  # the viewer of the hub
        ),
        ([], {}, "no rows"),
    ],
)
def test_columns_that_are_not_found(tmp_path, rows, given, problem):
    with pytest.raises(UsageError, match=problem):
        draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows), **given)


def test_a_column_without_any_value_holds_no_answers(tmp_path):
    """AGIEval's Gaokao has its answers in ``label``, beside an empty column ``answer``."""
    rows = [{"question": f"What is {n} + 1?", "answer": None, "label": str(n + 1)} for n in range(40)]
    assert "{{ label }}" in draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows)).text


def test_a_row_without_a_worked_solution_is_skipped(tmp_path):
    rows = [{"question": f"What is {n} + 1?", "answer": f"{n} + 1\n#### {n + 1}"} for n in range(40)]
    file = tmp_path / "own.yaml"
    draft = draft_task(file, write(tmp_path / "data.jsonl", [*rows, {"question": "What is 7 + 7?", "answer": None}]))
    file.write_text(draft.text)
    task = load_task(file)
    assert {example.answer for example in task.examples("all")} == {str(n + 1) for n in range(40)}
    assert "rows without a usable answer: 1; they are skipped (dataset.bad_gold: skip)" in draft.notes


LETTERS = ["ABCD"[n % 4] for n in range(24)]
OPTIONS = [[f"{n} pens", f"{2 * n} pens", f"{n + 31} inks", f"{n + 57} caps"] for n in range(10, 34)]
ASKED = [f"What did person {n} buy first in shop number {n * 7}?" for n in range(24)]
ONE_EACH = list(zip(ASKED, OPTIONS, LETTERS, strict=True))
WITH_COLUMNS = [{"question": q, **dict(zip("ABCD", o, strict=True)), "answer": a} for q, o, a in ONE_EACH]
LISTED = [{"question": q, "choices": o, "answer": "ABCD".index(a)} for q, o, a in ONE_EACH]
TEXTS = [{"question": q, "options": o, "target": o["ABCD".index(a)]} for q, o, a in ONE_EACH]
LABELED = [{"question": q, "options": dict(zip("ABCD", o, strict=True)), "correct": a} for q, o, a in ONE_EACH]
TABLES = [
    {"question": q, "text": f"Report {n}", "table": f"|2006|{n}|", "answer": [str(n)]} for n, q in enumerate(ASKED)
]
MANY = [{"question": q, "answer": [f"river {'abcdefgh'[n % 8] * 3}", "the other"]} for n, q in enumerate(ASKED)]
SOME_LISTS = [{"question": q, "answer": [f"river {n}"] if n % 2 else n + 0.5} for n, q in enumerate(ASKED)]
ALIASES = [
    {"question": q, "answer": {"value": f"Ann {n}", "aliases": [f"Ann {n}", "Annie"]}} for n, q in enumerate(ASKED)
]
KNIGHTS = [{"question": q, "answer": [n % 2 == 0, n % 3 == 0, True]} for n, q in enumerate(ASKED)]  # Logic-RL
UNIT_COLUMN = [
    {"question": q, "answer": f"{n}.5", "unit": ["$\\mathrm{~m}$", "kg", ""][n % 3]} for n, q in enumerate(ASKED)
]
ROUNDED = [{"question": q, "answer": "0.6666666667" if n == 3 else n} for n, q in enumerate(ASKED)]
COMMAS = [{"question": q, "answer": f"{n},5"} for n, q in enumerate(ASKED)]
BODY = [{"Body": f"There are {n} birds.", "Question": "How many are left?", "Answer": n - 1.0} for n in range(5, 30)]


@pytest.mark.parametrize(
    ("rows", "written", "prompt"),
    [
        (WITH_COLUMNS, "accuracy: {weight: 1.0, kind: choice}", "A) 10 pens\nB) 20 pens\nC) 41 inks\nD) 67 caps"),
        (LISTED, "accuracy: {weight: 1.0, kind: choice}", "A) 10 pens\nB) 20 pens\nC) 41 inks\nD) 67 caps"),
        (LABELED, "accuracy: {weight: 1.0, kind: choice}", "A) 10 pens\nB) 20 pens\nC) 41 inks\nD) 67 caps"),
        (TEXTS, "accuracy: {weight: 1.0, kind: number}", "10 pens\n20 pens\n41 inks\n67 caps"),
        (TABLES, "accuracy: {weight: 1.0, golds: any}", "Report 0\n\n|2006|0|\n\nWhat did person 0"),
        (MANY, "accuracy: {weight: 1.0, golds: any}", "What did person 0"),
        (SOME_LISTS, "accuracy: {weight: 1.0, golds: any}", "What did person 0"),
        (ALIASES, "accuracy: {weight: 1.0, golds: any}", "What did person 0"),
        (KNIGHTS, "accuracy: {weight: 1.0, kind: literal}", "What did person 0"),
        (UNIT_COLUMN, "numeric: {weight: 1.0, rel_tol: 0.01}", "What did person 0"),
        (list(physics_rows(30)), "numeric: {weight: 1.0, rel_tol: 0.01}", "Case 0:"),
        (ROUNDED, "accuracy: {weight: 1.0, rel_tol: 1.0e-06, kind: number}", "What did person 0"),
        (COMMAS, "accuracy: {weight: 1.0, decimal: comma, kind: number}", "What did person 0"),
        (BODY, "accuracy: {weight: 1.0, kind: number}", "There are 5 birds.\n\nHow many are left?"),
    ],
)
def test_the_task_is_what_check_would_advise(tmp_path, rows, written, prompt):
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, write(tmp_path / "rows.jsonl", rows)).text)
    assert written in file.read_text()
    task = load_task(file)
    examples = [*task.examples("train"), *task.examples("eval")]
    assert len(examples) == len(rows)
    assert any(prompt in example.prompt[-1].content for example in examples)
    result = check(task)
    assert result.ok, str(result)
    assert {finding.check for finding in result.findings} <= {"overlap", "columns"}, str(result)
    assert result.facts["cases"] == "2 cases, 4 values, 0 wrong"
    assert task.spec.description == f"{len(rows)} questions of rows.jsonl."


def test_programs_with_tests_are_run(tmp_path):
    code = "def add(a, b):\n    total = a + b\n    return total + {0}"
    rows = [
        {"text": f"Add two numbers and {n}.", "code": code.format(n), "test_list": [f"assert add(1, 2) == {n + 3}"]}
        for n in range(4)
    ]  # MBPP's columns
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, write(tmp_path / "rows.jsonl", rows), answer="code").text)
    assert "python_tests: {weight: 1.0, tests: test_list}" in file.read_text()
    result = check(load_task(file))
    assert result.ok, str(result)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("semicolons.csv", "Frage;Lösung\n{}\n"),
        ("tabs.tsv", "Pregunta\tRespuesta\n{}\n"),
        ("chinese.csv", "问题,答案\n{}\n"),
    ],
)  # fmt: skip
def test_tables_of_spreadsheets_in_other_languages(tmp_path, name, content):
    separator = next(sign for sign in ";\t," if sign in content)
    lines = "\n".join(f'"{q}"{separator}{n + 2}' for n, q in enumerate(ASKED))
    (tmp_path / name).write_bytes(content.format(lines).encode())
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, tmp_path / name).text)
    task = load_task(file)
    result = check(task)
    assert result.ok, str(result)
    assert sorted(int(e.answer) for split in ("train", "eval") for e in task.examples(split)) == list(range(2, 26))


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_folder_of_shards_is_one_table(tmp_path, suffix):
    (tmp_path / "shards").mkdir()
    for part in range(3):
        path = tmp_path / "shards" / f"train-{part:05}-of-00003{suffix}"
        rows = [{"question": q, "answer": n} for n, q in enumerate(ASKED) if n % 3 == part]
        if suffix == ".parquet":
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        else:
            write(path, rows)
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, tmp_path / "shards").text)
    task = load_task(file)
    assert check(task).ok
    examples = [*task.examples("train"), *task.examples("eval")]
    assert sorted(int(example.answer) for example in examples) == list(range(24))
    assert all("train-0000" in example.name for example in examples)


def test_a_hub_id_without_a_network_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match=r"dataset 'nobody/no_such_data' .* cannot be loaded") as caught:
        draft_task(tmp_path / "own.yaml", "nobody/no_such_data")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "note"),
    [
        ("model_output", "completions: model_output? grpo_env score {task} {data} --completion model_output"),
        ("completion", "completions: completion? grpo_env score {task} {data} --completion completion"),
        ("colour", None),
    ],
)
def test_a_column_that_may_hold_completions_is_named_with_the_command_that_scores_it(tmp_path, column, note):
    rows = [{"question": f"{n}+1?", "answer": n + 1, column: f"The answer is {n + 1}."} for n in range(9)]
    task, data = tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows)
    draft = draft_task(task, data)
    said = [line for line in draft.notes if line.startswith("completions")]
    assert said == ([note.format(task=task, data=data)] if note else [])


@pytest.mark.parametrize(("repeats", "group"), [(1, ""), (2, " --group question")])
def test_completions_of_questions_that_repeat_are_scored_in_groups(tmp_path, repeats, group):
    rows = [
        {"question": f"{n}+1?", "answer": n + 1, "completion": f"{n + k}"} for n in range(9) for k in range(repeats)
    ]
    task, data = tmp_path / "own.yaml", write(tmp_path / "data.jsonl", rows)
    notes = draft_task(task, data).notes
    assert f"completions: completion? grpo_env score {task} {data} --completion completion{group}" in notes
    said = [note for note in notes if note.startswith("questions: 9 different ones in 18 rows; to train on them, keep")]
    assert len(said) == repeats - 1


def test_the_head_of_a_draft_names_the_commands_in_the_order_in_which_they_are_used(tmp_path):
    text = draft_task(tmp_path / "own.yaml", write(tmp_path / "data.jsonl", FOUR)).text
    lines = [line for line in text.splitlines() if line.startswith("#   grpo_env ")]
    assert [line.split("own.yaml")[0].split("grpo_env ")[1].strip() for line in lines] == [
        "tasks show", "check", "audit", "score", "train"
    ]  # fmt: skip
    assert "--completion COLUMN" in text


def test_a_row_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "table.csv").write_text("question,answer\nWhat is 1+1?,2,\n")
    with pytest.raises(UsageError, match=r"table\.csv, line 2: expected 2 columns, found 3"):
        draft_task(tmp_path / "own.yaml", tmp_path / "table.csv")


@pytest.mark.parametrize("words", [("yes", "no"), ("off", "on"), ("null", "none")])
def test_answers_that_yaml_would_read_as_something_else_are_quoted(tmp_path, words):
    rows = [{"question": f"Question {n}?", "answer": words[n % 2]} for n in range(12)]
    file = tmp_path / "own.yaml"
    file.write_text(draft_task(file, write(tmp_path / "rows.jsonl", rows)).text)
    task = load_task(file)
    assert {example.answer for example in task.examples("all")} == set(words)
    assert check(task).ok
