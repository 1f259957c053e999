"""The run folder: what a run writes, so that nothing is lost and everything can be read by other tools."""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml
from safetensors import SafetensorError

from grpo_env.errors import RunError, UsageError
from grpo_env.files.jsonl import dump_line
from grpo_env.files.reader import read_records
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.schema import read_yaml

if TYPE_CHECKING:
    from torch import Tensor

    from ..rollout import ScoredRollout

METRICS, SAMPLES, CURVES, MODEL = "metrics.jsonl", "samples.jsonl", "curves.png", "model"
PACKAGES = ("grpo_env", "torch", "transformers", "accelerate", "tokenizers", "numpy")


@dataclass(frozen=True)
class RunFiles:
    """A run on disk. ``writes`` is False in all processes of a run but the first."""

    path: Path
    writes: bool = True

    @classmethod
    def make(cls, path: Path | None, mixture: Mixture, settings: Mapping[str, Any], machine: Mapping[str, Any]) -> Self:
        """A new folder, ``runs/TASK-DATE-N`` unless named, with settings, tasks, and versions beside ``machine``.

        Raises ``UsageError`` for a folder that exists: runs are never overwritten.
        """
        run = cls(_new_folder(path, mixture.name))
        about = {name: version(name) for name in PACKAGES}
        about |= {"python": platform.python_version(), "platform": platform.platform(), **machine}
        with writing(run.path):
            (run.path / "versions.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            (run.path / "task.yaml").write_bytes(_yaml(mixture.resolved()))
            replace(run.path / "config.yaml", _yaml(settings))  # last: it makes it a run
        return run

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Append a row to ``metrics.jsonl`` and return it as written: numbers that are not finite are null."""
        written = {name: None if _not_finite(value) else value for name, value in row.items()}
        self.append(METRICS, written)
        return written

    def append(self, name: str, *rows: dict[str, Any]) -> None:
        """Append rows to a file of the run."""
        if self.writes:
            with writing(self.path / name), (self.path / name).open("a", encoding="utf-8") as file:
                file.writelines(map(dump_line, rows))

    def record_samples(self, step: int, judged: Sequence[ScoredRollout], advantages: Tensor) -> None:
        """Append completions to ``samples.jsonl``, with whole score trees and advantages.

        ``advantages`` (at least as many rows, T) are written as one number where all tokens of a row share it.
        """
        rows = []
        for one, row in zip(judged, advantages, strict=False):
            values = row[: len(one.rollout.ids)].tolist()
            rows.append(
                {
                    "step": step,
                    "task": one.task,
                    "id": one.example.id,
                    "completion": one.rollout.text,
                    "finish": one.rollout.finish,
                    "advantage": values[0] if len(set(values)) == 1 else values,
                    "score": one.score.to_dict(),
                }
            )
        self.append(SAMPLES, *rows)

    def metrics(self) -> list[dict[str, Any]]:
        """All rows of ``metrics.jsonl``. A last line that a crash cut short is left out."""
        path = self.path / METRICS
        return [record.row for record in read_records(path) if record.row is not None] if path.exists() else []

    def forget_from(self, step: int) -> None:
        """Drop the rows of ``step`` and later, which a resumed run writes again."""
        for name in (METRICS, SAMPLES) if self.writes else ():
            path = self.path / name
            if path.exists():
                rows = [record.row for record in read_records(path) if record.row is not None]
                with writing(path):
                    replace(path, "".join(dump_line(row) for row in rows if row["step"] < step).encode())


def read_config(run: Path) -> dict[str, Any]:
    """A run's settings. Raises ``UsageError`` for a folder that is no run."""
    if not (run / "config.yaml").is_file():
        raise UsageError(f"{run}: not a run folder (it has no config.yaml)")
    return read_yaml(run / "config.yaml")


def _new_folder(path: Path | None, task: str) -> Path:
    stem = path or Path("runs") / f"{task}-{date.today():%Y%m%d}"
    number = 0
    while True:
        number += 1
        folder = path or stem.with_name(f"{stem.name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if path is not None:
                raise UsageError(
                    f"{path} exists already and is left as it is; choose another folder, or go on with it by "
                    f"grpo_env train --resume {path}"
                ) from None
            continue
        except OSError as error:
            raise UsageError(f"{folder}: the run folder cannot be made ({error.strerror})") from error
        return folder


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a failed write into one clear line."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else f"cannot be written ({error.strerror or error})"
        raise RunError(f"{path}: {what}; make room, then go on from the last checkpoint with --resume") from error
    except (SafetensorError, RuntimeError) as error:  # safetensors and torch.save hide the system's error
        why = str(error).split("\n")[0]
        raise RunError(f"{path}: cannot be written ({why}); is the disk full?") from error


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def sync(*paths: Path) -> None:
    """Have files and folders on the disk before going on."""
    for path in paths if os.name == "posix" else ():  # elsewhere a folder cannot be opened
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _yaml(data: Mapping[str, Any]) -> bytes:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True).encode()


def _not_finite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block, so that no update is left half done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
