"""Runs the documented cases of verifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from grpo_env.core import Case, Completion, Example, Group, Score, score_groups
from grpo_env.registry import find
from grpo_env.taskfile.task import make_verifier


def failed_cases(name: str) -> Iterator[str]:
    """A line for each case of the verifier called ``name`` whose value differs from the documented one."""
    for index, case in enumerate(find(name).cases):
        expected = case.value if isinstance(case.value, tuple) else (case.value,)
        scores = scores_of(name, case)
        if len(scores) != len(expected) or not all(map(_same, expected, scores)):
            actual = "; ".join(f"{score.value} [{score.status}] {score.explanation}" for score in scores)
            yield f"{name}: case {index} ({case.why}): expected {case.value}, but got {actual}"


def scores_of(name: str, case: Case) -> Sequence[Score]:
    """The scores of a case of the verifier called ``name``, one for each completion."""
    texts: Sequence[str | Completion] = case.completion if isinstance(case.completion, tuple) else (case.completion,)
    completions = [text if isinstance(text, Completion) else Completion(text) for text in texts]
    verifier = make_verifier(name, case.options, f"a case of {name}")
    return score_groups(verifier, [Group(Example("case", (), case.answer, case.info), completions)], name)[0]


def _same(expected: float | None, score: Score) -> bool:
    if expected is None or score.value is None:
        return expected is score.value
    return math.isclose(expected, score.value, rel_tol=1e-9, abs_tol=1e-12)
