"""Opens a file, standard input or a part of a zip, and decompresses it."""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from grpo_env.errors import UsageError, no_such_file

COMPRESSED = (".gz", ".zst")
STDIN = Path("-")
"""Stands for standard input."""
HEAD = 1 << 16  # bytes by which the kind of file is detected, at most
BLOCK = 1 << 18
DECOMPRESS_STEP = 1 << 12
ZSTANDARD = 93  # in a zip, which Python reads from 3.14 on; what Inspect writes


class DamagedError(Exception):
    """The data ends early or is corrupt. Everything before it has been read."""


@contextmanager
def open_source(path: Path) -> Iterator[io.BufferedReader]:
    """A file, or standard input (``-``), decompressed.

    gzip and Zstandard are detected by their first bytes, not by name. The stream is seekable if it is the file
    itself. Raises ``UsageError`` for a file that cannot be opened, and where the block cannot read on (``OSError``,
    ``DamagedError``).
    """
    try:
        opened: Any = nullcontext(sys.stdin.buffer) if path == STDIN else io.BufferedReader(io.FileIO(path), BLOCK)
        with opened as file:
            yield _decompressed(file)
    except IsADirectoryError as error:
        raise UsageError(f"{path}: {folder_problem(path)}") from error
    except FileNotFoundError as error:
        raise no_such_file(path) from error
    except OSError as error:
        raise UsageError(f"{source_name(path)}: cannot be read ({error.strerror or error})") from error
    except DamagedError as error:
        raise UsageError(f"{source_name(path)}: {error}") from error


def head(stream: io.BufferedReader) -> bytes:
    """The first bytes of a stream of which nothing was read yet; they stay in it. Raises ``DamagedError``."""
    return stream.peek(HEAD)[:HEAD]


@contextmanager
def seekable(stream: io.BufferedReader) -> Iterator[IO[bytes]]:
    """The stream, or a temporary copy of its bytes if it is not seekable. Raises ``DamagedError``."""
    if stream.seekable():
        yield stream
        return
    with TemporaryFile() as file:
        shutil.copyfileobj(stream, file, BLOCK)
        file.seek(0)
        yield file


def open_member(name: str, archive: ZipFile, member: str) -> io.BufferedReader:
    """A file in the zip file ``name``. Raises ``UsageError`` if it is encrypted or of an unknown compression."""
    info = copy(archive.getinfo(member))
    is_zstandard = info.compress_type == ZSTANDARD
    if is_zstandard:  # taken as it is
        info.compress_type, info.file_size, info.CRC = ZIP_STORED, info.compress_size, None  # type: ignore[assignment]
    try:
        stored = _buffered(archive.open(info))
        return _decompressed(_decompressed(stored) if is_zstandard else stored)
    except (RuntimeError, BadZipFile) as error:
        raise UsageError(f"{name}, {member}: cannot be read ({error})") from error


def folder_problem(folder: Path) -> str:
    """What to say of a folder that is given as a file, such as that of a run, which has ``samples``."""
    patterns = ("samples/*.parquet", "*.jsonl", "*.parquet")
    newest = next((max(files) for pattern in patterns if (files := list(folder.glob(pattern)))), None)
    return "is a folder, not a file" + (f"; give a file in it, such as {newest}" if newest else "")


def source_name(path: Path) -> str:
    """A file or standard input, for messages."""
    return "standard input" if path == STDIN else str(path)


def _decompressed(stream: io.BufferedReader) -> io.BufferedReader:
    start = head(stream)
    if start.startswith(b"\x1f\x8b"):
        return _buffered(gzip.GzipFile(fileobj=stream))
    # RFC 8878: a frame, or a skippable one, which parallel compressors write first.
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] & 0xF0 == 0x50):
        import pyarrow  # zstandard's reader does not notice a frame that ends early

        return _buffered(pyarrow.CompressedInputStream(stream, "zstd"))
    return stream


def _buffered(source: Any) -> io.BufferedReader:
    return io.BufferedReader(_Decoder(source), BLOCK)


class _Decoder(io.RawIOBase):
    """A decompressor that raises ``DamagedError`` for every kind of damage."""

    def __init__(self, source: Any) -> None:
        self._readinto = getattr(source, "readinto1", source.readinto)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # In small steps: what a decompressor has read before the damage in the same step is lost.
            return int(self._readinto(memoryview(buffer)[:DECOMPRESS_STEP]))
        except (EOFError, OSError, zlib.error, BadZipFile) as error:
            raise DamagedError(f"the compressed data ends early or is damaged ({error})") from error
