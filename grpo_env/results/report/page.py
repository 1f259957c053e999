"""A report as one self-contained HTML page: no other files, no network, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from grpo_env.core import StepScore
from grpo_env.environments.turn_steps import turns_of_steps

from ..episodes import turns_of
from ..part_scores import is_called, named_parts, part_called, total_score
from ..rows import ScoreRow, name_of, prompt_messages
from . import captions
from .caveats import reward_warnings
from .charts import charts
from .groups import MEANINGS
from .report import Report
from .spans import find_answer, mark_text, merge_steps, value_range, visible
from .svg import svg

MAX_LENGTH = 300  # characters shown of an explanation, an answer, an id
MAX_PROMPT = 1500  # characters shown of a prompt
MAX_TURNS = 24  # turns shown of an episode
MAX_SHOWN = 6000  # characters shown of all turns, and as many of what the model was told, roughly


def render(report: Report) -> str:
    """The page. Everything that comes from the scores file is escaped."""
    samples = report.samples.items()
    template = environment().get_template("report.html")
    return template.render(
        report=report,
        captions=captions,
        warnings=reward_warnings(report),
        charts={name: [svg(chart) for chart in section] for name, section in charts(report).items()},
        meanings=MEANINGS,
        samples={heading: [_sample(row, report.metric) for row in rows] for heading, rows in samples},
    )


def environment() -> Environment:
    """The templates of this folder. Inserted texts are escaped, and invisible characters in them become codes."""

    def finalize(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    env = Environment(
        loader=PackageLoader("grpo_env.results.report"), autoescape=True, undefined=StrictUndefined, finalize=finalize
    )
    env.filters |= {"named": name_of, "short": short, "number": number, "visible": visible}
    env.tests["called"] = is_called
    return env


def _sample(row: ScoreRow, metric: str) -> dict[str, Any]:
    """A completion for the template: its row, parts, marked text and prompt."""
    parts = named_parts(row)
    steps = merge_steps(parts)
    text = row.get("text")
    judged = part_called(parts, metric)
    answer = judged.answer if judged else None
    prompt = (f"{role}: {content}" if role else content for role, content in prompt_messages(row))
    return {
        "row": row,
        "parts": parts,
        "text": None if text is None else mark_text(text, steps, find_answer(text, answer)),
        "turns": [] if text is None else turn_blocks(row, steps, answer),
        "prompt": short("\n\n".join(prompt), MAX_PROMPT),
    }


def turn_blocks(
    row: ScoreRow,
    steps: Sequence[StepScore],
    answer: str | None,
    most: int = MAX_TURNS,
    longest: int = MAX_SHOWN,
) -> list[dict[str, Any]]:
    """The turns of an episode for the template: marked text, what the model was told, state, and sum of step scores.

    At most ``most`` turns, half of them from the end, with about ``longest`` characters. Raises ``UsageError``.
    """
    total, turns = total_score(row).step_scores(), turns_of(row)
    shown = list(enumerate(turns))
    shown = shown if len(turns) <= most else [*shown[: most // 2], *shown[-most // 2 :]]
    share = 1 + longest // max(1, len(shown))
    numbers, blocks = turns_of_steps(turns, total) if turns else [], []
    for number, turn in shown:
        own = [step for step in steps if turn.start <= step.start and step.end <= turn.end]
        own = [replace(step, start=step.start - turn.start, end=step.end - turn.start) for step in own]
        found = find_answer(turn.text, answer) if turn is turns[-1] else None
        scores = [step.value for step, of in zip(total, numbers, strict=True) if of == number]
        names = {call.id: call.name or "call" for call in turn.calls}
        blocks.append(
            {
                "number": number + 1,
                "text": mark_text(turn.text, own, found, value_range(steps), longest=3 * share // 2),
                "score": sum(scores) if scores else None,
                "results": [
                    (names.get(result.id, "call"), result.problem.replace("_", " "), short(result.text, share))
                    for result in turn.results
                ],
                "reply": None if turn.reply is None else short(turn.reply, share),
                "state": turn.state,
            }
        )
    return blocks


def short(text: Any, length: int = MAX_LENGTH) -> str:
    """The first ``length`` characters, with a note of how many more there are."""
    text = "" if text is None else str(text)
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def number(value: float | None, form: str = "") -> str:
    """A number, or a dash for ``None``. Without a ``form`` it has three digits, or those before the point if more."""
    if value is None:
        return "-"
    return format(value, form or (",.0f" if 999.5 <= abs(value) < 1e6 else ".3g"))
