"""Other readings of an answer that is not right as it stands: without a label, a gloss or a sentence around it.

Each is only a further text to compare, so it is right only if what remains equals the gold answer. The rules, by what
they reword:

    markup         bold, italics, code ticks, links, ``\\text{...}``
    lists          one item on each line, numbered, in an arrangement with arrows, semicolons or brackets
    labels         ``Gate: B12``, ``30 (the VLAN ID)``, ``\\text{Minimum: } 15``
    leads          "The ZIP code is 90210.", "It was Captain Reyes.", "Not B, but C."
    glosses        ``Usain Bolt (Jamaica)``, ``Apple Inc. (AAPL)``, ``Portland (Oregon)``
    choices        ``(B) 18``, ``size M``, ``ACD`` for A, C and D
    mathematics    what was asked for, where a formula holds, the name of a constant or of a point
    number_forms   ``a decrease of 3.2%``, ``No. 7``, ``1:23:45``; Roman numerals
    ratios         ``2 to 3``, ``16 by 9``, ``4 out of 5``, ``3:1`` as the score 3-1
    times          ``1405``, ``11.30 pm``, ``every Tuesday``
    codes          files, addresses, versions, keys
    words          reasons, yes and no, the left one, abbreviations

A reading that is right makes the answer right, whatever the others are: their order has no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator

from .choices import chosen, text_of_choice
from .codes import other_codes
from .glosses import shorter_gold, unglossed, without_gloss
from .labels import unlabelled, value_of_label
from .leads import without_lead
from .lists import quoted_items, relisted
from .markup import in_text, unmarked
from .mathematics import MATHEMATICS, other_formulas, value_in_gold
from .number_forms import in_bits, is_below_zero, may_have_other_form, other_numbers, same_numeral
from .ratios import as_ratio
from .times import other_times
from .words import abbreviated, other_words

__all__ = [
    "in_text",
    "is_below_zero",
    "may_have_other_form",
    "part_of_gold",
    "rewordings",
    "same_numeral",
    "shorter_gold",
    "without_gloss",
]

MAX_LENGTH = 200


def rewordings(gold: str, kind: str, answer: str) -> Iterator[str]:
    """Further readings of an answer in view of the gold answer, both as they were written."""
    answer = answer.strip()
    if len(answer) > MAX_LENGTH:
        return
    yield from unmarked(gold, kind, answer)
    yield from relisted(gold, kind, answer)
    if kind in MATHEMATICS:
        yield from other_formulas(gold, kind, answer)
    yield from chosen(gold, kind, answer)
    if kind == "number":
        yield from other_numbers(gold, answer)
    if kind in ("number", "code", "tuple"):
        yield from as_ratio(gold, kind, answer)
        yield from in_bits(gold, answer)
    if kind in ("words", "code"):
        yield from other_codes(gold, kind, answer)
    yield from other_times(gold, kind, answer)
    yield from unlabelled(gold, kind, answer)
    yield from without_lead(gold, kind, answer)
    if "(" in answer:
        yield from unglossed(gold, kind, answer)
    if kind in ("words", "code"):
        yield from abbreviated(gold, answer)
    if kind == "words":
        yield from other_words(gold, answer)


def part_of_gold(gold: str, kind: str, answer: str) -> str | None:
    """The part of a gold answer that an answer without its other parts may name: ``15`` of ``(C) 15``."""
    if kind == "choice":
        return text_of_choice(gold, answer)
    if kind in MATHEMATICS:
        return value_in_gold(gold, answer)
    return quoted_items(gold, answer) or value_of_label(gold, answer) if kind in ("words", "code") else None
