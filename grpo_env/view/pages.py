"""What the templates show: contexts made of the index and of whole rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from grpo_env.core import StepScore
from grpo_env.errors import UsageError
from grpo_env.results.part_scores import PartScore, named_parts, part_called, total_score
from grpo_env.results.report.charts import Columns
from grpo_env.results.report.groups import MEANINGS
from grpo_env.results.report.measures import distribution
from grpo_env.results.report.page import environment, short, turn_blocks
from grpo_env.results.report.spans import MAX_STEPS, Span, find_answer, mark_text, merge_steps
from grpo_env.results.report.svg import svg
from grpo_env.results.rows import prompt_messages

from . import index_queries
from .duckdb_index import Store, Table
from .selection import NUMBERS, PAGE, Selection, number_names

LONGEST = 80_000  # characters shown of a text
MAX_HITS = 100  # marked occurrences of a search
MAX_TURNS, MAX_SHOWN = 200, 200_000  # of an episode: turns, and characters of all of them


@cache
def templates() -> Environment:
    """The templates of this package, with the rules of the report's: escaped, and invisible characters as codes."""
    env = environment()
    env.loader = ChoiceLoader([PackageLoader("grpo_env.view"), PackageLoader("grpo_env.results.report")])
    return env


def list_page(store: Store, table: Table, selection: Selection) -> dict[str, Any]:
    """The context of ``list.html``."""
    summary = index_queries.summary(store, table, selection)
    last = max(1, -(-summary["rows"] // PAGE))
    if selection.page > last:
        raise UsageError(f"page={selection.page}: there are {last:,} pages")
    return {
        **_base(store, table, selection),
        "rows": index_queries.page(store, table, selection),
        "summary": summary,
        "chart": svg(Columns("reward", distribution(np.array(summary["rewards"], dtype=float)))),
        "last": last,
        "choices": index_queries.choices(store, table, selection),
        "numbers": {name: NUMBERS.get(name, name) for name in number_names(table.parts)},
        "top_parts": [(place, name) for place, name in enumerate(table.parts) if "." not in name],
    }


def row_page(store: Store, table: Table, selection: Selection, n: int) -> dict[str, Any] | None:
    """The context of ``row.html``; ``None`` if there is no such row."""
    indexed = index_queries.index_row(store, table, n)
    if indexed is None:
        return None
    neighbors = index_queries.neighbors(store, table, selection, n)
    wrong = replace(selection, equal={**selection.equal, "verdict": "wrong"})
    return {
        **_base(store, table, selection),
        "indexed": indexed,
        "neighbors": neighbors,
        "wrong": index_queries.neighbors(store, table, wrong, n),
        "list_page": -(-neighbors["place"] // PAGE),
        "found": index_queries.count(store, table, selection),
        **detail(store.row(table, n), indexed, selection.q),
    }


def detail(row: Mapping[str, Any], indexed: Mapping[str, Any], q: str = "") -> dict[str, Any]:
    """Everything about one completion, for the rest of ``row.html``."""
    parts = named_parts(row)
    text = row.get("text")
    colored = merge_steps(parts)
    judged = part_called(parts, indexed["metric"])
    answer = judged.answer if judged else None
    try:
        turns, problem = turn_blocks(row, colored, answer, most=MAX_TURNS, longest=MAX_SHOWN), ""
    except UsageError as error:  # the rest of the row is shown all the same
        turns, problem = [], str(error)
    return {
        "row": row,
        "parts": parts,
        "text": marked(text, colored, answer, q) if isinstance(text, str) else None,
        "messages": prompt_messages(row),
        "steps": steps(row),
        "turns": turns,
        "problem": problem,
    }


def marked(text: str, steps: Sequence[StepScore] = (), answer: str | None = None, q: str = "") -> Markup:
    """The text with its steps colored by score, and marks for the answer and for hits of the search ``q``."""
    return mark_text(text, steps, find_answer(text, answer), longest=LONGEST, spans=_hits(text, q))


def _hits(text: str, q: str) -> list[Span]:
    """The occurrences of a search, which ignores case unless it has a capital letter."""
    if not q:
        return []
    searched = text if q != q.lower() else text.lower()
    if len(searched) != len(text):  # a few letters have a lower case of two characters, which moves positions
        searched = text
    return [Span(*match.span(), "hit") for match in islice(re.finditer(re.escape(q), searched), MAX_HITS)]


def steps(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The step scores that process supervision uses, each with its text and its advantage if the file has it."""
    text, found = row.get("text") or "", total_score(row).step_scores()[:MAX_STEPS]
    advantages = (row.get("step_advantages") or [])[: len(found)]
    return [
        {**vars(step), "text": short(text[step.start : step.end], 200), "advantage": advantage}
        for step, advantage in zip_longest(found, advantages)
    ]


def group_page(store: Store, table: Table, selection: Selection, g: int) -> dict[str, Any] | None:
    """The context of ``group.html``: completions side by side."""
    indexed = index_queries.group_rows(store, table, g, selection.start)
    if not indexed:
        return None
    rows = [store.row(table, row["n"]) for row in indexed]
    parts = [named_parts(row) for row in rows]
    return {
        **_base(store, table, selection),
        "indexed": indexed,
        "table_of_parts": part_table(parts),
        "per_page": index_queries.MAX_GROUP,
        "texts": [marked(str(row.get("text") or ""), q=selection.q) for row in rows],
        "messages": prompt_messages(rows[0]),
        "row": rows[0],
        "gold": next((row["gold"] for row in indexed if row["gold"]), None),
        "meanings": MEANINGS,
    }


def part_table(parts: list[dict[str, PartScore]]) -> list[dict[str, Any]]:
    """A line for each part: its values in all completions, and what of them differs, if anything."""
    names = dict.fromkeys(name for scores in parts for name in scores)
    table = []
    for name in names:
        cells = [scores.get(name) for scores in parts]
        values, statuses = ({getattr(cell, field, None) for cell in cells} for field in ("value", "status"))
        differs = "differs" if len(values) > 1 else "status differs" if len(statuses) > 1 else ""
        table.append({"name": name, "cells": cells, "differs": differs})
    return table


def _base(store: Store, table: Table, selection: Selection) -> dict[str, Any]:
    return {"source": store.source, "table": table, "selection": selection, "list_page": selection.page}
