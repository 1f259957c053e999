"""TRL's side of a benchmark: its ``GRPOTrainer`` on one of our tasks, configured like our trainer."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
from datasets import Dataset
from sides import Callbacks, Ids, Rewards, Work, load
from transformers import TrainerCallback
from transformers.utils import logging
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import utils as trainer_utils

from grpo_env.core import Completion, Group, score_groups
from grpo_env.trainer.config.groups import BETA1
from grpo_env.trainer.engine.policy import load_model
from grpo_env.trainer.extensions.prompt_sampler import take
from grpo_env.trainer.optimizer import learning_rate

OnRewards = Callable[[Ids, Rewards], None]  # completion ids and rewards of one step's rows


def train(work: Work, callbacks: Callbacks) -> None:
    """Train as ``work`` says."""
    task, config = load(work)
    prompts: list[Ids] = []
    generate = GRPOTrainer._generate

    def generate_and_keep_prompts(self: Any, *args: Any) -> Any:
        generated = generate(self, *args)
        prompts.append(generated[0])
        return generated

    def on_rewards(completion_ids: Ids, rewards: Rewards) -> None:
        callbacks.on_samples(prompts.pop(), completion_ids, rewards)

    GRPOTrainer._generate = generate_and_keep_prompts
    score_completions_only()
    callbacks.stopwatch.wrap(GRPOTrainer, "_generate", "sample")
    callbacks.stopwatch.wrap(GRPOTrainer, "_calculate_rewards", "score")
    callbacks.stopwatch.wrap(GRPOTrainer, "compute_loss", "forward")
    callbacks.stopwatch.wrap(torch.autograd, "backward", "backward")
    callbacks.stopwatch.wrap(torch.optim.AdamW, "step", "optimizer")
    with tempfile.TemporaryDirectory() as folder:
        trl_trainer(task, config, folder, on_rewards, StepCallback(callbacks), work.trl).train()


def score_completions_only() -> None:
    """Make TRL's head compute log-probabilities of completions only, as it does with CUDA, on every device.

    Elsewhere it also computes those of prompts, and throws them away. For SmolLM2 and prompts of 164 tokens, a step
    took 1.5 times as long. ``add_fused_lm_head`` is the only function of its module that reads this.
    """
    trainer_utils._use_triton = lambda device: True


def trl_trainer(
    task: Any, config: Any, folder: str, on_rewards: OnRewards, callback: TrainerCallback, overrides: dict[str, Any]
) -> GRPOTrainer:
    """A ``GRPOTrainer`` for one of our tasks and configs; ``overrides`` are arguments of ``GRPOConfig``."""
    logging.set_verbosity_error()
    train_examples = task.examples("train")
    examples = [
        example
        for step in range(config.steps)
        for example in take(train_examples, config.prompts_per_step, step * config.prompts_per_step, config.seed)
    ]
    model, tokenizer = load_model(config.model)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=config.optimizer.learning_rate,
        betas=(BETA1, config.optimizer.beta2),
        weight_decay=config.optimizer.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate(config.optimizer, step, config.steps) / config.optimizer.learning_rate
    )
    rows = config.prompts_per_step * config.group_size
    micro_batch_rows = min(rows, overrides["per_device_train_batch_size"])
    arguments = {
        "output_dir": folder,
        "max_steps": config.steps,
        "seed": config.seed,
        "shuffle_dataset": False,  # the examples are already in our order
        "gradient_accumulation_steps": rows
        // micro_batch_rows,  # also steps_per_generation: all rows are sampled at once
        "num_generations": config.group_size,
        "max_completion_length": config.sampling.max_new_tokens,
        "temperature": config.sampling.temperature,
        "num_iterations": config.optimizer.updates_per_step,
        "loss_type": {"token": "dapo", "sequence": "grpo", "constant": "dr_grpo"}[config.loss.aggregation],
        "scale_rewards": config.advantage.scale,
        "epsilon": config.loss.clip_low,
        "epsilon_high": config.loss.clip_high,
        "beta": config.kl.coef,
        "max_grad_norm": config.optimizer.max_grad_norm,
        "bf16": config.engine.precision == "bf16",
        # On by default in TRL: needs less memory, but slows a step down.
        "gradient_checkpointing": config.engine.gradient_checkpointing,
        "use_cpu": config.engine.device == "cpu",
        "report_to": "none",
        "logging_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
        **overrides,
        "per_device_train_batch_size": micro_batch_rows,
    }
    return GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward_function(task, examples, config.group_size, on_rewards),
        train_dataset=Dataset.from_list(
            [{"prompt": _conversation(example, task), "index": index} for index, example in enumerate(examples)]
        ),
        args=GRPOConfig(**arguments),
        optimizers=(optimizer, schedule),
        callbacks=[callback],
    )


def reward_function(
    task: Any, examples: Sequence[Any], group_size: int, on_rewards: OnRewards
) -> Callable[..., list[float | None]]:
    """One of our tasks as a reward function for TRL. The data set's column ``index`` is the number of the example.

    An unscored completion is ``None``, which TRL leaves out of the baseline. TRL does not pass on how a completion
    ended.
    """

    def reward(completions: Any, completion_ids: Ids, index: Sequence[int], **_: Any) -> list[float | None]:
        texts = [text if isinstance(text, str) else text[0]["content"] for text in completions]
        rows = [
            Completion(text, num_tokens=len(ids), token_ids=tuple(ids))
            for text, ids in zip(texts, completion_ids, strict=True)
        ]
        groups = [
            Group(examples[index[start]], rows[start : start + group_size]) for start in range(0, len(rows), group_size)
        ]
        rewards = [score.value for scores in score_groups(task.verifier, groups) for score in scores]
        on_rewards(completion_ids, rewards)
        return rewards

    return reward


class StepCallback(TrainerCallback):
    """Calls ``Callbacks`` at TRL's steps."""

    def __init__(self, callbacks: Callbacks) -> None:
        self.callbacks = callbacks

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            self.callbacks.on_begin()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        control.should_training_stop |= self.callbacks.on_step(model)


def _conversation(example: Any, task: Any) -> Any:
    if task.format.prefill:
        raise SystemExit(f"the task {task.name} has a prefill, which TRL's prompts do not support")
    if isinstance(example.prompt, str):
        return example.prompt
    return [message._asdict() for message in example.prompt]
