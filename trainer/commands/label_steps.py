"""``grpo_env reward-model label-steps``: labels of steps by rollouts of a model from their ends.

Math-Shepherd (Wang et al. 2024, arXiv:2312.08935, section 3.3): the soft label of a step is the fraction of
continuations from its end that reach the correct answer; the hard label is 1 if any does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from grpo_env.core import Completion, Example, Group, Score, StepScore, Verifier
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.rows.writer import check_new
from grpo_env.scoring import Options, OutputFile, ScoreSummary, score_files
from grpo_env.scoring.chunks import Chunk
from grpo_env.scoring.files import Results, Runner
from grpo_env.scoring.job import Job
from grpo_env.taskfile.task import Task

from ..background_scorer import metric_value, scores_of
from ..config import TrainConfig
from ..engine.policy import Policy
from ..engine.sampling.sampler import Rollout
from ..extensions.step_values import continuations
from ..reward_models.labels import ROLLOUTS
from ..run.task_checks import check_continuable
from ..shared_types import Prompt, Start
from ..step_tokens import completion_ends
from .sampling_policy import SETTINGS, sampling_config, sampling_identity, sampling_policy

if TYPE_CHECKING:
    from grpo_env.verifiers.segments import Segmenter
    from grpo_env.verifiers.steps import StepEnd

ROWS = 8  # of the file, whose completions are continued together, and then saved


@dataclass(frozen=True)
class Request:
    """What to label: ``rollouts`` continuations from each step's end; ``segments`` says where steps end."""

    rollouts: int = 8
    segments: Segmenter = "line"


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
    """Score a file's completions into ``out`` as ``score`` does, with a part that has the labels of their steps.

    Args:
        task: the task, whose metric says which continuations are correct.
        completions: a file that ``score`` reads without options.
        out: a ``.jsonl`` file.
        request: what to label.
        model: what continues: ``bundled``, a folder or a hub id; default: the task's own.
        console: gets messages and the progress.
        settings: as for ``generate``.

    Returns:
        The summary of the scores; its ``counts`` are those of ``Labeler``.

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
    identity = {**sampling_identity(config, SETTINGS), **asdict(request)}
    runner = Runner(partial(_label, config, request, console), identity, ROWS)
    summary = score_files(task, [completions], out, Options(split="all"), console=console, runner=runner)
    steps, good = summary.counts["steps"], summary.counts["good"]
    share = f", {good / steps:.0%} of them with a correct continuation" if steps else ""
    labeled = f"{counted(steps, 'step')} of {counted(summary.completions, 'completion')}{share}"
    console.print(f"{labeled}; {counted(summary.counts['tokens'], 'token')} sampled", soft_wrap=True)
    return summary


def _label(config: TrainConfig, request: Request, console: Console, job: Job, chunks: Iterable[Chunk]) -> Results:
    """The results of chunks, with labels."""
    with sampling_policy(config, console) as policy:
        for chunk in chunks:
            labeler = Labeler(job.task, config, request, policy)
            result = replace(job, score=labeler)(chunk)
            result.summary.counts.update(labeler.counts)
            yield result


Step = tuple["StepEnd", str | None]
"""A step, and the seed of its continuations; ``None`` for a step that ends the completion, whose verdict it has."""


@dataclass(frozen=True)
class Labeler:
    """Scores groups of the task, with a part ``rollouts`` that has labels. The policy continues the completions.

    ``counts`` are those of labeled ``steps``, ``good`` ones with a correct continuation, and the ``tokens`` sampled.
    """

    task: Task
    config: TrainConfig
    request: Request
    policy: Policy
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
        """The scores. Completions of an example that begin with the same tokens share continuations."""
        scores, starts = scores_of(verifier, groups), dict[str, Start]()  # by their seeds
        steps = [[self._steps(example, completion, starts) for completion in some] for example, some in groups]
        count = self.request.rollouts
        scored, self.counts["tokens"] = continuations(self.policy, [*starts.values()], count, self.config.sampling)
        values = {seed: [row.correct for row in of_one] for seed, of_one in zip(starts, scored, strict=True)}

        def with_part(score: Score, found: Sequence[Step] | str) -> Score:
            part = self._part(found, values, metric_value(score, self.task.metric))
            return replace(score, parts=(*score.parts, part))

        return [list(map(with_part, *group)) for group in zip(scores, steps, strict=True)]

    def _steps(self, example: Example, completion: Completion, starts: dict[str, Start]) -> list[Step] | str:
        """The steps of a completion, whose continuations begin in ``starts``; or why there are none."""
        try:
            rollout = self._rollout(example, completion)
        except UsageError as error:
            return str(error)
        steps, shift = list[Step](), len(completion.text) - len(rollout.text)
        prompt, seen = Prompt(self.task, self.task.verifier, example), rollout.completion(self.task.format.prefill)
        ends = completion_ends(self.policy.decode, rollout)[:-1]  # after the last token nothing is left to sample
        for step in self.task.step_ends(seen, ends, self.request.segments):
            seed = None
            if step.token is not None:
                # Rows with the same id may ask different questions.
                read = example.id, example.answer, rollout.prompt_ids, rollout.ids[: step.token + 1]
                seed = f"{self.config.seed}/labels/{read}"
                starts[seed] = Start(prompt, rollout, step.token + 1, seed)
            steps.append((step._replace(start=step.start + shift, end=step.end + shift), seed))
        return steps or "no steps"

    def _rollout(self, example: Example, completion: Completion) -> Rollout:
        """A completion as tokens of the model: its own if they give the text, else those of the text.

        Raises ``UsageError`` if neither do, if it is too long, or has several turns or no prompt.
        """
        if not example.prompt:
            raise UsageError("there is no prompt to continue from")
        if completion.turns:
            raise UsageError("several turns cannot be continued")
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

    def _part(
        self, steps: Sequence[Step] | str, values: Mapping[str, Sequence[float | None]], own: float | None
    ) -> Score:
        """The labels as a part of the score, whose value is the lowest, as that of ``process_reward_model``."""
        if isinstance(steps, str):
            return Score(None, "not_applicable", ROLLOUTS, 0.0, explanation=steps)
        labels = []
        for step, seed in steps:
            of_step = [own] if seed is None else values[seed]
            if known := [is_correct(value) for value in of_step if value is not None]:
                why = f"{sum(known)} of {len(known)} continuations are correct"
                why = "ends the completion, whose own verdict this is" if seed is None else why
                labels.append(StepScore(step.start, step.end, sum(known) / len(known), why))
        self.counts.update(steps=len(labels), good=sum(label.value > 0 for label in labels))
        if not labels:
            return Score(None, "not_applicable", ROLLOUTS, 0.0, explanation="no continuation could be scored")
        lowest, why = min(label.value for label in labels), f"the lowest of {counted(len(labels), 'step')}"
        return Score(lowest, "scored", ROLLOUTS, 0.0, explanation=why, steps=tuple(labels))


def _without_prefill(completion: Completion, prefill: str) -> str:
    """The text without a prefill that a server returned as part of it: the prompt ends with that."""
    if completion.prefill or not prefill.strip():
        return completion.text
    return completion.text.removeprefix(prefill if completion.text.startswith(prefill) else prefill.rstrip())
