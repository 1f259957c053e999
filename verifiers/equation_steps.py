"""Scores for single reasoning steps: equations that can be checked, and labels from the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from grpo_env.core import LEFT_OUT, Case, Completion, Example, Format, Score, StepScore, Verifier
from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile
from grpo_env.plural import counted
from grpo_env.registry import verifier
from grpo_env.terminal import shortened

from .steps import MAX_STEPS, Segmented, reasoning
from .written_equations import Equation, equations

MAX_CHARACTERS = 100_000  # in all annotations and lines with "=", each counted as at least MIN_CHARACTERS
MIN_CHARACTERS = 20
SHOWN = 60  # of a value in a message

_ANNOTATION = lazy_compile(r"<<([^<>\n]{1,400})>>")
_LINE = lazy_compile(r"[^\s](?:[^\n]*[^\s])?")
_NUMBER = lazy_compile(r"[-+]?\d{1,60}(?:\.\d{1,60})?")
_BULLET = lazy_compile(r"[-*+•]\s+|\d{1,3}[.)]\s+|(?:Step|STEP|step)\s\d{1,3}\s?[:.)]\s*")


@verifier("equation_steps")
@dataclass(frozen=True)
class EquationSteps(Verifier):
    """The fraction of steps whose equations are correct, checked exactly, with a step score (1 or 0) for each.

    A step is a calculator annotation such as ``<<48/2=24>>``, or a line without annotations that has an equation
    between numbers; it is correct if all its equations are. Rounded results (``10/3=3.33``) are wrong. Expressions
    that it cannot parse (variables, functions, powers, LaTeX fractions) are ignored; in an annotation they are wrong.
    The text is the reasoning block if there is one, else everything. The status is ``no_answer`` if there is no step,
    and ``over_limit`` beyond 1,000 steps or 100,000 characters of lines with ``=``.

    A correct equation need not be useful: ``1+1=2`` in every line gets full credit. ``expected`` says which are asked
    for; ``match: result`` also pays another way to an expected value, each value as often as it is expected.

    Source: the calculator annotations are those of GSM8K (Cobbe et al. 2021, arXiv:2110.14168).
    """

    format: Format = field(default_factory=Format)
    expected: str | None = None
    """Template of the row: the only equations that are correct, each of them once. Those in calculator annotations if
    the text has any (``"{{ answer }}"`` of GSM8K), else all between numbers (``"{{ equations }}"``, a list)."""
    match: Literal["equation", "result"] = "equation"
    """What makes an equation one of those: the same numbers, in any order of a sum or a product, with or without units
    and spaces; or the same result."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("48 / 2 = <<48/2=24>>24 in May\n48 + 24 = <<48+24=72>>72", 1.0, "two annotations, both correct"),
        Case("<think>\n3+4=7\n7-2=6\n</think>\n1+1=2", 0.5, "a line is a step; only the reasoning counts"),
        Case("Total = $1,000 * 20% = $200 a week", 1.0, "currency, percent, words and units are parsed"),
        Case("10/3=3.33", 0.0, "a rounded result is wrong"),
        Case("2 + 2 = 4 and 3 + 3 = 7", 0.0, "one of two equations in the line is wrong"),
        Case("So x + 3 = 7", 0.0, "no equation between numbers, so no step"),
        Case("3+4=7\n3+4=7", 0.5, "an expected equation counts once",
             info={"todo": ["3+4=7"]}, options={"expected": "{{ todo }}"}),
        Case("4 + 3 = <<4+3=7>>7\n7*1=7\n1+1=2", 1 / 3, "only 3+4=7 is expected, in any order",
             info={"solution": "So <<3+4=7>>7 eggs"}, options={"expected": "{{ solution }}"}),
        Case("5+2=7\n2+5=7\n6*2=12", 2 / 3, "two different results are expected",
             info={"solution": "<<3+4=7>>7, <<7+5=12>>12"}, options={"expected": "{{ solution }}", "match": "result"}),
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.expected is not None and not self._expected and not _ANNOTATION.search(self.expected):
            shown = shortened(repr(self.expected), SHOWN)
            raise UsageError(f'expected: {shown} has no equation; name a column: "{{{{ equations }}}}"')

    def __call__(self, example: Example, completion: Completion) -> Score:
        if self.expected is not None and not self._expected:
            return LEFT_OUT
        unused = None if self.expected is None else list(self._expected)
        text, start, end, offset = reasoning(self.format, completion)
        steps: list[StepScore] = []
        read = 0
        for first, last, annotated in _candidates(text, start, end):
            read += max(last - first, MIN_CHARACTERS)
            if read > MAX_CHARACTERS:
                return Score(0.0, "over_limit", explanation="too many or too long lines with equations")
            step_equations = (_in_annotation if annotated else _in_line)(text[first:last])
            if not step_equations:
                continue
            correct = [self._is_correct(equation, unused) for equation in step_equations]
            why = "correct" if all(correct) else _first_fault(step_equations, correct)
            steps.append(StepScore(max(first - offset, 0), last - offset, float(all(correct)), why))
            if len(steps) > MAX_STEPS:
                return Score(0.0, "over_limit", explanation=f"more than {MAX_STEPS} steps")
        if not steps:
            return Score(0.0, "no_answer", explanation="no equation to check")
        total = sum(step.value for step in steps)
        return Score(total / len(steps), explanation=f"{total:g} of {len(steps)} steps correct", steps=tuple(steps))

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The expected equations."""
        return tuple(equation.written for equation in _listed(self.expected or ""))

    @cached_property
    def _expected(self) -> tuple[object, ...]:
        return tuple(map(self._key, _listed(self.expected or "")))

    def _key(self, equation: Equation) -> object:
        """What two equations have in common that count as one."""
        return equation.value if self.match == "result" else equation.plain or _without_spaces(equation.written)

    def _is_correct(self, equation: Equation, unused: list[object] | None) -> bool:
        if unused is None or (self.match == "result" and not equation.correct):
            return equation.correct
        key = self._key(equation)
        if key not in unused:
            return False
        unused.remove(key)
        return True


@verifier("labelled_steps")
@dataclass(frozen=True)
class LabelledSteps(Segmented, Verifier):
    """The mean of step labels from the data, with each label as the score of its step.

    The text is the reasoning block if there is one, else everything, split into steps by ``segments``. If the number
    of steps differs from the number of labels, or the row has none, the completion is unscored (``not_applicable``).

    Source: step labels as in PRM800K (Lightman et al. 2023, arXiv:2305.20050).
    """

    column: str
    """Info column with the labels: a list with one number per step."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<think>\nadd\n\ntake\n</think>\n5", 0.25, "two lines, two labels: (1 - 0.5) / 2",
             info={"labels": [1, -0.5]}, options={"column": "labels"}),
        Case("Add 3. Take 1.5. Done.", 1.0, "three sentences",
             info={"labels": [1, 1, 1]}, options={"column": "labels", "segments": "sentence"}),
        Case("Step 1: add\n3+4=7\nStep 2: take\n7-2=6", 0.5, "two marked steps",
             info={"labels": [1, 0]}, options={"column": "labels", "segments": "marker"}),
        Case("add\ntake\nrest", None, "three steps, two labels",
             info={"labels": [1, 1]}, options={"column": "labels"}),
        Case("add", None, "the row has no labels", options={"column": "labels"}),
        Case("", None, "null, as for a completion without steps", info={"labels": None},
             options={"column": "labels"}),
    )  # fmt: skip

    def __call__(self, example: Example, completion: Completion) -> Score:
        problem = self.problem(example)
        if problem:
            return Score(None, "not_applicable", explanation=problem)
        if example.info.get(self.column) is None:
            return Score(None, "not_applicable", explanation=f"the row has no labels in the column {self.column!r}")
        labels = [float(label) for label in example.info[self.column]]
        _, segments, offset = self.steps_in(completion, len(labels))
        if len(segments) != len(labels):
            count = f"{len(segments)} steps" if len(segments) < len(labels) else f"more than {len(labels)} steps"
            return Score(None, "not_applicable", explanation=f"{count}, but {len(labels)} labels")
        steps = [
            StepScore(max(first - offset, 0), last - offset, label, f"label {label:g}")
            for (first, last), label in zip(segments, labels, strict=True)
        ]
        mean = sum(labels) / len(labels)
        return Score(mean, explanation=f"mean of {counted(len(labels), 'label')}", steps=tuple(steps))

    def problem(self, example: Example) -> str | None:
        labels = example.info.get(self.column)
        if labels is None:  # a new completion of an example, or one without steps
            return None
        are_numbers = isinstance(labels, list | tuple) and all(
            isinstance(label, int | float) and math.isfinite(label) for label in labels
        )
        if not are_numbers or not labels:
            return f"info column {self.column!r} must be a list of numbers, not {shortened(repr(labels), SHOWN)}"
        return None


def _candidates(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Spans of annotations (``True``), and of lines without annotations that contain an ``=`` (``False``)."""
    for line in _LINE.finditer(text, start, end):  # also those of a display, which is one step elsewhere
        first, last = line.span()
        annotations = [(*match.span(), True) for match in _ANNOTATION.finditer(text, first, last)]
        if annotations:
            yield from annotations
        elif text.find("=", first, last) >= 0:
            yield first, last, False


def _in_annotation(annotation: str) -> list[Equation]:
    content = annotation[2:-2]
    return equations(content) or _without_calculation(content)


def _in_line(line: str) -> list[Equation]:
    bullet = _BULLET.match(line)
    return equations(line[bullet.end() :] if bullet else line)


def _without_calculation(content: str) -> list[Equation]:
    """An annotation that only repeats a number (``<<8=8.00>>``) is not a step; any other one is a wrong step."""
    left, _, right = _without_spaces(content).partition("=")
    if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right) and Fraction(left) == Fraction(right):
        return []
    return [Equation(content, False, "no equation")]


def _listed(text: str) -> list[Equation]:
    """The equations of a solution: those in its annotations if it has any, else all."""
    annotations = list(_ANNOTATION.finditer(text))
    if not annotations:
        return equations(text)
    return [equation for match in annotations for equation in _in_annotation(match.group())]


def _first_fault(step_equations: list[Equation], correct: list[bool]) -> str:
    equation = step_equations[correct.index(False)]
    return "not an expected equation" if equation.correct else f"wrong: {equation.explanation}"


def _without_spaces(text: str) -> str:
    return "".join(text.split())
