"""Stateful tests of resuming ``score``: runs that are killed anywhere, inputs that change, torn files, restarts.

    python -m pytest tests/fuzz/stateful_score.py --fuzz-seconds 60

A run is a forked process that counts the events of ``scoring/resume.py`` (calls, returns, calls of C functions) and
sends itself a signal at a drawn one, so every state of the files on disk is reached. ``test_program`` kills the real
command with its scoring processes, at drawn times.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow.parquet
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.scoring import chunks, files, resume
from grpo_env.scoring.files import score_files
from grpo_env.scoring.job import ChunkResult, Job
from grpo_env.scoring.resume import OutputFile
from grpo_env.taskfile.task import Task, load_task

TASK = """
version: 1
task: sums
dataset: {path: rows.jsonl, answer: "{{ answer }}"}
prompt: {user: "{{ question }}"}
verifiers: {accuracy: {}, soft_format: {}, majority: {}}
metric: accuracy
"""
CHUNK_ROWS = 3  # so that few rows are many chunks
MEMORY = Path("/dev/shm")  # a disk would wait for every fsync
USAGE, FAILED, INTERRUPTED = 2, 3, 130

ROW = st.one_of(
    st.builds(
        lambda answer, text, group: {"answer": answer, "completion": text, **({"group": group} if group else {})},
        st.sampled_from(["5", "6"]),
        st.sampled_from(["#### 5", "#### 6", "\\boxed{5}", "", "\u00e9\ud800 \u2028 <answer>5</answer>"]),
        st.sampled_from([None, "a", "a", "b"]),
    ).map(json.dumps),
    st.sampled_from(["{broken", "[]", '{"answer": "5"}']),  # rejects
)
ROWS = st.lists(ROW, min_size=1, max_size=25)


def without_seconds(file: Path) -> bytes:
    """The content of an output, without the time that scoring took."""
    if file.suffix == ".parquet":
        rows = pyarrow.parquet.read_table(file).to_pylist()
        return json.dumps([{**row, "seconds": 0} for row in rows]).encode()
    return re.sub(rb'"seconds": ?[\d.e-]+', b'"seconds":0', file.read_bytes())


class Runs(RuleBasedStateMachine):
    """The files of a run and what the test knows of them. ``version`` counts the changes of the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.exists() else None))
        (self.folder / "sums.yaml").write_text(TASK)
        self.inputs = [self.folder / "a.jsonl", self.folder / "b.jsonl"]
        self.version = 0
        self.expected: dict[str, bytes] = {}
        self.finished, self.output = False, b""
        self.state = b""  # of the interrupted run, and the version of the inputs that it was for
        self.state_version = 0

    @initialize(first=ROWS, second=ROWS, suffix=st.sampled_from([".jsonl", ".jsonl", ".parquet"]))
    def write(self, first: list[str], second: list[str], suffix: str) -> None:
        self.out = self.folder / "out" / f"scores{suffix}"
        self.out.parent.mkdir()
        for path, rows in zip(self.inputs, (first, second), strict=True):
            path.write_text("\n".join(rows))

    @property
    def state_file(self) -> Path:
        return self.out.with_name(f".{self.out.name}.part.json")

    def uninterrupted(self) -> dict[str, bytes]:
        """Names and contents of the files that a run without interruptions writes."""
        if not self.expected:
            folder = self.folder / "uninterrupted"
            folder.mkdir()
            code = self.start(folder / self.out.name)
            assert code == 0, f"an uninterrupted run ends with {code}"
            self.expected = contents(folder)
            shutil.rmtree(folder)
        return self.expected

    def start(self, out: Path, *, restart: bool = False, at: int = 0, kill: int = 0, save: float = 0) -> int:
        """Score in another process, which gets the signal ``kill`` at its event ``at``. Returns its exit code."""
        raise NotImplementedError

    def attempt(self, *, restart: bool, at: int = 0, kill: int = 0, save: float = 0) -> None:
        """Start a run and check its end."""
        self.uninterrupted()  # before anything is there
        before = contents(self.out.parent)
        code = self.start(self.out, restart=restart, at=at, kill=kill, save=save)
        after = contents(self.out.parent)
        state = self.state_file.read_bytes() if self.state_file.exists() else b""
        if code == USAGE:
            other_work = bool(self.state) and self.state_version != self.version
            assert self.finished or (other_work and not restart), "a run was refused without a reason"
            assert after == before or self.finished, "a refused run changed files"
        elif code == 0:
            assert not self.finished, "a run overwrote an output"
            assert after == self.expected, "the output is not that of an uninterrupted run"
        else:
            assert kill, f"a run failed with {code}"
            assert code in (-kill, INTERRUPTED), f"a run that was to get {kill} ended with {code}"
        if not self.finished and self.out.name in after:
            self.finished, self.output = True, self.expected[self.out.name]
        if state != self.state:
            self.state, self.state_version = state, self.version
        if code == 0:
            assert not state, "the state of a finished run is left"

    @rule(
        at=st.integers(1, 600),
        kill=st.sampled_from([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]),
        save=st.sampled_from([0.0, 0.0, 100.0]),
        restart=st.sampled_from([False, False, False, True]),
    )
    def interrupted(self, at: int, kill: int, save: float, restart: bool) -> None:
        self.attempt(restart=restart, at=at, kill=kill, save=save)

    @rule(restart=st.booleans())
    def complete(self, restart: bool) -> None:
        self.attempt(restart=restart)

    @rule(number=st.integers(0, 1), how=st.sampled_from(["more", "same size", "less", "touched", "all new"]), rows=ROWS)
    def change(self, number: int, how: str, rows: list[str]) -> None:
        path = self.inputs[number]
        text = path.read_text()
        new = {
            "more": text + "\n" + "\n".join(rows),
            "same size": text.replace("5", "7"),
            "less": text.rpartition("\n")[0] or text + " ",
            "touched": text,
            "all new": "\n".join(rows),
        }[how]
        path.write_text(new)
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
        self.version += 1
        self.expected = {}

    @precondition(lambda self: not self.finished)
    @rule(data=st.binary(min_size=1, max_size=30), which=st.sampled_from(["part", "rejects.part"]))
    def torn(self, data: bytes, which: str) -> None:
        """What a machine without power leaves of a write."""
        path = self.out.with_name(f".{self.out.name}.{which}")
        if path.exists() and path.stat().st_nlink == 1:
            with path.open("ab") as file:
                file.write(data)

    @precondition(lambda self: self.finished)
    @rule()
    def take_away(self) -> None:
        """The user moves the output away."""
        for path in self.out.parent.iterdir():
            path.unlink()
        self.finished, self.state = False, b""

    @invariant()
    def an_output_is_complete(self) -> None:
        if self.finished:
            assert without_seconds(self.out) == self.output

    def teardown(self) -> None:
        try:
            if not self.finished:
                self.attempt(restart=bool(self.state) and self.state_version != self.version)
        finally:
            shutil.rmtree(self.folder)


def warm_task() -> Task:
    """The task, after scoring in this process once, so that forked ones import nothing more."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sums.yaml").write_text(TASK)
        (folder / "rows.jsonl").write_text('{"answer": "5", "completion": "#### 5"}\n{broken')
        task = load_task(folder / "sums.yaml")
        workers, files.map_on_workers = files.map_on_workers, in_this_process  # type: ignore[assignment]
        for suffix in (".jsonl", ".parquet"):
            score_files(task, [folder / "rows.jsonl"], OutputFile(folder / f"out{suffix}"), console=Console(quiet=True))
            resume.rejects_of(folder / f"out{suffix}").unlink()
        files.map_on_workers = workers
        return task


class ScoreRuns(Runs):
    """Runs in forked processes, with the scoring in the same process."""

    def start(self, out: Path, *, restart: bool = False, at: int = 0, kill: int = 0, save: float = 0) -> int:
        process = os.fork()
        if process:
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        code = FAILED
        try:
            chunks.CHUNK_ROWS, resume.SAVE_EVERY = CHUNK_ROWS, save
            files.map_on_workers = in_this_process  # type: ignore[assignment]
            if kill:
                send_signal_at(at, kill)
            score_files(FORKED_TASK, self.inputs, OutputFile(out, restart=restart), console=Console(file=StringIO()))
            code = 0
        except UsageError:
            code = USAGE
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


class ProgramRuns(Runs):
    """The command line, killed at a time, with two scoring processes that have to end too."""

    def start(self, out: Path, *, restart: bool = False, at: int = 0, kill: int = 0, save: float = 0) -> int:
        command = [sys.executable, "-m", "grpo_env", "score", "sums.yaml", *map(str, self.inputs), "--out", str(out)]
        command += ["--workers", "2", *(["--restart"] if restart else [])]
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        if kill:
            try:
                process.wait(0.5 + at / 200)
            except subprocess.TimeoutExpired:
                process.send_signal(kill)
        _, messages = process.communicate()
        assert "Traceback" not in messages, messages
        if process.returncode == USAGE:
            return USAGE
        if process.returncode == 1 and out.exists():
            return 0  # rows were rejected, groups return, or no completion has a total
        return INTERRUPTED if kill == signal.SIGINT and process.returncode == 130 else process.returncode


def in_this_process(job: Job, pieces: Any, count: int, retry: Any) -> Iterator[ChunkResult]:
    """In place of ``map_on_workers``."""
    yield from map(job, pieces)


def send_signal_at(at: int, kill: int) -> None:
    """Have this process get a signal at the ``at``-th event in ``resume.py``."""
    events = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal events
        if frame.f_code.co_filename == resume.__file__:
            events += 1
            if events == at:
                os.kill(os.getpid(), kill)

    sys.setprofile(count)


def contents(folder: Path) -> dict[str, bytes]:
    """Names and contents of files; of unfinished ones, which are not output, only the content."""
    finished = (path for path in folder.iterdir() if not path.name.startswith("."))
    hidden = {path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith(".")}
    return {path.name: without_seconds(path) for path in finished} | hidden


FORKED_TASK = warm_task()


def test_score() -> None:
    run_state_machine_as_test(ScoreRuns)


def test_program() -> None:
    run_state_machine_as_test(ProgramRuns)
