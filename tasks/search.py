"""A hidden number: a partner says whether it is higher or lower than a guess. The environment and its rows."""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Completion, Example, Score, Verifier
from grpo_env.tasks.draws import Draw, check_ranges, distinct


class Search:
    """One object for each completion. ``guesses``, ``found`` and ``left``, how many numbers are left, are recorded."""

    def reset(self, low: int, high: int, number: int, **row: Any) -> None:
        """Begin an episode with the columns of a row."""
        self._low, self._high, self._number = low, high, number
        self.guesses: list[int] = []
        self.found = False
        self.left = high - low + 1

    def reply(self, text: str) -> str | None:
        """The partner's answer to a turn: ``higher``, ``lower``, or ``None``, which ends the episode."""
        if not re.fullmatch(r"[0-9]{1,6}", text):
            raise ValueError("say a number, in digits")
        guess = int(text)
        self.guesses.append(guess)
        if guess == self._number:
            self.found, self.left = True, 1
            return None
        higher = self._number > guess
        if higher:
            self._low = max(self._low, guess + 1)
        else:
            self._high = min(self._high, guess - 1)
        self.left = self._high - self._low + 1
        return "higher" if higher else "lower"

    def get_reward(self) -> float:
        """1 if the number was found."""
        return float(self.found)


@dataclass(frozen=True)
class Narrowed(Verifier):
    """The information gained about the number, from the environment's state (``on: state``): 1 if one number is left.

    With ``left`` of ``n`` numbers it is ``log(n / left) / log(n)``. A guess that halves what is left gains the most on
    average; one that was excluded before gains nothing.
    """

    def __call__(self, example: Example, completion: Completion) -> Score:
        numbers = example.info["high"] - example.info["low"] + 1
        left = json.loads(completion.text)["left"]
        value = 1 - math.log(left) / math.log(numbers) if numbers > 1 else 1.0
        return Score(value, explanation=f"{left} of {numbers} numbers are left")


def problems(
    split: str, size: int, seed: int, numbers: Sequence[int] = (1, 99), width: Sequence[int] = (16, 31)
) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{low, high, number}``, fixed by ``seed`` and ``split``, no two alike.

    ``width``, how many numbers there are from ``low`` to ``high``, and ``numbers``, in which both lie, are inclusive
    ranges. Whether a row is held out (``eval``) is decided by a hash of ``low`` and ``high``, so that no held-out
    prompt occurs in training. Raises ``UsageError`` for a split other than ``train`` and ``eval``, and for ranges that
    are empty or too narrow for ``size``.
    """
    least, most = numbers
    check_ranges("search", {"numbers": (numbers, 0, 10**6 - 1), "width": (width, 1, most - least + 1)})

    def draw(rng: random.Random) -> Draw:
        count = rng.randint(*width)
        low = rng.randint(least, most - count + 1)
        high = low + count - 1
        row = {"low": low, "high": high, "number": rng.randint(low, high)}
        return Draw(row, f"{low} {high} {row['number']}", held_out_by=f"{low} {high}")

    for row, _ in distinct("search", split, size, seed, draw):
        yield row


def gold(row: Mapping[str, Any]) -> list[str]:
    """The turns that solve a row: the middle of what is left."""
    low, high = row["low"], row["high"]
    guesses: list[int] = []
    while not guesses or guesses[-1] != row["number"]:
        guesses.append((low + high) // 2)
        low, high = (guesses[-1] + 1, high) if row["number"] > guesses[-1] else (low, guesses[-1] - 1)
    return [str(guess) for guess in guesses]
