"""Prompts are measured before anything is sampled: one that is too long would end a run at the step that meets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task

from ..config import SamplingConfig
from ..engine.policy import Policy


def fitting_examples(
    policy: Policy,
    task: Task,
    split: AnySplit,
    examples: Sequence[Example],
    config: SamplingConfig,
    report: Callable[[str], None],
) -> list[Example]:
    """The examples whose prompts are not too long; ``report`` is called with a line about the others, if there are any.

    Too long is more than ``max_prompt_tokens``, or more than the positions of the model or the engine less
    ``max_new_tokens``. Raises ``UsageError``, with their number, under ``overlong_prompts: error`` or if no prompt is
    short enough.
    """
    limit, reason = _limit(policy, config)
    if limit is None:
        return list(examples)
    if limit < 1:
        raise UsageError(f"{policy.name} has no position left for a prompt ({reason}); lower sampling.max_new_tokens")
    lengths = policy.prompt_lengths(examples, task.format)
    overlong = {index: length for index, length in enumerate(lengths) if length > limit}
    if not overlong:
        return list(examples)
    fitting = [example for index, example in enumerate(examples) if index not in overlong]
    count = f"{len(overlong)} of {len(examples)}" if fitting else "all"
    longest = max(overlong, key=overlong.__getitem__)
    problem = (
        f"{task.source}: {count} prompts of the {split} split have more than {limit} tokens ({reason}); "
        f"the longest has {overlong[longest]}, example {examples[longest].id}"
    )
    if not fitting:
        raise UsageError(f"{problem}. Lower sampling.max_new_tokens, or shorten the prompt")
    if config.overlong_prompts == "error":
        raise UsageError(f"{problem}. Leave them out with sampling.overlong_prompts=drop, or shorten the prompt")
    report(f"{problem}: left out")
    return fitting


def _limit(policy: Policy, config: SamplingConfig) -> tuple[int | None, str]:
    """The longest prompt in tokens, ``None`` for any, and the reason."""
    positions, whose = policy.position_limit
    if positions is not None:
        left = positions - config.max_new_tokens
        if config.max_prompt_tokens is None or left < config.max_prompt_tokens:
            return left, f"{whose}, less sampling.max_new_tokens={config.max_new_tokens}"
    return config.max_prompt_tokens, "sampling.max_prompt_tokens"
