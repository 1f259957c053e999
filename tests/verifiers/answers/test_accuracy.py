"""The verifier's options, and answers that are made to hurt."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.registry import find


def test_text_nested_deeply_is_wrong() -> None:
    answer = "\\text{" * 3000 + "5" + "}" * 3000
    score = find("accuracy")()(Example("x", answer="350 Fifth Avenue"), Completion(f"<answer>{answer}</answer>"))
    assert (score.value, score.status) == (0.0, "scored")


@pytest.mark.parametrize(
    "options",
    [
        {"rel_tol": -0.1},
        {"rel_tol": 1.5},
        {"decimals": -1},
        {"decimals": 101},
        {"rel_tol": 0.1, "decimals": 2},
        {"timeout": 0},
        {"golds": "some"},
        {"unevaluated": "maybe"},
        {"decimal": "semicolon"},
        {"kind": "words"},
    ],
)
def test_invalid_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="|".join(options)):
        find("accuracy")(**options)
