"""The command that starts the sandbox: which interpreter, in which environment, and what of the disk it can see."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["bubblewrap", "process"]

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
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
# Imports the supervisor without the packages above it, which would take longer to import than to run most programs.
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


def command(mode: Mode, folder: str, packages: bool, disk: int) -> list[str]:
    """The command line of the supervisor, which may write below ``folder``, with bubblewrap at most ``disk`` bytes."""
    # Without packages: the interpreter below a virtual environment, which then need not be readable.
    interpreter = sys.executable if packages else os.path.realpath(sys.executable)
    flags = ["-B", "-P", "-s", *([] if packages else ["-S"])]
    supervisor = [interpreter, *flags, "-c", _START_UP, str(_HOME), folder]
    return [*_bubblewrap(readable_paths(packages), folder, disk), *supervisor] if mode == "bubblewrap" else supervisor


def readable_paths(packages: bool) -> list[str]:
    """What a program may read: the interpreter, the system's libraries, and the code of the sandbox itself."""
    prefixes = [sys.base_prefix, sys.base_exec_prefix, *([sys.prefix, sys.exec_prefix] if packages else [])]
    paths = [*prefixes, *_SYSTEM, str(_HOME)]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def environment() -> dict[str, str]:
    """Of the caller's environment only where libraries lie; with a fixed hash seed, so that sets print the same."""
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    python = {"PYTHONUTF8": "1", "PYTHONHASHSEED": "0"}
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **python, **threads, **libraries}


def _bubblewrap(readable: list[str], folder: str, disk: int) -> list[str]:
    """The start of the command: namespaces of its own, and nothing writable but the folder, a file system in memory."""
    bwrap = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "sandbox"]
    for path in readable:
        bwrap += ["--ro-bind", path, path]
    for device in _DEVICES:
        bwrap += ["--dev-bind-try", device, device]
    return [*bwrap, "--size", str(disk), "--tmpfs", folder, "--remount-ro", "/", "--chdir", "/", "--"]
