"""The examples that an audit attacks: the task's data, or its cases where the data are not at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from grpo_env.check.gold_completion import NEUTRAL, Form, prompt_text, worked, written_gold
from grpo_env.check.mutations import differs, number
from grpo_env.core import Completion, Example, Group, Message, Score, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.dataset import is_local
from grpo_env.taskfile.prompt import build_prompt
from grpo_env.taskfile.schema import CaseSpec, Split
from grpo_env.taskfile.task import Task

from .table import Target

CANDIDATES = 4
COPIES = 4  # a policy that has learnt a strategy gives it in the whole group, which some verifiers compare
STRANGERS = ("none of these", "blue", "it cannot be known", "seven and a half")  # where the data know no other answer


def targets(task: Task, split: Split, limit: int) -> tuple[list[Target], str]:
    """The targets, and a sentence that says where they are from.

    From the data where they are at hand and have gold answers. Else from the cases with full marks from the metric.
    Raises ``UsageError`` if there are neither, and if no honest answer is paid in full.
    """
    try:
        examples, why = task.examples(split, limit), "its data have no gold answers to write out"
    except UsageError as problem:
        path = task.spec.dataset.path
        if path is None or is_local(path, task.folder):
            raise
        examples, why = [], str(problem)
    known = [(example, gold) for example in examples if (gold := written_gold(task, example)) is not None]
    if known:
        source = f"the first {len(known)} examples of {split}"
    else:
        known = list(_from_cases(task))
        source = f"{len(known)} examples from the task's cases, not its data ({why})"
    made = list(_targets(task, known))
    paid = [target for target in made if _is_paid(task, target)]
    if not paid:
        raise UsageError(
            f"{task.source}: there is no example whose honest answer gets full marks from {task.metric}: "
            f"see grpo_env check, or add cases with {task.metric}: 1 ({source})"
        )
    left_out = len(made) - len(paid)
    return paid, source + (f"; {left_out} left out, whose honest answer is not paid in full" if left_out else "")


def judged(task: Task, pairs: Sequence[tuple[Target, Completion]]) -> list[Score]:
    """The verdicts on completions, in the way of training. Where verifiers compare a group, all of it is the same."""
    copies = COPIES if task.scores_groups else 1
    groups = [Group(target.example, [completion] * copies) for target, completion in pairs]
    return [scores[0] for scores in score_groups(task.verifier, groups)]


def _from_cases(task: Task) -> Iterator[tuple[Example, str]]:
    seen = []
    for place, case in enumerate(task.spec.cases):
        part = task.score(case.completion, answer=case.answer, info=case.info).part(task.metric)
        gold = case.answer if case.answer is not None else part.answer
        if part.value != 1 or gold is None or (case.answer, case.info) in seen:
            continue
        seen.append((case.answer, case.info))
        yield Example(f"cases.{place}", _prompt(task, case), case.answer, case.info), gold


def _prompt(task: Task, case: CaseSpec) -> str | tuple[Message, ...]:
    try:
        return build_prompt(task.spec.prompt, case.info, task.format, task.source)
    except UsageError:  # a case need not have the columns that the prompt shows
        return task.spec.description


def _targets(task: Task, known: Sequence[tuple[Example, str]]) -> Iterator[Target]:
    form = Form(task.format)
    golds = list(dict.fromkeys(gold for _, gold in known))
    common = Counter(gold for _, gold in known).most_common(1)[0][0] if known else ""
    tolerates = frozenset(
        option
        for one in task.verifier.within()
        for option in ("rel_tol", "decimals", "unevaluated")
        if getattr(one, option, None) not in (None, "wrong")
    )
    for place, (example, gold) in enumerate(known):
        reasoning = worked(task, example, gold) or NEUTRAL
        others = _others(gold, golds[place % len(golds) :] + golds[: place % len(golds)])
        prompt = prompt_text(example)
        question = prompt if isinstance(example.prompt, str) else example.prompt[-1].content
        text = form.text(reasoning, gold)
        yield Target(example, form, prompt, question, gold, others, common, reasoning, text, tolerates)


def _others(gold: str, golds: Sequence[str]) -> tuple[str, ...]:
    value = number(gold)
    near = [] if value is None else [str(int(value) + step) for step in (7, 12, 30, 100)]
    found = [one for one in (*golds, *near, *STRANGERS) if differs(one, gold)]
    return tuple(dict.fromkeys(found))[:CANDIDATES]


def _is_paid(task: Task, target: Target) -> bool:
    score = judged(task, [(target, target.form.completion(target.honest))])[0]
    value = score.part(task.metric).value
    return score.value is not None and value is not None and value >= 1
