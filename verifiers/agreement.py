"""Completions of one prompt against each other: do they agree on an answer, and do they differ in their words?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, GroupVerifier, Score
from grpo_env.errors import UsageError
from grpo_env.registry import verifier

from .answers.algebra import DeadlineError, UnreadableError
from .answers.compare import Rules, compare
from .answers.exact import Number, OverLimitError
from .answers.extract import final_answer
from .answers.hedging import unevaluated
from .answers.normal import squeezed
from .answers.parse import read
from .answers.parsed import Formula, Group, Reading
from .blocks import Where, passage
from .words import words

MAX_ANSWERS = 20  # of one completion: who names more has not answered
MAX_SHOWN = 300  # characters of an answer that a score keeps
MOST_COMPARED = 32  # different spellings of a group, those with most votes, that are compared by value
MOST_DEADLINES = 2  # comparisons of a group that may run into their deadline; then only numbers are compared
MAX_WORDS = 20_000
LONGEST = 10  # words of an n-gram

_ANYTHING = Reading("x", Formula("x"))  # what an answer has to be worked out to where nothing is known of the gold


@verifier("majority")
@dataclass(frozen=True)
class Majority(GroupVerifier):
    r"""1 if the final answer is the one that most completions of the prompt give, else 0. It needs no gold answer.

    Which text is the final answer and what counts as equal (``0.5`` and ``\frac12``) is told under ``accuracy``. A
    completion without an answer (``no_answer``) or with one that is still to be worked out (``2+2``) votes for nothing
    and gets 0. An answer is the majority if at least two completions give it and no other has as many votes; in a tie
    all get 0. A prompt with one completion has no vote: it is unscored. So let no gate (``when``) hold back voters;
    to pay only the well-formed ones among the majority, put ``strict_format`` and ``majority`` under ``all_of``.

    The vote pays what the model is surest of, right or wrong; in the end that may be one and the same answer to every
    prompt. Watch ``accuracy`` on some prompts that have gold answers.

    Source: TTRL (Zuo et al. 2025, arXiv:2504.16084); the vote is self-consistency (Wang et al. 2022,
    arXiv:2203.11171). In a plain count the first of tied answers wins, and so the order of sampling. Here: nobody.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float | None = None
    """Numbers within this relative tolerance are equal; by default only the same values are."""
    timeout: float = 1.0
    """Seconds that computer algebra may take to compare two answers."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(("18", r"\boxed{18}", "<answer>17</answer>"), (1.0, 1.0, 0.0), "two votes for 18, one for 17"),
        Case((r"\boxed{\frac12}", "0.5", "2", "-1"), (1.0, 1.0, 0.0, 0.0), "votes count by value"),
        Case(("18", "<think>\n18", "18"), (1.0, 0.0, 1.0), "who does not answer votes for nothing"),
        Case(("18", "17", "18", "17", "5"), (0.0,) * 5, "a tie: two votes each"),
        Case(("18", "17"), (0.0, 0.0), "one vote is no majority"),
        Case(("18", r"not \boxed{18}", r"\boxed{18} or \boxed{17}"), (0.0,) * 3, "no vote by denial or by hedging"),
        Case(("9*2", "9*2", "18"), (0.0,) * 3, "the question said again is no answer"),
        Case("18", None, "one completion, no vote"),
    )

    def __post_init__(self) -> None:
        if self.timeout <= 0:
            raise UsageError(f"majority: timeout must be above 0, not {self.timeout:g}")

    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        if len(completions) < 2:
            return [Score(None, "not_applicable", explanation="one completion makes no vote") for _ in completions]
        equal = _Equality(Rules(rel_tol=self.rel_tol, timeout=self.timeout))
        scores, ballots = zip(*(self._ballot(completion, equal) for completion in completions), strict=True)
        readings = {_spelling(reading): reading for reading in ballots if reading is not None}
        counts = Counter(_spelling(reading) for reading in ballots if reading is not None)
        winner, agreeing, why = _elected(counts, readings, equal)
        gold = readings[winner].text[:MAX_SHOWN] if winner is not None else None
        return [
            replace(score, gold=gold)
            if reading is None
            else replace(score, value=float(_spelling(reading) in agreeing), gold=gold, explanation=why)
            for score, reading in zip(scores, ballots, strict=True)
        ]

    def _ballot(self, completion: Completion, equal: _Equality) -> tuple[Score, Reading | None]:
        """A completion's score without a vote, and the answer that it votes for, if any."""
        found = final_answer(self.format, completion)
        score = Score(0.0, answer=" | ".join(found.answers[:MAX_ANSWERS])[:MAX_SHOWN] if found.answers else None)
        if not found.answers:
            return replace(score, status="no_answer", explanation=found.reason), None
        if found.denied:
            return replace(score, explanation="the answer is denied"), None
        several = replace(score, explanation=f"{len(found.answers)} different answers")
        if len(found.answers) > MAX_ANSWERS:
            return several, None
        try:
            readings = [read(answer) for answer in found.answers]
            done = [reading for reading in readings if not unevaluated(_ANYTHING, reading)]
            if not done:
                return replace(score, explanation="the answer is not evaluated"), None
            if all(equal(done[0], reading) for reading in readings):
                return score, done[0]
            joined = read(", ".join(found.answers))
        except OverLimitError as error:
            return replace(score, status="over_limit", explanation=str(error)), None
        return (score, joined) if isinstance(joined.shape, Group) else (several, None)


class _Equality:
    """Whether two answers are equal. Gives algebra up if it runs out of time too often."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._deadlines = 0

    def __call__(self, one: Reading, other: Reading) -> bool:
        numbers = isinstance(one.shape, Number) and isinstance(other.shape, Number)
        if self._deadlines >= MOST_DEADLINES and not numbers:
            return _spelling(one) == _spelling(other)
        try:
            return compare(one, other, self._rules).right
        except DeadlineError:
            self._deadlines += 1
        except (OverLimitError, UnreadableError):
            pass
        return False


def _elected(
    counts: Mapping[str, int], readings: Mapping[str, Reading], equal: _Equality
) -> tuple[str | None, set[str], str]:
    """The spelling that wins, the spellings equal to it, and why. The order of the completions plays no part."""
    by_votes = sorted(counts, key=lambda spelling: (-counts[spelling], spelling))
    agreeing = {spelling: {spelling} for spelling in by_votes}
    for one, other in combinations(by_votes[:MOST_COMPARED], 2):
        if equal(readings[one], readings[other]):
            agreeing[one].add(other)
            agreeing[other].add(one)
    votes = {spelling: sum(counts[other] for other in agreeing[spelling]) for spelling in by_votes}
    most = max(votes.values(), default=0)
    first, *rivals = (spelling for spelling in by_votes if votes[spelling] == most) if votes else (None,)
    if first is None or most < 2:
        return None, set(), "no majority: no two completions agree"
    if any(rival not in agreeing[first] for rival in rivals):
        return None, set(), f"no majority: a tie with {most} votes each"
    return first, agreeing[first], f"{most} of {sum(counts.values())} votes are for {first[:80]}"


def _spelling(reading: Reading) -> str:
    return squeezed(reading.text)


@verifier("diversity")
@dataclass(frozen=True)
class Diversity(GroupVerifier):
    """How unlike the prompt's other completions a completion is in its words: 1 for nothing in common, 0 for copies.

    The mean, over the others, of one minus the Jaccard similarity of the two sets of n-grams (those in common, by
    those in either). Words count in any case, punctuation does not; where a script has no spaces every character is a
    word; the first 20,000 words count. A text without words is worth 0 (``no_answer``) and no comparison. The only
    completion of a prompt, or the only one that a gate lets through, is like no other: 1.

    Nonsense is diverse. Pay it behind a gate: ``when: accuracy`` compares only the right completions.

    Source: resemblance by shingles (Broder 1997, On the resemblance and containment of documents); as a reward for
    right completions that differ from each other: DARLING (Li et al. 2025, arXiv:2509.02534), there with a trained
    classifier of meanings instead of n-grams.
    """

    format: Format = field(default_factory=Format)
    n: int = 3
    """Words in an n-gram, 1 to 10; of a shorter text all words together are one."""
    where: Where = "all"
    """The text that is looked at: the ``reasoning`` block, the ``answer`` block, or ``all`` of it without tags."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case(("we add the eggs", "they sell all eggs"), (1.0, 1.0), "no trigram in common"),
        Case(("we add the eggs", "we add the milk"), (2 / 3, 2 / 3), "one trigram in common of three"),
        Case(("we add the eggs", "We add: the eggs!", "they sell all eggs"), (0.5, 0.5, 1.0),
             "case and punctuation make no difference"),
        Case(("so it is", "so it is", "so it is"), (0.0, 0.0, 0.0), "copies"),
        Case(("so it is " * 50, "it is so " * 50), (0.0, 0.0), "n-grams count once, however often repeated"),
        Case(("so it is", "", "!!!"), (1.0, 0.0, 0.0), "nothing is not diverse, and nobody is compared with it"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        if not 1 <= self.n <= LONGEST:
            raise UsageError(f"diversity: n must be 1 to {LONGEST}, not {self.n}")

    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        grams = [self._grams(completion) for completion in completions]
        distances: list[list[float]] = [[] for _ in grams]
        for (one, mine), (other, theirs) in combinations([pair for pair in enumerate(grams) if pair[1]], 2):
            common = len(mine & theirs)
            distance = 1 - common / (len(mine) + len(theirs) - common)
            distances[one].append(distance)
            distances[other].append(distance)
        return [
            _diverse(found) if mine else Score(0.0, "no_answer", explanation="there are no words")
            for found, mine in zip(distances, grams, strict=True)
        ]

    def _grams(self, completion: Completion) -> set[tuple[str, ...]]:
        text = passage(self.where, self.format, completion) or ""
        found = [word.casefold() for word in islice(words(text), MAX_WORDS)]
        size = min(self.n, len(found))
        return set(zip(*(found[first:] for first in range(size)), strict=False))


def _diverse(distances: list[float]) -> Score:
    if not distances:
        return Score(1.0, explanation="there is no other to be like")
    mean = math.fsum(distances) / len(distances)  # fsum: the order of the completions plays no part
    return Score(mean, explanation=f"mean distance from {len(distances)} other{'s' * (len(distances) > 1)}")
