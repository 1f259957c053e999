"""The run folder: what a run writes, so that nothing is lost and everything can be read by other tools."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError
from torch import Tensor

from grpo_env.errors import RunError, UsageError
from grpo_env.files import dump_line, read_records
from grpo_env.schema import read_yaml
from grpo_env.task import Task, load_task

from .config import TrainConfig
from .policy import Policy
from .rollout import Judged

METRICS, SAMPLES, CURVES, MODEL = "metrics.jsonl", "samples.jsonl", "curves.png", "model"
PACKAGES = ("grpo_env", "torch", "transformers", "accelerate", "tokenizers", "numpy")


@dataclass(frozen=True)
class RunFolder:
    """A run on disk. ``writes`` is False in all processes of a run but the first."""

    path: Path
    writes: bool = True

    @classmethod
    def create(cls, path: Path | None, task: Task, config: TrainConfig) -> RunFolder:
        """A new folder, ``runs/TASK-DATE-N`` unless named, with the resolved config, the task and versions.

        Raises ``UsageError`` for a folder that exists: runs are never overwritten.
        """
        path = _new_folder(path, task.name)
        run = cls(path)
        versions = {name: version(name) for name in PACKAGES}
        versions |= {"python": platform.python_version(), "platform": platform.platform()}
        with _writing(path):
            about = {**versions, "seed": config.seed, "threads": torch.get_num_threads()}
            (path / "versions.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            (path / "task.yaml").write_bytes(_yaml(task.resolved()))
            model = str(Path(config.model).resolve()) if Path(config.model).is_dir() else config.model
            _replace(path / "config.yaml", _yaml({**asdict(config), "model": model}))  # last: it makes it a run
        return run

    @classmethod
    def reopen(cls, path: Path, writes: bool = True) -> tuple[RunFolder, Task, TrainConfig]:
        """An existing run with its task and config. Raises ``UsageError`` if there is none."""
        if not (path / "config.yaml").is_file():
            raise UsageError(f"{path}: not a run folder (it has no config.yaml), so nothing here can go on")
        config = TrainConfig.from_mapping(read_yaml(path / "config.yaml"), str(path / "config.yaml"))
        return cls(path, writes), load_task(path / "task.yaml"), config

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Append a row to ``metrics.jsonl`` and return it as written: numbers that are not finite are null."""
        written = {name: None if _not_finite(value) else value for name, value in row.items()}
        self._append(METRICS, written)
        return written

    def record_samples(self, step: int, judged: Sequence[Judged], advantages: Tensor) -> None:
        """Append completions to ``samples.jsonl``, with whole score trees and advantages.

        ``advantages`` (at least as many rows, T) are written as one number where all tokens of a row share it.
        """
        rows = []
        for one, row in zip(judged, advantages, strict=False):
            values = row[: len(one.rollout.ids)].tolist()
            rows.append(
                {
                    "step": step,
                    "id": one.example.id,
                    "completion": one.rollout.text,
                    "finish": one.rollout.finish,
                    "advantage": values[0] if len(set(values)) == 1 else values,
                    "score": one.score.to_dict(),
                }
            )
        self._append(SAMPLES, *rows)

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
                with _writing(path):
                    _replace(path, "".join(dump_line(row) for row in rows if row["step"] < step).encode())

    def save(
        self,
        policy: Policy,
        optimizer: torch.optim.Optimizer,
        reference: Mapping[str, Tensor] | None,
        step: int,
        keep: int,
    ) -> None:
        """Checkpoint the state after ``step`` updates, whole or not at all, and keep the newest ``keep``.

        ``reference`` holds the weights of a reference that moves, ``None`` where it stays as it was.
        """
        if not self.writes:
            return
        final = self.path / "checkpoints" / f"step-{step:06d}"
        with _writing(final):
            if not final.exists():  # else the run stops where it went on
                draft = final.with_name(f".{final.name}.new")
                shutil.rmtree(draft, ignore_errors=True)
                draft.mkdir(parents=True)
                state = {"step": step, "optimizer": optimizer.state_dict(), "reference": reference}
                state["weights"] = {name: weight.detach() for name, weight in policy.trained.items()}
                torch.save(state, draft / "state.pt")
                _replace(draft / "state.sha256", _digest(draft / "state.pt").encode())
                # Nothing outlives, in a power cut, what was written before it.
                _sync(draft / "state.pt", *self.path.glob("*.jsonl"))
                draft.rename(final)
                _sync(final.parent)
            for old in self.checkpoints()[:-keep]:
                shutil.rmtree(old)

    def checkpoints(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        return sorted((self.path / "checkpoints").glob("step-*"))

    def load(
        self, policy: Policy, optimizer: torch.optim.Optimizer, reference: dict[str, Tensor] | None
    ) -> tuple[int, list[str]]:
        """Restore the newest sound checkpoint; returns its step, and a message for each corrupt one it passed over.

        A run that was killed before its first checkpoint goes on at step 0, where ``policy`` is. Raises ``RunError``
        where there are checkpoints and none is sound.
        """
        skipped: list[str] = []
        folder = self.path / "checkpoints"
        for unfinished in folder.glob(".*") if self.writes else ():
            shutil.rmtree(unfinished)
        for path in reversed(self.checkpoints()):
            try:
                if _digest(path / "state.pt") != (path / "state.sha256").read_text():
                    raise ValueError("its checksum does not match")
                state = torch.load(path / "state.pt", map_location=policy.device, weights_only=True)
                policy.restore(state["weights"])
                optimizer.load_state_dict(state["optimizer"])
                if reference is not None:
                    reference.update(state["reference"])
            except Exception as error:  # torch.load raises whatever the damage leads to
                why = str(error).split("\n")[0]
                skipped.append(f"checkpoint {path.name} is corrupt ({why}); going back to the one before")
                if self.writes and path.exists():  # out of the way of those that will be saved and kept
                    path.replace(path.with_name(f"corrupt-{path.name}"))
                continue
            return int(state["step"]), skipped
        if skipped or any(folder.glob("corrupt-*")):
            raise RunError(f"{self.path}: no checkpoint to go on from, all are corrupt; start the run again")
        return 0, ["no checkpoint yet: the run begins again"]

    def save_model(self, policy: Policy) -> None:
        """Write the model and tokenizer to ``model/``, as transformers loads them."""
        if self.writes:
            draft = self.path / f".{MODEL}.tmp"
            with _writing(self.path / MODEL):
                shutil.rmtree(draft, ignore_errors=True)
                policy.model.save_pretrained(draft)
                policy.tokenizer.save_pretrained(draft)
                draft.rename(self.path / MODEL)

    def _append(self, name: str, *rows: dict[str, Any]) -> None:
        if self.writes:
            with _writing(self.path / name), (self.path / name).open("a", encoding="utf-8") as file:
                file.writelines(map(dump_line, rows))


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
def _writing(path: Path) -> Iterator[None]:
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


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _sync(*paths: Path) -> None:
    for path in paths if os.name == "posix" else ():  # elsewhere a folder cannot be opened
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _yaml(data: Mapping[str, Any]) -> bytes:
    return yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True).encode()


def _not_finite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
