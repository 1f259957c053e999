"""Scores and groups as HTML for notebooks: a table of parts, and the text with its steps and answer highlighted.

``%load_ext grpo_env.results.notebook`` makes a notebook show every score and group that way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from grpo_env.core import Completion, Group, Score

from .report.page import environment
from .report.spans import find_answer, marked, steps_of


class Html(str):
    """A string that a notebook displays as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def show(score: Score, completion: Completion | str | None = None, metric: str | None = None) -> Html:
    """A score as a table of its parts; with its completion, also the text, steps colored and answer highlighted.

    ``metric`` names the part whose answer is highlighted, by default the first part that has one.
    """
    text = completion.text if isinstance(completion, Completion) else completion
    parts = list(_parts(score))
    answers = [part["answer"] for name, part in parts if part["answer"] and metric in (None, name.split(".")[-1])]
    words = None if text is None else marked(text, steps_of(parts), find_answer(text, answers[0] if answers else None))
    return _render("score", score=score, parts=parts, text=words)


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


def load_ipython_extension(ipython: Any) -> None:
    """Called by ``%load_ext grpo_env.results.notebook``: registers HTML formatters for ``Score`` and ``Group``."""
    formatter = ipython.display_formatter.formatters["text/html"]
    formatter.for_type(Score, show)
    formatter.for_type(Group, show_group)


def _parts(score: Score, above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """As ``gather.parts_of``, from a score: a score without parts is its own only one."""
    for part in score.parts or ((score,) if not above else ()):
        name = above + (part.name or "score")
        yield name, {**vars(part), "steps": [vars(step) for step in part.steps]}
        if part is not score:
            yield from _parts(part, f"{name}.")


def _render(macro: str, **values: Any) -> Html:
    """A macro of ``notebook.html``, its style inside ``.grpo-env`` so that it does not touch the notebook."""
    template = environment().get_template("notebook.html")
    return Html(getattr(template.module, macro)(style=_style(), **values))


@cache
def _style() -> Markup:
    """The page's colours and the rules of texts and tables, for what is inside ``.grpo-env`` alone."""
    return Markup((files("grpo_env.results.report") / "templates" / "notebook.css").read_text(encoding="utf-8"))
