"""Steps of a text: tables for each segmenter, and properties of any text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.errors import UsageError
from grpo_env.verifiers.segments import SEGMENTERS as NAMES
from grpo_env.verifiers.segments import Segmenter, check_segments, spans


def cut(text: str, by: Segmenter) -> list[str]:
    return [text[first:last] for first, last in spans(text, 0, len(text), by)]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a\nb", ["a", "b"]),
        ("a\r\n\r\n  b c \r", ["a", "b c"]),
        ("\n \n\t\n", []),
        ("", []),
        ("a. b! c?", ["a. b! c?"]),
    ],
)
def test_lines(text: str, steps: list[str]) -> None:
    assert cut(text, "line") == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("a\r\nb\r\n \t\r\nc", ["a\r\nb", "c"]),
        ("a\n\n\n\n\nb\n\n", ["a", "b"]),
        ("a\r\rb", ["a", "b"]),
        ("one line", ["one line"]),
    ],
)
def test_paragraphs(text: str, steps: list[str]) -> None:
    assert cut(text, "paragraph") == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Add them. Then halve. Done", ["Add them.", "Then halve.", "Done"]),
        ("Pi is 3.14 and e is 2.72. Next.", ["Pi is 3.14 and e is 2.72.", "Next."]),
        ("It costs 12. She pays.", ["It costs 12.", "She pays."]),
        ("We get x = 3. x is odd.", ["We get x = 3.", "x is odd."]),
        ("Dr. Lee and Mrs. Poe, e.g. in Fig. 2. So do we.", ["Dr. Lee and Mrs. Poe, e.g. in Fig. 2.", "So do we."]),
        ("Eggs, milk, etc. are here, etc. Now cook.", ["Eggs, milk, etc. are here, etc.", "Now cook."]),
        ("At 5 p.m. he left. At 6 p.m. She came.", ["At 5 p.m. he left.", "At 6 p.m.", "She came."]),
        ("Is it prime? No. It is No. 9 here.", ["Is it prime?", "No.", "It is No. 9 here."]),
        ("The point is A. Then B follows.", ["The point is A.", "Then B follows."]),
        ("1. Add 2.\n2. Stop.\nStep 3. Go on.", ["1. Add 2.", "2. Stop.", "Step 3. Go on."]),
        ("So 5! = 120 here! Good.", ["So 5! = 120 here!", "Good."]),
        ("Wait... so it is 4. Hmm... Yes.", ["Wait... so it is 4.", "Hmm...", "Yes."]),
        ('He said "add." Then (so.) **Done.** End', ['He said "add."', "Then (so.)", "**Done.**", "End"]),
        ("Why?! Because!! Yes", ["Why?!", "Because!!", "Yes"]),
        ("先算三加四。再减二！得五？「好。」完", ["先算三加四。", "再减二！", "得五？", "「好。」", "完"]),  # noqa: RUF001
        ("对。。。好", ["对。。。", "好"]),
        ("no stop\nat line ends", ["no stop", "at line ends"]),
    ],
)  # fmt: skip
def test_sentences(text: str, steps: list[str]) -> None:
    assert cut(text, "sentence") == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Step 1: add\n3+4=7\nStep 2: take\n7-2=5", ["Step 1: add\n3+4=7", "Step 2: take\n7-2=5"]),
        ("Let us go.\n1. add\n2) take", ["Let us go.", "1. add", "2) take"]),
        ("**Step 1**\nadd\n### Step 2\ntake", ["**Step 1**\nadd", "### Step 2\ntake"]),
        ("第1步 加\n步骤2：减", ["第1步 加", "步骤2：减"]),  # noqa: RUF001
        ("1.5 is a number\n2.5 too\nin step 3: no", ["1.5 is a number\n2.5 too\nin step 3: no"]),
        ("1. a\r2. b\r\n3. c", ["1. a", "2. b", "3. c"]),
    ],
)
def test_markers(text: str, steps: list[str]) -> None:
    assert cut(text, "marker") == steps


# Forms in which models write displays: after a colon on a line of its own, in a row of several, over several lines.
@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("First:\n\n\\[\n3 + 4 = 7\n\\]\n\nThen stop.", ["First:\n\n\\[\n3 + 4 = 7\n\\]", "Then stop."]),
        ("So:\n\\[a = 1.\\]\n\\[b = 2.\\]\nEnd", ["So:\n\\[a = 1.\\]\n\\[b = 2.\\]", "End"]),
        ("- **We get:**\n   $$\nx\n= 2\n$$\n- So", ["- **We get:**\n   $$\nx\n= 2\n$$", "- So"]),
        ("Thus,\n\\begin{align*}\nx &= 1\\\\\ny &= 2\n\\end{align*}\nEnd",
         ["Thus,\n\\begin{align*}\nx &= 1\\\\\ny &= 2\n\\end{align*}", "End"]),
        ("\\[\n\\begin{array}{r}\n1\\\\\n2\n\\end{array}\n\\]",
         ["\\[\n\\begin{array}{r}\n1\\\\\n2\n\\end{array}\n\\]"]),
        ("Done.\n\\[\nx\n\\]\nEnd", ["Done.", "\\[\nx\n\\]", "End"]),
        ("Cut off:\n\\[\nx = 3", ["Cut off:\n\\[\nx = 3"]),
        ("It costs:\n$5\n$6", ["It costs:", "$5", "$6"]),
    ],
)  # fmt: skip
def test_a_display_is_whole_and_belongs_to_what_announces_it(text: str, steps: list[str]) -> None:
    assert cut(text, "line") == steps
    assert cut(text, "sentence") == steps
    assert cut(text.replace("\n\n", "\n").replace("\n", "\n\n"), "paragraph") == [
        step.replace("\n\n", "\n").replace("\n", "\n\n") for step in steps
    ]


def test_a_display_is_not_cut_by_markers() -> None:
    assert cut("Add:\n\\[\n1. x\n\\]\n2. b", "marker") == ["Add:\n\\[\n1. x\n\\]", "2. b"]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("I think.\n<step>\nadd\n</step> and <step>take</step> end", ["add", "take"]),
        ("<step>a<step>b", ["a", "b"]),
        ("<step> </step></step>a", []),
        ("no tags", []),
        ("<steps>a</steps><Step>b</Step>", []),
    ],
)
def test_tags(text: str, steps: list[str]) -> None:
    assert cut(text, "<step>") == steps


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("lines", "did you mean 'line'"),
        ("step", "a tag such as <step>"),
        ("</step>", "a tag such as <step>"),
        ("<>", "a tag such as <step>"),
    ],
)
def test_unknown_segments_are_a_usage_error(by: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_segments(by)


SEGMENTERS = st.sampled_from(NAMES)
PIECES = [
    "a",
    "B",
    "3",
    ".",
    "!",
    "?",
    " ",
    "\n",
    "\r",
    "\t",
    "。",
    "Step 1:",
    "1. ",
    "e.g. ",
    "<s>",
    '"',
    "\u2028",
    "5",
    ":",
    "\\[",
    "\\]",
    "$$",
    "\\begin{align}",
    "\\end{align}",
]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@given(text=TEXTS, by=SEGMENTERS, data=st.data())
def test_steps_are_ordered_and_only_space_is_between_them(text: str, by: Segmenter, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    steps = list(spans(text, start, end, by))
    edges = [start, *(edge for step in steps for edge in step), end]
    assert edges == sorted(edges)
    assert all(text[first:last] and text[first:last] == text[first:last].strip() for first, last in steps)
    between = [text[gap_start:gap_end] for gap_start, gap_end in zip(edges[::2], edges[1::2], strict=True)]
    assert all(not gap.strip() for gap in between)
    assert steps == [(first + start, last + start) for first, last in spans(text[start:end], 0, end - start, by)]


@given(text=TEXTS, by=SEGMENTERS)
def test_splitting_a_step_again_returns_the_step(text: str, by: Segmenter) -> None:
    for first, last in spans(text, 0, len(text), by):
        assert list(spans(text, first, last, by)) == [(first, last)]


@pytest.mark.parametrize(
    "unit",
    ["\n", ". ", "?", "。", "\n1. ", "Step 1", " ", "No. 1", "\n\\[", "$$\n", ":\n\\[a\\]", "<s>", "</s>",
     "\\begin{align}\n", "\\begin{align}\\[$$ \n"],
)  # fmt: skip
@pytest.mark.parametrize("by", [*NAMES, "<s>"])
def test_a_long_text_takes_linear_time(unit: str, by: Segmenter, long_text: Callable[[str], str]) -> None:
    text = long_text(unit)
    assert sum(1 for _ in spans(text, 0, len(text), by)) <= len(text)
