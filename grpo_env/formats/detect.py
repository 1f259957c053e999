"""Layouts of completion files: which tool wrote a file, told by its rows alone, and where the gold answer is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from grpo_env.core import Example
from grpo_env.errors import UsageError

from . import layouts as shapes
from .layouts import Row


@dataclass(frozen=True)
class Layout:
    """The rows of one tool. Picklable.

    ``name`` is for the user. A row with all ``columns`` is of this layout; ``shape`` puts it into ours. ``gold`` is
    the path to the gold answer in the shaped row, where the file has one; ``gold_last``: the task's own template
    comes before it. ``joins``: the rows hold completions alone, and the task's dataset the rest, found by its id, or
    ``by_prompt``. ``filter``: lm-eval writes a completion once for each of its filters; rows of any other filter
    than this repeat what was read. ``numbered``: the column with a completion's number in the row that it came from.
    """

    name: str
    columns: tuple[str, ...]
    shape: Callable[[Row], dict[str, Any]]
    gold: tuple[str, ...] = ()
    gold_last: bool = False
    joins: bool = False
    by_prompt: bool = False
    filter: str | None = None
    numbered: str | None = None

    def row(self, row: Row) -> dict[str, Any] | None:
        """A row of the file in our shape (see ``layouts``); ``None`` where it repeats another's completions.

        Raises ``UsageError`` for a row that holds none.
        """
        if self.filter is not None and row.get("filter") != self.filter:
            return None
        for column in self.columns:
            if column not in row:
                raise UsageError(f"no column {column!r}, which every row of a file of {self.name} has")
        try:
            return self.shape(row)
        except UsageError:
            raise
        except (TypeError, AttributeError, KeyError, ValueError, RecursionError) as error:
            raise UsageError(f"the row is not as {self.name} have it ({type(error).__name__}: {error})") from error

    def index(self, examples: Iterable[Example]) -> dict[str, Example]:
        """The task's examples by what rows of this layout are joined by. Prompts with several golds are left out."""
        if not self.by_prompt:
            return {example.id: example for example in examples}
        found: dict[str, Example] = {}
        unclear = set()
        for example in examples:
            key = _prompt_key(example.prompt)
            if found.setdefault(key, example).answer != example.answer:
                unclear.add(key)
        return {key: example for key, example in found.items() if key not in unclear}

    def joined(self, row: Row, index: Mapping[str, Example]) -> dict[str, Any]:
        """A shaped row with its example's columns and, where it has no own, prompt. Raises ``UsageError``."""
        example = index.get(_prompt_key(row["prompt"]) if self.by_prompt else row["id"])
        if example is None:
            what = "prompt of this row" if self.by_prompt else f"id {row['id']!r}"
            raise UsageError(f"no example of the task has the {what}; {self._examples(index)}")
        info = {key: value for key, value in example.info.items() if key not in _COMPLETIONS}
        return {**info, "id": example.id, "prompt": example.prompt, **row}

    def no_match(self, index: Mapping[str, Example]) -> str:
        """What to say where no row at all could be joined."""
        advice = (
            "log the gold with the completions (TRL: log_extra('answer', answers)), or train on the task's own prompts"
            if self.by_prompt
            else "name the column that holds the ids, dataset.id='{{ column }}', or score with the other split"
        )
        return (
            f"no row's {'prompt' if self.by_prompt else 'id'} is one of the task's; {self._examples(index)}; {advice}"
        )

    def _examples(self, index: Mapping[str, Example]) -> str:
        some = [example.prompt if self.by_prompt else example.id for example in islice(index.values(), 2)]
        if not self.by_prompt:
            return f"its ids are such as {' and '.join(map(repr, some))}"
        return f"its prompts are such as {some[0]!r:.300}" if some else "none of its prompts has one gold answer"

    def answer(self, row: Row, template: Callable[[Row], str | None]) -> Any:
        """The gold of a shaped (and joined) row: the file's own where it has one, else what the task's template makes.

        Raises the ``UsageError`` of ``template`` where there is neither.
        """
        own: Any = row if self.gold else None
        for key in self.gold:
            own = own.get(key) if isinstance(own, Mapping) else None
        if own is not None and not self.gold_last:
            return own
        with suppress(UsageError) if own is not None else nullcontext():
            return template(row)
        return own


OURS = Layout("grpo_env rows", (), shapes.grpo_env)

_COMPLETIONS = {"completion", "completions"}

# The first that fits all rows counts, so the one with more to tell it by comes before the one with less.
LAYOUTS = (
    Layout(
        "grpo_env scores",
        ("id", "completion", "total", "parts", "text"),
        shapes.scores,
        gold=("own_gold",),
        numbered="completion",
    ),
    Layout("grpo_env training samples", ("step", "task", "id", "completion", "score"), shapes.samples, joins=True),
    Layout("lm-eval samples", ("doc_id", "doc", "resps", "target"), shapes.lm_eval, gold=("own_gold",), gold_last=True),
    Layout("verifiers results", ("example_id", "completion", "reward"), shapes.verifiers, gold=("answer",)),
    Layout("verifiers traces", ("traces", "task", "env"), shapes.verifiers_trace, gold=("answer",)),
    Layout("OpenAI batch output", ("custom_id", "response"), shapes.openai, joins=True),
    Layout("verl dump", ("input", "output", "score", "step"), shapes.verl_dump, gold=("gts",)),
    Layout(
        "verl generation", ("responses", "reward_model"), shapes.verl_generation, gold=("reward_model", "ground_truth")
    ),
    Layout("TRL completions", ("step", "prompt", "completion", "advantage"), shapes.trl, by_prompt=True),
)


def recognise(rows: Sequence[Row], template: Callable[[Row], str | None] | None = None) -> Layout:
    """The layout of a file by its first rows: the one whose columns they all have, or our own.

    ``template`` is the task's, from a row to its gold answer. TRL's rows are joined where it does not fit them.
    """
    for layout in LAYOUTS if rows else ():
        # A row with completions of our name that the layout does not know of is one of ours with such columns beside.
        others = _COMPLETIONS - set(layout.columns)
        if all(row.keys() >= set(layout.columns) and row.keys().isdisjoint(others) for row in rows):
            if layout.by_prompt and template is not None:
                return replace(layout, joins=not any(_fits(template, layout, row) for row in rows))
            return replace(layout, filter=rows[0].get("filter")) if layout.shape is shapes.lm_eval else layout
    return OURS


def _fits(template: Callable[[Row], str | None], layout: Layout, row: Row) -> bool:
    try:
        template(layout.row(row) or {})
    except UsageError:
        return False
    return True


def _prompt_key(prompt: Any) -> str:
    """A prompt, text or messages, as text: the same from a dataset and from a file that wrote it with empty columns."""
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, (list, tuple)):
        prompt = [(one.get("role"), one.get("content")) if isinstance(one, Mapping) else one for one in prompt]
    return json.dumps(prompt, default=str)
