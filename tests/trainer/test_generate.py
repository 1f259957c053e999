"""``generate``: its completions are those of an evaluation, ``score`` reads them as they are, and it resumes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.scoring import OutputFile, score_files
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.task import make_task as task_of
from grpo_env.trainer.commands import generate as module
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.commands.generate import Request, generate

VERIFIERS = {"test_vowels": {}, "test_has_letter": {}}


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_score_reads_the_file_and_finds_what_eval_finds(make_task, tmp_path: Path) -> None:
    task, out, scores = make_task(VERIFIERS), tmp_path / "completions.jsonl", tmp_path / "scores.jsonl"
    console = quiet()
    summary = generate(task, OutputFile(out), Request(samples=3), console=console)
    scored = score_files(task, [out], OutputFile(scores), console=quiet())
    expected = run_eval(task, samples=3, out=OutputFile(tmp_path / "eval.jsonl"))
    assert (summary.rows, summary.completions) == (expected["examples"], 3 * expected["examples"])
    assert (scored.rows, scored.completions, scored.bad_rows) == (summary.rows, summary.completions, 0)
    assert scored.mean("test_vowels") == pytest.approx(expected["sampled"]["accuracy"])
    assert scored.mean("total") == pytest.approx(expected["sampled"]["reward"])
    assert summary.statuses["finish"]["length"] == expected["sampled"]["truncated"] * summary.completions
    # eval --out: the rows of score, apart from the time that scoring took
    rows = [[row | {"seconds": 0} for row in rows_of(path)] for path in (scores, tmp_path / "eval.jsonl")]
    assert rows[0] == rows[1]
    assert "completions each" in console.file.getvalue()


def test_neither_batches_nor_an_interruption_change_the_file(make_task, tmp_path: Path, monkeypatch) -> None:
    task, whole, parts = make_task(VERIFIERS), tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    generate(task, OutputFile(whole), Request("train", samples=2), console=quiet())
    calls, sample = [], module.sample

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return sample(*arguments, **options)

    monkeypatch.setattr(module, "sample", interrupted)
    console = quiet()
    with pytest.raises(KeyboardInterrupt):
        generate(task, OutputFile(parts), Request("train", samples=2, batch=2), console=console)
    assert "the same command resumes" in console.file.getvalue()
    assert not parts.exists()
    with pytest.raises(UsageError, match=r"cannot continue: settings\.seed was 0, is 1"):
        generate(task, OutputFile(parts), Request("train", samples=2, batch=2), console=quiet(), seed=1)
    generate(task, OutputFile(parts), Request("train", samples=2, batch=2), console=console)
    assert "resuming after 2 examples" in console.file.getvalue()
    assert parts.read_bytes() == whole.read_bytes()
    assert len(calls) == 3 + len(whole.read_text().splitlines()) - 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.jsonl", "whole.jsonl"]
    with pytest.raises(UsageError, match="already exists"):
        generate(task, OutputFile(whole), console=quiet())


def test_greedy_is_one_completion(make_task, tmp_path: Path) -> None:
    task = make_task(VERIFIERS)
    generate(task, OutputFile(tmp_path / "greedy.jsonl"), Request(greedy=True, limit=2), console=quiet())
    rows = rows_of(tmp_path / "greedy.jsonl")
    assert [len(row["completions"]) for row in rows] == [1, 1]
    scored = score_files(task, [tmp_path / "greedy.jsonl"], OutputFile(tmp_path / "scores.jsonl"), console=quiet())
    assert scored.mean("test_vowels") == pytest.approx(run_eval(task, samples=1, limit=2)["greedy"]["accuracy"])


def with_data(task: Task, row: dict, **dataset) -> Task:
    (task.folder / "rows.jsonl").write_text("".join(json.dumps({**row, "n": n}) + "\n" for n in range(8)))
    data = task.resolved()
    data["dataset"] |= dataset
    return task_of(data, task.source, task.folder)


def test_columns_of_the_data_do_not_change_what_is_scored(make_task, tmp_path: Path) -> None:
    row = {"question": "a?", "answer": "5", "group": "all", "completion": "gold text", "turns": 3, "id": "same"}
    task = with_data(make_task(VERIFIERS), row)
    out = tmp_path / "completions.jsonl"
    summary = generate(task, OutputFile(out), Request(samples=1), console=quiet())
    scored = score_files(task, [out], OutputFile(tmp_path / "scores.jsonl"), console=quiet())
    assert (scored.bad_rows, scored.completions) == (0, summary.completions)
    rows = rows_of(tmp_path / "scores.jsonl")
    assert len({row["group"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)


def test_a_gold_answer_in_a_column_of_ours_is_refused_before_sampling(make_task, tmp_path: Path) -> None:
    task = with_data(make_task(VERIFIERS), {"question": "a?", "completion": "5"}, answer="{{ completion }}")
    with pytest.raises(UsageError, match=r"dataset\.answer reads one of the columns completion, .*rename"):
        generate(task, OutputFile(tmp_path / "out.jsonl"), console=quiet())
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_is_found_before_sampling(make_task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"generate: steps has no effect here; .*sampling\.engine"):
        generate(make_task(), OutputFile(tmp_path / "out.jsonl"), console=quiet(), steps=3)
    with pytest.raises(UsageError, match=r"must end in \.jsonl"):
        generate(make_task(), OutputFile(tmp_path / "out.csv"), console=quiet())
    with pytest.raises(UsageError, match=r"there is no folder .*none; create it first"):
        run_eval(make_task(), out=OutputFile(tmp_path / "none" / "out.jsonl"))
