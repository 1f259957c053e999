"""Checks that gold answers in the task's format get full credit from the metric, and perturbed ones none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from grpo_env.core import Example, Group, Score, is_left_out
from grpo_env.scoring_process import score_in_process
from grpo_env.taskfile.task import Task

from .findings import Finding, error, short, warning
from .gold_completion import NEUTRAL_REASONING, CompletionTemplate, accepted_answers, gold_text
from .perturbations import FOR_ALL_KINDS, changes, perturbations, tolerances

BATCH = 256  # examples that are scored at once, for verifiers that work in batches
NOT_AN_ANSWER = "None of these."
FIX = "fix dataset.answer or the verifier"
SHOWN = 60  # characters of an answer in a finding


def check_golds(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> tuple[str, list[Finding]]:
    """Check that gold answers in the task's format get full credit from the metric, and perturbed ones none."""
    check = _Check(task, examples, golds)
    check.run()
    return check.fact, [*check.findings, *check.partial_credit()]


@dataclass
class _Perturbed:
    """The perturbed answers of one name: how many there are, and the values between 0 and 1 that some get."""

    count: int = 0
    with_credit: int = 0
    partial: list[float] = field(default_factory=list)
    example: str = ""


@dataclass
class _Check:
    """A check of gold answers, and what it has found so far."""

    task: Task
    examples: Sequence[Example]
    golds: Sequence[str]
    findings: list[Finding] = field(default_factory=list)
    totals: set[float] = field(default_factory=set)
    without_credit: int = 0
    perturbed: dict[str, _Perturbed] = field(default_factory=lambda: defaultdict(_Perturbed))
    ignores_golds: bool = False

    @property
    def fact(self) -> str:
        """How many answers were scored, and how many of them as they should not be."""
        spread = f"{min(self.totals):g}" if self.totals else "none"
        if len(self.totals) > 1:
            spread += f" to {max(self.totals):g}"
        golds = f"{len(self.golds):,} answers in the task's format: {self.without_credit:,} without full credit from "
        golds += f"{self.task.metric}; total {spread}\n"
        if self.ignores_golds:
            return f"{golds}perturbed answers: not scored, as {self.task.metric} does not compare with the gold answer"
        count = sum(answers.count for answers in self.perturbed.values())
        with_credit = sum(answers.with_credit for answers in self.perturbed.values())
        names = sorted(self.perturbed, key=FOR_ALL_KINDS.count)  # these last
        partial = sum(len(answers.partial) for answers in self.perturbed.values())
        credit = f"{with_credit:,} with credit" + (f", {partial:,} of them with part of it" if partial else "")
        return f"{golds}{count:,} perturbed answers ({', '.join(names)}): {credit}"

    def run(self) -> None:
        """Score all answers."""
        self.ignores_golds = self._ignores_golds()
        if self.ignores_golds:
            what = f"{self.task.metric} gives full credit to any answer, without the gold answer"
            fix = "choose a metric that compares, unless there are no wrong answers"
            self.findings.append(warning("gold", "metric", what, fix))
        for start in range(0, len(self.examples), BATCH):
            indices = range(start, min(start + BATCH, len(self.examples)))
            self._score_golds(indices)
            if not self.ignores_golds:
                self._score_perturbed(indices)

    def partial_credit(self) -> Iterator[Finding]:
        """A warning for each kind of perturbed answers that get part of the credit."""
        for name, answers in self.perturbed.items():
            if answers.partial and not self.task.spec.partial_credit:
                low, high = min(answers.partial), max(answers.partial)
                values = f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
                what = f"{len(answers.partial):,} of {answers.count:,} wrong answers ({name}) get {values}"
                fix = f"if {self.task.metric} is meant to give partial credit, say partial_credit: true in the task"
                yield warning("gold", "gold answers", f"{what}: {answers.example}", fix)

    def _ignores_golds(self) -> bool:
        """Whether the metric gives full credit to the first example's gold answer and to all changes of it alike.

        The example has no gold answer then. (``countdown`` needs none: it knows right and wrong by other columns.)
        """
        template, example = CompletionTemplate(self.task.format), replace(self.examples[0], answer=None)
        texts = [self.golds[0], *(text for _, text in changes(self.golds[0])), NOT_AN_ANSWER]
        completions = [template.completion(template.text(NEUTRAL_REASONING, text)) for text in texts]
        (scores,) = self._metric_scores([Group(example, completions)])
        return all(score.value == 1 for score in scores)

    def _score_golds(self, indices: range) -> None:
        template = CompletionTemplate(self.task.format)
        groups = []
        for index in indices:
            text = gold_text(self.task, self.examples[index], self.golds[index])
            groups.append(Group(self.examples[index], [template.completion(text)]))
        for index, (score,) in zip(indices, score_in_process(self.task.verifier, groups), strict=True):
            if score.value is not None:
                self.totals.add(round(score.value, 6))
            part = score.part(self.task.metric)
            if is_left_out(part):
                continue
            if part.value is None or part.value < 1:
                self.without_credit += 1
                what = f"the gold answer {short(self.golds[index], SHOWN)!r} gets {self.task.metric} {part.value} "
                what += f"[{part.status}]" + (f": {part.explanation}" if part.explanation else "")
                self.findings.append(error("gold", self.examples[index].name, what, FIX, _cause(part)))

    def _score_perturbed(self, indices: range) -> None:
        template, tolerates = CompletionTemplate(self.task.format), tolerances(self.task.metric_verifier)
        cases = [
            (index, name, text)
            for index in indices
            for name, text in perturbations(
                self.golds, index, accepted_answers(self.task, self.examples[index]), tolerates
            )
        ]
        groups = [
            Group(self.examples[index], [template.completion(template.text("", text))]) for index, _, text in cases
        ]
        for (index, name, text), (score,) in zip(cases, self._metric_scores(groups), strict=True):
            if is_left_out(score):
                continue
            self.perturbed[name].count += 1
            if score.status == "bad_gold":
                self._add_unreadable(index, score)
            elif score.value is None:
                self._add_unscored(index, text, score)
            elif score.value > 0:
                self._add_credit(index, name, text, score)

    def _metric_scores(self, groups: Sequence[Group]) -> list[list[Score]]:
        """The metric's scores, without running the other parts of the reward."""
        scores = score_in_process(self.task.metric_alone, groups)
        return [[score.part(self.task.metric) for score in members] for members in scores]

    def _add_unreadable(self, index: int, score: Score) -> None:
        """A gold answer with which only an answer of the same text can be compared."""
        where = self.examples[index].name
        if not self.findings or self.findings[-1].where != where:
            what = f"wrong answers to it are unscored [bad_gold]: {score.explanation}"
            fix = "write it in another way, or remove the row"
            self.findings.append(warning("gold", where, f"{short(self.golds[index], SHOWN)!r}: {what}", fix, what))

    def _add_unscored(self, index: int, text: str, score: Score) -> None:
        """A wrong answer that the verifier does not score, which is one problem with a gold answer of that status."""
        what = f"a wrong answer is unscored [{score.status}]: {short(text, SHOWN)!r} for "
        what += f"{short(self.golds[index], SHOWN)!r}: {score.explanation}"
        self.findings.append(error("gold", self.examples[index].name, what, FIX, _cause(score)))

    def _add_credit(self, index: int, name: str, text: str, score: Score) -> None:
        answers = self.perturbed[name]
        answers.with_credit += 1
        example = f"{short(text, SHOWN)!r} for {short(self.golds[index], SHOWN)!r}"
        if score.value is not None and score.value < 1:
            answers.partial.append(score.value)
            answers.example = answers.example or f"{example} ({self.examples[index].name})"
        else:
            what = f"a wrong answer ({name}) gets {score.value} [{score.status}]: {example}"
            self.findings.append(
                error("gold", self.examples[index].name, what, "fix the verifier", f"{name} {score.status}")
            )


def _cause(score: Score) -> str:
    return f"{score.value} {score.status} {score.explanation}"
