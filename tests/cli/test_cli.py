"""The command line: exit codes, what goes to stdout and stderr, and that nothing is overwritten."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from grpo_env.cli.app import main
from grpo_env.cli.options import ending_by_sigterm, split_overrides
from grpo_env.core import Completion, Example, Score, Verifier, score_one
from grpo_env.trainer.engine.bundled import BUNDLED

from .. import forked

SUM = {"answer": "5", "equations": ["2+3=5"], "ok": True}
ROWS = [
    {"id": "a", "completion": "<think>\n2+3=5\n</think>\n<answer>\n5\n</answer>", **SUM},
    {"id": "b", "completion": "<answer>6</answer>", **SUM},
]


def grpo_env(*arguments, cwd=".", **environment):
    """Run the command in this process; unexpected exceptions fail the test."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, COLUMNS="200", **environment),
        mock.patch.object(sys, "argv", ["grpo_env", *map(str, arguments)]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(sys.argv, code, out.getvalue(), err.getvalue())


def process(*arguments, cwd=".", stdin=""):
    """Run the command in a process of its own."""
    return forked.run(["grpo_env", *arguments], Path(cwd), {"COLUMNS": "200"}, stdin)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """The scores of ``ROWS``."""
    folder = tmp_path_factory.mktemp("scores")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    out = folder / "s.jsonl"
    assert grpo_env("score", "arithmetic", folder / "rows.jsonl", "--workers", "1", "--out", out).returncode == 0
    return out


def test_score_reads_stdin_and_writes_rows_to_stdout_and_the_summary_to_stderr(file):
    done = process("score", "arithmetic", "-", "metric=accuracy", "--label", "ok", stdin=file.read_text())
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row["parts"]["accuracy"]["value"], row["label"]) for row in rows] == [
        ("a", 1.0, True),
        ("b", 0.0, True),
    ]
    assert "agreement of accuracy with the labels: 1 of 2" in done.stderr
    assert done.stderr.startswith("standard input: grpo_env rows\n")


def test_score_writes_a_file_and_never_overwrites_one(file, tmp_path):
    out = tmp_path / "scores.jsonl"
    assert grpo_env("score", "arithmetic", file, "--out", out).returncode == 0
    first = out.read_bytes()
    assert first.count(b"\n") == 2
    again = grpo_env("score", "arithmetic", file, "--out", out)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert out.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "scores.jsonl"]


def test_score_reports_bad_rows_by_line_scores_the_rest_and_exits_1(file):
    bad = ["broken", *(json.dumps({"id": "c", "completion": text}) for text in "xyz")]
    file.write_text(file.read_text() + "".join(f"{line}\n" for line in bad))
    done = process("score", "arithmetic", file)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    assert f"{file}, line 3: not valid JSON" in done.stderr
    (problem,) = re.findall(f"{file}, line 4: (.*)", done.stderr)
    assert done.stderr.count(problem) == 2  # once with its first line, once with the number of others
    assert f"2 more rows: {problem}" in done.stderr
    assert "4 rows could not be scored" in done.stderr


def test_rows_that_the_task_skips_are_no_errors(file, tmp_path):
    strict_out, out = tmp_path / "strict.jsonl", tmp_path / "out.jsonl"
    file.write_text(file.read_text() + json.dumps({"id": "c", "answer": "", "completion": "1"}) + "\n")
    strict = grpo_env("score", "arithmetic", file, "--out", strict_out)
    assert (strict.returncode, "1 row could not be scored" in strict.stderr) == (1, True)
    skipping = grpo_env("score", "arithmetic", file, "dataset.bad_gold=skip", "--out", out)
    ids = [[json.loads(line)["id"] for line in path.read_text().splitlines()] for path in (strict_out, out)]
    assert (skipping.returncode, *ids) == (0, ["a", "b"], ["a", "b"])
    assert not (tmp_path / "out.rejects.jsonl").exists()
    assert "1 row without a usable gold answer is skipped (dataset.bad_gold=skip)" in skipping.stderr
    assert "could not be scored" not in skipping.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("train.advantage.std=population", "advantage.std=population"),
        ("train.preset=dr_grpo", "advantage.scale=none"),
        ("train.advantage.truncated=mask", ""),  # which is about the loss
    ],
)
def test_score_says_which_settings_of_advantages_it_does_not_use(file, tmp_path, setting, said):
    done = grpo_env("score", "arithmetic", file, setting, "--advantages", "-o", tmp_path / "a.jsonl")
    note = "note: --advantages divides by the sample standard deviation; train's "
    assert (f"{note}{said} is not used" in done.stderr) if said else (note not in done.stderr)
    assert note not in grpo_env("score", "arithmetic", file, setting, "-o", tmp_path / "b.jsonl").stderr


def test_a_part_without_any_score_has_a_reason_and_without_any_total_the_exit_code_is_1(file, tmp_path):
    file.write_text("".join(json.dumps({**row, "prompt": "1 + 1?"}) + "\n" for row in ROWS))
    (tmp_path / "fails.py").write_text("def fails(completion):\n    raise ValueError('no model')\n")
    broken = f"verifiers.rm={{use: '{tmp_path}/fails.py:fails', weight: %s}}"
    reason = "rm has no score; the first reason is error: ValueError: no model (fails.py:2)"
    out = ["--workers", "1", "--overwrite", "--out", tmp_path / "scores.jsonl"]
    counted = grpo_env("score", "arithmetic", file, broken % 1, *out)
    watched = grpo_env("score", "arithmetic", file, broken % 0, *out)
    assert [reason in done.stderr for done in (counted, watched)] == [True, True]
    assert (counted.returncode, "no completion has a total" in counted.stderr) == (1, True)
    assert (watched.returncode, "no completion has a total" in watched.stderr) == (0, False)
    assert "has no score" not in grpo_env("score", "arithmetic", file, *out).stderr


def test_a_failure_is_told_before_that_a_part_was_not_asked_and_also_of_a_part_behind_a_gate(file, tmp_path):
    (tmp_path / "no_judge.py").write_text("def fails(completion):\n    raise ValueError('no model')\n")
    fails = f"'{tmp_path}/no_judge.py:fails'"
    parts = f"{{rule: {{use: accuracy}}, judge: {{use: {fails}}}}}"
    appeal = f"verifiers.ap={{use: appeal, weight: 0, groups: all, of: {parts}}}"
    gated = f"verifiers.gated={{use: {fails}, weight: 0, when: accuracy}}"
    done = grpo_env("score", "arithmetic", file, appeal, gated, "--workers", "1", "--out", tmp_path / "scores.jsonl")
    reason = "the first reason is error: ValueError: no model (no_judge.py:2)"
    assert f"judge has no score; {reason}" in done.stderr
    assert f"gated has no score for 1 completion; {reason}" in done.stderr


def test_texts_of_users_are_printed_as_they_are(file, tmp_path):
    (tmp_path / "odd.yaml").write_text(
        "version: 1\ntask: odd\ndescription: 'uses [/INST] tags'\n"
        "dataset: {path: rows.jsonl, split: {train: 1}, answer: '{{ answer }}'}\n"
        "prompt: {user: '2+3?'}\nverifiers: {'b[red][/x]': {use: accuracy}}\nmetric: 'b[red][/x]'\n"
    )
    assert "uses [/INST] tags" in grpo_env("tasks", GRPO_ENV_TASKS=str(tmp_path)).stdout
    done = grpo_env("score", tmp_path / "odd.yaml", file, "--out", tmp_path / "out.jsonl")
    assert (done.returncode, "b[red][/x] (metric)" in done.stderr) == (0, True)
    assert "no :fire:.yaml" in grpo_env("score", tmp_path / "no :fire:.yaml", file).stderr
    hacks = tmp_path / "own_hacks.py"
    hacks.write_text(
        "from grpo_env.audit import hack\n\n\n"
        "@hack('odd [/x]', knows='prompt', rule='undeserved')\ndef odd(target):\n    return 'x'\n"
    )
    audited = grpo_env("audit", tmp_path / "odd.yaml", "--hacks", hacks, "--only", "odd [/x]", "--limit", "1")
    assert (audited.returncode, audited.stderr) == (0, "")


@dataclass(frozen=True)
class EndsItself(Verifier):
    def __call__(self, example, completion):
        os.kill(os.getpid(), signal.SIGTERM)
        return Score(1.0)


def test_sigterm_is_no_failure_of_the_verifier_that_it_interrupts():
    with pytest.raises(SystemExit, match="143"), ending_by_sigterm():
        score_one(EndsItself(), Example("1"), Completion("x"))


@pytest.mark.parametrize(
    ("command", "name", "advice"),
    [
        (["score", "arithmetic", "FILE", "--out"], "out.jsonl", "add --overwrite"),
        (["export", "sft", "SCORES", "--out"], "out.jsonl", "add --overwrite"),
        (["view", "report", "SCORES", "--out"], "out.html", "add --overwrite"),
        (["tasks", "new"], "out.yaml", "delete it first"),
        (["tasks", "new", "--data", "FILE"], "out.yaml", "delete it first"),
        (["tasks", "play", "till", "--out"], "out.jsonl", "delete it first"),
        (["view", "calibrate", "SCORES", "--out"], "out.jsonl", "delete it first"),
    ],
)
def test_one_message_for_an_output_that_exists_and_one_for_a_missing_folder(
    file, scores, tmp_path, command, name, advice
):
    command = [{"FILE": file, "SCORES": scores}.get(word, word) for word in command]
    (tmp_path / name).write_text("mine")
    done = grpo_env(*command, tmp_path / name)
    assert (done.returncode, (tmp_path / name).read_text()) == (2, "mine")
    assert f"{tmp_path / name}: already exists; give another name, or {advice}" in done.stderr
    done = grpo_env(*command, tmp_path / "no" / name)
    assert done.returncode == 2
    assert f"there is no folder {tmp_path / 'no'}; create it first" in done.stderr


@pytest.mark.slow
def test_prompts_of_another_column_can_be_exported(file, tmp_path):
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    own = [{"asked": f"What is {n}?", "said": row["completion"], **without(row)} for n, row in enumerate(rows)]
    file.write_text("".join(json.dumps(row) + "\n" for row in own))
    scores = tmp_path / "scores.jsonl"
    columns = ["--completion", "said", "--prompt"]
    done = grpo_env("score", "arithmetic", file, *columns, "asked", "--out", scores)
    assert done.returncode == 0, done.stderr
    written = [json.loads(line) for line in scores.read_text().splitlines()]
    assert [(row["prompt"], row["prompt_recorded"]) for row in written] == [("What is 0?", True), ("What is 1?", True)]
    done = grpo_env("score", "arithmetic", file, *columns, "aksed", "--out", tmp_path / "no.jsonl")
    assert done.returncode != 0
    assert "'aksed'" in done.stderr
    assert "'asked'" in done.stderr
    joined = [{"id": f"eval/{n}", "asked": row["asked"], "said": row["said"]} for n, row in enumerate(own)]
    file.write_text("".join(json.dumps(row) + "\n" for row in joined))
    done = grpo_env("score", "arithmetic", file, *columns, "asked", "--join", "id", "--out", tmp_path / "joined.jsonl")
    assert done.returncode == 0, done.stderr
    written = [json.loads(line) for line in (tmp_path / "joined.jsonl").read_text().splitlines()]
    assert [(row["prompt"], row["prompt_recorded"]) for row in written] == [("What is 0?", True), ("What is 1?", True)]


def without(row):
    return {name: value for name, value in row.items() if name not in ("completion", "prompt", "question")}


@pytest.mark.parametrize("command", ["eval", "check"])
def test_code_in_a_models_folder_never_runs(tmp_path, command):
    folder = shutil.copytree(BUNDLED, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    classes = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "own", "auto_map": classes}))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with mock.patch.object(sys, "stdin", io.StringIO("y\n")):
        done = grpo_env(command, "arithmetic", "--model", folder)
    assert done.returncode == 2
    assert "contains custom code" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["score", "nope", "x.jsonl"], "unknown task 'nope'"),
        (["score", "gsm8k", "absent.jsonl"], "absent.jsonl: no such file"),
        (["score", "gsm8k", "x", "steps=3"], "steps: not a key of a task"),
        (["score", "gsm8k", "metric=accuracy"], "no file to score"),
        (["score", "gsm8k"], "no file to score: give a file of completions"),
        (["score", "gsm8k", "x", "--split", "test"], "'test' is not one of 'train', 'eval', 'all'"),
        (["tasks", "show", "arithmetic", "metric"], "expected KEY=VALUE"),
        (["tasks", "show", "arithmetic", "dataset.limit=[1"], "not valid YAML"),
        (["tasks", "show", "arithmetic", "dataset.limti=1"], "dataset.limti: unknown key; did you mean 'limit'?"),
        (
            ["tasks", "show", "arithmetic", "datset.limit=1"],
            "datset.limit: not a key of a task; did you mean 'dataset'?",
        ),
        (["check", "arithmetic", "steps=3"], "steps: not a key of a task"),
        (["tasks", "show", "arithmetic", "--split", "test"], "'test' is not one of 'train', 'eval'"),
        (["tasks", "new", "task.txt"], "must end in .yaml"),
        (["tasks", "new", "my task.yaml"], "my task.yaml: 'my task' is no name of a task"),
        (["tasks", "new", "2024.yaml"], "2024.yaml: '2024' is no name of a task"),
        (["tasks", "new", "yes.yaml", "--environment"], "yes.yaml: 'yes' is no name of a task"),
        (["serve", "arithmetic", "--deadline", "inf"], "Input should be less than or equal to 86400"),
        (["train", "--resume", "r", "steps=3", "seed=1"], "no option but steps=N"),
        (["train", "arithmetic", "--model", "no-such-org/no-such-model", "steps=1"], "no-such-org/no-such-model"),
        (["train", "arithmetic", "--config", "absent.yaml"], "absent.yaml: cannot be read"),
        (["train", "arithmetic", "--gpu", "24"], "--gpu needs --plan"),
        (["frobnicate"], "No such command"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path, monkeypatch, arguments, line):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # already read from the environment
    done = grpo_env(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert line in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [[], ["{file}"], ["--out", "s.jsonl"]])
def test_a_file_in_the_place_of_the_task_is_told_how_to_get_one(file, more):
    done = grpo_env("score", file, *(word.format(file=file) for word in more), cwd=file.parent)
    assert (done.returncode, done.stdout) == (2, "")
    for words in (f"grpo_env score TASK {file}", f"grpo_env tasks new mine.yaml --data {file}"):
        assert words in done.stderr
    assert "(columns: id, completion, answer, equations, ok)" in done.stderr


def test_score_says_what_shows_its_reasons_and_that_works(file, tmp_path):
    done = grpo_env("score", "arithmetic", file, "--out", tmp_path / "s.jsonl")
    *_, said = done.stderr.splitlines()
    assert said == f"Wrote {tmp_path / 's.jsonl'}. Next: grpo_env view show {tmp_path / 's.jsonl'}"
    shown = grpo_env(*said.partition("Next: grpo_env ")[2].split())
    assert "1 of 2 completions: accuracy below 1, or unscored" in shown.stdout
    assert "answer_tag: a different number" in shown.stdout
    assert "answer   '6', gold '5'" in shown.stdout
    labeled = grpo_env("score", "arithmetic", file, "--label", "ok", "--out", tmp_path / "labeled.jsonl")
    disagreeing = grpo_env(*labeled.stderr.splitlines()[-1].partition("Next: grpo_env ")[2].split())
    assert disagreeing.stdout.startswith("1 of 2 completions: a verdict that is not their label")


@pytest.mark.slow
def test_from_a_model_to_a_training_set_without_a_script(tmp_path):
    model = ("--model", "bundled", "dataset.limit.eval=20")
    done = grpo_env("generate", "arithmetic", *model, "--samples", 4, "--limit", 6, "--out", "c.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    following = done.stderr.splitlines()[-1].partition("Next: grpo_env ")[2].split()
    assert following == ["score", "arithmetic", "c.jsonl", "dataset.limit.eval=20", "--out", "scores.jsonl"]
    for command in (
        following,
        ["view", "report", "scores.jsonl"],
        ["export", "sft", "scores.jsonl", "--out", "sft.jsonl"],
    ):
        done = grpo_env(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = grpo_env("view", "report", "scores.jsonl", "--out", "report.md", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "grpo_env: report.md: the name must end in .html\n")
    rows = [json.loads(line) for line in (tmp_path / "sft.jsonl").read_text().splitlines()]
    assert rows
    assert all(row["prompt"][0]["role"] == "user" for row in rows)
    done = grpo_env("eval", "arithmetic", *model, "--samples", 4, "--limit", 6, "--out", "e.jsonl", cwd=tmp_path)
    assert json.loads(done.stdout)["examples"] == 6
    texts = [
        [json.loads(line)["text"] for line in (tmp_path / name).read_text().splitlines()]
        for name in ("scores.jsonl", "e.jsonl")
    ]
    assert texts[0] == texts[1]


def test_tasks_are_listed_and_shown(tmp_path):
    listed = grpo_env("tasks", GRPO_ENV_TASKS=str(tmp_path))
    assert listed.returncode == 0
    for name in ("arithmetic", "gsm8k", "math", "countdown", "letter_counting"):
        assert f" {name} " in listed.stdout
    rows = json.loads(grpo_env("tasks", "list", "--json", GRPO_ENV_TASKS=str(tmp_path)).stdout)
    assert {"task", "description", "file"} == set(rows[0])
    assert all(Path(row["file"]).stem == row["task"] and f" {row['task']} " in listed.stdout for row in rows)
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    mixed = grpo_env("tasks", GRPO_ENV_TASKS=str(tmp_path))
    assert (mixed.returncode, mixed.stdout) == (2, listed.stdout)
    assert mixed.stderr.startswith(f"grpo_env: {tmp_path}/compose.yaml: version: this key is required")
    result = grpo_env("tasks", "show", "arithmetic")
    assert result.returncode == 0
    for heading in ("--- user ---", "answer: ", "accuracy (metric)"):
        assert heading in result.stdout


def test_data_cannot_steer_the_terminal(tmp_path):
    """An escape sequence in a row or a column name, a direction of writing, half a character."""
    assert grpo_env("tasks", "new", "mine.yaml", cwd=tmp_path).returncode == 0
    row = {"question": "a\n\x1b]0;title\x07\u202eb\ud83dé界", "answer": 1, "\x1b[2J": 0}
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row | {"answer": n}) + "\n" for n in range(40)))
    shown = grpo_env("tasks", "show", "mine.yaml", cwd=tmp_path)
    assert "a\n\\x1b]0;title\\x07\\u202eb\\ud83dé界\n" in shown.stdout
    wrong = grpo_env("tasks", "show", "mine.yaml", "prompt.user={{ qestion }} {{ no }}", cwd=tmp_path)
    assert "known: \\x1b[2J, answer, question" in wrong.stderr
    assert not set("\x1b\x07\u202e\ud83d") & set(shown.stdout + wrong.stderr)


def test_a_new_task_file_works(tmp_path):
    assert grpo_env("tasks", "new", "mine.yaml", cwd=tmp_path).returncode == 0
    rows = [{"question": f"{n}+1?", "answer": n + 1} for n in range(40)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = grpo_env("tasks", "show", "mine.yaml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "+1?" in result.stdout
    (tmp_path / "out.jsonl").write_text(json.dumps({"answer": 5, "completion": "<answer>5</answer>"}) + "\n")
    assert grpo_env("score", "mine.yaml", "out.jsonl", "--out", "scores.jsonl", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "scores.jsonl").read_text())["total"] == 1.0
    again = grpo_env("tasks", "new", "mine.yaml", cwd=tmp_path)
    assert again.returncode == 2
    assert "already exists; give another name, or delete it first" in again.stderr


@pytest.mark.slow
def test_a_new_verifier_can_be_checked_shown_and_used(tmp_path):
    assert grpo_env("verifiers", "new", "own_words", cwd=tmp_path).returncode == 0
    path = tmp_path / "own_words.py"
    checked = process("verifiers", "check", "own_words.py", cwd=tmp_path)
    assert (checked.returncode, "own_words: 4 cases" in checked.stderr) == (0, True), checked.stderr
    again = grpo_env("verifiers", "new", "own_words", cwd=tmp_path)
    assert (again.returncode, "already exists; give another name, or delete it first" in again.stderr) == (2, True)
    result = process("verifiers", "show", "own_words", "--verifiers", path)
    assert "- `words` (default `5`)" in result.stdout
    (tmp_path / "rows.jsonl").write_text('{"completion": "The answer is 1.", "answer": "1"}\n' * 200)
    new = ["verifiers.own_words.weight=3", "--verifiers", path, "--completion", "completion", "--answer", "answer"]
    for workers in (1, 2):  # with 2, other processes have to load the file too
        scored = process("score", "gsm8k", tmp_path / "rows.jsonl", *new, "--workers", workers)
        rows = [json.loads(line) for line in scored.stdout.splitlines()]
        assert {row["parts"]["own_words"]["value"] for row in rows} == {1.0}, scored.stderr
    path.write_text(path.read_text().replace('0.0, "six words"', '1.0, "a wrong claim"'))
    broken = process("verifiers", "check", path)
    assert (broken.returncode, "a wrong claim" in broken.stderr) == (1, True)


def test_a_verifier_without_cases_is_not_checked(tmp_path):
    path = tmp_path / "bare_words.py"
    path.write_text(
        "from grpo_env import Score, Verifier, verifier\n\n\n@verifier('bare_words')\nclass Bare(Verifier):\n"
        "    def __call__(self, example, completion):\n        return Score(1.0)\n"
    )
    done = process("verifiers", "check", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"grpo_env: {path}: there are no cases; ")


def test_a_new_step_verifier_scores_lines(tmp_path):
    assert grpo_env("verifiers", "new", "--steps", "short_lines", cwd=tmp_path).returncode == 0
    path = tmp_path / "short_lines.py"
    checked = process("verifiers", "check", "short_lines.py", cwd=tmp_path)
    assert (checked.returncode, "short_lines: 3 cases" in checked.stderr) == (0, True), checked.stderr
    (tmp_path / "rows.jsonl").write_text(json.dumps({"completion": "3+4=7\n\n7-2 is 5", "answer": "5"}) + "\n")
    new = ["verifiers.short_lines={words: 2, process: 1}", "--verifiers", path, "--completion", "completion"]
    scored = process("score", "gsm8k", tmp_path / "rows.jsonl", *new, "--answer", "answer")
    (row,) = [json.loads(line) for line in scored.stdout.splitlines()]
    assert row["parts"]["short_lines"]["value"] == 0.5, scored.stderr
    assert [(step["start"], step["end"], step["value"]) for step in row["parts"]["short_lines"]["steps"]] == [
        *((0, 6, 1.0), (7, 15, 0.0))
    ]


def test_verifiers_are_listed_and_shown():
    listed = grpo_env("verifiers")
    for name in ("accuracy", "strict_format", "any_of"):
        assert f" {name} " in listed.stdout
    assert "## tag_count" in grpo_env("verifiers", "show", "tag_count").stdout
    assert grpo_env("verifiers", "show").returncode == 2


def test_version_and_help():
    installed = [str(Path(sys.executable).parent / "grpo_env")]
    for command in (installed, [sys.executable, "-m", "grpo_env"]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
        assert (done.returncode, done.stdout.startswith("grpo_env 0."), done.stderr) == (0, True, "")
    for command in ("train", "eval", "score", "tasks", "verifiers"):
        assert grpo_env(command, "--help").returncode == 0


def test_settings_lists_every_field_with_its_description():
    from grpo_env.trainer.config import FIELDS

    lines = [line.split(maxsplit=2) for line in grpo_env("train", "--settings").stdout.splitlines()]
    for name, field in FIELDS.items():
        (line,) = [line for line in lines if line and line[0] == name]
        assert line[1] == (str(field.default) or '""')
        assert line[2]


def test_values_are_yaml_or_start_with_a_template() -> None:
    overrides = [
        "steps=20",
        "dataset.limit={train: 5}",
        "tracker={{ equations | length }}",
        "dataset.id={% if a %}b{% endif %}",
    ]
    keys, settings = split_overrides(overrides)
    assert keys == {"dataset.limit": {"train": 5}, "dataset.id": "{% if a %}b{% endif %}"}
    assert settings == {"steps": 20, "tracker": "{{ equations | length }}"}
