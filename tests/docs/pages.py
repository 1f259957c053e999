"""Runs the examples on a documentation page: writes its files, runs its commands, compares their output.

Markup (the comment goes directly above the block and is not rendered):

    ```yaml title="sums.yaml"        a file, written to the page's folder

    <!-- docs: slow data -->         run only with GRPO_ENV_DOCS=all; run only if GRPO_ENV_DATA names the real data
    ```console
    $ grpo_env check sums.yaml       # exit code 1
    the output; a line "..." matches any number of lines, and … anything within a line
    ```

A command without output may print anything. Exit codes are 0 unless stated. Times, rates and dates are not compared.
In blocks marked ``slow`` or ``rough``, numbers are compared only roughly, because rounding differs between processors.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import forked

FENCE = re.compile(
    r"^(?:<!-- docs: (?P<marks>[a-z ]+) -->\n+)?```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
EXIT_CODE = re.compile(r"# exit code (\d+)$")
SHELL = re.compile(r"[|<>;&$`]")
NUMBER = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
# What differs in every run: seconds and rates, the slowest score, clocks, the date in a run's name.
PASSING = re.compile(
    r"(?<=slowest score )[\d.]+ s \(\w+\)"
    r"|\d[\d,.]*(?= (?:s|ms|seconds|min)\b)|\d[\d,.]*(?=/s\b)|(?<=left )\d+:\d+|(?<=elapsed )\d+:\d+"
    r"|(?<=tokens_per_second )[\d,]+|(?<=seconds\": )[\d.e-]+|(?<=seconds\":)[\d.e-]+|(?<=-)\d{8}-\d+"
)


@dataclass(frozen=True)
class Block:
    """A fenced block. ``marks`` come from the comment above it; ``line`` is the number of its first line."""

    language: str
    title: str | None
    text: str
    marks: frozenset[str]
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a ``console`` block with its expected exit code and output."""

    command: str
    exit_code: int
    output: tuple[str, ...]
    line: int


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [
        Block(
            match["language"],
            match["title"],
            match["text"],
            frozenset((match["marks"] or "").split()),
            text.count("\n", 0, match.start("text")) + 1,
        )
        for match in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block: lines that start with ``$`` (and their continuation lines), with the output below."""
    lines = block.text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise AssertionError(f"line {block.line}: a console block starts with a command, $ and a space")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = next(at for at in range(start, end) if not lines[at].endswith("\\"))
        command = "\n".join(lines[start : last + 1]).removeprefix("$ ")
        code = EXIT_CODE.search(command)
        yield Command(command, int(code[1]) if code else 0, tuple(lines[last + 1 : end]), block.line + start)


def run_page(path: Path, folder: Path, skipped: frozenset[str] = frozenset()) -> list[str]:
    """Run the blocks of a page in ``folder``, except those with a mark in ``skipped``; returns the mismatches."""
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
                for problem in mismatches(command, folder, rough=bool(block.marks & {"slow", "rough"}))
            ]
    return problems


def mismatches(command: Command, folder: Path, rough: bool) -> Iterator[str]:
    """Run a command and describe how it differs from the page."""
    return differences(command, *run(command.command, folder), rough)


def differences(command: Command, code: int, printed: str, rough: bool) -> Iterator[str]:
    """How an exit code and what was printed differ from the page."""
    if code != command.exit_code:
        yield f"exit code {code}, not {command.exit_code}; it printed\n{printed[-3000:]}"
    elif command.output and not matches(command.output, printed.splitlines(), rough):
        yield "the page shows\n{}\nit printed\n{}".format("\n".join(command.output), printed[-3000:])


def run(command: str, folder: Path) -> tuple[int, str]:
    """The exit code and what was printed, errors too. Commands of ours alone are forked, all others are a shell's."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",  # keeps stderr and stdout in order
        "HF_HUB_OFFLINE": "1",
    }
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    if words[0] in {"grpo_env", "python"} and not SHELL.search(command):
        process = forked.run(words, folder, environment, joined=True)
    elif words[0] == "grpo_env" and (match := re.fullmatch(r"([^|<>;&]*) < (\S+)", command)):
        process = forked.run(shlex.split(match[1]), folder, environment, (folder / match[2]).read_text(), joined=True)
    else:
        process = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
    return process.returncode, process.stdout


def matches(expected: Sequence[str], printed: Sequence[str], rough: bool) -> bool:
    """Whether printed lines match the expected ones; a line ``...`` matches any number of lines."""
    chunks: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == "...":
            chunks.append([])
        else:
            chunks[-1].append(line)
    first, *more = chunks
    if not more:
        return len(first) == len(printed) and _same(first, printed, rough)
    if not _same(first, printed, rough):
        return False
    rest = printed[len(first) :]
    for chunk in more[:-1]:
        start = next((start for start in range(len(rest)) if _same(chunk, rest[start:], rough)), None)
        if start is None:
            return False
        rest = rest[start + len(chunk) :]
    last = more[-1]
    return _same(last, rest[max(0, len(rest) - len(last)) :], rough)


def _same(expected: Sequence[str], printed: Sequence[str], rough: bool) -> bool:
    pairs = zip(expected, printed, strict=False)
    return len(printed) >= len(expected) and all(same_line(*pair, rough) for pair in pairs)


def same_line(expected: str, printed: str, rough: bool = False) -> bool:
    """Whether a line matches: … is anything, times are ignored, and if ``rough``, numbers agree within a fifth."""
    expected, printed = (PASSING.sub("T", line.rstrip()) for line in (expected, printed))
    figures = r"(\d[\d,]*\.?\d*|\.\d+)" if rough else None
    pieces = [NUMBER.split(piece) if rough else [piece] for piece in expected.split("…")]
    pattern = ".*".join((figures or "").join(map(re.escape, piece)) for piece in pieces)
    match = re.fullmatch(pattern, printed)
    if match is None or not rough:
        return match is not None
    pairs = zip(map(_value, NUMBER.findall(expected)), map(_value, match.groups()), strict=True)
    return all(abs(a - b) <= 0.2 * max(1.0, a, b) for a, b in pairs)


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
