"""A judge for the tests, and long texts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest


def judge_by_equality(number: int, body: dict[str, Any]) -> str:
    """A judge that finds equal strings equal and gives no reasons."""
    data, mark = request_data(body)
    return f"Compared.\nVERDICT {mark}: {'YES' if data['answer'] == data['reference'] else 'NO'}"


def request_data(body: dict[str, Any]) -> tuple[dict[str, str], str]:
    """The texts in a request, and the mark that its verdict must contain."""
    block, _, last_line = body["messages"][1]["content"].rpartition("\n\n")
    match = re.search(r"(?:VERDICT|GRADE) (\w{6}):", last_line)
    assert match is not None
    return json.loads(block), match[1]


@pytest.fixture(scope="session")
def long_text() -> Callable[[str], str]:
    """Repeats a text to a length above all limits of the verifiers, where quadratic work takes half a minute or more.

    ``GRPO_ENV_LONG=1000000 pytest`` for other lengths.
    """
    length = int(os.environ.get("GRPO_ENV_LONG", "250000"))
    return lambda unit: unit * (length // len(unit))
