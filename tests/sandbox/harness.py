"""Runs the attacks in ``attacks/`` and says which succeed. ``python harness.py MODE`` prints it as JSON.

An attack is a program. Its docstring names the promise that it tries to break and says how. It has broken it if it runs
to its end, or if a file, a server or a process outside of the sandbox has changed. ``T`` holds these as its targets.
Attacks on verdicts have lines ``# test:`` with tests that they should not pass.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grpo_env.core import Completion, Example
from grpo_env.verifiers.python_tests import PythonTests
from grpo_env.verifiers.sandbox import launch
from grpo_env.verifiers.sandbox.limits import Limits

FOLDER = Path(__file__).parent / "attacks"
ROOT = Path(__file__).parents[2]
NOBODY = 65534
BECOME_NOBODY = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "env",
)  # setpriv itself still enters any folder
SCORED = ("verdict", "report", "inside")  # promises of the verifier, not of the sandbox
SHORT = ("time", "output")  # attacks on these promises run until they are ended
ATTEMPT = """
import json, sys
T, code = json.loads(sys.stdin.read())
exec(code, {"T": T, "__name__": "__main__"})
print("BROKEN")
"""
MISTAKES = "NameError|SyntaxError|AttributeError|TypeError|ImportError"
LEFTOVERS = ("/tmp", "/var/tmp", "/dev/shm", "/usr/bin")


class Attack(NamedTuple):
    name: str
    promise: str
    what: str
    code: str
    tests: list[Any]


def attacks() -> list[Attack]:
    return [_read(path) for path in sorted(FOLDER.glob("*.py"))]


def _read(path: Path) -> Attack:
    code = path.read_text()
    match = re.match(r'"""(\w+): (.*)\."""\n', code)
    assert match, path
    tests = [json.loads(text) for text in re.findall(r"^# test: (.*)$", code, re.MULTILINE)]
    return Attack(path.stem, match[1], match[2], code, tests)


@contextmanager
def targets() -> Iterator[tuple[dict[str, Any], list[socket.socket], subprocess.Popen[bytes]]]:
    """What the attacks aim at: a file, servers and a process, all of them of the user who runs this."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="target-")))
        secret = folder / "secret"
        secret.write_text("a secret")
        (folder / "secret_module.py").write_text("")
        (folder / "secret.link").symlink_to("secret")
        with suppress(OSError):  # the file system may have no attributes
            os.setxattr(secret, "user.x", b"x")
        fcntl.lockf(stack.enter_context(Path(launch.__file__).open()), fcntl.LOCK_SH)
        inet, unix = socket.AF_INET, socket.AF_UNIX
        servers = [socket.socket(inet), socket.socket(inet, socket.SOCK_DGRAM), socket.socket(unix, socket.SOCK_DGRAM)]
        servers += [socket.socket(unix, socket.SOCK_DGRAM), socket.socket(unix)]
        names: list[Any] = [("127.0.0.1", 0)] * 2 + [f"{folder}/datagram", f"\0{folder.name}", f"{folder}/stream"]
        for server, name in zip(servers, names, strict=True):
            stack.enter_context(server).bind(name)
            if server.type == socket.SOCK_STREAM:
                server.listen()
        victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        assert victim.stdin is not None
        stack.callback(victim.stdin.close)
        yield (
            {
                "secret": str(secret),
                "tcp": servers[0].getsockname()[1],
                "udp": servers[1].getsockname()[1],
                "path": names[2],
                "abstract": folder.name,
                "stream": names[4],
                "pid": victim.pid,
                "code": launch.__file__,
            },
            servers,
            victim,
        )


def state(target: dict[str, Any], servers: list[socket.socket], victim: subprocess.Popen[bytes]) -> object:
    """Everything outside of the sandbox that an attack might change."""
    folder = Path(target["secret"]).parent
    files = []
    for path in sorted(folder.iterdir()):
        info = path.lstat()
        files.append((path.name, info.st_mode, info.st_uid, info.st_mtime_ns, info.st_nlink, info.st_size))
    left = [f"{folder}/{name}" for folder in LEFTOVERS for name in ("grpo_env_attack",) if Path(folder, name).exists()]
    called = [server.fileno() for server in select.select(servers, [], [], 0)[0]]
    return files, Path(target["secret"]).read_text(), _attributes(target["secret"]), left, called, victim.poll()


def _attributes(path: str) -> list[tuple[str, bytes]]:
    try:
        return [(name, os.getxattr(path, name)) for name in os.listxattr(path)]
    except OSError:
        return []


def broken(mode: Literal["bubblewrap", "process"], chosen: list[Attack]) -> dict[str, str]:
    """The attacks on the sandbox that break their promise, and how."""
    broken_promises = {}
    for short in (False, True):
        group = [attack for attack in chosen if (attack.promise in SHORT) == short and attack.promise not in SCORED]
        if not group:
            continue
        with targets() as (target, servers, victim):
            before = state(target, servers, victim)
            runs = [launch.Run("program", input=json.dumps([target, attack.code])) for attack in group]
            limits = Limits(0.15 if short else 10, 300, memory=256 << 20)
            results = launch.run(ATTEMPT, runs, limits, isolation=mode)
            for attack, result in zip(group, results, strict=True):
                after = state(target, servers, victim)
                if "BROKEN" in result.output or len(result.error) > 4000:
                    broken_promises[attack.name] = "ran to its end"
                elif re.search(rf"^({MISTAKES}):", result.error, re.MULTILINE):
                    broken_promises[attack.name] = f"does not test anything: {result.error}"
                elif after != before:
                    broken_promises[attack.name] = f"changed {before} to {after}"
                    before = after
        left = [*processes_of(tempfile.gettempdir()), *Path(tempfile.gettempdir()).glob("grpo_env-sandbox-*")]
        assert not left, left
    return broken_promises


def credited(mode: Literal["bubblewrap", "process"], chosen: list[Attack]) -> dict[str, str]:
    """The attacks on verdicts that score more than 0, or are unscored."""
    by_code: dict[str, list[Attack]] = {}
    for attack in chosen:
        if attack.promise in SCORED:
            code = re.sub(r'^"""\w+: .*\n(# test: .*\n)*', "", attack.code)
            by_code.setdefault(code, []).append(attack)

    def score_program(code: str, group: list[Attack]) -> dict[str, str]:
        """The same program with other tests runs once, unless one of them passes."""
        if not (score := _score(mode, code, [test for attack in group for test in attack.tests])):
            return {}
        scores = {attack.name: _score(mode, code, attack.tests) for attack in group} if len(group) > 1 else {}
        return {name: score for name, score in (scores or {group[0].name: score}).items() if score}

    broken_promises = {}
    with ThreadPoolExecutor(4) as threads:  # most programs wait until they are ended
        for broken in threads.map(score_program, by_code.keys(), by_code.values()):
            broken_promises |= broken
    return broken_promises


def _score(mode: Literal["bubblewrap", "process"], code: str, tests: list[Any]) -> str:
    """The score of a program that should get none, or nothing."""
    verifier = PythonTests(timeout=2, deadline=60, isolation=mode)
    score = verifier(Example("x", info={"tests": tests}), Completion(f"```python\n{code}\n```"))
    return "" if score.value == 0 else str(score)


def processes_of(folder: str) -> list[str]:
    """The processes of this user whose sandbox is below a folder. They may take a moment to end."""
    for _ in range(100):
        commands = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if process.stat().st_uid == os.getuid() and process.name != str(os.getpid()):
                    commands.append((process / "cmdline").read_bytes().decode(errors="replace"))
            except OSError:
                continue
        left = [command for command in commands if f"{folder}/grpo_env-sandbox-" in command]
        if not left:
            break
        time.sleep(0.02)
    return left


def brief(chosen: list[Attack]) -> list[Attack]:
    """Without the attacks on limits that both modes keep by the same means."""
    return [attack for attack in chosen if attack.promise not in (*SHORT, "memory")]


def as_nobody(mode: Literal["bubblewrap", "process"], *arguments: str) -> dict[str, str]:
    """``broken`` as a user without privileges. Raises ``OSError`` if this process cannot become one."""
    python = next(path for path in (os.path.realpath(sys.executable), "/usr/bin/python3") if _runs(path))
    # Not below the folder of a test, which only its own user may enter.
    with tempfile.TemporaryDirectory(prefix="attacks-", dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        package = Path(folder, "grpo_env")
        shutil.copytree(ROOT / "grpo_env", package, ignore=lambda path, names: [n for n in names if _skipped(path, n)])
        shutil.copytree(ROOT / "verifiers", package / "verifiers")
        shutil.copytree(Path(__file__).parent, Path(folder, "tests"))
        for path in [Path(folder), *Path(folder).rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        command = [*BECOME_NOBODY, python, "-P", f"{folder}/tests/harness.py", mode, *arguments]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": folder, "TMPDIR": folder}
        process = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
        broken_promises: dict[str, str] = json.loads(process.stdout)
        return broken_promises


def _skipped(path: str, name: str) -> bool:
    """Of the package only its own modules are needed, none of the packages in it."""
    return Path(path, name).is_dir()


def _runs(python: str) -> bool:
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return subprocess.run([*BECOME_NOBODY, python, "-c", check], capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    private = tempfile.mkdtemp(prefix="attacks-")
    tempfile.tempdir = private
    try:
        reason = launch.unavailable(sys.argv[1])  # type: ignore[arg-type]
        chosen = brief(attacks()) if "brief" in sys.argv else attacks()
        print(json.dumps({"unavailable": reason} if reason else broken(sys.argv[1], chosen)))  # type: ignore[arg-type]
    finally:
        shutil.rmtree(private)
