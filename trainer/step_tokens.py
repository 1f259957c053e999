"""Maps reasoning steps, which verifiers give as character positions, to indices of the sampled tokens.

The text is never tokenized again: a different tokenization would assign credit to tokens that were not sampled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engine.sampler import Rollout

Decode = Callable[[Sequence[int]], str]


def token_ends(decode: Decode, ids: Sequence[int]) -> list[int]:
    """Number of characters of ``decode(ids)`` that are complete after each token: non-decreasing, finally all.

    A character whose bytes span several tokens is complete with the last of them. A token that decodes to nothing, such
    as the end token, repeats the number before it.
    """
    text = decode(ids)
    pieces = [decode([token]) for token in ids]
    ends: list[int] = []
    if "".join(pieces) == text:
        for piece in pieces:
            ends.append(len(piece) + (ends[-1] if ends else 0))
        return ends
    # Some token decodes differently on its own: part of a character, or a word whose leading space is dropped.
    end = 0
    for count in range(1, len(ids)):
        prefix = decode(ids[:count])
        while end < min(len(prefix), len(text)) and prefix[end] == text[end]:
            end += 1
        ends.append(end)
    return [*ends, len(text)]


def completion_ends(decode: Decode, rollout: Rollout) -> list[int]:
    """``token_ends`` of a rollout's ids; its end token adds no characters."""
    if rollout.finish == "stop":
        return [*token_ends(decode, rollout.ids[:-1]), len(rollout.text)]
    return token_ends(decode, rollout.ids)


def step_token(ends: Sequence[int], end: int) -> int:
    """Index of the token that gets the reward of a step ending at character ``end``: the first t, ends[t] >= end.

    A step that ends with the text, or past it, belongs to the last token. If that is the end token, which has no
    characters, it thereby gets credit: otherwise the model would not learn to stop.
    """
    return len(ends) - 1 if end >= ends[-1] else bisect_left(ends, end)
