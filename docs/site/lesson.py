"""Makes what goes with docs/learn/grpo.md from its text: ``python docs/site/lesson.py`` writes the notebook and the
two pictures beside it. Their numbers are those that the blocks of the page compute.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from html import escape
from pathlib import Path
from typing import Any

LEARN = Path(__file__).parents[1] / "learn"
PAGE = LEARN / "grpo.md"
CELL = re.compile(
    r"^```python title=\"(?P<name>[^\"]+)\"\n(?P<code>.*?)^```\n\n```console\n\$[^\n]*\n(?P<output>.*?)^```\n",
    re.M | re.S,
)
COMMAND = re.compile(r"^```console\n.*?^```\n", re.M | re.S)
MATH = re.compile(r"^```math\n(.*?)\n```$", re.M | re.S)
LINKS = re.compile(r"^English \|.*$", re.M)

STYLE = (
    "<style>text{font:15px ui-monospace,monospace;fill:#1b1f24}.b{font-weight:600}.m{text-anchor:middle}"
    ".card{fill:#f6f9f8;stroke:#c5d3cf}.up{fill:#cfe8df;stroke:#2f6f5e}.down{fill:#f8dccf;stroke:#a03412}"
    "path{fill:none;stroke-width:2.5}.line{stroke:#7a8a86;stroke-width:1}.flow{stroke:#2f6f5e}"
    ".cut{stroke:#a03412;stroke-dasharray:5 4}circle.flow{fill:#2f6f5e}circle.cut{fill:#a03412;stroke-dasharray:none}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.card{fill:#10201e;stroke:#2b4540}"
    ".up{fill:#1d4a3d;stroke:#6fc2a9}.down{fill:#55291a;stroke:#f0a585}.flow{stroke:#6fc2a9}.cut{stroke:#f0a585}"
    "circle.flow{fill:#6fc2a9}circle.cut{fill:#f0a585}}</style>"
)


def computed(name: str) -> dict[str, Any]:
    """What a block of the page defines, by the name of its file."""
    (code,) = (match["code"] for match in CELL.finditer(PAGE.read_text(encoding="utf-8")) if match["name"] == name)
    values: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, values)
    return values


def notebook() -> str:
    """The page as a notebook: its text, and its Python blocks with their outputs."""
    text, cells, end = PAGE.read_text(encoding="utf-8"), [], 0
    for match in CELL.finditer(text):
        cells += prose(text[end : match.start()])
        lines = match["output"].splitlines(keepends=True)
        output = {"name": "stdout", "output_type": "stream", "text": lines}
        cells.append(cell("code", match["code"], execution_count=None, outputs=[output]))
        end = match.end()
    cells += prose(text[end:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    named = [{"id": f"cell-{number}", **each} for number, each in enumerate(cells)]
    book = {"cells": named, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def prose(text: str) -> list[dict[str, Any]]:
    """The cell of a piece of text, none if nothing is left of it."""
    text = MATH.sub(lambda match: f"$$\n{match[1]}\n$$", LINKS.sub("", text))
    text = COMMAND.sub(lambda match: "```sh\n" + match[0].splitlines()[1].removeprefix("$ ") + "\n```\n", text)
    return [cell("markdown", text.strip())] if text.strip() else []


def cell(kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source.rstrip("\n").splitlines(keepends=True), **more}


def svg(width: int, height: int, label: str, parts: list[str]) -> str:
    """A picture on a card of its own, so that it can be read on any page."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    card = f'<rect class="card" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="10"/>'
    return "\n".join([head, STYLE, card, *parts, "</svg>", ""])


def write(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


def group() -> str:
    """The lines of the four completions, and which way each is pushed under outcome and process supervision."""
    completions, steps = computed("rewards.py")["completions"], computed("steps.py")
    step_rewards = [[1, 1, 1], [1, 0, 0], [0, 0], [0, 0, 1]]
    with contextlib.redirect_stdout(io.StringIO()):
        process = steps["step_advantages"](step_rewards)
    outcome = computed("loss.py")["advantages"]
    whole = [[advantage] * len(row) for advantage, row in zip(outcome, completions, strict=True)]
    parts = panel(24, "outcome supervision: one advantage for a completion", completions, whole, "g")
    parts += panel(300, "process supervision: one for each step", completions, process, ".4f")
    return svg(600, 576, "Which lines of four completions become more likely", parts)


def panel(top: int, title: str, completions: list[list[str]], advantages: list[list[float]], form: str) -> list[str]:
    parts = [write(20, top + 12, title, "b")]
    for number, (lines, row) in enumerate(zip(completions, advantages, strict=True)):
        y = top + 28 + 58 * number
        parts.append(write(20, y + 30, f"o{number + 1}", "b"))
        for place, (line, advantage) in enumerate(zip(lines, row, strict=True)):
            x = 62 + 174 * place
            parts.append(f'<rect class="{kind(advantage)}" x="{x}" y="{y}" width="164" height="48" rx="6"/>')
            parts.append(write(x + 82, y + 20, line, "m"))
            arrow = "▲" if advantage > 0 else "▼"
            parts.append(write(x + 82, y + 40, f"{arrow} {advantage:+{form}}", "m b"))
    return parts


def kind(advantage: float) -> str:
    return "up" if advantage > 0 else "down"


def clip() -> str:
    """min(r A, clip(r) A) over r for A = 1 and -1, dashed where it has no gradient, with the tokens of the example."""
    values = computed("loss.py")
    parts = []
    for sign, left in ((1, 0), (-1, 300)):
        parts += curve(values, sign, left)
    return svg(600, 300, "The clipped surrogate over the ratio", parts)


def curve(values: dict[str, Any], sign: int, left: int) -> list[str]:
    clip = values["clip"]
    low, size = {1: 0.6, -1: 0.2}[sign], 240.0
    high = low + 1.2

    def at(ratio: float) -> tuple[float, float]:
        value = min(ratio * sign, min(max(ratio, 1 - clip), 1 + clip) * sign)
        middle = 0.95 * sign
        return left + 40 + (ratio - low) / (high - low) * size, 150 - (value - middle) * 130

    edge = 1 + sign * clip
    ends = {1: ((low, edge, "flow"), (edge, high, "cut")), -1: ((edge, high, "flow"), (low, edge, "cut"))}[sign]
    parts = [write(left + 40, 32, f"A = {sign:+d}", "b")]
    for ratio in (1 - clip, 1.0, 1 + clip):
        x = at(ratio)[0]
        parts.append(f'<path class="line" d="M{x:g} 48V262"/>')
        parts.append(write(x, 282, f"{ratio:g}", "m"))
    parts.append(write(left + 40 + size - 8, 282, "r", "b"))
    for start, end, name in ends:
        (x, y), (x2, y2) = at(start), at(end)
        parts.append(f'<path class="{name}" d="M{x:g} {y:g}L{x2:g} {y2:g}"/>')
    for advantage, row in zip(values["advantages"], values["table"], strict=True):
        for ratio, _, _, cut in row if advantage == sign else ():
            x, y = at(ratio)
            parts.append(f'<circle class="{"cut" if cut else "flow"}" cx="{x:g}" cy="{y:g}" r="5"/>')
    x, y = at(edge + sign * 0.3)
    parts.append(write(x, y - 14, "no gradient", "m"))
    return parts


FILES = {"grpo.ipynb": notebook, "group.svg": group, "clip.svg": clip}

if __name__ == "__main__":
    for name, make in FILES.items():
        (LEARN / name).write_text(make(), encoding="utf-8")
