"""``grpo_env reward-model label-steps``: labels of steps by rollouts of a model from their ends.

Math-Shepherd (Wang et al. 2024, arXiv:2312.08935, section 3.3): the soft label of a step is the fraction of
continuations from its end that reach the correct answer; the hard label is 1 if any does.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from grpo_env.core import Completion, Example, Group, Score, StepScore
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.rows.jsonl import dump_record
from grpo_env.rows.reader import Line, Record, parse
from grpo_env.rows.writer import check_new
from grpo_env.scoring import RowResult, score_row
from grpo_env.scoring.columns import Fields
from grpo_env.scoring.input_file import InputFile, require_rows
from grpo_env.scoring.job import ChunkResult, Reject
from grpo_env.scoring.problems import Problems, warn
from grpo_env.scoring.resume import OutputFile, ResumableOutput, resumable
from grpo_env.scoring.row_reader import InputRow
from grpo_env.scoring.summary import ScoreSummary
from grpo_env.scoring.summary_table import print_skipped
from grpo_env.taskfile.task import Task

from ..background_scorer import metric_value, scores_of
from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sampling.sampler import Rollout
from ..extensions.step_values import continuations
from ..reward_models.labels import ROLLOUTS
from ..run.console import progress
from ..run.task_checks import check_continuable
from ..shared_types import Prompt, Start
from ..step_tokens import completion_ends
from .generate import RESERVED
from .sampling_policy import SETTINGS, sampling_config, sampling_identity, sampling_policy

if TYPE_CHECKING:
    from grpo_env.verifiers.steps import StepEnd

ROWS = 8  # of the file, whose completions are continued together, and then saved


class StepLabel(NamedTuple):
    """Characters ``[start, end)`` of a step, and which continuations from its end are correct, of those with a verdict.

    A step that ends the completion has its ``own``: its one continuation is empty.
    """

    start: int
    end: int
    verdicts: Sequence[bool]
    own: bool

    @property
    def soft(self) -> float | None:
        """The fraction that is correct; ``None`` if no continuation could be scored."""
        return sum(self.verdicts) / len(self.verdicts) if self.verdicts else None

    def __str__(self) -> str:
        if self.own:
            return "ends the completion, whose own verdict this is"
        return f"{sum(self.verdicts)} of {len(self.verdicts)} continuations are correct"


@dataclass(frozen=True)
class Request:
    """What to label: ``rollouts`` continuations from each step's end, in the first ``limit`` rows.

    ``segments`` says where steps end: ``line``, ``paragraph``, ``sentence`` or ``marker``.
    """

    rollouts: int = 8
    segments: str = "line"
    limit: int | None = None


def label_steps(
    task: Task,
    completions: Path,
    out: OutputFile,
    request: Request | None = None,
    *,
    model: str | None = None,
    console: Console,
    **settings: Any,
) -> ScoreSummary:
    """Label the steps of a file's completions into ``out``: JSONL, the rows of ``score`` with labels.

    A row also has the columns of its example, so that the task can score it again.

    An interrupted call leaves its work next to the file, and the same call continues it.

    Args:
        task: the task, whose metric says which continuations are correct.
        completions: a file that ``score`` reads without options, and that has the prompts.
        out: a ``.jsonl`` file.
        request: what to label.
        model: what continues: ``bundled``, a folder or a hub id; default: the task's own.
        console: gets messages and the progress.
        settings: as for ``generate``.

    Raises:
        UsageError: wrong settings, an unusable model, task or file.
        RunError: the engine cannot go on, or the file cannot be written.
    """
    check_continuable(task, "label-steps")
    if ROLLOUTS in task.spec.verifiers:
        raise UsageError(f"{task.source}: a verifier is called {ROLLOUTS!r}, as the labels are; rename it")
    check_new(out.path, overwrite=True)  # whether it may be overwritten is seen when it is opened
    request = request or Request()
    config = sampling_config(task, "label-steps", model, settings)
    file = InputFile(completions, task, Fields())
    require_rows([file])
    if not file.seekable:
        raise UsageError(f"{completions}: label-steps reads the file twice; save it first")
    if file.file_format.joins:
        command = f"grpo_env score {task.command_line_name} {completions} --out scores.jsonl"
        raise UsageError(f"{completions}: has no questions of its own; label what this writes: {command}")
    records = list(islice(file.rows(), request.limit))
    settled = {**sampling_identity(config, SETTINGS), "task": task.resolved(), **asdict(request)}
    output = ResumableOutput(out, {**settled, "file": file.identity()}, [completions, *task.data_files])
    with output, sampling_policy(config, console) as policy:
        before, start = Counter(output.summary.statuses.get("steps")), time.perf_counter()
        with resumable(output, counted(output.summary.completions, "completion"), "rows", console):
            labeler = Labeler(task, config, request, policy, file.name)
            _label_rest(labeler, file, records[output.chunks * ROWS :], output, console)
        rejects = output.finish()
    _print_summary(output.summary, before, time.perf_counter() - start, console)
    if not output.summary.completions:
        warn(console, f"nothing was labeled, so {out.path} is not written")
    if rejects is not None:
        warn(console, f"{rejects}: the rows that could not be labeled")
    return output.summary


def _label_rest(
    labeler: Labeler, file: InputFile, rest: Sequence[Line | Record], output: ResumableOutput, console: Console
) -> None:
    """Label what ``output`` does not have yet."""
    reader, problems = file.reader([], prompts=True), Problems([file], console)
    rows = [(reader.read(record), record) for record in rest]
    with progress("label-steps", sum(len(row.completions) for row, _ in rows if row), console) as advance:
        for place in range(0, len(rest), ROWS):
            some = [(row, record) for row, record in rows[place : place + ROWS] if row is not None]
            output.add(result := labeler(some))
            problems.add(result.rejects)
            advance(sum(len(row.completions) for row, _ in some))
    problems.end()


@dataclass(frozen=True)
class Labeler:
    """Labels the steps of the completions in ``file``: the policy continues them, as the config and the request say."""

    task: Task
    config: TrainConfig
    request: Request
    policy: Policy
    file: str

    def __call__(self, rows: Sequence[tuple[InputRow, Line | Record]]) -> ChunkResult:
        """The output of some rows, each with what it was read from."""
        read: list[tuple[InputRow, list[Rollout]]] = []
        rejects: list[Reject] = []
        for row, record in rows:
            if row.skipped:
                continue
            try:
                if row.problem:
                    raise UsageError(row.problem)
                read.append((row, [self._rollout(row.example, text) for text in row.completions]))
            except UsageError as error:
                rejects.append(Reject(self.file, row.line, str(error), parse(record).row))
        scores = scores_of(self.task.verifier, [Group(row.example, row.completions) for row, _ in read])
        labels, tokens = self._labels(read, scores)
        lines, counts = list[str](), Counter(tokens=tokens)
        for (row, _), of_row, labels_of_row in zip(read, scores, labels, strict=True):
            lines += self._lines(row, of_row, labels_of_row)
            for label in chain.from_iterable(labels_of_row):
                counts["unknown" if not label.verdicts else "good" if any(label.verdicts) else "bad"] += 1
        skipped = sum(row.skipped for row, _ in rows)
        summary = ScoreSummary(rows=len(rows) - skipped, skipped=skipped, bad_rows=len(rejects))
        summary.completions, summary.statuses = sum(map(len, scores)), {"steps": counts}
        return ChunkResult("".join(lines).encode(), tuple(rejects), summary)

    def _rollout(self, example: Example, completion: Completion) -> Rollout:
        """A completion as tokens of the model: its own if they give the text, else those of the text.

        Raises ``UsageError`` if neither do, if it is too long, or has several turns or no prompt.
        """
        if not example.prompt:
            raise UsageError("has no prompt to continue from")
        if completion.turns:
            raise UsageError("has several turns, which cannot be continued")
        policy, text = self.policy, _without_prefill(completion, self.task.format.prefill)
        ids = list(completion.token_ids or ())
        ended = bool(ids) and ids[-1] in policy.end_ids
        if not ids or policy.decode(ids[:-1] if ended else ids) != text:
            ids, ended = policy.tokenizer(text, add_special_tokens=False)["input_ids"], False
            if policy.decode(ids) != text:
                raise UsageError(f"the tokens of {policy.name} do not give its text back")
        if len(ids) > (longest := self.config.sampling.max_new_tokens):
            raise UsageError(f"has {len(ids)} tokens, more than sampling.max_new_tokens={longest}")
        prompt = policy.prompt_ids(example, self.task.format)
        return Rollout(prompt, ids, text, "stop" if ended else "length", [])

    def _labels(
        self, read: Sequence[tuple[InputRow, list[Rollout]]], scores: Sequence[Sequence[Score]]
    ) -> tuple[list[list[list[StepLabel]]], int]:
        """The labels of all steps of each row's completions, and the number of tokens sampled for them.

        Completions of the same example that begin with the same tokens share continuations.
        """
        starts: dict[_Key, Start] = {}
        steps = [[self._steps(row.example, rollout, starts) for rollout in rollouts] for row, rollouts in read]
        count, sampling = self.request.rollouts, self.config.sampling
        scored, tokens = continuations(self.policy, list(starts.values()), count, sampling)
        verdicts = {
            key: [row.correct >= 1 for row in rows if row.correct is not None]
            for key, rows in zip(starts, scored, strict=True)
        }

        def labelled(found: _Steps, completion: Completion, rollout: Rollout, score: Score) -> list[StepLabel]:
            own, shift = metric_value(score, self.task.metric), len(completion.text) - len(rollout.text)
            owns = [] if own is None else [own >= 1]
            return [
                StepLabel(step.start + shift, step.end + shift, owns if key is None else verdicts[key], key is None)
                for step, key in found
            ]

        return [
            list(map(labelled, of_row, row.completions, rollouts, scores_of_row))
            for of_row, (row, rollouts), scores_of_row in zip(steps, read, scores, strict=True)
        ], tokens

    def _steps(self, example: Example, rollout: Rollout, starts: dict[_Key, Start]) -> _Steps:
        """The steps of a completion, each with the key of its continuations, which begin in ``starts``; ``None`` for a
        step that ends the completion.
        """
        ends, seen = completion_ends(self.policy.decode, rollout), rollout.completion(self.task.format.prefill)
        found: _Steps = []
        for step in self.task.step_ends(seen, ends, self.request.segments):
            key = None
            if step.token is not None and step.token < len(rollout.ids) - 1:  # the completion goes on
                ids = tuple(rollout.ids[: step.token + 1])
                # Rows with the same id may ask different questions.
                key = example.id, tuple(rollout.prompt_ids), example.answer, ids
                prompt = Prompt(self.task, self.task.verifier, example)
                digest = hashlib.sha256(repr(ids).encode()).hexdigest()[:16]
                seed = f"{self.config.seed}/labels/{example.id}/{digest}"
                starts.setdefault(key, Start(prompt, rollout, len(ids), seed))
            found.append((step, key))
        return found

    def _lines(self, row: InputRow, scores: Sequence[Score], labels: Sequence[Sequence[StepLabel]]) -> Iterator[str]:
        """The rows of the output for a row of the file, one for each completion."""
        pairs = zip(scores, labels, strict=True)
        with_part = tuple(replace(score, parts=(*score.parts, _part(of_one))) for score, of_one in pairs)
        columns = {name: value for name, value in row.example.info.items() if name not in RESERVED}
        result = RowResult(row, with_part)
        for index, of_one in enumerate(labels):
            column = [label.soft for label in of_one]
            # ``labelled_steps`` reads one for each step: null if there is none, or one is not known.
            known = None if None in column else column or None
            yield dump_record(columns | score_row(self.task, result, index) | {"labels": known})


_Key = tuple[str, tuple[int, ...], str | None, tuple[int, ...]]
"""What continuations from the end of a step depend on: id, prompt and gold answer of the example, and its tokens."""
_Steps = list[tuple["StepEnd", _Key | None]]


def _without_prefill(completion: Completion, prefill: str) -> str:
    """The text without a prefill that a server returned as part of it: the prompt ends with that."""
    if completion.prefill or not prefill.strip():
        return completion.text
    return completion.text.removeprefix(prefill if completion.text.startswith(prefill) else prefill.rstrip())


def _part(labels: Sequence[StepLabel]) -> Score:
    """The labels as a part of the score, whose value is the lowest, as that of ``process_reward_model``."""
    steps = tuple(
        StepScore(label.start, label.end, label.soft, str(label)) for label in labels if label.soft is not None
    )
    common: dict[str, Any] = {"name": ROLLOUTS, "weight": 0.0, "steps": steps}
    if not labels:
        return Score(0.0, "no_answer", explanation="no steps", **common)
    if not steps:
        return Score(None, "not_applicable", explanation="no continuation could be scored", **common)
    return Score(min(step.value for step in steps), explanation=f"the lowest of {len(steps)} steps", **common)


def _print_summary(summary: ScoreSummary, before: Counter[str], seconds: float, console: Console) -> None:
    """``before`` counts what an interrupted run did; the rest took ``seconds``."""
    counts = summary.statuses.get("steps", Counter())
    known = counts["good"] + counts["bad"]
    share = f", {counts['good'] / known:.0%} of them with a correct continuation" if known else ""
    unknown = f", {counts['unknown']:,} without a label" if counts["unknown"] else ""
    now = f", {counts['tokens'] - before['tokens']:,} of them now" if before else ""
    cost = f"{counted(counts['tokens'], 'token')} sampled{now} in {seconds:.1f} s"
    steps = f"{counted(known, 'step')} of {counted(summary.completions, 'completion')}"
    console.print(f"{steps}{share}{unknown}; {cost}", soft_wrap=True)
    print_skipped(summary, console)
    if summary.bad_rows:
        warn(console, f"{counted(summary.bad_rows, 'row')} could not be labeled")
