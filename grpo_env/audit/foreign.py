"""Audits a reward without a task: finds the gold answers in its data, and the format in which it is paid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from grpo_env.check.gold_completion import Layout
from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import locate
from grpo_env.rows.column_names import ANSWER, QUESTION, guess
from grpo_env.rows.reader import read_records
from grpo_env.taskfile.question_parts import variable
from grpo_env.taskfile.task import Task, make_task

from .attack import Attack
from .hack import Target
from .request import AuditRequest, Progress
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


class _Guess(NamedTuple):
    """A reading of the data, with the rewards that gold and wrong answers get in a format."""

    gold: float
    gap: float
    task: Task
    column: str
    format: str
    targets: list[Target]

    @property
    def rank(self) -> tuple[float, float, bool]:
        """What is paid best; a format with reasoning for a reward that pays no answers."""
        return self.gold, self.gap, self.gold <= 0 and self.targets[0].template.reasoning is not None


def audit_foreign(
    functions: Sequence[str],
    data: Path,
    request: AuditRequest | None = None,
    *,
    progress: Progress = lambda line: None,
) -> Audit:
    """Attack a reward of another project on the first rows of ``data``; ``progress`` is told what is tried.

    ``functions`` are ``FILE.py:NAME`` or ``FILE.py:NAME,NAME``, with TRL's arguments or those of one row; several are
    added up, as TRL adds up ``reward_funcs``. Raises ``UsageError`` for what is neither, and if no column holds answers
    that they pay.
    """
    request = request or AuditRequest()
    found, why = None, ""
    for is_chat in (False, True):
        task = _task(functions, data, is_chat=is_chat)
        if is_chat and not _takes_lists(task):
            break
        examples = task.examples("train", request.limit)
        for column in _columns(task, examples):
            for guessed in _guesses(task, column, examples):
                if isinstance(guessed, str):
                    why = why or f"a gold answer is unscored: {guessed}; "
                elif found is None or guessed.rank > found.rank:
                    found = guessed
            if found is not None and found.gap > 0:
                return _attack(found, examples).run(request, progress)
    report = _attack(found, examples).run(request, progress) if found else None
    if found is None or report is None or (found.gold <= 0 and not report.exploits):
        raise UsageError(
            f"{' '.join(functions)}: {why}no column of {data} holds answers that it pays in a usual format "
            f"({', '.join(LAYOUTS)}); name the column answer, or write a task file, in which the format is yours"
        )
    return report


def _attack(found: _Guess, examples: Sequence[Example]) -> Attack:
    golds = [(example, _answer(_cells(example.info).get(found.column))) for example in examples]
    layout = found.targets[0].template
    targets = targets_of(found.task, [(example, gold) for example, gold in golds if gold], layout)
    empty = [example for example, gold in golds if not gold]
    kind = "chats" if found.task.spec.prompt.text is None else "texts"
    source = f"{len(targets)} rows; answers in {found.column!r}, paid as {found.format}; completions are {kind}"
    return Attack(found.task, targets, source, empty, slow=SECONDS, is_foreign=True)


def _takes_lists(task: Task) -> bool:
    """Whether a function gets chats or texts, by the prompt."""
    return any("completions" in getattr(cls, "defaults", {}) for cls in task.verifier_classes)


def _verifiers(functions: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The functions as verifiers of a task file. Raises ``UsageError`` for what is none."""
    verifiers: dict[str, dict[str, Any]] = {}
    for home in functions:
        file, _, names = home.rpartition(":")
        for name in names.split(","):
            if not file or not name.isidentifier():
                raise UsageError(f"{home}: expected a function, FILE.py:NAME, or several, FILE.py:NAME,NAME")
            key = f"{name}_{len(verifiers) + 1}" if name in verifiers else name
            verifiers[key] = {"use": locate(f"{file}:{name}", Path()), "deadline": SECONDS}
    return verifiers


def _task(functions: Sequence[str], data: Path, *, is_chat: bool) -> Task:
    """A task with the functions as its whole reward."""
    verifiers = _verifiers(functions)
    first = next((record.row for record in read_records(data) if record.row is not None), {})
    question, answer = _named(first)
    is_messages = isinstance(first.get(question), list)
    prompt = f"{{{{ {variable(question)} }}}}" if question else "?"
    answers = {"answer": f"{{{{ {variable(answer)} }}}}"} if answer in first and answer != "answer" else {}
    spec = {
        "version": 1,
        "task": re.sub(r"[^A-Za-z0-9.-]+", "_", "-".join(verifiers)).strip("_.-"),
        "dataset": {"path": str(data.absolute()), "split": {"train": 1.0}, **answers},
        "prompt": {"messages": question} if is_messages else {"user" if is_chat else "text": prompt},
        "verifiers": verifiers,
        "metric": next(iter(verifiers)),
    }
    return make_task(spec, f"{' '.join(functions).rpartition('/')[2]} on {data.name}", Path())


def _named(row: Mapping[str, Any]) -> tuple[str, str]:
    """The columns of the question and of the gold answer, by their names; empty if there is none.

    The gold answer may be inside a column that is a mapping, if no column of its own looks like it.
    """
    question = guess(row, QUESTION) or ""
    inner = [name for name in _cells(row) if name not in row]
    return question, guess([name for name in row if name != question], ANSWER) or guess(inner, ANSWER) or ""


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a row, and what is in those that are mappings: ``reward_model.ground_truth`` of verl's rows."""
    inner = {
        f"{name}.{key}": cell
        for name, value in row.items()
        for key, cell in (value.items() if isinstance(value, Mapping) else ())
    }
    return {**row, **inner}


def _columns(task: Task, examples: Sequence[Example]) -> Iterator[str]:
    """The columns that may hold gold answers: those that a function takes, then by their names."""
    names, (_, named) = list(_cells(examples[0].info)), _named(examples[0].info)
    takes = [name for cls in task.verifier_classes for name in getattr(cls, "defaults", {})]
    taken = sorted((name for name in takes if name in names), key=lambda name: name != named)
    yield from dict.fromkeys([*taken, *([named] if named else []), *names])


def _guesses(task: Task, column: str, examples: Sequence[Example]) -> Iterator[_Guess | str]:
    """A guess for each format, if the column has answers; or why its gold answers are unscored."""
    golds = [(example, gold) for example in examples if (gold := _answer(_cells(example.info).get(column)))]
    for name, layout in LAYOUTS.items() if golds else ():
        targets = targets_of(task, golds, layout)[:TRIED]
        right = [(target, target.right_completion) for target in targets]
        wrong = [(target, target.wrong_completion) for target in targets]
        scores = score_completions(task, [*right, *wrong])
        values = [score.value for score in scores[: len(right)] if score.value is not None]
        if values:
            rest = [score.value for score in scores[len(right) :] if score.value is not None]
            yield _Guess(fmean(values), fmean(values) - fmean(rest) if rest else 0.0, task, column, name, targets)
        else:
            yield scores[0].explanation


def _answer(value: Any) -> str:
    """The answer of a cell: of a worked solution what it says at its end."""
    from grpo_env.verifiers.answers.extract import answer_in, final_answer

    value = value[0] if isinstance(value, list) and value else value
    text = "" if value is None or isinstance(value, Mapping) else str(value).strip()
    marked = final_answer(Format(), Completion(text), ("answer_tag", "boxed", "hashes")).answers
    return (marked or answer_in(text, ()).answers or ("",))[-1].strip()
