"""What is viewed: a score file, or the samples of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grpo_env.errors import UsageError
from grpo_env.results.rows import REQUIRED, first_row
from grpo_env.rows.compression import head, open_source

Kind = Literal["jsonl", "parquet"]
SAMPLES, METRICS = "samples", "metrics.jsonl"


@dataclass(frozen=True)
class Source:
    """A score file, or the samples of a run."""

    path: Path
    kind: Kind
    steps: tuple[Path, ...] = ()
    """The files of a run's samples, one for each step; ``path`` is then the run."""

    @property
    def run(self) -> Path | None:
        """The folder of the run, if it is one."""
        return self.path if self.steps else None

    @property
    def files(self) -> tuple[Path, ...]:
        """The whole names of the files with its rows, in order."""
        return tuple(path.resolve() for path in self.steps or (self.path,))


def find_source(path: Path) -> Source:
    """The source that a path names. Raises ``UsageError`` for what is neither a score file nor a run."""
    if path.is_dir():
        if not (path / "config.yaml").is_file():
            raise UsageError(f"{path}: not a run folder (it has no config.yaml); give a score file or a run folder")
        steps = tuple(sorted((path / SAMPLES).glob("step-*.parquet")))
        if not steps:
            raise UsageError(f"{path}: this run has no samples yet ({SAMPLES}/ is missing or empty)")
        return Source(path, "parquet", steps)
    row = first_row(path)
    if missing := next((key for key in REQUIRED if key not in row), None):
        raise UsageError(f"{path}: not a score file (no key {missing!r}); score completions with grpo_env score first")
    return Source(path, "parquet" if _is_parquet(path) else "jsonl")


def _is_parquet(path: Path) -> bool:
    with open_source(path) as stream:
        return head(stream).startswith(b"PAR1")
