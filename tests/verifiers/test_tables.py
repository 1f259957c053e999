"""Tables of the format verifiers and of equation steps: ``cases/forms.jsonl``, ``cases/equations.jsonl``."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_env.core import Completion, Example, Format
from grpo_env.registry import find

from .tables import check_all, read


def test_format_verifiers() -> None:
    check_all(read("forms").items(), check_format)


def check_format(row: dict[str, Any]) -> None:
    names = {key: row[key] for key in ("reasoning", "answer") if key in row}
    verifier = find(row["verifier"])(format=Format(**names), **row["options"])
    score = verifier(Example("x"), Completion(row["completion"], prefill=row["prefill"]))
    assert score.value == (None if row["value"] is None else pytest.approx(row["value"])), f"{row['why']}: {score}"
    assert score.explanation


def test_equation_steps() -> None:
    check_all(read("equations").items(), check_equation_steps)


def check_equation_steps(row: dict[str, Any]) -> None:
    expected = row.get("expected")
    verifier = find("equation_steps")(expected=str(expected) if expected else None)
    completion = Completion(row["completion"], prefill=row.get("prefill", ""))
    score = verifier(Example("x"), completion)
    steps = [[row["completion"][step.start : step.end], step.value] for step in score.steps]
    assert steps == row["steps"], f"{row['why']}: {score}"
    assert score.status == ("scored" if steps else "no_answer")
    assert score.value == (sum(value for _, value in steps) / len(steps) if steps else 0)
