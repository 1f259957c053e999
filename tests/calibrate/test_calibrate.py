"""The command: draws a sample, labels it, reports; labels may be in the file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from unittest import mock

import pytest

from ..cli.test_cli import grpo_env

CORRECT = "<think>\n2+3=5\n</think>\n<answer>\n5\n</answer>"
TEXTS = [CORRECT, "<answer>6</answer>", "<answer>five</answer>", "five, I guess", "no idea"]
LABELS = [True, False, True, True, False]  # accuracy rejects the fourth, which doubts its answer


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labeled scores of four groups."""
    return scored(tmp_path_factory.mktemp("scores"), "metric=accuracy", "--label", "ok")


def scored(folder: Path, *options: str) -> Path:
    completions = folder / "completions.jsonl"
    row = {"completions": TEXTS, "answer": "5", "equations": ["2+3=5"], "ok": LABELS}
    completions.write_text("".join(json.dumps({"id": str(number), **row}) + "\n" for number in range(4)))
    assert grpo_env("score", "arithmetic", completions, *options, "--out", folder / "scores.jsonl").returncode == 0
    return folder / "scores.jsonl"


def run(*arguments: object, cwd: Path, keys: str = "", code: int = 0):
    with mock.patch("sys.stdin", io.StringIO(keys)):
        done = grpo_env("view", "calibrate", *arguments, cwd=cwd)
    assert done.returncode == code, done.stderr
    return done


def test_labels_in_the_file(scores: Path, tmp_path: Path) -> None:
    lines = run(scores, "--show", 1, cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "arithmetic: accuracy on 20 completions, 20 labeled"
    negatives = next(line for line in lines if "false negatives" in line)
    assert "33.3%" in negatives
    assert negatives.endswith("4 of 12 correct completions rejected")
    assert "row '0', completion 3: rejected, but labeled correct" in lines
    assert lines[-1] == "3 more wrong verdicts; --json prints all of them"


def test_json(scores: Path, tmp_path: Path) -> None:
    result = json.loads(run(scores, "--json", cwd=tmp_path).stdout)
    assert result["false_negative"]["value"] == pytest.approx(1 / 3)
    assert result["false_positive"]["value"] == 0
    assert [(row["id"], row["completion"]) for row in result["errors"]] == [(str(number), 3) for number in range(4)]
    assert result["unscored"] == 0


def test_a_sample_is_drawn_labeled_in_the_terminal_and_reported_on(scores: Path, tmp_path: Path) -> None:
    done = run(scores, "--out", "labels.jsonl", cwd=tmp_path)
    assert done.stdout.splitlines()[-1].split() == ["20", "20"]
    assert "Wrote labels.jsonl." in done.stderr
    assert done.stderr.endswith("grpo_env view calibrate labels.jsonl --ask\n")
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    keys = "".join("ny"[LABELS[row["completion"]]] for row in rows)
    first = run("labels.jsonl", "--ask", cwd=tmp_path, keys=keys[:7])
    assert "the same command asks for the others" in first.stderr
    assert "7 labeled" in first.stdout
    second = run("labels.jsonl", "--ask", cwd=tmp_path, keys=keys[7:])
    assert "4 of 12 correct completions rejected" in second.stdout
    assert run("labels.jsonl", cwd=tmp_path).stdout == second.stdout


def test_drawing_and_labeling_in_one_command_which_resumes(scores: Path, tmp_path: Path) -> None:
    command = (scores, "--out", "labels.jsonl", "--ask", "--size", 10)
    done = run(*command, cwd=tmp_path, keys="")
    assert done.stdout.splitlines()[-1].split() == ["20", "10"]
    assert "of 10" in done.stderr
    sample = (tmp_path / "labels.jsonl").read_bytes()
    done = run(*command, cwd=tmp_path, keys="yyyyyyyyyy")
    assert "10 labeled" in done.stdout
    assert (tmp_path / "labels.jsonl").read_bytes().startswith(sample)


def test_math_verify_as_a_second_reader(tmp_path: Path) -> None:
    """It finds no answer in ``five``, which ``accuracy`` accepts."""
    options = {"use": "math_verify", "extraction": "any", "weight": "0"}
    keys = ("metric=accuracy", *(f"verifiers.second.{key}={value}" for key, value in options.items()))
    scores = scored(tmp_path, *keys, "--label", "ok")
    lines = run(scores, "--second", "second", cwd=tmp_path).stdout.splitlines()
    for end in ("agrees", "disagrees"):
        (line,) = [line for line in lines if line.startswith("accepted: ") and f", second {end} " in line]
        assert line.split()[-7:-4] == ["4", "4", "0"]  # completions, labeled, wrong
    run(scores, "--second", "second", "--out", "labels.jsonl", cwd=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    disagreed = [row for row in rows if row["stratum"].endswith("second disagrees")]
    assert disagreed
    assert all("five" in row["text"] for row in disagreed)


def test_wrong_usage(scores: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.jsonl").write_text("mine\n")
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    for name, changed in (
        ("plain", [{key: value for key, value in row.items() if key != "label"} for row in rows]),
        ("both", [*rows, *({**row, "task": "sums"} for row in rows)]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    run(scores, "--out", "labels.jsonl", cwd=tmp_path)
    for arguments, message in (
        (("plain.jsonl",), "no row has a label: score it with --label COLUMN, or draw a sample with --out"),
        ((scores, "--ask"), "--ask: give the file for the labels with --out"),
        ((scores, "--out", "taken.jsonl"), "taken.jsonl: already exists"),
        (("labels.jsonl",), 'no row has a label; set "label" to true or false'),
        (("labels.jsonl", "--out", "b.jsonl"), "is a file of labels; leave out --out"),
        (("both.jsonl",), "scored by several tasks, arithmetic, sums; calibrate each alone"),
        ((scores.with_name("completions.jsonl"),), "was this file written by grpo_env score?"),
        (("missing.jsonl",), "missing.jsonl: no such file"),
    ):
        assert message in run(*arguments, cwd=tmp_path, code=2).stderr
    assert (tmp_path / "taken.jsonl").read_text() == "mine\n"
