"""What the last sentence of a text says: "So she makes $18 a day.", "That leaves B.", "So yes, it is prime."

A statement by ``sentences``, the letter of an option, yes or no, or the only number of the last clause that has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..extract.closing import (
    ClosingSentence,
    ClosingValue,
    closing_choice,
    closing_sentence,
    closing_statements,
    closing_truth,
    closing_value,
)
from ..parse import parse
from ..parsed import Formula
from ..quantities.number import OverLimitError
from ..quantities.units import measure_at_start
from ..spelling.normal import normal
from ..words.sequences import is_in_another_order
from .sentences import is_against, stated

_HARMLESS = lazy_compile(r"\b(?:per|each|every|apiece|left over|in change|also|both)\b", re.IGNORECASE)


def said_at_end(gold: str, kind: str, text: str, with_unit: bool) -> Iterator[str]:
    """What the last sentence may say in view of the gold answer; ``with_unit`` if that is more than a bare number."""
    last = closing_sentence(text)
    if last is None:
        last = ClosingSentence("", concludes=False)  # an option may be chosen by the first sentence
    for sentence in closing_statements(last):
        for said in stated(gold, kind, sentence):
            if not is_in_another_order(gold, said, text) and not (kind == "number" and _is_formula(said)):
                yield said
    if kind == "choice":
        yield from filter(None, [closing_choice(last, text)])
    if kind == "words":
        yield from filter(None, [closing_truth(last, text)])
    if kind == "number" and (value := closing_value(last)) and not _is_doubted(value):
        unit = measure_at_start(normal(value.behind))
        if not unit and with_unit:
            unit = next(iter(value.behind.split()), None)  # 12 apples for 12 pears
        yield f"{value.number} {unit}" if unit else value.number


def _is_doubted(value: ClosingValue) -> bool:
    return not value.is_calculated and is_against(_HARMLESS.sub("", value.around))


def _is_formula(text: str) -> bool:
    try:
        return isinstance(parse(text).content, Formula)
    except OverLimitError:
        return True
