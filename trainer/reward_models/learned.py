"""The learned part of a reward: which one it is, how well it agrees with a rule, how its model is replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, cast

from grpo_env.core import Score
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.composition import may_have_steps
from grpo_env.taskfile.task import Task

from ..config import RewardModelConfig
from .figures import pair_accuracy
from .labels import of_steps

if TYPE_CHECKING:
    from grpo_env.verifiers.compose import WeightedSum
    from grpo_env.verifiers.models import ModelVerifier

    from ..shared_types import ScoredRollout


class LearnedPart(NamedTuple):
    """The names of the part with a model and of its rule, the verifier with its model now, and the task's own model."""

    name: str
    rule: str
    verifier: ModelVerifier
    own: str

    @property
    def process(self) -> bool:
        """Whether the model scores steps."""
        return self.verifier.head == "token"

    @property
    def cut(self) -> float:
        """The value of a probability of one half."""
        return 0.0 if getattr(self.verifier, "activation", "sigmoid") == "none" else 0.5


def learned_part(task: Task, settings: RewardModelConfig) -> LearnedPart | None:
    """The learned part of a task that these settings ask for, ``None`` if they ask for none.

    Raises ``UsageError`` unless the parts can be told and the rule says what the model learns.
    """
    if not settings.is_used:
        return None
    parts = {part.name: part.verifier for part in getattr(task.verifier, "parts", ())}
    models = {name: part for name, part in parts.items() if hasattr(part, "trainable")}
    if len(models) != 1:
        found = ", ".join(models) if models else "none at its top level"
        raise UsageError(
            f"reward_model: the task {task.name} has {len(models)} learned parts ({found}), and one can be watched"
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
            f"reward_model.rule={rule}: {name} scores steps, and {rule} has no step scores to compare them with; name "
            "a part that has, such as equation_steps"
        )
    return LearnedPart(name, rule, verifier, verifier.model)


def model_of(task: Task, name: str) -> str:
    """The model of the part called ``name``."""
    parts = {part.name: part.verifier for part in cast("WeightedSum", task.verifier).parts}
    return cast("ModelVerifier", parts[name]).model


def with_model(task: Task, name: str, model: Path) -> Task:
    """The task with another model in the part called ``name``."""
    reward = cast("WeightedSum", task.verifier)
    parts = [
        replace(part, verifier=replace(cast("ModelVerifier", part.verifier), model=str(model)))
        if part.name == name
        else part
        for part in reward.parts
    ]
    return replace(task, verifier=replace(reward, parts=tuple(parts)))


def agreement(rollouts: Sequence[ScoredRollout], learned: LearnedPart, group_size: int) -> dict[str, float | None]:
    """How a step's completions are judged by the learned part and by its rule; ``None`` where there is nothing.

    ``learned`` and ``rule`` are the means of both over the steps (or completions) that both have a value for,
    ``agreement`` the fraction of these on the same side, and ``pairs`` the fraction of each group's pairs of a correct
    and a wrong completion that the learned part has in this order, half for equal values.
    """
    compared: list[tuple[float, float]] = []
    groups = defaultdict[str, tuple[list[float], list[float]]](lambda: ([], []))
    for number, rollout in enumerate(rollouts):
        ours, rule = _part(rollout.score, learned.name), _part(rollout.score, learned.rule)
        if ours is None or ours.value is None:
            continue
        if rollout.correct is not None:
            groups[str(number // group_size)][rollout.correct >= 1].append(ours.value)
        if rule is not None and rule.value is not None:
            compared += _compared(ours, rule) if learned.process else [(ours.value, rule.value)]
    pairs = pair_accuracy(groups)
    sides = [(value >= learned.cut) == (label >= 0.5) for value, label in compared]
    return {
        "reward_model/learned": fmean(value for value, _ in compared) if compared else None,
        "reward_model/rule": fmean(label for _, label in compared) if compared else None,
        "reward_model/agreement": fmean(sides) if compared else None,
        "reward_model/pairs": None if pairs is None else pairs.value,
    }


def _compared(ours: Score, rule: Score) -> Iterator[tuple[float, float]]:
    labels = of_steps(rule.steps, [(step.start, step.end) for step in ours.steps])
    return ((step.value, label) for step, label in zip(ours.steps, labels, strict=True) if label is not None)


def _part(score: Score, name: str) -> Score | None:
    return next((part for part in score.parts if part.name == name), None)
