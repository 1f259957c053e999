r"""Whether two codes are the same: identifiers, versions, addresses, phone numbers, formulas, scores such as 3-1.

A code is compared as text, whatever mathematics would make of it: characters in one spelling, without what surrounds it
and without spaces next to a sign. ``KEYS`` lists what else may differ, and for which codes. ``shapes`` tells codes
from mathematics.
"""

from __future__ import annotations

import re
from itertools import accumulate

from grpo_env.lazy_regex import lazy_compile

from .chemical import HEXADECIMAL, has_words, is_smiles
from .genetics import differ_in_alleles
from .keys import EMAIL, KEYS, URL
from .labels import labelled
from .spelling import MAX_LENGTH

_LONG_NUMBER = lazy_compile(
    r"(?![12]\d{3} ?- ?[12]\d{3}$)\+?\(?\d[\d\s()-]{5,40}[\dXx]|\(?\d{3}\)?[-.\s]\d{3}[-.\s]\d{4}"
)
_TRUNK_ZERO = lazy_compile(r"(?<=\d) ?\(0\)(?= ?\d)")  # +44 (0)20 7946 0958
_ABROAD = lazy_compile(r"\A00(?=[1-9])|\A\(\+(?=\d{1,3}\))")  # 0044 20 7946 0958
_FLAG = lazy_compile(r"[a-z]{2} ?-[A-Za-z](?!\w)")  # of a command: ls -R


def same_code(one: str, other: str, ignore_case: bool) -> bool:
    """Whether two codes, each in the spelling of ``plain``, are the same."""
    if one == other:
        return True
    if max(len(one), len(other)) > MAX_LENGTH:
        return False
    (label, code), (other_label, other_code) = labelled(one), labelled(other)
    if label and other_label and label != other_label:
        return False
    if _same_by_keys(one, other, ignore_case):
        return True
    return bool(label or other_label) and (code == other_code or _same_by_keys(code, other_code, ignore_case))


def _same_by_keys(one: str, other: str, ignore_case: bool) -> bool:
    for key in KEYS:
        first, second = key(one), key(other)
        if first is None or second is None:
            continue
        if first == second or (ignore_case and _differ_in_free_case(first, second)):
            return True
    return _same_long_number(one, other)


def _same_long_number(one: str, other: str) -> bool:
    """Phone, card and book numbers of at least seven digits: in the same groups, or in fewer."""
    one, other = (_ABROAD.sub("+", _TRUNK_ZERO.sub("", text)) for text in (one, other))
    if not (_LONG_NUMBER.fullmatch(one) and _LONG_NUMBER.fullmatch(other)):
        return False
    first, second = (re.findall(r"[\dX]+", text.upper()) for text in (one, other))
    if "".join(first) != "".join(second) or len("".join(first)) < 7:
        return False
    ends, other_ends = (set(accumulate(map(len, groups))) for groups in (first, second))
    return ends <= other_ends or other_ends <= ends


def _differ_in_free_case(one: str, other: str) -> bool:
    """Whether only the case differs, and that of neither text may be a part of the code, as it is in ``NaCl``, ``Nf3``.

    It is not in addresses, hexadecimal numbers and texts with words; in any other code only if all letters have it.
    """
    if one.casefold() != other.casefold() or "\\" in one or _FLAG.search(one) or is_smiles(one) or is_smiles(other):
        return False
    if one.endswith("()") or differ_in_alleles(one, other):  # the name of a function; AA, aa
        return False
    if all(text.isupper() or text.islower() for text in (one, other)):
        return True
    return all(EMAIL.fullmatch(text) or URL.fullmatch(text) or HEXADECIMAL.fullmatch(text) or has_words(text)
               for text in (one, other))  # fmt: skip
