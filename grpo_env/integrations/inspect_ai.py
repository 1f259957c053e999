"""A task in Inspect: its examples as samples, its verdict as a scorer. Checked against inspect-ai 0.3.285.

``task_file`` is an Inspect task as it stands (``inspect eval grpo_env/task_file -T file=sums.yaml``), ``samples`` and
``verdict`` are for tasks of one's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai import Task as InspectTask
from inspect_ai import task as inspect_task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from grpo_env.core import Completion, Example, Message, Score
from grpo_env.errors import UsageError, nearest
from grpo_env.files.reader import SURROGATE
from grpo_env.formats.packed_example import COLUMN, Unpacker, pack
from grpo_env.taskfile.schema import Split, VerifierSpec
from grpo_env.taskfile.task import Task, load_task

from .scoring import completion, refuse_groups, refuse_schedules, verdicts

_MESSAGES: dict[str, Any] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_REASONS = {"no_answer": "invalid_response_format", "error": "scoring_failed", "bad_gold": "scoring_failed"}


@inspect_task
def task_file(file: str, split: Split = "eval", limit: int | None = None, part: str | None = None) -> InspectTask:
    """A task of ours, by name or YAML file, with the first ``limit`` examples of a split. Raises ``UsageError``."""
    loaded = load_task(file)
    return InspectTask(samples(loaded, split, limit), solver=generate(), scorer=verdict(file, part))


def samples(task: Task, split: Split = "eval", limit: int | None = None) -> MemoryDataset:
    """The examples of a split as Inspect's samples, each with its row packed into its metadata."""
    return MemoryDataset([_sample(task, example) for example in task.examples(split, limit)], name=task.name)


def _sample(task: Task, example: Example) -> Sample:
    prompt = example.prompt
    given: str | list[ChatMessage] = prompt if isinstance(prompt, str) else _chat(prompt)
    return Sample(given, target=example.answer or "", id=example.id, metadata={COLUMN: pack(example)})


def _chat(prompt: Sequence[Message]) -> list[ChatMessage]:
    return [_MESSAGES[role](content=content) for role, content in prompt]


@scorer(metrics=[accuracy(), stderr()])
def verdict(file: str, part: str | None = None) -> Scorer:
    """The verdict on a sample of ``samples``: the value of a part, or of ``total``; default: the task's metric.

    The score's metadata holds ``status``, the value of every part (``null`` where it is unscored) and ``steps``, the
    step scores with their characters. What is unscored is ``Score.unscored()``, which Inspect's metrics leave out.
    A scorer sees one epoch at a time. Raises ``UsageError`` for a task whose verifiers compare completions or change
    over training, and for an unknown part.
    """
    loaded = load_task(file)
    refuse_groups(loaded, "Inspect")
    refuse_schedules(loaded, "Inspect")
    names = ["total", *_names(loaded.spec.verifiers)]
    if part is not None and part not in names:
        raise UsageError(f"part: no verifier is called {part!r}; {nearest(part, names)}")
    unpack = Unpacker(loaded)

    async def score(state: TaskState, target: Target) -> InspectScore:
        where = f"sample {state.sample_id}"
        packed = state.metadata.get(COLUMN)
        if packed is None:
            raise UsageError(f"{where}: no metadata {COLUMN!r}; take the samples from grpo_env's own data set")
        pair = unpack(packed, where), _said(loaded, state)
        (found,) = await asyncio.to_thread(verdicts, loaded, [pair])
        return _score(found, part or loaded.metric)

    return score


def _names(verifiers: Mapping[str, VerifierSpec]) -> Iterator[str]:
    for name, spec in verifiers.items():
        yield name
        yield from _names(spec.of or {})


def _said(task: Task, state: TaskState) -> Completion:
    """The last output. Reasoning that the provider split off is put back in front."""
    choice = state.output.choices[0] if state.output.choices else None
    if choice is None:
        return completion(task, "")
    content = choice.message.content
    reasoning = (
        "" if isinstance(content, str) else "".join(each.reasoning for each in content if each.type == "reasoning")
    )
    message = {"role": "assistant", "content": choice.message.text, "reasoning_content": reasoning or None}
    finish = {"stop": "stop", "max_tokens": "length"}.get(choice.stop_reason)
    said = completion(task, [message], finish=finish)
    usage = state.output.usage
    return said if usage is None else replace(said, num_tokens=usage.output_tokens)


def _score(total: Score, part: str) -> InspectScore:
    found = total.part(part)
    about: dict[str, Any] = {
        "answer": _valid(found.answer),
        "explanation": _valid(found.explanation),
        "reason": _REASONS.get(found.status),
        "metadata": {
            "status": found.status,
            "steps": [[step.start, step.end, step.value] for step in total.steps],
            **{each.name: each.value for each in total.walk()},
        },
    }
    return InspectScore.unscored(**about) if found.value is None else InspectScore(value=found.value, **about)


def _valid(text: str | None) -> str | None:
    """Logs are UTF-8, which has no lone surrogates."""
    return None if text is None else SURROGATE.sub("\ufffd", text)
