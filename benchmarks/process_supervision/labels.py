"""A process reward model from rollouts of a starting model, and the labels with which runs train it further."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar

from rich.console import Console

from grpo_env.core import Case, Completion, Example, Format, Score, StepScore, Verifier
from grpo_env.registry import verifier
from grpo_env.scoring import OutputFile
from grpo_env.taskfile.task import Task
from grpo_env.trainer.commands.generate import Request as Samples
from grpo_env.trainer.commands.generate import generate
from grpo_env.trainer.commands.label_steps import Request as Labels
from grpo_env.trainer.commands.label_steps import label_steps
from grpo_env.trainer.commands.reward_model import Request, train_reward_model
from grpo_env.trainer.reward_models.fit import FitSettings
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.segments import spans
from grpo_env.verifiers.steps import MAX_STEPS, reasoning

SAMPLES, ROLLOUTS = 4, 2  # completions of each training problem, and continuations from the end of each of their steps
COST = "cost.json"


@verifier("own_verdict")
@dataclass(frozen=True)
class OwnVerdict(Verifier):
    """The accuracy of the completion, which is also the score of each line of its reasoning.

    A completion is one sample of what follows its own prefixes, so this is a label by a single rollout, which costs
    nothing and needs no rule for steps.
    """

    format: Format = field(default_factory=Format)

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>\n1+1=3\n3-1=2\n</think>\n<answer>2</answer>", 1.0, "each of two lines scores 1", "2"),
        Case("<think>\n1+1=2\n</think>\n<answer>3</answer>", 0.0, "a correct line scores 0", "2"),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        score = Accuracy(format=self.format)(example, completion)
        if score.value is None:
            return score
        text, start, end, offset = reasoning(self.format, completion)
        lines = islice(spans(text, start, end, "line"), MAX_STEPS)
        steps = tuple(StepScore(max(first - offset, 0), last - offset, score.value) for first, last in lines)
        return Score(score.value, score.status, explanation="the verdict of the completion", steps=steps)


def reward_model(task: Task, model: str, out: Path, max_new_tokens: int) -> Path:
    """The folder ``out`` with a process reward model, made first if it is not there.

    ``model`` solves the training problems and goes on from the end of each step; the reward model starts from it, too.
    ``COST`` in the folder says what that took: ``tokens`` of completions and continuations, and processor ``seconds``.
    """
    if (out / COST).exists():
        return out
    tried, labels = out.with_name(f"{out.name}.tried.jsonl"), out.with_name(f"{out.name}.steps.jsonl")
    began, console, settings = time.process_time(), Console(stderr=True), {"engine.device": "cpu"}
    settings["sampling.max_new_tokens"] = max_new_tokens
    to = partial(OutputFile, restart=True, overwrite=True)
    generate(task, to(tried), Samples("train", SAMPLES), model=model, console=console, **settings)
    summary = label_steps(task, tried, to(labels), Labels(ROLLOUTS), model=model, console=console, **settings)
    fit = FitSettings(learning_rate=5e-4)
    train_reward_model(task, labels, out, Request(process=True, model=model), fit, console=console)
    rows = [json.loads(line) for line in tried.read_text(encoding="utf-8").splitlines()]
    sampled = sum(sum(row["num_tokens"]) for row in rows)
    cost = {"tokens": sampled + summary.counts["tokens"], "seconds": time.process_time() - began}
    (out / COST).write_text(json.dumps(cost) + "\n", encoding="utf-8")
    return out
