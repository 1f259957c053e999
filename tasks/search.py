"""A hidden number: a partner says whether it is higher or lower than a guess. The environment and its rows."""

import hashlib
import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grpo_env.core import Completion, Example, Score, Verifier
from grpo_env.errors import UsageError

HELD_OUT = 10  # one range in this many belongs to the eval split
MAX_DRAWS = 300


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
    if split not in ("train", "eval"):
        raise UsageError(f"search: unknown split {split!r}; use 'train' or 'eval'")
    least, most = numbers
    if not 1 <= width[0] <= width[1] <= most - least + 1:
        raise UsageError(f"search: width is {list(width)}; it needs 1 <= first <= last <= {most - least + 1}")
    if not 0 <= least <= most < 10**6:
        raise UsageError(f"search: numbers is {list(numbers)}; it needs 0 <= first <= last < 1000000")
    seen: set[tuple[int, int, int]] = set()
    for index in range(size):
        rng = random.Random(f"{seed}/{split}/{index}")
        for _ in range(MAX_DRAWS):
            count = rng.randint(*width)
            low = rng.randint(least, most - count + 1)
            high = low + count - 1
            row = (low, high, rng.randint(low, high))
            if row not in seen and _held_out(low, high) == (split == "eval"):
                break
        else:
            raise UsageError(f"search: found only {index} different {split} problems; widen the ranges")
        seen.add(row)
        yield dict(zip(("low", "high", "number"), row, strict=True))


def _held_out(low: int, high: int) -> bool:
    digest = hashlib.sha256(f"{low} {high}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % HELD_OUT == 0


def gold(row: Mapping[str, Any]) -> list[str]:
    """The turns that solve a row: the middle of what is left."""
    low, high = row["low"], row["high"]
    guesses: list[int] = []
    while not guesses or guesses[-1] != row["number"]:
        guesses.append((low + high) // 2)
        low, high = (guesses[-1] + 1, high) if row["number"] > guesses[-1] else (low, guesses[-1] - 1)
    return [str(guess) for guess in guesses]
