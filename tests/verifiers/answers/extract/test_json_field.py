"""The answer field of a JSON object, which need not be valid JSON."""

from __future__ import annotations

import pytest

from grpo_env.verifiers.answers.extract.json_field import json_at_end, json_field


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('{"answer": 18}', ("18",)),
        ('{"reasoning": "9 * 2", "answer": "18"}', ("18",)),
        ('{"final_answer": "B"}', ("B",)),
        ('{"Answer": 1.50}', ("1.50",)),
        ('```json\n{"answer": "Paris"}\n```', ("Paris",)),
        ('{\n  "steps": [1, 2],\n  "result": -3\n}', ("-3",)),
        ('{"answer": true}', ("true",)),
        ('{"answer": ["2", "3"]}', ("2, 3",)),
        ('{"answer": [2, 3]}', ("2, 3",)),
        (r'{"answer": "\\frac{1}{2}"}', (r"\frac{1}{2}",)),
        (r'{"answer": "\frac{1}{2}"}', (r"\frac{1}{2}",)),
        (r'{"answer": "\(x+1\)"}', (r"\(x+1\)",)),
        ('{"reasoning": "two\nlines", "answer": 18}', ("18",)),
        ('{"answer": 17} {"answer": 18}', ("17", "18")),
        ('{"answer": 18} {"answer": 18}', ("18",)),
        ('{"answer": 18 apples}', None),
        ('{"answer": null}', None),
        ('{"reasoning": "the \\"answer\\": 18"}', None),
        ('{"question": 18}', None),
        ('the "answer" is 18', None),
        ("{answer: 18}", None),
    ],
)
def test_the_answer_field(text: str, answers: tuple[str, ...] | None) -> None:
    found = json_field(text)
    assert (found.answers if found else None) == answers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('It is:\n{"a": 1}', '{"a": 1}'),
        ("It is:\n[1, 2]", "[1, 2]"),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('{"a": 1}\nThat is it.', ""),
        ("{'a': 1}", ""),
        ("It is 18.", ""),
    ],
)
def test_json_at_the_end_of_a_text(text: str, found: str) -> None:
    assert json_at_end(text) == found
