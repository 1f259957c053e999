"""Our trainer and TRL's on the same work: same weights, prompts, reward, sampling, optimiser and schedule.

A benchmark gives a ``Listener`` that hears of every sample and every step. Both sides are the trainers as users call
them, ``grpo_env.train`` and ``GRPOTrainer.train``; the stopwatch is put around functions of theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Ids = Sequence[Sequence[int]]
Rewards = Sequence[float | None]


@dataclass(frozen=True)
class Work:
    """What both sides do. ``settings`` are fields of ``TrainConfig`` on top of the task's own.

    ``overrides`` change the task (see ``load_task``); ``ours`` and ``trl`` are settings for one side alone, such as
    how many rows go through the model at once (TRL's ``per_device_train_batch_size`` must be given). ``clock``: one of
    ``CLOCKS``.
    """

    task: str
    overrides: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    trl: dict[str, Any] = field(default_factory=dict)
    clock: str = "wall"


class Stopwatch:
    """Seconds by name; what is timed inside something else that is timed counts only once, for the inner one.

    ``seconds`` are the main thread's, ``beside`` those of all others.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.beside: dict[str, float] = defaultdict(float)
        self._own = threading.local()

    def clear(self) -> None:
        """Start at 0 again."""
        self.seconds.clear()
        self.beside.clear()

    def put_on(self, owner: Any, attribute: str, name: str) -> None:
        """Time every call of ``owner.attribute`` from now on."""
        function = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            outer, self._own.inside = getattr(self._own, "inside", 0.0), 0.0
            start = self.clock()
            try:
                return function(*args, **kwargs)
            finally:
                whole = self.clock() - start
                here = self.seconds if threading.current_thread() is threading.main_thread() else self.beside
                here[name] += whole - self._own.inside
                self._own.inside = outer + whole

        setattr(owner, attribute, timed)


class Listener:
    """What a benchmark hears of a training. ``watch`` is started on the parts of a step that a side tells apart."""

    def __init__(self, clock: str) -> None:
        self.clock = CLOCKS[clock]
        self.watch = Stopwatch(self.clock)

    def begin(self) -> None:
        """Everything is loaded; the first step starts."""

    def samples(self, prompts: Ids, completions: Ids, rewards: Rewards) -> None:
        """Token ids and rewards of one step's rows, a group's rows adjacent."""

    def step(self, model: Any) -> bool:
        """A step is over, its optimizer update included. Returns whether to stop."""
        return False


class EnoughError(Exception):
    """Ends our training from within."""


def now() -> float:
    """Wall-clock seconds, with the accelerator's queue empty."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


CLOCKS = {"wall": now, "cpu": time.process_time}


def one_core(device: str) -> None:
    """Bind this process to one core and one thread, unless it is there for a GPU."""
    import torch

    if torch.cuda.is_available() and device != "cpu":
        return
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def inner(script: str, python: str, *arguments: str) -> Any:
    """What a new process of a benchmark prints last, as JSON."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run([python, script, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stderr}\n{Path(script).name} {arguments[0]}: failed")
    return json.loads(done.stdout.splitlines()[-1])


def load(work: Work) -> tuple[Any, Any]:
    """The task and the config of both sides."""
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.config import TrainConfig

    task = load_task(work.task, work.overrides)
    return task, TrainConfig.from_mapping(work.settings, defaults=task.defaults)


def ours(work: Work, listener: Listener) -> None:
    """``grpo_env.train``, without evaluations and checkpoints."""
    import torch

    from grpo_env.trainer import loop
    from grpo_env.trainer.engine.bf16_adamw import StochasticRoundingAdamW
    from grpo_env.trainer.run.run import Run

    task, _ = load(work)
    sample_rollouts, score_rollouts, record = loop.sample_rollouts, loop.score_rollouts, loop.record_step
    begun = False

    def heard_sampling(*args: Any, **kwargs: Any) -> Any:
        nonlocal begun
        if not begun:
            listener.begin()
            begun = True
        return sample_rollouts(*args, **kwargs)

    def heard_scores(*args: Any) -> Any:
        scored = score_rollouts(*args)
        prompts, completions = ([getattr(row.rollout, name) for row in scored] for name in ("prompt_ids", "ids"))
        listener.samples(prompts, completions, [row.score.value for row in scored])
        return scored

    def heard_record(run: Run, *args: Any, **kwargs: Any) -> None:
        record(run, *args, **kwargs)
        if listener.step(run.policy.model):
            raise EnoughError

    loop.sample_rollouts, loop.score_rollouts = heard_sampling, heard_scores  # type: ignore[assignment]
    loop.record_step = heard_record
    listener.watch.put_on(loop, "sample_rollouts", "sample")
    listener.watch.put_on(loop, "score_rollouts", "sample")
    listener.watch.put_on(type(task.verifier), "score_groups", "score")
    listener.watch.put_on(loop, "update", "forward")
    listener.watch.put_on(torch.autograd, "backward", "backward")
    for optimizer in (torch.optim.AdamW, StochasticRoundingAdamW):
        listener.watch.put_on(optimizer, "step", "optimiser")
    alone = {"eval.every": 0, "eval.examples": 1, "eval.samples": 0, "checkpoint.every": 0}
    with tempfile.TemporaryDirectory() as folder, suppress(EnoughError):
        loop.train(task, run_dir=Path(folder) / "run", **{**work.settings, **alone, **work.ours})


def trl(work: Work, listener: Listener) -> None:
    """TRL's ``GRPOTrainer``, set to do what our config says."""
    import peer

    peer.train(work, listener)


SIDES = {"ours": ours, "trl": trl}
