"""Runs untrusted Python programs, each in a process of its own, and reports how they ended.

Every run is a fork of a fresh interpreter with an empty environment, an empty folder as working directory (removed
afterwards) and none of the caller's memory or file descriptors. The limits are in ``limits``. What is prevented:

    ===================================  ==============  =======================  ===================
    a program cannot                     bubblewrap      process, Linux           process, elsewhere
    ===================================  ==============  =======================  ===================
    take more time, memory or output     yes             yes                      yes; macOS: memory no
    open a socket of any kind            yes             yes                      **no**
    start or signal a process            yes             yes                      **no**
    write outside its folder             yes             yes, with Landlock       **no**
    read your files                      yes             yes, with Landlock       **no**
    see your files' names, your pids     yes             **no**                   **no**
    exceed 32 MiB, 1000 files            checked 20 times a second, in all modes
    change file modes, owners            yes             yes                      **no**
    outlive the call                     yes             yes                      unless it leaves its process group
    ===================================  ==============  =======================  ===================

*bubblewrap* (``bwrap``, a package of most distributions) uses namespaces: no network, no other process, and a file
system with the interpreter and the system's libraries, read-only. *process* needs no privileges, no programs and no
namespaces (which many containers forbid): rlimits, seccomp and Landlock, see ``confine``. Landlock came with Linux
5.13; without it a program can read and change whatever the calling user can. *auto* takes bubblewrap where it works,
else process where Landlock is available, else it refuses: then only ``process``, chosen by name, runs programs, and
your files are not protected from them.

Threads are allowed, subprocesses never are. Not covered in any mode: bugs of the kernel, the load of a busy loop up to
its limit, and files below the interpreter's prefix, ``/usr`` and ``/lib``, which are readable. Run everything in a
virtual machine if the model may be actively hostile.
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

from .confine import has_landlock
from .isolation import Mode, command, environment, readable_paths
from .limits import START_TIMEOUT, Limits, exceeds_disk_limits

Isolation = Literal["auto", "bubblewrap", "process"]

_POLL = 0.05  # seconds between two looks at the files on disk


class SandboxError(RunError):
    """No program can be run, because the sandbox does not start on this machine."""


@dataclass(frozen=True)
class Run:
    """One run of the program.

    ``program`` runs it with ``input`` as standard input. ``value`` then runs ``before`` and reports the value of the
    expression ``code``, in the JSON of ``values``. ``block`` then runs the statements ``code``, and reports ``passed``
    if they finish.
    """

    kind: Literal["program", "value", "block"]
    input: str = ""
    before: str = ""
    code: str = ""
    entry_point: str | None = None


class RunResult(NamedTuple):
    """How a run ended: by itself (``code`` is the exit code, or minus the signal), or by exceeding a limit."""

    ended: Literal["exit", "timeout", "output", "files"]
    code: int
    output: str
    error: str  # the end of standard error
    report: str


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

    There are fewer results than ``runs`` if the deadline passes or the files grow over the limits. Close the iterator
    to stop early. Raises ``SandboxError`` if nothing can be run.
    """
    mode = _best_mode(packages) if isolation == "auto" else isolation
    if reason := unavailable(mode, packages):
        raise SandboxError(reason)
    return _run(program, runs, limits, setup, mode, packages)


def _best_mode(packages: bool) -> Mode:
    if unavailable("bubblewrap", packages) is None:
        return "bubblewrap"
    if has_landlock():
        return "process"
    raise SandboxError(
        "neither bubblewrap nor Landlock is available to keep programs from your files; "
        "install bubblewrap, or accept the risk with isolation: process"
    )


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
                command(mode, folder, packages),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(),
                start_new_session=True,
            )
            try:
                yield from _results(process, limits, folder, errors)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                assert process.stdout is not None
                process.stdout.close()
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be started: {error}") from error
    finally:
        _remove(folder)


def _results(process: subprocess.Popen[bytes], limits: Limits, folder: str, errors: IO[bytes]) -> Generator[RunResult]:
    """What the supervisor reports, until it ends, the deadline passes or there are too many files."""
    assert process.stdout is not None
    end = time.monotonic() + START_TIMEOUT
    started = False
    rest = b""
    while (left := end - time.monotonic()) > 0:
        ready = select.select([process.stdout], [], [], min(left, _POLL))[0]
        if exceeds_disk_limits(folder, limits):
            yield RunResult("files", -signal.SIGKILL, "", "", "")
            return
        if not ready:
            continue
        chunk = os.read(process.stdout.fileno(), 2**20)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
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


def _remove(folder: str) -> None:
    """Remove a folder, even one nested deeper than a path can be long: every folder in it is first moved to the top."""
    folders, number = [folder], 0
    with suppress(OSError):
        top = tempfile.mkdtemp(prefix="grpo_env-sandbox-")
        while folders:
            path = folders.pop()
            for entry in list(os.scandir(path)):
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
                    number += 1
                    folders.append(os.path.join(top, str(number)))
                    os.rename(entry.path, folders[-1])
                else:
                    os.unlink(entry.path)
            os.rmdir(path)
        os.rmdir(top)
