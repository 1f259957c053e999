"""The child's side of ``killable_worker``: a process that ends with its parent, and what its programs use.

``python -P -m grpo_env.workers.child_process LIFELINE MODULE ...`` runs ``MODULE`` as ``python -m`` does. Nothing
heavy is imported before the process is tied to its parent.
"""

from __future__ import annotations

import fcntl
import os
import runpy
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def main() -> None:
    """Run the module named on the command line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process by its pipe
    end_with_parent(int(sys.argv[1]))
    module, sys.argv[1:] = sys.argv[2], sys.argv[3:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def end_with_parent(lifeline: int) -> None:
    """Have the system end this process, whatever it is doing, when the other end of the pipe ``lifeline`` is closed.

    Only the parent has that end, so this happens when the parent ends, however it does. SIGIO's default action is to
    terminate. (PR_SET_PDEATHSIG would also fire when only the thread that started this process ends.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
    os.set_inheritable(lifeline, False)
    try:
        os.read(lifeline, 1)
    except BlockingIOError:
        return
    os._exit(0)  # the parent ended before this process could be told


def read_requests(arguments: Sequence[str]) -> Iterator[tuple[dict[str, Any], Callable[[Mapping[str, Any]], None]]]:
    """Each request to this program, with the function that answers it, until the caller closes the pipe or ends.

    ``arguments`` are the program's; the last one is the pipe's. The first request is waited for as soon as this is
    iterated, so set up everything before.
    """
    import json

    from grpo_env.workers.pipe_messages import BrokenFrameError, Frames

    def answer(reply: Mapping[str, Any]) -> None:
        pipe.send(json.dumps(reply).encode())

    pipe = Frames(int(arguments[-1]), own_end=True)
    answer({})  # ready
    while True:
        try:
            request = json.loads(pipe.receive())
        except (EOFError, OSError, BrokenFrameError):
            return
        yield request, answer


def limit_processor_time(seconds: float) -> None:
    """Have the system end this process by SIGPROF once it has used so much more processor time; 0 lifts the limit."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(size: int) -> None:
    """Limit this process's address space to ``size`` bytes, where the system allows it."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ValueError, OSError):  # macOS refuses an address space limit
        return


def has_grown(limit: int) -> bool:
    """Whether what this process keeps of so many requests might make the next one pass a ``limit_memory``.

    Not by ``getrusage``: its peak is inherited from the process that started this one, which may have loaded a model.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as sizes:
            resident = int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return False
    return resident > limit // 2


if __name__ == "__main__":
    main()
