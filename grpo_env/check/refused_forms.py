"""Gold answers of which the metric refuses right forms: units, rounded values, lists of answers, programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grpo_env.core import Example
from grpo_env.rows.column_names import guess
from grpo_env.taskfile.gold_forms import MOST, SOME, TESTS, as_fraction, has_physical_unit, is_program, list_template
from grpo_env.taskfile.schema import VerifierSpec
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.yaml_file import entry_line
from grpo_env.terminal import shortened

from .data import named
from .findings import Finding, warning
from .gold_completion import judging, metric_scores, option
from .odd_golds import metric_spec, options_of, weight_of

SCORED = 200  # gold answers of a form that are scored in another one
SHOWN = 40  # characters of a gold answer


def gold_forms(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> Iterator[Finding]:
    """Findings about gold answers in forms that the metric does not compare as meant."""
    name, spec = task.metric, metric_spec(task)
    used = spec.use or name
    if used in ("accuracy", "exact_text"):
        yield from _lists(task, examples)
        yield from _programs(task, examples, golds)
    if used == "accuracy":
        yield from [*_units(name, spec, examples, golds)] or _rounded(task, name, spec, examples, golds)


def _units(name: str, spec: VerifierSpec, examples: Sequence[Example], golds: Sequence[str]) -> Iterator[Finding]:
    """Physical quantities, as in SciBench: 9.8 is right for 9.81 m/s^2, and 500 mm for 50 cm is wrong."""
    from grpo_env.verifiers.answers.gold import kind_of_gold

    indices = [index for index, gold in enumerate(golds) if has_physical_unit(gold)]
    if len(indices) < SOME * len(golds):
        return
    if sum(kind_of_gold(gold) == "number" or has_physical_unit(gold) for gold in golds) < MOST * len(golds):
        what = f"{_some(indices, golds, examples)} have units: {name} takes no other unit"
        yield warning("gold", f"verifiers.{name}", what, "ask for the unit in the prompt")
        return
    line = entry_line("numeric", {"weight": weight_of(spec), "rel_tol": 0.01})
    what = f"{_some(indices, golds, examples)} have units: {name} takes no other unit and no rounded value"
    fix = f"ask for the unit in the prompt, set metric: numeric, and under verifiers write {line}"
    yield warning("gold", f"verifiers.{name}", what, fix)


def _rounded(
    task: Task, name: str, spec: VerifierSpec, examples: Sequence[Example], golds: Sequence[str]
) -> Iterator[Finding]:
    """Long decimals for fractions, as in MAWPS and TabMWP: 0.6666666667, for which 2/3 is right."""
    fractions = {index: text for index, gold in enumerate(golds) if (text := as_fraction(gold)) is not None}
    refused = _refused(task, examples, fractions)
    if refused:
        exact = fractions[refused[0]]
        what = f"{_some(refused, golds, examples)} are rounded values, for which {exact} is wrong"
        line = entry_line(name, options_of(spec) | {"rel_tol": 1.0e-6})
        yield warning("gold", f"verifiers.{name}", what, f"write {line}")


def _lists(task: Task, examples: Sequence[Example]) -> Iterator[Finding]:
    """Columns with a list of answers, as in NQ-open (each is right) and TAT-QA (all are needed)."""
    template = task.spec.dataset.answer or ""
    for name in named(list(examples[0].info), template):
        values = [example.info.get(name) for example in examples]
        are_lists = [isinstance(value, list) for value in values]
        rows = [index for index, is_list in enumerate(are_lists) if is_list and _is_whole_list(task, examples[index])]
        if not rows or any(isinstance(item, list | dict | bool) for row in rows for item in values[row] or []):
            continue
        golds = [str(example.answer) for example in examples]
        what = f"{_some(rows, golds, examples)} are lists from column {name!r}, and only the same list is right"
        fix = "write golds: any in the options of the metric if each item is right, golds: all if all are needed"
        if not all(are_lists):
            fix += f"; and dataset.answer: {list_template(name)!r}, as others are no lists"
        yield warning("gold", "dataset.answer", what, fix)


def _is_whole_list(task: Task, example: Example) -> bool:
    """Whether the gold answer is compared as one list, and not with ``golds`` or by a ``kind`` that was chosen."""
    modes = [option(verifier, "golds", "one") for verifier in judging(task.metric_verifier, example)]
    kinds = [option(verifier, "kind") for verifier in judging(task.metric_verifier, example)]
    return (example.answer or "").lstrip().startswith("[") and set(modes) == {"one"} and not any(kinds)


def _programs(task: Task, examples: Sequence[Example], golds: Sequence[str]) -> Iterator[Finding]:
    """Reference programs, as in HumanEval and MBPP: another program with the same results is right."""
    indices = [index for index, gold in enumerate(golds) if is_program(examples[index].answer or gold)]
    if 2 * len(indices) < len(golds):
        return
    tests = guess(examples[0].info, TESTS)
    found = f"column {tests!r} may be the tests" if tests else "no column looks like tests"
    line = entry_line("python_tests", {"weight": 1.0, "tests": tests or "tests"})
    what = f"{_some(indices, golds, examples)} are Python programs, which {task.metric} compares as text; {found}"
    yield warning("gold", f"verifiers.{task.metric}", what, f"run them, with metric: python_tests: {line}")


def _refused(task: Task, examples: Sequence[Example], answers: Mapping[int, str]) -> list[int]:
    """The indices of those answers that get no full credit from the metric."""
    tried = dict(list(answers.items())[:SCORED])
    scores = metric_scores(task, [(examples[index], answer) for index, answer in tried.items()])
    return [index for index, score in zip(tried, scores, strict=True) if score.value is not None and score.value < 1]


def _some(indices: Sequence[int], golds: Sequence[str], examples: Sequence[Example]) -> str:
    """How many gold answers, and one of them."""
    first = indices[0]
    count = f"{len(indices):,} of {len(golds):,} gold answers"
    return f"{count}, such as {shortened(golds[first], SHOWN)!r} ({examples[first].name}),"
