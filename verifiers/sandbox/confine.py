"""Takes from the calling process, for good, what an untrusted program has no use for; the page on the sandbox lists it.

On Linux this needs no privilege: resource limits, no capabilities, Landlock for the file system where the kernel has
it (5.13, https://docs.kernel.org/userspace-api/landlock.html), and a seccomp filter that refuses every system call not
in ``syscalls``. Elsewhere there are only the resource limits.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from .limits import set_rlimits
from .syscalls import MACHINES, Step, allow_list, packed, report_clones

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _NO_NEW_PRIVILEGES = 1, 4, 22, 38  # prctl(2)
_SECCOMP = (317, 277)  # seccomp(2) on x86-64 and 64-bit ARM
_SET_FILTER, _NEW_LISTENER = 1, 8
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # seccomp_unotify(2)
_NOTIFICATION = 80  # bytes; they begin with its id
_CAPABILITY_VERSION = 0x20080522
_SIGKILL = 9

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # by version; 16 from version 5 on
_NETWORK_RIGHTS = 0b11  # bind and connect, from version 4 on
_SCOPES = 0b11  # abstract UNIX sockets and signals, from version 6 on
_READ = 1 | 4 | 8  # execute, read a file, list a directory
_USE_DEVICE = 2 | 4  # write and read a file
_MAKE_DEVICE = 1 << 6 | 1 << 9 | 1 << 11  # character device, socket, block device
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


class ConfineError(OSError):
    """The kernel refuses to confine this process."""


def protect() -> None:
    """Make the calling process die with the thread that started it, and close its memory to its own user."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_SET_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
        libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def confine(
    folder: str, readable: list[str], seconds: float, memory: int, file_size: int, *, threads: bool = False
) -> None:
    """Confine the calling process to ``folder``, to reading ``readable``, and to limits (seconds and bytes).

    Raises ``ConfineError`` on a Linux that has no seccomp filter for this machine.
    """
    set_rlimits(seconds, memory, file_size)
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24))
    libc.prctl(_SET_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
    _restrict_files(libc, folder, readable)
    if platform.machine() not in MACHINES:
        raise ConfineError(errno.ENOSYS, f"no seccomp filter for {platform.machine()}")
    if libc.prctl(_SET_SECCOMP, 2, _filter(allow_list(platform.machine(), os.getpid(), threads)), 0, 0):
        raise ConfineError(ctypes.get_errno(), "the kernel accepts no seccomp filter")


def _filter(steps: list[Step]) -> ctypes.Array[ctypes.c_char]:
    """A ``sock_fprog``, whose steps stay in memory as long as it does."""
    code = ctypes.create_string_buffer(packed(steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    program.code = code  # type: ignore[attr-defined]
    return program


def clone_listener() -> int | None:
    """Let another process count this one's threads: a descriptor for ``answer_clone``.

    ``None`` where the kernel cannot do it (before 5.5, or in a container that has a listener of its own).
    """
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    column = MACHINES[platform.machine()][0]
    listener = libc.syscall(_SECCOMP[column], _SET_FILTER, _NEW_LISTENER, _filter(report_clones(platform.machine())))
    return listener if listener >= 0 else None


def answer_clone(listener: int, allowed: bool) -> None:
    """Let the ``clone`` that waits at the listener happen, or fail with EAGAIN."""
    from fcntl import ioctl

    notification = bytearray(_NOTIFICATION)
    try:
        ioctl(listener, _RECEIVE, notification, True)
        number = notification[:8]
        ioctl(listener, _SEND, bytes(number) + struct.pack("qiI", 0, 0 if allowed else -errno.EAGAIN, int(allowed)))
    except OSError:  # the process has been killed meanwhile
        return


def _restrict_files(libc: ctypes.CDLL, folder: str, readable: list[str]) -> None:
    """Landlock: write below ``folder``, read below ``readable``, and nothing else. No effect on a kernel without it.

    Where the kernel has them, also its rules for TCP, abstract UNIX sockets and signals, which the filter refuses too.
    """
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    all_rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("Q", all_rights)
    if version >= 4:
        attributes += struct.pack("Q", _NETWORK_RIGHTS)
    if version >= 6:
        attributes += struct.pack("Q", _SCOPES)
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    allowed = {folder: all_rights & ~_MAKE_DEVICE, **dict.fromkeys(_DEVICES, _USE_DEVICE)}
    for path, rights in [*allowed.items(), *((path, _READ) for path in readable)]:
        if not os.path.exists(path):
            continue
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(path):
            rights &= _USE_DEVICE
        libc.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, descriptor), 0)
        os.close(descriptor)
    if rules < 0 or libc.syscall(_LANDLOCK_RESTRICT, rules, 0):
        raise ConfineError(ctypes.get_errno(), "Landlock refuses the rules")
    os.close(rules)
