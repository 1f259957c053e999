"""Errors for users. Each message is one line: where the problem is, what was expected and how to fix it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class GrpoEnvError(Exception):
    """Base of all errors raised on purpose. ``exit_code`` is what the command line returns for it."""

    exit_code = 1


class UsageError(GrpoEnvError, ValueError):
    """Invalid input: a task file, an option, a column, a path. Exit code 2."""

    exit_code = 2


class RunError(GrpoEnvError, RuntimeError):
    """A failure at run time: a diverged run, a corrupt checkpoint, a full disk. Exit code 1."""


class InterruptedRunError(RunError):
    """Ctrl-C. The run was saved and can be resumed. Exit code 130, as for programs ended by SIGINT."""

    exit_code = 130


class DivergedError(RunError):
    """The model's output is not finite; its weights are unusable."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the most similar known one, else all known names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "none are known"


def install(extra: str) -> str:
    """How to install the packages of an extra, as the end of a message: from a copy, as long as PyPI has none."""
    pinned = "" if extra == "vllm" else "-c constraints.txt "  # vLLM has a torch of its own
    return f"in a copy of grpo_env, pip install {pinned}'.[{extra}]'"


def no_such_file(path: Path, kind: str = "file") -> UsageError:
    """The error for a file that is not there, with the one of the most similar name beside it."""
    folder = path.parent
    beside = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    return UsageError(f"{path}: no such {kind}" + (f"; did you mean {str(folder / close[0])!r}?" if close else ""))


def memory_ran_out(error: BaseException) -> bool:
    """Whether an exception means that the machine or an accelerator ran out of memory."""
    from accelerate.utils.memory import should_reduce_batch_size  # late: imports torch, which scoring does not need

    if isinstance(error, MemoryError) or should_reduce_batch_size(error):
        return True
    # Where CUDA itself allocates: for a graph, for cuBLAS.
    return any(f"CUDA error: {reason}" in str(error) for reason in ("out of memory", "CUBLAS_STATUS_ALLOC_FAILED"))
