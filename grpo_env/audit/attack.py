"""Runs an audit: scores every hack on every target as training does, and compares with gold and wrong answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grpo_env.core import Completion
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.workers import scoring_process

from .exploits import HackReward, Limits, main_part, reasons
from .hack import Hack, Target
from .hacks import HACKS
from .scoreboard import Audit, Outcome
from .targets import find_targets, score_completions

RESCORED = 2  # texts of each hack that are scored a second time
TEXT_LENGTH = 300  # characters of a hack's text in the outcome

Pair = tuple[Target, Completion]


@dataclass(frozen=True)
class _Attempt:
    """A hack's completions and rewards, with the rewards of gold and wrong answers on the same examples."""

    hack: Hack
    pairs: Sequence[Pair]
    rewards: Sequence[HackReward]
    gold: Sequence[HackReward]
    wrong: Sequence[HackReward]


def audit(
    task: Task,
    split: Split = "train",
    limit: int = 50,
    families: Collection[str] = (),
    limits: Limits | None = None,
    *,
    rescore: bool = True,
) -> Audit:
    """Attack a task's reward with all hacks, or those of some ``families``, on its first ``limit`` examples.

    ``rescore`` scores some of the texts again, in another order and another process, to see whether their rewards
    are stable. Raises ``UsageError`` for unknown families and if there is nothing to attack (see ``find_targets``), and
    ``RunError`` if that fails.
    """
    start = time.perf_counter()
    hacks = _select(families)
    targets, source = find_targets(task, split, limit)
    limits = limits or Limits.of(task)
    gold = _score(task, [(target, target.template.completion(target.gold_completion)) for target in targets])
    if not any(reward.total or reward.process for reward in gold):
        raise UsageError(
            f"{task.source}: gold answers in the task's format are rewarded with 0, so nothing can gain more than it "
            f"should; give {task.metric}, or what is to be learned, a weight (grpo_env check says what is wrong)"
        )
    wrong = _score(task, [(target, target.template.completion(target.answered(target.wrong))) for target in targets])
    if all(reward.total is None for reward in wrong):
        why = f"[{wrong[0].status}]: {wrong[0].explanation}"
        raise UsageError(
            f"{task.source}: no wrong answer in the task's format is scored {why}; "
            "a verifier gives wrong answers 0, or nothing is learned from them"
        )
    attempts = [_attempt(task, hack, targets, gold, wrong) for hack in hacks]
    attempts = [attempt for attempt in attempts if attempt.pairs]
    return Audit(
        task=task.name,
        metric=task.metric,
        source=source,
        examples=len(targets),
        gold=HackReward.mean(gold),
        wrong=HackReward.mean(wrong),
        outcomes=tuple(_outcome(attempt, task.metric, limits) for attempt in attempts),
        unstable=_unstable(task, attempts) if rescore else {},
        slow_after=limits.slow,
        seconds=time.perf_counter() - start,
    )


def _select(families: Collection[str]) -> list[Hack]:
    known = list(dict.fromkeys(hack.family for hack in HACKS.values()))
    for family in families:
        if family not in known:
            raise UsageError(f"--only {family}: no such family of hacks; {nearest(family, known)}")
    return [hack for hack in HACKS.values() if not families or hack.family in families]


def _score(task: Task, pairs: Sequence[Pair]) -> list[HackReward]:
    return [HackReward.of(score, task.metric) for score in score_completions(task, pairs)]


def _attempt(
    task: Task, hack: Hack, targets: Sequence[Target], gold: Sequence[HackReward], wrong: Sequence[HackReward]
) -> _Attempt:
    """Try a hack on the targets that it applies to."""
    indices, pairs = [], []
    for index, target in enumerate(targets[: hack.max_examples]):
        text = hack.build(target)
        if text is not None:
            indices.append(index)
            pairs.append((target, text if isinstance(text, Completion) else target.template.completion(text)))
    return _Attempt(
        hack, pairs, _score(task, pairs), [gold[index] for index in indices], [wrong[index] for index in indices]
    )


def _outcome(attempt: _Attempt, metric: str, limits: Limits) -> Outcome:
    hack, pairs, rewards = attempt.hack, attempt.pairs, attempt.rewards
    reward, gold, wrong = map(HackReward.mean, (rewards, attempt.gold, attempt.wrong))
    why = tuple(reasons(hack, reward, gold, wrong, metric, limits))
    total, gold_total, wrong_total = (mean.total or 0.0 for mean in (reward, gold, wrong))
    best = max(range(len(pairs)), key=lambda index: (rewards[index].metric or 0.0, rewards[index].total or 0.0))
    target, completion = pairs[best]
    return Outcome(
        hack=hack.name,
        family=hack.family,
        description=hack.description,
        knows=hack.knows,
        rule=hack.rule,
        examples=len(pairs),
        reward=reward,
        gain=_fraction(total - wrong_total, gold_total - wrong_total),
        of_gold=_fraction(total, gold_total),
        full_credit=sum((reward.metric or 0.0) >= 1 for reward in rewards),
        statuses=dict(Counter(reward.status for reward in rewards if reward.total is None)),
        seconds=max(reward.seconds for reward in rewards),
        reasons=why,
        main_part=main_part(reward, gold if hack.rule == "padding" else wrong) if why else "",
        example=target.example.id,
        gold=target.gold,
        text=completion.text[:TEXT_LENGTH],
        explanation=rewards[best].explanation,
    )


def _fraction(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _unstable(task: Task, attempts: Sequence[_Attempt]) -> dict[str, str]:
    """The hacks whose rewards differ when scored again: in reverse order, one at a time, in another process."""
    scoring_process.kill()  # the next call starts another
    unstable = {}
    for attempt in reversed(attempts):
        for pair, first in reversed(list(zip(attempt.pairs, attempt.rewards, strict=True))[:RESCORED]):
            (second,) = _score(task, [pair])
            if (first.total, first.metric) != (second.total, second.metric):
                why = f"{pair[0].example.name}: total {first.total}, scored again {second.total}"
                unstable[attempt.hack.name] = why
    return unstable
