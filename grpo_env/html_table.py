"""Tables for notebooks: what ``_repr_html_`` of scores, tasks and reports returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from grpo_env.terminal import escape_controls

LONGEST = 300  # characters shown of a cell


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table with a caption. Texts are escaped, and invisible characters are codes: models wrote some of them."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    title = f"<caption>{_cell(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(escape_controls(text if len(text) <= LONGEST else f"{text[:LONGEST]}…"))
