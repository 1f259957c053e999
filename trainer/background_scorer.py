"""Where completions are scored: in a worker process while others are still sampled, or all together at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from accelerate.utils import gather_object

from grpo_env.core import BatchVerifier, Group, Score, Verifier, score_groups
from grpo_env.workers import scoring_process

from .engine.sampling.sampler import Rollout
from .shared_types import Prompt, ScoredRollout


class BackgroundScorer:
    """Scores the groups of this process, one for each of its ``prompts``, while others are still being sampled.

    ``advance`` is called with the number of completions of each group that is complete.
    """

    def __init__(self, prompts: Sequence[Prompt], advance: Callable[[int], None] = lambda count: None) -> None:
        self._prompts, self._advance = prompts, advance
        self._rollouts: dict[int, Sequence[Rollout]] = {}
        self._groups: dict[int, Group] = {}
        self._scores: dict[int, Future[list[list[Score]]]] = {}
        self._executor = ThreadPoolExecutor(1)

    def add(self, number: int, rollouts: Sequence[Rollout]) -> None:
        """Take the complete group of prompt ``number``, and start to score it in the worker process.

        A verifier that scores many groups at once waits for all: a model's output also varies slightly with the
        composition of its batch, which must not depend on the order in which groups are complete.
        """
        self._advance(len(rollouts))
        self._rollouts[number] = rollouts
        task, verifier, example = self._prompts[number]
        group = self._groups[number] = Group(example, [rollout.completion(task.format.prefill) for rollout in rollouts])
        if not any(isinstance(part, BatchVerifier) for part in verifier.walk()):
            score = scoring_process.score_in_process
            self._scores[number] = self._executor.submit(score, verifier, [group])

    def finish(self) -> list[ScoredRollout]:
        """The rollouts of all processes with their scores, in the order of the prompts, a group's rows adjacent."""
        scores = {number: future.result()[0] for number, future in self._scores.items()}
        for verifier in {id(prompt.verifier): prompt.verifier for prompt in self._prompts}.values():
            waiting = [n for n, p in enumerate(self._prompts) if p.verifier is verifier and n not in scores]
            scores |= zip(waiting, scores_of(verifier, [self._groups[n] for n in waiting]), strict=True)
        scored = [
            ScoredRollout(prompt.example, rollout, score, metric_value(score, prompt.task.metric), prompt.task.name)
            for number, prompt in enumerate(self._prompts)
            for rollout, score in zip(self._rollouts[number], scores[number], strict=True)
        ]
        gathered: list[ScoredRollout] = gather_object(scored)
        return gathered

    def close(self) -> None:
        """Score nothing more; the group that is being scored is given up."""
        running = any(not future.done() for future in self._scores.values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        if running:
            scoring_process.kill()
        self._executor.shutdown()


def scores_of(verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
    """The scores of groups, from the worker process unless the verifier's model is loaded here."""
    is_loaded_here = any(isinstance(part, BatchVerifier) and part.in_process for part in verifier.walk())
    score = score_groups if is_loaded_here else scoring_process.score_in_process
    return score(verifier, groups)


def metric_value(score: Score, metric: str) -> float | None:
    """The value of the part named ``metric``."""
    return next((part.value for part in score.walk() if part.name == metric), None)
