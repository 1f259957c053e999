"""Runs what a page shows: its files are written, its commands run in a shell, their output compared with the page.

How a page says it (the comment stands right above the block and is not shown):

    ```yaml title="sums.yaml"        a file, written into the page's own folder

    <!-- docs: slow data -->         only where trainings are run; only where GRPO_ENV_DATA names the real data
    ```console
    $ grpo_env check sums.yaml       # exit code 1
    the output, in which a line ... stands for any number of lines, and … for anything within a line
    ```

A command without output may print anything. Exit codes are 0 unless the command says otherwise. Times, rates and dates
are not compared, and in blocks marked ``slow`` all figures only roughly, as rounding differs between processors.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?:<!-- docs: (?P<marks>[a-z ]+) -->\n+)?```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
EXIT_CODE = re.compile(r"# exit code (\d+)$")
NUMBER = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
# What is another in every run: seconds and rates, the slowest verdict, clocks, the date in a run's name.
PASSING = re.compile(
    r"(?<=longest verdict )[\d.]+ s \(\w+\)"
    r"|\d[\d,.]*(?= (?:s|ms|seconds|min)\b)|\d[\d,.]*(?=/s\b)|(?<=left )\d+:\d+|(?<=elapsed )\d+:\d+"
    r"|(?<=tokens_per_second )[\d,]+|(?<=_seconds\": )[\d.e-]+|(?<=\"seconds\": )[\d.e-]+|(?<=-)\d{8}-\d+"
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. ``marks`` are those of the comment above it; ``line`` is its first line's number."""

    language: str
    title: str | None
    text: str
    marks: frozenset[str]
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a ``console`` block, with the exit code and the lines that the page promises."""

    command: str
    exit_code: int
    output: tuple[str, ...]
    line: int


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [
        Block(
            found["language"],
            found["title"],
            found["text"],
            frozenset((found["marks"] or "").split()),
            text.count("\n", 0, found.start("text")) + 1,
        )
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block: lines from ``$``, continued behind a backslash, and what follows up to the next."""
    lines = block.text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise AssertionError(f"line {block.line}: a console block begins with a command, $ and a space")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = next(at for at in range(start, end) if not lines[at].endswith("\\"))
        command = "\n".join(lines[start : last + 1]).removeprefix("$ ")
        code = EXIT_CODE.search(command)
        yield Command(command, int(code[1]) if code else 0, tuple(lines[last + 1 : end]), block.line + start)


def run_page(path: Path, folder: Path, skipped: frozenset[str] = frozenset()) -> list[str]:
    """Run a page's blocks in ``folder``, but for those with a mark in ``skipped``; one line for each promise broken."""
    problems = []
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.marks & skipped:
            continue
        if block.title is not None:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            problems += [
                f"{path.name}, line {command.line}: $ {command.command}\n{problem}"
                for command in commands(block)
                for problem in broken(command, folder, rough="slow" in block.marks)
            ]
    return problems


def broken(command: Command, folder: Path, rough: bool) -> Iterator[str]:
    """Run a command; what of it is not as promised."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",  # so that what is said and what is printed come in order
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command.command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    if done.returncode != command.exit_code:
        yield f"exit code {done.returncode}, not {command.exit_code}; it printed\n{done.stdout[-3000:]}"
    elif command.output and not agrees(command.output, done.stdout.splitlines(), rough):
        yield "the page shows\n{}\nit printed\n{}".format("\n".join(command.output), done.stdout[-3000:])


def agrees(shown: Sequence[str], printed: Sequence[str], rough: bool) -> bool:
    """Whether printed lines are those shown, with any number of others in the place of each line ``...``."""
    stretches: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == "...":
            stretches.append([])
        else:
            stretches[-1].append(line)
    first, *others = stretches
    if not others:
        return len(first) == len(printed) and _same(first, printed, rough)
    if not _same(first, printed, rough):
        return False
    rest = printed[len(first) :]
    for stretch in others[:-1]:
        at = next((at for at in range(len(rest)) if _same(stretch, rest[at:], rough)), None)
        if at is None:
            return False
        rest = rest[at + len(stretch) :]
    last = others[-1]
    return _same(last, rest[max(0, len(rest) - len(last)) :], rough)


def _same(shown: Sequence[str], printed: Sequence[str], rough: bool) -> bool:
    return len(printed) >= len(shown) and all(
        same_line(one, other, rough) for one, other in zip(shown, printed, strict=False)
    )


def same_line(shown: str, printed: str, rough: bool = False) -> bool:
    """Whether a line is as shown: … is anything, times are any times, and if ``rough`` figures lie within a fifth."""
    shown, printed = (PASSING.sub("T", line.rstrip()) for line in (shown, printed))
    figures = r"(\d[\d,]*\.?\d*|\.\d+)" if rough else None
    pieces = [NUMBER.split(piece) if rough else [piece] for piece in shown.split("…")]
    pattern = ".*".join((figures or "").join(map(re.escape, piece)) for piece in pieces)
    found = re.fullmatch(pattern, printed)
    if found is None or not rough:
        return found is not None
    pairs = zip(map(_value, NUMBER.findall(shown)), map(_value, found.groups()), strict=True)
    return all(abs(one - other) <= 0.2 * max(1.0, one, other) for one, other in pairs)


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
