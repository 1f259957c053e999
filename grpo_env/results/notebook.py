"""More than a notebook shows of itself: texts with steps and answer highlighted, groups, the page of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from grpo_env.core import Completion, Group, Score

from .report.page import environment, render
from .report.report import Report
from .report.spans import find_answer, mark_text, merge_steps


class Html(str):
    """A string that a notebook displays as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def show(score: Score, completion: Completion | str, metric: str | None = None) -> Html:
    """A score with its completion: the text, steps colored and answer highlighted, and a table of the parts.

    ``metric`` names the part whose answer is highlighted, by default the first part that has one.
    """
    text = completion.text if isinstance(completion, Completion) else completion
    parts = dict(_named_parts(score)) or {score.name or "score": score}
    answer = next((part.answer for part in parts.values() if part.answer and metric in (None, part.name)), None)
    steps = merge_steps({name: part.steps for name, part in parts.items()})
    return _render("score", score=score, parts=parts, text=mark_text(text, steps, find_answer(text, answer)))


def show_group(group: Group, scores: Sequence[Score] | None = None) -> Html:
    """A group as a table: one row per completion, with its reward and the values of its parts if given.

    Raises ``ValueError`` unless there is one score per completion.
    """
    texts = [completion.text for completion in group.completions]
    if scores is not None and len(scores) != len(texts):
        raise ValueError(f"{len(scores)} scores for {len(texts)} completions")
    names = list(dict.fromkeys(part.name for score in scores or () for part in score.parts))
    values = [{part.name: part.value for part in score.parts} for score in scores or ()]
    return _render("group", group=group, texts=texts, scores=scores, names=names, values=values)


def show_report(report: Report) -> Html:
    """A report's page in a frame, which keeps the page's style and the notebook's apart."""
    return Html(f'<iframe srcdoc="{escape(render(report))}" sandbox style="width:100%;height:80vh;border:0"></iframe>')


def _named_parts(score: Score, prefix: str = "") -> Iterator[tuple[str, Score]]:
    """As ``parts.named_parts``, of a score instead of a row."""
    for part in score.parts:
        name = prefix + part.name
        yield name, part
        yield from _named_parts(part, f"{name}.")


def _render(macro: str, **values: Any) -> Html:
    """A macro of ``notebook.html``. Its style applies only inside ``.grpo-env``."""
    template = environment().get_template("notebook.html")
    return Html(getattr(template.module, macro)(style=_style(), **values))


@cache
def _style() -> Markup:
    return Markup((files("grpo_env.results.report") / "templates" / "notebook.css").read_text(encoding="utf-8"))
