"""Whether a gold answer is rewarded more than a wrong one: what the metric tells apart, the reward must, too."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from grpo_env.core import BatchVerifier, Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task

from .gold_completion import Layout, gold_answer, gold_reasoning, gold_text, scored

NOT_AN_ANSWER = "None of these."
PAIRED = 8  # examples of which the rewards of a gold and of a wrong answer are compared


def gain_warning(task: Task) -> str | None:
    """A line if the reward of a task does not tell gold answers from wrong ones, as its metric does.

    Not an error before a run, since a reward may be meant to do without the answer. It scores a few training examples.
    Environments and rewards by a model or a server are left to ``check`` and to the run, as are rows that cannot be
    read or scored.
    """
    if task.spec.environment is not None or any(isinstance(part, BatchVerifier) for part in task.verifier.walk()):
        return None
    try:
        golds = [(example, gold_answer(task, example)) for example in task.examples("train", PAIRED)]
    except UsageError:  # said by the run, with the row
        return None
    problem = gain_problem(task, [(example, gold) for example, gold in golds if gold is not None])
    return problem and f"{task.source}: verifiers: {problem}; give {task.metric} or what rewards it a weight above 0"


def gain_problem(task: Task, golds: Sequence[tuple[Example, str]]) -> str | None:
    """What is wrong if gold answers are rewarded no more than a wrong one in the same format, also by their steps.

    ``None`` without examples, and if the metric does not tell them apart or a total is unscored.
    """
    template, pairs = Layout.of(task.format), []
    for example, gold in golds[:PAIRED]:
        wrong = template.text(gold_reasoning(task, example, gold), NOT_AN_ANSWER)
        pairs += [(example, template.completion(text)) for text in (gold_text(task, example, gold), wrong)]
    scores = scored(task, pairs)
    if not scores or any(score.value is None for score in scores):
        return None
    metric = [score.part(task.metric).value or 0.0 for score in scores]
    rewards = [(score.value or 0.0, fsum(step.value for step in score.steps)) for score in scores]
    compared = list(zip(rewards[::2], rewards[1::2], strict=True))
    if all(right <= wrong for right, wrong in zip(metric[::2], metric[1::2], strict=True)):
        return None
    if any(gold[0] > wrong[0] or gold[1] > wrong[1] for gold, wrong in compared):
        return None
    (right, _), (other, _) = compared[0]
    return f"a wrong answer in the task's format is rewarded with {other:g}, the gold answer with {right:g}"
