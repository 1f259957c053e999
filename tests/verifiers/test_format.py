"""Formats and tags for every text: order of the three, line ends, prefill, and the gists' own arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.verifiers.blocks import is_blank, whole_turn
from grpo_env.verifiers.format import SoftFormat, StrictFormat
from grpo_env.verifiers.tag_count import TagCount

PIECES = ["<think>", "</think>", "<answer>", "</answer>", "a", "b c", " ", "\n", "\u200b", "<b>"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
PENALTY = 0.001


def value(verifier: StrictFormat | SoftFormat | TagCount, text: str, prefill: str = "") -> float:
    score = verifier(Example("x"), Completion(text, prefill=prefill))
    assert score.status == "scored"
    assert score.value is not None
    assert score.explanation
    return score.value


@given(text=TEXTS)
@settings(deadline=None)
def test_a_strictly_correct_format_gets_full_credit_from_all_format_verifiers(text: str) -> None:
    strict, soft, tags = value(StrictFormat(), text), value(SoftFormat(), text), value(TagCount(), text)
    assert strict in (0, 1)
    assert 0 <= soft <= 1
    assert 0 <= tags <= 1
    assert strict <= soft
    assert soft < 1 or tags == 1
    assert value(StrictFormat(newlines="required"), text) <= strict


@given(reasoning=st.text(max_size=40), answer=st.text(max_size=20), junk=st.text(max_size=20))
@settings(deadline=None)
def test_strict_format_accepts_exactly_the_blocks_around_texts_without_tags(
    reasoning: str, answer: str, junk: str
) -> None:
    if "<" in reasoning + answer + junk:
        return
    text = f"<think>{reasoning}</think><answer>{answer}</answer>{junk}"
    right = not is_blank(reasoning) and not is_blank(answer) and is_blank(junk)
    assert value(StrictFormat(), text) == right


@given(text=TEXTS)
@settings(deadline=None)
def test_the_style_of_line_endings_does_not_matter(text: str) -> None:
    for verifier in (
        StrictFormat(),
        StrictFormat(newlines="required"),
        SoftFormat(),
        TagCount(trailing_penalty=PENALTY),
    ):
        assert value(verifier, text) == value(verifier, text.replace("\n", "\r\n"))


@given(text=TEXTS)
@settings(deadline=None)
def test_a_prefill_counts_as_part_of_the_turn(text: str) -> None:
    for verifier in (StrictFormat(), SoftFormat(), TagCount(trailing_penalty=PENALTY)):
        assert value(verifier, text, prefill="<think>\n") == value(verifier, "<think>\n" + text)
        if not text.startswith("<think>"):
            prefilled = type(verifier)(Format(prefill="<think>\n"))
            assert value(prefilled, text) == value(type(verifier)(), "<think>\n" + text)


def test_the_prefill_of_a_completion_takes_precedence() -> None:
    format = Format(prefill="<think>\n")
    assert whole_turn(format, Completion("a", prefill="<r>")) == ("<r>a", 3)
    assert whole_turn(format, Completion("a")) == ("<think>\na", 8)
    assert whole_turn(format, Completion("<think>a")) == ("<think>a", 0)


@given(text=TEXTS, junk=st.text("xyz ", max_size=30), more=st.text("xyz", min_size=1, max_size=30))
@settings(deadline=None)
def test_more_trailing_text_never_increases_the_value(text: str, junk: str, more: str) -> None:
    verifier = TagCount(trailing_penalty=PENALTY)
    assert value(verifier, text + junk + more) <= value(verifier, text + junk) or "</answer>" not in text


@pytest.mark.parametrize("trailing", range(0, 1500, 250))
def test_the_trailing_penalty_follows_the_tutorials(trailing: int) -> None:
    """The tutorials give 0.125 per tag and subtract 0.001 per character: 0.25 and 0.002 here, times a weight of 0.5."""
    text = f"<think>\na\n</think>\n<answer>\nb\n</answer>{'x' * trailing}"
    assert 0.5 * value(TagCount(trailing_penalty=0.002), text) == pytest.approx(max(0.0, 4 * 0.125 - 0.001 * trailing))


@pytest.mark.parametrize("penalty", [-0.001, float("nan"), float("inf")])
def test_invalid_penalties_are_refused(penalty: float) -> None:
    with pytest.raises(UsageError, match="trailing_penalty must be 0 or more"):
        TagCount(trailing_penalty=penalty)


def test_a_penalty_for_the_answer_itself_is_refused() -> None:
    with pytest.raises(UsageError, match="trailing_penalty: the format has no answer block"):
        TagCount(Format(answer=None), PENALTY)
    score = TagCount(Format(reasoning=None, answer=None), PENALTY)(Example("x"), Completion("a"))
    assert score.status == "not_applicable"


@pytest.mark.parametrize(
    "unit", ["<think>", "</think>", "<answer>", "<think></think>", "<answer>a</answer>", "<", "\r\n", "\u200b"]
)
def test_a_long_text_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    for verifier in (StrictFormat(), SoftFormat(), TagCount(trailing_penalty=PENALTY)):
        assert 0 <= value(verifier, long_text(unit)) <= 1


@pytest.mark.parametrize(
    ("text", "soft", "strict"),
    [
        (r"<think>a</think> It is $\boxed{\frac{1}{2}}$.", 1.0, 1.0),
        ("<think>a</think> It is 4.", 0.4, 0.0),
        (r"<think>a</think> \boxed{}", 0.4, 0.0),
        (r"<think>a</think> \boxed{4", 0.4, 0.0),
        (r"<think>\boxed{4}</think> It is 4.", 0.4, 0.0),
        (r"<think>\boxed{4}", 0.0, 0.0),
        (r"\boxed{4}", 0.4, 0.0),
        ("It is 4.", 0.0, 0.0),
    ],
)
def test_a_box_may_be_demanded_behind_the_reasoning(text: str, soft: float, strict: float) -> None:
    format = Format(answer=None)
    assert value(SoftFormat(format, boxed=True), text) == soft
    assert value(StrictFormat(format, boxed=True), text) == strict


@pytest.mark.parametrize(("answer", "has_box"), [(r"so \boxed{4}", True), ("4", False), (r"\boxed{4", False)])
def test_a_box_may_be_demanded_in_the_answer_block(answer: str, has_box: bool) -> None:
    text = f"<think>a</think><answer>{answer}</answer>"
    assert value(SoftFormat(boxed=True), text) == (1.0 if has_box else 0.4)
    assert value(StrictFormat(boxed=True), text) == has_box
    assert value(SoftFormat(boxed=True), r"<think>a</think><answer>4</answer> \boxed{4}") == 0.4
