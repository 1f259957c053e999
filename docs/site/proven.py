"""Writes the tables of docs/limits.md and docs/benchmarks.md from recorded runs: ``python docs/site/proven.py``.

A line of docs/proven.jsonl is a claim of these pages: what has shown it, on which hardware (``on``: CPU, or the name
of a GPU), and what was not tried. A line of docs/results.jsonl is a point of a curve (``benchmarks/learning.py``).
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from grpo_env.confidence_intervals import wilson  # noqa: E402

Row = dict[str, Any]
END = "<!-- end -->\n"


def records(name: str) -> list[Row]:
    """The rows of a file in docs/."""
    return [json.loads(line) for line in (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()]


def claims(rows: list[Row]) -> str:
    """How many claims were shown on a GPU, and a table for each area."""
    gpu = sum(row["on"] != "CPU" for row in rows)
    count = f"{gpu} of the {len(rows)} lines" if gpu else "no line"
    lines = [f"So far {count} below {'were' if gpu > 1 else 'was'} run on a GPU.", ""]
    for area, group in groupby(rows, key=lambda row: row["area"]):
        lines += [f"## {area}", "", "| claim | shown by | on | not tried |", "|---|---|---|---|"]
        lines += [f"| {row['claim']} | {row['shown']} | {row['on']} | {row['not_tried']} |" for row in group]
        lines.append("")
    return "\n".join(lines)


def curves(rows: list[Row]) -> str:
    """For each curve its length, and what it says before training and at its end."""
    lines = ["| side, seed | training | greedy (95 %) | sampled (95 %) |", "|---|---|---|---|"]
    for (side, seed), group in groupby(rows, key=lambda row: (row["side"], row["seed"])):
        first, *_, last = group
        rates = [f"{first[kind]:.3f} → {rate(last[kind], last['examples'])}" for kind in ("greedy", "sampled")]
        lines.append(f"| {side}, {seed} | {last['steps']} steps in {last['seconds']:,.0f} s | {' | '.join(rates)} |")
    return "\n".join([*lines, ""])


def rate(value: float, examples: int) -> str:
    """A fraction with Wilson's interval."""
    low, high = wilson(value * examples, examples)
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def page(text: str, name: str, table: str) -> str:
    """A page with the table ``name`` in the place of its old one."""
    start = f"<!-- {name}: generated -->\n"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{table}\n{END}{rest.partition(END)[2]}"


TABLES = {"limits.md": ("claims", claims, "proven.jsonl"), "benchmarks.md": ("curves", curves, "results.jsonl")}


def pages() -> dict[Path, str]:
    """The pages as they should be."""
    made = {}
    for name, (block, table, source) in TABLES.items():
        path = ROOT / "docs" / name
        made[path] = page(path.read_text(encoding="utf-8"), block, table(records(source)))
    return made


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
