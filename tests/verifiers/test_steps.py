"""Where a text shows that a step has ended: with the line break, whatever follows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Format
from grpo_env.verifiers.segments import SEGMENTERS, spans
from grpo_env.verifiers.steps import MAX_STEPS, step_ends

PLAIN = Format(reasoning=None, answer=None)


def shown(text: str, by: str = "line", format: Format = PLAIN, prefill: str = "") -> list[str]:
    """What was written when each step was seen to have ended, with one token per character."""
    ends = range(1, len(text) + 1)
    completion = Completion(text, prefill=prefill)
    steps = step_ends(format, completion, ends, by)  # type: ignore[arg-type]
    assert all(step.token is not None for step in steps[:-1])
    return [text[: step.token + 1] for step in steps if step.token is not None]


@pytest.mark.parametrize(
    ("by", "text", "prefixes"),
    [
        ("line", "a=1\nb=2\n\nc", ["a=1\n", "a=1\nb=2\n"]),
        ("line", "a=1\nb=2", ["a=1\n"]),  # the last line ends with the text: nothing shows it before
        ("line", "\n \na\n", ["\n \na\n"]),  # blank lines are no steps
        ("line", "", []),
        ("paragraph", "a\nb\n\nc\n \nd", ["a\nb\n\n", "a\nb\n\nc\n \n"]),
        ("sentence", "It is 3.14. Add 2. Done.", ["It is 3.14. ", "It is 3.14. Add 2. "]),
        ("sentence", "Oh! Up. So", ["Oh! U", "Oh! Up. "]),  # after "Oh! " a small letter would continue the sentence
        ("sentence", "Oh! up. So", ["Oh! up. "]),
        ("marker", "Step 1: a\nStep 2: b\n2 c", ["Step 1: a\nStep 2:"]),
        ("marker", "1. a\n2. b\n34", ["1. a\n2. "]),
        ("line", "a:\n\\[\nx\n\\]\nb\nc", ["a:\n\\[\nx\n\\]\nb", "a:\n\\[\nx\n\\]\nb\n"]),  # "b": no second display
        ("line", "a:\nb\nc", ["a:\nb", "a:\nb\n"]),  # what is announced might be a display
        ("<step>", "<step>a\nb</step> <step>c</step>", ["<step>a\nb</step>", "<step>a\nb</step> <step>c</step>"]),
    ],
)
def test_a_step_ends_with_the_first_character_that_shows_it(by: str, text: str, prefixes: list[str]) -> None:
    assert shown(text, by) == prefixes


def test_steps_are_those_of_the_reasoning_block_whose_end_ends_the_last() -> None:
    text = "<think>\n1+1=2\n2+2=4</think>\n<answer>\n4\n</answer>"
    assert shown(text, format=Format()) == ["<think>\n1+1=2\n", "<think>\n1+1=2\n2+2=4</think>"]
    assert shown(text[8:], format=Format(), prefill="<think>\n") == ["1+1=2\n", "1+1=2\n2+2=4</think>"]


def test_tokens_of_several_characters() -> None:
    text, ends = "1+1=2\n2+2=4\n3", [4, 7, 11, 13]  # "1+1=", "2\n2", "+2=4", "\n3"
    assert [step.token for step in step_ends(PLAIN, Completion(text), ends, "line")] == [1, 3, None]


def test_many_steps_are_bounded() -> None:
    assert len(shown("a\n" * (MAX_STEPS + 5))) == MAX_STEPS


@given(
    st.lists(st.sampled_from([*"aA1.!\n ;:\\[]$", "\n\\[", "\\]\n", "<s>", "</s>"]), max_size=24).map("".join),
    st.sampled_from([*SEGMENTERS, "<s>"]),
    st.lists(st.sampled_from([*"aA1.!\n ;:\\[]$", "\n\\[", "\\]\n", "<s>", "</s>"]), max_size=6).map("".join),
)
def test_what_follows_changes_neither_a_step_nor_its_end(text: str, by: str, more: str) -> None:
    before = shown(text, by)
    assert shown(text + more, by)[: len(before)] == before
    steps = list(spans(text, 0, len(text), by))  # type: ignore[arg-type]
    assert len(before) <= len(steps)
