"""What follows an answer: that it is wrong, an alternative, a correction; and remarks that are none of these."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.extract.after import corrections


@pytest.mark.parametrize(
    "rest",
    [" is wrong.", ", which is incorrect.", ". But that is wrong.", ". That cannot be right.", ". No, this is not it.",
     "? No.", ". Wait, that is impossible.", " isn't right."],
)  # fmt: skip
def test_an_answer_is_rejected(rest: str) -> None:
    assert corrections("18" + rest, 2, ("18",)).rejected


@pytest.mark.parametrize(
    ("rest", "answer"),
    [
        (" or 19.", "19"),
        (", or maybe 19.", "19"),
        (", I guess, or maybe 19.", "19"),
        (" (I think), or 19", "19"),
        (", but it could also be 19.", "19"),
        (" but might be 19", "19"),
        (". Wait, it is 19.", "19"),
        (". Actually, 19.", "19"),
        (". Correction: 19", "19"),
        (". Sorry, the answer is 19.", "19"),
        (". No, 19.", "19"),
        (". Let me correct that: 19", "19"),
    ],
)
def test_another_answer(rest: str, answer: str) -> None:
    found = corrections("18" + rest, 2, ("18",))
    assert (found.rejected, set(found.answers)) == (False, {answer})


@pytest.mark.parametrize(
    "rest",
    ["", ".", " eggs or so.", ". We check: 2*9 = 18.", ". This is correct.", ". Actually, 18.",
     ". Wait, is it 18? Yes.", " because 19 is odd.", ". There are 19 hens.", ". No further steps are needed.",
     ", but it could be done faster."],
)  # fmt: skip
def test_remarks_are_no_answers(rest: str) -> None:
    found = corrections("18" + rest, 2, ("18",))
    assert not found.rejected
    assert [answer for answer in found.answers if answer != "18"] == []
