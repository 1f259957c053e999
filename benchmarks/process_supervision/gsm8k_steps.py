"""What the marks of GSM8K's gold solutions say of the steps of 5,276 completions, and of texts that fool them.

    GRPO_ENV_DATA=FOLDER python benchmarks/process_supervision/gsm8k_steps.py

``FOLDER`` has gsm8k_model_solutions.jsonl: a completion of each of four models for each question of the test split, and
whether its final answer is right. The first table is of rules for steps, the second of texts.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from grpo_env.core import Completion, Example, Format, Score
from grpo_env.verifiers.equation_steps import EquationSteps

MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
PLAIN = Format(reasoning=None, answer=None)
MOST_NUMBERS = 12


class Row(NamedTuple):
    """A question, the equations of its gold solution, and its completions with their labels."""

    question: str
    solution: str
    expected: tuple[str, ...]
    completions: tuple[tuple[str, bool], ...]


def read(folder: Path) -> Iterator[Row]:
    """The rows whose gold solution has an equation in its marks."""
    for line in (folder / "gsm8k_model_solutions.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "<<" in row["ground_truth"]:
            written = EquationSteps(expected=row["ground_truth"]).written
            completions = tuple((row[model]["solution"], row[model]["is_correct"]) for model in MODELS)
            if written:
                yield Row(row["question"], row["ground_truth"], written, completions)


def any_true(row: Row) -> EquationSteps:
    return EquationSteps(format=PLAIN)


def same_numbers(row: Row) -> EquationSteps:
    return EquationSteps(format=PLAIN, expected=row.solution)


def same_result(row: Row) -> EquationSteps:
    return EquationSteps(format=PLAIN, expected=row.solution, match="result")


RULES: dict[str, Callable[[Row], EquationSteps]] = {
    "any true equation": any_true,
    "`expected`": same_numbers,
    "`expected`, `match: result`": same_result,
}


def in_order(right: Sequence[float], wrong: Sequence[float]) -> float:
    """How often a right completion has a higher value than a wrong one, half for equal ones: the area under the ROC."""
    below = sorted(wrong)
    counts = (bisect_left(below, value) + bisect_right(below, value) for value in right)
    return sum(counts) / (2 * len(right) * len(wrong))


def rule_line(name: str, rows: Sequence[Row]) -> str:
    """A line of the first table."""
    found: dict[bool, list[float]] = {True: [], False: []}
    whole: dict[bool, list[bool]] = {True: [], False: []}
    pairs = []
    for row in rows:
        verifier, own = RULES[name](row), {True: [], False: []}
        for text, label in row.completions:
            score = verifier(Example(""), Completion(text))
            own[label].append(score.value or 0.0)
            whole[label].append(paid(score) >= len(row.expected))
        pairs += [(a > b) + (a == b) / 2 for a in own[True] for b in own[False]]
        for label in (True, False):
            found[label] += own[label]
    complete = "" if name == "any true equation" else f"{fmean(whole[True]):.3f} / {fmean(whole[False]):.3f}"
    means = f"{fmean(found[True]):.3f} / {fmean(found[False]):.3f}"
    return f"| {name} | {means} | {in_order(found[True], found[False]):.3f} | {fmean(pairs):.3f} | {complete} |"


def paid(score: Score) -> int:
    return sum(step.value == 1.0 for step in score.steps)


def right_text(row: Row) -> str | None:
    return next((text for text, label in row.completions if label), None)


def combined(row: Row) -> str:
    """Every sum, difference, product and quotient of two numbers of the question."""
    numbers = list(dict.fromkeys(re.findall(r"\d+", row.question.replace(",", ""))))[:MOST_NUMBERS]
    lines = []
    for a, b in combinations(sorted(map(int, numbers), reverse=True), 2):
        lines += [f"{a}+{b}={a + b}", f"{a}-{b}={a - b}", f"{a}*{b}={a * b}"]
        lines += [f"{a}/{b}={a // b}"] if b and a % b == 0 else []
    return "\n".join(lines)


def doubled(row: Row) -> str | None:
    text = right_text(row)
    return text and "\n".join(line for line in text.splitlines() for _ in range(2))


TEXTS: dict[str, Callable[[Row], str | None]] = {
    "a right completion": right_text,
    "the same, with five lines `1+1=2`": lambda row: (text := right_text(row)) and text + "\n1+1=2" * 5,
    "the same, every line twice": doubled,
    "the gold equations, last first": lambda row: "\n".join(reversed(row.expected)),
    "the gold results alone: `24*1=24`": lambda row: "\n".join(
        f"{result}*1={result}" for result in (equation.rpartition("=")[2] for equation in row.expected)
    ),
    "what two numbers of the question make": combined,
}


def text_line(name: str, rows: Sequence[Row]) -> str:
    """A line of the second table: the mean value, and the equations paid for each that is expected."""
    cells = []
    texts = [(row, text) for row in rows if (text := TEXTS[name](row))]
    for rule in RULES.values():
        scores = [rule(row)(Example(""), Completion(text)) for row, text in texts]
        share = fmean(paid(score) / len(row.expected) for (row, _), score in zip(texts, scores, strict=True))
        cells.append(f"{fmean(score.value or 0.0 for score in scores):.2f}, {share:.2f}")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    rows = list(read(Path(os.environ.get("GRPO_ENV_DATA", "../shared/data"))))
    scores = [any_true(row)(Example(""), Completion(text)) for row in rows for text, _ in row.completions]
    right = sum(label for row in rows for _, label in row.completions)
    print(f"{len(rows):,} questions, {len(scores):,} completions, {right:,} of them right")
    print(f"{fmean(len(score.steps) for score in scores):.2f} steps in a completion", end=", ")
    print(f"{fmean(bool(score.steps) for score in scores):.3f} of them have any", end="; ")
    print(f"{fmean(len(row.expected) for row in rows):.2f} are expected")
    print("\n| rule | value, right / wrong | pairs | pairs of one question | has all, right / wrong |")
    print("|---|---|---|---|---|")
    for name in RULES:
        print(rule_line(name, rows))
    print(f"\n| text | {' | '.join(RULES)} |\n|---|---|---|---|")
    for name in TEXTS:
        print(text_line(name, rows))


if __name__ == "__main__":
    main()
