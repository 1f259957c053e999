"""The score row, one for each completion: its keys (docs/scoring.md), and its columns in Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grpo_env.core import Completion, Example, Score
from grpo_env.rows.formats.file_format import PROMPT_RECORDED
from grpo_env.taskfile.schema import VerifierSpec
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

    Without ``text`` it has no prompt and text. ``file`` names the input if there are several.
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
    if score.answer is not None:
        part["answer"] = score.answer
    if score.gold is not None:
        part["gold"] = score.gold
    if score.kind is not None:
        part["kind"] = score.kind
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


JSON_COLUMNS = ("turns", "environment", "tools")
"""Columns of an episode, whose arguments and states have no common type; they are JSON in Parquet."""


def arrow_schema(tasks: Sequence[Task], *, text_prompts: bool = False) -> Any:
    """The Arrow schema of the score rows of tasks. ``parts`` has a column for each part of any of them."""
    import pyarrow as pa

    step = pa.struct(
        [("start", pa.int64()), ("end", pa.int64()), ("value", pa.float64()), ("explanation", pa.string())]
    )

    def part(specs: Sequence[VerifierSpec]) -> Any:
        columns = [(name, pa.float64()) for name in ("value", "weight", "process")]
        columns += [(name, pa.string()) for name in ("status", "answer", "gold", "kind", "explanation", "rule")]
        columns += [("steps", pa.list_(step))]
        nested = [spec.of for spec in specs if spec.of]
        return pa.struct(columns + ([("parts", parts(nested))] if nested else []))

    def parts(several: Sequence[Mapping[str, VerifierSpec]]) -> Any:
        names = dict.fromkeys(name for specs in several for name in specs)
        return pa.struct([(name, part([specs[name] for specs in several if name in specs])) for name in names])

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    return pa.schema(
        [
            ("id", pa.string()),
            ("line", pa.int64()),
            ("completion", pa.int64()),
            ("group", pa.string()),
            ("file", pa.string()),
            ("task", pa.string()),
            ("metric", pa.string()),
            ("prompt", pa.string() if text_prompts else pa.list_(message)),
            (PROMPT_RECORDED, pa.bool_()),
            ("text", pa.string()),
            ("reasoning_content", pa.string()),
            ("finish_reason", pa.string()),
            ("num_tokens", pa.int64()),
            ("total", pa.float64()),
            ("status", pa.string()),
            ("explanation", pa.string()),
            ("rule", pa.string()),
            ("parts", parts([task.spec.verifiers for task in tasks])),
            ("steps", pa.list_(step)),
            ("seconds", pa.float64()),
            ("turns", pa.string()),
            ("environment", pa.string()),
            ("tools", pa.string()),
            ("label", pa.bool_()),
            ("advantage", pa.float64()),
            ("step_advantages", pa.list_(pa.float64())),
        ]
    )
