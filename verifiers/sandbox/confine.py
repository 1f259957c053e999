"""Takes from the calling process, for good, what an untrusted program has no use for; the table in ``launch`` lists it.

On Linux this needs no privilege: resource limits, no capabilities, Landlock for the file system where the kernel has
it (5.13, https://docs.kernel.org/userspace-api/landlock.html), and a seccomp filter for the rest
(https://docs.kernel.org/userspace-api/seccomp_filter.html). Elsewhere there are only the resource limits.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

from .limits import set_rlimits

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _NO_NEW_PRIVILEGES = 1, 4, 22, 38  # prctl(2)
_CAPABILITY_VERSION = 0x20080522
_SIGKILL = 9

# System calls by name, with their numbers on x86-64 and on the generic table of 64-bit ARM (-1: does not exist).
_FORBIDDEN: dict[str, tuple[int, int]] = {
    # other processes: none can be started, signaled, inspected or reprioritized, and the process group cannot be left
    "fork": (57, -1),
    "vfork": (58, -1),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    # the network, and every other way to reach a server
    "socket": (41, 198),
    # memory that outlives the process or that no limit counts
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # modes, owners and attributes of files, which Landlock leaves alone
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, -1),
    "lchown": (94, -1),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "open_by_handle_at": (304, 265),
    # ways around a filter, and parts of the kernel that have had security holes
    "io_uring_setup": (425, 425),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
}
_CLONE, _PRLIMIT = (56, 220), (302, 261)
_CLONE3 = 435
_THREAD = 0x10000  # CLONE_THREAD
_FORBIDDEN_ARGUMENTS: tuple[tuple[tuple[int, int], int, int], ...] = (  # call, number of the argument, value
    ((157, 167), 0, _SET_DEATH_SIGNAL),
    ((72, 25), 1, 8),  # fcntl F_SETOWN and F_SETOWN_EX, ioctl FIOSETOWN and SIOCSPGRP: signals to any process
    ((72, 25), 1, 15),
    ((16, 29), 1, 0x8901),
    ((16, 29), 1, 0x8902),
)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_*

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # classic BPF
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ = 1 | 4 | 8  # execute, read a file, list a directory
_USE_DEVICE = 2 | 4  # write and read a file
_MAKE_DEVICE = 1 << 6 | 1 << 9 | 1 << 11  # character device, socket, block device
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


class ConfineError(OSError):
    """The kernel refuses to confine this process."""


def has_landlock() -> bool:
    """Whether the kernel can keep a process from files."""
    return sys.platform == "linux" and _landlock_version(ctypes.CDLL(None)) > 0


def _landlock_version(libc: ctypes.CDLL) -> int:
    return int(libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1))


def protect() -> None:
    """Make the calling process die with the thread that started it, and close its memory to its own user."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_SET_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
        libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def confine(folder: str, readable: list[str], seconds: float, memory: int, file_size: int) -> None:
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
    _restrict_calls(libc)


def _restrict_files(libc: ctypes.CDLL, folder: str, readable: list[str]) -> None:
    """Landlock: write below ``folder``, read below ``readable``, and nothing else. No effect on a kernel without it."""
    version = _landlock_version(libc)
    if version < 1:
        return
    all_rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    attributes = struct.pack("Q", all_rights)
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


def _restrict_calls(libc: ctypes.CDLL) -> None:
    """A seccomp filter that fails every call of the tables above with EPERM."""
    if platform.machine() not in _MACHINES:
        raise ConfineError(errno.ENOSYS, f"no seccomp filter for {platform.machine()}")
    column, architecture = _MACHINES[platform.machine()]
    deny = (_RETURN, 0, 0, _FAIL | errno.EPERM)
    number = (_LOAD, 0, 0, 0)  # of the call; the architecture is at 4, the arguments from 16 on
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), number]
    program += [(_AT_LEAST, 0, 1, 0x40000000), deny]  # the x32 numbers of x86-64
    for calls in _FORBIDDEN.values():
        if calls[column] >= 0:
            program += [(_EQUAL, 0, 1, calls[column]), deny]
    program += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]  # libc then takes clone
    # clone only for threads, prlimit only for the process itself (0).
    program += [(_EQUAL, 0, 4, _CLONE[column]), (_LOAD, 0, 0, 16), (_ANY_BIT, 1, 0, _THREAD), deny, number]
    program += [(_EQUAL, 0, 4, _PRLIMIT[column]), (_LOAD, 0, 0, 16), (_EQUAL, 1, 0, 0), deny, number]
    for calls, argument, value in _FORBIDDEN_ARGUMENTS:
        program += [(_EQUAL, 0, 4, calls[column]), (_LOAD, 0, 0, 16 + 8 * argument), (_EQUAL, 0, 1, value), deny]
        program += [number]
    program += [(_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    filter_program = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    if libc.prctl(_SET_SECCOMP, 2, filter_program, 0, 0):
        raise ConfineError(ctypes.get_errno(), "the kernel accepts no seccomp filter")
