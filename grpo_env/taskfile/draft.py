"""A task file for a table of questions and answers, as ``check`` would advise it, with cases made of its rows."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from grpo_env.core import Completion, Example, Format, Verifier, score_one
from grpo_env.errors import UsageError, nearest
from grpo_env.rows.column_names import ANSWER, COMPLETION, QUESTION, guess, rows_below
from grpo_env.rows.formats.chat import is_chat
from grpo_env.rows.reader import read_records

from .dataset import is_local, load_rows
from .doubtful_golds import doubtful
from .gold_forms import MOST, SOME, TESTS, as_fraction, has_physical_unit, is_program, list_template
from .kinds_of_golds import counted, main_kind
from .question_parts import LETTERS, Options, find_options, find_passages, find_unit, passage_template, variable
from .schema import DatasetSpec
from .task import make_task, make_verifier
from .templates import render_value
from .yaml_file import entry_line, on_one_line, parse_yaml

MAX_ROWS = 100_000  # read to find out what a table holds
SHOWN = 5  # rows whose passages are compared with their questions
SMALL = 100  # rows; of fewer, three in ten are held out
ID = ("id", "uid", "uuid", "key", "sku", "index")
CASE_ROWS = 50  # rows that are tried for a case
REASONING = "I read the question again and work it out."
SHORT = 80  # characters of an answer that suits a case
LONGEST_CASE = 2000  # characters of a completion in a case


@dataclass(frozen=True)
class Draft:
    """The text of a task file, and notes about the data."""

    text: str
    notes: Sequence[str]


@dataclass(frozen=True)
class _Table:
    """The rows of ``data``, the columns that all of them have, and those of the question and the answer."""

    data: str
    rows: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    question: str = ""
    answer: str = ""

    @property
    def raw(self) -> list[str]:
        """The texts in the column of the answers."""
        return [_text(row[self.answer]) for row in self.rows]


@dataclass(frozen=True)
class _Metric:
    """How answers are compared: the verifier and its options, and the template that makes the gold answers."""

    template: str
    name: str = "accuracy"
    options: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    @property
    def verifier(self) -> Verifier:
        """The verifier, to read gold answers with."""
        return make_verifier(self.name, dict(self.options), self.name)

    def golds(self, table: _Table) -> list[str]:
        """The gold answers, empty where a row has none."""
        return [_filled(self.template, row) for row in table.rows]

    def with_options(self, why: str = "", **options: Any) -> _Metric:
        """The same with further options."""
        return replace(self, options={**self.options, **options}, why=why or self.why)


def draft_task(file: Path, data: str | Path, question: str | None = None, answer: str | None = None) -> Draft:
    """A task file, to be written as ``file``, for the rows of ``data``: a file, a folder of shards, or a hub id.

    Columns that are not given are guessed. Raises ``UsageError`` if the data cannot be read, or a column is not found.
    """
    table = _read(str(data))
    question = _column(question, "question", QUESTION, table)
    table = replace(table, question=question, answer=_column(answer, "answer", ANSWER, table, taken=question))
    options = find_options(table.rows, table.raw, (table.question, table.answer))
    metric = _metric(table, options)
    golds = metric.golds(table)
    pairs = zip(golds, table.rows, strict=True)
    unusable = sum(metric.verifier.problem(_example(gold, row)) is not None for gold, row in pairs)
    kinds = Counter(kind for gold in golds if gold and (kind := _kind(gold)))
    id = _id(table)
    part = entry_line(metric.name, {"weight": 1.0, **metric.options})
    sections = {
        "task": file.stem,
        "description": _quoted(f"{len(table.rows):,} questions of {Path(table.data).name}."),
        "dataset": _dataset(table, file, id, metric, unusable),
        "prompt": _prompt(table, options, metric),
        "asked": "the letter of the right option" if metric.options.get("kind") == "choice" else "the result",
        "verifiers": f"# {metric.why}\n  {part}" if metric.why else part,
        "metric": metric.name,
        "cases": "\n".join(_cases(table, metric, golds)),
    }
    text = _with_both_splits(_filled_template(sections), file)
    notes = list(_notes(table, kinds, unusable, id))
    completion = guess([name for name in table.names if f"{{{{ {variable(name)}" not in text], COMPLETION)
    different = len({_text(row[table.question]) for row in table.rows})
    group = f" --group {shlex.quote(table.question)}" if different < len(table.rows) else ""
    are_completions = completion is not None and all(_is_completion(row[completion]) for row in table.rows[:SHOWN])
    if completion and are_completions and is_local(table.data, Path()):
        score = f"grpo_env score {file} {data} --completion {shlex.quote(completion)}{group}"
        notes.append(f"completions: {completion}? {score}")
    if group:
        rule = "to train on them, keep one row of each, so that no held-out question is in train"
        notes.append(f"questions: {different:,} different ones in {len(table.rows):,} rows; {rule}")
    return Draft(text, notes)


def _read(data: str) -> _Table:
    """The rows of a file, of a folder of shards, or of a data set on the hub. Raises ``UsageError``."""
    if is_local(data, Path()) or "/" not in data or Path(data).suffix:
        rows = []
        for record in islice(read_records(Path(data)), MAX_ROWS):
            if record.row is None:
                raise UsageError(f"{data}, {record.place}: {record.problem}")
            rows.append(record.row)
    else:
        spec = DatasetSpec(path=data, split={"train": "train"})
        rows = [dict(row.row) for row in load_rows(spec, "train", Path(), "tasks new", MAX_ROWS).rows]
    if not rows:
        raise UsageError(f"{data}: no rows; expected one question with its answer a row")
    in_all = [name for name in rows[0] if all(name in row for row in rows)]
    return _Table(data, rows, [name for name in in_all if any(row[name] not in (None, "", []) for row in rows)])


def _column(given: str | None, what: str, words: Sequence[str], table: _Table, taken: str | None = None) -> str:
    """A column that is given, or one that looks right; ``taken`` is the question's, which is not guessed again."""
    found = given or guess([name for name in table.names if name != taken], words)
    if found is not None and found in table.names:
        return found
    reason = f"no column looks like the {what}"
    if given:
        reason = f"no column {given!r}; {nearest(given, table.names)}".partition("; known: ")[0]
    reason += f" (the question: {taken})" if taken and not given else ""
    if len(table.rows) == 1:
        reason += rows_below(table.rows[0], table.data)
    raise UsageError(f"{table.data}: {reason}; name it with --{what}; columns of all rows: {', '.join(table.names)}")


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _example(gold: str, row: Mapping[str, Any]) -> Example:
    return Example("", answer=gold, info=dict(row))


def _is_completion(value: Any) -> bool:
    """Whether a value is a text, a chat, or a list of them."""
    return isinstance(value, str) or is_chat(value) or (isinstance(value, list) and all(map(_is_completion, value)))


def _filled(template: str, row: Mapping[str, Any]) -> str:
    return (render_value(template, row, Format(), "dataset.answer") or "").strip()


def _metric(table: _Table, options: Options | None) -> _Metric:
    """What compares the gold answers as they are meant."""
    name = variable(table.answer)
    if lists := _of_lists(table, name):
        return lists
    if options is not None and options.base is not None:
        number = f"{name} | int" + (f" - {options.base}" if options.base else "")
        return _Metric(f"{{{{ '{LETTERS}'[{number}] }}}}", options={"kind": "choice"})
    metric = _Metric(_final_answer(table))
    golds = [gold for gold in metric.golds(table) if gold]
    if options is not None and all(len(gold.strip("(). ")) == 1 for gold in golds):
        return metric.with_options(kind="choice")
    if tests := _tests(table):
        return replace(metric, name="python_tests", options=tests, why="The gold answers are reference programs.")
    return _numbers(table, metric, golds)


def _of_lists(table: _Table, name: str) -> _Metric | None:
    """For gold answers that are lists, of which each item is right."""
    values = [row[table.answer] for row in table.rows if row[table.answer] not in (None, "", [])]
    if values and all(isinstance(value, dict) for value in values):
        key = next((key for key in ("text", "aliases") if all(isinstance(v.get(key), list) for v in values)), None)
        if key is not None:  # SQuAD, TriviaQA
            return _Metric(f"{{{{ {name}.{key} | tojson }}}}", options={"golds": "any"}, why=ANY)
    items = [item for value in values if isinstance(value, list) for item in value]
    if any(isinstance(item, bool | list | dict) for item in items):  # Logic-RL: one answer of several truth values
        return _Metric(f"{{{{ {name} | tojson }}}}", options={"kind": "literal"})
    if items:
        all_lists = all(isinstance(value, list) for value in values)
        template = f"{{{{ {name} | tojson }}}}" if all_lists else list_template(name)
        return _Metric(template, options={"golds": "any"}, why=ANY)
    return None


ANY = "Each item of a list is a right answer; golds: all if all of them are needed."


def _are_programs(table: _Table) -> bool:
    programs = [value for row in table.rows if isinstance(value := row[table.answer], str)]
    return bool(programs) and 2 * sum(map(is_program, programs)) >= len(programs)


def _tests(table: _Table) -> dict[str, Any]:
    """The options of ``python_tests``, if most gold answers are programs and a column has tests."""
    tests = guess(table.names, TESTS)
    if tests is None or not _are_programs(table):
        return {}
    return {"tests": tests} | ({"entry_point": "entry_point"} if "entry_point" in table.names else {})


def _numbers(table: _Table, metric: _Metric, golds: Sequence[str]) -> _Metric:
    """The options for numbers: with units, with decimal commas, rounded, or all of one kind."""
    unit = find_unit(table.rows, (table.question, table.answer))
    with_unit = replace(metric, template=f"{metric.template} {{{{ {variable(unit)} }}}}") if unit else metric
    quantities = [gold for gold in with_unit.golds(table) if gold]
    if sum(map(has_physical_unit, quantities)) >= SOME * len(quantities):
        numeric = replace(with_unit, name="numeric", options={"rel_tol": 0.01})
        readable = [gold for gold in quantities if numeric.verifier.problem(_example(gold, {})) is None]
        if len(readable) >= MOST * len(quantities):
            return replace(numeric, why="Within one percent, in the unit of the gold answer.")
    if len(list(doubtful(golds, "comma"))) < len(list(doubtful(golds))):
        metric = metric.with_options(decimal="comma")
    if any(map(as_fraction, golds)):
        metric = metric.with_options("Some gold answers are rounded fractions.", rel_tol=1.0e-6)
    kinds = [_kind(gold, **metric.options) for gold in golds]
    doubts = {index for index, _, _ in doubtful(golds, str(metric.options.get("decimal", "point")))}
    counts = Counter(filter(None, kinds))
    are_numbers = all(
        kind in ("number", None) or gold.removeprefix("-").isdecimal() or index in doubts
        for index, (gold, kind) in enumerate(zip(golds, kinds, strict=True))
    )
    if main_kind(counts) == "number" and are_numbers:
        return metric.with_options(kind="number")
    if len(counts) > 1:
        found = ", ".join(counted(kind, count) for kind, count in counts.items())
        return metric.with_options(f"Each answer is compared by its kind: {found}.")
    return metric


def _final_answer(table: _Table) -> str:
    """The template of the answers in a column: what follows ``####`` or is in answer tags, if that is so in all."""
    golds, name = [gold for gold in table.raw if gold], variable(table.answer)
    text = name if len(golds) == len(table.raw) else f"({name} or '')"
    if all("####" in gold for gold in golds):
        return f"{{{{ {text}.split('####')[-1] | trim }}}}"
    if all(gold.count("<answer>") == 1 == gold.count("</answer>") for gold in golds):
        return f"{{{{ {text}.split('<answer>')[-1].split('</answer>')[0] | trim }}}}"
    if "entry_point" in table.names and _are_programs(table):  # HumanEval's go on from the prompt
        return f"{{{{ {variable(table.question)} }}}}{{{{ {name} }}}}"
    return f"{{{{ {name} }}}}"


def _prompt(table: _Table, options: Options | None, metric: _Metric) -> str:
    """The column of chats; or passages, the question and its options, and the unit that the answer has to have."""
    if all(is_chat(row[table.question]) for row in table.rows):
        return f"messages: {_quoted(table.question)}"
    taken = [table.question, table.answer, *(options.columns if options else ())]
    passages = [
        passage_template(name, table.rows)
        for name in find_passages(table.rows, taken)
        if not any(_text(row[table.question]) in _text(row[name]) for row in table.rows[:SHOWN])  # Alpaca's text
    ]
    question = f"{{{{ {variable(table.question)} }}}}"
    unit = find_unit(table.rows, taken)
    if unit and metric.name != "numeric":
        question += f"{{% if {variable(unit)} %}} (unit: {{{{ {variable(unit)} | trim }}}}){{% endif %}}"
    template = "\n\n".join([*passages, question, *([options.template] if options else [])])
    return f"user: {_quoted(template)}"


def _id(table: _Table) -> str | None:
    """The column of ids, if there is one and no two rows have the same."""
    name = guess(table.names, ID)
    return name if name and len({_text(row[name]) for row in table.rows} - {""}) == len(table.rows) else None


def _kind(gold: str, **options: Any) -> str | None:
    """The kind of an answer, as the verifier ``accuracy`` compares it; ``None`` if it cannot read it."""
    verifier = make_verifier("accuracy", options, "accuracy")
    return score_one(verifier, Example("", answer=gold), Completion("")).kind


def _notes(table: _Table, kinds: Counter[str], unusable: int, id: str | None) -> Iterator[str]:
    """What was found; ``check`` says what is wrong with the data."""
    columns = ", ".join(table.names)
    yield f"{len(table.rows):,} rows; columns {columns}; question: {table.question}, answer: {table.answer}"
    yield f"answers: {', '.join(counted(kind, count) for kind, count in kinds.most_common())}"
    if unusable:
        yield f"rows without a usable answer: {unusable:,}; they are skipped (dataset.bad_gold: skip)"
    yield f"ids: {id}" if id else "ids: train/0, train/1, ...; dataset.id sets others"


def _dataset(table: _Table, file: Path, id: str | None, metric: _Metric, unusable: int) -> str:
    """The lines of the section ``dataset``."""
    local = is_local(table.data, Path())
    fractions = "{train: 0.7, eval: 0.3}" if len(table.rows) < SMALL else "{train: 0.9, eval: 0.1}"
    lines = {
        "path": _quoted(os.path.relpath(table.data, file.parent) if local else table.data),
        "split": fractions if local else "{train: train, eval: test}",
        "id": id and _quoted(f"{{{{ {variable(id)} }}}}"),
        "answer": _quoted(metric.template),
        "bad_gold": "skip" if unusable else None,
    }
    return "".join(f"  {key}: {value}\n" for key, value in lines.items() if value is not None)


def _cases(table: _Table, metric: _Metric, golds: Sequence[str]) -> Iterator[str]:
    """A right and a wrong completion for the first row that gives both, if there is one with a short answer."""
    pairs = sorted(islice(zip(golds, table.rows, strict=True), CASE_ROWS), key=lambda pair: len(pair[0]) > SHORT)
    for gold, row in pairs:
        info = {name: row[name] for name in metric.options.values() if metric.name == "python_tests"}
        score = partial(_value, metric.verifier, Example("", answer=gold, info=info))
        right = _completion(_written(gold, metric))
        wrongs = [_completion(_written(other, metric)) for other in (*golds[:CASE_ROWS], "I do not know.") if other]
        wrong = next((text for text in wrongs if score(text) == 0), None)
        if gold and wrong is not None and len(right) <= LONGEST_CASE and score(right) == 1:
            common = f"answer: {_quoted(gold)}" + (f", info: {on_one_line(info)}" if info else "")
            for text, value in ((right, 1), (wrong, 0)):
                values = f"{metric.name}: {value}, strict_format: 1, why: {'right' if value else 'wrong'}"
                yield f"  - {{{common}, completion: {_quoted(text)}, {values}}}"
            return


def _value(verifier: Verifier, example: Example, text: str) -> float | None:
    return score_one(verifier, example, Completion(text)).value


def _written(gold: str, metric: _Metric) -> str:
    """A gold answer as a model would write it: of a list its first item."""
    return str(parse_yaml(gold, "a gold answer")[0]) if "golds" in metric.options and gold[:1] == "[" else gold


def _completion(answer: str) -> str:
    return f"<think>\n{REASONING}\n</think>\n<answer>\n{answer}\n</answer>"


def _quoted(text: str) -> str:
    """A text in double quotes, as YAML writes it, unless it is a plain word, which ``yes`` and ``null`` are not."""
    if re.fullmatch(r"[A-Za-z][\w./-]*", text) and yaml.safe_load(text) == text:
        return text
    quoted: str = yaml.safe_dump(text, default_style='"', width=10**9, allow_unicode=True)
    return quoted.strip()


def _filled_template(sections: Mapping[str, str]) -> str:
    """The commented template with these texts in their places."""
    text = files("grpo_env.tasks").joinpath("template.txt").read_text(encoding="utf-8")
    head, _, rest = text.replace("TASK_NAME", sections["task"]).partition("dataset:\n")
    _, _, rest = rest.partition("\n\n")
    description = f"description: {sections['description']}"
    head = head.replace("description: One line that says what the task is.", description)
    rest = rest.replace('user: "{{ question }}"', sections["prompt"])
    rest = rest.replace("accuracy: {weight: 1.0}", sections["verifiers"])
    rest = rest.replace("give the result", f"give {sections['asked']}")
    rest = rest.replace("metric: accuracy    ", f"metric: {sections['metric']:<12}")
    before, _, after = rest.partition("cases:\n")
    cases = f"cases:\n{sections['cases']}" if sections["cases"] else "cases: []"
    return f"{head}dataset:\n{sections['dataset']}\n{before}{cases}\n\n{after.partition(chr(10) * 2)[2]}"


SPLITS = {
    "{train: 0.7, eval: 0.3}": ("{train: 0.5, eval: 0.5}",),
    "{train: train, eval: test}": ("{train: train, eval: validation}", "{train: 'train[:90%]', eval: 'train[90%:]'}"),
}
"""What is tried next if a split has no rows: of a small table, and of a data set on the hub."""


def _with_both_splits(text: str, file: Path) -> str:
    """The text, with other splits if one of its own has no rows. Raises ``UsageError`` if none of them fits."""
    written = next((split for split in SPLITS if f"  split: {split}\n" in text), "")
    problems = []
    for split in (written, *SPLITS.get(written, ())):
        changed = text.replace(f"  split: {written}\n", f"  split: {split}\n")
        task = make_task(parse_yaml(changed, str(file)), str(file), file.parent)
        try:
            task.examples("train")
            task.examples("eval")
        except UsageError as error:
            problems.append(error)
        else:
            return changed
    raise problems[0]
