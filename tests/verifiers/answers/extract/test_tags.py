"""Answers in tags: the task's own, others that models write, and tags that are only mentioned."""

from __future__ import annotations

import pytest

from grpo_env.core import Completion, Format
from grpo_env.verifiers.answers.extract import final_answer
from grpo_env.verifiers.answers.extract.tags import other_tags


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("<ans>18</ans>", ("18",)),
        ("<solution>18</solution>", ("18",)),
        ("<final_answer> 18 </final_answer>", ("18",)),
        ("[ANSWER]18[/ANSWER]", ("18",)),
        ("【答案】18", ("18",)),
        ("<ans>17</ans> <ans>18</ans>", ("17", "18")),
        ("<ans>18</ans> <ans>18</ans>", ("18",)),
        ("<ans>18", None),
        ("<b>18</b>", None),
        ("<ans>18</solution>", None),
        ("[1] 18 [/1]", None),
        ("<ans></ans>", None),
    ],
)
def test_tags_of_other_names(text: str, answers: tuple[str, ...] | None) -> None:
    found = other_tags(text)
    assert (found.answers if found else None) == answers


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("<answer>18</answer>", ("18",)),
        ("<answer>17</answer><answer>18</answer>", ("17", "18")),
        ("<answer>18</answer> <ans>17</ans>", ("18",)),
        ("I will use <answer> tags. <answer>18</answer>", ("18",)),
        ("I will use `<answer>` and `</answer>`. <answer>18</answer>", ("18",)),
        ("I put it in <answer>...</answer> tags: <answer>18</answer>", ("18",)),
        ("<answer>18", ()),
        ("18</answer>", ()),
        ("<answer><answer>18</answer></answer>", ()),
        ("<answer> </answer>", ()),
    ],
)
def test_the_tag_of_the_format(text: str, answers: tuple[str, ...]) -> None:
    final = final_answer(Format(), Completion(text), ("answer_tag",))
    assert final.answers == answers


def test_a_format_without_a_tag_reads_the_usual_one() -> None:
    final = final_answer(Format(answer=None), Completion("<answer>x<2</answer>"), ("answer_tag",))
    assert final.answers == ("x<2",)
