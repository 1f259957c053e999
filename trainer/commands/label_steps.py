"""``grpo_env reward-model label-steps``: labels of steps by rollouts of a model from their ends.

Math-Shepherd (Wang et al. 2024, arXiv:2312.08935, section 3.3): the soft label of a step is the fraction of
continuations from its end that reach the correct answer; the hard label is 1 if any does.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from ..reward_models.score_files import ROLLOUTS
from ..run.progress import progress
from ..run.task_checks import check_continuable
from ..shared_types import Prompt, Start
from ..step_tokens import completion_ends
from .generate import RESERVED, SETTINGS
from .sampling_policy import sampling_config, sampling_identity, sampling_policy

if TYPE_CHECKING:
    from grpo_env.verifiers.steps import StepEnd

ROWS = 8  # of the file, whose completions are continued together, and then saved


class StepLabel(NamedTuple):
    """Characters ``[start, end)`` of a step, and how many of ``total`` continuations from its end are correct.

    A step that ends the completion has ``own``: its one continuation is empty.
    """

    start: int
    end: int
    correct: int
    total: int
    own: bool

    @property
    def soft(self) -> float | None:
        """The fraction; ``None`` if no continuation could be scored."""
        return self.correct / self.total if self.total else None

    def __str__(self) -> str:
        if self.own:
            return "ends the completion, whose own verdict this is"
        return f"{self.correct} of {self.total} continuations are correct"


@dataclass(frozen=True)
class Request:
    """What to label: ``rollouts`` continuations from each step's end, in the first ``limit`` rows.

    ``segments`` says where steps end: ``line``, ``paragraph``, ``sentence`` or ``marker``.
    """

    rollouts: int = 8
    segments: str = "line"
    limit: int | None = None


@dataclass(frozen=True)
class Labels:
    """How steps are labeled: the task, the settings of what samples, and the request."""

    task: Task
    config: TrainConfig
    request: Request

    def identity(self) -> dict[str, Any]:
        """What the labels depend on besides the file."""
        return {
            **sampling_identity(self.config, SETTINGS),
            "task": self.task.resolved(),
            **asdict(self.request),
        }

    def of(
        self, policy: Policy, completions: Sequence[tuple[Example, Rollout]], correct: Sequence[bool | None]
    ) -> tuple[list[list[StepLabel]], int]:
        """The labels of all steps of some completions, and the number of tokens sampled for them.

        ``correct`` says which of them are correct themselves. Completions of the same example that begin with the same
        tokens share continuations.
        """
        starts: dict[_Key, Start] = {}
        found: list[list[tuple[StepEnd, _Key | None]]] = []
        for example, rollout in completions:
            ends, seen = completion_ends(policy.decode, rollout), rollout.completion(self.task.format.prefill)
            found.append([])
            for step in self.task.step_ends(seen, ends, self.request.segments):
                key = None
                if step.token is not None and step.token < len(rollout.ids) - 1:  # the completion goes on
                    key = _key(example, rollout, step.token)
                    prompt = Prompt(self.task, self.task.verifier, example)
                    seed = f"{self.config.seed}/labels/{example.id}/{_digest(key[-1])}"
                    starts.setdefault(key, Start(prompt, rollout, step.token + 1, seed))
                found[-1].append((step, key))
        scored = continuations(policy, list(starts.values()), self.request.rollouts, self.config.sampling)
        verdicts = {
            key: [row.correct >= 1 for row in rows if row.correct is not None]
            for key, rows in zip(starts, scored, strict=True)
        }
        pairs = zip(starts.values(), scored, strict=True)
        tokens = sum(len(row.rollout.ids) - start.length for start, rows in pairs for row in rows)
        owns = [[] if own is None else [own] for own in correct]
        return [
            [_label(step, own if key is None else verdicts[key], key is None) for step, key in steps]
            for steps, own in zip(found, owns, strict=True)
        ], tokens


def _label(step: StepEnd, verdicts: Sequence[bool], own: bool) -> StepLabel:
    return StepLabel(step.start, step.end, sum(verdicts), len(verdicts), own)


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
    _check_task(task)
    check_new(out.path, overwrite=True)  # whether it may be overwritten is seen when it is opened
    labels = Labels(task, sampling_config(task, "label-steps", SETTINGS, model, settings), request or Request())
    file = InputFile(completions, task, Fields())
    require_rows([file])
    if not file.seekable:
        raise UsageError(f"{completions}: label-steps reads the file twice; save it first")
    if file.file_format.joins:
        command = f"grpo_env score {task.command_line_name} {completions} --out scores.jsonl"
        raise UsageError(f"{completions}: has no questions of its own; label what this writes: {command}")
    records = list(islice(file.rows(), labels.request.limit))
    identity = {**labels.identity(), "file": file.identity()}
    output = ResumableOutput(out, identity, [completions, *task.data_files])
    with output, sampling_policy(labels.config, console) as policy:
        before, start = Counter(output.summary.statuses.get("steps")), time.perf_counter()
        with resumable(output, counted(output.summary.completions, "completion"), "rows", console):
            _label_rest(labels, policy, file, records[output.chunks * ROWS :], output, console)
        rejects = output.finish()
    _print_summary(output.summary, before, time.perf_counter() - start, console)
    if not output.summary.completions:
        warn(console, f"nothing was labeled, so {out.path} is not written")
    if rejects is not None:
        warn(console, f"{rejects}: the rows that could not be labeled")
    return output.summary


def _check_task(task: Task) -> None:
    """Raises ``UsageError`` for a task whose completions cannot be continued from a step."""
    check_continuable(task, "label-steps")
    if ROLLOUTS in task.spec.verifiers:
        raise UsageError(f"{task.source}: a verifier is called {ROLLOUTS!r}, as the labels are; rename it")


def _label_rest(
    labels: Labels,
    policy: Policy,
    file: InputFile,
    rest: Sequence[Line | Record],
    output: ResumableOutput,
    console: Console,
) -> None:
    """Label what ``output`` does not have yet."""
    reader = file.reader([], prompts=True)
    rows, problems = [reader.read(record) for record in rest], Problems([file], console)
    total = sum(len(row.completions) for row in rows if row is not None)
    with progress("label-steps", total, console) as advance:
        for place in range(0, len(rest), ROWS):
            some = [row for row in rows[place : place + ROWS] if row is not None]
            readable, rejects = _readable(labels, policy, some)
            written = {record.line: parse(record).row for record in rest[place : place + ROWS]}
            rejected = tuple(Reject(file.name, line, why, written[line]) for line, why in rejects)
            output.add(_labeled(labels, policy, readable, rejected, sum(row.skipped for row in some)))
            problems.add(rejected)
            advance(sum(len(row.completions) for row in some))
    problems.end()


def _readable(
    labels: Labels, policy: Policy, rows: Sequence[InputRow]
) -> tuple[list[tuple[InputRow, list[Rollout]]], list[tuple[int, str]]]:
    """The rows that can be continued, with their completions as tokens; and the lines of the others, with reasons."""
    readable: list[tuple[InputRow, list[Rollout]]] = []
    rejects: list[tuple[int, str]] = []
    for row in rows:
        if row.skipped:
            continue
        try:
            if row.problem:
                raise UsageError(row.problem)
            readable.append((row, [_rollout(policy, labels, row.example, text) for text in row.completions]))
        except UsageError as error:
            rejects.append((row.line, str(error)))
    return readable, rejects


def _labeled(
    labels: Labels,
    policy: Policy,
    readable: Sequence[tuple[InputRow, list[Rollout]]],
    rejects: tuple[Reject, ...],
    skipped: int,
) -> ChunkResult:
    """The output of some rows of the file."""
    task = labels.task
    scores = scores_of(task.verifier, [Group(row.example, row.completions) for row, _ in readable])
    verdicts = [metric_value(score, task.metric) for of_row in scores for score in of_row]
    pairs = [(row.example, rollout) for row, rollouts in readable for rollout in rollouts]
    of_all, tokens = labels.of(policy, pairs, [None if value is None else value >= 1 for value in verdicts])
    found, lines, counts = iter(of_all), list[str](), Counter(tokens=tokens)
    for (row, rollouts), of_row in zip(readable, scores, strict=True):
        pairs_of_row = zip(row.completions, rollouts, strict=True)
        steps = [_shifted(next(found), len(seen.text) - len(rollout.text)) for seen, rollout in pairs_of_row]
        lines += _lines(task, row, of_row, steps)
        counts.update(_counts(chain.from_iterable(steps)))
    summary = ScoreSummary(rows=len(readable) + len(rejects), skipped=skipped, bad_rows=len(rejects))
    summary.completions, summary.statuses = len(pairs), {"steps": counts}
    return ChunkResult("".join(lines).encode(), rejects, summary)


def _lines(task: Task, row: InputRow, scores: Sequence[Score], steps: Sequence[Sequence[StepLabel]]) -> Iterator[str]:
    """The rows of the output for a row of the file, one for each completion."""
    pairs = zip(scores, steps, strict=True)
    with_part = tuple(replace(score, parts=(*score.parts, _part(labels))) for score, labels in pairs)
    own = {name: value for name, value in row.example.info.items() if name not in RESERVED}
    result = RowResult(row, with_part)
    for index, labels in enumerate(steps):
        yield dump_record(own | score_row(task, result, index) | {"labels": _column(labels)})


def _counts(labels: Iterable[StepLabel]) -> Counter[str]:
    """How many steps are good, bad and unknown, and how many continuations say so."""
    counts = Counter[str](unknown=0, continuations=0)
    for label in labels:
        counts["unknown" if not label.total else "good" if label.correct else "bad"] += 1
        counts["continuations"] += 0 if label.own else label.total
    return counts


def _rollout(policy: Policy, labels: Labels, example: Example, completion: Completion) -> Rollout:
    """A completion as tokens of the model: its own if they give the text, else those of the text.

    Raises ``UsageError`` if neither do, if it is too long, or has several turns or no prompt.
    """
    if not example.prompt:
        raise UsageError("has no prompt to continue from")
    if completion.turns:
        raise UsageError("has several turns, which cannot be continued")
    text = _without_prefill(completion, labels.task.format.prefill)
    ids = list(completion.token_ids or ())
    ended = bool(ids) and ids[-1] in policy.end_ids
    if not ids or policy.decode(ids[:-1] if ended else ids) != text:
        ids, ended = policy.tokenizer(text, add_special_tokens=False)["input_ids"], False
        if policy.decode(ids) != text:
            raise UsageError(f"the tokens of {policy.name} do not give its text back")
    if len(ids) > (longest := labels.config.sampling.max_new_tokens):
        raise UsageError(f"has {len(ids)} tokens, more than sampling.max_new_tokens={longest}")
    prompt = policy.prompt_ids(example, labels.task.format)
    return Rollout(prompt, ids, text, "stop" if ended else "length", [])


def _without_prefill(completion: Completion, prefill: str) -> str:
    """The text without a prefill that a server returned as part of it: the prompt ends with that."""
    if completion.prefill or not prefill.strip():
        return completion.text
    return completion.text.removeprefix(prefill if completion.text.startswith(prefill) else prefill.rstrip())


def _shifted(labels: Sequence[StepLabel], by: int) -> list[StepLabel]:
    return [label._replace(start=label.start + by, end=label.end + by) for label in labels]


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


def _column(labels: Sequence[StepLabel]) -> list[float | None] | None:
    """The labels, for ``labelled_steps``; null if one of them is not known, since it reads one for each step."""
    return [label.soft for label in labels] if labels and all(label.total for label in labels) else None


_Key = tuple[str, tuple[int, ...], str | None, tuple[int, ...]]


def _key(example: Example, rollout: Rollout, token: int) -> _Key:
    """What the continuations after a token depend on. Rows with the same id may ask different questions."""
    return example.id, tuple(rollout.prompt_ids), example.answer, tuple(rollout.ids[: token + 1])


def _digest(ids: Sequence[int]) -> str:
    return hashlib.sha256(repr(ids).encode()).hexdigest()[:16]


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
