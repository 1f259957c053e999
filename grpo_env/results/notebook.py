"""More than a notebook shows of itself: a text with its steps and answer highlighted, the page of a report."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from grpo_env.core import Completion, Score

from .report.page import environment, render
from .report.report import Report
from .report.spans import find_answer, mark_text, merge_steps


class Html(str):
    """A string that a notebook displays as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def show(score: Score, completion: Completion | str) -> Html:
    """A score with its completion: the text, steps colored and answer highlighted, and a table of the parts."""
    text = completion.text if isinstance(completion, Completion) else completion
    parts = dict(_named_parts(score)) or {score.name or "score": score}
    answer = next((part.answer for part in parts.values() if part.answer), None)
    steps = merge_steps({name: part.steps for name, part in parts.items()})
    template = environment().get_template("notebook.html")
    return Html(template.render(score=score, parts=parts, text=mark_text(text, steps, find_answer(text, answer))))


def show_report(report: Report) -> Html:
    """A report's page in a frame, which keeps the page's style and the notebook's apart."""
    return Html(f'<iframe srcdoc="{escape(render(report))}" sandbox style="width:100%;height:80vh;border:0"></iframe>')


def _named_parts(score: Score, prefix: str = "") -> Iterator[tuple[str, Score]]:
    """As ``part_scores.named_parts``, of a score instead of a row."""
    for part in score.parts:
        name = prefix + part.name
        yield name, part
        yield from _named_parts(part, f"{name}.")
