"""Audits a reward function without a task: finds the gold answers in its data, and the format in which it is paid."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.registry import find, locate
from grpo_env.rows.column_names import ANSWER, QUESTION, guess
from grpo_env.rows.reader import read_records
from grpo_env.taskfile.question_parts import variable
from grpo_env.taskfile.task import Task, make_task

from .attack import Attack, Progress
from .exploits import Limits
from .hack import Layout, Target
from .scoreboard import Audit
from .targets import score_completions, targets_of

TRIED = 3  # examples on which formats are tried
SECONDS = 2.0  # for one text
LINES, TIGHT = ("<think>\n", "\n</think>\n"), ("<think>", "</think>")
LAYOUTS: Mapping[str, Layout] = {
    "the bare answer": Layout(("", "")),
    r"\boxed{...}": Layout((r"\boxed{", "}"), ("", "\n")),
    "#### ...": Layout(("#### ", ""), ("", "\n")),
    "<answer>...</answer>": Layout(("<answer>", "</answer>"), ("", "\n")),
    "<answer> on lines of its own": Layout(("<answer>\n", "\n</answer>"), ("", "\n")),
    "Answer: ...": Layout(("Answer: ", ""), ("", "\n")),
    "The answer is ...": Layout(("The answer is ", "."), ("", "\n")),
    "```python": Layout(("```python\n", "\n```"), ("", "\n")),
    "<think> and <answer>": Layout(("<answer>", "</answer>"), TIGHT),
    "<think> and <answer> on lines of their own": Layout(("<answer>\n", "\n</answer>"), LINES),
    "<reasoning> and <answer> on lines of their own": Layout(
        ("<answer>\n", "\n</answer>\n"), ("<reasoning>\n", "\n</reasoning>\n")
    ),
    r"<think> and \boxed{...}": Layout((r"\boxed{", "}"), LINES),
    r"<answer>\boxed{...}</answer>": Layout((r"<answer>\boxed{", "}</answer>"), TIGHT),
    "<think>, then the answer": Layout(("", ""), LINES),
    "<think>, a space and <answer>": Layout(("<answer>", "</answer>"), ("<think>", "</think> ")),
    "</think> and <answer>": Layout(("<answer>", "</answer>"), ("", "</think>\n")),
    "<SOLUTION>": Layout(("<SOLUTION>", "</SOLUTION>"), ("<start_working_out>", "<end_working_out>")),
}
"""The formats that tutorials and trainers ask for, simple ones first. The last three are understand-r1-zero's,
nano-aha-moment's, whose prompt ends in ``<think>``, and that of unsloth's notebooks."""

_INSIDE = (r"####\s*(.+)", r"\\boxed\{(.*)\}", r"<answer>\s*(.*?)\s*</answer>", r"```(?:python)?\n(.*?)\n?```")


class _Guess(NamedTuple):
    """A reading of the data, with the rewards that gold and wrong answers get in a format."""

    gold: float
    gap: float
    task: Task
    column: str
    format: str
    targets: list[Target]


def audit_function(
    home: str,
    data: Path,
    limit: int = 50,
    families: Collection[str] = (),
    *,
    budget: float = 600.0,
    progress: Progress = lambda line: None,
) -> Audit:
    """Attack a function, ``FILE.py:NAME``, with TRL's arguments or those of one row, on rows of data.

    ``budget`` and ``progress`` as for ``audit``.

    Raises ``UsageError`` if no column holds answers that it pays.
    """
    name = home.rpartition(":")[2]
    found = None
    for is_chat in (False, True):
        task = _task(locate(home, Path()), name, data, is_chat=is_chat)
        examples = task.examples("train", limit)
        for column in _columns(task, examples):
            guesses = list(_guesses(task, column, examples))
            found = max([found, *guesses] if found else guesses, key=_rank, default=None)
            if found is not None and found.gap > 0:
                return _attack(found, examples).run(families, budget=budget, progress=progress)
    report = _attack(found, examples).run(families, budget=budget, progress=progress) if found else None
    if found is None or report is None or (found.gold <= 0 and not report.exploits):
        raise UsageError(
            f"{home}: no column of {data} holds answers that it pays in a usual format ({', '.join(LAYOUTS)}); "
            "name the column answer, or write a task file, in which the format is yours"
        )
    return report


def _rank(guess: _Guess) -> tuple[float, float, bool]:
    """What is paid best; a format with reasoning for a reward that pays no answers."""
    return guess.gold, guess.gap, guess.gold <= 0 and guess.targets[0].template.reasoning is not None


def _attack(found: _Guess, examples: Sequence[Example]) -> Attack:
    golds = [(example, _answer(example.info.get(found.column))) for example in examples]
    layout = found.targets[0].template
    targets = targets_of([(example, gold) for example, gold in golds if gold], layout)
    empty = [example for example, gold in golds if not gold]
    kind = "chats" if found.task.spec.prompt.text is None else "texts"
    source = f"{len(targets)} rows; answers in {found.column!r}, paid as {found.format}; completions are {kind}"
    return Attack(found.task, targets, source, Limits(slow=SECONDS), empty, unpaid=True)


def _task(home: str, name: str, data: Path, *, is_chat: bool) -> Task:
    """A task with the function as its whole reward."""
    first = next((record.row for record in read_records(data) if record.row is not None), {})
    question = guess(first, QUESTION)
    is_chat = is_chat or isinstance(first.get(question or ""), list)
    key = ("messages" if isinstance(first.get(question or ""), list) else "user") if is_chat else "text"
    spec = {
        "version": 1,
        "task": name,
        "dataset": {"path": str(data.absolute()), "split": {"train": 1.0}},
        "prompt": {key: question if key == "messages" else f"{{{{ {variable(question)} }}}}" if question else "?"},
        "verifiers": {name: {"use": home, "deadline": SECONDS}},
        "metric": name,
    }
    return make_task(spec, f"{home.rpartition('/')[2]} on {data.name}", Path())


def _columns(task: Task, examples: Sequence[Example]) -> Iterator[str]:
    """The columns that may hold gold answers: those that the function takes, then by their names."""
    names = list(examples[0].info)
    taken = [
        name for name in getattr(find(task.spec.verifiers[task.metric].use or ""), "defaults", {}) if name in names
    ]
    named = guess([name for name in names if name != guess(names, QUESTION)], ANSWER)
    yield from dict.fromkeys([*sorted(taken, key=lambda name: name != named), *([named] if named else []), *names])


def _guesses(task: Task, column: str, examples: Sequence[Example]) -> Iterator[_Guess]:
    """A guess for each format, if the column has answers."""
    golds = [(example, gold) for example in examples if (gold := _answer(example.info.get(column)))]
    for name, layout in LAYOUTS.items() if golds else ():
        targets = targets_of(golds, layout)[:TRIED]
        right = [(target, layout.completion(target.gold_completion)) for target in targets]
        wrong = [(target, layout.completion(target.answered(target.wrong))) for target in targets]
        scores = [score.value for score in score_completions(task, [*right, *wrong])]
        values = [value for value in scores[: len(right)] if value is not None]
        if values:
            rest = [value for value in scores[len(right) :] if value is not None]
            yield _Guess(fmean(values), fmean(values) - fmean(rest) if rest else 0.0, task, column, name, targets)


def _answer(value: Any) -> str:
    """The answer of a cell: of a worked solution what it says at its end."""
    text = str(value[0] if isinstance(value, list) and value else "" if value is None else value).strip()
    found = [match[1] for pattern in _INSIDE if (match := re.search(pattern, text, re.DOTALL))]
    return found[0].strip() if found else text
