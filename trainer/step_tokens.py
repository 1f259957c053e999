"""Maps reasoning steps, which verifiers give as character positions, to indices of the sampled tokens.

The text is never tokenized again: a different tokenization would assign credit to tokens that were not sampled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from grpo_env.core import Finish, StepScore
from grpo_env.environments.turn_steps import turns_of_steps

if TYPE_CHECKING:
    from .engine.sampling.sampler import Rollout

Decode = Callable[[Sequence[int]], str]

# Four bytes in UTF-8. After more tokens without a new character, they are decoded with everything before them.
MAX_TOKENS_PER_CHARACTER = 8


def token_ends(decode: Decode, ids: Sequence[int], text: str) -> list[int]:
    """Number of characters of ``text``, which is ``decode(ids)``, that are complete after each token: non-decreasing,
    finally all.

    A character whose bytes span several tokens is complete with the last of them. A token that decodes to nothing, such
    as the end token, repeats the number before it.
    """
    pieces = [decode([token]) for token in ids]
    if "".join(pieces) == text:
        return list(accumulate(map(len, pieces)))
    # Some token decodes differently on its own: part of a character, or a word whose leading space is dropped. So it is
    # decoded after ``context``: the tokens before it, back to the last but one that completed a character.
    ends: list[int] = []
    context, known, complete, end = 0, "", 0, 0
    for count in range(1, len(ids)):
        if count - complete > MAX_TOKENS_PER_CHARACTER:
            context, known, complete, end = 0, "", 0, 0
        added = decode(ids[context:count])[len(known) :]
        matching = _common_length(added, text[end : end + len(added)])
        ends.append(max([end + matching, *ends[-1:]]))
        if added and matching == len(added):
            context, complete, end = complete, count, end + matching
            known = decode(ids[context:complete])
    return [*ends, len(text)]


def _common_length(first: str, second: str) -> int:
    """Length of the longest common prefix."""
    length = min(len(first), len(second))
    return next((index for index in range(length) if first[index] != second[index]), length)


def step_tokens(decode: Decode, rollout: Rollout, steps: Sequence[StepScore]) -> list[int]:
    """For each step, the index of the token of a rollout that gets its reward; see ``step_token``.

    A step that ends with its turn belongs to the last sampled token of that turn. One of several turns, such as the
    whole text, belongs to the turn in which it ends.
    """
    turns = turn_ends(decode, rollout)
    numbers = [0] * len(steps) if len(turns) == 1 else turns_of_steps(rollout.completion().turns, steps)
    of_steps = zip(steps, (turns[number] for number in numbers), strict=True)
    return [first + step_token(ends, step.end - start) for step, (first, start, ends) in of_steps]


def sampled_ends(decode: Decode, rollout: Rollout) -> list[int]:
    """Number of characters of a completion's text that are complete after each of its sampled tokens.

    The text of token t is ``text[ends[t - 1] : ends[t]]``, from 0 for the first one. In an episode, the text is that of
    all turns.
    """
    return [start + end for _, start, ends in turn_ends(decode, rollout) for end in ends]


def turn_ends(decode: Decode, rollout: Rollout) -> list[tuple[int, int, list[int]]]:
    """The first token of each turn, its first character, and ``token_ends`` of its tokens; a text is one turn."""
    if rollout.seen is None or rollout.spans is None:
        return [(0, 0, completion_ends(decode, rollout))]
    turns = zip(rollout.spans, rollout.seen.turns, strict=True)
    return [(a, turn.start, _ends(decode, rollout.ids[a:b], turn.text, turn.finish)) for (a, b), turn in turns]


def completion_ends(decode: Decode, rollout: Rollout) -> list[int]:
    """``token_ends`` of the ids of one text; its end token adds no characters."""
    return _ends(decode, rollout.ids, rollout.text, rollout.finish)


def _ends(decode: Decode, ids: Sequence[int], text: str, finish: Finish) -> list[int]:
    if finish == "stop":
        return [*token_ends(decode, ids[:-1], text), len(text)]
    return token_ends(decode, ids, text)


def step_token(ends: Sequence[int], end: int) -> int:
    """Index of the token that gets the reward of a step ending at character ``end``: the first t, ends[t] >= end.

    A step that ends with the text, or past it, belongs to the last token. If that is the end token, which has no
    characters, it thereby gets credit: otherwise the model would not learn to stop.
    """
    return len(ends) - 1 if end >= ends[-1] else bisect_left(ends, end)
