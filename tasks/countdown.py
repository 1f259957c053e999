"""Countdown: reach a target with given numbers, each used exactly once. The generator and its own verifier."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.registry import verifier
from grpo_env.tasks.draws import Draw, check_ranges, distinct
from grpo_env.verifiers.answers.extract import final_answer
from grpo_env.verifiers.answers.kinds.plain_text import plain

TYPOGRAPHIC = str.maketrans("\u00d7\u00b7\u00f7\u2212", "**/-")  # multiplication, dot, division and minus signs
MAX_CHARACTERS = 200  # of an expression; it also bounds the parser's recursion


def problems(
    split: str,
    size: int,
    seed: int,
    count: Sequence[int] = (3, 4),
    numbers: Sequence[int] = (1, 25),
    target: Sequence[int] = (10, 100),
) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{numbers, target, answer}``; ``answer`` is one solution, so every problem has one.

    ``count``, ``numbers`` and ``target`` are inclusive ranges: how many numbers, how large, and what to reach. The
    target is never one of the numbers. A problem is held out (``eval``) by its hash, whatever the seeds, and occurs
    once. Raises ``UsageError`` for a split other than ``train`` and ``eval``, and for ranges too narrow for ``size``.
    """
    check_ranges("countdown", {"count": (count, 2, None), "numbers": (numbers, 1, None), "target": (target, 0, None)})

    def draw(rng: random.Random) -> Draw | None:
        drawn = [rng.randint(*numbers) for _ in range(rng.randint(*count))]
        value, solution = _combine(rng, drawn)
        if not target[0] <= value <= target[1] or value in drawn:
            return None
        key = ",".join(map(str, (*sorted(drawn), value)))
        return Draw({"numbers": drawn, "target": value, "answer": solution}, key)

    for row, rng in distinct("countdown", split, size, seed, draw):
        rng.shuffle(row["numbers"])
        yield row


def _combine(rng: random.Random, numbers: Sequence[int]) -> tuple[int, str]:
    """Join random pairs until one value is left: whole and not negative at every step, as in the television game."""
    pool = [(number, str(number)) for number in numbers]
    while len(pool) > 1:
        (a, left), (b, right) = (pool.pop(rng.randrange(len(pool))) for _ in range(2))
        if a < b:
            a, b, left, right = b, a, right, left
        results = {"+": a + b, "-": a - b, "*": a * b} | ({"/": a // b} if b and a % b == 0 else {})
        sign = rng.choice(list(results))
        pool.append((results[sign], f"({left}{sign}{right})"))
    value, expression = pool[0]
    return value, expression[1:-1]


@verifier("countdown")
@dataclass(frozen=True)
class Countdown(Verifier):
    """1 if the final answer is an expression of + - * / that uses each number exactly once and reaches the target.

    ``numbers`` and ``target`` name the info columns. "= target" may follow the expression, and a period; it may be in
    bold, dollars or backticks. Division is exact, and negative and fractional intermediate values are allowed. Other
    text, signs and functions are not.
    """

    format: Format = field(default_factory=Format)
    numbers: str = "numbers"
    target: str = "target"

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        extracted = final_answer(self.format, completion)
        if len(extracted.answers) != 1 or extracted.denied:
            reason = extracted.reason or f"expected one answer, found {len(extracted.answers)}"
            return Score(0.0, "no_answer", gold=example.answer, explanation=reason)
        answer = extracted.answers[0]
        if len(answer) > MAX_CHARACTERS:
            why = f"more than {MAX_CHARACTERS} characters"
            return Score(0.0, "over_limit", gold=example.answer, explanation=why)
        expression = answer.translate(TYPOGRAPHIC)
        if expression.isascii():  # else ½ and the like become numbers of their own
            expression = plain(expression)
        fault = _fault(expression, *_problem_of(example.info, self.numbers, self.target))
        return Score(
            0.0 if fault else 1.0,
            answer=answer,
            gold=example.answer,
            explanation=fault or "reaches the target",
        )

    def problem(self, example: Example) -> str | None:
        for column in (self.numbers, self.target):
            if column not in example.info:
                return f"the row has no column {column!r}"
        try:
            _problem_of(example.info, self.numbers, self.target)
        except (TypeError, ValueError, OverflowError):
            return f"{self.numbers!r} must be a list of whole numbers and {self.target!r} a whole number"
        return None


def _problem_of(info: Mapping[str, Any], numbers: str, target: str) -> tuple[list[int], int]:
    if isinstance(info[numbers], str):
        raise TypeError(numbers)
    return sorted(_whole(number) for number in info[numbers]), _whole(info[target])


def _whole(number: Any) -> int:
    exact = Fraction(number)
    if exact.denominator != 1:
        raise ValueError(number)
    return int(exact)


def _fault(answer: str, numbers: list[int], target: int) -> str | None:
    left, equals, right = answer.partition("=")
    if equals and right.strip() != str(target):
        return f"claims to reach {right.strip()!r}, not {target}"
    try:
        value, used = evaluate(left)
    except (ValueError, ZeroDivisionError) as error:
        return str(error)
    if sorted(used) != numbers:
        return f"uses {sorted(used)} instead of {numbers}"
    return None if value == target else f"reaches {value}, not {target}"


def evaluate(expression: str) -> tuple[Fraction, list[int]]:
    """The exact value of an expression of whole numbers, ``+ - * /`` and brackets, and the numbers it uses.

    Raises ``ValueError`` for anything else and ``ZeroDivisionError`` for a division by zero.
    """
    if len(expression) > MAX_CHARACTERS:
        raise ValueError(f"the expression has more than {MAX_CHARACTERS} characters")
    tokens = re.findall(r"[0-9]+|[-+*/()]|\S", expression)
    used: list[int] = []
    value, end = _sum(tokens, 0, used)
    if end < len(tokens):
        raise ValueError(f"not an expression: unexpected {tokens[end]!r}")
    return value, used


def _sum(tokens: list[str], at: int, used: list[int]) -> tuple[Fraction, int]:
    value, at = _product(tokens, at, used)
    while at < len(tokens) and tokens[at] in "+-":
        right, end = _product(tokens, at + 1, used)
        value = value + right if tokens[at] == "+" else value - right
        at = end
    return value, at


def _product(tokens: list[str], at: int, used: list[int]) -> tuple[Fraction, int]:
    value, at = _atom(tokens, at, used)
    while at < len(tokens) and tokens[at] in "*/":
        right, end = _atom(tokens, at + 1, used)
        if tokens[at] == "/" and right == 0:
            raise ZeroDivisionError("divides by zero")
        value = value * right if tokens[at] == "*" else value / right
        at = end
    return value, at


def _atom(tokens: list[str], at: int, used: list[int]) -> tuple[Fraction, int]:
    token = tokens[at] if at < len(tokens) else "its end"
    if token == "(":
        value, at = _sum(tokens, at + 1, used)
        if at == len(tokens) or tokens[at] != ")":
            raise ValueError("not an expression: a bracket is not closed")
        return value, at + 1
    if not re.fullmatch("[0-9]+", token):
        raise ValueError(f"not an expression: unexpected {token!r}")
    used.append(int(token))
    return Fraction(int(token)), at + 1
