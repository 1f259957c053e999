"""What a program in the sandbox may use: time, memory, output, files; and how each limit is enforced.

The system enforces the limits of one process (``set_rlimits``). The supervisor watches the time, output, threads and
files of a run, and ``launch`` the deadline of the call.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from typing import NamedTuple

MIB = 2**20


class Limits(NamedTuple):
    """The limits of one call, in seconds and bytes. A named tuple: the sandboxed process imports it, and quickly."""

    seconds: float = 5.0
    """For one run, by the clock and of processor time."""
    deadline: float = 30.0
    """For all runs of the call."""
    memory: int = 512 * MIB
    """Address space of a run."""
    output: int = 4 * MIB
    """Standard output of a run, and likewise the value that it reports."""
    file_size: int = 16 * MIB
    """One file."""
    disk: int = 32 * MIB
    """All files of a run together."""
    files: int = 1000
    """Number of files and folders."""
    threads: int = 1000
    """Threads that a run starts in all."""
    depth: int = 32
    """Folders within folders."""


OPEN_FILES = 64
STANDARD_ERROR = 4000  # bytes of standard error that are kept, the last ones
START_TIMEOUT = 60.0  # seconds for the interpreter to start, however busy the machine


def set_rlimits(seconds: float, memory: int, file_size: int) -> None:
    """Limit the calling process for good: processor time in seconds, the rest in bytes."""
    set_rlimit(resource.RLIMIT_CPU, int(seconds) + 1)
    set_rlimit(resource.RLIMIT_AS, memory)
    set_rlimit(resource.RLIMIT_FSIZE, file_size)
    set_rlimit(resource.RLIMIT_NOFILE, OPEN_FILES)
    set_rlimit(resource.RLIMIT_CORE, 0)


def set_rlimit(kind: int, value: int) -> None:
    """Limit the calling process for good, no less strictly than it is already."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):  # macOS refuses to limit the address space
        return


def exceeds_disk_limits(folder: str, limits: Limits) -> bool:
    """Whether the files below a folder are too many, too large together or nested too deeply.

    Does not see files that a program has removed but keeps open, see ``exceeds_own_disk``.
    """
    size = files = 0
    folders = [(folder, 0)]
    while folders:
        path, depth = folders.pop()
        with suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):  # a file that is gone by now hides no other one
                    size += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, depth + 1))
                if size > limits.disk or files > limits.files or depth > limits.depth:
                    return True
    return False


def exceeds_own_disk(folder: str, limits: Limits) -> bool:
    """Whether the file system of ``folder``, a run's own, is full or has too many files; removed ones count."""
    system = os.statvfs(folder)
    return not system.f_bfree or system.f_files - system.f_ffree > limits.files


def remove_tree(folder: str) -> None:
    """Remove a folder, even one nested deeper than a path can be long: its folders are first moved beside it."""
    folders, top, number = [folder], f"{folder}-rest", 0
    with suppress(OSError):
        os.mkdir(top, 0o700)
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
