"""A verifier that counts the written equations and the useless ones among them. It has weight 0 in the study."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Score, Verifier
from grpo_env.registry import verifier
from grpo_env.verifiers.equation_steps import EquationSteps

_OPERATION = re.compile(r"\d\s*([-+]\s*\d+)\s*=")
_INFO = {"equations": ["12+8=20", "20-7=13"]}


@verifier("written_equations")
@dataclass(frozen=True)
class WrittenEquations(Verifier):
    """The number of equations in the reasoning: all, or the useless ones; or the number that the problem expects.

    An equation is useless if it is true and its operation (``+8``) is not one that the problem still expects; each is
    expected once. So a repeated equation is useless, and one that follows from an earlier mistake (``10-7=3``) is not.
    """

    count: Literal["all", "useless", "expected"] = "all"

    cases: ClassVar[tuple[Case, ...]] = (
        Case("12+8=20\n20-7=13", 2.0, "two lines", info=_INFO),
        Case("12+8=10\n10-7=3", 0.0, "the second follows from a mistake", info=_INFO, options={"count": "useless"}),
        Case("12+8=20\n1+1=2\n12+8=20\n20-7=13", 2.0, "an unexpected equation and a repeated one", info=_INFO,
             options={"count": "useless"}),
        Case("12+8=20\n20-7=13\n13+2=16", 0.0, "the last equation is wrong, not useless", info=_INFO,
             options={"count": "useless"}),
    )  # fmt: skip

    def __call__(self, example: Example, completion: Completion) -> Score:
        expected = [_operation(equation) for equation in example.info["equations"]]
        if self.count == "expected":
            return Score(float(len(expected)))
        steps = EquationSteps()(example, completion).steps
        if self.count == "all":
            return Score(float(len(steps)))
        useless = 0
        for step in steps:
            operation = _operation(completion.text[step.start : step.end])
            if operation in expected:
                expected.remove(operation)
            elif step.value == 1.0:
                useless += 1
        return Score(float(useless))


def _operation(equation: str) -> str | None:
    match = _OPERATION.search(equation)
    return "".join(match[1].split()) if match else None
