"""Programs in processes that are forked from one that has already imported the package.

Importing torch, transformers and the verifiers takes seconds of processor time, more than most commands of the suite
take themselves. A forked process has a folder, an environment, output and an exit code of its own, as a new one has.
That the installed command starts by itself is tested in ``cli/test_cli.py``.
"""

from __future__ import annotations

import atexit
import io
import multiprocessing
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import grpo_env.verifiers

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *(f"grpo_env.verifiers.{module.name}" for module in pkgutil.iter_modules(grpo_env.verifiers.__path__)),
        "grpo_env.cli.app",
        "grpo_env.trainer.loop",
        "pandas",  # which pyarrow imports when it writes
        "transformers.models.auto.modeling_auto",
        "transformers.models.llama.modeling_llama",
    ]
)

TIMEOUT = 600.0


def run(
    words: Sequence[object],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    joined: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run ``grpo_env ...``, ``python file.py ...`` or ``python -m module ...`` in the folder ``cwd``.

    If ``joined``, errors are in the output, in order.
    """
    command = [str(word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        given, out, errors = Path(folder) / "in", Path(folder) / "out", Path(folder) / ("out" if joined else "errors")
        given.write_text(stdin)
        process = start(command, cwd, environment, given, out, errors)
        process.join(TIMEOUT)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(command, TIMEOUT, out.read_bytes())
        return subprocess.CompletedProcess(command, process.exitcode, out.read_text(), errors.read_text())


def start(
    command: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str] | None,
    stdin: Path | None,
    out: Path,
    errors: Path,
) -> BaseProcess:
    """The process, which writes to the files ``out`` and ``errors``."""
    changed = dict(os.environ) | dict(environment or {})
    process = CONTEXT.Process(target=_main, args=(list(command), str(cwd), changed, stdin, out, errors))
    process.start()
    return process


def _main(
    words: list[str], cwd: str, environment: Mapping[str, str], stdin: Path | None, out: Path, errors: Path
) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, path, mode in ((0, stdin or Path(os.devnull), os.O_RDONLY), (1, out, WRITE), (2, errors, WRITE)):
        os.dup2(os.open(path, mode, 0o600), number)
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False))
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, "wb", 0, closefd=False), write_through=True) for number in (1, 2)
    )
    sys.argv = words[1:] if words[0] == "python" else words
    try:
        if words[:2] == ["python", "-m"]:
            sys.argv = words[2:]
            runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        elif words[0] == "python":
            sys.path.insert(0, str(Path(words[1]).parent))
            runpy.run_path(words[1], run_name="__main__")
        else:
            from grpo_env.cli.app import main

            main()
    finally:
        atexit._run_exitfuncs()  # a child of multiprocessing leaves them out


WRITE = os.O_WRONLY | os.O_CREAT | os.O_APPEND
