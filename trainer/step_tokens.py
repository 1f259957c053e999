"""From characters to tokens: on which of the sampled tokens does a reasoning step end?

Verifiers speak of characters of the text, the loss of tokens. The sampled ids are never tokenised again: another
tokenisation of the same text would put the credit on tokens that were not sampled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

Decode = Callable[[Sequence[int]], str]


def token_ends(decode: Decode, ids: Sequence[int]) -> list[int]:
    """Characters of ``decode(ids)`` that are complete after each token; never decreasing, the last is all of them.

    A character whose bytes are spread over several tokens is complete with the last of them. A token that decodes
    to nothing, such as the end token, repeats its predecessor's number.
    """
    text = decode(ids)
    pieces = [decode([token]) for token in ids]
    ends: list[int] = []
    if "".join(pieces) == text:
        for piece in pieces:
            ends.append(len(piece) + (ends[-1] if ends else 0))
        return ends
    # Some token means something else on its own: part of a character, or a word whose leading space is dropped.
    end = 0
    for count in range(1, len(ids)):
        prefix = decode(ids[:count])
        while end < min(len(prefix), len(text)) and prefix[end] == text[end]:
            end += 1
        ends.append(end)
    return [*ends, len(text)]


def step_token(ends: Sequence[int], end: int) -> int:
    """The token on which a step that ends at character ``end`` is paid: the first t with ``ends[t] >= end``.

    A step that ends with the text, or past it, is paid on the last token. That is the end token where there is one:
    no character stands for it, and if the last step did not cover it, nothing would teach the model to stop.
    """
    return len(ends) - 1 if end >= ends[-1] else bisect_left(ends, end)
