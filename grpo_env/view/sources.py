"""What is viewed: score files and runs, each as one file of score rows that DuckDB can read."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from grpo_env.core import Score
from grpo_env.errors import UsageError
from grpo_env.files.compression import DamagedError, open_source
from grpo_env.files.jsonl import dump_record
from grpo_env.files.reader import Line, Record, parse, read_lines, read_records
from grpo_env.formats.training_samples import TRAINING_SAMPLES
from grpo_env.results.rows import REQUIRED
from grpo_env.scoring.score_row import score_fields
from grpo_env.taskfile.yaml_file import read_yaml

Kind = Literal["jsonl", "parquet"]
HEAD = 1000  # rows that are shown while the rest of a file is indexed
SAMPLES, METRICS = "samples.jsonl", "metrics.jsonl"


@dataclass(frozen=True)
class Source:
    """A score file, or the samples of a run. ``number`` is its place on the command line, from 0."""

    number: int
    path: Path
    kind: Kind
    samples: bool = False
    """Whether the rows are a trainer's samples, which become score rows."""
    run: Path | None = None

    @property
    def title(self) -> str:
        """The name that pages show."""
        return str(self.run or self.path)


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """The sources that the paths name. Raises ``UsageError`` for what is neither a score file nor a run."""
    return [_source(number, path) for number, path in enumerate(paths)]


def _source(number: int, path: Path) -> Source:
    run = None
    if path.is_dir():
        if not (path / "config.yaml").is_file():
            raise UsageError(f"{path}: not a run folder (it has no config.yaml); give score files or folders of runs")
        run, path = path, path / SAMPLES
        if not path.is_file() or not path.stat().st_size:
            raise UsageError(f"{run}: this run has no samples yet ({SAMPLES} is missing or empty)")
    first = next((record for record in read_records(path) if record.row is not None), None)
    keys = set(first.row or ()) if first else set()
    samples = set(TRAINING_SAMPLES.columns) <= keys
    if not samples and not set(REQUIRED) <= keys:
        missing = next(key for key in REQUIRED if key not in keys)
        raise UsageError(f"{path}: not a score file (no key {missing!r}); score completions with grpo_env score first")
    return Source(number, path, "parquet" if _is_parquet(path) else "jsonl", samples, run)


def _is_parquet(path: Path) -> bool:
    with open_source(path) as source:
        return source.head.startswith(b"PAR1")


def write_head(source: Source, target: Path) -> None:
    """Write the first ``HEAD`` rows as JSONL. Raises ``UsageError``."""
    lines = islice(_score_lines(source), HEAD)
    with target.open("wb") as file:
        file.writelines(lines)


def prepare(source: Source, target: Path) -> None:
    """Make ``target`` a file of score rows that DuckDB can read: a link, or a copy of what is compressed or a sample.

    Raises ``UsageError``, and ``OSError`` if the disk is full.
    """
    with open_source(source.path) as opened:
        if opened.file is not None and not source.samples:
            target.symlink_to(source.path.resolve())
            return
        with target.open("wb") as file:
            if source.samples:
                file.writelines(_score_lines(source))
                return
            with suppress(DamagedError):  # what comes before the damage is shown
                shutil.copyfileobj(opened.stream, file, 1 << 20)


def _score_lines(source: Source) -> Iterator[bytes]:
    """The rows as lines of JSONL; a line that cannot be read stays as it is, so that it is counted."""
    if source.samples:
        for row in _score_rows(read_records(source.path), _metrics(source.run)):
            yield dump_record(row).encode() if row else b"null\n"
        return
    for line in read_lines(source.path):
        if isinstance(line, Line):
            yield line.data.rstrip(b"\r\n") + b"\n"
        else:
            yield dump_record(line.row).encode() if line.row is not None else b"null\n"


def _metrics(run: Path | None) -> dict[str, str]:
    """The metric of each task of a run, by the task's name."""
    if run is None or not (run / "task.yaml").is_file():
        return {}
    task = read_yaml(run / "task.yaml")
    tasks = [member["use"] for member in task["mixture"]] if "mixture" in task else [task]
    return {task["task"]: task["metric"] for task in tasks}


def _score_rows(records: Iterable[Record], metrics: Mapping[str, str]) -> Iterator[dict[str, Any] | None]:
    """The score rows of a trainer's samples (``samples.jsonl``), whose scores are trees; ``None`` for other rows."""
    group, index = "", 0
    for record in records:
        sample = record.row or {}
        try:
            key = f"{sample['step']}/{sample['task']}/{sample['id']}"
            group, index = key, index + 1 if key == group else 0
            yield sample_row(sample, group, index, metrics.get(sample["task"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            yield None


def sample_row(sample: Mapping[str, Any], group: str, index: int, metric: str | None) -> dict[str, Any]:
    """The score row of one sample, the ``index``-th completion of its group."""
    score = Score.from_dict(sample["score"])
    advantage = sample.get("advantage")
    by_token = advantage if isinstance(advantage, list) else None
    return {
        "id": sample["id"],
        "completion": index,
        "group": group,
        "task": sample["task"],
        "metric": metric,
        "step": sample["step"],
        "version": sample.get("version"),
        "prompt": sample.get("prompt"),
        "text": sample["completion"],
        "finish_reason": sample.get("finish"),
        "num_tokens": len(by_token) if by_token else sample.get("num_tokens"),
        **score_fields(score),
        "advantage": None if by_token else advantage,
        "token_advantages": by_token,
        **{key: sample[key] for key in ("turns", "environment") if key in sample},
    }


def read_line(path: Path, offset: int) -> dict[str, Any] | None:
    """The row on the line that begins at byte ``offset``; ``None`` if it is no object."""
    with path.open("rb") as file:
        file.seek(offset)
        return parse(Line(0, file.readline())).row
