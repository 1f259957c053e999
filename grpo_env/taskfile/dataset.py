"""Loads the rows of a task from a hub dataset, a local file or a generator."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.files.reader import SUFFIXES, numbered, read_records
from grpo_env.registry import SAFE, is_safe_mode, load_function, locate

from .schema import DatasetSpec, Split

BUILT_IN_GENERATORS = frozenset(
    f"grpo_env.tasks.{module}:problems" for module in ("arithmetic", "countdown", "letter_counting")
)


PlacedRow = tuple[str, Mapping[str, Any]]
"""Where a row is, for messages, and the row."""


@dataclass(frozen=True)
class SplitRows:
    """The rows of a split that ``dataset.filter`` keeps.

    ``numbers`` count the rows of the split from 0, before the filter; ``dropped`` counts the rows that it left out.
    ``places`` say where the rows are, for messages: ``shop.csv, line 14``.
    """

    rows: list[Mapping[str, Any]]
    numbers: list[int]
    places: list[str]
    dropped: int

    @property
    def filter_line(self) -> str | None:
        """What the filter did; ``None`` if it left nothing out."""
        if not self.dropped:
            return None
        return f"dataset.filter leaves out {self.dropped:,} of {self.dropped + len(self.rows):,} rows"


def load_rows(
    spec: DatasetSpec,
    split: Split,
    folder: Path,
    source: str,
    limit: int | None = None,
    keep: Callable[[Mapping[str, Any], str], bool] = lambda row, place: True,
) -> SplitRows:
    """The rows of one split that ``keep`` accepts, at most ``limit``. Local paths are relative to ``folder``.

    ``keep`` gets a row and its place. Raises ``UsageError``, which names ``source``.
    """
    if split not in spec.split:
        raise UsageError(f"{source}: dataset.split has no {split!r}; it has {', '.join(spec.split)}")
    if spec.generator is not None:
        rows = _numbered(split, _generate(spec, split, folder, source))
    elif is_local(spec.path or "", folder):
        rows = _read(spec, split, folder)
    else:
        rows = _numbered(split, _download(spec, split, source))
    bounds = [bound for bound in (limit, spec.limit.get(split)) if bound is not None]
    read = 0

    def accepted() -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        nonlocal read
        for number, (place, row) in enumerate(rows):
            read = number + 1
            if keep(row, place):
                yield number, place, row

    kept = list(islice(accepted(), min(bounds, default=None)))
    if not kept and read:
        raise UsageError(f"{source}: dataset.filter leaves out all {read:,} rows of the {split} split")
    if not kept:
        raise UsageError(f"{source}: dataset: the {split} split is empty")
    numbers, places, kept_rows = map(list, zip(*kept, strict=True))
    return SplitRows(kept_rows, numbers, places, read - len(kept))


def is_local(path: str, folder: Path) -> bool:
    """Whether a dataset path is a local file rather than a hub id."""
    return path.endswith(SUFFIXES) or (folder / path).exists()


def _numbered(split: Split, rows: Iterable[Mapping[str, Any]]) -> Iterator[PlacedRow]:
    for number, row in enumerate(rows, start=1):
        yield f"{split} {numbered(number)}", row


def _generate(spec: DatasetSpec, split: Split, folder: Path, source: str) -> Iterator[Mapping[str, Any]]:
    name = spec.generator or ""
    where = f"{source}: dataset.generator {name!r}"
    if is_safe_mode() and name not in BUILT_IN_GENERATORS:
        raise UsageError(f"{where} is not built in, and {SAFE}=1 refuses all other code")
    try:
        generate = load_function(locate(name, folder))
    except Exception as error:  # of the imported code
        raise UsageError(
            f"{where} cannot be loaded ({error}); expected FILE.py:function, relative to the task, or "
            "module:function of an installed module"
        ) from error
    if split not in spec.limit:
        raise UsageError(f"{source}: dataset.limit has no {split!r}: give the number of rows to generate")
    try:
        yield from generate(split=spec.split[split], size=spec.limit[split], seed=spec.seed, **spec.arguments)
    except (TypeError, ValueError, UsageError) as error:
        raise UsageError(f"{where}: {error}; check dataset.arguments") from error


def _read(spec: DatasetSpec, split: Split, folder: Path) -> Iterator[PlacedRow]:
    source_split = spec.split[split]
    by_hash = isinstance(source_split, float)
    name = (spec.path or "").replace("{split}", str(source_split))
    path = folder / name
    if not by_hash and len(set(spec.split.values())) > 1 and "{split}" not in (spec.path or ""):
        raise UsageError(
            f"{path}: one file cannot be both splits; put {{split}} into dataset.path, "
            "or give fractions: dataset.split={train: 0.9, eval: 0.1}"
        )
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UsageError(f"{path}: is a pipe, socket or device; a data set is read more than once, from a file")
    for record in read_records(path):
        if record.row is None:
            raise UsageError(f"{path}, {record.place}: {record.problem}")
        if not by_hash or _split_by_hash(record.row, spec) == split:
            yield f"{name}, {record.place}", record.row


def _split_by_hash(row: Mapping[str, Any], spec: DatasetSpec) -> Split | None:
    """The split of a row by a hash of its content, which does not depend on the order and size of the file."""
    text = json.dumps(row, sort_keys=True, default=str)
    point = int.from_bytes(hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()[:8]) / 2**64
    for split, fraction in spec.split.items():
        point -= float(fraction)
        if point < 0:
            return split
    return None


def _download(spec: DatasetSpec, split: Split, source: str) -> Iterator[Mapping[str, Any]]:
    import datasets

    where = f"{source}: dataset {spec.path!r}"
    if isinstance(spec.split[split], float):
        raise UsageError(f"{where}: fractions in 'split' are for local files; for a hub id use slices: 'train[:90%]'")
    try:
        data = datasets.load_dataset(spec.path, spec.name, split=str(spec.split[split]))
    except Exception as error:  # the hub client raises many types
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"{where} (split {spec.split[split]!r}) cannot be loaded: {reason}; "
            "for a local file set dataset.path=FILE (.jsonl, .json, .csv or .parquet)"
        ) from error
    yield from data
