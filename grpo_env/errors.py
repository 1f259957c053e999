"""The errors a user can meet. Each is one line that says where, what was expected and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GrpoEnvError(Exception):
    """Base of all errors raised on purpose. ``exit_code`` is what the command line returns for it."""

    exit_code = 1


class UsageError(GrpoEnvError):
    """The input is wrong: a task file, an option, a column, a path. Exit code 2."""

    exit_code = 2


class RunError(GrpoEnvError):
    """The work failed: a diverged run, a corrupt checkpoint, a full disk. Exit code 1."""


class InterruptedRunError(RunError):
    """Ctrl-C. The run is saved and can go on. Exit code 130, as of programs that a signal ends."""

    exit_code = 130


class DivergedError(RunError):
    """The model's output is not finite: its weights are of no use any more."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that helps with an unknown name: the nearest known one, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none are known"


def memory_ran_out(error: BaseException) -> bool:
    """Whether that is what an exception says, of this machine or of an accelerator."""
    from accelerate.utils.memory import should_reduce_batch_size  # late: it brings torch, which scoring does without

    return isinstance(error, MemoryError) or bool(should_reduce_batch_size(error))
