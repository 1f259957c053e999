"""The filter of system calls: every number from inside, and the filters of both machines by an interpreter."""

from __future__ import annotations

import ctypes
import errno
import json
import platform
import struct
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from grpo_env.verifiers.sandbox.launch import Run, run, unavailable
from grpo_env.verifiers.sandbox.limits import Limits
from grpo_env.verifiers.sandbox.syscalls import ALLOWED, MACHINES, allow_list, report_clones, seccomp_rules

PID = 4711
RULES = {rule.name: rule.numbers for rule in seccomp_rules(PID)}
HIGH = [1000, 4095, 2**16, 2**30, 2**30 + 57, 2**31 - 1]
# With the arguments -1 these end or stop the process, or change what the next call needs.
NOT_TRIED = ("exit", "exit_group", "pause", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "poll", "select",
             "ppoll", "pselect6", "brk", "mmap", "munmap", "mremap", "mprotect", "set_tid_address", "alarm", "futex",
             "restart_syscall", "arch_prctl", "wait4", "waitid", "epoll_pwait2", "rseq")  # fmt: skip
# uretprobe and uprobe of x86-64: Linux 6.14 exempts them from all filters, and ends callers without a probe.
EXEMPT = {335, 336}
TRY = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in json.loads(input()):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    print(number, ctypes.get_errno() if result == -1 else 0)
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="no filter for this machine")
@pytest.mark.parametrize("mode", ["bubblewrap", "process"])
def test_only_the_allowed_numbers_are_not_refused(mode: Any) -> None:
    if reason := unavailable(mode):
        pytest.skip(reason)
    column = MACHINES[platform.machine()][0]
    allowed = {numbers[column] for numbers in ALLOWED.values()}
    not_tried = {ALLOWED[name][column] for name in NOT_TRIED} | EXEMPT
    numbers = [number for number in [*range(601), *HIGH] if number not in not_tried]
    (result,) = run(TRY, [Run("program", input=json.dumps(numbers))], Limits(60, 60), isolation=mode)
    errors = dict(map(int, line.split()) for line in result.output.splitlines())
    assert errors.keys() == set(numbers), result
    refused = {number for number, error in errors.items() if error in (errno.EPERM, errno.ENOSYS)}
    ruled = {numbers[column] for numbers in RULES.values()}
    assert {number for number in numbers if number not in refused} - allowed <= ruled
    assert refused.isdisjoint(allowed)


def evaluate(steps: Iterable[tuple[int, int, int, int]], number: int, architecture: int, *arguments: int) -> int:
    """What a filter answers, by the semantics of classic BPF (``man 2 seccomp``)."""
    padded = [argument % 2**64 for argument in (*arguments, *[0] * 6)][:6]
    data = struct.pack("<iIQ6Q", number - 2**32 if number >= 2**31 else number, architecture, 0, *padded)
    program, counter, register = list(steps), 0, 0
    while True:
        code, if_true, if_false, operand = program[counter]
        counter += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            register = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x54:
            register &= operand
        else:
            holds = {0x15: register == operand, 0x35: register >= operand}[code]
            counter += if_true if holds else if_false


ALLOW, KILL, PERMISSION, MISSING = 0x7FFF0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_of_each_machine(machine: str) -> None:
    column, architecture = MACHINES[machine]
    steps = allow_list(machine, PID, threads=True)
    allowed = {numbers[column] for numbers in ALLOWED.values()}
    ruled = {numbers[column] for numbers in RULES.values()}
    for number in [*range(1000), *HIGH, *(2**30 + number for number in range(600)), 2**32 - 1]:
        answer = evaluate(steps, number, architecture, *[-1] * 6)
        assert answer == (ALLOW if number in allowed else answer)
        if number not in allowed | ruled:
            assert answer == (PERMISSION if number < 424 or number >= 2**30 else MISSING), number
        for other in (0x40000003, 0x40000028, 0xC000003E ^ 0xC00000B7 ^ architecture):
            assert evaluate(steps, number, other) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_what_depends_on_arguments(machine: str) -> None:
    column, architecture = MACHINES[machine]

    def answers(name: str, *arguments: int, threads: bool = True) -> bool:
        steps = allow_list(machine, PID, threads)
        return evaluate(steps, RULES[name][column], architecture, *arguments) == ALLOW

    assert answers("clone", 0x3D0F00)
    assert not answers("clone", 0x3D0F00, threads=False)
    assert not any(answers("clone", flags) for flags in (17, 0, 0x3D0F00 & ~0x400, 0x3D0F00 | 0x10000000, 0x10000))
    assert answers("kill", PID, 9)
    assert not any(answers("kill", pid % 2**64, 9) for pid in (0, -1, 1, PID + 1, -PID))
    assert answers("socketpair", 1, 1 | 0x80000)
    assert not any(
        answers("socketpair", family, kind) for family, kind in ((1, 2), (1, 5), (2, 1), (16, 3), (1, 0x802))
    )
    assert answers("sendto", 3, 0, 0, 0, 0, 0)
    assert not answers("sendto", 3, 0, 0, 0, 1, 0)
    assert not answers("sendto", 3, 0, 0, 0, 1 << 32, 0)
    assert answers("openat", -100, 0, 0o2000000 | 0x241)
    assert not answers("openat", -100, 0, 0o2000000 | 0x200)
    assert answers("prlimit64", 0, 7)
    assert not answers("prlimit64", PID + 1, 7)
    assert answers("ioctl", 0, 0x5401)
    assert not any(answers("ioctl", 0, command) for command in (0x5412, 0x8901, 0x40086602))
    assert not any(answers("fcntl", 0, command) for command in (8, 10, 15, 1024, 1026, 1031, 1033))
    assert not any(answers("prctl", option) for option in (1, 4, 22, 38, 0x59616D61))


@pytest.mark.parametrize("machine", MACHINES)
def test_only_clone_is_reported(machine: str) -> None:
    column, architecture = MACHINES[machine]
    for number in range(600):
        answer = evaluate(report_clones(machine), number, architecture)
        assert answer == (0x7FC00000 if number == RULES["clone"][column] else ALLOW)


def test_numbers_are_those_of_libseccomp() -> None:
    try:
        resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name_arch
    except OSError:
        pytest.skip("libseccomp is not installed")
    for name, numbers in {**ALLOWED, **RULES}.items():
        for column, architecture in MACHINES.values():
            number = resolve(ctypes.c_uint32(architecture), name.encode())
            assert max(number, -1) == numbers[column], name
