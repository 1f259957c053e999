"""``grpo_env view calibrate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.plural import counted

from .options import Answer, Completion, Group, RowId, Split, TaskName, VerifierFiles, loaded_task, repeated, say
from .scores import split_files

if TYPE_CHECKING:
    from grpo_env.calibrate.sample import LabelRow
    from grpo_env.scoring import Options
    from grpo_env.taskfile.task import Task


def calibrate(
    task: TaskName,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE... [KEY=VALUE]...",
            help="Files of completions, one file of scores, or one of labels; and task keys.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Draw a sample, and write its rows here.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Label the sample in the terminal, one key for each row.")] = False,
    size: Annotated[int, typer.Option(min=10, help="Number of rows to draw.")] = 200,
    seed: Annotated[int, typer.Option(help="Determines the sample.")] = 0,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Column or path of a known label (true or false); then all completions are used."),
    ] = None,
    completion: Completion = None,
    answer: Answer = None,
    id: RowId = None,
    group: Group = None,
    second: Annotated[
        str | None,
        typer.Option(metavar="PART", help="Another part of the scores: strata also tell where it disagrees."),
    ] = None,
    split: Split = "eval",
    workers: Annotated[int, typer.Option(min=0, help="Number of processes for scoring; 0 for one per core.")] = 0,
    show: Annotated[int, typer.Option(min=0, help="Number of wrong verdicts to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, with all wrong verdicts.")] = False,
    verifiers: VerifierFiles = None,
) -> None:
    """Measure how often a task's metric is wrong: false positives and false negatives, with intervals.

    With --out, draw a stratified sample of completions to be labeled. Given the labeled file, or a column of labels
    with --label, print the error rates, overall and by stratum, and the completions with a wrong verdict.
    """
    from grpo_env.calibrate.label_file import is_label_file
    from grpo_env.calibrate.sample import draw, labeled_rows
    from grpo_env.rows.writer import check_free, new_rows
    from grpo_env.scoring import Fields, Options

    paths, overrides = split_files(files)
    loaded = loaded_task(task, overrides)
    report = partial(_report, loaded, show, as_json)
    labels = _only(paths, is_label_file)
    _check_options(labels, out, label, ask)
    if ask and out is not None and out.exists():  # resumed: the sample was drawn before
        labels = labels or out
    if labels:
        report(_labels(labels, ask))
        return
    if out is not None:
        check_free(out, overwrite=None)
    fields = Fields(tuple(completion or ()), answer, id, tuple(label or ()), group)
    with TemporaryDirectory() as folder:
        scores = _scores(loaded, paths, Options(fields, split=split, workers=workers), Path(folder))
        if out is None:
            rows, unscored = labeled_rows(scores, second)
            if all(row["label"] is None for row in rows):
                raise UsageError("there are no labels: name their column with --label, or draw a sample with --out")
            report(rows, unscored)
            return
        with new_rows(out) as write:
            rows = draw(scores, size, seed, second)
            for row in rows:
                write(row)
    if ask:
        report(_labels(out, ask))
    else:
        again = f"grpo_env view calibrate {loaded.command_line_name} {out}{repeated(overrides, verifiers)} --ask"
        _print_sample(again, rows, out, as_json)


def _check_options(labels: Path | None, out: Path | None, label: list[str] | None, ask: bool) -> None:
    if labels and (out is not None or label):
        raise UsageError(f"{labels}: is a file of labels; leave out --out and --label")
    if out is None and ask and not labels:
        raise UsageError("--ask: give the file for the labels with --out")
    if out is not None and label:
        raise UsageError("--label: with labels for all completions there is nothing to draw; leave out --out")


def _only(paths: list[Path], is_kind: Callable[[Path], bool]) -> Path | None:
    """The only path, if it is a file of this kind."""
    return paths[0] if len(paths) == 1 and paths[0].is_file() and is_kind(paths[0]) else None


def _scores(task: Task, paths: list[Path], options: Options, folder: Path) -> Path:
    """The only path, if it is a file of scores; otherwise the scores of the completions, in a file in ``folder``."""
    from grpo_env.results.rows import is_scores_file
    from grpo_env.scoring import score_files

    if given := _only(paths, is_scores_file):
        if options.fields.label:
            raise UsageError(f"{given}: is a file of scores; its labels come from grpo_env score --label")
        return given
    silent = Console(stderr=True, quiet=True)  # its messages name files in the temporary folder
    scores = folder / "scores.jsonl"
    summary = score_files(task, paths, scores, options, console=silent)
    if summary.bad_rows and not summary.completions:
        files = ", ".join(map(str, paths))
        raise UsageError(f"{files}: no row could be scored; grpo_env score with the same options says why")
    if summary.bad_rows:
        left_out = f"could not be scored and {'is' if summary.bad_rows == 1 else 'are'} left out"
        say(f"{counted(summary.bad_rows, 'row')} {left_out}; grpo_env score says why", "yellow")
    return scores


def _print_sample(again: str, rows: list[LabelRow], out: Path, as_json: bool) -> None:
    from grpo_env.calibrate.report_lines import sample_lines

    if as_json:
        sizes = {row["stratum"]: row["stratum_size"] for row in rows}
        counts = {name: sum(row["stratum"] == name for row in rows) for name in sizes}
        print(json.dumps({"strata": {name: {"size": sizes[name], "drawn": counts[name]} for name in sorted(sizes)}}))
        return
    for line in sample_lines(rows):
        print(line)
    say(f'Wrote {out}. Set each "label" to true (the answer is correct) or false, or run\n{again}')


def _labels(path: Path, ask: bool) -> list[LabelRow]:
    """The rows of a file of labels, after those that are missing were asked for."""
    from grpo_env.calibrate.label_file import ask as ask_for_labels
    from grpo_env.calibrate.label_file import read_labels

    if ask:
        key = typer.getchar if sys.stdin.isatty() else partial(sys.stdin.read, 1)
        if not ask_for_labels(path, key, say):
            say("The labels are kept; the same command asks for the others.")
    rows = read_labels(path)
    if ask and all(row["label"] is None for row in rows):
        raise typer.Exit
    return rows


def _report(task: Task, show: int, as_json: bool, rows: list[LabelRow], unscored: int = 0) -> None:
    from grpo_env.calibrate.rates import calibrate as estimate
    from grpo_env.calibrate.report_lines import error_lines, summary_lines

    if other := next((row["task"] for row in rows if row["task"] != task.name), None):
        raise UsageError(f"these completions were scored by the task {other}, not {task.name}")
    result = estimate(rows)
    if as_json:
        print(json.dumps(result.to_dict() | {"unscored": unscored}, indent=2))
        return
    for line in summary_lines(result):
        print(line)
    if unscored:
        print(f"\n{unscored:,} unscored completions have no verdict and are left out")
    for row in result.errors[:show]:
        print("", *error_lines(row), sep="\n")
    if hidden := len(result.errors) - min(show, len(result.errors)):
        print(f"\n{hidden:,} more wrong verdicts; --json prints all of them")
