"""Our trainer and TRL's on the same work: same weights, prompts, reward, sampling, optimizer and schedule.

Both are run as users call them, ``grpo_env.train`` and ``GRPOTrainer.train``. A benchmark passes ``Callbacks``, which
are called for every batch of samples and every step; their stopwatch wraps functions of the trainers.
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
    """What both sides do. ``settings`` are those of ``TrainConfig``, dotted, and take precedence over the task's.

    ``overrides`` change the task (see ``load_task``). ``ours`` and ``trl`` are settings of one side only, such as the
    size of a micro-batch (TRL's ``per_device_train_batch_size`` is required). ``clock`` is a key of ``CLOCKS``.
    """

    task: str
    overrides: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    trl: dict[str, Any] = field(default_factory=dict)
    clock: str = "wall"


class Stopwatch:
    """Seconds by name. Nested timed calls count once: the inner call's time is subtracted from the outer one's.

    ``seconds`` are those of the main thread, ``background_seconds`` those of all other threads.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self.background_seconds: dict[str, float] = defaultdict(float)
        self._thread = threading.local()

    def clear(self) -> None:
        """Reset all times to 0."""
        self.seconds.clear()
        self.background_seconds.clear()

    def wrap(self, owner: Any, attribute: str, name: str) -> None:
        """Time every call of ``owner.attribute`` from now on, as ``name``."""
        function = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            outer_nested, self._thread.nested = getattr(self._thread, "nested", 0.0), 0.0
            start = self.clock()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = self.clock() - start
                is_main = threading.current_thread() is threading.main_thread()
                seconds = self.seconds if is_main else self.background_seconds
                seconds[name] += elapsed - self._thread.nested
                self._thread.nested = outer_nested + elapsed

        setattr(owner, attribute, timed)


class Callbacks:
    """Called during training. ``stopwatch`` times the parts of a step."""

    def __init__(self, clock: str) -> None:
        self.clock = CLOCKS[clock]
        self.stopwatch = Stopwatch(self.clock)

    def on_begin(self) -> None:
        """Everything is loaded, and the first step begins."""

    def on_samples(self, prompts: Ids, completions: Ids, rewards: Rewards) -> None:
        """Token ids and rewards of the rows of a step; the rows of a group are adjacent."""

    def on_step(self, model: Any) -> bool:
        """A step is complete, including the optimizer update. Returns whether to stop."""
        return False


class StopTraining(BaseException):
    """Stops our trainer from a callback. Not an ``Exception``, after which the trainer would save its state."""


def now() -> float:
    """Wall-clock seconds; in the main thread, once the GPU has finished its queue.

    Other threads score, without the GPU. If they waited for it while the main thread records a CUDA graph, both would
    fail, whatever the mode of the recording.
    """
    import torch

    if torch.cuda.is_available() and threading.current_thread() is threading.main_thread():
        torch.cuda.synchronize()
    return time.perf_counter()


CLOCKS = {"wall": now, "cpu": time.process_time}


def pin_to_one_core(device: str) -> None:
    """Bind this process to one core and one thread, unless it uses a GPU."""
    import torch

    if torch.cuda.is_available() and device != "cpu":
        return
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run_script(script: str, python: str, *arguments: str) -> Any:
    """Run a benchmark script in a new process; returns the last line that it prints, which is JSON."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "TOKENIZERS_PARALLELISM": "false"}
    process = subprocess.run([python, script, *arguments], env=environment, capture_output=True, text=True)
    if process.returncode:
        reason = process.stderr.strip().split("\n")[-1]
        raise SystemExit(f"{process.stderr}\n{Path(script).name} {arguments[0]} failed: {reason}")
    return json.loads(process.stdout.splitlines()[-1])


def setting(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE. The value is JSON, or else a string."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def load(work: Work) -> tuple[Any, Any]:
    """The task and the config that both sides use."""
    from grpo_env.taskfile.task import load_task
    from grpo_env.trainer.config import TrainConfig

    task = load_task(work.task, work.overrides)
    return task, TrainConfig.from_mapping(work.settings, defaults=task.defaults)


def ours(work: Work, callbacks: Callbacks) -> None:
    """``grpo_env.train``, without evaluations, checkpoints or the final model."""
    import torch

    from grpo_env.trainer import loop
    from grpo_env.trainer.extensions import dynamic_sampling
    from grpo_env.trainer.run.recorder import Recorder
    from grpo_env.workers import scoring_process

    task, _ = load(work)
    sample_rollouts = dynamic_sampling.sample_rollouts
    record_step = Recorder.step
    has_begun = False

    def sample_with_callback(*args: Any, **kwargs: Any) -> Any:
        nonlocal has_begun
        if not has_begun:
            callbacks.on_begin()
            has_begun = True
        scored = sample_rollouts(*args, **kwargs)
        prompts, completions = ([getattr(row.rollout, name) for row in scored] for name in ("prompt_ids", "ids"))
        callbacks.on_samples(prompts, completions, [row.score.value for row in scored])
        return scored

    def record_with_callback(recorder: Recorder, step: int, *args: Any) -> None:
        record_step(recorder, step, *args)
        run = recorder.run
        if callbacks.on_step(run.policy.model) or step + 1 == run.config.steps:
            raise StopTraining

    dynamic_sampling.sample_rollouts = sample_with_callback  # type: ignore[assignment]
    Recorder.step = record_with_callback  # type: ignore[method-assign]
    callbacks.stopwatch.wrap(dynamic_sampling, "sample_rollouts", "sample")
    callbacks.stopwatch.wrap(scoring_process, "score_in_process", "score")
    callbacks.stopwatch.wrap(loop, "update", "forward")
    callbacks.stopwatch.wrap(torch.autograd, "backward", "backward")
    callbacks.stopwatch.wrap(torch.optim.AdamW, "step", "optimizer")
    no_files = {"eval.every": 0, "eval.examples": 1, "eval.samples": 0, "checkpoint.every": 0}
    with tempfile.TemporaryDirectory() as folder, suppress(StopTraining):
        loop.train(task, run_dir=Path(folder) / "run", **{**work.settings, **no_files, **work.ours})


def trl(work: Work, callbacks: Callbacks) -> None:
    """TRL's ``GRPOTrainer``, configured to do the same."""
    import peer

    peer.train(work, callbacks)


SIDES = {"ours": ours, "trl": trl}
