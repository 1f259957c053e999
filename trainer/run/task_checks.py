"""What a run asks of its settings, tasks and model before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

from grpo_env.core import Example
from grpo_env.errors import UsageError, install, nearest
from grpo_env.taskfile.composition import check_composition
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.prompt import prompt_lengths, prompt_text, unused_template_kwargs
from grpo_env.taskfile.schema import AnySplit
from grpo_env.taskfile.task import Task

from ..config import SamplingConfig, TrainConfig
from ..engine.policy import Policy
from ..episodes.conversation import check_conversation

MARK = "marked"  # in a text that a chat template writes


def check_config(mixture: Mixture, config: TrainConfig) -> None:
    """Raises ``UsageError`` for what can be refused before a model is loaded."""
    tracker = config.tracker
    if tracker is not None and find_spec(tracker) is None:
        raise UsageError(f"tracker={tracker} needs a package that is not installed: {install(tracker)}")
    for task in mixture.tasks:
        check_composition(task, config.supervision, estimated=bool(config.step_values.rollouts))
    if len(mixture.tasks) > 1 and config.reward_model.every:
        raise UsageError("reward_model: one part of one reward is trained; train on one task")
    _ = config.loss.own_function, config.advantage.own_function  # loaded now, so that a wrong name is seen at once


def check_task(policy: Policy, task: Task, config: TrainConfig) -> None:
    """Raises ``UsageError`` if a task does not fit the config or the model."""
    if config.reward_model.every and policy.accelerator.num_processes > 1:
        raise UsageError("reward_model.every: reward models are trained in one process; leave it out here")
    parts = {part.name: part for part in getattr(task.verifier, "parts", ())}
    part = config.dynamic_sampling.part
    if part is not None and part not in parts:
        raise UsageError(
            f"dynamic_sampling.part={part}: no such part of the reward of {task.name}; {nearest(part, parts)}"
        )
    if config.step_values.rollouts:
        check_continuable(task, "step_values.rollouts")
    task.check_usable()
    check_tags(policy, task)
    check_conversation(policy, task)


def template_warnings(policy: Policy, tasks: Sequence[Task], examples: Sequence[Example]) -> Iterator[str]:
    """Lines about the model's chat template, by the first example of each task: what it writes that the task's format
    does not know, where it ends completions, and which variables of the task it does not use.
    """
    lines = [prefill_warning(policy, task, example) for task, example in zip(tasks, examples, strict=True)]
    lines += dict.fromkeys(end_warning(policy, example) for example in examples)
    yield from filter(None, lines)
    for task in tasks:
        if names := unused_template_kwargs(policy.tokenizer, task.spec.prompt.chat_template_kwargs):
            yield (
                f"{task.name}: prompt.chat_template_kwargs has no effect: the chat template of {policy.name} does not "
                f"use {', '.join(names)}"
            )


def check_tags(policy: Policy, task: Task) -> None:
    """Raises ``UsageError`` if tags of a task's format are special tokens of the model's tokenizer.

    Special tokens are no part of a completion's text, so no format could be right
    (https://github.com/huggingface/trl/issues/2897).
    """
    form, added = task.format, policy.tokenizer.added_tokens_decoder.values()
    names = [name for name in (form.reasoning, form.answer) if name]
    special = {token.content for token in added if token.special} | set(policy.tokenizer.all_special_tokens)
    if lost := [tag for name in names for tag in (f"<{name}>", f"</{name}>") if tag in special]:
        raise UsageError(
            f"{task.source}: format: {', '.join(lost)} are special tokens of {policy.name}, which its texts leave out, "
            'so strict_format would be 0 for all completions; set "special": false for them in tokenizer.json and '
            "tokenizer_config.json, or choose other tags (format.reasoning, format.answer)"
        )


def prefill_warning(policy: Policy, task: Task, example: Example) -> str | None:
    """A line about a prompt that opens the reasoning block, as templates like DeepSeek-R1's do, if the task does not
    know of it: no completion could then have the form.
    """
    form = task.format
    tag = f"<{form.reasoning}>"
    if form.reasoning is None or form.prefill:
        return None
    if not prompt_text(policy.tokenizer, example, form).rstrip().endswith(tag):
        return None
    return (
        f"{task.name}: the prompts of {policy.name} end in {tag}, so completions begin inside of the reasoning block, "
        f'and strict_format is 0 for all of them; set format.prefill: "{tag}\\n"'
    )


def end_warning(policy: Policy, example: Example) -> str | None:
    """A line about a model whose completions do not end where its chat template ends a message of the assistant.

    They would go on with messages of their own, up to ``sampling.max_new_tokens``.
    """
    if not policy.end_ids:
        return (
            f"{policy.name} has no end token (eos_token_id in generation_config.json, or eos_token of the tokenizer), "
            "so all completions are cut off at sampling.max_new_tokens"
        )
    tokenizer = policy.tokenizer
    if isinstance(example.prompt, str) or tokenizer.chat_template is None:
        return None
    messages = [*(message._asdict() for message in example.prompt), {"role": "assistant", "content": MARK}]
    try:
        text = str(tokenizer.apply_chat_template(messages, tokenize=False, **example.chat_template_kwargs))
    except Exception:  # a template is a program, and may know no such message
        return None
    _, found, rest = text.rpartition(MARK)
    ids = tokenizer(rest.lstrip(), add_special_tokens=False)["input_ids"] if found else []
    if not ids or ids[0] in policy.end_ids or ids[0] not in tokenizer.get_added_vocab().values():
        return None
    end, *ends = tokenizer.convert_ids_to_tokens([ids[0], *policy.end_ids])
    return (
        f"the chat template of {policy.name} ends a message of the assistant with {end}, which does not end a "
        f"completion: only {', '.join(ends)} does. If it should, add its id, {ids[0]}, to eos_token_id in the model's "
        "generation_config.json"
    )


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
    lengths = prompt_lengths(policy.tokenizer, examples, task.format)
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


def check_continuable(task: Task, what: str) -> None:
    """Raises ``UsageError``, beginning with ``what``, unless completions can be continued from a step, and scored."""
    if task.spec.environment is not None:
        raise UsageError(
            f"{what}: {task.source} has an environment, and episodes are not continued from a turn; score turns by "
            "verifiers with on: each"
        )
    if task.scores_groups:
        raise UsageError(
            f"{what}: a verifier of the task {task.name} compares the completions of a group, so a continuation of a "
            "step cannot be scored by itself"
        )
