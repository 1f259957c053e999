"""Scored rollouts as rows of ``score``: in ``samples/`` of a run, for every step, and in the file of ``eval --out``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

from torch import Tensor

from grpo_env.rows.formats.packed_example import COLUMN, pack
from grpo_env.rows.writer import new_rows, parquet_writer
from grpo_env.scoring import RowResult, score_row
from grpo_env.scoring.row_reader import InputRow
from grpo_env.scoring.scores_to_parquet import arrow_schema, parquet_row
from grpo_env.taskfile.task import Task

from ..shared_types import ScoredRollout
from ..step_tokens import Decode, sampled_ends
from .folder import SAMPLES, RunFiles, fsync, write_errors


class SampleFiles:
    """The folder ``samples/`` of a run, with a file of score rows for each step.

    A row also has ``step``; the sampled tokens in ``token_ids``, and in ``token_ends`` how many characters of ``text``
    are complete after each of them; its ``advantage``, or ``token_advantages`` (one for each sampled token) if they
    differ; and its example with all columns of the data.
    """

    def __init__(self, run: RunFiles, tasks: Sequence[Task], group_size: int, decode: Decode) -> None:
        self._folder, self._group_size = run.path / SAMPLES, group_size
        self._tasks = {task.name: task for task in tasks}
        # One type for all steps, also of a mixture in which only some tasks have prompts that are text.
        self._text_prompts = any(task.spec.prompt.text is not None for task in tasks)
        self._decode = _remembering(decode)

    def write(self, step: int, rollouts: Sequence[ScoredRollout], advantages: Tensor) -> None:
        """Write the groups of a step. ``advantages`` (at most as many rows, T) are those of the first rollouts.

        Those without a row were not trained on. Raises ``RunError`` if the file cannot be written.
        """
        final = self._folder / f"step-{step:06d}.parquet"
        draft = final.with_name(f".{final.name}.tmp")
        with write_errors(final):
            self._folder.mkdir(exist_ok=True)
            # In files as small as these, dictionaries and statistics are most of the time and a fifth of the size.
            options = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}
            with parquet_writer(draft, self._schema(), **options) as write:
                for row in self._rows(step, rollouts, advantages):
                    write(row)
            fsync(draft)
            draft.replace(final)

    def _schema(self) -> Any:
        import pyarrow as pa

        columns = [("step", pa.int64()), ("token_advantages", pa.list_(pa.float32()))]
        columns += [("token_ids", pa.list_(pa.int32())), ("token_ends", pa.list_(pa.int32()))]
        own = pa.schema([*columns, (COLUMN, pa.string())])
        schema = arrow_schema(list(self._tasks.values()), text_prompts=self._text_prompts)
        return pa.unify_schemas([schema, own])

    def _rows(self, step: int, rollouts: Sequence[ScoredRollout], advantages: Tensor) -> Iterator[dict[str, Any]]:
        rows = score_rows(self._tasks, rollouts, self._group_size)
        for number, (scored, row) in enumerate(zip(rollouts, rows, strict=True)):
            row |= {"step": step, COLUMN: pack(scored.example), "group": f"{step}/{row['line']}"}
            row = parquet_row(row, self._text_prompts)
            row["token_ids"] = list(compress(scored.rollout.ids, scored.rollout.sampled))
            row["token_ends"] = sampled_ends(self._decode, scored.rollout)
            if number < len(advantages):
                by_token = list(compress(advantages[number].tolist(), scored.rollout.sampled))
                row |= {"advantage": by_token[0]} if len(set(by_token)) == 1 else {"token_advantages": by_token}
            yield row


def write_scores(
    out: Path,
    task: Task,
    rollouts: Sequence[ScoredRollout],
    samples: int,
    *,
    overwrite: bool = False,
    report: Callable[[str], None],
) -> None:
    """Write the scores of ``samples`` adjacent rollouts of each example. Raises as ``new_rows`` does.

    A score that JSON cannot represent, of a user's verifier, is left out, and ``report`` is called with a line about
    it.
    """
    with new_rows(out, overwrite=overwrite) as write:
        for row in score_rows({task.name: task}, rollouts, samples):
            try:
                write(row)
            except (TypeError, ValueError) as error:
                report(
                    f"{out}: example {row['id']}, completion {row['completion']} is left out: its score cannot be "
                    f"written as JSON ({error})"
                )


def score_rows(
    tasks: Mapping[str, Task], rollouts: Sequence[ScoredRollout], group_size: int
) -> Iterator[dict[str, Any]]:
    """The score row of each rollout. A group is ``group_size`` adjacent rollouts; its line is its number, from 1."""
    for line, start in enumerate(range(0, len(rollouts), group_size), start=1):
        group = rollouts[start : start + group_size]
        task, example = tasks[group[0].task], group[0].example
        completions = tuple(scored.rollout.completion(task.format.prefill) for scored in group)
        nothing = (None,) * len(group)
        tools = example.chat_template_kwargs.get("tools") if any(seen.turns for seen in completions) else None
        row = InputRow(
            line, example.id, None, example, completions, nothing, nothing, tools=tools, prompt_recorded=True
        )
        result = RowResult(row, tuple(scored.score for scored in group))
        for index in range(len(group)):
            yield score_row(task, result, index)


def _remembering(decode: Decode) -> Decode:
    """``decode``, which decodes each single token once."""
    piece = cache(lambda token: decode([token]))
    return lambda ids: piece(ids[0]) if len(ids) == 1 else decode(ids)
