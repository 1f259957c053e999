"""``grpo_env view calibrate``."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.plural import counted

from .options import Split, TaskName, VerifierFiles, console, loaded_task, repeated
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
    completion: Annotated[
        list[str] | None,
        typer.Option(help="Column, dotted path or template of the completion; repeat it for a group."),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Column, path or template of the gold answer.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column, path or template of the row's id.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column, path or template; adjacent rows with equal values are one group.")
    ] = None,
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
    from grpo_env.scoring import Fields, Options

    paths, overrides = split_files(files)
    loaded = loaded_task(task, overrides)
    if len(paths) == 1 and paths[0].is_file() and is_label_file(paths[0]):
        if out is not None or label:
            raise UsageError(f"{paths[0]}: is a file of labels; leave out --out and --label")
        _report_labels(loaded, paths[0], ask, show, as_json)
    elif ask and out is not None and out.exists():  # resumed: the sample was drawn before
        _report_labels(loaded, out, ask, show, as_json)
    else:
        fields = Fields(tuple(completion or ()), answer, id, tuple(label or ()), group)
        options = Options(fields, split=split)  # type: ignore[arg-type]
        again = f"grpo_env view calibrate {loaded.command_line_name} {out}{repeated(overrides, verifiers)} --ask"
        _from_completions(loaded, paths, options, workers, out, size, seed, second, ask, show, as_json, again)


def _from_completions(
    task: Task,
    paths: list[Path],
    options: Options,
    workers: int,
    out: Path | None,
    size: int,
    seed: int,
    second: str | None,
    ask: bool,
    show: int,
    as_json: bool,
    again: str,
) -> None:
    """Score the completions, unless they are scored already; draw a sample, or report on the labels that they have.

    ``again`` is the command that asks for the labels of the sample.
    """
    from grpo_env.calibrate import draw, labeled_rows
    from grpo_env.results.rows import is_scores_file
    from grpo_env.rows.writer import check_free, new_rows
    from grpo_env.scoring import score_files

    if out is None and ask:
        raise UsageError("--ask: give the file for the labels with --out")
    if out is not None and options.fields.label:
        raise UsageError("--label: with labels for all completions there is nothing to draw; leave out --out")
    if out is not None:
        check_free(out, overwrite=None)
    with TemporaryDirectory() as folder:
        if len(paths) == 1 and paths[0].is_file() and is_scores_file(paths[0]):
            if options.fields.label:
                raise UsageError(f"{paths[0]}: is a file of scores; its labels come from grpo_env score --label")
            scores = paths[0]
        else:
            scores = Path(folder) / "scores.jsonl"
            silent = Console(stderr=True, quiet=True)  # its messages name files in the temporary folder
            summary = score_files(task, paths, scores, options, workers=workers, console=silent)
            if summary.bad_rows:
                are = "is" if summary.bad_rows == 1 else "are"
                console.print(
                    f"{counted(summary.bad_rows, 'row')} could not be scored and {are} left out; "
                    "grpo_env score says why",
                    style="yellow",
                    soft_wrap=True,
                )
        if out is None:
            rows, unscored = labeled_rows(scores, second)
            if all(row["label"] is None for row in rows):
                raise UsageError("there are no labels: name their column with --label, or draw a sample with --out")
            _report(task, rows, show, as_json, unscored)
            return
        with new_rows(out) as write:
            rows = draw(scores, size, seed, second)
            for row in rows:
                write(row)
    if ask:
        _report_labels(task, out, ask, show, as_json)
    else:
        _print_sample(again, rows, out, as_json)


def _print_sample(again: str, rows: list[LabelRow], out: Path, as_json: bool) -> None:
    from grpo_env.calibrate.report_lines import sample_lines

    if as_json:
        sizes = {row["stratum"]: row["stratum_size"] for row in rows}
        counts = {name: sum(row["stratum"] == name for row in rows) for name in sizes}
        print(json.dumps({"strata": {name: {"size": sizes[name], "drawn": counts[name]} for name in sorted(sizes)}}))
        return
    for line in sample_lines(rows):
        print(line)
    console.print(
        f'Wrote {out}. Set each "label" to true (the answer is correct) or false, or run\n{again}',
        markup=False,
        soft_wrap=True,
    )


def _report_labels(task: Task, path: Path, ask: bool, show: int, as_json: bool) -> None:
    from grpo_env.calibrate import ask as ask_for_labels
    from grpo_env.calibrate import read_labels

    if ask:

        def print_question(text: str) -> None:
            console.print(text, markup=False, soft_wrap=True)

        if not ask_for_labels(
            path, typer.getchar if sys.stdin.isatty() else partial(sys.stdin.read, 1), print_question
        ):
            console.print("The labels are kept; the same command asks for the others.", soft_wrap=True)
    rows = read_labels(path)
    if ask and all(row["label"] is None for row in rows):
        return
    _report(task, rows, show, as_json)


def _report(task: Task, rows: list[LabelRow], show: int, as_json: bool, unscored: int = 0) -> None:
    from grpo_env.calibrate import calibrate as estimate
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
