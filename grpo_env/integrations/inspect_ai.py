"""inspect-ai 0.3.285: a task's examples as samples and its verifiers as a scorer.

``task_file`` is a complete Inspect task (``inspect eval grpo_env/task_file -T file=sums.yaml``); ``samples`` and
``task_scorer`` are for Inspect tasks of your own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import task as inspect_task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from grpo_env.core import Completion, Example, Score
from grpo_env.errors import UsageError, nearest
from grpo_env.integrations.examples import Unpacker
from grpo_env.rows.formats.inspect_log import openai_message
from grpo_env.rows.formats.packed_example import COLUMN, pack
from grpo_env.rows.reader import replace_surrogates
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, entries, load_task

from .scoring import make_completion, refuse, score_pairs

_MESSAGES: dict[str, Any] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_REASONS = {"no_answer": "invalid_response_format", "error": "scoring_failed", "bad_gold": "scoring_failed"}


@inspect_task
def task_file(file: str, split: Split = "eval", limit: int | None = None, part: str | None = None) -> InspectTask:
    """A task, by name or YAML file, with the first ``limit`` examples of a split. Raises ``UsageError``."""
    loaded = load_task(file)
    return InspectTask(samples(loaded, split, limit), solver=generate(), scorer=task_scorer(file, part))


def samples(task: Task, split: Split = "eval", limit: int | None = None) -> MemoryDataset:
    """The examples of a split as Inspect samples, with their rows packed into the metadata.

    Raises ``UsageError`` for a task with an environment.
    """
    refuse(task, "Inspect", ("episodes",))
    return MemoryDataset([_sample(example) for example in task.examples(split, limit)], name=task.name)


def _sample(example: Example) -> Sample:
    input: str | list[ChatMessage] = (
        example.prompt
        if isinstance(example.prompt, str)
        else [_MESSAGES[role](content=content) for role, content in example.prompt]
    )
    return Sample(input, target=example.answer or "", id=example.id, metadata={COLUMN: pack(example)})


@scorer(metrics=[accuracy(), stderr()])
def task_scorer(file: str, part: str | None = None) -> Scorer:
    """Scores samples made by ``samples``. The value is that of ``part``, or of ``total``; default: the task's metric.

    The score's metadata has ``status``, the value of every part (``null`` if it is unscored) and ``steps``, the step
    scores as ``[start, end, value]``. Unscored completions are ``Score.unscored()``, which Inspect's metrics leave out.
    Raises ``UsageError`` for an unknown part, for a task with an environment, and for one that compares the completions
    of a group or whose weights follow a schedule, since a scorer sees one epoch at a time.
    """
    loaded = load_task(file)
    refuse(loaded, "Inspect")
    names = ["total", *(name for _, name, _ in entries(loaded.spec.verifiers))]
    if part is not None and part not in names:
        raise UsageError(f"part: no verifier is called {part!r}; {nearest(part, names)}")
    unpack = Unpacker(loaded)

    async def score(state: TaskState, target: Target) -> InspectScore:
        where = f"sample {state.sample_id}"
        packed = state.metadata.get(COLUMN)
        if packed is None:
            raise UsageError(f"{where}: no metadata {COLUMN!r}; make the data set with grpo_env's samples()")
        pair = unpack(packed, where), _completion(loaded, state)
        (total,) = await asyncio.to_thread(score_pairs, loaded, [pair])
        return _score(total, part or loaded.metric)

    return score


def _completion(task: Task, state: TaskState) -> Completion:
    """The last output. Reasoning that the provider split off is put back before it."""
    choice = state.output.choices[0] if state.output.choices else None
    if choice is None:
        return make_completion(task, "")
    message, usage = openai_message(choice.message.model_dump()), state.output.usage
    finish = {"stop": "stop", "max_tokens": "length"}.get(choice.stop_reason)
    return make_completion(task, [message], finish=finish, num_tokens=usage.output_tokens if usage else None)


def _score(total: Score, part: str) -> InspectScore:
    score = total.part(part)
    fields: dict[str, Any] = {
        "answer": _valid(score.answer),
        "explanation": _valid(score.explanation),
        "reason": _REASONS.get(score.status),
        "metadata": {
            "status": score.status,
            **({"kind": score.kind} if score.kind else {}),
            **({"rule": _valid(score.rule)} if score.rule else {}),
            "steps": [[step.start, step.end, step.value] for step in total.steps],
            **{part.name: part.value for part in total.walk()},
        },
    }
    return InspectScore.unscored(**fields) if score.value is None else InspectScore(value=score.value, **fields)


def _valid(text: str | None) -> str | None:
    """The text without lone surrogates, which Inspect's UTF-8 logs cannot contain."""
    return None if text is None else replace_surrogates(text)
