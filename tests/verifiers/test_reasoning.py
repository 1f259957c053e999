"""Steps and length for any text: bounds, line ends, monotonicity, and an independent word count."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.errors import UsageError
from grpo_env.verifiers.reasoning import ReasoningLength, ReasoningSteps
from grpo_env.verifiers.words import words

EVERYTHING = Format(reasoning=None, answer=None)
LINES = st.sampled_from(
    ["1. add", "2. add", "Step 3", "- add it", "-", "---", "First, we add it.", "First,", "text", "", "然后减去七个。"]
)
FRAGMENTS = [
    "word",
    "数",
    "数字",
    "1,000",
    "it's",
    "é",
    "संख्या",
    " ",
    "\n",
    ".",
    "\\frac",
    "</think>",
    "<think>",
    "\x00",
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)


def value(verifier: ReasoningSteps | ReasoningLength, text: str) -> float:
    score = verifier(Example("x"), Completion(text))
    assert score.status in ("scored", "no_answer")
    assert score.value is not None
    assert score.explanation
    return score.value


@given(lines=st.lists(LINES, max_size=8), new_line=LINES)
@settings(deadline=None)
def test_another_line_adds_at_most_its_step_and_repeats_add_none(lines: list[str], new_line: str) -> None:
    verifier = ReasoningSteps(EVERYTHING, target=100)
    before, after = value(verifier, "\n".join(lines)), value(verifier, "\n".join([*lines, new_line]))
    assert 0 <= before <= after <= before + 1.5 / 100
    assert after <= len({*lines, new_line}) / 100
    assert after == value(verifier, "\r\n".join([*lines, new_line]))
    if new_line in lines and not {"Step 3", "First,"} & {*lines}:
        assert after == before


@given(text=st.text("abcdefghij \n\t.,;:!?-", max_size=200))
@settings(deadline=None)
def test_words_are_runs_of_plain_letters(text: str) -> None:
    spaced = "".join(character if character.isalpha() else " " for character in text)
    assert list(words(text)) == spaced.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000.50 eggs, 3.14.", ["1,000.50", "eggs", "3.14"]),
        ("a,b 1,b a.1", ["a", "b", "1", "b", "a", "1"]),
        ("don't l’eau 'no' dogs'", ["don't", "l’eau", "no", "dogs"]),  # noqa: RUF001
        ("\\frac{ab}{2} \\cdot cd", ["ab", "2", "cd"]),
        ("snake_case, well-known", ["snake", "case", "well", "known"]),
        ("GPUを2個", ["GPU", "を", "2", "個"]),
        ("e\u0301te\u0301 हिन्दी می‌کنیم", ["e\u0301te\u0301", "हिन्दी", "می‌کنیم"]),
        ("두 수를 더합니다.", ["두", "수를", "더합니다"]),
        ("น้ำ", ["น้", "ำ"]),
        ("... !? \u0301 __", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


@pytest.mark.parametrize(
    "transition",
    ["First", "Firstly", "First of all", "Second", "Secondly", "Third", "Thirdly", "Next", "Then", "After that",
     "Afterwards", "Finally", "Lastly", "Therefore", "Thus", "Hence", "To begin with", "To start", "首先", "其次",
     "再次", "然后", "接着", "接下来", "随后", "最后", "最终", "因此", "所以", "于是"],
)  # fmt: skip
def test_a_transition_word_begins_a_step_but_is_not_one_by_itself(transition: str) -> None:
    verifier = ReasoningSteps(EVERYTHING, target=1)
    assert value(verifier, f"{transition}, we add it.") == 1
    assert value(verifier, f"{transition}, {transition}, {transition}.") == 0


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("**Finally**, we add it.", 1),
        ("**Finally:** we add it.", 1),
        ("Finally,we add it.", 1),
        ("Finally,\n\\[3 + 4 = 7\\]", 1),
        ("Next:\nadd it\nand this\nFinally:\nadd two", 2),
        ("First,\nSecond,\nNext,\nFinally,", 0),
        ("Finally,\n---", 0),
        ("Finally, we add it.\nFinally,\nwe add it.", 1),
        ("Nextly, we add it. Thenceforth we add it.", 0),
    ],
)
def test_the_forms_of_a_transition(text: str, steps: int) -> None:
    """Open-r1 counts First, Second, Next and Finally with a comma, whatever follows."""
    assert value(ReasoningSteps(EVERYTHING, target=10), text) == steps / 10


@given(text=st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60))
def test_every_chinese_character_is_a_word(text: str) -> None:
    assert list(words(text)) == list(text)


@given(texts=st.lists(TEXTS, min_size=2, max_size=2))
@settings(deadline=None)
def test_the_words_of_concatenated_texts_add_up(texts: list[str]) -> None:
    assert [*words(texts[0]), *words(texts[1])] == list(words("\n".join(texts)))


@given(text=TEXTS, addition=st.sampled_from(["word ", "数"]))
@settings(deadline=None)
def test_more_words_never_decrease_the_value(text: str, addition: str) -> None:
    verifier = ReasoningLength(EVERYTHING, tiers={1: 0.1, 2: 0.2, 5: 0.5, 10: 1.0})
    before, after = value(verifier, text + " "), value(verifier, f"{text} {addition}")
    assert 0 <= before <= after <= 1
    assert value(verifier, text) == value(verifier, text.replace("\n", "\r\n"))


def test_tiers_may_decrease() -> None:
    verifier = ReasoningLength(EVERYTHING, tiers={30: -1.0, 10: 1.0})
    assert [value(verifier, "a " * count) for count in (9, 10, 29, 30)] == [0, 1, 1, -1]


@pytest.mark.parametrize("tiers", [{}, {0: 0.5}, {10: float("nan")}])
def test_invalid_tiers_are_refused(tiers: dict[int, float]) -> None:
    with pytest.raises(UsageError, match="tiers must map"):
        ReasoningLength(tiers=tiers)


def test_a_target_of_0_is_refused() -> None:
    with pytest.raises(UsageError, match="target must be at least 1"):
        ReasoningSteps(target=0)


@pytest.mark.parametrize(
    "unit",
    ["a", "数", "1. ", "- ", "Step 1\n", "1. a\n", "First, ", "首先", "First, we go. ", " ", "\n", "'a", "1,", "\u0301",
     "#*_ ", "第", "\\a"],
)  # fmt: skip
def test_a_long_text_takes_linear_time(unit: str, long_text: Callable[[str], str]) -> None:
    text = long_text(unit)
    assert 0 <= value(ReasoningSteps(EVERYTHING), text) <= 1
    assert 0 <= value(ReasoningLength(EVERYTHING), text) <= 1
