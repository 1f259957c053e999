"""Starting, killing and replacing worker processes. The modules that use them are tested elsewhere."""

import os
import signal
import threading
import time
from contextlib import closing
from functools import partial

import psutil
import pytest

from grpo_env.errors import RunError
from grpo_env.killable_worker import LateError, ProgramWorker, ReplaceableWorker, Worker, WorkerDiedError

ECHO = """
import os, signal, sys, time
from grpo_env.worker_process import limit_processor_time, read_requests

print("libraries may print")
for request, send in read_requests(sys.argv):
    if "sleep" in request:
        time.sleep(60)
    if "spin" in request:
        limit_processor_time(0.1)
        while True:
            pass
    if "exit" in request:
        os._exit(request["exit"])
    send({"pid": os.getpid(), "request": request, "variable": os.environ.get("ECHO_TEST")})
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "echo_program.py").write_text(ECHO)
    program = ProgramWorker("echo_program", environment={"PYTHONPATH": str(tmp_path), "ECHO_TEST": "set"})
    yield program
    program.close()


def test_a_function_worker_returns_and_raises_what_the_function_does():
    with closing(Worker(int)) as worker:
        assert worker("17") == 17
        with pytest.raises(ValueError, match="invalid literal"):
            worker("x")
        assert worker("18") == 18


# SIGABRT: a shell without job control starts its background jobs with SIGINT and SIGQUIT ignored.
@pytest.mark.parametrize(
    ("work", "argument", "how"),
    [(os._exit, 3, "exit code 3"), (signal.raise_signal, signal.SIGABRT, "SIGABRT")],
)
def test_the_end_of_a_function_worker_is_reported(work, argument, how):
    worker = Worker(work)
    with pytest.raises(WorkerDiedError, match=how):
        worker(argument)
    assert not worker.alive


def test_a_function_worker_can_be_killed_from_outside():
    worker = Worker(time.sleep)
    assert worker.alive
    worker.kill()
    with pytest.raises(WorkerDiedError, match="SIGKILL"):
        worker(60)


def test_an_interrupted_call_leaves_no_answer_for_the_next_one():
    """As Ctrl-C in a notebook does, which goes on to call again."""
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    with closing(ReplaceableWorker(_slow_echo)) as worker:
        worker.start()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            worker(("first", 0.5))
        signal.signal(signal.SIGALRM, previous)
        assert worker(("second", 0)) == "second"


def _slow_echo(piece):
    time.sleep(piece[1])
    return piece[0]


def test_a_function_that_cannot_be_pickled_is_an_error():
    with pytest.raises(RunError, match="cannot be sent to a worker process"):
        Worker(partial(print, threading.Lock()))


def test_a_program_answers_requests_in_one_process(program):
    first, second = (program.ask({"n": n}, 30) for n in (1, 2))
    assert [first["request"], second["request"]] == [{"n": 1}, {"n": 2}]
    assert first["pid"] == second["pid"] == program.pid
    assert first["variable"] == "set"


@pytest.mark.parametrize("request_", [{"sleep": True}, {"spin": True}])
def test_a_late_program_is_killed_and_replaced(program, request_):
    pid = program.ask({}, 30)["pid"]
    with pytest.raises(LateError):
        program.ask(request_, 0.2 if "sleep" in request_ else 30)
    assert not psutil.pid_exists(pid)
    assert program.ask({}, 30)["pid"] != pid


def test_a_program_that_dies_is_reported_and_replaced(program):
    with pytest.raises(WorkerDiedError, match="exit code 7"):
        program.ask({"exit": 7}, 30)
    pid = program.ask({}, 30)["pid"]
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(WorkerDiedError, match="exit code 8"):
        program.ask({"exit": 8}, 30)


def test_a_program_that_does_not_start_says_how_to_see_why():
    program = ProgramWorker("no_such_program")
    with pytest.raises(RuntimeError, match=r"a worker did not start; to see why, run .* -m no_such_program"):
        program.ask({}, 30)
