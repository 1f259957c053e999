"""Runs Python programs that nobody has read, in a process of their own, and says how each ended.

Every run is a fork of a fresh interpreter with an empty environment, an empty folder as working directory (removed
afterwards) and nothing of ours in its memory or its file descriptors. What holds it there:

    ===================================  ==============  =======================  ===================
    a program can not                    bubblewrap      process, Linux           process, elsewhere
    ===================================  ==============  =======================  ===================
    take more time, memory or output     yes             yes                      yes; macOS: memory no
    open a socket of any kind            yes             yes                      **no**
    start or signal a process            yes             yes                      **no**
    write outside its folder             yes             yes, with Landlock       **no**
    read your files                      yes             yes, with Landlock       **no**
    see your files' names, your pids     yes             **no**                   **no**
    write 32 MiB, 1000 files             watched 20 times a second, in all modes
    change file modes, owners            yes             yes                      **no**
    stay when the call is over           yes             yes                      unless it leaves its process group
    ===================================  ==============  =======================  ===================

*bubblewrap* (``bwrap``, a package of most distributions) gives namespaces of its own: no network, no other process,
and a file system of the interpreter and the system's libraries, read-only. *process* needs no privilege, no program
and no namespaces (which many containers forbid): rlimits, seccomp and Landlock, see ``confine``. Landlock came with
Linux 5.13; without it a program reads, and spoils, what the user who runs us may. *auto* takes bubblewrap where it
works, else process where Landlock is, else it refuses: then only ``process``, asked for by name, runs without a wall
around your files.

Threads are allowed, subprocesses never are. Not covered anywhere: bugs of the kernel, the load of a busy loop until
its limit, and files below the interpreter's prefix, ``/usr`` and ``/lib``, which are readable. Raise the walls with a
virtual machine if the model is your enemy rather than a student.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal, NamedTuple

from grpo_env.errors import RunError

from .confine import has_landlock

Isolation = Literal["auto", "bubblewrap", "process"]

MIB = 2**20
OUTPUT = 4 * MIB  # bytes of standard output, and of a reported value, in one run
FILE = 16 * MIB  # bytes in a file
DISK = 32 * MIB  # bytes in all files
FILES = 1000
DEPTH = 32  # of folders
START = 60.0  # seconds for the interpreter to start, however busy the machine

_HOME = Path(__file__).parent
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/nix",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
)
_POLL = 0.05
_START_UP = """
import sys, types
for name in ("grpo_env", "grpo_env.verifiers", "grpo_env.verifiers.sandbox"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1]]
from grpo_env.verifiers.sandbox.supervisor import main
for name in [name for name in sys.modules if name.startswith("grpo_env")]:
    del sys.modules[name]
main(sys.argv[2])
"""


class SandboxError(RunError):
    """No program can be run: the sandbox does not start here."""


@dataclass(frozen=True)
class Run:
    """One run of the program.

    ``program`` feeds it ``input``. ``value`` runs ``before`` after it, and reports the expression ``code`` in the
    JSON of ``values``. ``block`` runs the statements ``code`` after it, and reports ``passed`` if they end.
    """

    kind: Literal["program", "value", "block"]
    input: str = ""
    before: str = ""
    code: str = ""
    entry_point: str | None = None


class Ran(NamedTuple):
    """How a run ended: by itself (``code`` is the exit code, or minus the signal), or by too much of something."""

    ended: Literal["exit", "timeout", "output", "files"]
    code: int
    output: str
    error: str  # the end of standard error
    report: str


@dataclass(frozen=True)
class Limits:
    """What a call may take: seconds a run, seconds in all, bytes of address space."""

    seconds: float = 5.0
    deadline: float = 30.0
    memory: int = 512 * MIB


def run(
    program: str,
    runs: Sequence[Run],
    limits: Limits,
    *,
    setup: str = "",
    isolation: Isolation = "auto",
    packages: bool = False,
) -> Generator[Ran]:
    """Run ``setup`` and ``program`` once for each of ``runs``, each from nothing; yields their ends in order.

    Fewer come than were asked for if the deadline passes or files grow over the limits. Close the iterator to stop
    early. Raises ``SandboxError`` if nothing can be run.
    """
    mode = _best(packages) if isolation == "auto" else isolation
    if reason := works(mode, packages):
        raise SandboxError(reason)
    return _run(program, runs, limits, setup, mode, packages)


def _best(packages: bool) -> Literal["bubblewrap", "process"]:
    if works("bubblewrap", packages) is None:
        return "bubblewrap"
    if has_landlock():
        return "process"
    raise SandboxError(
        "neither bubblewrap nor Landlock is here to keep programs from your files; "
        "install bubblewrap, or accept that with isolation: process"
    )


@lru_cache(maxsize=8)
def works(mode: Literal["bubblewrap", "process"], packages: bool = False) -> str | None:
    """``None`` if a program can be run in this mode, else why not. Tries it, once a process."""
    if not hasattr(os, "fork"):
        return "the sandbox needs a POSIX system"
    if mode == "bubblewrap" and shutil.which("bwrap") is None:
        return "bubblewrap is not installed: no program bwrap on the PATH"
    try:
        (ran,) = _run("print(1)", [Run("program")], Limits(seconds=30), "", mode, packages)
    except (SandboxError, ValueError) as error:
        return f"the {mode} sandbox does not start here: {error}"
    return None if ran.output == "1\n" else f"the {mode} sandbox runs nothing here: {ran.error.strip()[-300:]}"


def _run(program: str, runs: Sequence[Run], limits: Limits, setup: str, mode: str, packages: bool) -> Generator[Ran]:
    readable = _readable(packages)
    job = {
        "program": program,
        "setup": setup,
        "runs": [asdict(run) for run in runs],
        "seconds": limits.seconds,
        "deadline": limits.deadline,
        "memory": limits.memory,
        "output": OUTPUT,
        "file_size": FILE,
        "readable": readable,
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
            command = [_interpreter(packages), "-B", "-P", "-s", *([] if packages else ["-S"])]
            command += ["-c", _START_UP, str(_HOME), folder]
            if mode == "bubblewrap":
                command = [*_bubblewrap(readable, folder), *command]
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
                start_new_session=True,
            )
            try:
                yield from _replies(process, limits.deadline, folder, errors)
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


def _replies(process: subprocess.Popen[bytes], deadline: float, folder: str, errors: IO[bytes]) -> Generator[Ran]:
    assert process.stdout is not None
    end = time.monotonic() + START
    started = False
    rest = b""
    while (left := end - time.monotonic()) > 0:
        ready = select.select([process.stdout], [], [], min(left, _POLL))[0]
        if _overfull(folder):
            yield Ran("files", -signal.SIGKILL, "", "", "")
            return
        if not ready:
            continue
        chunk = os.read(process.stdout.fileno(), 2**20)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if started:
                yield Ran(**json.loads(line))
            else:
                started = True
                end = time.monotonic() + deadline + 1.0
    if not started:
        errors.seek(0)
        reason = errors.read(2000).decode(errors="replace").strip()
        raise SandboxError(reason.splitlines()[-1] if reason else f"no start within {START:g} s")


def _interpreter(packages: bool) -> str:
    """The interpreter; without packages the one below a virtual environment, which then needs not be seen."""
    return sys.executable if packages else os.path.realpath(sys.executable)


def _readable(packages: bool) -> list[str]:
    """What a program may read: the interpreter, the system's libraries, and this package's own code."""
    prefixes = [sys.base_prefix, sys.base_exec_prefix, *([sys.prefix, sys.exec_prefix] if packages else [])]
    paths = [*prefixes, *_SYSTEM, str(_HOME)]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _environment() -> dict[str, str]:
    """Nothing of the caller's but where libraries lie; a fixed hash seed, so that a set always prints the same."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "0", **threads, **kept}


def _bubblewrap(readable: list[str], folder: str) -> list[str]:
    """The command in front of the interpreter: namespaces of its own, nothing writable but the folder."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox"]
    for path in readable:
        command += ["--ro-bind", path, path]
    for device in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"):
        command += ["--dev-bind-try", device, device]
    return [*command, "--bind", folder, folder, "--remount-ro", "/", "--chdir", "/", "--"]


def _overfull(folder: str) -> bool:
    """Whether the files below a folder are more, larger or deeper than allowed."""
    size = files = 0
    folders = [(folder, 0)]
    while folders:
        this, depth = folders.pop()
        with suppress(OSError), os.scandir(this) as entries:
            for entry in entries:
                size += entry.stat(follow_symlinks=False).st_size
                files += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, depth + 1))
                if size > DISK or files > FILES or depth > DEPTH:
                    return True
    return False


def _remove(folder: str) -> None:
    """Remove a folder, also one nested deeper than a path can be long: every folder found moves to the top first."""
    folders, number = [folder], 0
    with suppress(OSError):
        top = tempfile.mkdtemp(prefix="grpo_env-sandbox-")
        while folders:
            this = folders.pop()
            for entry in list(os.scandir(this)):
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
                    number += 1
                    folders.append(os.path.join(top, str(number)))
                    os.rename(entry.path, folders[-1])
                else:
                    os.unlink(entry.path)
            os.rmdir(this)
        os.rmdir(top)
