"""What markers state: "The answer is 18.", "Answer: 18", ``A: 18``; and what only looks like a statement."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.extract.stated import stated


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("The answer is 18.", ("18",)),
        ("the final answer is: $18$", ("$18$",)),
        ("**Answer:** 18", ("18",)),
        ("Answer: Paris", ("Paris",)),
        ("A: 18", ("18",)),
        ("Ans: 18", ("18",)),
        ("The answer (arabic numerals) is 8.", ("8",)),
        ("The answer to the question is 18.", ("18",)),
        ("The correct option is (C).", ("(C)",)),
        ("So the best choice is C, since it floats.", ("C",)),
        ("## Final Answer\n18", ("18",)),
        ("La respuesta es 18.", ("18",)),
        ("Die Antwort ist 18.", ("18",)),
        ("Ответ: 18", ("18",)),
        ("答案是18。", ("18",)),
        ("答えは18", ("18",)),
        ("The answer is 17. The answer is 18.", ("17", "18")),
        ("The answer is correct. The answer is 18.", ("18",)),
        ("If the answer is 18, we are done.", None),
        ("A tempting answer is 18.", None),
        ("I doubt that the answer is 18.", ("",)),
        ("The answer is not 18.", ("",)),
        ("Is the answer 18?", None),
        ("We answer all 18 questions.", None),
        ("A: iron\nB: wood", None),
    ],
)
def test_statements(text: str, answers: tuple[str, ...] | None) -> None:
    found = stated(text)
    assert (found.answers if found else None) == answers
    assert not found or found.denied == (answers == ("",))
