"""A run that is killed at any moment and resumed writes the same bytes as an undisturbed one.

A run is killed in a forked process, at a random event (call, return) of the Python interpreter inside a function, or
by the system at a random byte of a file. What goes on after it is killed too.
``GRPO_ENV_KILLS=20 pytest tests/trainer/run/test_resume.py`` kills at twenty moments.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow.parquet
import pytest
import torch

from grpo_env.errors import UsageError
from grpo_env.trainer.loop import resume, train

resource = pytest.importorskip("resource", reason="needs the limits of a POSIX system")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = int(os.environ.get("GRPO_ENV_KILLS", "3"))
RMTREE = getattr(shutil.rmtree, "__qualname__", "_RmtreeType.__call__")
# Where a kill falls: in a function, or in the middle of a file that it writes.
PLACES = (
    ("RunFolder.save", "checkpoints/step-000003/state.pt"),
    (RMTREE, None),
    ("RunFiles.record", "metrics.jsonl"),
    ("update", None),
    ("RunFolder.save", None),
    ("sample", None),
    ("BackgroundScorer.add", None),
    ("micro_batch_loss", None),
    ("Tensor.backward", None),
    ("SampleFiles.write", "samples/step-000001.parquet"),
    ("RunFiles.record", None),
    ("SampleFiles.write", None),
    ("RunFolder.save_model", "model/model.safetensors"),
    ("RunFolder.save_model", None),
    ("pack_batches", None),
    ("evaluate", None),
    ("RunFiles.create", None),
)
PLACES_RESUMING = ("RunFolder.load", "RunFiles.drop_from", "RunFolder.save", "update")
NAMES = frozenset(name for name, _ in PLACES) | frozenset(PLACES_RESUMING)
TIMES = re.compile(rb'"(seconds|tokens_per_second|\w+_seconds)": ?[^,}]+')


class Watch:
    """Counts the events inside each function, the innermost where they nest, and kills the process at a given one."""

    def __init__(self, place: str = "", event: int = -1, limit: int | None = None) -> None:
        self.seen: Counter[str] = Counter()
        self._last, self._limit = (place, event), limit
        self._inside: dict[int, list[str]] = defaultdict(list)  # by thread: scoring has its own

    def look(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        inside = self._inside[threading.get_ident()]
        known = event in ("call", "return") and (name := frame.f_code.co_qualname) in NAMES
        if known and event == "call":
            inside.append(name)
        if inside:
            place = inside[-1]
            self.seen[place] += 1
            if (place, self.seen[place]) == self._last:
                if self._limit is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_FSIZE, (self._limit, self._limit))
        if known and event == "return":
            inside.pop()


def in_a_child(work: Callable[[], object], watch: Watch) -> int:
    """Run in a forked process; returns the signal that ended it, or 0 if it ran to its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            watch.look()
            work()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the run failed by itself"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def counted(work: Callable[[], object]) -> Counter[str]:
    watch = Watch()
    watch.look()
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return watch.seen


@pytest.fixture(scope="module")
def undisturbed_run(make_task, tmp_path_factory: pytest.TempPathFactory):
    """A task, its undisturbed run, and the events inside each function."""
    task = make_task(
        prompts_per_step=2,
        group_size=2,
        sampling={"max_new_tokens": 4},
        eval={"every": 0, "examples": 1, "samples": 0},
        kl={"coef": 0.1, "reference_sync_every": 2},
        supervision="both",
    )
    run = tmp_path_factory.mktemp("whole") / "run"
    train(task, run_dir=run.with_name("warm"))
    events = counted(lambda: train(task, run_dir=run))
    assert set(events) | set(PLACES_RESUMING) >= NAMES, "a function has another name now"
    return task, run, events


def assert_same_runs(expected: Path, actual: Path) -> None:
    files = [{str(file.relative_to(run)): file for file in run.rglob("*")} for run in (expected, actual)]
    assert set(files[0]) == set(files[1])
    for name, file in files[0].items():
        if file.suffix == ".parquet":
            tables = [pyarrow.parquet.read_table(path).drop_columns("seconds") for path in (file, files[1][name])]
            assert tables[0] == tables[1], name
        elif file.is_file() and file.suffix != ".pt":
            assert TIMES.sub(b"", file.read_bytes()) == TIMES.sub(b"", files[1][name].read_bytes()), name
    states = [torch.load(run / "checkpoints/step-000003/state.pt", weights_only=True) for run in (expected, actual)]
    torch.testing.assert_close(*states, rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_killed_at_any_moment(undisturbed_run, tmp_path: Path, number: int) -> None:
    task, undisturbed, events = undisturbed_run
    draw = random.Random(number)
    place, file = PLACES[number % len(PLACES)]
    if file is None:
        killed, last = Watch(place, draw.randint(1, int(0.95 * events[place]))), signal.SIGKILL
    else:
        size = (undisturbed / file).stat().st_size
        killed, last = Watch(place, 1, limit=draw.randrange(1, size)), signal.SIGXFSZ
    run = tmp_path / "run"
    assert in_a_child(lambda: train(task, run_dir=run), killed) == last
    if not (run / "config.yaml").exists():
        with pytest.raises(UsageError, match="not a run folder"):
            resume(run)
        return
    again = Watch(draw.choice(PLACES_RESUMING), draw.randint(1, 400))
    if not (run / "model").exists() and in_a_child(lambda: resume(run), again) == signal.SIGKILL:
        resume(run)
    assert_same_runs(undisturbed, run)
