"""Checks that gold answers in the task's format get full credit from the metric, and perturbed ones none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from grpo_env.core import Example, Score
from grpo_env.taskfile.task import Task
from grpo_env.terminal import shortened

from .findings import Finding, error, warning
from .gain import NOT_AN_ANSWER, gain_problem
from .gold_completion import Layout, accepted_answers, gold_text, judging, metric_scores, question_text, scored
from .perturbations import FOR_ALL_KINDS, differs, perturbations, tolerances

BATCH = 256  # examples that are scored at once, for verifiers that work in batches
FIX = "fix dataset.answer or the verifier"
NO_TOTAL = "fix the verifier, or the rows in which it counts (when)"
SHOWN = 60  # characters of an answer in a finding
ECHOED = 50  # examples of which the question is scored as an answer
FEW = 0.05  # of these may hold the answer as their one number
HALF = 0.5  # of the credit of a gold answer


def check_golds(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> tuple[str, list[Finding]]:
    """Check that gold answers in the task's format get full credit from the metric, and perturbed ones none."""
    check = _Check(task, examples, golds)
    check.run()
    found = [*check.paid_answers(), *check.partial_credit(), *check.without_total()]
    if task.spec.environment is None:
        found += [*check.without_gain(), *check.echoes()]
    return check.fact, [*check.findings, *found]


@dataclass
class _Perturbed:
    """The perturbed answers of one name: how many there are, and the values below 1 that some get, by their row."""

    count: int = 0
    with_credit: int = 0
    partial: dict[int, float] = field(default_factory=dict)
    example: str = ""


@dataclass
class _Check:
    """A check of gold answers, and what it has found so far."""

    task: Task
    examples: Sequence[Example]
    golds: Sequence[str]
    findings: list[Finding] = field(default_factory=list)
    totals: set[float] = field(default_factory=set)
    unscored: dict[int, Score] = field(default_factory=dict)
    """The totals that are unscored, by the index of their example; not those of a metric that is unscored itself.

    Without an environment: what judges an episode cannot score the one text that is written here.
    """
    without_credit: int = 0
    judged: set[int] = field(default_factory=set)
    """The indices of the examples that the metric judges."""
    perturbed: dict[str, _Perturbed] = field(default_factory=lambda: defaultdict(_Perturbed))
    paid: list[tuple[int, Finding]] = field(default_factory=list)
    """The perturbed answers with full credit, with the index of their example."""
    ignored: set[int] = field(default_factory=set)
    """The indices of the examples in which any answer gets full credit."""

    @property
    def fact(self) -> str:
        """How many answers were scored, and how many of them as they should not be."""
        spread = f"{min(self.totals):g}" if self.totals else "none"
        if len(self.totals) > 1:
            spread += f" to {max(self.totals):g}"
        golds = f"{len(self.golds):,} answers in the task's format: {self.without_credit:,} without full credit from "
        golds += f"{self.task.metric}; total {spread}"
        golds += f"; {len(self.unscored):,} without a total" if self.unscored else ""
        if len(self.judged) < len(self.golds):
            golds += f"\n{self.task.metric} judges {len(self.judged):,} of them (when)"
        count = sum(answers.count for answers in self.perturbed.values())
        with_credit = sum(answers.with_credit for answers in self.perturbed.values())
        names = sorted(self.perturbed, key=FOR_ALL_KINDS.count)  # these last
        partial = sum(len(answers.partial) for answers in self.perturbed.values())
        credit = f"{with_credit:,} with credit" + (f", {partial:,} of them with part of it" if partial else "")
        return f"{golds}\n{count:,} perturbed answers ({', '.join(names)}): {credit}"

    @property
    def compared(self) -> list[int]:
        """The indices of the examples with a reward, of which the metric compares answers with the gold one."""
        return sorted(self.judged - self.ignored - self.unscored.keys())

    def run(self) -> None:
        """Score all answers."""
        for start in range(0, len(self.examples), BATCH):
            indices = range(start, min(start + BATCH, len(self.examples)))
            self._score_golds(indices)
            self._score_perturbed([index for index in indices if index in self.judged])

    def paid_answers(self) -> Iterator[Finding]:
        """Errors for wrong answers with full credit; one warning for rows in which what is no answer gets it, too."""
        rows = list(dict.fromkeys(index for index, _ in self.paid))
        scores = metric_scores(self.task, [(self.examples[index], NOT_AN_ANSWER) for index in rows])
        self.ignored = {index for index, score in zip(rows, scores, strict=True) if score.value == 1}
        yield from (finding for index, finding in self.paid if index not in self.ignored)
        if self.ignored:
            what = f"{self.task.metric} gives full credit to any answer, without the gold answer"
            what += f", in {len(self.ignored):,} of {len(self.judged):,} rows"
            fix = "choose a metric that compares, unless there are no wrong answers"
            yield warning("gold", self.examples[min(self.ignored)].name, what, fix)

    def without_total(self) -> Iterator[Finding]:
        """A finding for each reason why the reward of gold answers is unscored.

        An error if they are more than ``max_unscored_fraction``, so that training would stop.
        """
        if not self.unscored:
            return
        from grpo_env.trainer.config import TrainConfig

        allowed = TrainConfig.from_mapping(self.task.defaults, f"{self.task.source}: train").max_unscored_fraction
        finding = error if len(self.unscored) > allowed * len(self.golds) else warning
        for index, total in self.unscored.items():
            what = f"the reward of the gold answer is unscored [{total.status}]: {total.explanation}"
            yield finding("gold", self.examples[index].name, what, NO_TOTAL, total.explanation)

    def without_gain(self) -> Iterator[Finding]:
        """An error if gold answers are rewarded no more than a wrong one in the same format, also by their steps."""
        if self.without_credit:
            return
        if what := gain_problem(self.task, [(self.examples[index], self.golds[index]) for index in self.compared]):
            yield error("gold", "verifiers", what, f"give {self.task.metric} or what rewards it a weight above 0")

    def echoes(self) -> Iterator[Finding]:
        """A finding if the question itself is paid for: as the answer by the metric, or as it is by the reward.

        A reward for overlap with the gold answer, and one for words, pay for it; a sentence with one number, which is
        the answer, may be right in a few rows.
        """
        questions = {index: question_text(self.examples[index]) for index in self.compared[:ECHOED]}
        indices = [index for index, question in questions.items() if differs(question, self.golds[index])]
        if not indices:
            return
        template = Layout.of(self.task.format)
        pairs = [
            (self.examples[index], completion)
            for index in indices
            for completion in (template.answered(questions[index]), template.completion(questions[index]))
        ]
        scores = scored(self.task, pairs)
        yield from self._paid_questions(indices, [score.part(self.task.metric).value or 0.0 for score in scores[::2]])
        rewards = [score.value or 0.0 for score in scores[1::2]]
        if self.totals and min(rewards) > 0 and min(rewards) >= HALF * max(self.totals):
            what = f"the question, repeated without an answer, is rewarded with {min(rewards):g} or more"
            fix = "gate what pays for it by when, or give it a smaller weight"
            yield warning("gold", "verifiers", f"{what}, a gold answer with {max(self.totals):g}", fix)

    def _paid_questions(self, indices: Sequence[int], values: Sequence[float]) -> Iterator[Finding]:
        least = 1 if self.task.spec.partial_credit else HALF
        paid = [index for index, value in zip(indices, values, strict=True) if value >= least]
        if len(paid) > FEW * len(indices):
            what = f"the question, given as the answer, gets {self.task.metric} {max(values):g} in {len(paid):,} of "
            yield error("gold", self.examples[paid[0]].name, f"{what}{len(indices):,} rows", "fix the verifier")

    def partial_credit(self) -> Iterator[Finding]:
        """A warning for each kind of perturbed answers that get part of the credit."""
        for name, answers in self.perturbed.items():
            partial = [value for index, value in answers.partial.items() if index not in self.ignored]
            if partial and not self.task.spec.partial_credit:
                low, high = min(partial), max(partial)
                values = f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
                what = f"{len(partial):,} of {answers.count:,} wrong answers ({name}) get {values}"
                fix = f"if {self.task.metric} is meant to give partial credit, say partial_credit: true in the task"
                yield warning("gold", "gold answers", f"{what}: {answers.example}", fix)

    def _score_golds(self, indices: range) -> None:
        template = Layout.of(self.task.format)
        texts = [gold_text(self.task, self.examples[index], self.golds[index]) for index in indices]
        pairs = [(self.examples[index], template.completion(text)) for index, text in zip(indices, texts, strict=True)]
        for index, score in zip(indices, scored(self.task, pairs), strict=True):
            part = score.part(self.task.metric)
            if score.value is not None:
                self.totals.add(round(score.value, 6))
            elif self.task.spec.environment is None and (part.value is not None or part.status == "left_out"):
                self.unscored[index] = score
            if part.status == "left_out":
                continue
            self.judged.add(index)
            if part.value is None or part.value < 1:
                self.without_credit += 1
                what = f"the gold answer {shortened(self.golds[index], SHOWN)!r} gets {self.task.metric} {part.value} "
                what += f"[{part.status}]" + (f": {part.explanation}" if part.explanation else "")
                self.findings.append(error("gold", self.examples[index].name, what, FIX, _cause(part)))

    def _score_perturbed(self, indices: Sequence[int]) -> None:
        cases = [(index, name, text) for index in indices for name, text in self._perturbations(index)]
        scores = metric_scores(self.task, [(self.examples[index], text) for index, _, text in cases])
        for (index, name, text), score in zip(cases, scores, strict=True):
            self.perturbed[name].count += 1
            if score.status == "bad_gold":
                self._add_unreadable(index, score)
            elif score.value is None:
                self._add_unscored(index, text, score)
            elif score.value > 0:
                self._add_credit(index, name, text, score)

    def _perturbations(self, index: int) -> Iterator[tuple[str, str]]:
        example = self.examples[index]
        tolerates = tolerances(judging(self.task.metric_verifier, example))
        return perturbations(self.golds, index, accepted_answers(self.task, example), tolerates)

    def _add_unreadable(self, index: int, score: Score) -> None:
        """A gold answer with which only an answer of the same text can be compared."""
        where = self.examples[index].name
        if not self.findings or self.findings[-1].where != where:
            what = f"wrong answers to it are unscored [bad_gold]: {score.explanation}"
            fix = "compare it as text (kind: text), write it in another way, or remove the row"
            self.findings.append(warning("gold", where, f"{shortened(self.golds[index], SHOWN)!r}: {what}", fix, what))

    def _add_unscored(self, index: int, text: str, score: Score) -> None:
        """A wrong answer that the verifier does not score, which is one problem with a gold answer of that status."""
        what = f"a wrong answer is unscored [{score.status}]: {shortened(text, SHOWN)!r} for "
        what += f"{shortened(self.golds[index], SHOWN)!r}: {score.explanation}"
        self.findings.append(error("gold", self.examples[index].name, what, FIX, _cause(score)))

    def _add_credit(self, index: int, name: str, text: str, score: Score) -> None:
        answers = self.perturbed[name]
        answers.with_credit += 1
        example = f"{shortened(text, SHOWN)!r} for {shortened(self.golds[index], SHOWN)!r}"
        if score.value is not None and score.value < 1:
            answers.partial[index] = score.value
            answers.example = answers.example or f"{example} ({self.examples[index].name})"
        else:
            what = f"a wrong answer ({name}) gets {score.value} [{score.status}]: {example}"
            finding = error("gold", self.examples[index].name, what, "fix the verifier", f"{name} {score.status}")
            self.paid.append((index, finding))


def _cause(score: Score) -> str:
    return f"{score.value} {score.status} {score.explanation}"
