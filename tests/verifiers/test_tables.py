"""Accept and reject tables: each row of ``cases/*.jsonl`` says what a text is worth, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from grpo_env.core import Completion, Example, Format, Score
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers.compare import Reason

# What only an answer can do wrong: as a gold, 2+2 has its value.
ONE_SIDED = ("not evaluated", "denied", "a hedge", "cannot be read as mathematics", "several different answers")


def rows(name: str) -> list[Any]:
    lines = (Path(__file__).parent / "cases" / f"{name}.jsonl").read_text().splitlines()
    return [pytest.param(json.loads(line), id=f"{number}") for number, line in enumerate(lines, 1)]


def test_the_tables_both_accept_and_reject() -> None:
    verdicts = [param.values[0]["right"] for param in rows("accuracy")]
    assert verdicts.count(True) > 80
    assert verdicts.count(False) > 80


@pytest.mark.parametrize("row", rows("accuracy"))
def test_accuracy(row: dict[str, Any]) -> None:
    example = Example("x", answer=row["gold"])
    score = find("accuracy")(**row.get("options", {}))(example, Completion(row["completion"]))
    assert score.value == row["right"], f"{row['why']}: {score}"
    assert score.explanation
    if "status" in row:
        assert score.status == row["status"], f"{row['why']}: {score}"
    if "reason" in row:
        assert score.explanation.partition(": ")[2] == row["reason"], f"{row['why']}: {score}"
    assert Score.from_dict(score.to_dict()) == score


def test_every_verdict_has_one_of_the_documented_reasons() -> None:
    reasons = set(get_args(Reason))
    for param in rows("accuracy"):
        row = param.values[0]
        score = find("accuracy")(**row.get("options", {}))(
            Example("x", answer=row["gold"]), Completion(row["completion"])
        )
        reason = score.explanation.partition(": ")[2]
        assert score.status != "scored" or reason in reasons or "cannot be read" in reason, score


@pytest.mark.parametrize("row", [param for param in rows("accuracy") if param.values[0]["right"]])
def test_a_right_answer_as_gold_accepts_the_gold(row: dict[str, Any]) -> None:
    verifier = find("accuracy")(**row.get("options", {}))
    if row.get("options", {}).keys() & {"golds", "unevaluated"}:
        pytest.skip("gold and answer have different roles")
    score = verifier(Example("x", answer=row["gold"]), Completion(row["completion"]))
    if " | " in str(score.answer) or "answer is" in str(score.answer):
        pytest.skip("several answers that are one together, or a sentence")
    swapped = verifier(Example("x", answer=score.answer), Completion(f"<answer>{score.gold}</answer>"))
    assert swapped.value == 1 or swapped.explanation.endswith("not evaluated"), f"{row['why']}: {swapped}"


@pytest.mark.parametrize("row", [param for param in rows("accuracy") if param.values[0]["right"] is False])
def test_swapping_gold_and_a_wrong_answer_leaves_it_wrong(row: dict[str, Any]) -> None:
    verifier = find("accuracy")(**row.get("options", {}))
    score = verifier(Example("x", answer=row["gold"]), Completion(row["completion"]))
    if not score.answer or score.status != "scored" or " | " in score.answer or score.explanation.endswith(ONE_SIDED):
        pytest.skip("no comparison")
    swapped = verifier(Example("x", answer=score.answer), Completion(f"<answer>{row['gold']}</answer>"))
    assert swapped.value == 0 or swapped.status == "bad_gold", f"{row['why']}: {swapped}"


def test_an_option_that_cannot_be_is_refused() -> None:
    for options in (
        {"rel_tol": 0}, {"rel_tol": 1.5}, {"decimals": -1}, {"decimals": 101}, {"rel_tol": 0.1, "decimals": 2},
        {"timeout": 0}, {"golds": "some"}, {"unevaluated": "maybe"},
    ):  # fmt: skip
        with pytest.raises(UsageError, match="|".join(options)):
            find("accuracy")(**options)


@pytest.mark.parametrize("row", rows("forms"))
def test_forms(row: dict[str, Any]) -> None:
    names = {key: row[key] for key in ("reasoning", "answer") if key in row}
    verifier = find(row["verifier"])(format=Format(**names), **row["options"])
    score = verifier(Example("x"), Completion(row["completion"], prefill=row["prefill"]))
    assert score.value == (None if row["value"] is None else pytest.approx(row["value"])), f"{row['why']}: {score}"
    assert score.explanation


@pytest.mark.parametrize("row", rows("equations"))
def test_equation_steps(row: dict[str, Any]) -> None:
    expected = row.get("expected")
    verifier = find("equation_steps")(expected="steps" if expected else None)
    completion = Completion(row["completion"], prefill=row.get("prefill", ""))
    score = verifier(Example("x", info={"steps": expected}), completion)
    found = [[row["completion"][step.start : step.end], step.value] for step in score.steps]
    assert found == row["steps"], f"{row['why']}: {score}"
    assert score.status == ("scored" if found else "no_answer")
    assert score.value == (sum(value for _, value in found) / len(found) if found else 0)
