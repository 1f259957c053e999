"""Where completions are scored: in a worker process while others are still sampled, or all together at the end."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from grpo_env.core import BatchVerifier, Group, Score, Verifier, score_groups
from grpo_env.workers import scoring_process


class BackgroundScorer:
    """Scores groups in the worker process as soon as they are complete, while other groups are still being sampled."""

    def __init__(self) -> None:
        self.scores: dict[int, Future[list[list[Score]]]] = {}
        self._executor = ThreadPoolExecutor(1)

    def submit(self, number: int, verifier: Verifier, group: Group) -> None:
        """Start to score a group."""
        self.scores[number] = self._executor.submit(scoring_process.score_in_process, verifier, [group])

    def stop(self) -> None:
        """Score nothing more; the group that is being scored is given up."""
        running = any(not future.done() for future in self.scores.values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        if running:
            scoring_process.kill()
        self._executor.shutdown()


def scores_in_batches(verifier: Verifier) -> bool:
    """Models and servers score many groups at once; a model's output also varies slightly with the composition of its
    batch, which must not depend on the order in which groups are complete.
    """
    return any(isinstance(part, BatchVerifier) for part in verifier.walk())


def scores_of(verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
    """The scores of groups, from the worker process unless the verifier's model is loaded here."""
    is_loaded_here = any(isinstance(part, BatchVerifier) and part.in_process for part in verifier.walk())
    score = score_groups if is_loaded_here else scoring_process.score_in_process
    return score(verifier, groups)


def metric_value(score: Score, metric: str) -> float | None:
    """The value of the part named ``metric``."""
    return next((part.value for part in score.walk() if part.name == metric), None)
