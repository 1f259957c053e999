"""A public auditor of TRL reward functions, applied to ours. Runs only if it is installed:

    /tmp/peers/bin/pip install -r benchmarks/requirements.txt
    /tmp/peers/bin/python -m pytest tests/parity/test_auditors.py

Its one finding is intended (docs/audit.md): values are exact.
"""

from __future__ import annotations

import pytest

from grpo_env import load_task
from grpo_env.core import Completion, Example, Group, score_groups

reward_doctor = pytest.importorskip("reward_doctor", reason="reward-doctor is not installed")


@pytest.mark.parametrize("name", ["gsm8k", "math"])
def test_reward_doctor_finds_no_false_positives(name: str) -> None:
    task = load_task(name)

    def accuracy_reward(completions: list[str], answer: list[str], **_: object) -> list[float | None]:
        pairs = zip(completions, answer, strict=True)
        groups = [Group(Example("", answer=gold), [Completion(text)]) for text, gold in pairs]
        return [score.part(task.metric).value for scores in score_groups(task.verifier, groups) for score in scores]

    report = reward_doctor.audit(accuracy_reward)
    assert len(report.outcomes) == 83
    assert [outcome.case.id for outcome in report.false_positives] == []
    assert [outcome.case.id for outcome in report.false_negatives] == ["eq.frac.repeating"]
    assert report.errors == []
