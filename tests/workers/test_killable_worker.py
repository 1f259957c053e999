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
from grpo_env.workers.killable_worker import LateError, ProgramWorker, ReplaceableWorker, WorkerDiedError
from grpo_env.workers.pipe_messages import MARK

ECHO = """
import os, signal, sys, time
from grpo_env.workers.child_process import limit_processor_time, read_requests

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
    with closing(ReplaceableWorker(int)) as worker:
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
    worker = ReplaceableWorker(work)
    with pytest.raises(WorkerDiedError, match=how):
        worker(argument)
    assert not worker.alive


def test_a_function_worker_can_be_killed_from_outside():
    worker = ReplaceableWorker(time.sleep)
    worker.start()
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
        ReplaceableWorker(partial(print, threading.Lock())).start()


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
    with pytest.raises(RunError, match=r"did not start \(exit code 1\); to see why, run .* -m no_such_program"):
        program.ask({}, 30)


def write_to_all(text: bytes) -> str:
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, text)
        except OSError:
            continue
    return "done"


def close_all(_: object) -> str:
    os.closerange(3, 256)
    return "done"


def fork_and_exit(_: object) -> None:
    """Leave a process that holds this one's end of the pipe."""
    if os.fork():
        os._exit(3)
    time.sleep(60)


@pytest.mark.parametrize(
    ("work", "argument", "reason"),
    [
        (write_to_all, b"garbage\n" * 100, "was ended: something else than its answer was written to its pipe"),
        (write_to_all, b"g", "was ended: something else than its answer"),
        (write_to_all, MARK + (2**40).to_bytes(8, "big"), "was ended: its answer would have"),
        (close_all, None, "died"),
        (fork_and_exit, None, "died"),
    ],
)
def test_work_that_writes_to_its_own_pipe_or_closes_it_ends_only_its_process(work, argument, reason):
    worker = ReplaceableWorker(work)
    with closing(worker):
        with pytest.raises(WorkerDiedError, match=reason):
            worker(argument)
        assert not worker.alive
        with pytest.raises(WorkerDiedError, match=reason):  # by a new process
            worker(argument)
        assert worker.starts == 2


def test_a_program_that_writes_to_its_own_pipe_is_replaced(tmp_path):
    write = '    if "write" in request:\n        os.write(int(sys.argv[-1]), b"garbage\\n" * 100)\n'
    writes = ECHO.replace('    if "exit"', f'{write}    if "exit"')
    (tmp_path / "writing_program.py").write_text(writes)
    with closing(ProgramWorker("writing_program", environment={"PYTHONPATH": str(tmp_path)})) as program:
        first = program.ask({}, 30)["pid"]
        with pytest.raises(WorkerDiedError, match="something else than its answer"):
            program.ask({"write": 1}, 30)
        assert program.ask({}, 30)["pid"] != first
