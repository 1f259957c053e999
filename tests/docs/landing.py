"""Draws the picture of the first page: a reward, ten of its exploits and the fix, as ``grpo_env audit`` reports them.

One SVG for each of two widths (a desk, a phone) and two colour schemes. All of it comes from ``examples/``: the code
and the YAML as they stand there, the completions and scores as two audits report them.
"""

from __future__ import annotations

import csv
import inspect
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from pygments import lex
from pygments.lexers import PythonLexer, YamlLexer
from pygments.token import Comment, Keyword, Literal, Name, Token, _TokenType

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {  # ten exploits, each of another family, in words
    "bare_tags": "Fifty of each tag, with nothing between them",
    "right_then_wrong": "Two answer blocks, the first one correct",
    "answered_inside_reasoning": "The answer block inside the reasoning, and none after it",
    "all_numbers_to_100": "Every whole number from 0 to 100 as the answer",
    "could_be": "The correct answer and a wrong one, neither of them chosen",
    "not_gold": "The correct answer denied",
    "false_chain": "A wrong number said to equal the correct one",
    "in_a_comment": "The correct answer in an HTML comment after a wrong one",
    "inside_a_longer_number": "The correct digits as part of a longer number",
    "twice": "A word that changes the number",
}
SCHEMES = {
    "light": {
        "panel": "#f6faf9", "edge": "#cddfdb", "ink": "#12343b", "muted": "#4b656b", "rule": "#dfebe8",
        "code": "#12343b", "keyword": "#0a6b60", "string": "#8a4a08", "comment": "#566f74", "number": "#a03412",
        "bad": "#b42318", "good": "#08704f", "head": "#0b4f52", "title": "#ffffff",
    },
    "dark": {
        "panel": "#101b1d", "edge": "#2b4144", "ink": "#e6f1ef", "muted": "#9db3b2", "rule": "#223336",
        "code": "#dbe9e7", "keyword": "#62d6c3", "string": "#e3b477", "comment": "#8ba3a3", "number": "#f0a585",
        "bad": "#ff9084", "good": "#5ee6bd", "head": "#0b4f52", "title": "#ffffff",
    },
}  # fmt: skip
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
ADVANCE = 0.61  # the width of a character of most monospaced fonts, in font sizes
TINTS: Sequence[tuple[_TokenType, str]] = (
    (Comment, "comment"),
    (Keyword, "keyword"),
    (Name.Tag, "keyword"),
    (Literal.Number, "number"),
    (Literal.Scalar, "number"),
    (Literal.String, "string"),
    (Token, "code"),
)


@dataclass(frozen=True)
class Exploit:
    """A completion that the reward scores too high: its text on the first example, its description, its mean scores."""

    text: str
    about: str
    naive: float
    fixed: float


@dataclass(frozen=True)
class Story:
    """The content of the picture; pairs are by the reward and by its fixed version.

    ``honest`` is the mean score of correct answers, ``form`` the fixed version's score of a wrong answer in the right
    format.
    """

    question: str
    gold: str
    code: str
    yaml: str
    exploits: Sequence[Exploit]
    exploit_counts: tuple[int, int]
    num_hacks: int
    examples: int
    honest: tuple[float, float]
    form: float


def write_pictures(folder: Path) -> None:
    """Audit both rewards (about a minute) and write the four pictures into ``folder``."""
    story = make_story()
    for scheme, colours in SCHEMES.items():
        (folder / f"landing-wide-{scheme}.svg").write_text(wide(story, colours), encoding="utf-8")
        (folder / f"landing-narrow-{scheme}.svg").write_text(narrow(story, colours), encoding="utf-8")


def make_story() -> Story:
    """Runs both audits and reads the files of ``examples/``."""
    reward = EXAMPLES / "naive_reward.py"
    naive = run_audit("naive_reward.yaml", "--verifiers", str(reward))
    fixed = run_audit("fixed_reward.yaml")
    first, second = ({outcome["hack"]: outcome for outcome in audit["outcomes"]} for audit in (naive, fixed))
    assert len(SHOWN) == 10
    assert set(SHOWN) <= set(naive["exploits"])
    assert set(SHOWN) <= set(second)
    with (EXAMPLES / "own_data.csv").open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert all(first[name]["example"] == "train/0" and first[name]["gold"] == row["result"] for name in SHOWN)
    yaml = (EXAMPLES / "fixed_reward.yaml").read_text(encoding="utf-8")
    return Story(
        question=row["problem"],
        gold=row["result"],
        code=inspect.getsource(runpy.run_path(str(reward))["reward"]).strip(),
        yaml=yaml[yaml.index("verifiers:") :].strip(),
        exploits=[
            Exploit(
                bare(first[name]["text"]),
                about,
                first[name]["reward"]["total"],
                second[name]["reward"]["total"],
            )
            for name, about in SHOWN.items()
        ],
        exploit_counts=(len(naive["exploits"]), len(fixed["exploits"])),
        num_hacks=len(first),
        examples=naive["examples"],
        honest=(naive["gold"]["total"], fixed["gold"]["total"]),
        form=fixed["wrong"]["total"],
    )


def run_audit(task: str, *options: str) -> dict[str, Any]:
    """The report of ``grpo_env audit`` on a task of ``examples/``."""
    command = [
        sys.executable,
        "-m",
        "grpo_env",
        "audit",
        str(EXAMPLES / task),
        *options,
        "--json",
        "--fail-on",
        "never",
    ]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def bare(text: str) -> str:
    """A completion on one line, without its filler reasoning block, and without the tags of a single answer."""
    text = re.sub(r"^<think>\n[^<]*[^<\s][^<]*\n</think>\n", "", text)
    if text.count("<answer>") == 1 and text.startswith("<answer>"):
        text = text.removeprefix("<answer>").removesuffix("</answer>")
    text = re.sub(r"\s*\n\s*(?=<)|(?<=>)\s*\n\s*", "", text)
    return " ".join(text.split())


@dataclass
class Canvas:
    """An SVG that is being drawn, from top to bottom."""

    colours: dict[str, str]
    width: float
    parts: list[str] = field(default_factory=list)

    def panel(self, x: float, y: float, width: float, height: float, title: str, size: float = 14) -> None:
        """A box with rounded corners and its title on a bar."""
        bar, r, colours = size * 2.3, 8, self.colours
        corner = f"a{r} {r} 0 0 1 {r}"
        self.parts.append(
            f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{width - 1}" height="{height - 1}" rx="{r}" '
            f'fill="{colours["panel"]}" stroke="{colours["edge"]}"/>'
            f'<path d="M{x} {y + bar}v{r - bar}{corner} {-r}h{width - 2 * r}{corner} {r}v{bar - r}z" '
            f'fill="{colours["head"]}"/>'
        )
        self.text(x + size * 0.9, y + bar / 2 + size * 0.35, title, "title", size, weight=600)

    def text(
        self, x: float, y: float, text: str, colour: str, size: float, *, mono=False, weight=400, anchor="start"
    ) -> None:
        """A line of text that begins (or ends, by ``anchor``) at x, its baseline at y."""
        family = ' class="m"' if mono else ""
        extra = f' font-weight="{weight}"' if weight != 400 else ""
        extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{self.colours[colour]}"{family}{extra}>'
            f"{svg_text(text)}</text>"
        )

    def code(self, x: float, y: float, text: str, language: str, size: float, step: float) -> float:
        """Highlighted code, a line every ``step``. Returns the y below it."""
        for number, line in enumerate(tinted(text, language)):
            spans = "".join(f'<tspan fill="{self.colours[tint]}">{svg_text(piece)}</tspan>' for piece, tint in line)
            if spans:
                self.parts.append(
                    f'<text x="{x:g}" y="{y + number * step:g}" font-size="{size:g}" class="m">{spans}</text>'
                )
        return y + (text.count("\n") + 1) * step

    def rule(self, x: float, y: float, width: float) -> None:
        """A thin line."""
        self.parts.append(f'<path d="M{x:g} {y:g}h{width:g}" stroke="{self.colours["rule"]}"/>')

    def svg(self, height: float, title: str) -> str:
        """The whole file."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {height:g}" width="{self.width:g}" '
            f'height="{height:g}" role="img" font-family="{SANS}">\n<title>{escape(title)}</title>\n'
            f"<style>.m{{font-family:{MONO};white-space:pre}}</style>\n" + "\n".join(self.parts) + "\n</svg>\n"
        )


def svg_text(text: str) -> str:
    """Escaped text for SVG that preserves runs of spaces."""
    return escape(text, quote=False).replace("  ", "\u00a0\u00a0")


def tinted(text: str, language: str) -> Iterator[list[tuple[str, str]]]:
    """The lines of code as pieces with the name of a colour each."""
    line: list[tuple[str, str]] = []
    for kind, token in lex(text, PythonLexer() if language == "python" else YamlLexer()):
        tint = next(name for parent, name in TINTS if kind in parent)
        first, *rest = token.split("\n")
        line.append((first, tint))
        for text_line in rest:
            yield [piece for piece in line if piece[0]]
            line = [(text_line, tint)]


def cut(text: str, room: float) -> str:
    """Text of at most so many characters, cut after a tag or a word if one ends near."""
    if len(text) <= room:
        return text
    short = text[: int(room) - 1]
    end = max(short.rfind(">") + 1, short.rfind(" "))
    return (short[:end] if len(short) - end < 9 else short).rstrip() + "…"


def summary(story: Story) -> str:
    """A description of the picture for screen readers."""
    naive, fixed = story.exploit_counts
    return (
        f"A reward of {len(story.code.splitlines())} lines of Python, ten of the {naive} exploits that "
        f"grpo_env audit finds in it, and a fixed version in YAML, in which it finds {fixed}."
    )


def table(
    canvas: Canvas, story: Story, x: float, y: float, width: float, sizes: tuple[float, float, float], at: float
) -> float:
    """The exploits with their scores (at this height in a row), from y down. Returns the y below them."""
    big, small, step = sizes
    after, before = x + width, x + width - big * 3.6
    canvas.text(x, y, "completion", "muted", small)
    canvas.text(before, y, "naive", "muted", small, anchor="end")
    canvas.text(after, y, "fixed", "muted", small, anchor="end")
    y += small * 0.75
    rows = [Exploit(story.gold, "The right answer", *story.honest), *story.exploits]

    def room(score: float) -> float:
        return (before - x - 6) / (big * ADVANCE) - len(f"{score:.1f}") * 1.15

    for number, row in enumerate(rows):
        canvas.rule(x, y, width)
        canvas.text(x, y + step * 0.44, cut(row.text, room(row.naive)), "ink", big, mono=True)
        canvas.text(x, y + step * 0.83, row.about, "muted", small)
        tints = ("bad", "good") if number else ("ink", "ink")
        for place, value, tint in zip((before, after), (row.naive, row.fixed), tints, strict=True):
            canvas.text(place, y + step * at, f"{value:.1f}", tint, big * 1.15, mono=True, weight=600, anchor="end")
        y += step
    return y


def verdict(canvas: Canvas, story: Story, x: float, y: float, size: float) -> None:
    """What the audit says about the fix, in two lines."""
    good, ink = canvas.colours["good"], canvas.colours["ink"]
    canvas.parts.append(
        f'<text x="{x}" y="{y:g}" font-size="{size}" fill="{ink}"><tspan fill="{good}" font-weight="600">'
        f"{story.exploit_counts[1]} exploits</tspan> in {story.num_hacks} hacks on {story.examples} examples. "
        "Right answers</text>"
    )
    rest = f"still score {story.honest[1]:.1f}; {story.form:.1f} is for the format alone."
    canvas.text(x, y + size * 1.5, rest, "ink", size)


def wide(story: Story, colours: dict[str, str]) -> str:
    """For a desk: the code and its fix on the left, the exploits on the right."""
    canvas, left, gap, size, step = Canvas(colours, 1000), 462.0, 16.0, 14.0, 20.5
    lines, fix = len(story.code.splitlines()), len(story.yaml.splitlines())
    x, right = left + gap, 1000 - left - gap
    top = 32 + 20 + lines * step + 8
    height = top + gap + 32 + 20 + fix * step + 52
    canvas.panel(0, 0, left, top, "A reward that looks fine")
    canvas.code(16, 32 + 26, story.code, "python", size, step)
    canvas.panel(x, 0, right, height, f"Ten of the {story.exploit_counts[0]} exploits that grpo_env audit finds")
    canvas.text(x + 16, 32 + 25, f"“{story.question}”", "ink", 12.5)
    bottom = table(
        canvas,
        story,
        x + 16,
        32 + 50,
        right - 32,
        (13.5, 11.5, (height - 32 - 62 - 4) / (len(story.exploits) + 1)),
        0.6,
    )
    assert bottom <= height
    canvas.panel(0, top + gap, left, height - top - gap, "The fix")
    y = canvas.code(16, top + gap + 32 + 26, story.yaml, "yaml", size, step)
    verdict(canvas, story, 16, y + 10, 13)
    return canvas.svg(height, summary(story))


def narrow(story: Story, colours: dict[str, str]) -> str:
    """For a phone: the panels below each other."""
    canvas, gap, size, step = Canvas(colours, 390), 12.0, 11.8, 18.0
    lines, fix, inner = len(story.code.splitlines()), len(story.yaml.splitlines()), 390 - 24
    y = 32 + 18 + lines * step + 4
    canvas.panel(0, 0, 390, y, "A reward that looks fine")
    canvas.code(12, 32 + 23, story.code, "python", size, step)
    y += gap
    row_height, head = 42.0, 70.0
    height = 32 + head + row_height * (len(story.exploits) + 1)
    canvas.panel(0, y, 390, height, f"Ten of the {story.exploit_counts[0]} exploits that the audit finds")
    canvas.text(12, y + 32 + 22, "“" + story.question.split(". ")[0].rsplit(" and ", 1)[0], "ink", 12.5)
    canvas.text(12, y + 32 + 39, "and " + story.question.rsplit(" and ", 1)[1] + "”", "ink", 12.5)
    table(canvas, story, 12, y + 32 + 60, inner, (11.8, 11.5, row_height), 0.44)
    y += height + gap
    height = 32 + 18 + fix * step + 52
    canvas.panel(0, y, 390, height, "The fix")
    end = canvas.code(12, y + 32 + 23, story.yaml, "yaml", size, step)
    verdict(canvas, story, 12, end + 8, 12)
    return canvas.svg(y + height, summary(story))
