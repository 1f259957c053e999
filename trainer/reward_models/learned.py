"""The learned part of a reward: which one it is, the rule that it learns from, how its model is replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.composition import may_have_steps
from grpo_env.taskfile.task import Task

from ..config import RewardModelConfig

if TYPE_CHECKING:
    from grpo_env.verifiers.compose import WeightedSum
    from grpo_env.verifiers.models import ModelVerifier


class LearnedPart(NamedTuple):
    """The names of the part with a model and of its rule, and the verifier with a model: that of the task."""

    name: str
    rule: str
    verifier: ModelVerifier


def learned_part(task: Task, settings: RewardModelConfig) -> LearnedPart | None:
    """The learned part of a task that these settings ask for, ``None`` if they ask for none.

    Raises ``UsageError`` unless the parts can be told and the rule says what the model learns.
    """
    if not settings.every:
        return None
    parts = {part.name: part.verifier for part in getattr(task.verifier, "parts", ())}
    models = {name: part for name, part in parts.items() if hasattr(part, "trainable")}
    if len(models) != 1:
        found = ", ".join(models) if models else "none at its top level"
        raise UsageError(
            f"reward_model: the task {task.name} has {len(models)} learned parts ({found}), and one can be trained"
        )
    name = next(iter(models))
    verifier, rule = cast("ModelVerifier", models[name]), settings.rule or task.metric
    if rule not in (others := parts.keys() - {name}):
        raise UsageError(
            f"reward_model.rule={rule}: no part of the reward of {task.name} beside the learned one, {name}; "
            f"{nearest(rule, others)}"
        )
    if verifier.head == "causal":
        raise UsageError(f"reward_model: {name} is a language model (good_token), and only classifiers can be trained")
    if verifier.head == "token" and not may_have_steps(parts[rule]):
        raise UsageError(
            f"reward_model.rule={rule}: {name} scores steps, and {rule} has no step scores to learn from; name "
            "a part that has, such as equation_steps"
        )
    return LearnedPart(name, rule, verifier)


def with_model(task: Task, name: str, model: Path) -> Task:
    """The task with another model in the part called ``name``; the task itself if that is its model already."""
    reward = cast("WeightedSum", task.verifier)
    (index,) = (index for index, part in enumerate(reward.parts) if part.name == name)
    parts, verifier = list(reward.parts), cast("ModelVerifier", reward.parts[index].verifier)
    if verifier.model == str(model):
        return task
    parts[index] = replace(parts[index], verifier=replace(verifier, model=str(model)))
    return replace(task, verifier=replace(reward, parts=tuple(parts)))
