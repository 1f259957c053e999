"""Scores for single reasoning steps: equations that can be checked, and labels that came with the data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, StepScore, Verifier
from grpo_env.registry import verifier

from .arithmetic import Equation, equations
from .blocks import reasoning_span, whole_turn
from .segments import Segmenter, check_segments, spans

MAX_STEPS = 1000
MAX_CHARACTERS = 100_000  # in all marks and lines with "=", each counted as at least MIN_CHARACTERS
MIN_CHARACTERS = 20

_MARK = re.compile(r"<<([^<>\n]{1,400})>>")
_NUMBER = re.compile(r"[-+]?\d{1,60}(?:\.\d{1,60})?")
_BULLET = re.compile(r"[-*+•]\s+|\d{1,3}[.)]\s+|(?:Step|STEP|step)\s\d{1,3}\s?[:.)]\s*")


@verifier("equation_steps")
@dataclass(frozen=True)
class EquationSteps(Verifier):
    """The share of steps whose equations are right, each checked exactly; with a step score (1 or 0) for each.

    A step is a mark such as ``<<48/2=24>>``, or a line without marks that has an equation between numbers. A line is
    right if all its equations are. Rounded results (``10/3=3.33``) are wrong. What is not understood (variables,
    powers, LaTeX fractions) is not judged. The text is the reasoning block where there is one, else all. Status
    ``no_answer`` if there is no step, ``over_limit`` beyond 1,000 steps or 100,000 characters of lines with ``=``.

    A true equation need not be a useful one: ``1+1=2`` in every line is paid in full. Name what is to be worked out
    with ``expected``, or put the steps behind a gate (``when: accuracy``).

    Source: the calculator marks are those of GSM8K (Cobbe et al. 2021, arXiv:2110.14168).
    """

    format: Format = field(default_factory=Format)
    expected: str | None = None
    """Name of an info column with a list of equations: only these are right (spaces aside), each of them once."""

    gives_steps: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case("48 / 2 = <<48/2=24>>24 in May\n48 + 24 = <<48+24=72>>72", 1.0, "two marks, both right"),
        Case("<think>\n3+4=7\n7-2=6\n</think>\n1+1=2", 0.5, "a line is a step; only the reasoning counts"),
        Case("Total = $1,000 * 20% = $200 a week", 1.0, "currency, percent, words and units are understood"),
        Case("10/3=3.33", 0.0, "a rounded result is not the result"),
        Case("2 + 2 = 4 and 3 + 3 = 7", 0.0, "one of two equations in the line is wrong"),
        Case("So x + 3 = 7", 0.0, "no equation between numbers, so no step: status no_answer"),
        Case("3+4=7\n3+4=7", 0.5, "an expected equation counts once",
             info={"todo": ["3+4=7"]}, options={"expected": "todo"}),
    )  # fmt: skip

    def __call__(self, example: Example, completion: Completion) -> Score:
        problem = self.problem(example)
        if problem:
            return Score(None, "not_applicable", explanation=problem)
        unused = [_plain(equation) for equation in example.info[self.expected]] if self.expected else None
        text, start, end, offset = _reasoning(self.format, completion)
        steps: list[StepScore] = []
        read = 0
        for first, last, mark in _candidates(text, start, end):
            read += max(last - first, MIN_CHARACTERS)
            if read > MAX_CHARACTERS:
                return Score(0.0, "over_limit", explanation="too many or too long lines with equations")
            found = _in_mark(text, first, last) if mark else _in_line(text, first, last)
            if not found:
                continue
            rights = [_is_right(text[e.start : e.end], e, unused) for e in found]
            why = "right" if all(rights) else _first_fault(found, rights)
            steps.append(StepScore(max(first - offset, 0), last - offset, float(all(rights)), why))
            if len(steps) > MAX_STEPS:
                return Score(0.0, "over_limit", explanation=f"more than {MAX_STEPS} steps")
        if not steps:
            return Score(0.0, "no_answer", explanation="no equation to check")
        right = sum(step.value for step in steps)
        return Score(right / len(steps), explanation=f"{right:g} of {len(steps)} steps right", steps=tuple(steps))

    def problem(self, example: Example) -> str | None:
        if self.expected is None:
            return None
        found = example.info.get(self.expected)
        if not isinstance(found, list | tuple) or not all(isinstance(equation, str) for equation in found):
            return f"info column {self.expected!r} must be a list of equations, not {_shown(found)}"
        return None


@verifier("labelled_steps")
@dataclass(frozen=True)
class LabelledSteps(Verifier):
    """The mean of step scores that came with the data, each given to its step.

    The text is the reasoning block where there is one, else all; it is cut into steps as ``segments`` says. If there
    are not as many steps as labels the completion is unscored, with status ``not_applicable``.

    Source: step labels as in PRM800K (Lightman et al. 2023, arXiv:2305.20050).
    """

    column: str
    """Name of the info column with the labels: a list with one number for each step."""
    format: Format = field(default_factory=Format)
    segments: Segmenter = "line"
    """Where a step ends: ``line``, ``paragraph``, ``sentence``, ``marker`` (``Step 2:``, ``2.``) or ``separator``."""
    separator: str = ""
    """The string between two steps, for ``segments: separator``."""

    gives_steps: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>\nadd\n\ntake\n</think>\n5", 0.25, "two lines, two labels: (1 - 0.5) / 2",
             info={"labels": [1, -0.5]}, options={"column": "labels"}),
        Case("Add 3. Take 1.5. Done.", 1.0, "three sentences",
             info={"labels": [1, 1, 1]}, options={"column": "labels", "segments": "sentence"}),
        Case("Step 1: add\n3+4=7\nStep 2: take\n7-2=6", 0.5, "two marked steps",
             info={"labels": [1, 0]}, options={"column": "labels", "segments": "marker"}),
        Case("add\ntake\nrest", None, "a step too many: the labels are not of this text",
             info={"labels": [1, 1]}, options={"column": "labels"}),
        Case("add", None, "no labels in the row", options={"column": "labels"}),
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_segments(self.segments, self.separator)

    def __call__(self, example: Example, completion: Completion) -> Score:
        problem = self.problem(example)
        if problem:
            return Score(None, "not_applicable", explanation=problem)
        labels = [float(label) for label in example.info[self.column]]
        text, start, end, offset = _reasoning(self.format, completion)
        found = list(islice(spans(text, start, end, self.segments, self.separator), len(labels) + 1))
        if len(found) != len(labels):
            count = f"{len(found)} steps" if len(found) < len(labels) else f"more than {len(labels)} steps"
            return Score(None, "not_applicable", explanation=f"{count}, but {len(labels)} labels")
        steps = [
            StepScore(max(first - offset, 0), last - offset, label, f"label {label:g}")
            for (first, last), label in zip(found, labels, strict=True)
        ]
        mean = sum(labels) / len(labels)
        return Score(mean, explanation=f"mean of {len(labels)} labels", steps=tuple(steps))

    def problem(self, example: Example) -> str | None:
        found = example.info.get(self.column)
        numbers = isinstance(found, list | tuple) and all(
            isinstance(label, int | float) and math.isfinite(label) for label in found
        )
        if not numbers or not found:
            return f"info column {self.column!r} must be a list of numbers, not {_shown(found)}"
        return None


def _reasoning(format: Format, completion: Completion) -> tuple[str, int, int, int]:
    """The whole turn, the span of it that holds the steps, and the length of the prefill in front."""
    text, offset = whole_turn(format, completion)
    start, end = reasoning_span(text, format) or (0, len(text))
    return text, max(start, offset), max(end, offset), offset


def _candidates(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Spans of all marks (``True``), and of the lines without marks that have an ``=`` in them."""
    for first, last in spans(text, start, end, "line"):
        marks = [(*mark.span(), True) for mark in _MARK.finditer(text, first, last)]
        if marks:
            yield from marks
        elif text.find("=", first, last) >= 0:
            yield first, last, False


def _in_mark(text: str, first: int, last: int) -> list[Equation]:
    content = text[first + 2 : last - 2]
    return _moved(equations(content) or _without_calculation(content), first + 2)


def _in_line(text: str, first: int, last: int) -> list[Equation]:
    bullet = _BULLET.match(text, first, last)
    start = bullet.end() if bullet else first
    return _moved(equations(text[start:last]), start)


def _without_calculation(mark: str) -> list[Equation]:
    """A mark that only repeats a number (``<<8=8.00>>``) is no step; any other without arithmetic is a wrong one."""
    one, _, other = _plain(mark).partition("=")
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other) and Fraction(one) == Fraction(other):
        return []
    return [Equation(0, len(mark), False, "no equation")]


def _moved(found: list[Equation], by: int) -> list[Equation]:
    return [Equation(e.start + by, e.end + by, e.right, e.why) for e in found]


def _is_right(written: str, equation: Equation, unused: list[str] | None) -> bool:
    if unused is None:
        return equation.right
    plain = _plain(written)
    if plain not in unused:
        return False
    unused.remove(plain)
    return True


def _first_fault(found: list[Equation], rights: list[bool]) -> str:
    equation = found[rights.index(False)]
    return "not an expected equation" if equation.right else f"wrong: {equation.why}"


def _plain(equation: str) -> str:
    return "".join(equation.split())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
