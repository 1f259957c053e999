"""How long the written chains are, and how much of them is padding: a verifier that is watched, never paid."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Score, Verifier
from grpo_env.registry import verifier
from grpo_env.verifiers.process import EquationSteps

_OPERATION = re.compile(r"\d\s*([-+]\s*\d+)\s*=")
_INFO = {"equations": ["12+8=20", "20-7=13"]}


@verifier("written_equations")
@dataclass(frozen=True)
class WrittenEquations(Verifier):
    """The number of equations in the reasoning: all, or the useless ones; or how many the problem asks for.

    A useless equation is true, and its operation (``+8``) is none that the problem still asks for, each being asked for
    once. So a repeated equation is useless, and one that goes on from an earlier slip (``10-7=3``) is not.
    """

    count: Literal["all", "useless", "asked"] = "all"

    cases: ClassVar[tuple[Case, ...]] = (
        Case("12+8=20\n20-7=13", 2.0, "two lines", info=_INFO),
        Case("12+8=10\n10-7=3", 0.0, "the second goes on from a slip", info=_INFO, options={"count": "useless"}),
        Case("12+8=20\n1+1=2\n12+8=20\n20-7=13", 2.0, "an unasked one and a repeated one", info=_INFO,
             options={"count": "useless"}),
        Case("12+8=20\n20-7=13\n13+2=16", 0.0, "a wrong one is wrong, not useless", info=_INFO,
             options={"count": "useless"}),
    )  # fmt: skip

    def __call__(self, example: Example, completion: Completion) -> Score:
        asked = [_operation(equation) for equation in example.info["equations"]]
        if self.count == "asked":
            return Score(float(len(asked)))
        steps = EquationSteps()(example, completion).steps
        if self.count == "all":
            return Score(float(len(steps)))
        useless = 0
        for step in steps:
            operation = _operation(completion.text[step.start : step.end])
            if operation in asked:
                asked.remove(operation)
            elif step.value == 1.0:
                useless += 1
        return Score(float(useless))


def _operation(equation: str) -> str | None:
    found = _OPERATION.search(equation)
    return "".join(found[1].split()) if found else None
