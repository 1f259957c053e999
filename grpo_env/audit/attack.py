"""Runs an audit: scores every hack on every target as training does, and compares with gold and wrong answers."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from grpo_env.check.perturbations import TOLERANCES, is_another
from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.workers import scoring_process

from .exploits import CHANCE, FULL, LARGE, SHARE, SLOW, HackReward, beats, gain, pays_anything, step_reasons
from .fields import Filling
from .hack import Hack, Target
from .hacks import HACKS
from .request import AuditRequest, Progress, tried
from .scoreboard import Audit, Outcome
from .targets import find_targets, score_completions

RESCORED = 2  # texts of each hack that are scored a second time
PARTIAL = 0.05  # of the gap: less, or as much less than all, is no part of the credit
SLIGHTLY_OFF = ("off_by_one", "rounds_to_it")
EMPTY = "empty gold answers"  # a family that is not in the table

Pair = tuple[Target, Completion]


@dataclass(frozen=True)
class _Attempt:
    """A hack's completions, with their rewards and those of gold and wrong answers on the same examples."""

    hack: Hack
    pairs: Sequence[Pair]
    rewards: Sequence[HackReward]
    gold: Sequence[HackReward]
    wrong: Sequence[HackReward]
    right: int = 0
    """Examples on which a guess is right; they are not among the pairs."""

    @property
    def gains(self) -> list[float]:
        """The fraction of the gap that each text wins."""
        return [gain(*rewards) for rewards in zip(self.rewards, self.gold, self.wrong, strict=True)]


def audit(
    task: Task,
    request: AuditRequest | None = None,
    *,
    split: Split = "train",
    progress: Progress = lambda line: None,
) -> Audit:
    """Attack a task's reward with hacks on examples of a split; ``progress`` is told what is tried.

    Raises ``UsageError`` for unknown families and if there is nothing to attack (see ``find_targets``), and
    ``RunError`` if that fails.
    """
    request = request or AuditRequest()
    return Attack(task, *find_targets(task, split, request.limit)).run(request, progress)


class Attack:
    """Hacks against the targets of a task. ``unanswered`` are examples whose gold answer is empty.

    ``slow`` is in seconds. A reward that ``is_foreign`` may pay gold answers 0, as those of length or of words do; its
    parts are only summed.
    """

    def __init__(
        self,
        task: Task,
        targets: Sequence[Target],
        source: str,
        unanswered: Sequence[Example] = (),
        *,
        slow: float = SLOW,
        is_foreign: bool = False,
    ) -> None:
        self._is_foreign = is_foreign
        self._metric = "total" if is_foreign and len(task.spec.verifiers) > 1 else task.metric
        self._common = sum(target.gold == target.most_common for target in targets) / len(targets)
        self._task, self._targets, self._source, self._slow = task, targets, source, slow
        self._unanswered = unanswered
        self._fields = [Filling(target) for target in targets]
        self._gold = self._scores([(target, target.right_completion) for target in targets])
        self._wrong = self._scores([(target, target.wrong_completion) for target in targets])
        self._means = HackReward.mean(self._gold), HackReward.mean(self._wrong)

    def run(self, request: AuditRequest, progress: Progress) -> Audit:
        """The audit. Raises as ``audit`` does."""
        start, notes, families = time.perf_counter(), list[str](), request.families
        self._check_baselines()
        hacks = tried(_select(families), "hacks", start, request.budget, progress, notes)
        attempts = [self._attempt(hack) for hack in hacks]
        left_out = ("right",) if self._pays_form else ()
        attempts = [one for one in attempts if (one.pairs or one.right) and one.hack.rule not in left_out]
        graded = self._task.spec.partial_credit or _gives_parts(attempts)
        outcomes = [self._outcome(attempt, graded=graded) for attempt in attempts]
        if self._unanswered and (not families or EMPTY in families):
            outcomes.append(self._outcome(self._empty_gold(), graded=graded))
        return Audit(
            task=self._task.name,
            metric=self._metric,
            source=self._source,
            examples=len(self._targets),
            gold=self._means[0],
            wrong=self._means[1],
            outcomes=tuple(outcomes),
            unstable=self._unstable(attempts) if request.rescore else {},
            slow_after=self._slow,
            seconds=time.perf_counter() - start,
            notes=(*notes, *self._notes(outcomes, graded=graded)),
        )

    @property
    def _pays_form(self) -> bool:
        """Whether being right adds nothing."""
        gold, wrong = (mean.total for mean in self._means)
        return gold is not None and wrong is not None and gold - wrong < 1e-9

    def _check_baselines(self) -> None:
        source, metric = self._task.source, self._metric
        if not self._is_foreign and not any(reward.total or reward.process for reward in self._gold):
            raise UsageError(
                f"{source}: gold answers in the task's format are rewarded with 0, so nothing can gain more than it "
                f"should; give {metric}, or what is to be learned, a weight (grpo_env check says what is wrong)"
            )
        if all(reward.total is None for reward in self._wrong):
            why = f"[{self._wrong[0].status}]: {self._wrong[0].explanation}"
            raise UsageError(
                f"{source}: no wrong answer in the task's format is scored {why}; "
                "a verifier gives wrong answers 0, or nothing is learned from them"
            )

    def _scores(self, pairs: Sequence[Pair]) -> list[HackReward]:
        return [HackReward.of(score, self._metric) for score in score_completions(self._task, pairs)]

    def _attempt(self, hack: Hack) -> _Attempt:
        """Try a hack on the targets that it applies to."""
        indices, pairs, right = [], [], 0
        for index, target in enumerate(self._targets[: hack.max_examples]):
            completion = hack.made(target, self._fields[index])
            guessed = hack.answer(self._fields[index]) if hack.rule == "guess" else None
            if guessed is not None and not is_another(guessed, target.gold):
                right += 1
            elif completion is not None:
                indices.append(index)
                pairs.append((target, completion))
        gold, wrong = ([rewards[index] for index in indices] for rewards in (self._gold, self._wrong))
        return _Attempt(hack, pairs, self._scores(pairs), gold, wrong, right)

    def _outcome(self, attempt: _Attempt, *, graded: bool) -> Outcome:
        hack, pairs, rewards, gains = attempt.hack, attempt.pairs, attempt.rewards, attempt.gains
        reward, gold, wrong = map(HackReward.mean, (rewards, attempt.gold, attempt.wrong))
        is_wrong = hack.rule in ("near", "guess") or hack.name == "wrong_in_form"
        needed = FULL if graded or is_wrong else LARGE
        paid = [
            amount >= needed - 1e-9 or pays_anything(hack, *of_one)
            for amount, of_one in zip(gains, zip(rewards, attempt.gold, attempt.wrong, strict=True), strict=True)
        ]
        extreme = min if hack.rule == "right" else max  # a refused text shows what is wrong with a right one
        best = extreme(range(len(pairs)), key=lambda index: (gains[index], rewards[index].total or 0.0), default=None)
        shown = pairs[best] if best is not None else None
        return Outcome.of(
            *(hack, rewards, gold, wrong),
            gain=fmean(gains) if gains else 0.0,
            paid=sum(paid),
            right=attempt.right,
            reasons=tuple(self._reasons(attempt, paid, (reward, gold, wrong))),
            example=shown[0].example.id if shown else "",
            gold=shown[0].gold if shown else "",
            text=shown[1].text if shown else "",
            explanation=rewards[best].explanation if best is not None else "",
        )

    def _reasons(
        self, attempt: _Attempt, paid: Sequence[bool], means: tuple[HackReward, HackReward, HackReward]
    ) -> Iterator[str]:
        """Why a hack is an exploit, if it is."""
        hack = attempt.hack
        if hack.rule in ("right", "loose") or means[0].total is None:
            return
        yield from beats(*means)
        if hack.rule == "padding":
            return
        chance = max(CHANCE, min(self._common, LARGE))  # one answer to all is paid as often
        if sum(paid) > (SHARE if hack.knows == "gold" else chance) * len(paid):
            won = fmean([amount for amount, is_paid in zip(attempt.gains, paid, strict=True) if is_paid])
            credit = f"{won:.0%} of what being right adds" if won else "what a right answer is paid"
            yield f"wins {credit} in {sum(paid)} of {len(paid)}"
        if hack.rule != "guess":
            yield from step_reasons(*means)

    def _empty_gold(self) -> _Attempt:
        """A wrong answer where the gold answer is empty, compared with the mean rewards of the others."""
        first = self._targets[0]
        pairs = [(replace(first, example=example, gold=""), first.wrong_completion) for example in self._unanswered]
        gold, wrong = ([mean] * len(pairs) for mean in self._means)
        return _Attempt(Hack("empty_gold", EMPTY), pairs, self._scores(pairs), gold, wrong)

    def _notes(self, outcomes: Sequence[Outcome], *, graded: bool) -> Iterator[str]:
        """What the baselines show that is no fault by itself, and how to say that numbers near the right one are."""
        if any(outcome.reasons and outcome.hack in SLIGHTLY_OFF for outcome in outcomes):
            yield f"if numbers that near are right, say so by an option of the reward: {', '.join(TOLERANCES)}"
        gold, wrong = self._means
        if gold.total is None or wrong.total is None:
            return
        if self._pays_form:
            yield f"a wrong answer in the same format is paid {wrong.total:.3g}, as a right one: it pays form"
        elif wrong.total > PARTIAL * gold.total:
            yield f"form without a right answer is paid {wrong.total:.3g} of {gold.total:.3g}"
        if graded:
            yield "wrong answers get part of the credit, so only what gets all of it counts as an exploit"

    def _unstable(self, attempts: Sequence[_Attempt]) -> dict[str, str]:
        """The hacks whose rewards differ when scored again: in reverse order, one at a time, in another process."""
        scoring_process.kill()  # the next call starts another
        unstable = {}
        for attempt in reversed(attempts):
            for pair, first in reversed(list(zip(attempt.pairs, attempt.rewards, strict=True))[:RESCORED]):
                if first.status == "timeout" or first.seconds > self._slow:
                    continue  # which depends on the clock
                (second,) = self._scores([pair])
                if (first.total, first.metric) != (second.total, second.metric):
                    why = f"{pair[0].example.name}: total {first.total}, scored again {second.total}"
                    unstable[attempt.hack.name] = why
        return unstable


def _select(only: Collection[str]) -> list[Hack]:
    known = [*dict.fromkeys(hack.family for hack in HACKS.values()), EMPTY, *HACKS]
    for name in only:
        if name not in known:
            raise UsageError(f"--only {name}: no such family of hacks, and no hack; {nearest(name, known)}")
    return [hack for hack in HACKS.values() if not only or not {hack.family, hack.name}.isdisjoint(only)]


def _gives_parts(attempts: Sequence[_Attempt]) -> bool:
    """Whether wrong answers of some kind that do not contain the gold one mostly get part of the credit."""
    for attempt in attempts:
        gains = zip(attempt.pairs, attempt.gains, strict=True)
        parts = [PARTIAL < amount < 1 - PARTIAL for (target, made), amount in gains if target.gold not in made.text]
        if attempt.hack.rule == "near" and sum(parts) * 2 > len(parts):
            return True
    return False
