"""Repetition: the table, an independent count, hostile texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.repetition import Repetition

from .tables import check_all, read

ROWS = {place: row for place, row in read("texts").items() if row["verifier"] == "repetition"}


def test_rows() -> None:
    check_all(ROWS.items(), check_row)


def check_row(row: dict[str, Any]) -> None:
    names = {key: row[key] for key in ("reasoning", "answer") if key in row}
    verifier = make_verifier(row["verifier"], row["options"], "the table", Format(**names))
    score = verifier(Example("x"), Completion(row["completion"], prefill=row["prefill"]))
    assert score.value == pytest.approx(row["value"]), f"{row['why']}: {score}"
    assert score.status == row.get("status", "scored"), f"{row['why']}: {score}"
    assert score.explanation


def value(text: str, n: int = 3) -> float:
    score = Repetition(n=n)(Example("x"), Completion(text))
    assert score.value is not None
    return score.value


@given(letters=st.text("abc数", max_size=40), n=st.integers(1, 5))
@settings(deadline=None)
def test_every_repeated_n_gram_counts(letters: str, n: int) -> None:
    grams = Counter(letters[at : at + n] for at in range(len(letters) - n + 1))
    repeats = sum(count - 1 for count in grams.values())
    expected = -repeats / grams.total() if grams else 0.0
    assert value(" ".join(letters), n) == pytest.approx(expected)


@given(text=st.text(max_size=60), n=st.integers(1, 5))
@settings(deadline=None)
def test_bounds_and_line_ends(text: str, n: int) -> None:
    assert -1 < value(text, n) <= 0
    assert value(text, n) == value(text.replace("\n", "\r\n"), n)
    assert value(f"{text}\n{text}", n) <= value(text, n) + 1e-12 or n > 1


@given(words=st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=3, max_size=20))
def test_repeating_a_text_decreases_the_value(words: list[str]) -> None:
    once, twice = " ".join(words), " ".join(words * 2)
    assert value(twice) < value(once)


@pytest.mark.parametrize("n", [0, -1, 11])
def test_invalid_options_are_refused(n: int) -> None:
    with pytest.raises(UsageError, match="n must be 1 to 10"):
        Repetition(n=n)


def test_a_long_text_without_repeats_takes_linear_time() -> None:
    text = " ".join(map(str, range(40_000)))
    assert value(text, 10) == 0


@pytest.mark.parametrize("unit", ["a", "a ", "数", "<think>", ". ", "\u0301", "1,"])
def test_a_long_text_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    assert -1 <= value(long_text(unit)) <= 0
    assert Repetition(Format(reasoning=None))(Example("x"), Completion("")).value == 0


@given(ids=st.lists(st.integers(0, 3), max_size=30), n=st.integers(1, 4))
def test_tokens_are_counted_like_words(ids: list[int], n: int) -> None:
    words = " ".join("abcd"[id] for id in ids)
    score = Repetition(n=n, unit="token")(Example("x"), Completion("other text", token_ids=tuple(ids)))
    assert score.value == pytest.approx(value(words, n))
