"""Accept and reject tables: each row of ``cases/*.jsonl`` has a text, the score that it must get, and why."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.answers.compare import Reason

from .tables import check_all, read

REASONS = {*get_args(Reason), "the answer cannot be read as mathematics"}


def test_every_failing_row_is_reported_with_its_place() -> None:
    def check_divides(number: int) -> None:
        assert 12 % number == 0, "not a divisor"

    with pytest.raises(AssertionError) as error:
        check_all([("a.jsonl:1", 5), ("a.jsonl:2", 6), ("a.jsonl:3", 0)], check_divides)
    assert str(error.value).startswith("2 of 3 cases fail\na.jsonl:1: 5\n    AssertionError: not a divisor")
    assert "a.jsonl:3: 0\n    ZeroDivisionError: " in str(error.value)
    assert "a.jsonl:2" not in str(error.value)
    with pytest.raises(AssertionError, match="no cases"):
        check_all([], check_divides)


def test_the_tables_both_accept_and_reject() -> None:
    verdicts = [row["right"] for row in read("accuracy").values()]
    assert verdicts.count(True) > 80
    assert verdicts.count(False) > 80


OWN_TABLES = (
    "accuracy",
    "daily_answers",
    "everyday",
    "families",
    "hostile",
    "languages",
    "notation",
    "physics",
    "quantities",
    "rewordings",
    "said",
    "statements",
    "structures",
    "terms",
    "wording",
)


@pytest.mark.parametrize("table", OWN_TABLES)
def test_accuracy(table: str) -> None:
    check_all(read(table).items(), check_accuracy)


def check_accuracy(row: dict[str, Any]) -> None:
    verifier = find("accuracy")(**row.get("options", {}))
    score = verifier(Example("x", answer=row["gold"]), Completion(row["completion"]))
    reason = score.explanation.partition(": ")[2]
    assert score.value == row["right"], f"{row['why']}: {score}"
    assert score.status == row.get("status", score.status), f"{row['why']}: {score}"
    assert reason == row.get("reason", reason), f"{row['why']}: {score}"
    assert score.status != "scored" or reason in REASONS, score


def test_text_nested_deeply_is_wrong() -> None:
    answer = "\\text{" * 3000 + "5" + "}" * 3000
    score = find("accuracy")()(Example("x", answer="350 Fifth Avenue"), Completion(f"<answer>{answer}</answer>"))
    assert (score.value, score.status) == (0.0, "scored")


def test_invalid_options_are_refused() -> None:
    for options in (
        {"rel_tol": -0.1}, {"rel_tol": 1.5}, {"decimals": -1}, {"decimals": 101}, {"rel_tol": 0.1, "decimals": 2},
        {"timeout": 0}, {"golds": "some"}, {"unevaluated": "maybe"},
    ):  # fmt: skip
        with pytest.raises(UsageError, match="|".join(options)):
            find("accuracy")(**options)


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
    verifier = find("equation_steps")(expected="steps" if expected else None)
    completion = Completion(row["completion"], prefill=row.get("prefill", ""))
    score = verifier(Example("x", info={"steps": expected}), completion)
    steps = [[row["completion"][step.start : step.end], step.value] for step in score.steps]
    assert steps == row["steps"], f"{row['why']}: {score}"
    assert score.status == ("scored" if steps else "no_answer")
    assert score.value == (sum(value for _, value in steps) / len(steps) if steps else 0)
