"""Checks a task without a model: its cases, its data, and that the metric pays gold answers and no others."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from grpo_env.core import Example, Group, Verifier, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.dataset import is_local, load_rows
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .data import columns, ids, lengths, overlap, repeated
from .findings import Finding, error, warning
from .gold_completion import Form, prompt_text, worked, written_gold
from .mutations import mutations

AT_ONCE = 256  # rows whose verdicts are asked for in one go: verifiers that judge in batches are called so
SHOWN = 5  # findings of a kind that the text shows; JSON has all


@dataclass
class Report:
    """What was found. ``facts`` has a line for each check that ran, ``not_run`` the reason for each that did not."""

    task: str
    source: str
    prompt: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; warnings are allowed."""
        return all(finding.severity != "error" for finding in self.findings)

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
        for check in dict.fromkeys(finding.check for finding in self.findings):
            found = [finding for finding in self.findings if finding.check == check]
            yield from map(str, found[:SHOWN])
            if len(found) > SHOWN:
                yield f"... and {len(found) - SHOWN:,} more of {check} (all with --json)"
        errors = sum(finding.severity == "error" for finding in self.findings)
        verdict = "not all is checked" if self.not_run else "ok"
        yield f"{errors} errors, {len(self.findings) - errors} warnings in {self.seconds:.1f} s" + (
            f": {verdict}" if self.ok else ""
        )


def check(task: Task, model: str | None = None, limit: int | None = None) -> Report:
    """All checks of a task, on the first ``limit`` rows of each split; ``model`` is the tokenizer to count prompts by.

    Data on the hub that cannot be had are no error: the report says that their checks were not run. Raises
    ``UsageError`` for local data that cannot be read and for a model that does not load.
    """
    start = time.perf_counter()
    report = Report(task.name, task.source)
    values = sum(len(case.model_extra or {}) for case in task.spec.cases)
    report.findings += [
        error("cases", line.partition(": ")[0], line.partition(": ")[2], "mend the case or the verifier")
        for line in failed_cases(task)
    ]
    report.facts["cases"] = f"{len(task.spec.cases)} cases, {values} values, {len(report.findings)} wrong"
    try:
        splits = {split: _rows(task, split, limit) for split in task.spec.dataset.split}
    except UsageError as problem:
        path = task.spec.dataset.path
        if path is None or is_local(path, task.folder):
            raise
        report.not_run["data"] = str(problem)
        splits = {}
    examples: dict[Split, list[Example]] = {}
    for split, rows in splits.items():
        examples[split] = list(_examples(task, split, rows, report))
    everything = [example for found in examples.values() for example in found]
    if everything:
        _data(task, report, splits, examples, everything, model)
    report.seconds = time.perf_counter() - start
    return report


def _rows(task: Task, split: Split, limit: int | None) -> list[Mapping[str, Any]]:
    return load_rows(task.spec.dataset, split, task.folder, task.source, limit)


def _examples(task: Task, split: str, rows: Sequence[Mapping[str, Any]], report: Report) -> Iterator[Example]:
    """The examples that can be made and judged; the others are findings."""
    skip = task.spec.dataset.bad_gold == "skip"
    for number, row in enumerate(rows):
        where = f"{split} row {number + 1}"
        try:
            example = task.example(row, f"{split}/{number}", where="template")
        except UsageError as problem:
            report.findings.append(error("data", where, str(problem), "mend the row or the template"))
            continue
        problem_text = task.verifier.problem(example)
        if problem_text is None:
            yield example
        elif skip:
            report.findings.append(warning("data", where, problem_text, "left out (dataset.bad_gold=skip)"))
        else:
            todo = "mend it, or leave such rows out with dataset.bad_gold=skip"
            report.findings.append(error("data", where, problem_text, todo))


def _data(
    task: Task,
    report: Report,
    rows: Mapping[Split, Sequence[Mapping[str, Any]]],
    examples: Mapping[Split, Sequence[Example]],
    everything: Sequence[Example],
    model: str | None,
) -> None:
    report.prompt = _short(prompt_text(everything[0]))
    counts = ", ".join(f"{split} {len(found):,}" for split, found in examples.items())
    report.facts["data"] = f"{counts} examples"
    report.facts["columns"], found = columns(task, rows)
    report.findings += found
    report.findings += ids(examples)
    report.findings += repeated(examples)
    if "train" in examples and "eval" in examples:
        report.facts["overlap"], found = overlap(examples["train"], examples["eval"])
        report.findings += found
    report.facts["lengths"], found = lengths(task, everything, model)
    report.findings += found
    golds = [written_gold(task, example) for example in everything]
    if None in golds:
        report.not_run["gold"] = "the task has rows without a gold answer (dataset.answer), so none can be written out"
    else:
        report.facts["gold"], found = gold_answers(task, everything, [gold for gold in golds if gold is not None])
        report.findings += found


def gold_answers(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> tuple[str, list[Finding]]:
    """Whether the metric pays each gold answer in full, written in the task's form, and nothing for a changed one."""
    form, metric = Form(task.format), part_verifier(task.verifier, task.metric) or task.verifier
    findings: list[Finding] = []
    totals: set[float] = set()
    changed = paid = 0
    for start in range(0, len(examples), AT_ONCE):
        places = range(start, min(start + AT_ONCE, len(examples)))
        texts = [form.text(worked(task, examples[place], golds[place]), golds[place]) for place in places]
        right = [Group(examples[place], [form.completion(text)]) for place, text in zip(places, texts, strict=True)]
        for place, (score,) in zip(places, score_groups(task.verifier, right), strict=True):
            part = score.part(task.metric)
            if score.value is not None:
                totals.add(round(score.value, 6))
            if part.value is None or part.value < 1:
                what = f"the gold answer {_short(golds[place], 60)!r} gets {task.metric} {part.value} [{part.status}]"
                why = f": {part.explanation}" if part.explanation else ""
                findings.append(error("gold", examples[place].id, what + why, "mend dataset.answer or the verifier"))
        cases = [(place, *mutation) for place in places for mutation in mutations(golds, place)]
        groups = [Group(examples[place], [form.completion(form.text("", text))]) for place, _, text in cases]
        for (place, name, text), (score,) in zip(cases, score_groups(metric, groups), strict=True):
            changed += 1
            if score.value is None or score.value > 0:
                paid += 1
                severity: Literal["error", "warning"] = (
                    "warning" if score.value is not None and score.value < 1 else "error"
                )
                what = f"a wrong answer ({name}) gets {score.value} [{score.status}]: {_short(text, 60)!r} for "
                what += repr(_short(golds[place], 60))
                findings.append(Finding(severity, "gold", examples[place].id, what, "mend the verifier"))
    shown = f"{min(totals):g}" + (f" to {max(totals):g}" if len(totals) > 1 else "") if totals else "none"
    refused = sum(finding.what.startswith("the gold") for finding in findings)
    fact = (
        f"{len(golds):,} written in the task's form: {refused:,} without full marks from {task.metric}; total {shown}\n"
        f"{changed:,} changed ones (number, sign, another row's, empty): {paid:,} paid"
    )
    return fact, findings


def part_verifier(verifier: Verifier, name: str) -> Verifier | None:
    """The verifier of the part called ``name``, at any depth."""
    for part in getattr(verifier, "parts", ()):
        found = part.verifier if part.name == name else part_verifier(part.verifier, name)
        if found is not None:
            return found
    return None


def failed_cases(task: Task) -> Iterator[str]:
    """One line for each case with a value other than the task file says."""
    for number, case in enumerate(task.spec.cases):
        score = task.score(case.completion, answer=case.answer, info=case.info)
        for name, expected in (case.model_extra or {}).items():
            part = score if name == "total" else score.part(name)
            if part.value != expected:
                why = f" ({case.why})" if case.why else ""
                found = f"{part.value} [{part.status}] {part.explanation}"
                yield f"{task.source}: cases.{number}: {name} should be {expected}{why}, found {found}"


def _short(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[: most - 120]} … {text[-100:]}" if most > 200 else f"{text[:most]}…"
