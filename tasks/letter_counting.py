"""How often does a letter occur in a word? The words are built from syllables; the answer is a number word."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Iterator, Sequence
from typing import Any

from grpo_env.errors import UsageError

_SYLLABLES = """
ap ba ber bil bub can cin clo cor del der don ele ell fer fin gan gar hap ing kel lam lan less let lit mam mis na
nel nut off pal pep per pin ple ral rab ress rin ror ruf sas sel sip ster straw sum tat tel ter tin tor van zig
"""
SYLLABLES = tuple(_SYLLABLES.split())
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
HELD_OUT = 10  # one question in this many belongs to the eval split
ABSENT = 0.1  # fraction of questions about a letter of the alphabet, which the word may lack
MAX_DRAWS = 2000


def problems(split: str, size: int, seed: int, syllables: Sequence[int] = (2, 5)) -> Iterator[dict[str, Any]]:
    """Yield ``size`` rows ``{word, letter, answer}``, no two alike; ``answer`` is a word from zero to ten.

    ``syllables`` is the inclusive range of a word's length. A question is held out (``eval``) by its hash, whatever
    the seeds. Raises ``UsageError`` for a split other than ``train`` and ``eval``, and for a range that holds fewer
    than ``size`` questions or whose words may hold a letter more than ten times.
    """
    if split not in ("train", "eval"):
        raise UsageError(f"letter_counting: unknown split {split!r}; use 'train' or 'eval'")
    low, high = syllables
    if not 1 <= low <= high <= 5:
        raise UsageError(f"letter_counting: syllables is [{low}, {high}]; it needs 1 <= first <= last <= 5")
    seen: set[tuple[str, str]] = set()
    for index in range(size):
        rng = random.Random(f"{seed}/{split}/{index}")
        for _ in range(MAX_DRAWS):
            word = "".join(rng.choices(SYLLABLES, k=rng.randint(low, high)))
            # Drawn by position, so that letters that occur twice or more are asked for more often.
            letter = rng.choice(string.ascii_lowercase if rng.random() < ABSENT else word)
            if (word, letter) not in seen and _held_out(word, letter) == (split == "eval"):
                break
        else:
            raise UsageError(f"letter_counting: found only {index} different {split} questions; widen syllables")
        seen.add((word, letter))
        yield {"word": word, "letter": letter, "answer": WORDS[word.count(letter)]}


def _held_out(word: str, letter: str) -> bool:
    digest = hashlib.sha256(f"{word} {letter}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % HELD_OUT == 0
