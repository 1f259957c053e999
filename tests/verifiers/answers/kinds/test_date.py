"""Dates in every spelling; of ``12/6/2020`` only the order of the numbers is known."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.date import read_date, same_date


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01", "May 1, 2024"),
        ("2024-05-01", "1 May 2024"),
        ("May 1, 2024", "1st of May 2024"),
        ("May 1, 2024", "Wednesday, May 1, 2024"),
        ("May 2024", "in May 2024"),
        ("December 6", "6 December"),
        ("6.12.1917", "December 6, 1917"),
        ("25/12/2020", "December 25, 2020"),
        ("12/25/2020", "25 Dec 2020"),
        ("12/6/2020", "12/06/2020"),
        ("Sept. 5, 2001", "2001-09-05"),
    ],
)
def test_the_same_date(one: str, other: str) -> None:
    first, second = read_date(one), read_date(other)
    assert first is not None
    assert second is not None
    assert same_date(first, second)
    assert same_date(second, first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2024-05-01", "2024-01-05"),
        ("2024-05-01", "May 1, 2023"),
        ("2024-05-01", "May 1"),
        ("May 2024", "May 1, 2024"),
        ("6.12.1917", "June 12, 1917"),
        ("12/6/2020", "6/12/2020"),
        ("12/6/2020", "December 6, 2020"),
        ("12/25/2020", "25/12/2020"),
    ],
)
def test_different_dates(one: str, other: str) -> None:
    first, second = read_date(one), read_date(other)
    assert first is not None
    assert second is not None
    assert not same_date(first, second)
    assert not same_date(second, first)


@pytest.mark.parametrize(
    "text",
    ["2024-13-01", "February 30", "30 February 2024", "February 29, 2023", "Thursday, May 1, 2024", "May", "2024",
     "1/2", "3.5.2", "the 1st", "Mayor 1, 2024", "", "May 1, 2024 or May 2, 2024"],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert read_date(text) is None
