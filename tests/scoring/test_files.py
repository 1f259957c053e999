"""``score_files``: types of files, processes that die, runs that are killed and resumed."""

import contextlib
import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import pandas
import psutil
import pyarrow.parquet
import pytest
from rich.console import Console

from grpo_env.core import Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.registry import load_file, verifier
from grpo_env.results.part_scores import named_scores
from grpo_env.results.rows import read_scores
from grpo_env.rows.reader import read_records
from grpo_env.scoring import Fields, Options, OutputFile, chunks, score_files
from grpo_env.scoring.chunks import Chunk
from grpo_env.scoring.input_file import InputFile
from grpo_env.scoring.job import Job
from grpo_env.scoring.resume import ResumableOutput
from grpo_env.scoring.row_reader import RowReader
from grpo_env.scoring.score_row import score_fields
from grpo_env.scoring.scores_to_parquet import write_parquet
from grpo_env.taskfile.task import make_task

SUMS = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "rows.jsonl", "answer": "{{ answer }}"},
    "prompt": {"user": "{{ question }}"},
    "verifiers": {
        "accuracy": {"weight": 2.0, "process": 0.0},
        "both": {"use": "all_of", "of": {"tag_count": {}, "strict_format": {}}, "process": 0.0},
        "steps": {"use": "equation_steps", "weight": 0.0, "process": 1.0},
    },
    "metric": "accuracy",
}

OWN = '''
import ctypes
import os
import time
from contextlib import suppress
from dataclasses import dataclass

from grpo_env.core import Score, Verifier
from grpo_env.registry import verifier


@verifier("test_run_obeys")
@dataclass(frozen=True)
class Obeys(Verifier):
    """Does what the text says to its process."""

    def __call__(self, example, completion):
        if "leave" in completion.text:
            os._exit(3)
        if "crash" in completion.text:
            ctypes.string_at(0)
        if "write" in completion.text:
            for descriptor in range(3, 256):
                with suppress(OSError):
                    os.write(descriptor, b"garbage\\n" * 100)
        time.sleep(0.004)
        return Score(1.0, rule="obeys")
'''


@pytest.fixture
def task(tmp_path):
    return make_task(SUMS, "sums.yaml", tmp_path)


@pytest.fixture
def verifier_file(tmp_path):
    """A file with a verifier, and a task that uses it."""
    path = tmp_path / "test_run_verifier.py"
    path.write_text(OWN)
    return path


def rows(count, **more):
    return [
        {"id": f"r{n}", "question": f"{n}+0?", "answer": n, "completion": f"#### {n}", **more} for n in range(count)
    ]


def write(path, rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def without_seconds(path):
    return [{**row, "seconds": 0} for row in read_scores(path)]


def quiet():
    return Console(file=io.StringIO())


GROUP = {"question": "1+1?", "gold": "2", "responses": ["<answer>2</answer>", "no"]}
SINGLE = {"problem": "1+1?", "solution": "2", "model_output": "<answer>2</answer>"}


@pytest.mark.parametrize(
    ("row", "given", "advice"),
    [
        (GROUP, {}, "question, gold, responses (2 each); try --completion responses --answer gold"),
        (GROUP, {"completion": "respones"}, "try --completion responses --answer gold"),
        (GROUP, {"completion": "responses"}, "question, gold, responses (2 each); try --answer gold"),
        (SINGLE, {}, "problem, solution, model_output; try --completion model_output --answer solution"),
        (
            {"completion": "2"},
            {},
            "texts: completion; --join id, prompt or order finds the answers in the task's data",
        ),
        (
            {"asked": "1+1?", "model_says": "2", "ref": "2"},
            {},
            "asked, model_says, ref; name them with --completion COLUMN --answer COLUMN; --join id, prompt or order "
            "finds the answers in the task's data",
        ),
        ({"n": 1, "m": [1, 2]}, {}, "holds texts; --join id, prompt or order finds the answers in the task's data"),
    ],
)
def test_a_wrong_column_stops_at_once_and_what_it_advises_works(task, tmp_path, row, given, advice):
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_text(json.dumps(row) + "\n")
    fields = Fields((given["completion"],) if given else ())
    with pytest.raises(UsageError) as error:
        score_files(task, [file], OutputFile(out), Options(fields), console=quiet())
    assert str(error.value).endswith(advice)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
    if "try --" not in advice:
        return
    words = str(error.value).partition("try ")[2].split()
    flags = dict(zip(words[::2], words[1::2], strict=True))
    completion = flags.get("--completion") or given["completion"]
    summary = score_files(
        task, [file], OutputFile(out), Options(Fields((completion,), flags["--answer"])), console=quiet()
    )
    assert summary.mean("accuracy") == 1 / len(row.get("responses", [0]))


@pytest.mark.parametrize("field", ["answer", "prompt", "id", "group", "label"])
def test_a_misspelled_column_of_any_option_stops_at_once_with_the_nearest(task, tmp_path, field):
    file = write(tmp_path / "c.jsonl", [{"completion": "5", "answer": "5", "known_column": "true"}])
    fields = Fields(**{field: ("known_colum",) if field == "label" else "known_colum"})
    with pytest.raises(UsageError, match=rf"no {field}.* \(no field 'known_colum'; did you mean 'known_column'\?\)"):
        score_files(task, [file], None, Options(fields, workers=1), console=quiet())


def test_rows_without_a_column_among_others_are_rejects(task, tmp_path):
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows = [GROUP] * 40 + [{"question": "?", "answer": "2", "completion": "<answer>2</answer>"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    assert score_files(task, [file], OutputFile(out), console=quiet()).bad_rows == 40


@pytest.mark.parametrize("content", ["", "question,answer,completion\n"])
def test_a_file_without_rows_is_an_error_unless_another_one_has_some(task, tmp_path, content):
    file, out = tmp_path / "rows.csv", tmp_path / "out.jsonl"
    file.write_text(content)
    with pytest.raises(UsageError, match=r"rows\.csv: no rows"):
        score_files(task, [file], OutputFile(out), console=quiet())
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"question": "?", "answer": "2", "completion": "2"}) + "\n")
    assert score_files(task, [file, other], OutputFile(out), console=quiet()).completions == 1
    with pytest.raises(UsageError, match="is an input"):
        score_files(task, [out], OutputFile(out, overwrite=True), console=quiet())
    write(tmp_path / "data.jsonl", rows(2))
    dataset = {**SUMS["dataset"], "path": "data.jsonl", "split": {"eval": 1.0}}
    of_data = make_task({**SUMS, "dataset": dataset}, "sums.yaml", tmp_path)
    with pytest.raises(UsageError, match=r"data\.jsonl: is an input"):
        score_files(of_data, [other], OutputFile(tmp_path / "data.jsonl", overwrite=True), console=quiet())


def test_rows_are_joined_by_ids_of_both_sides_by_prompt_or_by_order(tmp_path):
    data = [{"uid": f"u{n}", "question": f"{n}+{n}?", "answer": str(2 * n)} for n in range(6)]
    (tmp_path / "rows-eval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    dataset = {**SUMS["dataset"], "path": "rows-{split}.jsonl", "id": "{{ uid }}"}
    prompt = {"user": "Work it out: {{ question }} Be brief."}
    sums = make_task({**SUMS, "dataset": dataset, "prompt": prompt}, "sums.yaml", tmp_path)
    texts = [f"<answer>{2 * n if n < 4 else 0}</answer>" for n in range(6)]
    batch = [
        {"custom_id": f"req-{row['uid']}", "response": {"status_code": 200, "body": {"choices": [{"text": text}]}}}
        for row, text in zip(data, texts, strict=True)
    ]
    own = [{"prompt": row["question"], "completion": text} for row, text in zip(data, texts, strict=True)]
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"

    def scored(rows, **options):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        score_files(sums, [file], OutputFile(out, overwrite=True), Options(**options), console=quiet())
        return [(row["id"], row["parts"]["accuracy"]["value"]) for row in read_scores(out)]

    expected = [(f"u{n}", float(n < 4)) for n in range(6)]
    with pytest.raises(
        UsageError, match=r"has the id 'req-u0'.* look like 'u0' and 'u1'; name the columns .*--id in the f"
    ):
        scored(batch)
    by_id = Fields(id="{{ custom_id.split('-')[1] }}")
    assert scored(reversed(batch), fields=by_id) == expected[::-1]
    assert scored(batch, join="order") == expected
    assert scored(own, join="order") == expected
    chats = [
        {"messages": [{"role": "system", "content": "Hm."}, {"role": "user", "content": row["prompt"]}, answer]}
        for row, answer in zip(own, ({"role": "assistant", "content": text} for text in texts), strict=True)
    ]
    assert scored(reversed(chats)) == expected[::-1]  # whatever their system message
    assert scored([chats[0], {"messages": chats[1]["messages"][:2]}, *chats[2:]]) == [expected[0], *expected[2:]]
    assert scored(reversed(own), join="prompt") == expected[::-1]
    bare = [{"asked": row["prompt"], "completion": row["completion"]} for row in own]  # not the rendered prompt
    assert scored(reversed(bare), join="prompt", fields=Fields(prompt="asked")) == expected[::-1]
    with pytest.raises(UsageError, match=r"this row has no column 'prompt'.*--prompt.* log_extra"):
        scored(bare, join="prompt")
    with pytest.raises(UsageError, match="has 5 rows, and the split 6 examples"):
        scored(own[1:], join="order")
    write(tmp_path / "rows.jsonl", data)
    divided = {**SUMS["dataset"], "path": "rows.jsonl", "split": {"train": 0.5, "eval": 0.5}, "id": "{{ uid }}"}
    sums = make_task({**SUMS, "dataset": divided, "prompt": prompt}, "sums.yaml", tmp_path)
    with pytest.raises(UsageError, match="not in the order of the data; with dataset"):
        scored(own, join="order", split="all")
    with pytest.raises(UsageError, match="this row has no column 'prompt'"):
        scored([{"completion": "5"}], join="prompt")


def test_an_id_of_two_examples_joins_nothing(tmp_path):
    write(tmp_path / "data.jsonl", [{"uid": "a", "question": "1+1?", "answer": n} for n in ("2", "3")])
    data = {**SUMS, "dataset": {**SUMS["dataset"], "path": "data.jsonl", "split": {"eval": 1.0}, "id": "{{ uid }}"}}
    sums = make_task(data, "sums.yaml", tmp_path)
    file = write(tmp_path / "in.jsonl", [{"id": "a", "completion": "<answer>2</answer>"}])
    with pytest.raises(UsageError, match=r"line 2.*: the id 'a' is also that of .*line 1.*; fix dataset.id"):
        score_files(sums, [file], OutputFile(tmp_path / "out.jsonl"), Options(join="id"), console=quiet())


def test_files_of_several_kinds_are_scored_into_one_and_rejects_into_another(task, tmp_path):
    first = write(tmp_path / "a.jsonl", [*rows(2), "{broken"])
    with gzip.open(tmp_path / "b.csv.gz", "wt") as file:
        file.write('id,question,answer,completion\nr0,0+0?,0,#### 0\nr1,"1+0?,1,#### 1\n')
    console = Console(file=io.StringIO(), width=200)
    out = tmp_path / "out.parquet"
    tally = score_files(task, [first, tmp_path / "b.csv.gz"], OutputFile(out), Options(text=False), console=console)
    assert (tally.completions, tally.bad_rows) == (3, 2)
    scores = list(read_scores(out))
    a, b = str(first), str(tmp_path / "b.csv.gz")
    assert [(row["file"], row["group"], row["line"], row["total"]) for row in scores] == [
        (a, f"{a}:line 1", 1, 2.0),
        (a, f"{a}:line 2", 2, 2.0),
        (b, f"{b}:line 2", 2, 2.0),
    ]
    assert {(row["task"], row["metric"], row["text"], row["prompt"]) for row in scores} == {
        ("sums", "accuracy", None, None)
    }
    rejects = [record.row for record in read_records(tmp_path / "out.parquet.rejects.jsonl")]
    assert [{**reject, "problem": ""} for reject in rejects] == [
        {"file": a, "line": 3, "problem": "", "row": "{broken"},
        {"file": b, "line": 3, "problem": "", "row": None},
    ]
    for line in (f"{a}: grpo_env rows", f"{a}, line 3: not valid JSON", "2 rows could not be scored"):
        assert line in console.file.getvalue()


def test_parquet_holds_what_jsonl_does(task, tmp_path):
    strange = "2+2=4 \ud800 <b>\x1b[31m\n#### 0"
    inputs = [
        {**rows(1)[0], "completion": strange, "prompt": [{"role": "user", "content": "hm"}], "y": True},
        {**rows(1)[0], "completion": "<answer>0</answer>", "prompt": "text", "y": False},
    ]
    lines = read_records(write(tmp_path / "rows.jsonl", inputs))
    job = Job(task, ("f",), (RowReader(task, Fields(label=("y",))),), advantages=True)
    jsonl, parquet = tmp_path / "scores.jsonl", tmp_path / "scores.parquet"
    jsonl.write_bytes(job(Chunk(0, tuple(lines))).lines)
    write_parquet(task, jsonl, parquet)
    expected, actual = list(read_scores(jsonl)), [without_nulls(row) for row in read_scores(parquet)]
    assert expected[0]["text"] == strange
    expected[0]["text"] = strange.replace("\ud800", "\ufffd")
    expected[0]["prompt"] = json.dumps(expected[0]["prompt"])  # texts and chats in one column
    assert actual == [without_nulls(row) for row in expected]
    assert [row["parts"]["accuracy"]["kind"] for row in (expected[0], actual[0])] == ["number", "number"]
    assert actual[0]["parts"]["both"]["parts"]["tag_count"]["value"] == 0.0
    assert [step["value"] for step in actual[0]["steps"]] == [1.0]


@verifier("test_run_ruled")
@dataclass(frozen=True)
class Ruled(Verifier):
    """Has a rule."""

    def __call__(self, example, completion):
        return Score(1.0, rule="same text")


def test_a_row_has_the_rules_of_verifiers_that_have_some(tmp_path):
    chosen = {"first": {"use": "first_of", "of": {"own": {"use": "test_run_ruled"}}}, "tag_count": {}}
    task = make_task({**SUMS, "verifiers": chosen, "metric": "own"}, "rules.yaml", tmp_path)
    lines = read_records(write(tmp_path / "rows.jsonl", rows(1)))
    (tmp_path / "x.jsonl").write_bytes(Job(task, ("f",), (RowReader(task),))(Chunk(0, tuple(lines))).lines)
    write_parquet(task, tmp_path / "x.jsonl", tmp_path / "x.parquet")
    ((row,), (packed,)) = (list(read_scores(tmp_path / name)) for name in ("x.jsonl", "x.parquet"))
    assert (row["parts"]["first"]["rule"], row["parts"]["first"]["parts"]["own"]["rule"]) == ("same text", "same text")
    assert "rule" not in row
    assert "rule" not in row["parts"]["tag_count"]
    assert (packed["rule"], packed["parts"]["first"]["rule"], packed["parts"]["tag_count"]["rule"]) == (
        None,
        "same text",
        None,
    )
    expected = {"total": "", "first": "same text", "first.own": "same text", "tag_count": ""}
    for either in (row, packed):
        assert {name: score.rule for name, score in named_scores(either).items()} == expected
    total = score_fields(Score(1.0, rule="number"))
    assert named_scores({**row, **total})["total"].rule == "number"


def without_nulls(value):
    """The value without null entries."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_chats_stay_chats_in_parquet(task, tmp_path):
    job = Job(task, ("f",), (RowReader(task),))
    (tmp_path / "x").write_bytes(job(Chunk(0, tuple(read_records(write(tmp_path / "r.jsonl", rows(1)))))).lines)
    write_parquet(task, tmp_path / "x", tmp_path / "x.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    assert table["prompt"].to_pylist() == [[{"role": "user", "content": "0+0?"}]]


@pytest.mark.parametrize("column", ["question", "answer", "tests"])
def test_an_interrupted_run_is_not_continued_with_other_examples(tmp_path, monkeypatch, column):
    """Joined rows take any column of their examples: ``python_tests`` reads its tests there."""
    dataset = {**SUMS["dataset"], "id": "{{ id }}", "split": {"eval": 1.0}}
    file, out = write(tmp_path / "in.jsonl", [{"id": "r0", "completion": "#### 0"}]), tmp_path / "out.jsonl"
    example = {**rows(1)[0], "tests": "assert f(1) == 1"}

    def score():
        task = make_task({**SUMS, "dataset": dataset}, "sums.yaml", tmp_path)
        return score_files(task, [file], OutputFile(out), Options(join="id"), console=quiet())

    def interrupted(*_):
        raise KeyboardInterrupt

    write(tmp_path / "rows.jsonl", [example])
    with monkeypatch.context() as patched:
        patched.setattr(ResumableOutput, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            score()
    write(tmp_path / "rows.jsonl", [{**example, column: "2"}])
    with pytest.raises(UsageError, match="examples was"):
        score()


def test_completions_without_questions_are_joined_with_the_tasks_examples(tmp_path):
    write(tmp_path / "data.jsonl", rows(3))
    data = {
        **SUMS,
        "dataset": {
            "path": "data.jsonl",
            "split": {"train": 0.5, "eval": 0.5},
            "answer": "{{ answer }}",
            "id": "{{ id }}",
        },
    }
    task = make_task(data, "sums.yaml", tmp_path)
    known = {example.id: example for split in ("train", "eval") for example in task.examples(split)}
    batch = [
        {"custom_id": f"r{n}", "response": {"status_code": 200, "body": {"choices": [choice]}}}
        for n, choice in enumerate(
            {
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": f"#### {n}", "reasoning_content": "hm"},
            }
            for n in range(3)
        )
    ]
    path = write(tmp_path / "batch.jsonl", batch)
    batch_file = InputFile(path, task, Fields())
    job = Job(task, ("f",), (batch_file.reader(known.values(), prompts=True),))
    scores = [json.loads(line) for line in job(Chunk(0, tuple(batch_file.rows()))).lines.splitlines()]
    assert [(row["id"], row["parts"]["accuracy"]["value"], row["finish_reason"]) for row in scores] == [
        (f"r{n}", 1.0, "stop") for n in range(3)
    ]
    assert scores[0]["text"] == "<think>\nhm\n</think>\n#### 0"
    assert scores[2]["prompt"] == [{"role": "user", "content": "2+0?"}]
    with pytest.raises(UsageError, match=r"no example of the split has the id 'r0'.*dataset.id='{{ column }}'"):
        batch_file.reader([], prompts=True)
    with pytest.raises(UsageError, match="has the id '200'"):
        InputFile(path, task, Fields(id="response.status_code")).reader(known.values(), prompts=True)


@pytest.mark.parametrize(
    ("files", "out", "problem"),
    [
        (["a.jsonl"], "x.csv", "must end in .jsonl or .parquet"),
        (["a.jsonl", "a.jsonl"], None, "given twice"),
        (["b.jsonl"], None, "no such file"),
        (["."], None, "a folder, not a file"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_written(task, tmp_path, files, out, problem):
    write(tmp_path / "a.jsonl", rows(1))
    before = sorted(tmp_path.iterdir())
    with contextlib.chdir(tmp_path), pytest.raises(UsageError, match=problem):
        score_files(
            task,
            [tmp_path / name for name in files],
            OutputFile(tmp_path / out) if out else None,
            console=Console(quiet=True),
        )
    assert sorted(tmp_path.iterdir()) == before


def test_texts_of_a_file_do_not_steer_the_terminal(task, tmp_path):
    rollout = {"example_id": 1, "question": "1+1?", "answer": "2", "completion": "2", "reward": 1.0}
    file = write(tmp_path / "results.jsonl", [rollout, {**rollout, "error": "gone\x1b[2J"}])
    console = Console(file=io.StringIO(), width=200)
    score_files(task, [file], OutputFile(tmp_path / "out.jsonl"), console=console)
    assert "line 2: the rollout failed: gone\\x1b[2J\n" in console.file.getvalue()


def test_many_processes_give_the_same_rows_in_order(tmp_path):
    lines = rows(300)
    lines[100] = "broken"
    path, task = write(tmp_path / "rows.jsonl", lines), make_task(SUMS, "t", tmp_path)
    outs = [tmp_path / f"{workers}.jsonl" for workers in (1, 2)]
    for workers, out in enumerate(outs, start=1):
        score_files(task, [path], OutputFile(out), Options(workers=workers), console=quiet())
    alone, together = map(without_seconds, outs)
    assert alone == together
    assert [row["id"] for row in alone] == [f"r{n}" for n in range(300) if n != 100]


@pytest.mark.slow
def test_a_process_that_dies_costs_only_the_row_that_killed_it(verifier_file, tmp_path):
    load_file(verifier_file)
    data = {**SUMS, "verifiers": {"accuracy": {}, "own": {"use": "test_run_obeys", "weight": 0.0}}}
    inputs = rows(70)
    inputs[3]["completion"], inputs[30]["completion"], inputs[66]["completion"] = "leave", "write", "crash"
    path, out = write(tmp_path / "rows.jsonl", inputs), tmp_path / "out.jsonl"
    score_files(
        make_task(data, "t", tmp_path), [path], OutputFile(out), Options(workers=2), console=Console(quiet=True)
    )
    assert [row["id"] for row in read_scores(out)] == [f"r{n}" for n in range(70) if n not in (3, 30, 66)]
    rejects = [record.row for record in read_records(tmp_path / "out.rejects.jsonl")]
    assert [(row["line"], row["problem"], row["row"]["id"]) for row in rejects] == [
        (4, "the worker process died (exit code 3)", "r3"),
        (31, "the worker process was ended: something else than its answer was written to its pipe", "r30"),
        (67, "the worker process died (SIGSEGV)", "r66"),
    ]


@pytest.mark.slow
def test_a_killed_run_resumes_without_losing_or_repeating_rows(verifier_file, tmp_path):
    write(tmp_path / "rows.jsonl", [*rows(600), "{broken", *rows(600, group="g")])
    task = {**SUMS, "verifiers": {"accuracy": {}, "own": {"use": "test_run_obeys", "weight": 0.0}}}
    (tmp_path / "sums.yaml").write_text(json.dumps(task))

    def start(out):
        command = [
            "score",
            "sums.yaml",
            "rows.jsonl",
            "--verifiers",
            verifier_file.name,
            "--out",
            out,
            "--workers",
            "2",
        ]
        return subprocess.Popen(
            [sys.executable, "-m", "grpo_env", *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )

    def rows_done(state):
        with contextlib.suppress(OSError, ValueError):
            return json.loads(state.read_bytes())["summary"]["rows"]
        return 0

    draw, earlier = random.Random(0), 0
    for _ in range(2):  # benchmarks/scoring.py --kills does many
        run = start("out.jsonl")
        while run.poll() is None and rows_done(tmp_path / ".out.jsonl.part.json") <= earlier:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.2))
        workers = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        assert psutil.wait_procs(workers, timeout=30)[1] == [], "workers end with the process that started them"
        earlier = rows_done(tmp_path / ".out.jsonl.part.json")
        assert not (tmp_path / "out.jsonl").exists()
    last = start("out.jsonl")
    _, stderr = last.communicate()
    assert last.returncode == 1
    assert f"resuming after {earlier:,} rows" in stderr
    scores = list(read_scores(tmp_path / "out.jsonl"))
    assert [row["line"] for row in scores] == [n for n in range(1, 1202) if n != 601]
    assert all(row["total"] == 1.0 for row in scores)
    assert {row["parts"]["own"]["rule"] for row in scores} == {"obeys"}
    assert [record.row["line"] for record in read_records(tmp_path / "out.rejects.jsonl")] == [601]
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == ["out.jsonl", "out.rejects.jsonl"]


VERL = {"gts": "5", "score": 0.0, "step": 1}  # one row a completion, in the order of balance_batch
MIXED = [{**VERL, "input": f"q{n % 2}", "output": f"#### {5 if n < 2 else 6}"} for n in range(4)]


@pytest.mark.parametrize("chunk_rows", [1, 64])
def test_groups_that_verl_mixed_are_put_together_within_their_step(task, tmp_path, monkeypatch, chunk_rows):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", chunk_rows)
    file = write(tmp_path / "1.jsonl", [*MIXED, "{broken", *({**row, "step": 2} for row in MIXED)])
    console = quiet()
    summary = score_files(task, [file], OutputFile(tmp_path / "out.jsonl"), Options(advantages=True), console=console)
    scores = list(read_scores(tmp_path / "out.jsonl"))
    assert [row["line"] for row in scores] == [1, 3, 2, 4, 6, 8, 7, 9]
    assert [row["advantage"] for row in scores] == pytest.approx([0.70711, -0.70711] * 4, abs=1e-4)
    assert len({row["group"] for row in scores}) == 4
    assert (summary.returning_groups, summary.bad_rows) == (0, 1)


@pytest.mark.parametrize("chunk_rows", [1, 64])
def test_groups_that_return_are_named_with_both_lines(task, tmp_path, monkeypatch, chunk_rows):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", chunk_rows)
    keys = ["a", "a", "b", "a", "b", None, "c", "c"]
    console = quiet()
    file = write(tmp_path / "in.jsonl", [{**row, "group": key} for row, key in zip(rows(8), keys, strict=True)])
    summary = score_files(task, [file], OutputFile(tmp_path / "out.jsonl"), console=console)
    assert summary.returning_groups == 2
    assert console.file.getvalue().count("goes on after") == 1
    said = f"{file}, line 4: the group 'a', which began at line 1, goes on after rows of another group:"
    assert said in console.file.getvalue()


@pytest.mark.parametrize("size", [10, 3 << 20])
@pytest.mark.parametrize("place", [0, -1])
def test_a_file_replaced_by_another_of_the_same_size_and_time_is_another_input(task, tmp_path, size, place):
    """Otherwise a resumed run would mix the gold answers of two files."""
    path = tmp_path / "rows.jsonl"
    identities = []
    for digit in b"78":
        content = bytearray(b"1" * size)
        content[place] = digit
        path.write_bytes(content)
        os.utime(path, ns=(5, 5))
        identities.append(InputFile(path, task, Fields()).identity())
    assert identities[0] != identities[1]
    assert {**identities[0], "content": ""} == {**identities[1], "content": ""}


def test_the_size_of_uncompressed_lines_is_known_before_they_are_read(task, tmp_path):
    content = write(tmp_path / "a.jsonl", rows(100)).read_bytes()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(content))
    pandas.DataFrame(rows(100)).to_csv(tmp_path / "c.csv", index=False)
    inputs = [InputFile(tmp_path / name, task, Fields()) for name in ("a.jsonl", "b.jsonl.gz", "c.csv")]
    assert [file.size for file in inputs] == [len(content), None, None]
    assert sum(chunk.size for chunk in chunks.cut_file(0, inputs[0].rows(), lambda row: None)) == len(content)


def test_an_output_in_no_folder_is_refused_before_the_input_is_read(task, tmp_path):
    out = tmp_path / "none/out.jsonl"
    with pytest.raises(UsageError, match=rf"^{out}: there is no folder {out.parent}; create it first$"):
        score_files(task, [tmp_path / "not there either"], OutputFile(out), console=quiet())
