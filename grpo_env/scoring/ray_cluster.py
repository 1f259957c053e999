"""Runs a scoring job on a Ray cluster, with Ray Data: one process reads the files in order, many score the chunks."""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from grpo_env.errors import RunError, UsageError
from grpo_env.rows.reader import read_lines
from grpo_env.workers.killable_worker import ReplaceableWorker, WorkerDiedError

from .chunks import Chunk, cut_files
from .isolate_failures import isolate_failures
from .job import ChunkResult, Job
from .reader import RowReader

try:
    import ray.data
except ImportError as error:
    raise UsageError("--engine ray needs Ray: pip install 'grpo_env[ray]'") from error


def score_on_cluster(job: Job, files: Sequence[Path], skip: int, workers: int) -> Generator[ChunkResult, None, None]:
    """Score the chunks of ``files`` in order, without the first ``skip``, in ``workers`` actors (0: one for each CPU).

    The cluster is the one of ``RAY_ADDRESS``, or one that runs on this machine, or else is started here for this run.
    The files are read on this node. Ray repeats what is lost with a node or an actor. Raises ``RunError``.
    """
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    for module in _user_modules(job):  # the cluster need not have them
        ray.cloudpickle.register_pickle_by_value(module)
    try:
        with ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR"):
            for row in _dataset(job, files, skip, workers).iter_rows():
                yield pickle.loads(row["result"])
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise RunError(f"Ray: {error}") from error


def _dataset(job: Job, files: Sequence[Path], skip: int, workers: int) -> Any:
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = context.print_on_execution_start = False
    context.target_max_block_size = 1  # byte: each chunk is a block, which is what Ray hands to workers
    read = partial(_read, job.readers, [file.absolute() for file in files], skip)
    this_node = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
    source = ray.data.from_items([0], override_num_blocks=1)
    # Without a CPU of its own the reader leaves all of them to the workers, and Ray Data does not fuse it with them.
    chunks = source.map_batches(read, batch_size=None, num_cpus=0, label_selector=this_node)
    return chunks.map_batches(
        _ScoringActor,
        fn_constructor_args=(job,),
        batch_format="pyarrow",
        batch_size=None,
        compute=ray.data.ActorPoolStrategy(size=workers or int(ray.cluster_resources()["CPU"])),
    )


def _read(readers: Sequence[RowReader], files: Sequence[Path], skip: int, _: object) -> Iterator[pa.Table]:
    chunks = cut_files(
        (reader.in_groups(read_lines(file)), reader.key) for file, reader in zip(files, readers, strict=True)
    )
    for chunk in islice(chunks, skip, None):
        yield pa.table({"chunk": [pickle.dumps(chunk)]})


class _ScoringActor:
    """An actor that scores in a separate process, so that a row that kills the process costs only that row."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._attempt = ReplaceableWorker(_PortableJob(job))

    def __call__(self, chunks: pa.Table) -> pa.Table:
        results = [self._score(pickle.loads(chunk)) for chunk in chunks["chunk"].to_pylist()]
        return pa.table({"result": [pickle.dumps(result) for result in results]})

    def _score(self, chunk: Chunk) -> ChunkResult:
        try:
            return self._attempt(chunk)
        except WorkerDiedError:
            return isolate_failures(self._job, chunk, self._attempt)


class _PortableJob:
    """A job that is pickled together with the code of the user's verifiers, which the worker cannot import."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, chunk: Chunk) -> ChunkResult:
        return self._job(chunk)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (ray.cloudpickle.dumps(self._job),)


def _user_modules(job: Job) -> list[ModuleType]:
    """The modules of ``--verifiers``. Packages must be installed on the cluster."""
    names = {cls.__module__ for cls in job.task.verifier_classes}
    return [sys.modules[name] for name in names if "." not in name and name != "__main__"]
