"""A task file for a table of questions and answers: its columns, the kind of its answers, and what is wrong with it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from grpo_env.core import Completion, Example, score_one
from grpo_env.errors import UsageError
from grpo_env.files.column_names import ANSWER, QUESTION, guess
from grpo_env.files.reader import read_records

from .doubtful_golds import doubtful
from .gold_kinds import counted, main_kind
from .task import make_task, make_verifier
from .yaml_file import parse_yaml

MAX_ROWS = 100_000  # read to find out what a table holds
SHOWN = 5  # doubtful answers in the notes
SMALL = 100  # rows; of fewer, three in ten are held out
ID = ("id", "uid", "uuid", "key", "sku", "index")


@dataclass(frozen=True)
class Draft:
    """The text of a task file, and notes about the data."""

    text: str
    notes: Sequence[str]


def draft_task(file: Path, data: Path, question: str | None = None, answer: str | None = None) -> Draft:
    """A task file, to be written as ``file``, for the rows of ``data``. Columns that are not given are guessed.

    Raises ``UsageError`` if the data cannot be read, or a column is not found.
    """
    places, rows = [], []
    for record in islice(read_records(data), MAX_ROWS):
        if record.row is not None:
            places.append(f"{data.name}, {record.place}")
            rows.append(record.row)
    if not rows:
        raise UsageError(f"{data}: no rows; expected one question with its answer a row")
    names = [name for name in rows[0] if all(name in row for row in rows)]
    question = _column(question, "question", QUESTION, names, data)
    answer = _column(answer, "answer", ANSWER, names, data, taken=question)
    golds = [_text(row[answer]) for row in rows]
    template, golds = _final_answers(answer, golds)
    kinds = _kinds(golds)
    counts = Counter(filter(None, kinds))
    doubts = {index: why for index, why, _ in doubtful(golds)}
    is_number = main_kind(counts) == "number" and _are_numbers(golds, kinds, doubts)
    unreadable = {row for row, kind in enumerate(kinds) if kind is None}
    unusable = len(unreadable | doubts.keys() if is_number else unreadable)
    notes = [
        f"{len(rows):,} rows; columns {', '.join(names)}; question: {question}, answer: {answer}",
        f"answers: {', '.join(counted(name, count) for name, count in counts.most_common())}",
        *_notes(rows, question, golds),
    ]
    notes += [f"{places[index]}: {golds[index]!r:.60} {why}" for index, why in list(doubts.items())[:SHOWN]]
    notes += [f"{len(doubts) - SHOWN:,} more such answers"] if len(doubts) > SHOWN else []
    if unusable:
        notes.append(f"rows without a usable answer: {unusable:,}; they are skipped (dataset.bad_gold: skip)")
    id_template = _id_template(names, rows)
    notes.append(f"ids: {guess(names, ID)}" if id_template else _other_ids(names, rows, (question, answer)))
    dataset = {
        "path": os.path.relpath(data, file.parent),
        "split": "{train: 0.7, eval: 0.3}" if len(rows) < SMALL else "{train: 0.9, eval: 0.1}",
        "id": id_template,
        "answer": f'"{template}"',
        "bad_gold": "skip" if unusable else None,
    }
    text = _filled(file.stem, dataset, _template(question), is_number, counts)
    return Draft(_with_both_splits(text, file), notes)


def _column(
    given: str | None, what: str, words: Sequence[str], names: Sequence[str], data: Path, taken: str | None = None
) -> str:
    """A column that is given, or one that looks right; ``taken`` is the question's, which is not guessed again."""
    found = given or guess([name for name in names if name != taken], words)
    if found is None or found not in names:
        reason = f"no column {given!r}" if given else f"no column looks like the {what}"
        reason += f" (the question: {taken})" if taken and not given else ""
        reason += "; separate the columns by commas" if len(names) == 1 and ";" in names[0] else ""
        raise UsageError(f"{data}: {reason}; name it with --{what}; columns of all rows: {', '.join(names)}")
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _final_answers(column: str, golds: Sequence[str]) -> tuple[str, list[str]]:
    """The template of the answers in a column, and the answers: what follows ``####``, or is in answer tags, in all."""
    if all("####" in gold for gold in golds if gold):
        return _template(column, ".split('####')[-1] | trim"), [gold.rpartition("####")[2].strip() for gold in golds]
    if all(gold.count("<answer>") == 1 == gold.count("</answer>") for gold in golds if gold):
        inside = [gold.rpartition("<answer>")[2].partition("</answer>")[0].strip() for gold in golds]
        return _template(column, ".split('<answer>')[-1].split('</answer>')[0] | trim"), inside
    return _template(column), list(golds)


def _template(column: str, filters: str = "") -> str:
    name = column if column.isidentifier() and column not in ("row", "format") else f"row['{column}']"
    return f"{{{{ {name}{filters} }}}}"


def _id_template(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str | None:
    name = guess(names, ID)
    if name is None or len({_text(row[name]) for row in rows} - {""}) < len(rows):
        return None
    return f'"{_template(name)}"'


def _other_ids(names: Sequence[str], rows: Sequence[Mapping[str, Any]], used: Sequence[str]) -> str:
    """What is said if no column is called an id: one whose values are all different may be a sum or a name as well."""
    line = "ids: train/0, train/1, ...; "
    for name in names:
        texts = {_text(row[name]) for row in rows if " " not in _text(row[name])} - {""}
        if name not in used and len(texts) == len(rows) > 1:
            return f'{line}if {name}, whose values all differ, is one, add to dataset: id: "{_template(name)}"'
    return f"{line}dataset.id sets others"


def _kinds(golds: Sequence[str]) -> list[str | None]:
    """The kind of each answer, as the verifier ``accuracy`` compares it; ``None`` if it cannot read it."""
    verifier = make_verifier("accuracy", {}, "accuracy")
    return [score_one(verifier, Example("", answer=gold), Completion("")).kind if gold else None for gold in golds]


def _are_numbers(golds: Sequence[str], kinds: Sequence[str | None], doubts: Collection[int]) -> bool:
    """Whether all answers are numbers, also with leading zeros, apart from those that are doubtful or unreadable."""
    return all(
        kind in ("number", None) or gold.removeprefix("-").isdecimal() or index in doubts
        for index, (gold, kind) in enumerate(zip(golds, kinds, strict=True))
    )


def _notes(rows: Sequence[Mapping[str, Any]], question: str, golds: Sequence[str]) -> list[str]:
    questions = [_text(row[question]) for row in rows]
    lengths = sorted(map(len, questions))
    notes = [f"questions: {lengths[0]:,} to {lengths[-1]:,} characters (median {median(lengths):,.0f})"]
    answers: dict[str, set[str]] = {}
    for text, gold in zip(questions, golds, strict=True):
        answers.setdefault(text, set()).add(gold)
    if repeated := len(rows) - len(answers):
        conflicts = sum(len(of_one) > 1 for of_one in answers.values())
        notes.append(f"repeated questions: {repeated:,}; questions with several answers: {conflicts:,}; fix the data")
    return notes


def _filled(
    name: str, dataset: Mapping[str, str | None], question: str, is_number: bool, counts: Mapping[str, int]
) -> str:
    """The commented template with these values; ``counts`` are those of the answers of each kind."""
    template = files("grpo_env.tasks").joinpath("template.txt").read_text(encoding="utf-8").replace("TASK_NAME", name)
    head, _, rest = template.partition("dataset:\n")
    _, _, rest = rest.partition("\n\n")
    lines = "".join(f"  {key}: {value}\n" for key, value in dataset.items() if value is not None)
    accuracy = "accuracy: {weight: 1.0, kind: number}" if is_number else "accuracy: {weight: 1.0}"
    if not is_number and len(counts) > 1:
        found = ", ".join(counted(kind, count) for kind, count in counts.items())
        accuracy = f"# Each answer is compared by its kind: {found}.\n  {accuracy}"
    rest = rest.replace('"{{ question }}"', f'"{question}"').replace("accuracy: {weight: 1.0}", accuracy)
    return f"{head}dataset:\n{lines}\n{rest}"


def _with_both_splits(text: str, file: Path) -> str:
    """The text, with halves instead of its fractions if these leave a split of a small table without rows."""
    task = make_task(parse_yaml(text, str(file)), str(file), file.parent)
    for split in ("train", "eval"):
        try:
            task.examples(split)
        except UsageError as error:
            if "0.7" not in text:
                raise
            halves = text.replace("{train: 0.7, eval: 0.3}", "{train: 0.5, eval: 0.5}")
            try:
                return _with_both_splits(halves, file)
            except UsageError:
                raise error from None
    return text
