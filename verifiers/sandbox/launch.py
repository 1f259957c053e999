"""Runs untrusted Python programs, each in a process of its own, and reports how they ended.

Every run is a fork of a fresh interpreter with an empty environment, an empty folder as working directory (removed
afterwards) and none of the caller's memory or file descriptors. The limits are in ``limits``. The page on the sandbox
says what is prevented and how that was tested.

*bubblewrap* (``bwrap``, a package of most distributions) uses namespaces: no network, no other process, a file system
with the interpreter and the system's libraries, read-only, and a small disk in memory for the program. *process* needs
no privileges, no programs and no namespaces (which many containers forbid): rlimits, seccomp and Landlock, see
``confine``. Both have the seccomp filter of ``syscalls``.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import IO, Literal, NamedTuple

from grpo_env.errors import RunError

from .isolation import Mode, command, environment, readable_paths
from .limits import START_TIMEOUT, Limits, remove_tree

Isolation = Literal["auto", "bubblewrap", "process"]


class SandboxError(RunError):
    """No program can be run, because the sandbox does not start on this machine."""


@dataclass(frozen=True)
class Run:
    """One run of the program.

    ``program`` runs it with ``input`` as standard input. ``value`` then runs ``before`` and reports the value of the
    expression ``code`` as that of place 0. ``block`` then runs the statements ``code``, which report values by
    ``__record__(place, value)``. ``as_json`` says how values are compared, see ``plain_values.digest``.
    """

    kind: Literal["program", "value", "block"]
    input: str = ""
    before: str = ""
    code: str = ""
    entry_point: str | None = None
    as_json: bool = False


class RunResult(NamedTuple):
    """How a run ended: by itself (``code`` is the exit code, or minus the signal), or by exceeding a limit."""

    ended: Literal["exit", "timeout", "output", "files"]
    code: int
    output: str
    error: str  # the end of standard error
    passed: bool  # whether a block has finished
    records: list[tuple[int, str, str]]  # the reported values: place, hash, start of the text; -1 if not plain


def run(
    program: str,
    runs: Sequence[Run],
    limits: Limits,
    *,
    setup: str = "",
    isolation: Isolation = "auto",
    packages: bool = False,
) -> Generator[RunResult]:
    """Run ``setup`` and ``program`` once for each of ``runs``, each from a fresh state; yield the results in order.

    There are fewer results than ``runs`` if the deadline passes. Close the iterator to stop early. Raises
    ``SandboxError`` if nothing can be run.
    """
    mode: Mode = "bubblewrap" if isolation == "auto" else isolation
    if reason := unavailable(mode, packages):
        advice = "; install it, or accept what isolation: process does not prevent" if isolation == "auto" else ""
        raise SandboxError(reason + advice)
    return _run(program, runs, limits, setup, mode, packages)


@lru_cache(maxsize=8)
def unavailable(mode: Mode, packages: bool = False) -> str | None:
    """Why no program can be run in this mode, or ``None`` if it works. Tried once per process."""
    if not hasattr(os, "fork"):
        return "the sandbox needs a POSIX system"
    if mode == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed: no program bwrap on the PATH"
    try:
        (result,) = _run("print(1)", [Run("program")], Limits(seconds=30), "", mode, packages)
    except (SandboxError, ValueError) as error:
        return f"the {mode} sandbox does not start on this machine: {error}"
    if result.output != "1\n":
        return f"the {mode} sandbox cannot run a program on this machine: {result.error.strip()[-300:]}"
    return None


def _run(
    program: str, runs: Sequence[Run], limits: Limits, setup: str, mode: Mode, packages: bool
) -> Generator[RunResult]:
    job = {
        "program": program,
        "setup": setup,
        "runs": [asdict(run) for run in runs],
        "limits": limits._asdict(),
        "readable": readable_paths(packages),
        "own_disk": mode == "bubblewrap",
    }
    text = json.dumps(job).encode(errors="replace")
    try:
        folder = tempfile.mkdtemp(prefix="grpo_env-sandbox-")
    except OSError as error:
        raise SandboxError(f"no folder for the sandbox: {error}") from error
    try:
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as errors:
            stdin.write(text)
            stdin.seek(0)
            process = subprocess.Popen(
                command(
                    mode, folder, packages, limits.disk + max(len(run.input.encode(errors="replace")) for run in runs)
                ),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(),
                start_new_session=True,
            )
            try:
                yield from _results(process, limits, errors)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                assert process.stdout is not None
                process.stdout.close()
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be started: {error}") from error
    finally:
        remove_tree(folder)


def _results(process: subprocess.Popen[bytes], limits: Limits, errors: IO[bytes]) -> Generator[RunResult]:
    """What the supervisor reports, until it ends or the deadline passes."""
    assert process.stdout is not None
    end = time.monotonic() + START_TIMEOUT
    started = False
    rest = bytearray()
    while (left := end - time.monotonic()) > 0:
        if not select.select([process.stdout], [], [], left)[0]:
            continue
        chunk = os.read(process.stdout.fileno(), 2**20)
        if not chunk:
            break
        rest += chunk
        if b"\n" not in chunk:
            continue
        *lines, rest = rest.split(b"\n")
        for line in lines:
            if started:
                yield RunResult(**json.loads(line))
            else:
                started = True
                end = time.monotonic() + limits.deadline + 1.0
    if not started:
        errors.seek(0)
        reason = errors.read(2000).decode(errors="replace").strip()
        raise SandboxError(reason.splitlines()[-1] if reason else f"no start within {START_TIMEOUT:g} s")
