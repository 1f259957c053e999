"""Reads rows of JSONL, JSON, CSV, TSV and Parquet files, compressed, in a zip or in a folder of parts, one by one."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from zipfile import BadZipFile, ZipFile

from grpo_env.errors import UsageError

from .compression import COMPRESSED, STDIN, DamagedError, head, open_member, open_source, seekable, source_name

KINDS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
SUFFIXES = KINDS + tuple(map("".join, product(KINDS, COMPRESSED)))
LONGEST = 1 << 26  # bytes in a line: far above any completion, and one line must fit into memory
ROWS_KEYS = ("examples", "example", "instances", "samples", "data")
"""Keys of an object under which its rows are: of BIG-bench (and its Hard tasks), GAOKAO-Bench, MathQA and
Super-NaturalInstructions, Inspect's logs, SQuAD and the ``field="data"`` of ``datasets``."""
_BLOCK = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")
DELIMITERS = ",;\t"  # where a comma is the decimal sign, spreadsheets separate columns by semicolons
_NAME = rb'"?(?:[^\W\d]|[\x80-\xff])[\w\x80-\xff .-]*"?'
_CSV_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?%b(?:[,;\t]%b)+\r?\n" % (_NAME, _NAME))
_QUOTED = re.compile('"[^"]*"')
_HIDDEN = re.compile(r"__MACOSX/|(?:.*/)?\.")
_BESIDE_SHARDS = re.compile(r"\..*|README.*|LICENSE.*|dataset_infos?\.json", re.IGNORECASE)


class Record(NamedTuple):
    """One row. ``line`` is its line (JSONL, CSV) or number, from 1; without a ``row``, ``problem`` has the reason."""

    line: int
    row: dict[str, Any] | None
    problem: str = ""
    is_line: bool = True
    file: str = ""
    """The name of its file in a folder of shards."""

    @property
    def place(self) -> str:
        """Where the row is in its file, for messages: the line that an editor shows (a header is line 1), or the row.

        A row that has line breaks in quotes is named by its first line.
        """
        place = f"line {self.line:,}" if self.is_line else numbered(self.line)
        return f"{self.file}, {place}" if self.file else place


class Line(NamedTuple):
    """An unparsed line of JSONL: cheap to send to another process, which can ``parse`` it."""

    line: int
    data: bytes


def numbered(row: int) -> str:
    """A row of a table without lines, counted from 1, for messages."""
    return f"row {row:,} (from 1)"


def read_records(path: Path) -> Iterator[Record]:
    """The rows of a file, in order, or of a folder of shards, in the order of their names; ``-`` is standard input.

    The kind of file is known from its suffix or else its first bytes, a compression or zip from its first bytes. A row
    that cannot be read, or the place where damaged data ends, is a ``Record`` with a ``problem``, not an exception.
    Raises ``UsageError`` if the file as a whole cannot be read.
    """
    parts = [] if path == STDIN else shards(path)
    for part in parts:
        for line in read_lines(part):
            yield parse(line)._replace(file=part.name)
    if not parts:
        yield from map(parse, read_lines(path))


def shards(folder: Path) -> list[Path]:
    """The files of a folder that holds nothing but one table in numbered parts; none of any other folder.

    Such as ``train-00000-of-00002.parquet``, the files of hub data sets and of Spark. Beside them may be a README.
    """
    if not folder.is_dir():
        return []
    files = sorted(path for path in folder.iterdir() if not _BESIDE_SHARDS.fullmatch(path.name))
    return files if _is_one_table([path.name for path in files]) and files[0].is_file() else []


def _is_one_table(names: Iterable[str]) -> bool:
    """Whether names differ in numbers only, and are those of files of rows."""
    return len({re.sub(r"\d+", "", name) for name in names}) == 1 and all(name.endswith(SUFFIXES) for name in names)


def read_lines(path: Path) -> Iterator[Line | Record]:
    """``read_records``, but with the lines of JSONL unparsed (``parse``). Raises ``UsageError``."""
    with open_source(path) as stream:
        read = _zip if head(stream).startswith(b"PK\x03\x04") else _file
        yield from read(source_name(path), stream)


def _file(name: str, stream: io.BufferedReader) -> Iterator[Line | Record]:
    readers = {".jsonl": _jsonl, ".json": _json, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
    return readers[_kind(name, head(stream))](name, stream)


def _zip(name: str, stream: io.BufferedReader) -> Iterator[Record]:
    """The rows of the only table in a zip file, or of its numbered parts; or the samples of an Inspect log."""
    with seekable(stream) as file:
        try:
            archive = ZipFile(file)
        except BadZipFile as error:
            raise UsageError(f"{name}: not a valid zip file ({error})") from error
        names = [part for part in archive.namelist() if part.endswith(SUFFIXES) and not _HIDDEN.match(part)]
        samples = [part for part in names if part.startswith("samples/")]
        if not samples and not _is_one_table(names):
            held = f"holds {', '.join(names[:3])}" if names else f"holds no file that ends in {', '.join(KINDS)}"
            raise UsageError(f"{name}: {held}; expected one table of rows: unpack it, and give a file in it")
        parts = sorted(samples or names)
        lines = ((part, line) for part in parts for line in _file(f"{name}, {part}", open_member(name, archive, part)))
        for number, (part, line) in enumerate(lines, start=1):
            yield parse(line)._replace(line=number, is_line=False, file=part)


def parse(line: Line | Record) -> Record:
    """A line of JSONL as a record. A record is returned unchanged."""
    if isinstance(line, Record):
        return line
    number, data = line
    try:
        row = json.loads(data.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        return Record(number, None, f"not valid UTF-8 ({error.reason} at byte {error.start + 1} of the line)")
    except (ValueError, RecursionError) as error:
        end = "" if data.endswith(b"\n") else "; the file ends in this line: was it cut off?"
        return Record(number, None, f"not valid JSON ({_short(error)}){end}")
    if not isinstance(row, dict):
        return Record(number, None, f"expected a JSON object, found {type(row).__name__}")
    return Record(number, row)


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which models can write but UTF-8 cannot encode.

    A surrogate is one character as well, so positions in the text stay right.
    """
    return _SURROGATE.sub("\ufffd", text)


def _short(error: Exception) -> str:
    # Python's advice on huge integers (after the colon) is for programmers.
    return str(error) if isinstance(error, json.JSONDecodeError) else str(error).partition(":")[0]


def _kind(name: str, head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return ".parquet"
    file = Path(name)
    suffix = (file.with_suffix("") if file.suffix in COMPRESSED else file).suffix
    if suffix in KINDS:
        return suffix
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"[", b"{")):
        return ".json" if start.startswith(b"[") else ".jsonl"
    if _CSV_HEADER.match(head):
        return ".csv"
    if not start:
        raise UsageError(f"{name}: is empty")
    raise UsageError(f"{name}: unknown file type; expected one of {', '.join(KINDS)}, optionally .gz, .zst or .zip")


def _jsonl(name: str, stream: io.BufferedReader) -> Iterator[Line | Record]:
    number = 0
    try:
        while line := stream.readline(LONGEST + 1):
            number += 1
            if len(line) > LONGEST:
                yield Record(number, None, f"the line is longer than {LONGEST / 2**20:g} MiB")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_BLOCK)
            elif not line.isspace():
                yield Line(number, line)
    except DamagedError as error:
        yield Record(number + 1, None, f"{error}; nothing after this line can be read")


def _json(name: str, stream: io.BufferedReader) -> Iterator[Line | Record]:
    """The rows of a list, of an object, or of lines, which many files called .json have."""
    if head(stream).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        try:
            yield from _numbered(json.loads(stream.read().decode("utf-8-sig")))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name}: not valid JSON ({_short(error)})") from error
        return
    lines = _jsonl(name, stream)
    first = list(islice(lines, 2))
    lines = chain(first, lines)
    if len(first) == 2 and parse(first[0]).row is not None:
        yield from lines
        return
    whole = bytearray()
    for line in lines:
        if isinstance(line, Record):
            raise UsageError(f"{name}: {line.problem}; take its rows out of it: jq -c '.KEY[]' FILE > rows.jsonl")
        whole += line.data
    document = parse(Line(1, bytes(whole)))
    if document.row is None:
        expected = "expected a list of objects, an object that holds one, or one object per line"
        raise UsageError(f"{name}: not valid JSON rows ({document.problem}); {expected}")
    rows = _rows_in(document.row)
    yield from [document] if rows is None else _numbered(rows)


def _rows_in(document: dict[str, Any]) -> list[Any] | None:
    """The rows in an object: a list under one of ``ROWS_KEYS``, or all values under numbers, which become ids.

    Numbers are the keys of OpenCompass's predictions, TabMWP and ScienceQA. ``None``: it is a row itself, as in the
    files of MATH and SciBench.
    """
    keys = {key.lower(): key for key in document}
    for key in (keys[name] for name in ROWS_KEYS if name in keys):
        rows = document[key]
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            return rows
    if document and all(key.isdecimal() and isinstance(row, dict) for key, row in document.items()):
        return [{"id": key} | row for key, row in document.items()]
    return None


def _numbered(rows: Iterable[Any]) -> Iterator[Record]:
    for number, row in enumerate(rows, start=1):
        problem = "" if isinstance(row, dict) else f"expected a JSON object, found {type(row).__name__}"
        yield Record(number, None if problem else row, problem, is_line=False)


def _csv(name: str, stream: io.BufferedReader) -> Iterator[Record]:
    csv.field_size_limit(LONGEST)  # for the whole process; the default of 128 KiB is too small
    header: list[str] = []
    # Bytes that are not UTF-8 become lone surrogates, by which their row is found.
    with io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="\n") as lines:
        for start, row, problem in _csv_rows(lines):
            if not header:
                if problem or len(set(row)) < len(row):
                    raise UsageError(f"{name}, line {start}: {problem or 'two columns have the same name'}")
                header = row
            elif problem or (row and len(row) != len(header)):
                yield Record(start, None, problem or f"expected {len(header)} columns, found {len(row)}")
            elif row:
                yield Record(start, dict(zip(header, row, strict=True)))


def _csv_rows(lines: TextIO) -> Iterator[tuple[int, list[str], str]]:
    """The first line of each row, its cells, and what is wrong with it."""
    first = lines.readline()
    reader = csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"not valid CSV ({error})"
            if (end := reader.line_num) > start:  # not read again from the next line: it may be inside of a text
                problem += f"; lines {start:,} to {end:,} are one row because of a quote: is it closed, or doubled?"
            yield start, [], problem
        except DamagedError as error:
            yield start, [], f"{error}; nothing after this line can be read"
            return
        else:
            yield start, row, "not valid UTF-8; save it as UTF-8" if any(map(_SURROGATE.search, row)) else ""


def _delimiter(header: str) -> str:
    """What separates the columns of a table: the sign that its header has most often outside of quotes."""
    names = _QUOTED.sub("", header)
    return max(DELIMITERS, key=names.count)


def with_short_floats(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows, in whose columns ``names`` a number of 32 bits is its shortest decimal: 0.1, not 0.10000000149011612."""
    if not names:
        yield from map(dict, rows)
        return
    import numpy

    for row in rows:
        numbers = {name: float(str(numpy.float32(row[name]))) for name in names if row[name] is not None}
        yield {**row, **numbers}


def _parquet(name: str, stream: io.BufferedReader) -> Iterator[Record]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    with seekable(stream) as file:  # Parquet is read from its end
        try:
            # Pre-buffering would hold whole row groups, of any size, in memory.
            table = pyarrow.parquet.ParquetFile(file, buffer_size=_BLOCK, pre_buffer=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise UsageError(f"{name}: not a valid Parquet file ({error})") from error
        try:
            names = [field.name for field in table.schema_arrow if pyarrow.types.is_float32(field.type)]
            for batch in table.iter_batches(batch_size=256):
                for row in with_short_floats(batch.to_pylist(), names):
                    number += 1
                    yield Record(number, row, is_line=False)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            problem = f"not valid Parquet ({error}); nothing after this row can be read"
            yield Record(number + 1, None, problem, is_line=False)
