"""Guesses what a column holds by its name, for advice that a person can follow or not."""

from __future__ import annotations

import re
from collections.abc import Iterable

QUESTION = ("question", "problem", "prompt", "query", "instruction", "input", "exercise", "task", "text")
ANSWER = ("answer", "gold", "target", "expected", "reference", "truth", "solution", "label", "result", "output")
COMPLETION = (
    *("completions", "completion", "responses", "response", "generations", "generation", "generated", "outputs"),
    *("output", "predictions", "prediction", "samples", "candidates", "replies", "reply", "text", "texts"),
)


def guess(names: Iterable[str], words: Iterable[str]) -> str | None:
    """The column whose name is one of ``words`` or has it as a part (``gold_answer``); earlier words come first."""
    parts = {name: [part for part in re.split(r"[^a-z]+", _snake(name)) if part] for name in names}
    for word in words:
        for name, found in parts.items():
            if found == [word]:
                return name
    return next((name for word in words for name, found in parts.items() if word in found), None)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
