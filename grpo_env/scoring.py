"""Scores a file of completions: rows in, rows out, in order, on all cores, with no row able to stop the rest."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, NamedTuple

from grpo_env.core import Completion, Example, Finish, Group, Message, Score, judge_groups
from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.files import Record
from grpo_env.prompt import build_prompt, render
from grpo_env.task import Task

CHUNK = 64  # rows a worker takes at a time: large enough to hide the cost of handing them over
AHEAD = 4  # chunks in flight per worker: bounds memory whatever the size of the file


@dataclass(frozen=True)
class Fields:
    """Where a row keeps what is scored.

    Each selector is a column, a dotted path into nested columns (``response.choices.0.text``) or a Jinja2 template.
    ``completion`` may name several columns, which together are one group; the empty default takes ``completion``
    or ``completions``. ``answer`` defaults to the task's own template. ``label`` names known verdicts (truth
    values), one for each completion, that the summary compares with the task's metric.
    """

    completion: tuple[str, ...] = ()
    answer: str | None = None
    id: str | None = None
    label: tuple[str, ...] = ()


class Scored(NamedTuple):
    """What became of one row: a score and label for each completion, or the ``problem`` that kept it from scoring."""

    line: int
    id: str
    scores: tuple[Score, ...] = ()
    labels: tuple[bool | None, ...] = ()
    problem: str = ""


def score_records(task: Task, fields: Fields, records: Iterable[Record], workers: int) -> Iterator[Scored]:
    """Score records in order on ``workers`` processes. Raises ``RunError`` if a worker dies."""
    records = iter(records)
    first = list(islice(records, CHUNK))
    chunks = chain([first], iter(lambda: list(islice(records, CHUNK)), []))
    if workers == 1 or len(first) < CHUNK:
        for chunk in chunks:
            yield from score_rows(task, fields, chunk)
        return
    # Spawned, not forked: a fork copies the locks of whatever threads torch or a notebook has running.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[tuple[Future[list[Scored]], int, int]] = deque()
        try:
            for chunk in chunks:
                waiting.append((pool.submit(score_rows, task, fields, chunk), chunk[0].line, chunk[-1].line))
                if len(waiting) >= workers * AHEAD:
                    yield from _result(*waiting.popleft())
            while waiting:
                yield from _result(*waiting.popleft())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[list[Scored]], first: int, last: int) -> list[Scored]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise RunError(
            f"a scoring process died while judging lines {first} to {last} (out of memory?); "
            "score those lines with --workers 1 to find the row"
        ) from error


def score_rows(task: Task, fields: Fields, records: Sequence[Record]) -> list[Scored]:
    """Score rows together, for the verifiers that judge many at once. A row that cannot be scored keeps its problem."""
    read = [_read(task, fields, record) for record in records]
    scores = iter(judge_groups(task.verifier, [row.group for row in read if row.group]))
    return [
        Scored(record.line, row.id, tuple(next(scores)) if row.group else (), row.labels, row.problem)
        for record, row in zip(records, read, strict=True)
    ]


class _Read(NamedTuple):
    id: str
    group: Group | None = None
    labels: tuple[bool | None, ...] = ()
    problem: str = ""


def _read(task: Task, fields: Fields, record: Record) -> _Read:
    id = str(record.line)
    if record.row is None:
        return _Read(id, problem=record.problem)
    row = record.row
    try:
        id = str(select(row, fields.id, task)) if fields.id else str(row.get("id", id))
        texts = _texts(row, fields, task)
        labels = _labels(row, fields, task, len(texts))
        answer = select(row, fields.answer, task) if fields.answer else task.answer(row, "row")
        example = Example(id, _prompt(row, task), _gold(answer), row)
        problem = task.verifier.problem(example)
        if problem is not None:
            raise UsageError(problem)
        finishes, tokens = _each(row, "finish_reason", len(texts)), _each(row, "num_tokens", len(texts))
        ids = _token_ids(row, len(texts))
        completions = [_completion(*one, task) for one in zip(texts, finishes, tokens, ids, strict=True)]
    except UsageError as error:
        return _Read(id, problem=str(error))
    return _Read(id, Group(example, completions), labels)


def _prompt(row: Mapping[str, Any], task: Task) -> str | tuple[Message, ...]:
    """The prompt, if a verifier looks at it: the row's own ``prompt``, else the task's template filled from the row."""
    if not any(verifier.needs_prompt for verifier in task.verifier.within()):
        return ()
    given: Any = row.get("prompt")
    if given and isinstance(given, str):
        return str(given)
    if _is_chat(given):
        return tuple(Message(str(message["role"]), str(message.get("content", ""))) for message in given)
    return build_prompt(task.spec.prompt, row, task.format, "no column 'prompt', and the task's template")


def _gold(value: Any) -> str | None:
    """A gold answer as text; a list of them as JSON, which is how ``accuracy`` reads several."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def select(row: Mapping[str, Any], selector: str, task: Task) -> Any:
    """What a selector (see ``Fields``) finds in a row. Raises ``UsageError`` with the nearest key."""
    if "{{" in selector or "{%" in selector:
        return render(selector, row, task.format, "row")
    if selector in row:
        return row[selector]
    here: Any = row
    for key in selector.split("."):
        if isinstance(here, Mapping) and key in here:
            here = here[key]
        elif isinstance(here, list) and key.isdecimal() and int(key) < len(here):
            here = here[int(key)]
        else:
            known = nearest(key, here) if isinstance(here, Mapping) else f"there is a {type(here).__name__} there"
            raise UsageError(f"no field {selector!r}: {key!r} is not in the row; {known}")
    return here


def _texts(row: Mapping[str, Any], fields: Fields, task: Task) -> list[str]:
    selectors = fields.completion or (("completions",) if "completions" in row else ("completion",))
    found = [select(row, selector, task) for selector in selectors]
    if len(found) == 1 and isinstance(found[0], list) and not _is_chat(found[0]):
        found = found[0]
    texts = [_text(value) for value in found]
    if not texts:
        raise UsageError("the row has no completions")
    return texts


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and "role" in value[0]


def _text(value: Any) -> str:
    if _is_chat(value):
        value = value[-1].get("content")
    if not isinstance(value, str):
        raise UsageError(f"a completion must be a string or a list of chat messages, found {type(value).__name__}")
    return value


def _labels(row: Mapping[str, Any], fields: Fields, task: Task, count: int) -> tuple[bool | None, ...]:
    if not fields.label:
        return (None,) * count
    found = [select(row, selector, task) for selector in fields.label]
    if len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if len(found) != count:
        raise UsageError(f"{len(found)} labels for {count} completions")
    for value in found:
        if value not in (True, False):
            raise UsageError(f"a label must be true, false, 1 or 0, found {value!r}")
    return tuple(bool(value) for value in found)


def _each(row: Mapping[str, Any], column: str, count: int) -> list[Any]:
    """What a column says of each completion: a list of its own for each, or one value for all."""
    value = row.get(column)
    if not isinstance(value, list):
        return [value] * count
    if len(value) != count:
        raise UsageError(f"{column}: {len(value)} values for {count} completions")
    return value


def _token_ids(row: Mapping[str, Any], count: int) -> list[tuple[int, ...] | None]:
    """The column ``token_ids``: a list of ids for one completion, a list of such lists for a group."""
    value = row.get("token_ids")
    if value is None:
        return [None] * count
    lists = [value] if count == 1 and isinstance(value, list) and not any(isinstance(x, list) for x in value) else value
    if not isinstance(lists, list) or len(lists) != count:
        raise UsageError(f"token_ids must be a list of token ids for each of the {count} completions")
    for ids in lists:
        if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
            raise UsageError("token_ids must be lists of whole numbers")
    return [tuple(ids) for ids in lists]


def _completion(text: str, finish: Any, tokens: Any, ids: tuple[int, ...] | None, task: Task) -> Completion:
    if isinstance(tokens, str) and tokens.isdecimal():  # a CSV file knows no numbers
        tokens = int(tokens)
    if tokens is not None and (not isinstance(tokens, int) or tokens < 0):
        raise UsageError(f"num_tokens must be a count of tokens, found {tokens!r}")
    known: Finish = finish if finish in ("stop", "length") else "unknown"
    # Some servers return the prefill as part of the text: it is then there already.
    prefill = "" if text.startswith(task.format.prefill.rstrip()) else task.format.prefill
    return Completion(text, known, len(ids) if tokens is None and ids is not None else tokens, prefill, ids)


def output_row(result: Scored, index: int) -> dict[str, Any]:
    """One line of output: the ``index``-th completion of a row with its total, parts, statuses and steps."""
    score = result.scores[index]
    row: dict[str, Any] = {
        "id": result.id,
        "line": result.line,
        "completion": index,
        "total": score.value,
        "status": score.status,
        "explanation": score.explanation,
        "parts": {part.name: _part(part) for part in score.parts},
        "steps": [vars(step) for step in score.steps],
        "seconds": round(score.seconds, 6),
    }
    if result.labels[index] is not None:
        row["label"] = result.labels[index]
    return row


def _part(score: Score) -> dict[str, Any]:
    part: dict[str, Any] = {
        "value": score.value,
        "weight": score.weight,
        "weighted": None if score.value is None else score.weight * score.value,
        "status": score.status,
        "answer": score.answer,
        "gold": score.gold,
        "explanation": score.explanation,
    }
    if score.steps:
        part["steps"] = [vars(step) for step in score.steps]
    if score.parts:
        part["parts"] = {inner.name: _part(inner) for inner in score.parts}
    return part


@dataclass
class Tally:
    """Sums of a scoring run: what the summary table shows."""

    rows: int = 0
    bad_rows: int = 0
    completions: int = 0
    statuses: dict[str, Counter[str]] = field(default_factory=dict)
    sums: Counter[str] = field(default_factory=Counter)
    scored: Counter[str] = field(default_factory=Counter)
    labelled: int = 0
    disagreements: Counter[tuple[bool, bool]] = field(default_factory=Counter)

    def add(self, result: Scored, metric: str) -> None:
        """Count one row in."""
        self.rows += 1
        self.bad_rows += bool(result.problem)
        for score, label in zip(result.scores, result.labels, strict=True):
            self.completions += 1
            for part in score.walk():
                self.statuses.setdefault(part.name, Counter())[part.status] += 1
                if part.value is not None:
                    self.sums[part.name] += part.value  # type: ignore[assignment]
                    self.scored[part.name] += 1
            verdict = score.part(metric).value
            if label is not None and verdict is not None:
                self.labelled += 1
                if (verdict >= 1) != label:
                    self.disagreements[(label, verdict >= 1)] += 1

    def mean(self, name: str) -> float | None:
        """The mean value of a part over the completions where it was scored."""
        return self.sums[name] / self.scored[name] if self.scored[name] else None
