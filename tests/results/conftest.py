"""Rows of scores, as ``grpo_env score`` writes them."""

import pytest


def part(value, weight=1.0, status="scored", **more):
    weighted = None if value is None else weight * value
    return {"value": value, "weight": weight, "weighted": weighted, "process": 0.0, "status": status, **more}


def score_row(prompt, completion, correct, tidy=1.0, **more):
    """A completion with a reward of 1 for being correct and 2 for being tidy."""
    parts = {"accuracy": part(correct, answer=more.pop("answer", "4"), gold="4"), "tidy": part(tidy, 2.0)}
    total = None if correct is None else correct + 2 * tidy
    if correct is None:
        parts["accuracy"] |= {"status": "bad_gold", "explanation": "gold is not a number"}
    return {
        "id": f"q{prompt}",
        "line": prompt + 1,
        "completion": completion,
        "group": f"g{prompt}",
        "prompt": f"What is {prompt}?",
        "text": "so it is 4" * (completion + 1),
        "finish_reason": "stop",
        "num_tokens": None,
        "total": total,
        "status": "scored" if correct is not None else "bad_gold",
        "explanation": "" if correct is not None else "accuracy: gold is not a number",
        "parts": parts,
        "steps": [],
        "seconds": 0.001,
        "task": "sums",
        "metric": "accuracy",
        **more,
    }


def five_groups(make=score_row):
    """Groups of two: mixed and misranked, all correct, all wrong, masked signal, unscored; (correct, tidy) of each."""
    table = [((1, 0), (0, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 0)), ((1, 0), (0, 0.5)), ((None, 1), (None, 1))]
    return [make(p, c, *values) for p, group in enumerate(table) for c, values in enumerate(group)]


@pytest.fixture
def row():
    """Makes a row: ``row(prompt, completion, correct, tidy)`` and any key to change."""
    return score_row


@pytest.fixture
def rows():
    """``five_groups``."""
    return five_groups()
