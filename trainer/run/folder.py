"""The files of a run folder except checkpoints: settings, versions, metrics and samples, in formats others can read."""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, Self

import torch
import yaml
from accelerate.utils import get_int_from_env
from safetensors import SafetensorError

from grpo_env.errors import RunError, UsageError
from grpo_env.rows.jsonl import dump_line
from grpo_env.rows.reader import read_records
from grpo_env.scoring.resume import lock
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.yaml_file import read_yaml

from ..config import TrainConfig

METRICS, SAMPLES, MODEL, BEST = "metrics.jsonl", "samples", "model", "best-step"
REWARD_MODEL, TASK, VERSIONS = "reward_model", "task.yaml", "versions.json"
SIZES = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
RANKS = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")  # as accelerate reads both
PACKAGES = ("grpo_env", "torch", "transformers", "accelerate", "tokenizers", "datasets", "numpy")


def is_first_process() -> bool:
    """Whether this is the first process of a run, before its processes know of each other."""
    return int(get_int_from_env(SIZES, 1)) == 1 or int(get_int_from_env(RANKS, 0)) == 0


@dataclass(frozen=True)
class RunFiles:
    """A run folder. ``writes`` is True only in the first process of a run."""

    path: Path
    writes: bool = field(default_factory=is_first_process)

    @classmethod
    def create(cls, path: Path | None, mixture: Mixture, config: TrainConfig, further: Mapping[str, Any]) -> Self:
        """Make a new folder, by default ``runs/TASK-DATE-N``, with settings, tasks, and versions of packages, to which
        ``further`` are added.

        Raises ``UsageError`` if the folder exists: runs are never overwritten.
        """
        run = cls(_new_folder(path, mixture.name))
        versions: dict[str, Any] = {name: version(name) for name in PACKAGES}
        versions |= {"python": platform.python_version(), "platform": platform.platform()}
        versions |= {"seed": config.seed, "threads": torch.get_num_threads(), **further}
        model = str(Path(config.model).resolve()) if Path(config.model).is_dir() else config.model
        with write_errors(run.path):
            (run.path / VERSIONS).write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
            (run.path / TASK).write_bytes(_yaml(mixture.resolved()))
            run.write_settings({**config.model_dump(), "model": model})  # last, since they mark a complete run folder
        return run

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training this run until the block ends, or this process does.

        Raises ``UsageError`` if one trains it already. Where the file system has no locks, a line says so.
        """
        if not self.writes:
            yield
            return
        with write_errors(self.path):
            file = (self.path / VERSIONS).open("r+b")  # no run replaces it
        with file:
            try:
                lock(file, f"{self.path}: another process trains this run; wait for it, or stop it first")
            except OSError as error:  # as of Lustre without -o flock
                reason = f"locks fail ({error.strerror}), so a second process would not be kept from training this run"
                print(f"{self.path}: {reason}", file=sys.stderr)
            yield

    def config(self) -> TrainConfig:
        """The run's settings. Raises ``UsageError``, also for a folder that is not a run."""
        file = self.path / "config.yaml"
        if not file.is_file():
            raise UsageError(f"{self.path}: not a run folder (it has no config.yaml)")
        return TrainConfig.from_mapping(read_yaml(file), str(file))

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write ``config.yaml``."""
        atomic_write(self.path / "config.yaml", _yaml(settings))

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Append a row to ``metrics.jsonl`` and return it as written, with null for numbers that are not finite."""
        written = with_nulls(row)
        if self.writes:
            path = self.path / METRICS
            with write_errors(path), path.open("a", encoding="utf-8") as file:
                file.write(dump_line(written))
        return written

    def metrics(self) -> list[dict[str, Any]]:
        """All rows of ``metrics.jsonl``, without a last line that a crash cut short.

        Raises ``UsageError`` for another line that cannot be read.
        """
        path = self.path / METRICS
        records = list(read_records(path)) if path.exists() else []
        if damaged := next((record for record in records[:-1] if record.row is None), None):
            raise UsageError(f"{path}, {damaged.place}: {damaged.problem}")
        return [record.row for record in records if record.row is not None]

    def evaluations(self) -> list[dict[str, Any]]:
        """The rows of its evaluations."""
        return [row for row in self.metrics() if row["kind"] == "eval"]

    def drop_from(self, step: int) -> None:
        """Remove the metrics and samples of ``step`` and later, and what was trained on them: a resumed run makes them
        again.
        """
        if not self.writes:
            return
        path = self.path / METRICS
        with write_errors(path):
            if path.exists():
                atomic_write(path, "".join(dump_line(row) for row in self.metrics() if row["step"] < step).encode())
            later = [file for number, file in self.sample_files().items() if number >= step]
            for file in [*later, *(self.path / SAMPLES).glob(".*.tmp")]:
                file.unlink()
            models = [model for number, model in self.numbered(f"{REWARD_MODEL}/step-").items() if number > step]
            models += [model for number, model in self.numbered(f"{BEST}-").items() if number >= step]
            for model in models:
                shutil.rmtree(model)

    def numbered(self, prefix: str, suffix: str = "") -> dict[int, Path]:
        """What is called ``prefix``, a number and ``suffix``, by these numbers, in order: of steps, for example."""
        found = {
            path.name.removeprefix(Path(prefix).name).removesuffix(suffix): path
            for path in self.path.glob(f"{prefix}*{suffix}")
        }
        return {int(number): found[number] for number in sorted(filter(str.isdecimal, found), key=int)}

    def sample_files(self) -> dict[int, Path]:
        """The files of ``samples/``, by their steps."""
        return self.numbered(f"{SAMPLES}/step-", ".parquet")


def _new_folder(path: Path | None, task: str) -> Path:
    stem = Path("runs") / f"{task}-{date.today():%Y%m%d}"
    for folder in [path] if path else (stem.with_name(f"{stem.name}-{number}") for number in count(1)):
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            if path:
                check_new(path)
        except OSError as error:
            raise UsageError(f"{folder}: the run folder cannot be created ({error.strerror})") from error
    return folder


def check_new(path: Path) -> None:
    """Raises ``UsageError``, with advice, if a folder exists."""
    if not os.path.lexists(path):
        return
    resume = f", or go on with that run: grpo_env train --resume {path}" if (path / "config.yaml").exists() else ""
    raise UsageError(f"{path} already exists; choose another folder{resume}")


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn a failed write into a ``RunError`` of one line."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "the disk is full" if full else f"cannot be written ({error.strerror or error})"
        raise RunError(f"{path}: {reason}; free some space, then continue with --resume") from error
    except (SafetensorError, RuntimeError) as error:  # safetensors and torch.save hide the OSError
        reason = str(error).split("\n")[0]
        raise RunError(f"{path}: cannot be written ({reason}); is the disk full?") from error


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, also in a power cut."""
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_bytes(content)
    fsync(draft)
    draft.replace(path)


@contextmanager
def new_folder(path: Path, errors: Callable[[Path], AbstractContextManager[None]] = write_errors) -> Iterator[Path]:
    """A folder that becomes ``path`` at the end of the block, and is removed if that raises.

    ``errors`` says what cannot be written, as a ``RunError``.
    """
    draft = path.with_name(f".{path.name}.tmp")
    try:
        with errors(path):
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            yield draft
            draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def fsync(*paths: Path) -> None:
    """Flush files and folders to the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _yaml(data: Mapping[str, Any]) -> bytes:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True).encode()


def with_nulls(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with ``None`` for numbers that are not finite, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that no update is left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts = []
    previous = signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if interrupts:
        raise KeyboardInterrupt
