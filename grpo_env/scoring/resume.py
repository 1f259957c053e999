"""The output of a scoring run until it is complete: what is done survives ``kill -9``.

Beside ``X`` stand ``.X.part`` (finished rows as JSONL), ``.X.rejects.part``, and ``.X.part.json``, which tells what is
scored and how, and how much of it is done. What the other two hold beyond that is cut off and done again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grpo_env.errors import RunError, UsageError
from grpo_env.files.reader import dump_record

from .job import ChunkResult
from .summary import ScoreSummary

SAVE_EVERY = 0.5  # seconds of work that a killed run has to do again
SHOWN_DIFFERENCES = 5


class Partial:
    """The unfinished output ``out``: of the input, ``chunks`` are done, and ``tally`` has their sums.

    ``identity`` is everything that the output depends on; ``None`` if no later run could go on with this one. To be
    used in a ``with`` block; one that is left by an error keeps the work. Raises ``UsageError`` if the output exists,
    or there is unfinished work of another identity, and ``RunError`` if it cannot be written.
    """

    def __init__(self, out: Path, identity: Mapping[str, Any] | None, *, restart: bool = False) -> None:
        self.out, self.rejected = out, out.with_suffix(".rejects.jsonl")
        self.chunks, self.tally = 0, ScoreSummary()
        self._identity = None if identity is None else json.loads(json.dumps(identity))
        self._restart = restart
        self._rows, self._rejects, self._converted, self._state = (
            out.with_name(f".{out.name}.{end}") for end in ("part", "rejects.part", "part.converted", "part.json")
        )
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with self._writing(), ExitStack() as opened:
            self._refuse_to_overwrite()
            self._files = [opened.enter_context(path.open("ab")) for path in (self._rows, self._rejects)]
            self._lock()
            self._refuse_to_overwrite()  # now for good: who finished it held the lock
            self._sizes = self._earlier_work()
            for file, size in zip(self._files, self._sizes, strict=True):
                file.truncate(size)
            self._open = opened.pop_all()
        self._saved = time.monotonic()
        return self

    def add(self, done: ChunkResult) -> None:
        """Take in the next chunk's output."""
        written = (done.lines, b"".join(dump_record(reject._asdict()).encode() for reject in done.rejects))
        with self._writing():
            for file, lines in zip(self._files, written, strict=True):
                file.write(lines)
            # Counted only now, and not asked of the files: a write that failed may have left a part of the chunk there.
            self._sizes = (self._sizes[0] + len(written[0]), self._sizes[1] + len(written[1]))
            self.chunks += 1
            self.tally.merge(done.tally)
            if time.monotonic() - self._saved > SAVE_EVERY:
                self._save()

    def finish(self, convert: Callable[[Path, Path], None] | None = None) -> Path | None:
        """Give the output its name, and the rejects, if there are any, the one that is returned.

        ``convert`` writes rows of JSONL (first path) as another kind of file (second).
        """
        with self._writing():
            self._save()
            if convert:
                convert(self._rows, self._converted)
            if self.tally.bad_rows:
                _name(self._rejects, self.rejected)
            _name(self._converted if convert else self._rows, self.out)
            self._remove()
        return self.rejected if self.tally.bad_rows else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._writing(), self._open:
            if kind is None:
                return
            if self._identity is not None and self.chunks:
                self._save()
            else:
                self._remove()

    def _remove(self) -> None:
        for path in (self._rows, self._rejects, self._converted, self._state):
            path.unlink(missing_ok=True)

    def _refuse_to_overwrite(self) -> None:
        if self.out.exists():
            if _same(self._rows, self.out) or _same(self._converted, self.out):
                self._remove()  # of a run that was killed when all was done
            raise UsageError(f"{self.out}: exists already; give another name with --out")
        if self.rejected.exists() and not _same(self._rejects, self.rejected):
            raise UsageError(f"{self.rejected}: exists already, and rejects would go there; move it away")

    def _lock(self) -> None:
        import fcntl  # POSIX alone has it, and training imports this module too

        try:
            fcntl.flock(self._files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"{self.out}: another process is writing it at this moment") from error

    def _earlier_work(self) -> tuple[int, int]:
        """The bytes of rows and rejects that an interrupted run has finished."""
        if self._restart or not self._state.exists():
            self._state.unlink(missing_ok=True)
            return 0, 0
        try:
            state = json.loads(self._state.read_bytes())
            identity, sizes = state["identity"], (state["rows"], state["rejects"])
            chunks, tally = state["chunks"], ScoreSummary.from_dict(state["tally"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{self._state}: cannot be read; start anew with --restart") from error
        different = [f"{key} was {old}, is {new}" for key, old, new in _differences(identity, self._identity)]
        if different:
            more = f" and {len(different) - SHOWN_DIFFERENCES} more" if len(different) > SHOWN_DIFFERENCES else ""
            raise UsageError(
                f"{self.out}: there is unfinished work that this run cannot go on with: "
                f"{'; '.join(different[:SHOWN_DIFFERENCES])}{more}. Start anew with --restart, or give another --out"
            )
        if any(os.fstat(file.fileno()).st_size < size for file, size in zip(self._files, sizes, strict=True)):
            raise UsageError(f"{self._rows}: has lost rows that were written; start anew with --restart")
        self.chunks, self.tally = chunks, tally
        return sizes

    def _save(self) -> None:
        for file in self._files:
            file.flush()
            os.fsync(file.fileno())
        rows, rejects = self._sizes
        if self._identity is not None:
            state = {
                "identity": self._identity,
                "chunks": self.chunks,
                "rows": rows,
                "rejects": rejects,
                "tally": self.tally.to_dict(),
            }
            draft = self._state.with_suffix(".draft")
            draft.write_text(json.dumps(state), encoding="utf-8")
            draft.replace(self._state)
        self._saved = time.monotonic()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunError(f"{self.out}: cannot be written ({error.strerror or error})") from error


def _name(part: Path, name: Path) -> None:
    try:
        os.link(part, name)  # not a rename, which would overwrite what somebody wrote in the meantime
    except FileExistsError as error:
        if not _same(part, name):
            raise UsageError(f"{name}: was written by somebody else in the meantime; give another name") from error


def _same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)


def _differences(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, str, str]]:
    """Dotted key, old and new value of everything in which two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(name), new.get(name), f"{key}.{name}" if key else name)
    elif old != new:
        yield key or "the input", _shown(old), _shown(new)


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Stream:
    """Standard output, in place of a ``Partial``: what is written is out, and no run can go on with it."""

    def __init__(self) -> None:
        self.chunks, self.tally = 0, ScoreSummary()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, done: ChunkResult) -> None:
        """Write the next chunk's output."""
        try:
            sys.stdout.buffer.write(done.lines)
        except BrokenPipeError:  # the reader of our output has enough; not an error of ours to explain
            raise
        except OSError as error:
            raise RunError(f"standard output: cannot be written ({error.strerror or error})") from error
        self.tally.merge(done.tally)

    def finish(self, convert: object = None) -> None:
        """Have everything written."""
        sys.stdout.buffer.flush()
