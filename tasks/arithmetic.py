"""Word problems of a few additions and subtractions, with the equations that solve them. Standard library only."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from grpo_env.errors import UsageError
from grpo_env.tasks.draws import check_ranges, check_split, is_held_out

NAMES = ("Ana", "Ben", "Eva", "Leo", "Mia", "Sam", "Tom", "Zoe")
THINGS = ("apples", "books", "cards", "coins", "pens", "shells", "stamps", "toys")
GAINS = ("buys {n}", "finds {n}", "gets {n}", "wins {n}", "makes {n} more")
LOSSES = ("loses {n}", "sells {n}", "drops {n}", "gives {n} away")
OPENINGS = ("{name} has {n} {things}", "{name} starts with {n} {things}")
ENDINGS = ("How many now?", "How many {things} now?", "How many in the end?")

MAX_DRAWS = 300  # all of them miss a tenth of the problems with probability 2e-14


def problems(
    split: str, size: int, seed: int, steps: Sequence[int] = (1, 3), operands: Sequence[int] = (2, 20)
) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{question, answer, equations}``, fixed by ``seed`` and ``split``.

    ``steps`` and ``operands`` are inclusive ranges. No result is negative. Whether an equation list is held out
    (``eval``) is decided by its hash, so the splits are disjoint whatever the seeds. Questions repeat only when the
    ranges are too narrow for new ones. Raises ``UsageError`` for a split other than ``train`` and ``eval``, and for
    ranges that hold no problem of the split.
    """
    check_split("arithmetic", split)
    check_ranges("arithmetic", {"steps": (steps, 1, None), "operands": (operands, 1, None)})
    seen: set[str] = set()
    for index in range(size):
        row = _draw(random.Random(f"{seed}/{split}/{index}"), split, steps, operands, seen)
        seen.add(row["question"])
        yield row


def _draw(
    rng: random.Random, split: str, steps: Sequence[int], operands: Sequence[int], seen: set[str]
) -> dict[str, Any]:
    repeated = None
    for _ in range(MAX_DRAWS):
        start, equations = _equations(rng, rng.randint(*steps), operands)
        if is_held_out(" ".join(equations)) != (split == "eval"):
            continue
        question = _question(rng, start, equations)
        row = {"question": question, "answer": equations[-1].split("=")[1], "equations": equations}
        if question not in seen:
            return row
        repeated = row
    if repeated is None:
        raise UsageError(f"arithmetic: no {split} problem with steps {list(steps)} and operands {list(operands)}")
    return repeated


def _equations(rng: random.Random, count: int, operands: Sequence[int]) -> tuple[int, list[str]]:
    start = total = rng.randint(*operands)
    equations = []
    for _ in range(count):
        sign = rng.choice("+-") if total >= operands[0] else "+"
        number = rng.randint(operands[0], operands[1] if sign == "+" else min(operands[1], total))
        result = total + number if sign == "+" else total - number
        equations.append(f"{total}{sign}{number}={result}")
        total = result
    return start, equations


def _question(rng: random.Random, start: int, equations: Sequence[str]) -> str:
    things = rng.choice(THINGS)
    clauses = [rng.choice(OPENINGS).format(name=rng.choice(NAMES), n=start, things=things)]
    for equation in equations:
        phrases, sign = (GAINS, "+") if "+" in equation else (LOSSES, "-")
        clauses.append(rng.choice(phrases).format(n=equation.split("=")[0].split(sign)[1]))
    return f"{', '.join(clauses[:-1])} and {clauses[-1]}. {rng.choice(ENDINGS).format(things=things)}"
