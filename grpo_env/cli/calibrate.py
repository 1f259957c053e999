"""``grpo_env view calibrate``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grpo_env.errors import UsageError
from grpo_env.rows.writer import new_rows

from .options import say

if TYPE_CHECKING:
    from grpo_env.calibrate.sample import LabelRow


def calibrate(
    file: Annotated[Path, typer.Argument(help="File written by grpo_env score, or a sample of it with labels.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Draw a sample, and write its rows here.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Label the sample in the terminal, one key for each row.")] = False,
    size: Annotated[int, typer.Option(min=10, help="Number of rows to draw.")] = 200,
    seed: Annotated[int, typer.Option(help="Determines the sample.")] = 0,
    second: Annotated[
        str | None,
        typer.Option(metavar="PART", help="Another part of the scores: strata also tell where it disagrees."),
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Number of wrong verdicts to print.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, with all wrong verdicts.")] = False,
) -> None:
    """Measure how often a task's metric is wrong: false positives and false negatives, with intervals.

    With --out, draw a stratified sample of completions to be labeled. Given the labeled file, or scores with labels
    (grpo_env score --label), print the error rates, overall and by stratum, and the completions with a wrong verdict.
    """
    from grpo_env.calibrate.label_file import is_label_file
    from grpo_env.calibrate.sample import labeled_rows

    if is_label_file(file):
        if out is not None:
            raise UsageError(f"{file}: is a file of labels; leave out --out")
        _report(_labels(file, ask), 0, show, as_json)
    elif out is not None:
        if not (ask and out.exists()):  # otherwise the sample was drawn before
            _draw(file, out, size, seed, second)
        if ask:
            _report(_labels(out, ask), 0, show, as_json)
        else:
            again = f"grpo_env view calibrate {out} --ask"
            say(f'Wrote {out}. Set each "label" to true (the answer is correct) or false, or run\n{again}')
    elif ask:
        raise UsageError("--ask: give the file for the labels with --out")
    else:
        rows, unscored = labeled_rows(file, second)
        if all(row["label"] is None for row in rows):
            raise UsageError(f"{file}: no row has a label: score it with --label COLUMN, or draw a sample with --out")
        _report(rows, unscored, show, as_json)


def _draw(scores: Path, out: Path, size: int, seed: int, second: str | None) -> None:
    """Write a sample of the scores, and print what is in it."""
    from grpo_env.calibrate.report_lines import sample_lines
    from grpo_env.calibrate.sample import draw

    with new_rows(out, overwrite=None) as write:
        rows = draw(scores, size, seed, second)
        for row in rows:
            write(row)
    for line in sample_lines(rows):
        print(line)


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


def _report(rows: list[LabelRow], unscored: int, show: int, as_json: bool) -> None:
    from grpo_env.calibrate.rates import calibrate as estimate
    from grpo_env.calibrate.report_lines import error_lines, summary_lines

    if len(tasks := sorted({row["task"] for row in rows})) > 1:
        raise UsageError(f"these completions were scored by several tasks, {', '.join(tasks)}; calibrate each alone")
    result = estimate(rows)
    if as_json:
        print(json.dumps(asdict(result) | {"unscored": unscored}, indent=2))
        return
    for line in summary_lines(result):
        print(line)
    if unscored:
        print(f"\n{unscored:,} unscored completions have no verdict and are left out")
    for row in result.errors[:show]:
        print("", *error_lines(row), sep="\n")
    if hidden := len(result.errors[show:]):
        print(f"\n{hidden:,} more wrong verdicts; --json prints all of them")
