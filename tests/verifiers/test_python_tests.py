"""python_tests: what passes, what fails, what cheats; and hostile programs, in both kinds of sandbox."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Score
from grpo_env.errors import UsageError
from grpo_env.verifiers.python_tests import PythonTests
from grpo_env.verifiers.sandbox.launch import Run, RunResult, run, unavailable
from grpo_env.verifiers.sandbox.limits import Limits
from grpo_env.verifiers.sandbox.plain_values import digest, to_json
from grpo_env.verifiers.sandbox.unit_tests import read_tests

ROWS = [json.loads(line) for line in (Path(__file__).parent / "cases" / "python_tests.jsonl").read_text().splitlines()]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has seccomp")


@pytest.fixture(scope="module")
def isolation() -> str:
    """The default where it works, else the weaker mode: verdicts are the same in both."""
    if unavailable("bubblewrap") is None:
        return "auto"
    if reason := unavailable("process"):
        pytest.skip(reason)
    return "process"


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{number}") for number, row in enumerate(ROWS, 1)])
def test_table(row: dict[str, Any], isolation: str) -> None:
    completion = Completion(row["completion"])
    score = PythonTests(**{"isolation": isolation, **row.get("options", {})})(
        Example("x", info=row["info"]), completion
    )
    assert (score.value, score.status) == (row["value"], row["status"]), f"{row['why']}: {score}"
    assert score.explanation
    assert len(score.explanation) < 600
    assert Score.from_dict(score.to_dict()) == score


@pytest.fixture
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After each test no sandbox process is running, and no folder is left."""
    folder = tmp_path / "sandboxes"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []
    assert left_behind(folder) == []


@pytest.fixture(params=["bubblewrap", "process"])
def mode(request: pytest.FixtureRequest, nothing_is_left: None) -> Any:
    if reason := unavailable(request.param):
        pytest.skip(reason)
    return request.param


def left_behind(folder: Path) -> list[str]:
    """The running processes that have the folder in their command line, as those of the sandbox all do."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(folder) in command and state not in "ZX":
            commands.append(command)
    return commands


def end_of(program: str, mode: Any, text: str = "", **limits: Any) -> RunResult:
    (ran,) = run(program, [Run("program", input=text)], Limits(**limits), isolation=mode)
    return ran


ATTEMPT = """
import sys
try:
    exec(sys.stdin.read(), {})
    print("done")
except BaseException as error:
    print(type(error).__name__)
"""


def attempts(statements: list[str], mode: Any) -> dict[str, str]:
    """The outcome of each statement: ``done``, or the name of the exception."""
    runs = run(ATTEMPT, [Run("program", input=statement) for statement in statements], Limits(20, 200), isolation=mode)
    return {statement: ran.output.strip() or str(ran) for statement, ran in zip(statements, runs, strict=True)}


ALLOWED = [
    "import threading; t = threading.Thread(target=int); t.start(); t.join()",
    "import tempfile, shutil; d = tempfile.mkdtemp(); open(d + '/x', 'w'); shutil.rmtree(d)",
    "import os; os.symlink('x', 'y'); os.link('y', 'z'); os.unlink('y')",
    "import asyncio; asyncio.run(asyncio.sleep(0))",
    "import signal, time; signal.signal(signal.SIGALRM, signal.SIG_IGN); signal.setitimer(0, 0.01); time.sleep(0.1)",
    "import random, uuid, hashlib, decimal, sqlite3, zoneinfo; random.random(); uuid.uuid4()",
    "import os, signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGUSR1)",
    "import sys, os; sys.stdout.isatty(); os.closerange(10, 20); os.cpu_count(); os.times(); os.getpgid(0)",
    "import mmap; f = open('m', 'w+b'); f.truncate(9); mmap.mmap(f.fileno(), 9)[0] = 1",
    "import concurrent.futures as c; assert list(c.ThreadPoolExecutor(2).map(abs, [-1])) == [1]",
]


def test_what_is_allowed_works(mode: Any) -> None:
    assert {statement: outcome for statement, outcome in attempts(ALLOWED, mode).items() if outcome != "done"} == {}


def test_no_environment_and_no_descriptors_leak(mode: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        program = (
            "import os\n"
            "def is_open(fd):\n"
            "    try: return bool(os.fstat(fd))\n"
            "    except OSError: return False\n"
            "print(sorted(os.environ), [fd for fd in range(1024) if is_open(fd)], repr(input()))"
        )
        ran = end_of(program, mode, "text\n")
    assert "TOKEN" not in ran.output
    assert "[0, 1, 2] 'text'" in ran.output


# A program, and how it ends.
HOSTILE = {
    "loop": ("while True: pass", "timeout"),
    "sleep": ("import time; time.sleep(99)", "timeout"),
    "deaf": (
        "import signal, time\nfor s in range(1, 32):\n try: signal.signal(s, signal.SIG_IGN)\n except OSError: pass\n"
        "while True: time.sleep(1)",
        "timeout",
    ),
    "closed": ("import os, time\nos.closerange(0, 99)\ntime.sleep(99)", "timeout"),
    "thread": ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()", "timeout"),
    "exit": ("import atexit, time\natexit.register(time.sleep, 99)", "timeout"),
    "thread bomb": (
        "import threading, time\nwhile True:\n"
        " try: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n except Exception: pass",
        "timeout",
    ),
    "fork bomb": ("import os\nwhile True:\n try: os.fork() or os._exit(0)\n except OSError: pass", "timeout"),
    "power": ("x = 9 ** 9 ** 9", "timeout"),
    "output": ("while True: print('x' * 10000)", "output"),
    "errors": ("import sys\nfor _ in range(10**4): sys.stderr.write('x' * 1000)\nsys.exit(1)", "exit"),
    "memory": ("x = bytearray(10**10)", "exit"),
    "growing memory": ("x = []\nwhile True: x.append(bytearray(10**6))", "exit"),
    "huge file": ("f = open('x', 'wb')\nwhile True: f.write(bytes(10**6))", "exit"),
    "huge files": (
        "import itertools, time\ntry:\n for i in itertools.count(): open(str(i), 'wb').write(bytes(10**7))\n"
        "except OSError: time.sleep(99)",
        "files",
    ),
    "many files": ("import itertools\nfor i in itertools.count(): open(str(i), 'w').close()", "files"),
    "deep folders": ("import os\nwhile True: os.mkdir('a'); os.chdir('a')", "files"),
    "closed folders": ("import os\nos.mkdir('a'); os.mkdir('a/b'); os.mkdir('c', 0)", "exit"),
    "folder removed": ("import os\nos.rmdir(os.getcwd())", "exit"),
    "links": ("import os\nos.symlink('.', 'a'); os.symlink('/', 'b'); os.symlink('c', 'c')", "exit"),
    "crash": ("import ctypes; ctypes.string_at(0)", "exit"),
    "deep parse": ("(" * 100000, "exit"),
    "null byte": ("x = '\0'", "exit"),
    "surrogate": ("x = '\ud800'", "exit"),
    "recursion": ("def f(): f()\nf()", "exit"),
}


@LINUX
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_end(name: str, mode: Any) -> None:
    program, ended = HOSTILE[name]
    seconds = 0.2 if ended == "timeout" else 30
    runs = list(run(program, [Run("program")], Limits(seconds, memory=256 * 2**20), isolation=mode))
    assert [ran.ended for ran in runs] == [ended], runs
    assert len(runs[0].error) <= 4000


def test_a_run_that_is_killed_does_not_end_the_next_one(mode: Any) -> None:
    program = "import time\nnumber = input()\nprint(number)\nif number == '1': time.sleep(99)"
    results = list(run(program, [Run("program", input=f"{n}\n") for n in range(3)], Limits(1), isolation=mode))
    assert [(result.output, result.ended) for result in results] == [("0\n", "exit"), ("", "timeout"), ("2\n", "exit")]


def test_stopping_early_ends_the_running_program(mode: Any) -> None:
    program = "import time\nif input() == '1': time.sleep(999)"
    runs = run(program, [Run("program", input=text) for text in "01"], Limits(900, 900), isolation=mode)
    assert next(runs).ended == "exit"
    runs.close()


def test_tests_not_run_by_the_deadline_fail(mode: Any) -> None:
    verifier = PythonTests(timeout=0.6, deadline=0.9, isolation=mode)
    tests = ["assert f(0) == 1", *["assert f(1) == 1"] * 7]
    completion = Completion("```python\ndef f(n):\n    while n: pass\n    return 1\n```")
    score = verifier(Example("x", info={"tests": tests}), completion)
    assert (score.value, score.status) == (1 / 8, "scored")
    assert "not run" in score.explanation


def test_explanations_name_the_first_failed_test(isolation: Any) -> None:
    def explanation(code: str, *tests: object) -> str:
        info = {"tests": list(tests)}
        return PythonTests(isolation=isolation)(
            Example("x", info=info), Completion(f"```python\n{code}\n```")
        ).explanation

    pair = {"input": "1\n", "output": "4\n"}
    assert explanation("print(3)", pair) == "0 of 1 tests passed; test 1: expected '4\\n', got '3\\n'"
    text = explanation("def f(x): return 1 / x", "assert f(1) == 1", "assert f(0) == 1", "assert f(2) == 1")
    assert text == "1 of 3 tests passed; test 2 (f(0)): ZeroDivisionError: division by zero"


def test_threads_may_run_programs(isolation: Any) -> None:
    def value(number: int) -> float | None:
        info = {"tests": [f"assert f({number}) == {number % 2}"]}
        return PythonTests(isolation=isolation)(
            Example("x", info=info), Completion("```python\nf = lambda n: 0\n```")
        ).value

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(value, range(8))) == [1.0, 0.0] * 4


def _score_case(verifier: PythonTests, queue: Any) -> None:
    case = verifier.cases[0]
    queue.put(verifier(Example("x", info=case.info), Completion(str(case.completion))))


def test_a_spawned_process_may_run_programs(isolation: Any) -> None:
    verifier = pickle.loads(pickle.dumps(PythonTests(isolation=isolation)))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=_score_case, args=(verifier, queue))
    child.start()
    assert queue.get(timeout=60).value == 1
    child.join(60)


def test_no_process_outlives_a_killed_caller(mode: Any, tmp_path: Path) -> None:
    folder = tmp_path / "orphans"
    folder.mkdir()
    program = (
        "from grpo_env.verifiers.sandbox.launch import *\n"
        "from grpo_env.verifiers.sandbox.limits import Limits\n"
        f"print(unavailable({mode!r}), flush=True)\n"
        f"list(run('while True: pass', [Run('program')], Limits(900, 900), isolation={mode!r}))"
    )
    environment = {**os.environ, "TMPDIR": str(folder)}
    caller = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    try:
        with caller.stdout:
            assert caller.stdout.readline() == "None\n"
        # Those of the trial that `unavailable` has run may still be ending; its folder is gone.
        wait_until(lambda: any(len(left_behind(path)) > 1 for path in folder.iterdir()))  # the supervisor and its fork
    finally:
        os.kill(caller.pid, signal.SIGKILL)
        caller.wait()
    wait_until(lambda: not left_behind(folder))


def wait_until(condition: Any) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("waited in vain")


def test_invalid_options_are_refused() -> None:
    for options in ({"credit": "some"}, {"timeout": 0}, {"deadline": -1}, {"memory": 1}, {"isolation": "docker"}):
        with pytest.raises(UsageError, match=next(iter(options))):
            PythonTests(**options)  # type: ignore[arg-type]


@pytest.fixture
def fresh() -> Iterator[None]:
    unavailable.cache_clear()
    yield
    unavailable.cache_clear()


def test_without_bubblewrap(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="bubblewrap is not installed"):
        PythonTests(isolation="bubblewrap")
    case = PythonTests.cases[0]
    score = PythonTests()(Example("x", info=case.info), Completion(str(case.completion)))
    assert (score.value, score.status) == (None, "error")
    assert "isolation: process" in score.explanation
    score = PythonTests(isolation="process")(Example("x", info=case.info), Completion(str(case.completion)))
    assert score.value == 1


def test_a_sandbox_that_does_not_start_is_unscored(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed: nothing is started")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    case = PythonTests.cases[0]
    score = PythonTests()(Example("x", info=case.info), Completion(str(case.completion)))
    assert (score.value, score.status) == (None, "error")
    assert "/nowhere/python" in score.explanation


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = SCALARS | st.tuples(SCALARS) | st.frozensets(st.integers()) | st.complex_numbers(allow_nan=False)
VALUES = st.recursive(
    KEYS, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner), max_leaves=10
)


@settings(deadline=None, max_examples=50)
@given(VALUES, VALUES)
def test_hashes_are_the_same_for_equal_values_only(value: object, other: object) -> None:
    def hashed(value: object) -> str:
        return digest(json.loads(json.dumps(to_json(value))))

    assert hashed(value) == hashed(value)
    assert (hashed(value) == hashed(other)) == (value == other)
    assert hashed([value]) != hashed((value,))


def test_a_missing_column_is_a_problem_of_the_example() -> None:
    assert PythonTests().problem(Example("x", info={"tests": ["assert f() == 1"]})) is None
    assert "did you mean 'test'" in str(PythonTests().problem(Example("x", info={"test": []})))


def test_expected_values_do_not_enter_the_sandbox() -> None:
    for data in (["assert f(1) == 987654321"], [{"call": "f", "args": [1], "output": 987654321}]):
        (test,) = read_tests(data)
        assert test.values == (987654321,)
        assert "987654321" not in str(test.run)


def test_long_hostile_text_is_read_in_linear_time() -> None:
    info = {"tests": ["assert f() == 1"]}
    ticks = ("`" * 10**6, "```\n" * 300000, "```python\n" * 100000, "~" * 10**6 + "`", "`~" * 500000)
    for text in (*ticks, "<answer>" * 100000, " " * 10**6, ("```" + "a" * 500000 + "`") * 2):
        assert PythonTests()(Example("x", info=info), Completion(text)).value == 0
