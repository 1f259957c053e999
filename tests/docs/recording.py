"""Draws docs/recording.svg: a terminal in which a table becomes a task that scores completions. All output is real."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from html import escape
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorials/own_task.md"
COLUMNS, SIZE, LINE, MARGIN = 64, 13, 19, 14  # characters of a line; the others in pixels
ADVANCE = 0.602  # the width of a character in font sizes
COMMANDS = (
    "grpo_env tasks new shop.yaml --data shop.csv",
    "grpo_env check shop.yaml",
    "grpo_env score shop.yaml tried.jsonl --out scores.jsonl",
    "grpo_env view show scores.jsonl",
)
TRIED = {
    "A chair costs 1,250 yen. What do 4 chairs cost?": ("5,000", "<answer>5000 yen</answer>"),
    "A bag of 12 apples costs 6 dollars. What does one cost?": ("1/2", "<answer>$0.50</answer>"),
    "A lamp of 40 dollars is sold at 25% off. What does it cost?": ("30", "It costs 30 dollars, I think, or 10."),
}
AT_FIRST, A_LINE, AT_LAST = 0.8, 0.12, 4.0  # seconds: of the command alone, between lines, of the whole output
STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#dbe9e7;"
    "white-space:pre;visibility:hidden}.c{fill:#62d6c3}rect{fill:#101b1d}.end{visibility:visible}"
    "@media(prefers-reduced-motion:reduce){text{animation:none!important}}"
)


def record(folder: Path) -> list[list[str]]:
    """Run the commands; for each its lines as a terminal of ``COLUMNS`` shows them, the command first."""
    table = re.search(r'```csv title="shop.csv"\n(.*?)^```', PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (folder / "shop.csv").write_text(table[1], encoding="utf-8")
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    rows = [{"question": key, "result": gold, "completion": text} for key, (gold, text) in TRIED.items()]
    (folder / "tried.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    scenes = []
    for command in COMMANDS:
        words = [sys.executable, "-m", *command.split()]
        done = subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True)
        lines = ["$ " + command, *(done.stderr + done.stdout).rstrip().splitlines()]
        scenes.append(
            [piece for line in lines for piece in textwrap.wrap(line, COLUMNS, subsequent_indent="  ") or [""]]
        )
    return scenes


def draw(scenes: list[list[str]]) -> str:
    """The picture: a line is shown from its time to the end of its scene; the last scene, where nothing moves."""
    lengths = [AT_FIRST + A_LINE * len(lines) + AT_LAST for lines in scenes]
    rules, texts, start = [], [], 0.0
    for number, (lines, length) in enumerate(zip(scenes, lengths, strict=True)):
        for row, line in enumerate(lines):
            name, kind = f"k{number}_{row}", " c" * (row == 0) + " end" * (number == len(scenes) - 1)
            from_, until = start + (row > 0) * AT_FIRST + A_LINE * row, start + length
            begin, end = 100 * from_ / sum(lengths), 100 * until / sum(lengths)
            hidden = f"0%,{begin:.2f}%" if begin else "100%"
            rules.append(f"@keyframes {name}{{{hidden}{{visibility:hidden}}{begin + 0.01:.2f}%,{end - 0.01:.2f}%"
                         f"{{visibility:visible}}{end:.2f}%,100%{{visibility:hidden}}}}")  # fmt: skip
            style = f"animation:{name} {sum(lengths):.1f}s step-end infinite"
            y = MARGIN + LINE * (row + 1) - 5
            texts.append(f'<text class="{kind.strip()}" style="{style}" x="{MARGIN}" y="{y}">{escape(line)}</text>')
        start += length
    width, height = round(COLUMNS * SIZE * ADVANCE + 2 * MARGIN), 2 * MARGIN + LINE * max(map(len, scenes))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    style = f"<style>{STYLE}{''.join(rules)}</style>"
    return "\n".join([head, style, f'<rect width="{width}" height="{height}" rx="8"/>', *texts, "</svg>", ""])


def shown(picture: str) -> list[str]:
    """The lines of a picture, escaped as they are in it."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)
