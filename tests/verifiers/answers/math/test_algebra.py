"""The algebra worker: killed when slow or large, replaced, shared by threads but not forks, gone with its process."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grpo_env.core import Completion, Example
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.math.algebra import ALGEBRA, OverLimitError, check_size
from grpo_env.workers.killable_worker import ProgramWorker

LIMIT = resource.getrlimit(resource.RLIMIT_CPU)[0]  # seconds of processor time
pytestmark = pytest.mark.skipif(0 <= LIMIT < 60, reason=f"ulimit -t ends a worker after {LIMIT} s, before it does so")

SLOW = "x^{" * 25 + r"\sin x/2" + "}" * 25  # within all size limits, and takes the algebra many seconds
LARGE = "(a+b+c+f+g+h+k+i)^{1000}"  # likewise, and takes hundreds of megabytes in them
GOLD = r"\frac{\sin x+1}{2}"
RIGHT = r"0.5\sin x+0.5"


@pytest.fixture(autouse=True)
def no_known_results() -> None:
    ALGEBRA.clear()


def verdict(answer: str, gold: str = GOLD) -> tuple[float | None, str]:
    score = Accuracy()(Example("x", answer=gold), Completion(rf"\boxed{{{answer}}}"))
    return score.value, score.status


def worker_pid() -> int:
    pid = ALGEBRA.worker.pid
    assert pid is not None
    return pid


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_slow_answer_ends_the_worker_and_is_not_tried_again_by_the_next_one() -> None:
    assert verdict(r"\sin x+1", r"1+\sin x") == (1.0, "scored")
    first = worker_pid()
    assert verdict(SLOW) == (0.0, "timeout")
    assert not alive(first)
    assert verdict(RIGHT) == (1.0, "scored")
    second = worker_pid()
    assert second != first
    assert verdict(SLOW) == (0.0, "timeout")
    assert worker_pid() == second


def test_waiting_for_the_processor_changes_no_verdict() -> None:
    """The worker gets no processor for longer than the deadline."""
    assert verdict(RIGHT) == (1.0, "scored")
    before = worker_pid()
    ALGEBRA.clear()
    os.kill(before, signal.SIGSTOP)
    waking = threading.Timer(1.5, os.kill, (before, signal.SIGCONT))
    waking.start()
    assert verdict(RIGHT) == (1.0, "scored")
    waking.join()
    assert worker_pid() == before


def test_a_worker_that_hangs_idle_is_killed() -> None:
    assert verdict(RIGHT) == (1.0, "scored")
    before = worker_pid()
    ALGEBRA.clear()
    os.kill(before, signal.SIGSTOP)
    score = Accuracy(timeout=0.1)(Example("x", answer=GOLD), Completion(rf"\boxed{{{RIGHT}}}"))
    assert score.status == "timeout"
    assert not alive(before)


def test_the_memory_of_the_calling_process_does_not_count() -> None:
    """In ``getrusage`` the peak of a new process includes that of the process that started it."""
    ALGEBRA.worker.close()
    ballast = bytearray(1_200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])  # more than half of the worker's limit, and really in memory
    assert verdict(RIGHT) == (1.0, "scored")
    before = worker_pid()
    ALGEBRA.clear()
    assert verdict(RIGHT) == (1.0, "scored")
    assert worker_pid() == before


def test_a_worker_that_died_is_replaced() -> None:
    assert verdict(RIGHT) == (1.0, "scored")
    before = worker_pid()
    os.kill(before, 9)
    ALGEBRA.clear()
    assert verdict(RIGHT) == (1.0, "scored")
    assert worker_pid() != before


def test_starting_the_worker_does_not_count_as_time() -> None:
    """Three formulas with less time for all of them than importing sympy takes."""
    ALGEBRA.worker.close()
    gold, answer = (f"({', '.join(rf'{n}{text}' for n in (2, 3, 4))})" for text in (r"\sin x", r"\cdot\sin x"))
    score = Accuracy(timeout=0.3)(Example("x", answer=gold), Completion(rf"\boxed{{{answer}}}"))
    assert score.status == "scored", score
    assert score.value == 1


def test_the_worker_has_the_memory_limit() -> None:
    assert verdict(RIGHT) == (1.0, "scored")
    limits = Path(f"/proc/{worker_pid()}/limits")
    if not limits.exists():
        pytest.skip("no /proc here")
    line = next(line for line in limits.read_text().splitlines() if line.startswith("Max address space"))
    assert line.split()[3] == str(2 * 2**30)


def test_threads_take_turns() -> None:
    answers = [rf"{n}\sin x" for n in range(1, 9)] * 4
    with ThreadPoolExecutor(8) as pool:
        right = list(pool.map(lambda answer: verdict(answer, r"\frac{6\sin x}{2}")[0], answers))
    assert right == [float(answer == r"3\sin x") for answer in answers]


def test_works_under_asyncio() -> None:
    async def together() -> list[tuple[float | None, str]]:
        direct = verdict(RIGHT)
        ALGEBRA.clear()
        return [direct, *await asyncio.gather(*(asyncio.to_thread(verdict, answer) for answer in (RIGHT, r"\sin x")))]

    assert asyncio.run(together()) == [(1.0, "scored"), (1.0, "scored"), (0.0, "scored")]


def test_a_large_answer_meets_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ALGEBRA, "worker", ProgramWorker("grpo_env.verifiers.answers.math.algebra_worker", str(220 * 2**20))
    )
    try:
        score = Accuracy(timeout=60.0)(Example("x", answer=GOLD), Completion(rf"\boxed{{{LARGE}}}"))
    finally:
        ALGEBRA.worker.close()
    assert (score.value, score.status) == (0.0, "over_limit"), score
    assert "memory" in score.explanation
    monkeypatch.undo()
    assert verdict(RIGHT) == (1.0, "scored")


def _in_child(queue: multiprocessing.Queue[tuple[int, object]]) -> None:
    ALGEBRA.clear()
    queue.put((os.getpid(), verdict(RIGHT)))
    queue.put((worker_pid(), None))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_processes_have_workers_of_their_own(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    assert verdict(RIGHT) == (1.0, "scored")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60)[1] == (1.0, "scored")
    assert queue.get(timeout=60)[0] != worker_pid()
    child.join(60)
    assert child.exitcode == 0
    ALGEBRA.clear()
    assert verdict(RIGHT) == (1.0, "scored")


def test_no_worker_outlives_its_process() -> None:
    program = (
        "from grpo_env.verifiers.answers.math.algebra import ALGEBRA, TimeLimit\n"
        r"print(ALGEBRA.same(r'\sin x+1', r'1+\sin x', TimeLimit(5.0)), ALGEBRA.worker.pid)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    right, pid = done.stdout.split()
    assert right == "True"
    for _ in range(100):
        if not alive(int(pid)):
            return
        time.sleep(0.05)
    pytest.fail(f"worker {pid} is still there")


def test_the_exact_path_starts_no_worker_and_imports_no_sympy() -> None:
    program = (
        "import sys\n"
        "from grpo_env.core import Completion, Example\n"
        "from grpo_env.verifiers.accuracy import Accuracy\n"
        "from grpo_env.verifiers import compose, equation_steps, format, reasoning, tag_count\n"
        "from grpo_env.verifiers.answers.math.algebra import ALGEBRA\n"
        r"pairs = [(r'\frac12', '0.5'), ('(x+1)^2', 'x^2+2x+1'), (r'2\sqrt3', r'\frac6{\sqrt3}')]" + "\n"
        r"for gold, answer in [*pairs, ('x<2', r'(-\infty,2)'), ('50', '10+John')]:" + "\n"
        "    print(Accuracy()(Example('x', answer=gold), Completion(answer)).value)\n"
        "assert ALGEBRA.worker.pid is None\n"
        "heavy = {'sympy', 'torch', 'numpy', 'yaml', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["1.0"] * 4 + ["0.0"], "")


def test_sizes_are_checked_before_anything_is_sent() -> None:
    for text in (
        "9^{9^9}",
        "2000!",
        r"\binom{5000}{3}",
        "x^{1001}",
        "(" * 31 + ")" * 31,
        "x" * 1001,
        "3!!!",
        "((9!)!)!",
        "x+1e9999",
    ):
        with pytest.raises(OverLimitError):
            check_size(text)
    for text in (r"e^{x^2}", "10!", r"\binom{10}{3}", "x^{100}", r"2^{10}"):
        check_size(text)
