"""Where a statement ends: the rest of its sentence, a formula, or a block."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.extract.sentence import block_at_end, statement


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("18. It is even.", "18"),
        ("18 because 9*2 = 18.", "18"),
        ("18, which is even.", "18"),
        ("18, so she has enough.", "18"),
        ("3.5. Next", "3.5"),
        ("$1,234.50.", "$1,234.50"),
        ("$x+1$. Since x > 0, done.", "$x+1$"),
        (r"\[ x = 18 \] and no more", r"\[ x = 18 \] and no more"),
        ("**18**. Done.", "18"),
        ("**18** dollars.", "18 dollars"),
        ("<b>18</b>", "18"),
        ("Dr. Smith. He said so.", "Dr. Smith"),
        ("18\nNext line", "18"),
        ("18\u3002", "18"),
        ("(2, 3); the other one is not.", "(2, 3)"),
        ("```\n18\n```", "18"),
        ("18? No.", ""),
    ],
)
def test_the_end_of_a_statement(text: str, stated: str) -> None:
    answer, end = statement(text, 0)
    assert answer == stated
    assert 0 <= end <= len(text)


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("So\n```\n18\n```", "18"),
        ("So\n$$\nx = 18\n$$", "x = 18"),
        ("So\n\\[\nx = 18\n\\]", "x = 18"),
        ("So\n```\n17\n18\n```", ""),
        ("So 18", None),
        ("```\n18\n``` is it", None),
    ],
)
def test_a_block_at_the_end(text: str, block: str | None) -> None:
    assert block_at_end(text) == block
