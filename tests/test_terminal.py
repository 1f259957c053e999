"""Texts of models and files for a terminal."""

import pytest

from grpo_env.terminal import end_of, escape_controls, printable, quoted, visible


@pytest.mark.parametrize(
    ("text", "controls", "seen"),
    [
        ("plain, 中文 and é", "plain, 中文 and é", "plain, 中文 and é"),
        ("two\nlines", "two\nlines", "two\nlines"),
        ("a\tb", "a\tb", r"a\tb"),
        ("\x1b[2J", r"\x1b[2J", r"\x1b[2J"),
        ("\u202egnp.exe", r"\u202egnp.exe", r"\u202egnp.exe"),
        ("zero\u200bwidth", "zero\u200bwidth", r"zero\u200bwidth"),
        ("\ud800", r"\ud800", r"\ud800"),
    ],
)
def test_what_steers_a_terminal_or_cannot_be_seen_is_escaped(text, controls, seen):
    assert escape_controls(text) == controls
    assert printable(text) == seen


def test_fields_are_on_one_line_and_bounded():
    assert visible("a\nb") == r"a\nb"
    assert visible("x" * 161) == "x" * 160 + "… (161 characters)"
    assert (quoted(None), quoted("4\x07")) == ("none", r"'4\x07'")
    assert end_of("y" + "x" * 160) == "…" + "x" * 160
    assert end_of("so 4") == "so 4"
