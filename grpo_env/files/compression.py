"""The bytes of a file or of standard input, decompressed, with a look at the first of them."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from grpo_env.errors import UsageError

COMPRESSED = (".gz", ".zst")
STDIN: Literal["-"] = "-"
HEAD = 1 << 16  # bytes looked at to tell what a stream holds
BLOCK = 1 << 18
STEP = 1 << 12
SAMPLE = 1 << 24  # bytes by which the rest of a compressed file is judged


class DamagedError(Exception):
    """The compressed data ends early or is broken. What came before it has been read."""


class Source(NamedTuple):
    """The first bytes, the stream from the beginning, and the file itself where that can be read in any order."""

    head: bytes
    stream: io.BufferedReader
    file: BinaryIO | None = None


@contextmanager
def opened(path: Path | Literal["-"]) -> Iterator[Source]:
    """A file, or standard input (``-``), decompressed.

    gzip and Zstandard are told by their first bytes, whatever the name says. Reading raises ``DamagedError``. Raises
    ``UsageError`` for a file that cannot be opened.
    """
    if is_stdin(path):
        yield _decompressed(sys.stdin.buffer)
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error
        yield _decompressed(file)


def content_size(path: Path) -> int:
    """Bytes of a file when it is decompressed; of a large compressed one as its beginning lets expect."""
    whole = path.stat().st_size
    with path.open("rb") as file:
        source = _decompressed(file)
        if source.file is not None or not whole:
            return whole
        try:
            read = len(source.stream.read(SAMPLE))
        except DamagedError:
            return whole
        return round(read * whole / file.tell())


def is_stdin(path: Path | Literal["-"]) -> bool:
    """Whether a path means standard input."""
    return str(path) == STDIN


def _decompressed(source: Any) -> Source:
    head, stream, _ = _looked_at(source)
    if head.startswith(b"\x1f\x8b"):
        return _looked_at(_Decoder(gzip.GzipFile(fileobj=stream)))
    # RFC 8878: a frame, or a skippable one, with which parallel compressors begin.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50):
        import pyarrow  # not zstandard: its reader takes a frame that ends early for a whole one

        return _looked_at(_Decoder(pyarrow.CompressedInputStream(stream, "zstd")))
    return Source(head, stream, source if source.seekable() else None)


def _looked_at(source: Any) -> Source:
    """The first bytes of a stream, and the stream with them put back: a pipe cannot be wound back."""
    head = b""
    damage = None
    try:
        while len(head) < HEAD and (block := source.read(HEAD - len(head))):
            head += block
    except DamagedError as error:
        damage = error
    return Source(head, io.BufferedReader(_Joined(head, source, damage), BLOCK))


class _Joined(io.RawIOBase):
    """Bytes that were read already, then the rest of their stream."""

    def __init__(self, head: bytes, rest: Any, damage: DamagedError | None) -> None:
        self._head, self._rest, self._damage = head, rest, damage

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            taken = self._head[: len(buffer)]
            self._head = self._head[len(taken) :]
            buffer[: len(taken)] = taken
            return len(taken)
        if self._damage:
            raise self._damage
        return int(self._rest.readinto1(buffer))


class _Decoder(io.RawIOBase):
    """A decompressor whose many errors are one, ``DamagedError``."""

    def __init__(self, source: Any) -> None:
        self._readinto = getattr(source, "readinto1", source.readinto)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # Little at a time: what a decompressor has read when it comes upon the damage is lost.
            return int(self._readinto(memoryview(buffer)[:STEP]))
        except (EOFError, OSError, zlib.error) as error:
            raise DamagedError(f"the compressed data ends early or is damaged ({error})") from error

    readinto1 = readinto
