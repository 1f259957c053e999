"""Loads the rows of a task from a hub dataset, local files, a folder or a generator."""

from __future__ import annotations

import glob
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.registry import load_named
from grpo_env.rows.reader import SUFFIXES, numbered, read_records, with_short_floats

from .schema import HUB_KEYS, DatasetSpec, Split

BUILT_IN_GENERATORS = frozenset(
    f"grpo_env.tasks.{module}:problems" for module in ("arithmetic", "countdown", "letter_counting")
)

T = TypeVar("T")

COMMIT = re.compile("[0-9a-f]{40}")
SAVED = ("state.json", "dataset_dict.json")
"""What ``save_to_disk`` of ``datasets`` writes: for a ``Dataset``, and for a ``DatasetDict``."""

Placed = tuple[str, Mapping[str, Any]]
"""Where a row is, for messages, and the row."""


class NumberedRow(NamedTuple):
    """A row with its number in the split, from 0 and before the filter, and its place: ``shop.csv, line 14``."""

    number: int
    place: str
    row: Mapping[str, Any]


@dataclass(frozen=True)
class SplitRows:
    """The rows of a split that ``dataset.filter`` keeps; it left out ``dropped`` of the ``read`` rows."""

    rows: list[NumberedRow]
    dropped: int
    read: int

    @property
    def filter_line(self) -> str | None:
        """What the filter did; ``None`` if it left nothing out."""
        if not self.dropped:
            return None
        return f"dataset.filter leaves out {self.dropped:,} of {self.read:,} rows"


def load_rows(
    spec: DatasetSpec,
    split: Split,
    folder: Path,
    source: str,
    limit: int | None = None,
    choose: Callable[[NumberedRow], bool | None] = lambda row: True,
) -> SplitRows:
    """The rows of one split that are chosen, at most ``limit``. Local paths are relative to ``folder``.

    ``choose`` returns ``None`` if the task's filter leaves a row out, ``False`` if it cannot be used. Raises
    ``UsageError``, which names ``source``.
    """
    if split not in spec.split:
        raise UsageError(f"{source}: dataset.split has no {split!r}; it has {', '.join(spec.split)}")
    if spec.generator is not None:
        rows = _numbered(split, _generate(spec, split, folder, source))
    else:
        rows = _read(spec, split, folder, source)
    bounds = [bound for bound in (limit, spec.limit.get(split)) if bound is not None]
    read = dropped = 0

    def accepted() -> Iterator[NumberedRow]:
        nonlocal read, dropped
        for number, (place, values) in enumerate(rows):
            read, row = number + 1, NumberedRow(number, place, values)
            chosen = choose(row)
            dropped += chosen is None
            if chosen:
                yield row

    kept = list(islice(accepted(), min(bounds, default=None)))
    if not kept:
        if not read:
            at = spec.generator or (spec.path or "").replace("{split}", str(spec.split[split]))
            why = "dataset.limit takes none" if 0 in bounds else "there are no rows; give some"
            raise UsageError(f"{source}: dataset {at!r}: the {split} split is empty, as {why}")
        if dropped == read:
            raise UsageError(f"{source}: dataset.filter leaves out all {read:,} rows of the {split} split")
        raise UsageError(f"{source}: no row of the {split} split has a usable gold answer")
    return SplitRows(kept, dropped, read)


def is_local(path: str, folder: Path) -> bool:
    """Whether a dataset path is local rather than a hub id, which has no suffix, pattern or placeholder."""
    return path.endswith(SUFFIXES) or glob.has_magic(path) or "{split}" in path or (folder / path).exists()


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """The SHA-256 of rows, each as a line of JSON with sorted keys: the same rows in the same order, wherever from."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(_as_line(row) + b"\n")
    return digest.hexdigest()


def _numbered(split: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Placed]:
    for number, row in enumerate(rows, start=1):
        yield f"{split} {numbered(number)}", row


def _generate(spec: DatasetSpec, split: Split, folder: Path, source: str) -> Iterator[Mapping[str, Any]]:
    name, where = spec.generator or "", f"{source}: dataset.generator"
    if isinstance(spec.split[split], float):
        raise UsageError(
            f"{where}: fractions in 'split' are for files; a generator gets the name of each: "
            "dataset.split={train: train, eval: eval}"
        )
    generate = load_named(name, folder, where, built_in=BUILT_IN_GENERATORS)
    if split not in spec.limit:
        raise UsageError(f"{source}: dataset.limit has no {split!r}: give the number of rows to generate")
    try:
        yield from generate(split=spec.split[split], size=spec.limit[split], seed=spec.seed, **spec.arguments)
    except (TypeError, ValueError, UsageError) as error:
        raise UsageError(f"{where} {name!r}: {error}; check dataset.arguments") from error


def _read(spec: DatasetSpec, split: Split, folder: Path, source: str) -> Iterator[Placed]:
    """The rows of a split of ``spec.path``: of the hub, of a folder or of files."""
    pattern, wanted = spec.path or "", spec.split[split]
    at, where = pattern.replace("{split}", str(wanted)), f"{source}: dataset {spec.path!r}"
    if not is_local(pattern, folder):
        return _numbered(split, _by_layout(spec, wanted, at, where))
    if spec.revision is not None:
        raise UsageError(f"{where}: dataset.revision is for datasets of the hub")
    of_one_split = isinstance(wanted, float) or "{split}" in pattern  # each file
    path = folder / at
    is_saved = any((path / name).is_file() for name in SAVED)
    if path.is_dir() and not (is_saved or of_one_split):
        return _numbered(split, _by_layout(spec, wanted, str(path), where))
    if given := [key for key in HUB_KEYS if getattr(spec, key)]:
        raise UsageError(f"{where}: dataset.{given[0]} is for datasets of the hub, and folders laid out as there")
    rows = _saved(path, where) if is_saved else _of_files(at, folder)
    if isinstance(rows, Mapping):
        return _numbered(split, _split_of(rows, wanted, where))
    if not of_one_split and len(set(spec.split.values())) > 1:
        raise UsageError(
            f"{path}: one file cannot be both splits; put {{split}} into dataset.path, "
            "or give fractions: dataset.split={train: 0.9, eval: 0.1}"
        )
    if isinstance(wanted, float):
        return _by_hash(rows, spec, split, where)
    return iter(rows)


def _by_hash(rows: Iterable[Placed], spec: DatasetSpec, split: Split, where: str) -> Iterator[Placed]:
    """The rows of a split by fractions. Raises ``UsageError`` at the end if there are rows, and it has none of them."""
    read = found = 0
    for place, row in rows:
        read += 1
        if _split_by_hash(row, spec) == split:
            found += 1
            yield place, row
    if read and not found:
        raise UsageError(
            f"{where}: the {split} split is empty, as none of {counted(read, 'row')} has a hash in its "
            f"{spec.split[split]:g}; give more rows, or another dataset.split"
        )


def _split_of(rows: Mapping[str, T], wanted: str | float, where: str) -> T:
    if isinstance(wanted, float) or wanted not in rows:
        raise UsageError(f"{where}: no split {wanted!r}; it has {', '.join(rows)}")
    return rows[wanted]


def _of_files(at: str, folder: Path) -> Iterator[Placed]:
    """The rows of a file, or of all files that a pattern matches, in the order of their names."""
    is_pattern = glob.has_magic(at) and not (folder / at).exists()
    names = sorted(glob.glob(at, root_dir=folder, recursive=True)) if is_pattern else [at]
    if not names:
        raise UsageError(f"{folder / at}: no file matches this pattern")
    for name in names:
        path = folder / name
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UsageError(f"{path}: is a pipe, socket or device; a data set is read more than once, from a file")
        for record in read_records(path):
            if record.row is None:
                raise UsageError(f"{path}, {record.place}: {record.problem}")
            yield f"{name}, {record.place}", record.row


def _saved(path: Path, where: str) -> Iterator[Placed] | Mapping[str, Iterable[Mapping[str, Any]]]:
    """The rows of a folder that ``save_to_disk`` wrote, by split if it has splits."""
    import datasets

    with _one_line_errors(where):
        data = datasets.load_from_disk(path)
    if isinstance(data, Mapping):
        return {name: _with_short_floats(split) for name, split in data.items()}
    return _numbered(path.name, _with_short_floats(data))


def _with_short_floats(data: Any) -> Iterator[dict[str, Any]]:
    """The rows of a ``Dataset`` or ``IterableDataset``, see ``with_short_floats``."""
    features = (data.features or {}).items()
    names = [name for name, feature in features if getattr(feature, "dtype", None) == "float32"]
    return with_short_floats(data, names)


def _by_layout(spec: DatasetSpec, wanted: str | float, path: str, where: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a split of a hub id, or of a folder that is laid out as on the hub."""
    import datasets

    if isinstance(wanted, float):
        raise UsageError(
            f"{where}: fractions in 'split' are for local files without splits; here use slices: 'train[:90%]'"
        )
    options: dict[str, Any] = {"revision": spec.revision, "data_files": spec.data_files}
    with _one_line_errors(f"{where} (split {wanted!r})"):
        if COMMIT.fullmatch(spec.revision or ""):
            # Without the hub, datasets takes what its cache has last, whatever the revision.
            cached = datasets.load_dataset_builder(path, spec.name, **options).hash
            if cached != spec.revision:
                raise ValueError(f"the hub cannot be reached, and the cache has commit {cached}, not {spec.revision}")
        yield from _with_short_floats(
            datasets.load_dataset(path, spec.name, split=wanted, streaming=spec.streaming, **options)
        )


@contextmanager
def _one_line_errors(where: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the hub client raises many types
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"{where} cannot be loaded: {reason.rstrip('.')}; "
            "for a local file set dataset.path=FILE (.jsonl, .json, .csv or .parquet)"
        ) from error


def _split_by_hash(row: Mapping[str, Any], spec: DatasetSpec) -> Split | None:
    """The split of a row by a hash of its content, which does not depend on the order and size of the file."""
    point = int.from_bytes(hashlib.sha256(_as_line(row)).digest()[:8]) / 2**64
    for split, fraction in spec.split.items():
        point -= float(fraction)
        if point < 0:
            return split
    return None


def _as_line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, sort_keys=True, default=str).encode("utf-8", "backslashreplace")
