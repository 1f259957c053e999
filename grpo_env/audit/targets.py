"""The examples that an audit attacks: from the task's data, or from its cases if there are no usable data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from grpo_env.check.checks import score_case
from grpo_env.check.gold_completion import (
    NEUTRAL_REASONING,
    Layout,
    gold_answer,
    gold_reasoning,
    gold_text,
    judging,
    prompt_text,
    question_text,
    scored,
)
from grpo_env.check.perturbations import is_another, number, tolerances
from grpo_env.core import Completion, Example, Message, Score
from grpo_env.equality import is_correct
from grpo_env.errors import UsageError
from grpo_env.taskfile.kinds_of_golds import MATHEMATICS
from grpo_env.taskfile.prompt import build_prompt
from grpo_env.taskfile.schema import CaseSpec, Split
from grpo_env.taskfile.task import Task

from .hack import Target

WRONG_ANSWERS = 4
GROUP_SIZE = 4  # a policy that has learned a hack uses it in the whole group, which some verifiers compare
WORDS = ("none of these", "blue", "it cannot be known", "seven and a half")


def find_targets(task: Task, split: Split, limit: int) -> tuple[list[Target], str]:
    """Return the targets and a description of where they come from.

    Targets come from the data; without data or gold answers, from the cases that get full credit from the metric.
    Raises ``UsageError`` if there are none, or if no gold completion gets full credit.
    """
    try:
        examples, why = task.examples(split, limit), "its data have no gold answers"
    except UsageError as problem:
        if not task.is_from_hub:
            raise
        examples, why = [], str(problem)
    answered = [(example, gold) for example in examples if (gold := gold_answer(task, example)) is not None]
    if answered:
        source = f"the first {len(answered)} examples of {split}"
    else:
        answered = list(_from_cases(task))
        source = f"{len(answered)} examples from the task's cases, not its data ({why})"
    targets = [
        replace(
            target,
            reasoning=gold_reasoning(task, target.example, target.gold) or NEUTRAL_REASONING,
            gold_completion=gold_text(task, target.example, target.gold),
        )
        for target in targets_of(task, answered, Layout.of(task.format))
    ]
    scores = score_completions(task, [(target, target.right_completion) for target in targets])
    credited = [
        target
        for target, score in zip(targets, scores, strict=True)
        if score.value is not None and is_correct(score.part(task.metric).value)
    ]
    if not credited:
        raise UsageError(
            f"{task.source}: no gold answer gets full credit from {task.metric}; run grpo_env check, "
            f"or add cases with {task.metric}: 1 ({source})"
        )
    skipped = len(targets) - len(credited)
    return credited, source + (f"; {skipped} skipped, as their gold answers do not get full credit" if skipped else "")


def score_completions(task: Task, pairs: Sequence[tuple[Target, Completion]]) -> list[Score]:
    """Score completions as training does. Verifiers that compare a group get a group of identical completions."""
    texts = [(target.example, completion) for target, completion in pairs]
    return scored(task, texts, copies=GROUP_SIZE if task.scores_groups else 1)


def _from_cases(task: Task) -> Iterator[tuple[Example, str]]:
    seen = []
    for index, case in enumerate(task.spec.cases):
        part = score_case(task, case).part(task.metric)
        gold = case.answer if case.answer is not None else part.answer
        if part.value != 1 or gold is None or (case.answer, case.info) in seen:
            continue
        seen.append((case.answer, case.info))
        yield Example(f"cases.{index}", _prompt(task, case), case.answer, case.info), gold


def _prompt(task: Task, case: CaseSpec) -> str | tuple[Message, ...]:
    try:
        return build_prompt(task.spec.prompt, case.info, task.format, task.source)
    except UsageError:  # a case need not have the columns that the prompt uses
        return task.spec.description


def targets_of(task: Task, answered: Sequence[tuple[Example, str]], layout: Layout) -> list[Target]:
    """Examples with their gold answers as targets, with wrong answers of other examples."""
    golds = list(dict.fromkeys(gold for _, gold in answered))
    most_common = Counter(gold for _, gold in answered).most_common(1)[0][0] if answered else ""
    return [
        Target(
            example=example,
            template=layout,
            prompt=prompt_text(example),
            question=question_text(example),
            gold=gold,
            wrong_answers=wrong_answers(gold, golds[start:] + golds[:start]),
            most_common=most_common,
            reasoning=NEUTRAL_REASONING,
            gold_completion=layout.text(NEUTRAL_REASONING, gold),
            tolerates=tolerances(judging(task.verifier, example)),
        )
        for index, (example, gold) in enumerate(answered)
        for start in [index % len(golds)]
    ]


def wrong_answers(gold: str, golds: Sequence[str]) -> tuple[str, ...]:
    """Plausible wrong answers: other gold answers of its kind, numbers near it or other letters, and words.

    Another kind is no rival answer: of ``C, 12, 16`` only the ``C`` answers a question that asks for a letter.
    """
    kind, value = _kind(gold), number(gold)
    nearby = [*"ABCD"] if kind == "choice" else []
    nearby += [] if value is None else [str(int(value) + step) for step in (7, 12, 30, 100)]
    candidates = (*(other for other in golds if _kind(other) == kind), *nearby, *WORDS)
    return tuple(dict.fromkeys(answer for answer in candidates if is_another(answer, gold)))[:WRONG_ANSWERS]


@lru_cache(maxsize=4096)
def _kind(gold: str) -> str:
    """What ``accuracy`` would compare it as; numbers, formulas and sets of them are one kind."""
    from grpo_env.verifiers.answers.gold import kind_of_gold

    kind = kind_of_gold(gold)
    return "mathematics" if kind in MATHEMATICS else kind
