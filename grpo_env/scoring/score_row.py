"""The score row, one for each completion, and its keys (docs/scoring.md)."""

from __future__ import annotations

from typing import Any

from grpo_env.core import Completion, Example, Score
from grpo_env.rows.formats.file_format import PROMPT_RECORDED
from grpo_env.taskfile.task import Task

from .group_advantages import Advantage
from .scorer import RowResult


def prompt_read(example: Example, completion: Completion) -> str | list[dict[str, Any]]:
    """A prompt as the model read it, a chat as JSON can represent it."""
    if isinstance(example.prompt, str):
        return example.prompt
    record = completion.environment
    return [message._asdict() for message in (record.add_once_to(example.prompt) if record else example.prompt)]


def score_row(
    task: Task,
    result: RowResult,
    index: int,
    *,
    text: bool = True,
    file: str | None = None,
    advantage: Advantage | None = None,
) -> dict[str, Any]:
    """The score row of a row's ``index``-th completion, without keys that would be null, but for ``total``.

    Without ``text`` it has no prompt and text. ``file`` names the input if there are several. Steps that say no more
    than the total are left out, unless an ``advantage`` has one of them.
    """
    score, source, completion = result.scores[index], result.row, result.row.completions[index]
    row: dict[str, Any] = {
        "id": source.id,
        "line": source.line,
        "completion": source.first + index,
        "group": result.group,
        "task": task.name,
        "metric": task.metric,
    }
    if file is not None:
        row |= {"file": file, "group": f"{file}:{result.group}"}
    if text:
        if prompt := prompt_read(source.example, completion):
            row["prompt"] = prompt
            if source.prompt_recorded is not None:
                row[PROMPT_RECORDED] = source.prompt_recorded
        row["text"] = completion.text
        if source.reasonings[index] is not None:
            row["reasoning_content"] = source.reasonings[index]
        if source.tools:
            row["tools"] = list(source.tools)
    if completion.finish != "unknown":
        row["finish_reason"] = completion.finish
    if completion.num_tokens is not None:
        row["num_tokens"] = completion.num_tokens
    if completion.turns:
        row["turns"] = [_without_nulls(turn.to_dict()) for turn in completion.turns]
    if completion.environment is not None:
        row["environment"] = _without_nulls(completion.environment._asdict())
    row |= score_fields(score)
    whole_text = (0, len(completion.text), score.value)
    if advantage is None and [(step.start, step.end, step.value) for step in score.steps] == [whole_text]:
        del row["steps"]
    if source.labels[index] is not None:
        row["label"] = source.labels[index]
    if advantage is not None and advantage.outcome is not None:
        row |= {"advantage": advantage.outcome, "step_advantages": advantage.steps}
    return row


def score_fields(score: Score) -> dict[str, Any]:
    """The total of a completion as a score row has it, with its parts and steps."""
    row: dict[str, Any] = {"total": score.value, "status": score.status}
    _say(score, row)
    row["parts"] = {part.name: part_fields(part) for part in score.parts}
    row["seconds"] = round(score.seconds, 6)
    return row


def part_fields(score: Score) -> dict[str, Any]:
    """A part as a score row has it, with its nested parts. ``results.part_scores`` knows what is left out."""
    part: dict[str, Any] = {}
    if score.value is not None:
        part["value"] = score.value
    if score.weight or part:  # a part that a row leaves out has neither
        part["weight"] = score.weight
    if score.process != score.weight:
        part["process"] = score.process
    if score.status != "scored":
        part["status"] = score.status
    _say(score, part)
    part |= _without_nulls({"answer": score.answer, "gold": score.gold, "kind": score.kind})
    if score.parts:
        part["parts"] = {inner.name: part_fields(inner) for inner in score.parts}
    return part


def _say(score: Score, row: dict[str, Any]) -> None:
    """Add what a score says besides its value, as far as there is any."""
    if score.explanation:
        row["explanation"] = score.explanation
    if score.rule:
        row["rule"] = score.rule
    if score.steps:
        row["steps"] = [vars(step) for step in score.steps]


def _without_nulls(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}
