"""Finds prompts of the held-out split that are in the training split too, word for word or nearly."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SHINGLE = 3  # words
NEAR = 0.85  # the Jaccard similarity of two prompts' shingles at which they count as nearly the same
TEMPLATE = 0.5  # shingles in a larger fraction of the training prompts belong to the template and are ignored
TOO_COMMON = 0.01  # shingles in a larger fraction of them do not make a prompt a candidate
RARE_ENOUGH = 20  # shingles in at most this many prompts are never too common

_WORD = re.compile(r"[぀-ヿ㐀-鿿]|\d+(?:[.,]\d+)*|\w+")  # scripts without spaces: each character is a word


Shingle = tuple[str, ...]


class Pair(NamedTuple):
    """Indices of a held-out prompt and the most similar training prompt; similarity 1 means the same words."""

    held_out: int
    train: int
    similarity: float


def overlaps(train: Sequence[str], held_out: Sequence[str]) -> Iterator[Pair]:
    """The held-out prompts that are in ``train``, each with the most similar training prompt.

    Prompts are compared by their words (NFKC, ignoring case and punctuation). Equal words have similarity 1. Otherwise
    it is the Jaccard similarity of the sets of three-word shingles, without those in more than half of the training
    prompts; pairs below ``NEAR`` are dropped. The search is exact: an inverted index over the rarer shingles finds the
    candidates.
    """
    train_texts = [words(text) for text in train]
    exact = {text: index for index, text in reversed(list(enumerate(train_texts)))}
    train_shingles = [_shingles(text) for text in train_texts]
    prompts_with: dict[Shingle, list[int]] = defaultdict(list)
    for index, shingles in enumerate(train_shingles):
        for shingle in shingles:
            prompts_with[shingle].append(index)
    rare = max(RARE_ENOUGH, int(TOO_COMMON * len(train_texts)))
    frequent = max(1, TEMPLATE * len(train_texts))
    template = {shingle for shingle, indices in prompts_with.items() if len(indices) > frequent}
    train_shingles = [shingles - template for shingles in train_shingles]
    for held_out_index, text in enumerate(map(words, held_out)):
        if text in exact:
            yield Pair(held_out_index, exact[text], 1.0)
            continue
        shingles = _shingles(text) - template
        matches = [prompts_with.get(shingle, []) for shingle in shingles]
        candidates = {index for indices in matches if len(indices) <= rare for index in indices}
        similarity, index = max(
            ((_jaccard(shingles, train_shingles[index]), -index) for index in candidates), default=(0.0, 0)
        )
        if similarity >= NEAR:
            yield Pair(held_out_index, -index, similarity)


def words(text: str) -> tuple[str, ...]:
    """The words of a text: NFKC, lower case, no punctuation, each CJK character a word."""
    from grpo_env.verifiers.words import normalized

    return tuple(_WORD.findall(normalized("NFKC", text).casefold()))


def _shingles(text: tuple[str, ...]) -> frozenset[Shingle]:
    return frozenset(text[start : start + SHINGLE] for start in range(len(text) - SHINGLE + 1))


def _jaccard(a: frozenset[Shingle], b: frozenset[Shingle]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0
