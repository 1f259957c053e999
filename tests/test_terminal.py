"""Texts of models and files for a terminal."""

import io

import pytest
from rich.table import Table

from grpo_env.console import plain_console
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


def test_a_plain_console_prints_texts_as_they_are():
    console, text = plain_console(file=io.StringIO(), width=80, force_terminal=True), "b[red] [/x] :fire: 12 'a'"
    table = Table(text)
    table.add_row(text)
    console.print(text)
    console.print(table)
    assert console.file.getvalue().count(text) == 3
