"""What is viewed: score files and runs, each as one file of score rows that DuckDB can read."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from time import localtime, strftime
from typing import Any, Literal

from grpo_env.errors import UsageError
from grpo_env.results.rows import REQUIRED, first_row
from grpo_env.rows.compression import DamagedError, head, open_source
from grpo_env.rows.jsonl import dump_record, json_value
from grpo_env.rows.reader import Line, parse, read_lines
from grpo_env.scoring.score_row import JSON_COLUMNS

Kind = Literal["jsonl", "parquet"]
HEAD = 1000  # rows that are shown while the rest of a file is indexed
SAMPLES, METRICS = "samples", "metrics.jsonl"


@dataclass(frozen=True)
class Source:
    """A score file, or the samples of a run. ``number`` is its place on the command line, from 0."""

    number: int
    path: Path
    kind: Kind
    steps: tuple[Path, ...] = ()
    """The files of a run's samples, one for each step; ``path`` is then the run."""

    @property
    def run(self) -> Path | None:
        """The folder of the run, if it is one."""
        return self.path if self.steps else None

    @property
    def title(self) -> str:
        """The name that pages show."""
        return str(self.path)

    @property
    def date(self) -> str:
        """When the file, or the last of a run's samples, was written."""
        return strftime("%Y-%m-%d %H:%M", localtime((self.steps or (self.path,))[-1].stat().st_mtime))


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """The sources that the paths name. Raises ``UsageError`` for what is neither a score file nor a run."""
    return [_source(number, path) for number, path in enumerate(paths)]


def _source(number: int, path: Path) -> Source:
    if path.is_dir():
        if not (path / "config.yaml").is_file():
            raise UsageError(f"{path}: not a run folder (it has no config.yaml); give score files or folders of runs")
        steps = tuple(sorted((path / SAMPLES).glob("step-*.parquet")))
        if not steps:
            raise UsageError(f"{path}: this run has no samples yet ({SAMPLES}/ is missing or empty)")
        return Source(number, path, "parquet", steps)
    row = first_row(path)
    if missing := next((key for key in REQUIRED if key not in row), None):
        raise UsageError(f"{path}: not a score file (no key {missing!r}); score completions with grpo_env score first")
    return Source(number, path, "parquet" if _is_parquet(path) else "jsonl")


def _is_parquet(path: Path) -> bool:
    with open_source(path) as stream:
        return head(stream).startswith(b"PAR1")


def write_head(source: Source, target: Path) -> None:
    """Write the first ``HEAD`` rows as JSONL. Raises ``UsageError``."""
    lines = islice(_score_lines(source), HEAD)
    with target.open("wb") as file:
        file.writelines(lines)


def prepare(source: Source, target: Path) -> None:
    """Make ``target`` a file of score rows that DuckDB can read: a link, or a copy of a run, a list, compressed rows.

    Raises ``UsageError``, and ``OSError`` if the disk is full.
    """
    if source.steps:
        _join(source.steps, target)
        return
    if source.kind == "jsonl" and not isinstance(next(iter(read_lines(source.path))), Line):  # a JSON list
        with target.open("wb") as file:
            file.writelines(_score_lines(source))
        return
    with open_source(source.path) as stream:
        if stream.seekable():
            target.symlink_to(source.path.resolve())
            return
        with target.open("wb") as file, suppress(DamagedError):  # what comes before the damage is shown
            shutil.copyfileobj(stream, file, 1 << 20)


def _join(files: Sequence[Path], target: Path) -> None:
    """Write the rows of Parquet files with the same columns to one."""
    import pyarrow
    import pyarrow.parquet

    try:
        schema = pyarrow.parquet.read_schema(files[0])
        with pyarrow.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
            for file in files:
                writer.write_table(pyarrow.parquet.read_table(file).cast(schema))
    except (pyarrow.ArrowException, ValueError) as error:
        raise UsageError(f"{file}: cannot be read with the other steps ({error})") from error


def _score_lines(source: Source) -> Iterator[bytes]:
    """The rows as lines of JSONL; a line that cannot be read stays as it is, so that it is counted."""
    for line in chain.from_iterable(map(read_lines, source.steps or [source.path])):
        if isinstance(line, Line):
            yield line.data.rstrip(b"\r\n") + b"\n"
        else:
            yield dump_record(decoded(line.row)).encode() if line.row is not None else b"null\n"


def read_line(path: Path, offset: int) -> dict[str, Any] | None:
    """The row on the line that begins at byte ``offset``; ``None`` if it is no object."""
    with path.open("rb") as file:
        file.seek(offset)
        return parse(Line(0, file.readline())).row


def decoded(row: dict[str, Any]) -> dict[str, Any]:
    """A row of Parquet with the values of the columns that hold JSON; ``None`` for what is not valid."""
    return row | {name: json_value(row[name]) for name in JSON_COLUMNS if name in row}
