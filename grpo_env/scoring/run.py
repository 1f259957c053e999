"""``grpo_env score``: files in, one file of scores out, on all cores, going on where an interrupted run stopped."""

from __future__ import annotations

import hashlib
import inspect
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console

from grpo_env import __version__
from grpo_env.core import Example
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .chunks import cut_all
from .fields import Fields
from .inputs import Input
from .isolate_failures import mend
from .job import ChunkResult, Job
from .parquet_output import write_parquet
from .reader import gold_of
from .resume import Partial, Stream
from .summary import ScoreSummary
from .summary_table import progress, show_tally
from .worker_pool import on_all

SHOWN_PROBLEMS = 10
ENGINES = ("local", "ray")
Engine = Callable[[Job, Sequence[Path], int, int], Generator[ChunkResult, None, None]]  # ``cluster.on_cluster``


@dataclass(frozen=True)
class Options:
    """How files are scored. ``text`` and ``advantages`` say what rows hold beside the verdicts.

    ``split`` is the one of the task's dataset to which completions without their question are joined.
    """

    fields: Fields = field(default_factory=Fields)
    text: bool = True
    advantages: bool = False
    split: Split = "eval"


def score_files(
    task: Task,
    files: Sequence[Path],
    out: Path | None = None,
    options: Options | None = None,
    *,
    workers: int = 1,
    engine: str = "local",
    restart: bool = False,
    talk: Console,
) -> ScoreSummary:
    """Score ``files`` (``-`` is standard input) into ``out``, ``.jsonl`` or ``.parquet``; ``None``: standard output.

    ``talk`` is told what the files are, of problems and of progress. A run that is interrupted leaves its work beside
    ``out``, and the same call goes on with it; ``restart`` throws it away. ``workers`` is the number of processes, 0
    one for each core; with the ``engine`` ``ray`` they are on a cluster. Raises ``UsageError``, ``RunError``.
    """
    options = options or Options()
    on_cluster = _cluster(engine)
    if out is not None and out.suffix not in (".jsonl", ".parquet"):
        raise UsageError(f"{out}: --out ends in .jsonl or .parquet")
    if len(set(files)) < len(files):
        raise UsageError(f"{next(file for file in files if files.count(file) > 1)}: is given twice")
    inputs = [Input(file, partial(gold_of, task, options.fields)) for file in files]
    whole = all(one.seekable for one in inputs)  # a pipe cannot be read again
    if on_cluster and not whole:
        raise UsageError("--engine ray reads files: another process cannot read a pipe or standard input")
    for one in inputs:
        talk.print(f"{one.name}: {one.layout.name}", markup=False)
    examples = task.examples(options.split) if any(one.layout.joins for one in inputs) else []
    readers = tuple(one.reader(task, options.fields, examples, options.text) for one in inputs)
    job = Job(task, tuple(one.name for one in inputs), readers, options.text, options.advantages)
    identity = _identity(task, inputs, options, examples) if whole else None
    with Stream() if out is None else Partial(out, identity, restart=restart) as output:
        if output.chunks:
            talk.print(f"going on after {output.tally.rows:,} rows that an interrupted run has done")
        start, earlier = time.perf_counter(), output.tally.completions
        try:
            _score(job, inputs, output, workers, on_cluster, talk)
        except BaseException:
            if identity is not None and output.chunks:
                talk.print("what is done is kept; the same command goes on from there", style="yellow")
            raise
        rejected = output.finish(partial(write_parquet, task) if out and out.suffix == ".parquet" else None)
    show_tally(output.tally, task, talk, time.perf_counter() - start, output.tally.completions - earlier)
    if rejected is not None:
        talk.print(f"{rejected}: the rows that could not be scored", markup=False, style="yellow", soft_wrap=True)
    return output.tally


def _score(
    job: Job,
    inputs: Sequence[Input],
    output: Stream | Partial,
    workers: int,
    on_cluster: Engine | None,
    talk: Console,
) -> None:
    """All that ``output`` does not have yet."""
    chunks = cut_all((one.rows(), reader.key) for one, reader in zip(inputs, job.readers, strict=True))
    known = sum(chunk.size for chunk in islice(chunks, output.chunks))
    total = _size(inputs) if talk.is_terminal else None
    total = None if total is None else total - known
    shown = 0
    if on_cluster:
        scored = on_cluster(job, [one.path for one in inputs], output.chunks, workers)
    else:
        scored = on_all(job, chunks, workers or os.cpu_count() or 1, partial(mend, job))
    # Closed at once where writing fails: the processes wait for more work as long as it lives.
    with progress(total, talk) as advance, closing(scored):
        for done in scored:
            output.add(done)
            for reject in done.rejects[: SHOWN_PROBLEMS - shown]:
                talk.print(f"{reject.file}, line {reject.line}: {reject.problem}", markup=False, style="yellow")
                shown += 1
            advance(done.size, done.tally.completions)


def _size(inputs: Sequence[Input]) -> int | None:
    """What the sizes of all chunks add up to, if that is known; bytes and rows do not add up."""
    sizes = [one.size for one in inputs]
    same = len({one.lines for one in inputs}) == 1
    return sum(size for size in sizes if size is not None) if same and None not in sizes else None


def _cluster(engine: str) -> Engine | None:
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: {nearest(engine, ENGINES)}")
    if engine == "local":
        return None
    from .ray_cluster import on_cluster

    return on_cluster


def _identity(task: Task, inputs: Sequence[Input], options: Options, examples: Sequence[Example]) -> dict[str, Any]:
    """Everything that the output depends on."""
    return {
        "grpo_env": __version__,
        "task": task.resolved(),
        "code": {_name(type(one)): _code(type(one)) for one in task.verifier.walk()},
        "options": asdict(options),
        "examples": _fingerprint(repr([(one.id, one.answer) for one in examples]).encode()) if examples else "",
        "inputs": {one.name: one.identity() for one in inputs},
    }


def _name(verifier: type) -> str:
    return f"{verifier.__module__}:{verifier.__qualname__}"


def _code(verifier: type) -> str:
    """A fingerprint of the file that a verifier is in; empty for one that is in none."""
    try:
        return _fingerprint(Path(inspect.getfile(verifier)).read_bytes())
    except (TypeError, OSError):
        return ""


def _fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
