"""What the terminal shows of scoring and of tasks: progress, the summary table, a rendered example."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grpo_env.catalogue import options
from grpo_env.errors import RunError, UsageError
from grpo_env.files import dump_line, read_records
from grpo_env.schema import Split
from grpo_env.scoring import Fields, Tally, output_row, score_records
from grpo_env.task import Task

SHOWN_PROBLEMS = 10


def score_file(task: Task, file: Path, out: Path | None, fields: Fields, workers: int, talk: Console) -> Tally:
    """Score ``file`` into ``out`` (or standard output), showing progress and a summary on ``talk``.

    ``out`` appears when it is complete. Raises ``UsageError`` if it exists, ``RunError`` if it cannot be written.
    """
    if not file.is_file():
        raise UsageError(f"{file}: {'a folder, not a file' if file.is_dir() else 'no such file'}")
    tally = Tally()
    start = time.perf_counter()
    with _output(out) as lines, _progress(file, talk) as advance:
        for result in score_records(task, fields, read_records(file), workers):
            tally.add(result, task.metric)
            if result.problem and tally.bad_rows <= SHOWN_PROBLEMS:
                talk.print(f"{file}, line {result.line}: {result.problem}", markup=False, style="yellow")
            for index in range(len(result.scores)):
                lines.write(dump_line(output_row(result, index)))
            advance()
    show_tally(tally, task, talk, time.perf_counter() - start)
    return tally


@contextmanager
def _output(out: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that takes its name when it is complete."""
    if out is not None and out.exists():
        raise UsageError(f"{out}: exists already; give another name with --out")
    partial = out.with_name(f".{out.name}.{os.getpid()}.part") if out else None
    try:
        if out is None or partial is None:
            yield sys.stdout
            sys.stdout.flush()
            return
        with partial.open("w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # A link, not a rename: it fails where somebody wrote the name in the meantime.
        os.link(partial, out)
    except BrokenPipeError:  # the reader of our output has enough; not an error of ours to explain
        raise
    except FileExistsError as error:
        raise UsageError(f"{out}: was written by somebody else in the meantime; give another name") from error
    except OSError as error:
        raise RunError(f"{out or 'standard output'}: cannot be written ({error.strerror or error})") from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


@contextmanager
def _progress(file: Path, talk: Console) -> Iterator[Callable[[], None]]:
    if not talk.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=talk, transient=True) as progress:
        bar = progress.add_task("scoring", total=_count_lines(file) if file.suffix == ".jsonl" else None)
        yield lambda: progress.advance(bar)


def _count_lines(file: Path) -> int:
    with file.open("rb") as blocks:
        return sum(block.count(b"\n") for block in iter(lambda: blocks.read(1 << 20), b""))


def show_tally(tally: Tally, task: Task, talk: Console, seconds: float) -> None:
    """The summary table: each part's mean, how many were scored, and why the others were not."""
    table = Table(box=None, header_style="bold")
    for column in ("part", "mean", "scored", "statuses"):
        table.add_column(column, justify="right" if column in ("mean", "scored") else "left")
    for name, statuses in tally.statuses.items():
        mean = tally.mean(name)
        others = ", ".join(f"{status} {count:,}" for status, count in statuses.most_common() if status != "scored")
        marked = f"{name} (metric)" if name == task.metric else name
        table.add_row(marked, "-" if mean is None else f"{mean:.4f}", f"{tally.scored[name]:,}", others)
    talk.print(table)
    rate = tally.completions / seconds if seconds else 0.0
    talk.print(f"{tally.completions:,} completions of {tally.rows:,} rows in {seconds:.1f} s ({rate:,.0f}/s)")
    if tally.labelled:
        wrong = sum(tally.disagreements.values())
        talk.print(
            f"agreement of {task.metric} with the labels: {tally.labelled - wrong:,} of {tally.labelled:,}"
            f" ({tally.disagreements[(False, True)]} right here but not there,"
            f" {tally.disagreements[(True, False)]} right there but not here)"
        )
    if tally.bad_rows:
        talk.print(f"{tally.bad_rows:,} rows could not be scored", style="yellow")


def describe(task: Task, split: Split) -> str:
    """A task's first example and verifiers as text."""
    example = task.examples(split, limit=1)[0]
    lines = [f"task: {task.name}", f"file: {task.source}", f"description: {task.spec.description}", ""]
    if isinstance(example.prompt, str):
        lines += ["--- prompt ---", example.prompt]
    else:
        for message in example.prompt:
            lines += [f"--- {message.role} ---", message.content]
    if task.format.prefill:
        lines += ["--- prefill ---", task.format.prefill]
    lines += ["---", f"id: {example.id}", f"answer: {example.answer}", "", "verifiers:"]
    for name, spec in task.spec.verifiers.items():
        options = ", ".join(f"{key}: {value}" for key, value in spec.model_dump(exclude_unset=True).items())
        lines.append(f"  {name}{' (metric)' if name == task.metric else ''}: {{{options}}}")
    return "\n".join(lines)


def settings() -> Table:
    """Every training setting with its default and meaning, from the texts under the fields of ``TrainConfig``."""
    from grpo_env.trainer.config import TrainConfig

    table = Table("setting", "default", "meaning", box=None, header_style="bold")
    for option in options(TrainConfig):
        table.add_row(option.name, str(getattr(TrainConfig, option.name)), Text(option.meaning.replace("``", "")))
    return table
