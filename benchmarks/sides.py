"""Our trainer and TRL's on the same work: same weights, prompts, reward, sampling, optimiser and schedule.

A benchmark gives a ``Listener`` that hears of every sample and every step. Both sides are the trainers as users call
them, ``grpo_env.train`` and ``GRPOTrainer.train``; the stopwatch is put around functions of theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Ids = Sequence[Sequence[int]]
Rewards = Sequence[float | None]
Heard = Callable[[Ids, Rewards], None]


@dataclass(frozen=True)
class Work:
    """What both sides do. ``settings`` are fields of ``TrainConfig`` on top of the task's own.

    ``overrides`` change the task (see ``load_task``); ``ours`` and ``trl`` are settings for one side alone, such as
    how many rows go through the model at once (TRL's ``per_device_train_batch_size`` must be given).
    """

    task: str
    overrides: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    trl: dict[str, Any] = field(default_factory=dict)


class Stopwatch:
    """Seconds by name; what is timed inside something else that is timed counts only once, for the inner one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def put_on(self, owner: Any, attribute: str, name: str) -> None:
        """Time every call of ``owner.attribute`` from now on."""
        function = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            start = now()
            try:
                return function(*args, **kwargs)
            finally:
                whole = now() - start
                self.seconds[name] += whole - self._inner.pop()
                self._inner[-1] += whole

        setattr(owner, attribute, timed)


class Listener:
    """What a benchmark hears of a training. ``watch`` is started on the parts of a step that a side tells apart."""

    def __init__(self) -> None:
        self.watch = Stopwatch()

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
    from grpo_env.task import load_task
    from grpo_env.trainer.config import TrainConfig, expand

    task = load_task(work.task, work.overrides)
    return task, TrainConfig.from_mapping({**expand(task.defaults), **expand(work.settings)})


def ours(work: Work, listener: Listener) -> None:
    """``grpo_env.train``, without evaluations and checkpoints."""
    import torch

    from grpo_env.trainer import loop
    from grpo_env.trainer.run import Run

    task, _ = load(work)
    roll_out, record = loop.roll_out, Run.record
    begun = False

    def heard_roll_out(*args: Any, **kwargs: Any) -> Any:
        nonlocal begun
        if not begun:
            listener.begin()
            begun = True
        judged = roll_out(*args, **kwargs)
        rows = [one.rollout for one in judged]
        rewards = [one.score.value for one in judged]
        listener.samples([row.prompt_ids for row in rows], [row.ids for row in rows], rewards)
        return judged

    def heard_record(run: Run, *args: Any, **kwargs: Any) -> None:
        record(run, *args, **kwargs)
        if listener.step(run.policy.model):
            raise EnoughError

    loop.roll_out, Run.record = heard_roll_out, heard_record  # type: ignore[method-assign]
    listener.watch.put_on(loop, "roll_out", "sample")
    listener.watch.put_on(type(task.verifier), "judge_groups", "score")
    listener.watch.put_on(loop, "update", "forward")
    listener.watch.put_on(torch.autograd, "backward", "backward")
    listener.watch.put_on(torch.optim.AdamW, "step", "optimiser")
    alone = {"eval_every": 0, "eval_examples": 1, "eval_samples": 0, "save_every": 0}
    with tempfile.TemporaryDirectory() as folder, suppress(EnoughError):
        loop.train(task, run_dir=Path(folder) / "run", **{**work.settings, **alone, **work.ours})


def trl(work: Work, listener: Listener) -> None:
    """TRL's ``GRPOTrainer``, set to do what our config says."""
    import torch
    from trl import GRPOTrainer

    task, config = load(work)
    prompts: list[Ids] = []
    generate = GRPOTrainer._generate

    def heard_generate(self: Any, *args: Any) -> Any:
        done = generate(self, *args)
        prompts.append(done[0])
        return done

    def heard_rewards(completion_ids: Ids, rewards: Rewards) -> None:
        listener.samples(prompts.pop(), completion_ids, rewards)

    GRPOTrainer._generate = heard_generate
    listener.watch.put_on(GRPOTrainer, "_generate", "sample")
    listener.watch.put_on(GRPOTrainer, "_calculate_rewards", "score")
    listener.watch.put_on(GRPOTrainer, "compute_loss", "forward")
    listener.watch.put_on(torch.autograd, "backward", "backward")
    listener.watch.put_on(torch.optim.AdamW, "step", "optimiser")
    with tempfile.TemporaryDirectory() as folder:
        trl_trainer(task, config, folder, heard_rewards, callback(listener), work.trl).train()


def trl_trainer(
    task: Any,
    config: Any,
    folder: str,
    heard: Heard,
    listening: Any,
    more: dict,
) -> Any:
    """A ``GRPOTrainer`` for a task and a config of ours; ``more`` wins over what follows from them."""
    import torch
    from datasets import Dataset
    from transformers.utils import logging
    from trl import GRPOConfig, GRPOTrainer

    from grpo_env.trainer.policy import load_model
    from grpo_env.trainer.rollout import take
    from grpo_env.trainer.update import learning_rate

    logging.set_verbosity_error()
    train_examples = task.examples("train")
    examples = [
        example
        for step in range(config.steps)
        for example in take(train_examples, config.prompts_per_step, step, config.seed)
    ]
    model, tokenizer = load_model(config.model)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=config.learning_rate,
        betas=(config.adam_beta1, config.adam_beta2),
        weight_decay=config.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate(config, step) / config.learning_rate
    )
    rows = config.prompts_per_step * config.group_size
    at_once = min(rows, more["per_device_train_batch_size"])
    arguments = {
        "output_dir": folder,
        "max_steps": config.steps,
        "seed": config.seed,
        "shuffle_dataset": False,  # the examples come in our order
        "gradient_accumulation_steps": rows // at_once,  # steps_per_generation follows: all rows sampled in one go
        "num_generations": config.group_size,
        "max_completion_length": config.max_new_tokens,
        "temperature": config.temperature,
        "num_iterations": config.updates_per_step,
        "loss_type": {"token": "dapo", "sequence": "grpo", "constant": "dr_grpo"}[config.aggregate],
        "scale_rewards": config.scale,
        "epsilon": config.clip_low,
        "epsilon_high": config.clip_high,
        "beta": config.kl_coef,
        "max_grad_norm": config.max_grad_norm,
        "bf16": config.precision == "bf16",
        "gradient_checkpointing": config.gradient_checkpointing,  # on by default in TRL: less memory, a slower step
        "use_cpu": config.device == "cpu",
        "report_to": "none",
        "logging_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
        **more,
        "per_device_train_batch_size": at_once,
    }
    return GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward_function(task, examples, config.group_size, heard),
        train_dataset=Dataset.from_list(
            [{"prompt": _conversation(example, task), "place": place} for place, example in enumerate(examples)]
        ),
        args=GRPOConfig(**arguments),
        optimizers=(optimizer, schedule),
        callbacks=[listening],
    )


def reward_function(
    task: Any, examples: Sequence[Any], group_size: int, heard: Heard
) -> Callable[..., list[float | None]]:
    """A task of ours as a reward function of TRL's; the data set's column ``place`` says which example a row is of.

    TRL takes None, our *unscored*, for no reward at all. It says nothing about the end of a completion.
    """
    from grpo_env.core import Completion, Group, judge_groups

    def reward(completions: Any, completion_ids: Ids, place: Sequence[int], **_: Any) -> list[float | None]:
        texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
        made = [
            Completion(text, num_tokens=len(ids), token_ids=tuple(ids))
            for text, ids in zip(texts, completion_ids, strict=True)
        ]
        groups = [Group(examples[place[at]], made[at : at + group_size]) for at in range(0, len(made), group_size)]
        rewards = [score.value for scores in judge_groups(task.verifier, groups) for score in scores]
        heard(completion_ids, rewards)
        return rewards

    return reward


def callback(listener: Listener) -> Any:
    """A callback of TRL's trainer that tells a listener of its steps."""
    from transformers import TrainerCallback

    class Listening(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == 0:
                listener.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
            control.should_training_stop |= listener.step(model)

    return Listening()


def _conversation(example: Any, task: Any) -> Any:
    if task.format.prefill:
        raise SystemExit(f"the task {task.name} has a prefill, which TRL's prompts cannot have")
    if isinstance(example.prompt, str):
        return example.prompt
    return [message._asdict() for message in example.prompt]


SIDES = {"ours": ours, "trl": trl}
