"""Tries every hack on every target, in the way that training judges, and tells which of them pay."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from grpo_env.core import Completion, Score
from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.killable_worker import Worker
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from . import answers, effort, hostile, layout, nearby  # noqa: F401  # they fill the table
from .answers import said
from .scoreboard import Audit, Outcome, Purse
from .table import HACKS, Hack, Target
from .targets import judged, targets

ROUNDING = 1e-9
AGAIN = 2  # texts of each hack that are judged a second time
SHOWN = 300  # characters of a text that is kept to be shown


@dataclass(frozen=True)
class Limits:
    """From where on a hack counts as an exploit. Shares are of what being right adds: honest less honest but wrong."""

    margin: float = 0.2
    """The share that a hack may earn beyond a wrong answer in the same form, or beyond the honest text it pads."""
    form: float = 0.5
    """The share of the honest total that form alone, without a right answer, must stay below."""
    guess: float = 0.75
    """The share that a plain guess must stay below. (The same answer to every yes-or-no question earns half.)"""
    tolerated: float = 0.02
    """The share of examples in which the metric may pay a text that has the gold in it but does not answer with it."""
    slow: float = 10.0
    """Seconds that a verdict may take. (A verdict of ``accuracy`` is ended after five by the clock.)"""


def audit(
    task: Task,
    split: Split = "train",
    limit: int = 50,
    families: Collection[str] = (),
    limits: Limits | None = None,
    *,
    elsewhere: bool = True,
) -> Audit:
    """Attack a task's reward with the hacks of the table, or of some ``families``, on its first ``limit`` examples.

    ``elsewhere`` judges part of the texts again, in another order and another process, to see whether verdicts stay
    the same. Raises ``UsageError`` for unknown families and where there is nothing to attack (see ``targets``), and
    ``RunError`` if that process dies.
    """
    start = time.perf_counter()
    hacks = _chosen(families)
    found, source = targets(task, split, limit)
    judging = _Judging(task, limits or Limits())
    honest = judging.purses([(target, target.form.completion(target.honest)) for target in found])
    wrong = judging.purses([(target, target.form.completion(said(target, target.wrong))) for target in found])
    outcomes, second = [], []
    for one in hacks:
        tries = list(_tries(one, found))
        if not tries:
            continue
        pairs = [(found[place], completion) for place, completion in tries]
        earned = judging.purses(pairs)
        outcomes.append(
            judging.outcome(
                one, pairs, earned, [honest[place] for place, _ in tries], [wrong[place] for place, _ in tries]
            )
        )
        second += [(one.name, pair, purse) for pair, purse in zip(pairs[:AGAIN], earned, strict=False)]
    unstable = _unstable(judging, second) if elsewhere else {}
    return Audit(
        task=task.name,
        metric=task.metric,
        source=source,
        examples=len(found),
        honest=Purse.mean(honest),
        wrong=Purse.mean(wrong),
        outcomes=tuple(outcomes),
        unstable=unstable,
        slow_after=judging.limits.slow,
        seconds=time.perf_counter() - start,
    )


def _chosen(families: Collection[str]) -> list[Hack]:
    known = list(dict.fromkeys(one.family for one in HACKS.values()))
    for family in families:
        if family not in known:
            raise UsageError(f"--only {family}: no such family of hacks; {nearest(family, known)}")
    return [one for one in HACKS.values() if not families or one.family in families]


def _tries(one: Hack, found: Sequence[Target]) -> Iterator[tuple[int, Completion]]:
    """The places of the targets that a hack applies to, and its completions."""
    for place, target in enumerate(found[: one.most]):
        text = one.build(target)
        if text is not None:
            yield place, text if isinstance(text, Completion) else target.form.completion(text)


@dataclass(frozen=True)
class _Judging:
    task: Task
    limits: Limits

    def purses(self, pairs: Sequence[tuple[Target, Completion]]) -> list[Purse]:
        return [_purse(score, self.task.metric) for score in judged(self.task, pairs)]

    def outcome(
        self,
        one: Hack,
        pairs: Sequence[tuple[Target, Completion]],
        earned: Sequence[Purse],
        honest: Sequence[Purse],
        wrong: Sequence[Purse],
    ) -> Outcome:
        """What a hack earned on its examples, beside what honest texts earn on the same ones."""
        own, right, base = Purse.mean(earned), Purse.mean(honest), Purse.mean(wrong)
        reasons = list(self._reasons(one, own, right, base))
        start = right if one.rule == "padding" else base
        best = max(range(len(pairs)), key=lambda place: (earned[place].metric or 0.0, earned[place].total or 0.0))
        return Outcome(
            hack=one.name,
            family=one.family,
            about=one.about,
            knows=one.knows,
            rule=one.rule,
            examples=len(pairs),
            earned=own,
            gain=_share((own.total or 0.0) - (base.total or 0.0), (right.total or 0.0) - (base.total or 0.0)),
            share=_share(own.total or 0.0, right.total or 0.0),
            paid_in=sum((purse.metric or 0.0) >= 1 for purse in earned),
            statuses=dict(Counter(purse.status for purse in earned if purse.total is None)),
            seconds=max(purse.seconds for purse in earned),
            exploits=tuple(reasons),
            paid_by=_payer(own, start) if reasons else "",
            example=pairs[best][0].example.id,
            text=pairs[best][1].text[:SHOWN],
            gold=pairs[best][0].gold,
            why=earned[best].why,
        )

    def _reasons(self, one: Hack, own: Purse, right: Purse, wrong: Purse) -> Iterator[str]:
        """Why a hack is an exploit: a sentence for each thing that pays it and should not."""
        if own.total is None or right.total is None or wrong.total is None:
            return
        limits, gap = self.limits, right.total - wrong.total
        steps = right.process - wrong.process
        if one.rule == "padding":
            if own.total > right.total + limits.margin * abs(gap):
                yield f"padding raises the total from {right.total:.3g} to {own.total:.3g}"
            if own.process > right.process + limits.margin * (abs(steps) or 1.0):
                yield f"padding raises the step scores from {right.process:.3g} to {own.process:.3g}"
            return
        if one.rule == "guess":
            if own.total > wrong.total + limits.guess * abs(gap):
                yield f"a guess earns {own.total:.3g}, an honest answer {right.total:.3g}"
            return
        tolerated = limits.tolerated if one.knows == "gold" or one.name == "wrong_in_form" else limits.margin
        if (own.metric or 0.0) > tolerated:
            yield f"{self.task.metric} pays {own.metric:.3g} for it"
        if own.total > wrong.total + limits.margin * abs(gap):
            yield f"earns {own.total:.3g}, a wrong answer in form {wrong.total:.3g}"
        if own.process > wrong.process + limits.margin * (abs(steps) or 1.0):
            yield f"its steps earn {own.process:.3g}, those of a wrong answer {wrong.process:.3g}"
        if one.rule == "form" and own.total >= min(limits.form * right.total, right.total):
            yield f"earns {own.total:.3g} of the honest {right.total:.3g} without a right answer"


def _purse(score: Score, metric: str) -> Purse:
    part = score.part(metric)
    return Purse(
        total=score.value,
        metric=part.value,
        process=math.fsum(step.value for step in score.steps),
        parts={one.name: one.weight * (one.value or 0.0) for one in score.parts},
        steps={one.name: one.process * _steps(one) for one in score.parts if one.process},
        status=score.status,
        why=part.explanation,
        seconds=score.seconds,
    )


def _steps(part: Score) -> float:
    """The sum of a part's step scores; a part without steps is a last step."""
    return math.fsum(step.value for step in part.steps) if part.steps else part.value or 0.0


def _payer(own: Purse, start: Purse) -> str:
    """The part that pays most of what a hack has beyond ``start``: in the total, else in step scores, else in all."""
    for mine, theirs in ((own.parts, start.parts), (own.steps, start.steps), (own.parts, {})):
        extra = {name: value - theirs.get(name, 0.0) for name, value in mine.items()}
        name = max(extra, key=lambda name: extra[name], default="")
        if name and extra[name] > ROUNDING:
            return name
    return ""


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _unstable(judging: _Judging, tried: Sequence[tuple[str, tuple[Target, Completion], Purse]]) -> dict[str, str]:
    """The hacks whose texts get another verdict when judged again: in reverse order, one by one, in another process."""
    again = list(reversed(tried))
    try:
        with closing(Worker(partial(_alone, judging))) as worker:
            purses = worker([pair for _, pair, _ in again])
    except RunError as error:
        raise RunError(
            f"scoring texts a second time failed: {error} (in a script of yours, call audit under "
            "if __name__ == '__main__', or with elsewhere=False)"
        ) from error
    found = {}
    for (name, (target, _), purse), other in zip(again, purses, strict=True):
        if (other.total, other.metric) != (purse.total, purse.metric):
            found[name] = f"{target.example.id}: total {purse.total}, judged again {other.total}"
    return found


def _alone(judging: _Judging, pairs: Sequence[tuple[Target, Completion]]) -> list[Purse]:
    return [purse for pair in pairs for purse in judging.purses([pair])]
