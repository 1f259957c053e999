"""How often does a letter occur in a word? The words are built from syllables; the answer is a number word."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from typing import Any

from grpo_env.tasks.draws import Draw, check_ranges, distinct

_SYLLABLES = """
ap ba ber bil bub can cin clo cor del der don ele ell fer fin gan gar hap ing kel lam lan less let lit mam mis na
nel nut off pal pep per pin ple ral rab ress rin ror ruf sas sel sip ster straw sum tat tel ter tin tor van zig
"""
SYLLABLES = tuple(_SYLLABLES.split())
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ABSENT = 0.1  # fraction of questions about a letter of the alphabet, which the word may lack


def problems(split: str, size: int, seed: int, syllables: Sequence[int] = (2, 5)) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{word, letter, answer}``, no two alike; ``answer`` is a word from zero to ten.

    ``syllables`` is the inclusive range of a word's length. A question is held out (``eval``) by its hash, whatever
    the seeds. Raises ``UsageError`` for a split other than ``train`` and ``eval``, and for a range that holds fewer
    than ``size`` questions or whose words may hold a letter more than ten times.
    """
    check_ranges("letter_counting", {"syllables": (syllables, 1, 5)})

    def draw(rng: random.Random) -> Draw:
        word = "".join(rng.choices(SYLLABLES, k=rng.randint(*syllables)))
        # Drawn by position, so that letters that occur twice or more are asked for more often.
        letter = rng.choice(string.ascii_lowercase if rng.random() < ABSENT else word)
        return Draw({"word": word, "letter": letter, "answer": WORDS[word.count(letter)]}, f"{word} {letter}")

    for row, _ in distinct("letter_counting", split, size, seed, draw):
        yield row
