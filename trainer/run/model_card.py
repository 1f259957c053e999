"""The ``README.md`` of a trained model: what it is, what it was trained on and how, and its evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from grpo_env.taskfile.dataset import is_local
from grpo_env.taskfile.task import Task

from ..config import FIELDS, TrainConfig, flatten
from ..engine.bundled import MODELS
from .folder import CURVES

# Settings of a machine or of this run, which say nothing about the model.
LEFT_OUT = {"model", "push", "tracker", "sampling.url", "engine.device"}
FIGURES = {
    "accuracy": "accuracy, greedy",
    "sampled_accuracy": "accuracy, sampled",
    "reward": "reward, greedy",
    "length": "length in tokens, greedy",
    "truncated": "truncated, greedy",
}


def model_card(
    tasks: Sequence[Task], config: TrainConfig, rows: Sequence[Mapping[str, Any]], *, is_adapter: bool
) -> str:
    """The card as Markdown, with metadata for the Hub.

    Paths of this machine are cut down to their last part.

    Args:
        tasks: what the model was trained on.
        config: the settings of the run.
        rows: those of ``metrics.jsonl``.
        is_adapter: whether the model is an adapter, without the weights of its base model.
    """
    evaluations = [row for row in rows if row["kind"] == "eval"]
    names = ", ".join(task.name for task in tasks)
    kind = "A LoRA adapter" if is_adapter else "A causal language model"
    return "\n".join(
        [
            f"---\n{yaml.safe_dump(_metadata(tasks, config, is_adapter), sort_keys=False)}---",
            f"\n# {names}, from {_base_model(config)}\n",
            f"{kind}, trained with reinforcement learning on verifiable rewards (GRPO and its relatives) by grpo_env.",
            f"It started from {_base_model(config)}, and learned for {config.steps} steps of "
            f"{config.prompts_per_step} prompts with {config.group_size} completions each.",
            "\n## Data\n",
            *(_task_line(task) for task in tasks),
            "\n## Evaluation\n",
            *_evaluation(evaluations, config),
            f"\n![Rewards, held-out accuracy and completion length while training]({CURVES})",
            "\n## Settings\n",
            *_settings(config),
            "",
        ]
    )


def _metadata(tasks: Sequence[Task], config: TrainConfig, is_adapter: bool) -> dict[str, Any]:
    """The front matter: https://huggingface.co/docs/hub/model-cards."""
    datasets = [path for task in tasks if (path := task.spec.dataset.path) and not is_local(path, task.folder)]
    return {
        **({"base_model": config.model} if _is_hub_id(config.model) else {}),
        **({"datasets": datasets} if datasets else {}),
        "library_name": "peft" if is_adapter else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["grpo", "grpo_env", "reinforcement-learning"],
    }


def _is_hub_id(model: str) -> bool:
    return model not in MODELS and not Path(model).is_absolute() and not Path(model).is_dir()


def _base_model(config: TrainConfig) -> str:
    if config.model in MODELS:
        return "the bundled model of grpo_env" + (" for tools" if config.model != "bundled" else "")
    return config.model if _is_hub_id(config.model) else Path(config.model).name


def _task_line(task: Task) -> str:
    dataset = task.spec.dataset
    source = dataset.generator or dataset.path or ""
    if dataset.path and is_local(dataset.path, task.folder):
        source = Path(dataset.path).name
    description = f": {' '.join(task.spec.description.split())}" if task.spec.description else ""
    rewards = ", ".join(task.spec.verifiers)
    return f"- **{task.name}**{description} (data: `{source}`; metric: `{task.metric}`; parts of the reward: {rewards})"


def _evaluation(evaluations: Sequence[Mapping[str, Any]], config: TrainConfig) -> Iterator[str]:
    if not evaluations:
        yield "None."
        return
    before, after = evaluations[0], evaluations[-1]
    yield (
        f"Means over at most {config.eval.examples} held-out problems of each task, at temperature 0 or, sampled, "
        f"{config.sampling.temperature:g}. Brackets: 95 % interval.\n"
    )
    yield f"| | after {before['step']} steps | after {after['step']} steps |\n|---|---|---|"
    for name, label in FIGURES.items():
        if name in before:
            yield f"| {label} | {_figure(before, name)} | {_figure(after, name)} |"


def _figure(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return "unknown"
    if name == "length":
        return f"{value:.1f}"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return f"{value:.3f}" + (f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else "")


def _settings(config: TrainConfig) -> Iterator[str]:
    values = flatten(config.model_dump())
    changed = {name: value for name, value in values.items() if name not in LEFT_OUT and value != FIELDS[name].default}
    if not changed:
        yield "The defaults of grpo_env."
        return
    yield "What differs from the defaults of grpo_env:\n"
    yield "| setting | value |\n|---|---|"
    for name, value in changed.items():
        text = value.rpartition("/")[2] if isinstance(value, str) else value
        yield f"| `{name}` | `{text}` |"
