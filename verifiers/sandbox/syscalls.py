"""The system calls that an untrusted program may make, and the seccomp filter that refuses all others.

An allow-list: a call that is not in these tables is refused, so those of future kernels are too. Numbers are those of
x86-64 and of the generic table of 64-bit ARM; -1 is a call that does not exist there. The tests compare them with
libseccomp's. Source of the format: https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the tables, AUDIT_ARCH_*

ALLOWED: dict[str, tuple[int, int]] = {
    # memory
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "msync": (26, 227),
    # files: Landlock or the file system decide which; nothing here changes modes, owners, times or attributes
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "stat": (4, -1),
    "lstat": (6, -1),
    "statx": (332, 291),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "access": (21, -1),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, -1),
    "readlinkat": (267, 78),
    "getdents": (78, -1),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "mkdir": (83, -1),
    "mkdirat": (258, 34),
    "rmdir": (84, -1),
    "unlink": (87, -1),
    "unlinkat": (263, 35),
    "rename": (82, -1),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, -1),
    "linkat": (265, 37),
    "symlink": (88, -1),
    "symlinkat": (266, 36),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "dup": (32, 23),
    "dup2": (33, -1),
    "dup3": (292, 24),
    "pipe": (22, -1),
    "pipe2": (293, 59),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "umask": (95, 166),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    # waiting
    "futex": (202, 98),
    "poll": (7, -1),
    "ppoll": (271, 73),
    "select": (23, -1),
    "pselect6": (270, 72),
    "epoll_create": (213, -1),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, -1),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "eventfd": (284, -1),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "pause": (34, -1),
    # time
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, -1),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "alarm": (37, -1),
    "times": (100, 153),
    # the process itself
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getgroups": (115, 158),
    "getpgrp": (111, -1),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "setrlimit": (160, 164),
    "getrandom": (318, 278),
    "getcpu": (309, 168),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "arch_prctl": (158, -1),
    # one end of a pair, see RULES
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
}


class Condition(NamedTuple):
    """The lower (or ``upper``) 32 bits of an argument, masked, must be one of ``values``."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    upper: bool = False


class Rule(NamedTuple):
    """A call that is allowed if all conditions hold."""

    name: str
    numbers: tuple[int, int]
    conditions: tuple[Condition, ...]


CLONE = (56, 220)
# What pthread_create passes (glibc, musl). Any less and a thread has file descriptors or memory that no limit counts.
_THREAD_FLAGS = (0x3D0F00, 0x7D0F00)
_OPEN_FLAGS = Condition(1, (0, 1, 2, 0x201, 0x202), 0x203)  # not O_TRUNC without write access, which old Landlocks miss
_NULL = (0,)
# Descriptors, flags, record locks; no owners, leases, signals.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
# isatty, window size, FIONREAD, FIONBIO, FIO(N)CLEX.
_IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PRCTL = (15, 16, 0x53564D41)  # names of threads and of memory
_FIRST_NEW_CALL = 424  # from here on, refused calls seem not to exist, and the C library takes the older one


def seccomp_rules(pid: int) -> tuple[Rule, ...]:
    """The calls that a program may make, of which some arguments are refused, for the process ``pid``."""
    itself = (0, pid)
    return (
        Rule("open", (2, -1), (_OPEN_FLAGS,)),
        Rule("openat", (257, 56), (_OPEN_FLAGS._replace(argument=2),)),
        Rule("clone", CLONE, (Condition(0, _THREAD_FLAGS),)),
        Rule("fcntl", (72, 25), (Condition(1, _FCNTL),)),
        Rule("ioctl", (16, 29), (Condition(1, _IOCTL),)),
        Rule("prctl", (157, 167), (Condition(0, _PRCTL),)),
        Rule("prlimit64", (302, 261), (Condition(0, itself),)),
        Rule("close_range", (436, 436), (Condition(2, _NULL),)),
        Rule("kill", (62, 129), (Condition(0, (pid,)),)),
        Rule("tgkill", (234, 131), (Condition(0, (pid,)),)),
        Rule("getpgid", (121, 155), (Condition(0, itself),)),
        Rule("getsid", (124, 156), (Condition(0, itself),)),
        # A connected pair (asyncio needs one) that can reach no server and carry no descriptors: AF_UNIX, SOCK_STREAM,
        # and nothing is sent to an address.
        Rule("socketpair", (53, 199), (Condition(0, (1,)), Condition(1, (1,), 0xF))),
        Rule("sendto", (44, 206), (Condition(4, _NULL), Condition(4, _NULL, upper=True))),
    )


_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # classic BPF
_ALLOW, _KILL, _FAIL, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in the data of a call

Step = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def allow_list(machine: str, pid: int, threads: bool) -> list[Step]:
    """The filter for process ``pid``. Other architectures' calls (32-bit ones) end the process.

    Raises ``KeyError`` for a machine without a table.
    """
    column, architecture = MACHINES[machine]
    refuse = (_RETURN, 0, 0, _FAIL | errno.EPERM)
    allow = (_RETURN, 0, 0, _ALLOW)
    steps: list[Step] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    steps += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, 0x40000000), refuse]  # the x32 numbers of x86-64
    for numbers in ALLOWED.values():
        if numbers[column] >= 0:
            steps += [(_EQUAL, 0, 1, numbers[column]), allow]
    for rule in seccomp_rules(pid):
        if rule.numbers[column] >= 0 and (threads or rule.name != "clone"):
            checks = [step for condition in rule.conditions for step in (*_check(condition), refuse)] + [allow]
            steps += [(_EQUAL, 0, len(checks), rule.numbers[column]), *checks]
    steps += [(_AT_LEAST, 0, 1, _FIRST_NEW_CALL), (_RETURN, 0, 0, _FAIL | errno.ENOSYS), refuse]
    return steps


def _check(condition: Condition) -> list[Step]:
    """Steps that skip the one after them if the condition holds."""
    steps = [(_LOAD, 0, 0, _ARGUMENTS + 8 * condition.argument + 4 * condition.upper)]
    if condition.mask != 0xFFFFFFFF:
        steps.append((_AND, 0, 0, condition.mask))
    count = len(condition.values)
    return steps + [(_EQUAL, count - index, 0, value) for index, value in enumerate(condition.values)]


def report_clones(machine: str) -> list[Step]:
    """A filter that asks its listener about each ``clone`` of the machine's own architecture."""
    column, architecture = MACHINES[machine]
    steps: list[Step] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 0, 2, architecture), (_LOAD, 0, 0, _NUMBER)]
    return [*steps, (_EQUAL, 1, 0, CLONE[column]), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOTIFY)]


def packed(steps: list[Step]) -> bytes:
    """The filter as the kernel reads it."""
    return b"".join(struct.pack("HBBI", *step) for step in steps)
