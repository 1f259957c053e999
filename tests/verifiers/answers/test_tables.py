"""Accept and reject tables of the verifier ``accuracy``: one for each source, kind and rule, and what must not be paid.

cases/sources, kinds, rules   completions that are right, in a table named after what found or decided them
cases/rejected                gold answers, each with completions that are wrong, by the kind of the gold answer
cases/rejected/known          wrong completions that are paid, each with the reason
cases/status                  completions that have no verdict, with their status
cases/reports                 verdicts that somebody reported as wrong, right here
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from grpo_env.core import Completion, Example, Score
from grpo_env.registry import find
from grpo_env.verifiers.answers.decide import RULE_OF
from grpo_env.verifiers.answers.extract.result import ALL_SOURCES, SOURCES
from grpo_env.verifiers.answers.kinds.which_kind import KINDS
from grpo_env.verifiers.answers.math.verdict import Reason
from grpo_env.verifiers.answers.rules import RULES

from ..tables import check_all, read

CASES = Path(__file__).parents[1] / "cases"
RULE_NAMES = {*RULE_OF.values(), *(rule.name for rule in RULES), "with its reason"}
NAMES = {"sources": {*SOURCES, *ALL_SOURCES}, "kinds": {*KINDS}, "rules": RULE_NAMES}
ACCEPTED = [f"{folder}/{name.replace(' ', '_')}" for folder, names in NAMES.items() for name in sorted(names)]
REJECTED = sorted(f"rejected/{file.stem}" for file in (CASES / "rejected").glob("*.jsonl") if file.stem != "known")
REASONS = {
    *get_args(Reason),
    "the answer cannot be read as mathematics",
    "the gold cannot be read as mathematics",  # but by the rule "structure"
}


def score(row: dict[str, Any], completion: str) -> Score:
    verifier = find("accuracy")(**{"timeout": 5.0, **row.get("options", {})})  # a busy machine takes longer
    return verifier(Example("x", answer=row["gold"]), Completion(completion))


def decided_by(folder: str, score: Score) -> str | None:
    return {"sources": score.explanation.partition(": ")[0], "kinds": score.kind, "rules": score.rule}[folder]


def test_every_source_kind_and_rule_has_a_table_and_no_other() -> None:
    files = [f"{folder}/{file.stem}" for folder in NAMES for file in (CASES / folder).glob("*.jsonl")]
    assert sorted(files) == sorted(ACCEPTED)


@pytest.mark.parametrize("table", ACCEPTED)
def test_right_completions_are_accepted_by_what_the_table_is_named_after(table: str) -> None:
    folder, _, name = table.partition("/")

    def check(row: dict[str, Any]) -> None:
        result = score(row, row["completion"])
        assert (result.value, result.status) == (1, "scored"), f"{row['why']}: {result}"
        assert (decided_by(folder, result) or "").replace(" ", "_") == name, result

    check_all(read(table).items(), check)


@pytest.mark.parametrize("table", REJECTED)
def test_wrong_completions_are_never_paid(table: str) -> None:
    rows = [
        (place, {"gold": row["gold"], "options": row.get("options", {}), "completion": text})
        for place, row in read(table).items()
        for text in row["rejected"]
    ]

    def check(row: dict[str, Any]) -> None:
        result = score(row, row["completion"])
        reason = result.explanation.partition(": ")[2].partition("; ")[0]
        assert not result.value, result
        assert result.status != "error"
        assert result.status != "scored" or reason in REASONS, result

    check_all(rows, check)


def test_known_rows_are_still_paid() -> None:
    """A row that is paid no longer goes to the other ones in ``rejected``."""

    def check(row: dict[str, Any]) -> None:
        assert row["reason"]
        assert score(row, row["completion"]).value == 1

    check_all(read("rejected/known").items(), check)


def test_completions_without_a_verdict_have_their_status() -> None:
    def check(row: dict[str, Any]) -> None:
        result = score(row, row["completion"])
        assert (result.value, result.status) == (row["value"], row["status"]), f"{row['why']}: {result}"
        assert result.explanation

    check_all(read("status").items(), check)


def test_reported_verdicts() -> None:
    def check(row: dict[str, Any]) -> None:
        result = score(row, row["completion"])
        assert result.value == row["right"], f"{row['why']}: {result}"

    check_all(read("reports").items(), check)


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
