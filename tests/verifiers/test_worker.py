"""The algebra worker: killed when slow, replaced, shared by threads, not shared by forks, gone when we are."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from grpo_env.core import Completion, Example
from grpo_env.verifiers import algebra
from grpo_env.verifiers.accuracy import Accuracy

SLOW = "x^{" * 25 + "x" + "}" * 25  # small enough for every cap, and takes the algebra many seconds
GOLD = r"\frac{x+1}{2}"


def verdict(answer: str, gold: str = GOLD) -> tuple[float | None, str]:
    score = Accuracy()(Example("x", answer=gold), Completion(rf"\boxed{{{answer}}}"))
    return score.value, score.status


def worker_pid() -> int:
    process = algebra._worker._process
    assert process is not None
    return process.pid


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_slow_answer_is_killed_and_the_next_one_is_judged() -> None:
    assert verdict("0.5x+0.5") == (1.0, "scored")
    before = worker_pid()
    assert verdict(SLOW) == (0.0, "timeout")
    assert not alive(before)
    assert verdict("0.5x + 0.5") == (1.0, "scored")
    assert worker_pid() != before


def test_a_worker_that_died_is_replaced() -> None:
    assert verdict("0.5x+0.5") == (1.0, "scored")
    before = worker_pid()
    os.kill(before, 9)
    assert verdict("0.5+0.5x") == (1.0, "scored")
    assert worker_pid() != before


def test_threads_take_turns() -> None:
    answers = [f"{n}x" for n in range(1, 9)] * 4
    with ThreadPoolExecutor(8) as pool:
        right = list(pool.map(lambda answer: verdict(answer, "\\frac{6x}{2}")[0], answers))
    assert right == [float(answer == "3x") for answer in answers]


def _in_child(queue: multiprocessing.Queue[tuple[int, object]]) -> None:
    queue.put((os.getpid(), verdict("0.5x+0.5")))
    queue.put((worker_pid(), None))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_processes_have_workers_of_their_own(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    assert verdict("0.5x+0.5") == (1.0, "scored")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60)[1] == (1.0, "scored")
    assert queue.get(timeout=60)[0] != worker_pid()
    child.join(60)
    assert child.exitcode == 0
    assert verdict("0.5+0.5x") == (1.0, "scored")


def test_no_worker_outlives_its_process() -> None:
    program = (
        "from grpo_env.verifiers import algebra\n"
        "print(algebra.same_formula('x+1', '1+x', None, 5.0), algebra._worker._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    right, pid = done.stdout.split()
    assert right == "True"
    for _ in range(100):
        if not alive(int(pid)):
            return
        time.sleep(0.05)
    pytest.fail(f"worker {pid} is still there")


def test_the_exact_path_needs_no_worker_and_no_sympy() -> None:
    program = (
        "import sys\n"
        "from grpo_env.core import Completion, Example\n"
        "from grpo_env.verifiers.accuracy import Accuracy\n"
        "from grpo_env.verifiers import algebra, compose, format, process, reasoning, tags\n"
        r"print(Accuracy()(Example('x', answer=r'\frac12'), Completion('0.5')).value)" + "\n"
        "assert algebra._worker._process is None\n"
        "heavy = {'sympy', 'torch', 'numpy', 'yaml', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("1.0", "")


def test_sizes_are_checked_before_anything_is_sent() -> None:
    for text in ("9^{9^9}", "2000!", r"\binom{5000}{3}", "x^{1001}", "(" * 31 + ")" * 31, "x" * 1001, "3!!!"):
        with pytest.raises(algebra.OverLimitError):
            algebra.check_size(text)
    for text in (r"e^{x^2}", "10!", r"\binom{10}{3}", "x^{100}", r"2^{10}"):
        algebra.check_size(text)
