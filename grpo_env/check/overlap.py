"""Which prompts of the held-out split stand in the training split as well, word for word or nearly."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

SHINGLE = 3  # words
NEAR = 0.85  # Jaccard similarity of two prompts' shingles from which on they count as the same
TEMPLATE = 0.5  # a shingle in more than this share of the training prompts is the template's, and is left out
TOO_COMMON = 0.01  # a shingle in more than this share of them finds no candidates; rarer ones do
RARE_ENOUGH = 20  # prompts that a shingle may always be in

_WORD = re.compile(r"[぀-ヿ㐀-鿿]|\d+(?:[.,]\d+)*|\w+")  # scripts without spaces: each character is a word


class Pair(NamedTuple):
    """A held-out prompt and the training prompt most like it: their places, and how alike (1: the same words)."""

    held_out: int
    train: int
    similarity: float


def overlaps(train: Sequence[str], held_out: Sequence[str], near: float = NEAR) -> Iterator[Pair]:
    """The held-out prompts that are in ``train``, each with the most similar training prompt.

    Compared are the words (NFKC, case and signs aside) without the beginning and end that all prompts share. Two
    prompts of the same words have similarity 1; others the Jaccard similarity of their sets of three-word shingles
    (those in more than half of the training prompts left out), and count from ``near`` on. Exact, not sampled: an
    inverted index over the rarer shingles finds the candidates.
    """
    texts = _without_template([words(text) for text in [*train, *held_out]])
    known, asked = texts[: len(train)], texts[len(train) :]
    exact = {text: place for place, text in reversed(list(enumerate(known)))}
    shingles = [_shingles(text) for text in known]
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, found in enumerate(shingles):
        for shingle in found:
            places[shingle].append(place)
    most = max(RARE_ENOUGH, int(TOO_COMMON * len(known)))
    template = {one for one, found in places.items() if len(found) > max(RARE_ENOUGH, TEMPLATE * len(known))}
    shingles = [found - template for found in shingles]
    for number, text in enumerate(asked):
        if text in exact:
            yield Pair(number, exact[text], 1.0)
            continue
        own = _shingles(text) - template
        candidates = Counter(place for one in own if len(places.get(one, ())) <= most for place in places.get(one, ()))
        best = max(((_jaccard(own, shingles[place]), -place) for place in candidates), default=(0.0, 0))
        if best[0] >= near:
            yield Pair(number, -best[1], best[0])


def words(text: str) -> tuple[str, ...]:
    """A text's words as prompts are compared by them: NFKC, lower case, no signs, each CJK character a word."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _without_template(texts: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The texts without the words that all of them begin and end with; something is left of each."""
    if len(set(texts)) < 2:
        return texts
    shortest = min(map(len, texts)) - 1
    start = _shared(texts, shortest)
    end = _shared([text[::-1] for text in texts], max(shortest - start, 0))
    return [text[start : len(text) - end] for text in texts]


def _shared(texts: list[tuple[str, ...]], most: int) -> int:
    low, high = min(texts), max(texts)  # in sorted order all others lie between these two
    pairs = zip(low[: max(most, 0)], high, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _shingles(text: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(text[at : at + SHINGLE] for at in range(len(text) - SHINGLE + 1))


def _jaccard(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0
