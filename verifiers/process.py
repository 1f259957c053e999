"""Scores for single reasoning steps: equations that can be checked, and labels that came with the data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from grpo_env.core import Completion, Example, Format, Score, StepScore, Verifier
from grpo_env.registry import verifier

from .arithmetic import Equation, equations
from .blocks import reasoning_span, whole_turn

MAX_STEPS = 1000

_MARK = re.compile(r"<<([^<>\n]{1,400})>>")
_BULLET = re.compile(r"[-*+•]\s+|\d{1,3}[.)]\s+|(?:Step|STEP|step)\s\d{1,3}\s?[:.)]\s*")


@verifier("equation_steps")
@dataclass(frozen=True)
class EquationSteps(Verifier):
    """Checks every equation of the reasoning, exactly; its value is the share of steps that are right.

    A step is a mark such as ``<<48/2=24>>``, or a line without marks that has an equation between numbers. A line is
    right if all its equations are. Rounded results (``10/3=3.33``) are wrong. With ``expected``, the name of an info
    column with a list of equations, an equation is right only if it is one of those (spaces aside), each used once.
    The text is the reasoning block where there is one, else all. Status ``no_answer`` if there is no step.
    """

    format: Format = field(default_factory=Format)
    expected: str | None = None

    gives_steps: ClassVar[bool] = True

    def __call__(self, example: Example, completion: Completion) -> Score:
        problem = self.problem(example)
        if problem:
            return Score(None, "not_applicable", explanation=problem)
        unused = [_plain(equation) for equation in example.info[self.expected]] if self.expected else None
        text, start, end, offset = _reasoning(self.format, completion)
        steps = []
        for span, found in _steps(text, start, end):
            rights = [_is_right(text[e.start : e.end], e, unused) for e in found]
            why = "right" if all(rights) else _first_fault(found, rights)
            steps.append(StepScore(max(span[0] - offset, 0), span[1] - offset, float(all(rights)), why))
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
    """Step scores from the data: the info column ``column`` has one number for each step; the value is their mean.

    Steps are the lines of the reasoning block (of the whole text where there is none) that are not empty. If there
    are not as many as labels the completion is unscored, with status ``not_applicable``.
    """

    column: str
    format: Format = field(default_factory=Format)

    gives_steps: ClassVar[bool] = True

    def __call__(self, example: Example, completion: Completion) -> Score:
        problem = self.problem(example)
        if problem:
            return Score(None, "not_applicable", explanation=problem)
        labels = [float(label) for label in example.info[self.column]]
        text, start, end, offset = _reasoning(self.format, completion)
        spans = list(_lines(text, start, end))
        if len(spans) != len(labels):
            return Score(None, "not_applicable", explanation=f"{len(spans)} steps, but {len(labels)} labels")
        steps = [
            StepScore(max(first - offset, 0), last - offset, label, f"label {label:g}")
            for (first, last), label in zip(spans, labels, strict=True)
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


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the lines that are not empty, without the white space around them."""
    for match in re.compile(r"[^\r\n]+").finditer(text, start, end):
        line = match.group()
        if stripped := line.strip():
            first = match.start() + line.index(stripped)
            yield first, first + len(stripped)


def _steps(text: str, start: int, end: int) -> Iterator[tuple[tuple[int, int], list[Equation]]]:
    """Each step's span and the equations in it, with their places in the whole text."""
    for first, last in _lines(text, start, end):
        line = text[first:last]
        marks = list(_MARK.finditer(line)) if "<<" in line else []
        if marks:
            for mark in marks:
                content = mark[1]
                found = equations(content) or _without_calculation(content)
                if not found:
                    continue
                yield (first + mark.start(), first + mark.end()), _moved(found, first + mark.start(1))
        elif "=" in line:
            bullet = _BULLET.match(line)
            skipped = bullet.end() if bullet else 0
            if found := equations(line[skipped:]):
                yield (first, last), _moved(found, first + skipped)


def _without_calculation(mark: str) -> list[Equation]:
    """A mark that only repeats a number (``<<8=8>>``) is no step; any other without arithmetic is a wrong one."""
    one, _, other = _plain(mark).lstrip("+").partition("=")
    return [] if one == other else [Equation(0, len(mark), False, "no equation")]


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
