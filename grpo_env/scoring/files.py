"""Scores files into one file of score rows (``grpo_env score``), in parallel, and resumes after an interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_env import __version__
from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.progress import progress
from grpo_env.rows.formats.join import By
from grpo_env.rows.writer import check_new
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task
from grpo_env.workers.core_count import usable_cores

from .chunks import Chunk, cut_file
from .columns import Fields
from .input_file import InputFile, require_rows
from .isolate_failures import isolate_failures
from .job import ChunkResult, Job
from .parallel import map_on_workers
from .problems import Problems, ReturningGroups, warn
from .resume import OutputFile, ResumableOutput, StreamOutput, examples_hash, resumable
from .scores_to_parquet import write_parquet
from .summary import ScoreSummary
from .summary_table import print_summary


@dataclass(frozen=True)
class Options:
    """How files are scored."""

    fields: Fields = field(default_factory=Fields)
    """Where rows keep what is scored."""
    text: bool = True
    """Write prompts and completions."""
    advantages: bool = False
    """Write advantages."""
    split: AnySplit = "eval"
    """The split of the task's dataset with the questions of completions that come without theirs."""
    join: By | None = None
    """How rows find their examples: by id, by prompt, or by order; none: as their format does, if it does."""
    workers: int = 1
    """The number of processes; 0: one for each core."""


Results = Generator[ChunkResult, None, None]


@dataclass(frozen=True)
class Runner:
    """What does the job: the worker processes, or a command that scores in its own way."""

    run: Callable[[Job, Iterable[Chunk]], Results]
    """The results of chunks, in order. It begins once the output can be written."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What they depend on besides the job."""
    rows: int | None = None
    """Rows of a chunk, without the rest of a group; none: ``CHUNK_ROWS``."""


def score_files(
    task: Task,
    files: Sequence[Path],
    out: OutputFile | None = None,
    options: Options | None = None,
    *,
    console: Console,
    runner: Runner | None = None,
) -> ScoreSummary:
    """Score ``files`` (``-`` is standard input) into ``out``, ``.jsonl`` or ``.parquet``; ``None``: standard output.

    An interrupted run leaves its work next to the output, and the same call continues it. ``console`` gets the formats
    of the files, progress, problems and the summary. Raises ``UsageError``, ``RunError``.
    """
    options = options or Options()
    runner = runner or Runner(partial(_on_workers, options.workers or usable_cores()))
    if out is not None:  # before pipes are read
        check_new(out.path, (".jsonl", ".parquet"), overwrite=True)
    inputs = _open_inputs(task, files, options)
    for file in inputs:
        console.print(f"{file.name}: {file.file_format.name}")
    examples = _examples(task, options.split, {file.file_format.joins for file in inputs})
    readers = tuple(file.reader(examples, options.text) for file in inputs)
    job = Job(task, tuple(file.name for file in inputs), readers, options.text, options.advantages)
    identity = _identity(task, inputs, options, examples, runner) if all(file.seekable for file in inputs) else None
    output = StreamOutput() if out is None else ResumableOutput(out, identity, [*files, *task.data_files])
    with output:
        start, completions_before = time.perf_counter(), output.summary.completions
        with resumable(output, counted(output.summary.rows, "row"), "rows", console):
            _score_rest(job, inputs, output, runner, console)
        rejects_file = output.finish(partial(write_parquet, task) if out and out.path.suffix == ".parquet" else None)
    seconds = time.perf_counter() - start
    print_summary(output.summary, task, console, seconds=seconds, completions_before=completions_before)
    if out is not None and not output.summary.completions:
        warn(console, f"nothing was scored, so {out.path} is not written")
    if rejects_file is not None:
        warn(console, f"{rejects_file}: the rows that could not be scored")
    return output.summary


def _examples(task: Task, split: AnySplit, joins: set[By | None]) -> list[Example]:
    """The examples that rows are joined with, if any are. Raises ``UsageError`` where their order is not the data's."""
    is_divided = any(isinstance(part, float) for part in task.spec.dataset.split.values())
    if "order" in joins and split == "all" and is_divided:
        raise UsageError(
            f"{task.source}: --join order: the splits are fractions, so all of them together are not in the order of "
            "the data; with dataset.split={eval: 1.0} instead of --split all they are, or join by id or prompt"
        )
    return task.examples(split) if any(joins) else []


def _open_inputs(task: Task, files: Sequence[Path], options: Options) -> list[InputFile]:
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"{file}: is given twice")
    inputs = [InputFile(file, task, options.fields, options.join) for file in files]
    require_rows(inputs)
    return inputs


def _score_rest(
    job: Job,
    inputs: Sequence[InputFile],
    output: StreamOutput | ResumableOutput,
    runner: Runner,
    console: Console,
) -> None:
    """Score what ``output`` does not have yet."""
    chunks = chain.from_iterable(
        cut_file(number, reader.in_groups(inputs[number].rows()), reader.key, runner.rows)
        for number, reader in enumerate(job.readers)
    )
    size_before = sum(chunk.size for chunk in islice(chunks, output.chunks))
    size = _total_size(inputs)
    results = runner.run(job, chunks)
    problems, returning = Problems(inputs, console), ReturningGroups(inputs, console)
    # Closed at once if writing fails: the processes wait for more work as long as it is open.
    rest = None if size is None else size - size_before
    with progress("scoring", None, console, size=rest) as advance, closing(results):
        for result in results:
            output.add(result)
            problems.add(result.rejects)
            returning.add(result.groups)
            advance(result.summary.completions, result.size)
    problems.end()
    output.summary.returning_groups += returning.count


def _on_workers(count: int, job: Job, chunks: Iterable[Chunk]) -> Results:
    return map_on_workers(job, chunks, count, partial(isolate_failures, job))


def _total_size(inputs: Sequence[InputFile]) -> int | None:
    """The sum of the sizes of all chunks, if it is known."""
    sizes = [file.size for file in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _identity(
    task: Task, inputs: Sequence[InputFile], options: Options, examples: Sequence[Example], runner: Runner
) -> dict[str, Any]:
    """Everything that the output depends on."""
    return {
        "grpo_env": __version__,
        "task": task.resolved(),
        "code": task.code,
        "options": {key: value for key, value in asdict(options).items() if key != "workers"},
        "examples": examples_hash(examples),
        "inputs": {file.name: file.identity() for file in inputs},
        **runner.identity,
    }
