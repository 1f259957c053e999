"""Opens a file, standard input or a part of a zip, decompresses it, turns UTF-16 into UTF-8, and peeks at its start."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from copy import copy
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, Literal, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from grpo_env.errors import UsageError, no_such_file

COMPRESSED = (".gz", ".zst")
STDIN: Literal["-"] = "-"
HEAD = 1 << 16  # bytes by which the kind of file is detected
BLOCK = 1 << 18
DECOMPRESS_STEP = 1 << 12
ZSTANDARD = 93  # in a zip, which Python reads from 3.14 on; what Inspect writes
SAMPLE = 1 << 24  # decompressed bytes from which the size of a compressed file is estimated


class DamagedError(Exception):
    """The compressed data ends early or is corrupt. Everything before it has been read."""


class Source(NamedTuple):
    """The first bytes, the stream from its beginning, and the file itself if these are its bytes and it is seekable."""

    head: bytes
    stream: io.BufferedReader
    file: BinaryIO | None = None


@contextmanager
def open_source(path: Path | Literal["-"]) -> Iterator[Source]:
    """A file, or standard input (``-``), decompressed, and as UTF-8 if it is UTF-16, which Excel calls Unicode text.

    gzip, Zstandard and UTF-16 are detected by their first bytes, not by name. Raises ``UsageError`` for a file that
    cannot be opened; reading raises ``DamagedError``.
    """
    if is_stdin(path):
        yield _in_utf8(_decompressed(sys.stdin.buffer))
        return
    with ExitStack() as stack:
        try:
            source = _in_utf8(_decompressed(stack.enter_context(Path(path).open("rb"))))
        except IsADirectoryError as error:
            raise UsageError(f"{path}: {folder_problem(Path(path))}") from error
        except FileNotFoundError as error:
            raise no_such_file(Path(path)) from error
        except OSError as error:
            raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error
        yield source


@contextmanager
def seekable(name: str, source: Source) -> Iterator[IO[bytes]]:
    """The file of a source, or a temporary copy of its bytes. Raises ``UsageError`` if they are damaged."""
    with nullcontext(source.file) if source.file else TemporaryFile() as file:
        if source.file is None:
            try:
                shutil.copyfileobj(source.stream, file, BLOCK)
            except DamagedError as error:
                raise UsageError(f"{name}: {error}") from error
            file.seek(0)
        yield file


def open_member(name: str, archive: ZipFile, member: str) -> Source:
    """A file in the zip file ``name``. Raises ``UsageError`` if it is encrypted or of an unknown compression."""
    info = copy(archive.getinfo(member))
    is_zstandard = info.compress_type == ZSTANDARD
    if is_zstandard:  # taken as it is
        info.compress_type, info.file_size, info.CRC = ZIP_STORED, info.compress_size, None  # type: ignore[assignment]
    try:
        stored = _Decoder(archive.open(info))
        return _in_utf8(_decompressed(_decompressed(stored).stream if is_zstandard else stored))
    except (RuntimeError, BadZipFile) as error:
        raise UsageError(f"{name}, {member}: cannot be read ({error})") from error


def folder_problem(folder: Path) -> str:
    """What to say of a folder that is given as a file, such as that of a run, which has ``samples``."""
    patterns = ("samples/*.parquet", "*.jsonl", "*.parquet")
    newest = next((max(files) for pattern in patterns if (files := list(folder.glob(pattern)))), None)
    return "is a folder, not a file" + (f"; give a file in it, such as {newest}" if newest else "")


def content_size(path: Path) -> int:
    """The decompressed size of a file in bytes; for a large compressed file an estimate from its beginning."""
    file_size = path.stat().st_size
    with path.open("rb") as file:
        source = _decompressed(file)
        if source.file is not None or not file_size:
            return file_size
        try:
            read = len(source.stream.read(SAMPLE))
        except DamagedError:
            return file_size
        return round(read * file_size / file.tell())


def is_stdin(path: Path | Literal["-"]) -> bool:
    """Whether a path means standard input."""
    return str(path) == STDIN


def _decompressed(source: Any) -> Source:
    head, stream, _ = _peeked(source)
    if head.startswith(b"\x1f\x8b"):
        return _peeked(_Decoder(gzip.GzipFile(fileobj=stream)))
    # RFC 8878: a frame, or a skippable one, which parallel compressors write first.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50):
        import pyarrow  # zstandard's reader does not notice a frame that ends early

        return _peeked(_Decoder(pyarrow.CompressedInputStream(stream, "zstd")))
    return Source(head, stream, source if source.seekable() else None)


def _peeked(source: Any) -> Source:
    """The first bytes of a stream, and the stream with them put back, as a pipe cannot be rewound."""
    head = b""
    damage = None
    try:
        while len(head) < HEAD and (block := source.read(HEAD - len(head))):
            head += block
    except DamagedError as error:
        damage = error
    return Source(head, io.BufferedReader(_Joined(head, source, damage), BLOCK))


def _in_utf8(source: Source) -> Source:
    if not source.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return source
    return _peeked(io.BufferedReader(_Utf8(source.stream), BLOCK))


class _Utf8(io.RawIOBase):
    """UTF-16 text as UTF-8. What UTF-16 cannot mean becomes bytes that are not UTF-8, so that their row is reported."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = self._source.read1(BLOCK)
            try:
                text = self._decoder.decode(block, final=not block)
            except UnicodeDecodeError:  # an odd number of bytes
                text = "\ud800"
                self._decoder.reset()
            self._rest = text.encode("utf-8", "surrogatepass")
            if not block and not self._rest:
                return 0
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


class _Joined(io.RawIOBase):
    """Bytes that were already read, then the rest of the stream, or the damage that ended it."""

    def __init__(self, head: bytes, rest: Any, damage: DamagedError | None) -> None:
        self._head, self._rest, self._damage = head, rest, damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            block = self._head[: len(buffer)]
            self._head = self._head[len(block) :]
            buffer[: len(block)] = block
            return len(block)
        if self._damage:
            raise self._damage
        return int(self._rest.readinto1(buffer))


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

    readinto1 = readinto
