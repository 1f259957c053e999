"""Texts that mathematics would misread, and mathematics that looks like them."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.kinds.codes import is_code, is_name


@pytest.mark.parametrize(
    "text",
    ["3-1", "5-10 minutes", "192.168.0.1", "007", "H2O", "10:30", "9:00-17:00", "+44 20 7946 0958", "4 8 15", "A+",
     "1920x1080", "04/05", "@name", "a@b.org", "main.py", "f()", "x == y", "sha256", "3rd", "1990s", "1A:2B:3C", "A1",
     "SW1A 1AA", "v1.10", "??", "N/A", "10 Downing Street", "6/8 time"],
)  # fmt: skip
def test_codes(text: str) -> None:
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    ["18", "-3", "3.5", "1,000", "1/2", "2x", "x+1", "3x-1", "x_1", "6.02e23", "5 cm2", "(1, 2)", "x < 2", "2 apples",
     "1/2 cup", r"\frac{3}{1}-1", "50%", "$5"],
)  # fmt: skip
def test_what_is_no_code(text: str) -> None:
    assert not is_code(text)


def test_names() -> None:
    assert all(map(is_name, ("A1", "Mg2", "L2", "B 12")))
    assert not any(map(is_name, ("a1", "1A", "A", "AB", "A1B", "2 L")))
