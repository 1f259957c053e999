"""TRL's side of a benchmark: its ``GRPOTrainer``, set to do what a config of ours says, on a task of ours."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
from datasets import Dataset
from sides import Ids, Listener, Rewards, Work, load
from transformers import TrainerCallback
from transformers.utils import logging
from trl import GRPOConfig, GRPOTrainer

from grpo_env.core import Completion, Group, score_groups
from grpo_env.trainer.engine.policy import load_model
from grpo_env.trainer.optimizer import learning_rate
from grpo_env.trainer.prompts import take

Heard = Callable[[Ids, Rewards], None]


def train(work: Work, listener: Listener) -> None:
    """Train as ``work`` says; the listener hears of every sample and step."""
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
        trl_trainer(task, config, folder, heard_rewards, Listening(listener), work.trl).train()


def trl_trainer(
    task: Any, config: Any, folder: str, heard: Heard, listening: TrainerCallback, more: dict[str, Any]
) -> GRPOTrainer:
    """A ``GRPOTrainer`` for a task and a config of ours; ``more`` wins over what follows from them."""
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
        lr=config.optimizer.learning_rate,
        betas=(config.optimizer.beta1, config.optimizer.beta2),
        weight_decay=config.optimizer.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate(config.optimizer, step, config.steps) / config.optimizer.learning_rate
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
        # On by default in TRL: less memory, a slower step.
        "gradient_checkpointing": config.engine.gradient_checkpointing,
        "use_cpu": config.engine.device == "cpu",
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

    def reward(completions: Any, completion_ids: Ids, place: Sequence[int], **_: Any) -> list[float | None]:
        texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
        made = [
            Completion(text, num_tokens=len(ids), token_ids=tuple(ids))
            for text, ids in zip(texts, completion_ids, strict=True)
        ]
        groups = [Group(examples[place[at]], made[at : at + group_size]) for at in range(0, len(made), group_size)]
        rewards = [score.value for scores in score_groups(task.verifier, groups) for score in scores]
        heard(completion_ids, rewards)
        return rewards

    return reward


class Listening(TrainerCallback):
    """Tells a listener of TRL's steps."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            self.listener.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        control.should_training_stop |= self.listener.step(model)


def _conversation(example: Any, task: Any) -> Any:
    if task.format.prefill:
        raise SystemExit(f"the task {task.name} has a prefill, which TRL's prompts cannot have")
    if isinstance(example.prompt, str):
        return example.prompt
    return [message._asdict() for message in example.prompt]
