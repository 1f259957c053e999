"""Checks a task without a model: its cases, its data, and that gold answers score 1 and perturbed ones 0."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from grpo_env.core import Completion, Example, Group, Score
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.taskfile.composition import check_composition
from grpo_env.taskfile.dataset import SplitRows
from grpo_env.taskfile.doubtful_golds import SET_COMMA, doubtful, perhaps_commas, undecided_dates
from grpo_env.taskfile.schema import CaseSpec, Split
from grpo_env.taskfile.task import Task
from grpo_env.workers.scoring_process import score_in_process

from .data import columns, ids, lengths, overlap, repeated, uneven
from .environment import PLAYED, check_environment, metric_judges_turns
from .findings import Finding, by_cause, error, warning
from .gold_completion import gold_answer, option, prompt_text
from .golds import check_golds
from .left_out import left_out
from .odd_golds import gold_kinds
from .refused_forms import gold_forms
from .template_checks import constant_answer, constant_prompt, gold_in_prompt, other_tags

PROMPT = 400  # characters of a prompt
SHOWN = 5  # findings of a kind in the text; JSON has all


@dataclass
class CheckResult:
    """The result of a check: ``facts`` by check that ran, the reason for each that did ``not_run``, and findings."""

    task: str
    source: str
    prompt: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings are allowed."""
        return all(finding.severity != "error" for finding in self.findings)

    def add(self, name: str, fact: str, findings: Iterable[Finding] = ()) -> None:
        """Add what a check says, if it says anything, and what it found."""
        if fact:
            self.facts[name] = fact
        self.findings += findings

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping."""
        return {**asdict(self), "ok": self.ok}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.task}: {self.source}"
        for name, text in [("prompt", self.prompt), *self.facts.items()]:
            if text:
                yield f"{name:<8} {text.replace(chr(10), chr(10) + ' ' * 9)}"
        for name, why in self.not_run.items():
            yield f"{name:<8} not run: {why}"
        problems = by_cause(self.findings)
        for check in dict.fromkeys(finding.check for finding in self.findings):
            causes = [findings for findings in problems if findings[0].check == check]
            for first, *others in causes[:SHOWN]:
                rows = len({finding.where for finding in others} - {first.where})
                yield f"{first}" + (f" (and {counted(rows, 'other row')})" if rows else "")
            if len(causes) > SHOWN:
                yield f"... and {len(causes) - SHOWN:,} more of {check} (--json prints all)"
        errors = sum(first.severity == "error" for first, *_ in problems)
        conclusion = "incomplete" if self.not_run else "ok"
        counts = f"{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}"
        yield f"{counts} in {self.seconds:.1f} s" + (f": {conclusion}" if self.ok else "")


def check(task: Task, model: str | None = None, limit: int | None = None) -> CheckResult:
    """Run all checks of a task on the first ``limit`` rows of each split; ``model``'s tokenizer measures prompts.

    Hub data that cannot be loaded are not an error: the result lists those checks as not run. Raises ``UsageError``
    for local data that cannot be read and for a model that does not load.
    """
    start = time.perf_counter()
    result = CheckResult(task.name, task.source)
    for key, why in task.unusable():
        what, fix = why.rsplit("; ", 1) if "; " in why else (why, "choose another verifier")
        result.findings.append(error("verifiers", key, what, fix))
    result.findings += composition(task)
    if result.findings:
        result.not_run["cases, data"] = "a verifier cannot be used, or nothing be learned from them"
        return result
    result.findings += [
        error("cases", line.partition(": ")[0], line.partition(": ")[2], "fix the case or the verifier")
        for line in failed_cases(task)
    ]
    values = sum(len(case.model_extra or {}) for case in task.spec.cases)
    result.facts["cases"] = f"{len(task.spec.cases)} cases, {values} values, {len(result.findings)} wrong"
    try:
        split_rows = {split: task.rows(split, limit) for split in task.spec.dataset.split}
    except UsageError as problem:
        if not task.is_from_hub:
            raise
        result.not_run["data"] = str(problem)
        split_rows = {}
    if limit is None and not task.spec.dataset.limit:
        result.findings += uneven(task, split_rows)
    examples = {split: list(_examples(task, split, rows, result)) for split, rows in split_rows.items()}
    if task.spec.dataset.filter is not None and split_rows:
        lines = [f"{split}: {rows.filter_line or 'keeps all rows'}" for split, rows in split_rows.items()]
        result.facts["filter"] = "; ".join(lines)
    if any(examples.values()):
        _check_data(task, result, examples, model)
    result.seconds = time.perf_counter() - start
    return result


def _examples(task: Task, split: str, rows: SplitRows, result: CheckResult) -> Iterator[Example]:
    """The examples that can be scored; rows that cannot are added to the findings."""
    skip = task.spec.dataset.bad_gold == "skip"
    for number, where, row in rows.rows:
        try:
            example = task.example(row, f"{split}/{number}", "template", where)
            bad_gold = task.verifier.problem(example)
        except UsageError as problem:
            detail = str(problem).removeprefix(f"{task.source}: ")
            result.findings.append(error("data", where, detail, "fix the row or the template"))
            continue
        if bad_gold is None:
            yield example
            continue
        cause = bad_gold.replace(repr(example.answer), "it")
        if skip:
            result.findings.append(warning("data", where, bad_gold, "skipped (dataset.bad_gold=skip)", cause))
        else:
            fix = "fix it, or skip such rows with dataset.bad_gold=skip"
            result.findings.append(error("data", where, bad_gold, fix, cause))


def _check_data(
    task: Task, result: CheckResult, examples: Mapping[Split, Sequence[Example]], model: str | None
) -> None:
    """Add the facts and findings about the data to the result."""
    unreadable = sum(finding.check == "data" for finding in result.findings)
    everything = [example for split_examples in examples.values() for example in split_examples]
    prompt = prompt_text(everything[0])
    result.prompt = prompt if len(prompt) <= PROMPT else f"{prompt[: PROMPT - 120]} … {prompt[-100:]}"
    counts = ", ".join(f"{split} {len(split_examples):,}" for split, split_examples in examples.items())
    result.facts["data"] = f"{counts} examples"
    result.add("columns", *columns(task, everything))
    result.findings += ids(examples)
    constant = list(constant_prompt(task, everything))
    result.findings += [*constant, *constant_answer(task), *other_tags(task)]
    told = examples if task.spec.environment is None else _with_rows(examples)
    if not constant:
        result.findings += repeated(told)
    if not constant and "train" in examples and "eval" in examples:
        result.add("overlap", *overlap(told["train"], told["eval"]))
    result.add("lengths", *lengths(task, everything, model))
    if task.spec.environment is not None:
        first = [example for split_examples in examples.values() for example in split_examples[:PLAYED]]
        result.add("episodes", *check_environment(task, first, model))
        if metric_judges_turns(task):
            result.not_run["gold"] = f"{task.metric} reads turns; see the gold paths of the environment"
            return
    _check_golds(task, result, everything, unreadable)


def _check_golds(task: Task, result: CheckResult, examples: Sequence[Example], unreadable: int) -> None:
    """Add the facts and findings about the gold answers; ``unreadable`` rows are not among the examples."""
    golds = [gold for example in examples if (gold := gold_answer(task, example)) is not None]
    if len(golds) < len(examples):
        result.not_run["gold"] = "some rows have no gold answer that could be written out (dataset.answer)"
        return
    doubts = list(doubtful(golds, option(task.metric_verifier, "decimal", "point")))
    result.findings += [
        warning("data", examples[index].name, f"the gold answer {golds[index]!r:.60} {why}", fix, why)
        for index, why, fix in doubts
    ]
    said = {index for index, _, _ in doubts}
    lists = [index for index in perhaps_commas(golds) if index not in said]
    if lists and option(task.metric_verifier, "decimal") == "point" and option(task.metric_verifier, "kind") is None:
        result.facts["commas"] = (
            f"{len(lists):,} of {len(golds):,} gold answers, such as {golds[lists[0]]} ({examples[lists[0]].name}), are"
            f" read as two numbers; if each is one with a decimal comma, {SET_COMMA}"
        )
    if dates := undecided_dates(golds):
        result.facts["dates"] = (
            f"{len(dates):,} of {len(golds):,} gold answers are dates such as {dates[0]}, of which nothing says"
            " whether the day or the month comes first: only the same numbers in the same order are right"
        )
    facts, findings = gold_kinds(task, examples, golds, unreadable, said)
    result.facts |= facts
    result.findings += findings
    result.findings += gold_forms(task, examples, golds)
    result.findings += [*gold_in_prompt(task, examples, golds), *left_out(task, examples, golds)]
    result.add("gold", *check_golds(task, examples, golds))


def _with_rows(examples: Mapping[Split, Sequence[Example]]) -> dict[Split, list[Example]]:
    """The examples with their rows in the prompt: what the tools of an environment tell makes them differ."""
    return {
        split: [replace(e, prompt=f"{prompt_text(e)} {json.dumps(e.info, default=str)}") for e in split_examples]
        for split, split_examples in examples.items()
    }


def composition(task: Task) -> Iterator[Finding]:
    """A finding if nothing can be learned from the reward as the task's train section uses it."""
    from grpo_env.trainer.config import TrainConfig

    config = TrainConfig.from_mapping(task.defaults, f"{task.source}: train")
    try:
        check_composition(task, config.supervision, estimated=bool(config.step_values.rollouts))
    except UsageError as problem:
        what, _, fix = str(problem).removeprefix(f"{task.source}: ").removeprefix("verifiers: ").partition("; ")
        yield error("verifiers", "verifiers", what, fix)


def score_case(task: Task, case: CaseSpec) -> Score:
    """The score of a case's completion."""
    example = Example("", answer=case.answer, info=case.info)
    completion = Completion(case.completion, prefill=task.format.prefill)
    ((score,),) = score_in_process(task.verifier, [Group(example, [completion])])
    return task.with_parts(score)


def failed_cases(task: Task) -> Iterator[str]:
    """A line for each value of a case that differs from the one in the task file."""
    for index, case in enumerate(task.spec.cases):
        score = score_case(task, case)
        for name, expected in (case.model_extra or {}).items():
            part = score.part(name)
            if part.value != expected:
                why = f" ({case.why})" if case.why else ""
                actual = f"{part.value} [{part.status}] {part.explanation}"
                yield f"{task.source}: cases.{index}: {name} should be {expected}{why}, but is {actual}"
