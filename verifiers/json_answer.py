"""Is the answer the correct JSON: equal by value, or how many of its fields are correct?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from grpo_env.core import Case, Completion, Example, Format, Score, Status, Verifier
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import read_text, shown
from .answers.extract import visible
from .answers.kinds.json_value import MAX_LENGTH, Json, JsonError, JsonLimitError, equal_json, parse_json

Mode = Literal["equal", "fields"]

MAX_BLOCKS = 20  # code blocks of a completion

_FIRST_LINE = lazy_compile(r"^[\[{]", re.MULTILINE)


@verifier("json_answer")
@dataclass(frozen=True)
class JsonAnswer(Verifier):
    """JSON compared by value: 1 if it equals the gold answer, or the fraction of its fields.

    The JSON is in the answer block, else in the text after the reasoning: a code block, the whole text, or what starts
    on a line with ``{`` or ``[`` and goes on to the end. Blocks with different values are wrong. The order of keys and
    the form of a number (``1``, ``1.0``) make no difference; the order of an array does, and ``true``, ``"1"`` and 1
    are three values. Text that is not strict JSON (single quotes, comments, ``NaN``, the same key twice) is
    ``no_answer``. More than 100,000 characters or 100 levels are ``over_limit``.

    ``fields`` divides the correct leaves (an array is one) by all that the gold answer or the answer has, so
    additional ones cost as well.

    Source: the field accuracy of function-calling and extraction benchmarks.
    """

    format: Format = field(default_factory=Format)
    mode: Mode = "equal"
    """``equal`` to the gold answer, or the fraction of correct ``fields``."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case('<answer>{"b": 2.0, "a": [1]}</answer>', 1.0, "equal by value", answer='{"a": [1], "b": 2}'),
        Case('Here it is:\n```json\n{"a": 1}\n```', 1.0, "a code block", answer='{"a": 1}'),
        Case('{"name": "Ann", "age": 30}', 0.5, "one of two fields", '{"name": "Ann", "age": 31}',
             options={"mode": "fields"}),
        Case('{"name": "Ann", "sex": "f"}', 0.5, "an additional field", '{"name": "Ann"}', options={"mode": "fields"}),
        Case('{"a": true}', 0.0, "true is not 1", answer='{"a": 1}'),
        Case("[2, 1]", 0.0, "another order", answer="[1, 2]"),
        Case("{'a': 1}", 0.0, "not JSON", answer='{"a": 1}'),
        Case('{"a": 1}', None, "the gold answer is not JSON", answer="{a: 1}"),
    )  # fmt: skip

    def __call__(self, example: Example, completion: Completion) -> Score:
        gold, problem = self._gold(example.answer)
        if problem:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = read_text(self.format, completion)
        score = Score(0.0, answer=shown(final.answers), gold=shown([example.answer or ""]))
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied:
            return replace(score, explanation=f"{final.source}: the text denies it")
        blocks = [block for answer in final.answers for block in _blocks(answer)]
        if len(blocks) > MAX_BLOCKS or sum(map(len, blocks)) > MAX_LENGTH:
            return replace(score, status="over_limit", explanation=f"more than {MAX_LENGTH:,} characters of JSON")
        try:
            values = [parse_json(block) for block in blocks]
        except JsonError as error:
            status: Status = "over_limit" if isinstance(error, JsonLimitError) else "no_answer"
            return replace(score, status=status, explanation=str(error))
        score = replace(score, answer=shown(blocks))
        if not all(equal_json(values[0], value) for value in values[1:]):
            return replace(score, explanation="several different values")
        if self.mode == "fields":
            return _fraction(score, gold, values[0])
        equal = equal_json(gold, values[0])
        return replace(score, value=float(equal), explanation="the same value" if equal else "a different value")

    def problem(self, example: Example) -> str | None:
        return self._gold(example.answer)[1] or None

    def _gold(self, text: str | None) -> tuple[Json, str]:
        """The value of the gold answer, and what is wrong with it."""
        if text is None or not text.strip():
            return None, "the gold answer is missing"
        try:
            gold = parse_json(visible(text))
        except JsonError as error:
            return None, f"the gold answer: {error}"
        if self.mode == "fields" and not (isinstance(gold, dict) and gold):
            return None, f"the mode fields needs an object with fields as the gold answer, not {text[:60]!r}"
        return gold, ""


def _blocks(text: str) -> list[str]:
    """The JSON texts in an answer: its code blocks, else all of it, else from the first line that begins like JSON."""
    pieces = text.split("```")
    fenced = [block for piece in pieces[1::2] if (block := _json_block(piece))] if len(pieces) % 2 else []
    if fenced:
        return fenced
    start = _FIRST_LINE.search(text)
    return [text[start.start() :] if start else text]


def _json_block(piece: str) -> str | None:
    """The content of a code block, or ``None`` for one in a language other than JSON."""
    language, newline, content = piece.partition("\n")
    if not newline:
        return piece.strip()
    return content.strip() if language.strip().lower() in ("", "json") else None


def _fraction(score: Score, gold: Json, value: Json) -> Score:
    """The score for the fraction of correct fields."""
    expected, given = _leaves(gold), _leaves(value)
    names = expected.keys() | given.keys()
    wrong = sorted(
        name
        for name in names
        if name not in expected or name not in given or not equal_json(expected[name], given[name])
    )
    correct = len(names) - len(wrong)
    faults = "; not correct: " + ", ".join(".".join(name) for name in wrong) if wrong else ""
    return replace(score, value=correct / len(names), explanation=f"{correct} of {len(names)} fields{faults}"[:300])


def _leaves(value: Json) -> dict[tuple[str, ...], Json]:
    """The values of nested objects by their path; an empty object is a value, and so is an array."""
    leaves: dict[tuple[str, ...], Json] = {}
    open_values: list[tuple[tuple[str, ...], Json]] = [((), value)]
    while open_values:
        path, value = open_values.pop()
        if isinstance(value, dict) and value:
            open_values += [((*path, name), inner) for name, inner in value.items()]
        else:
            leaves[path] = value
    return leaves
