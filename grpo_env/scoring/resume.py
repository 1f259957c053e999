"""Output of a scoring run that survives ``kill -9``, and that a later run continues.

Until ``X`` is complete, ``.X.part`` has its finished rows as JSONL, ``.X.rejects.part`` the rejects, and
``.X.part.json`` what is scored, with which settings, and how much of the other two is finished. The rest of them is cut
off and scored again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from rich.console import Console

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.rows.jsonl import dump_record
from grpo_env.rows.writer import check_free, publish, refuse_inputs, same_file, writing

from .job import ChunkResult
from .problems import warn
from .summary import ScoreSummary

SAVE_EVERY = 0.5  # seconds of work that a killed run may lose
MAX_DIFFERENCES = 5


@dataclass(frozen=True)
class OutputFile:
    """Where a command writes, and what happens to what is there already."""

    path: Path
    restart: bool = False
    """Discard the work of an interrupted run instead of continuing it."""
    overwrite: bool = False
    """Replace the file, and its file of rejects, once the new ones are complete."""


class ResumableOutput:
    """The output file, of which ``chunks`` are finished, with their ``summary``. A context manager.

    ``identity`` is everything that the output depends on; ``None`` if a later run cannot continue this one. An error in
    the block keeps the finished work. Raises ``UsageError`` if the output exists (unless ``overwrite``), if it or its
    rejects are one of ``inputs``, or if there is unfinished work of another identity (unless ``restart``), ``RunError``
    if it cannot be written.
    """

    def __init__(self, to: OutputFile, identity: Mapping[str, Any] | None, inputs: Sequence[Path] = ()) -> None:
        self.out = out = to.path
        self.rejects_file = rejects_of(out)
        refuse_inputs(out, inputs)
        for file in inputs:
            if same_file(self.rejects_file, file):
                raise UsageError(f"{file}: is an input, and rejects of {out} would go there; give another --out")
        self.chunks, self.summary = 0, ScoreSummary()
        self._identity = None if identity is None else json.loads(json.dumps(identity))
        self._restart, self._overwrite = to.restart, to.overwrite
        self._rows, self._rejects, self._converted, self._state = (
            out.with_name(f".{out.name}.{end}") for end in ("part", "rejects.part", "part.converted", "part.json")
        )
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with writing(self.out), ExitStack() as opened:
            self._refuse_to_overwrite()
            self._open_locked(opened)
            self._refuse_to_overwrite()  # again: a run that held the lock may have finished it
            self._sizes = self._earlier_work()
            for file, size in zip(self._files, self._sizes, strict=True):
                file.truncate(size)
            self._open = opened.pop_all()
        self._saved = time.monotonic()
        return self

    def add(self, result: ChunkResult) -> None:
        """Append the next chunk's output."""
        written = (result.lines, b"".join(dump_record(reject._asdict()).encode() for reject in result.rejects))
        with writing(self.out):
            for file, lines in zip(self._files, written, strict=True):
                file.write(lines)
            # Not taken from the files: a write that failed may have left a part of the chunk in them.
            self._sizes = (self._sizes[0] + len(written[0]), self._sizes[1] + len(written[1]))
            self.chunks += 1
            self.summary.merge(result.summary)
            if time.monotonic() - self._saved > SAVE_EVERY:
                self._save()

    def finish(self, convert: Callable[[Path, Path], None] | None = None) -> Path | None:
        """Give the output its name, unless it is empty. Returns the file of rejects if there are any.

        ``convert`` writes rows of JSONL (first path) as another kind of file (second).
        """
        with writing(self.out):
            if not self.summary.completions:  # nothing that is worth a file, or that the next try would have to replace
                self._remove()
                return None
            self._save()
            if convert:
                convert(self._rows, self._converted)
            # By links, so that a run that is killed before its second file has its name is continued.
            if self.summary.bad_rows:
                publish(self._rejects, self.rejects_file, overwrite=self._overwrite)
            elif self._overwrite:
                self.rejects_file.unlink(missing_ok=True)
            publish(self._converted if convert else self._rows, self.out, overwrite=self._overwrite)
            self._remove()
        return self.rejects_file if self.summary.bad_rows else None

    @property
    def resumable(self) -> bool:
        """Whether a later run can continue from here."""
        return self._identity is not None and self.chunks > 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with writing(self.out), self._open:
            if kind is None:
                return
            if self.resumable:
                self._save()
            else:
                self._remove()

    def _remove(self) -> None:
        for path in (self._rows, self._rejects, self._converted, self._state):
            path.unlink(missing_ok=True)

    def _refuse_to_overwrite(self) -> None:
        if self.out.exists() and (same_file(self._rows, self.out) or same_file(self._converted, self.out)):
            self._remove()  # left by a run that was killed after it had finished
        check_free(self.out, overwrite=self._overwrite)
        if (
            os.path.lexists(self.rejects_file)
            and not self._overwrite
            and not same_file(self._rejects, self.rejects_file)
        ):
            raise UsageError(
                f"{self.rejects_file}: already exists, and rejects would go there; move it away, or add --overwrite"
            )

    def _open_locked(self, opened: ExitStack) -> None:
        """Open the files of the unfinished work, once no other run writes them."""
        paths = (self._rows, self._rejects)
        while True:
            with ExitStack() as files:
                self._files = [files.enter_context(open(path, "ab", opener=_open_itself)) for path in paths]
                lock(self._files[0], f"{self.out}: another process is writing it")
                if all(map(_is_open, paths, self._files)):
                    opened.push(files.pop_all())
                    return
            self._refuse_to_overwrite()  # a run finished in the meantime: what was opened is now its output

    def _earlier_work(self) -> tuple[int, int]:
        """Bytes of rows and rejects that an interrupted run has finished."""
        if self._restart or not self._state.exists():
            self._state.unlink(missing_ok=True)
            return 0, 0
        try:
            state = json.loads(self._state.read_bytes())
            identity, sizes = state["identity"], (state["rows"], state["rejects"])
            chunks, summary = state["chunks"], ScoreSummary.from_dict(state["summary"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{self._state}: cannot be read; start over with --restart") from error
        different = islice(_differences(identity, self._identity), MAX_DIFFERENCES)
        if said := "; ".join(different):
            raise UsageError(
                f"{self.out}: there is unfinished work that this run cannot continue: {said}. "
                "Start over with --restart, or give another --out"
            )
        if any(os.fstat(file.fileno()).st_size < size for file, size in zip(self._files, sizes, strict=True)):
            raise UsageError(f"{self._rows}: has lost rows that were written; start over with --restart")
        self.chunks, self.summary = chunks, summary
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
                "summary": vars(self.summary),
            }
            draft = self._state.with_suffix(".draft")
            draft.write_text(json.dumps(state), encoding="utf-8")
            draft.replace(self._state)
        self._saved = time.monotonic()


@contextmanager
def resumable(output: ResumableOutput | StreamOutput, done: str, unit: str, console: Console) -> Iterator[None]:
    """Says what ``done``, of an interrupted run, was found, and after an error that finished ``unit`` are kept."""
    if output.chunks:
        console.print(f"resuming after {done} of an interrupted run")
    try:
        yield
    except BaseException:
        if output.resumable:
            warn(console, f"finished {unit} are kept; the same command resumes after them")
        raise


def lock(file: IO[bytes], refusal: str) -> None:
    """Lock an open file until it is closed or the process ends. Raises ``UsageError`` if another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(refusal) from error


def examples_hash(examples: Sequence[Example]) -> str:
    """A hash of everything that scores, prompts and output rows take from examples; empty without any."""
    content = hashlib.sha256()
    for example in examples:
        values = (example.id, example.prompt, example.answer, dict(example.info), dict(example.chat_template_kwargs))
        content.update(repr(values).encode("utf-8", "backslashreplace"))
    return content.hexdigest()[:16] if examples else ""


def rejects_of(out: Path) -> Path:
    """The file of rejects of an output: of ``X.jsonl`` ``X.rejects.jsonl``, of ``X.parquet`` one with its suffix.

    So no two outputs share a file of rejects.
    """
    return out.with_name(f"{out.name.removesuffix('.jsonl')}.rejects.jsonl")


def _open_itself(path: str, flags: int) -> int:
    """Open a file, but not one elsewhere that a link of this name leads to."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _is_open(path: Path, file: IO[bytes]) -> bool:
    """Whether a path still names the file that was opened by it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _differences(old: Any, new: Any, key: str = "") -> Iterator[str]:
    """What differs between two JSON values, by dotted keys."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(name), new.get(name), f"{key}.{name}" if key else name)
    elif old != new:
        was, now = ("nothing" if value is None else json.dumps(value, ensure_ascii=False) for value in (old, new))
        yield f"{key or 'the input'} was {was:.60}, is {now:.60}"


class StreamOutput:
    """Standard output, in place of a ``ResumableOutput``: no later run can continue it."""

    resumable = False

    def __init__(self) -> None:
        self.chunks, self.summary = 0, ScoreSummary()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, result: ChunkResult) -> None:
        """Write the next chunk's output."""
        with writing("standard output"):
            sys.stdout.buffer.write(result.lines)
        self.summary.merge(result.summary)

    def finish(self, convert: object = None) -> None:
        """Flush."""
        with writing("standard output"):
            sys.stdout.buffer.flush()
