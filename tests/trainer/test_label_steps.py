"""Labels of steps by rollouts: against the true chances of a Markov chain, resumed, and read by what needs them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grpo_env.cli.app import main
from grpo_env.confidence_intervals import wilson
from grpo_env.errors import RunError, UsageError
from grpo_env.results.export import export_file
from grpo_env.results.export.training_sets import Prm
from grpo_env.results.report import make_report, render
from grpo_env.results.rows import read_scores
from grpo_env.scoring import OutputFile
from grpo_env.scoring.summary import ScoreSummary
from grpo_env.taskfile.task import load_task
from grpo_env.trainer.commands import label_steps as module
from grpo_env.trainer.commands.label_steps import Request, label_steps

from .chain import BREAK, CHAIN, END, LONGEST, A, B, Chain, make_chain

TOKENS = {"a": A, "b": B, "\n": BREAK}
TEXTS = ["a\nb\nba", "b\naa\n", "ab", "a\nb\nab\na", "b\n\nb\nb", "a\na\na\nb", "bb\na\nb\na", "ab\nba\nb"]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """A completion is correct if its last letter is a."""
    return make_chain(tmp_path_factory.mktemp("chain"), "test_ends_with_a")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = [{"id": str(n), "prompt": "a", "completions": [text, text[::-1]]} for n, text in enumerate(TEXTS)]
    path = tmp_path / "completions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def call(chain: Chain, file: Path, out: Path, console: Console, **options: Any) -> ScoreSummary:
    settings = {"model": chain.policy.name, "sampling.max_new_tokens": LONGEST, "engine.device": "cpu"}
    request = Request(**{name: options.pop(name) for name in ("rollouts", "segments") if name in options})
    return label_steps(chain.task, file, OutputFile(out), request, console=console, **{**settings, **options})


def labeled(chain: Chain, file: Path, out: Path, **options: Any) -> list[dict[str, Any]]:
    call(chain, file, out, Console(quiet=True), **options)
    return [json.loads(line) for line in out.read_text().splitlines()]


def labels_of(row: dict[str, Any]) -> list[float]:
    return [step["value"] for step in row["parts"]["rollouts"]["steps"]]


@cache
def chance(remaining: int, token: int, letter: int) -> float:
    """That a text ends with an a, whose last token and last letter are these, by recursion over the next token."""
    if token == END or not remaining:
        return float(letter == A)
    following = [(after, letter if after in (END, BREAK) else after) for after in (END, A, B, BREAK)]
    return sum(float(CHAIN[token, after]) * chance(remaining - 1, after, last) for after, last in following)


def test_labels_are_the_chances_of_a_correct_answer(chain: Chain, file: Path, tmp_path: Path) -> None:
    rows = labeled(chain, file, tmp_path / "steps.jsonl", rollouts=40)
    assert [row["text"] for row in rows] == [t for text in TEXTS for t in (text, text[::-1])]
    covered, errors = [], []
    for row in rows:
        lines = [line for line in row["text"].split("\n") if line]
        part = row["parts"]["rollouts"]
        assert part["value"] == min(labels_of(row))
        assert [row["text"][step["start"] : step["end"]] for step in part["steps"]] == lines
        for step in part["steps"]:
            soft = step["value"]
            prefix = row["text"][: step["end"] + 1]  # with the line break
            if len(prefix) < len(row["text"]):
                truth = chance(LONGEST - len(prefix), BREAK, TOKENS[prefix[-2]])
                low, high = wilson(40 * soft, 40)
                assert f"{40 * soft:.0f} of 40 continuations are correct" == step["explanation"]
                covered.append(low <= truth <= high)
                errors.append(soft - truth)
            else:  # the last line has the verdict of the completion
                assert soft == row["parts"]["test_ends_with_a"]["value"]
    assert len(covered) > 20
    assert sum(covered) / len(covered) > 0.85
    assert abs(sum(errors) / len(errors)) < 3 * 0.5 / (40 * len(errors)) ** 0.5


def test_completions_that_begin_alike_share_their_continuations(chain: Chain, tmp_path: Path) -> None:
    path = tmp_path / "completions.jsonl"
    path.write_text(json.dumps({"id": "x", "prompt": "a", "completions": ["a\nb\na", "a\nb\nb"]}) + "\n")
    first, second = labeled(chain, path, tmp_path / "steps.jsonl", rollouts=8)
    assert labels_of(first)[:2] == labels_of(second)[:2]
    assert (labels_of(first)[2], labels_of(second)[2]) == (1, 0)


def test_the_sampled_tokens_are_counted(chain: Chain, tmp_path: Path) -> None:
    """At a limit of three tokens each of eight continuations is one token long, and the completions share them."""
    path, console = tmp_path / "completions.jsonl", Console(record=True, width=200)
    path.write_text(json.dumps({"id": "x", "prompt": "a", "completions": ["a\nb", "a\na"]}) + "\n")
    summary = call(chain, path, tmp_path / "steps.jsonl", console, rollouts=8, **{"sampling.max_new_tokens": 3})
    assert summary.counts["tokens"] == 8
    assert "4 steps of 2 completions, " in (printed := console.export_text())
    assert "; 8 tokens sampled" in printed


def test_an_interrupted_run_resumes_with_the_same_labels(
    chain: Chain, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: Any) -> Any:
        calls.append(len(calls))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(module, "ROWS", 2)
    counts = call(chain, file, tmp_path / "whole.jsonl", Console(quiet=True), rollouts=2).counts
    whole = [json.loads(line) for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    calls, original = [], module.continuations
    with monkeypatch.context() as patch:
        patch.setattr(module, "continuations", interrupted)
        with pytest.raises(KeyboardInterrupt):
            labeled(chain, file, tmp_path / "steps.jsonl", rollouts=2)
    with pytest.raises(UsageError, match="rollouts was 2, is 3"):
        labeled(chain, file, tmp_path / "steps.jsonl", rollouts=3)
    with pytest.raises(UsageError, match='segments was "line", is "sentence"'):
        labeled(chain, file, tmp_path / "steps.jsonl", rollouts=2, segments="sentence")
    with pytest.raises(UsageError, match=r"sampling\.temperature was 1\.0, is 0\.5"):
        labeled(chain, file, tmp_path / "steps.jsonl", rollouts=2, **{"sampling.temperature": 0.5})
    console = Console(record=True, width=200)
    resumed = call(chain, file, tmp_path / "steps.jsonl", console, rollouts=2)
    assert "resuming after 4 rows of an interrupted run" in console.export_text()
    assert resumed.counts == counts
    again = [json.loads(line) for line in (tmp_path / "steps.jsonl").read_text().splitlines()]
    assert [{**row, "seconds": 0} for row in again] == [{**row, "seconds": 0} for row in whole]


def test_the_labels_are_read_by_export_and_report(chain: Chain, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "steps.jsonl"
    rows = labeled(chain, file, out, rollouts=2)
    stopped = [{**row, "finish_reason": "stop"} for row in read_scores(out)]
    export_file(stopped, Prm(part="rollouts", min_step=0.5), tmp_path / "prm.jsonl")
    exported = [json.loads(line) for line in (tmp_path / "prm.jsonl").read_text().splitlines()]
    assert {tuple(row["completions"]) for row in exported} == {tuple(row["text"].split()) for row in rows}
    (first,) = [row for row in exported if row["completions"] == ["a", "b", "ba"]]
    assert first["labels"] == [label >= 0.5 for label in labels_of(rows[0])]
    assert "rollouts" in render(make_report(out))


def test_a_completion_without_steps_has_no_label(chain: Chain, tmp_path: Path) -> None:
    file = gold_rows(tmp_path / "in.jsonl", "a", text="\n")
    (row,) = labeled(chain, file, tmp_path / "steps.jsonl", rollouts=1)
    assert row["parts"]["rollouts"] == {"status": "not_applicable", "explanation": "no steps"}


def test_files_without_questions_are_joined_with_those_of_any_split(chain: Chain, tmp_path: Path) -> None:
    other, bodies = tmp_path / "batch.jsonl", [{"choices": [{"message": {"content": "a\nb\na"}}]}] * 2
    rows = [
        {"custom_id": id, "response": {"body": body}} for id, body in zip(("train/0", "eval/0"), bodies, strict=True)
    ]
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    steps = labeled(chain, other, tmp_path / "steps.jsonl", rollouts=1)
    assert [(row["id"], row["prompt"], len(labels_of(row))) for row in steps] == [
        ("train/0", "a", 3),
        ("eval/0", "a", 3),
    ]


def test_an_empty_file_is_refused_as_by_score(chain: Chain, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UsageError, match=r"empty.jsonl: no rows; expected one completion, or a group of them, a row"):
        labeled(chain, tmp_path / "empty.jsonl", tmp_path / "steps.jsonl")


def test_the_command_warns_if_nothing_can_be_told_apart(
    gold: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "steps.jsonl"
    gold_rows(file, "c", text="a\nb\na")
    settings = ["verifiers={test_ends_with_gold: {weight: 1.0}}", "metric=test_ends_with_gold", "engine.device=cpu"]
    settings += ["dataset.answer={{ gold }}"]
    words = [gold.task.source, str(file), *settings, f"sampling.max_new_tokens={LONGEST}", "--model", gold.policy.name]
    monkeypatch.setattr(
        "sys.argv", ["grpo_env", "reward-model", "label-steps", *words, "--out", str(out), "--rollouts", "1"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    printed = capsys.readouterr().err
    assert "3 steps of 1 completion, 0% of them" in printed
    assert "No step has a correct continuation, so there is nothing for a reward model to tell apart" in printed
    assert "Next:" not in printed
    assert labels_of(json.loads(out.read_text())) == [0, 0, 0]


def test_completions_that_cannot_be_continued_have_an_unscored_part_with_the_reason(
    chain: Chain, tmp_path: Path
) -> None:
    path, out = tmp_path / "completions.jsonl", tmp_path / "steps.jsonl"
    texts = ["a\nb\na", "ab" * LONGEST, "a?b"]
    path.write_text("".join(json.dumps({"id": "x", "prompt": "a", "completion": text}) + "\n" for text in texts))
    with_labels, *others = labeled(chain, path, out, rollouts=1)
    assert len(labels_of(with_labels)) == 3
    assert [(row["text"], row["parts"]["rollouts"]["explanation"]) for row in others] == [
        (texts[1], "has 24 tokens, more than sampling.max_new_tokens=12"),
        (texts[2], f"the tokens of {chain.policy.name} do not give its text back"),
    ]
    assert {row["parts"]["rollouts"]["status"] for row in others} == {"not_applicable"}
    assert all("value" in row["parts"]["test_ends_with_a"] for row in others)
    assert not (tmp_path / "steps.rejects.jsonl").exists()


@pytest.fixture(scope="module")
def gold(chain: Chain) -> Chain:
    """A completion is correct if its last letter is the row's answer."""
    verifiers = {"test_ends_with_gold": {"weight": 1.0}}
    keys = {"dataset.answer": "{{ gold }}", "dataset.bad_gold": "skip", "verifiers": verifiers}
    return chain._replace(task=load_task(chain.task.source, {**keys, "metric": "test_ends_with_gold"}))


def gold_rows(path: Path, golds: str, text: str = "a\nb\na") -> Path:
    rows = [{"id": "x", "prompt": "a", "gold": gold, "completion": text} for gold in golds]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_of_one_id_are_judged_by_their_own_answers(gold: Chain, tmp_path: Path) -> None:
    """A text ends with a, with b, or with no letter, and never with c."""
    rows = labeled(gold, gold_rows(tmp_path / "in.jsonl", "abc"), tmp_path / "steps.jsonl", rollouts=8)
    (a, *_, last_a), (b, *_, last_b), c = map(labels_of, rows)
    assert 0 < a < 1
    assert 0 < b <= 1 - a
    assert (last_a, last_b, c) == (1, 0, [0, 0, 0])


def test_a_prefill_in_the_text_is_read_once(chain: Chain, tmp_path: Path) -> None:
    """The same completion with and without the prefill, as servers return it, has the same steps and labels."""
    task = load_task(chain.task.source, {"format.prefill": "b\n"})
    rows = [{"id": "0", "prompt": "a", "completion": text} for text in ("a\nb\na", "b\na\nb\na")]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bare, whole = labeled(chain._replace(task=task), tmp_path / "in.jsonl", tmp_path / "out.jsonl", rollouts=8)
    assert labels_of(bare) == labels_of(whole)
    steps = [[(step["start"], step["end"]) for step in row["parts"]["rollouts"]["steps"]] for row in (bare, whole)]
    assert steps == [[(0, 1), (2, 3), (4, 5)], [(2, 3), (4, 5), (6, 7)]]


def test_rows_without_a_usable_gold_answer_are_skipped_as_by_score(gold: Chain, tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    file, out = gold_rows(tmp_path / "in.jsonl", "a??"), tmp_path / "steps.jsonl"
    summary = call(gold, file, out, console, rollouts=1)
    assert (summary.rows, summary.skipped, summary.bad_rows, summary.completions) == (1, 2, 0, 1)
    assert "2 rows without a usable gold answer are skipped (dataset.bad_gold=skip)" in console.export_text()
    assert not (tmp_path / "steps.rejects.jsonl").exists()


def test_if_nothing_can_be_labeled_the_summary_says_why(gold: Chain, tmp_path: Path) -> None:
    console = Console(record=True, width=200)
    file, out = gold_rows(tmp_path / "in.jsonl", "aaa", text="a?b"), tmp_path / "steps.jsonl"
    assert call(gold, file, out, console).counts["steps"] == 0
    printed = console.export_text()
    why = f"not_applicable: the tokens of {gold.policy.name} do not give its text back"
    assert f"rollouts has no score; the first reason is {why}" in printed.replace("\n", " ")
    assert "0 steps of 3 completions; 0 tokens sampled" in printed


def test_an_engine_that_cannot_go_on_stops_the_run(
    chain: Chain, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no verifier that fails: nothing is written for rows that it would have labeled."""

    def broken(*args: Any) -> Any:
        raise RunError("the server is gone")

    monkeypatch.setattr(module, "continuations", broken)
    with pytest.raises(RunError, match="the server is gone"):
        labeled(chain, file, tmp_path / "steps.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_what_cannot_be_labeled_is_refused(chain: Chain, file: Path, make_task, tmp_path: Path) -> None:
    task = make_task({"length_rank": {"of": {"test_vowels": {}}}})
    with pytest.raises(UsageError, match="compares the completions of a group"):
        label_steps(task, file, OutputFile(tmp_path / "x.jsonl"), console=Console(quiet=True))
    with pytest.raises(UsageError, match=r"loss.tis_cap has no effect here"):
        labeled(chain, file, tmp_path / "x.jsonl", **{"loss.tis_cap": 2.0})
    with pytest.raises(UsageError, match=r"the name must end in \.jsonl"):
        labeled(chain, file, tmp_path / "x.parquet")
