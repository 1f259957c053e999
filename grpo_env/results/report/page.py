"""A report as one HTML page that needs no other file, no network and no script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ..rows import ScoreRow
from . import captions as readings
from .charts import charts
from .gather import parts_of
from .groups import MEANINGS
from .reward_warnings import findings
from .spans import find_answer, marked, steps_of, visible
from .svg import svg

if TYPE_CHECKING:
    from .report import Report

SHORT = 300  # characters shown of an explanation, an answer, an id
PROMPT = 1500  # characters shown of a prompt


def page(report: Report) -> str:
    """The whole page. No text of the file can end up as markup: whatever is filled in is escaped."""
    scales = {steps.part: (steps.lowest, steps.highest) for steps in report.steps}
    samples = report.samples.items()
    return environment().get_template("report.html").render(
        report=report,
        readings=readings,
        findings=findings(report),
        charts={name: [svg(chart) for chart in drawn] for name, drawn in charts(report).items()},
        meanings=MEANINGS,
        samples={heading: [sample(row, report.metric, scales) for row in rows] for heading, rows in samples},
        indices=max((len(steps.by_index) for steps in report.steps), default=0),
    )  # fmt: skip


def environment() -> Environment:
    """Templates of this folder; texts that are filled in are made visible, escaped and of bounded length."""

    def harmless(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=PackageLoader("grpo_env.results.report"), autoescape=True, undefined=StrictUndefined, finalize=harmless
    )
    made.filters |= {"short": short, "number": number}
    return made


def sample(row: ScoreRow, metric: str, scales: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """What the page shows of a completion: its text with marks, its prompt, its parts."""
    parts = list(parts_of(row))
    text = row.get("text")
    judged = next((part for name, part in parts if name.split(".")[-1] == metric), {})
    steps = steps_of(parts)
    scale = (min(low for low, _ in scales.values()), max(high for _, high in scales.values())) if scales else None
    return {
        "row": row,
        "parts": parts,
        "text": None if text is None else marked(text, steps, find_answer(text, judged.get("answer")), scale),
        "prompt": prompt(row.get("prompt")),
        "steps": len(steps),
    }


def prompt(given: Any) -> str:
    """A prompt as text, bounded: a string, or chat messages."""
    if isinstance(given, list):
        messages = (message if isinstance(message, Mapping) else {"content": message} for message in given)
        given = "\n\n".join(f"{message.get('role', '')}: {message.get('content')}" for message in messages)
    return short(str(given or ""), PROMPT)


def short(text: Any, most: int = SHORT) -> str:
    """A text cut to ``most`` characters, with a note of what is missing."""
    text = "" if text is None else str(text)
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def number(value: float | None, digits: str = ".3g") -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else format(value, digits)
