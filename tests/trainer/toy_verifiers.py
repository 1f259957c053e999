"""Verifiers of the tests. In a module of their own, without torch, since worker processes import it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from grpo_env import BatchVerifier, Completion, Example, Score, StepScore, Verifier, verifier


@verifier("test_vowels")
@dataclass(frozen=True)
class Vowels(Verifier):
    """Fraction of vowels in the text; each word is a step whose reward is its own fraction."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = completion.text
        steps, start = [], 0
        for word in text.split(" "):
            steps.append(StepScore(start, start + len(word), vowel_fraction(word)))
            start += len(word) + 1
        return Score(vowel_fraction(text), steps=tuple(steps))


@verifier("test_unscored_odd")
@dataclass(frozen=True)
class UnscoredOdd(Verifier):
    """Leaves texts of odd length unscored."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        if len(completion.text) % 2:
            return Score(None, "not_applicable", explanation="odd")
        return Score(vowel_fraction(completion.text))


@verifier("test_nothing")
@dataclass(frozen=True)
class Nothing(Verifier):
    """Leaves every text unscored."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(None, "not_applicable", explanation="any text")


def vowel_fraction(text: str) -> float:
    return sum(letter in "aeiou" for letter in text) / max(1, len(text))


@verifier("test_has_letter")
@dataclass(frozen=True)
class HasLetter(Verifier):
    """1 for a text with the letter; examples whose answer is 4 cannot be scored."""

    letter: str = "t"

    def __call__(self, example: Example, completion: Completion) -> Score:
        if example.answer == "4":
            return Score(None, "not_applicable", explanation="four")
        return Score(float(self.letter in completion.text))


@verifier("test_informative")
@dataclass(frozen=True)
class Informative(Verifier):
    """1 for texts whose letters add up to an even number, but 1 for every text of most examples."""

    every: int = 2

    def __call__(self, example: Example, completion: Completion) -> Score:
        even = sum(map(ord, completion.text)) % 2 == 0
        return Score(float(even or not is_informative(example, self.every)))


def is_informative(example: Example, every: int = 2) -> bool:
    return every > 0 and int(example.answer or 0) // 2 % every == 0


@verifier("test_ascii")
@dataclass(frozen=True)
class Ascii(Verifier):
    """The fraction of ASCII characters."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        text = completion.text
        return Score(sum(letter.isascii() for letter in text) / max(1, len(text)))


@verifier("test_endless")
@dataclass(frozen=True)
class Endless(Verifier):
    """Does not end for texts of odd length."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        while len(completion.text) % 2:
            pass
        return Score(1.0)


class Lengths(Verifier):
    """The number of tokens, and the process that scored."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(completion.num_tokens), answer=example.id, explanation=str(os.getpid()))


class BatchLengths(BatchVerifier):
    def batch(self, pairs):
        return [Lengths()(*pair) for pair in pairs]


@verifier("test_count_a")
@dataclass(frozen=True)
class CountA(Verifier):
    """The number of letters a."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(completion.text.count("a")))


@verifier("test_ends_with_a")
@dataclass(frozen=True)
class EndsWithA(Verifier):
    """1 for a text whose last letter is a."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(completion.text.rstrip("\n").endswith("a")))


@verifier("test_ends_with_gold")
@dataclass(frozen=True)
class EndsWithGold(Verifier):
    """1 for a text whose last letter is the gold answer, which must be a letter."""

    def problem(self, example: Example) -> str | None:
        return None if (example.answer or "").isalpha() else "the gold answer is no letter"

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(completion.text.rstrip("\n").endswith(example.answer or "")))
