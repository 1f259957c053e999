"""Ratios and scores.

``2:3`` for ``2 to 3``, ``16:9`` for ``16 by 9`` and ``aspect ratio 16:9``, ``4/5`` for ``4 out of 5``; the score
``3-1`` for ``3:1 (final score)``, unless it may be a range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grpo_env.lazy_regex import lazy_compile

from ..codes.spelling import plain
from ..quantities.units import is_measure
from ..vocabulary.unit_names import NAMES

_OF_RATIO = lazy_compile(r"(?:(?:the|an?) )?(?:aspect ratio|ratio|scale|odds)(?: of| is)? (?=\d)", re.IGNORECASE)
_RATIO = lazy_compile(r"\d+(?:\.\d+)?(?: to \d+(?:\.\d+)?){1,3}")
_SIDES = lazy_compile(r"(\d{1,4}) ?(?:by|x|\u00d7) ?(\d{1,4})\.?")
_OUT_OF = lazy_compile(r"(?<=\d) out of (?=\d)")
_WHAT = r"(?: ?\(?(?:(?P<{0}>[A-Za-z])(?i:(?P={0})|_)){{1,4}}\)?|(?: [a-z-]{{3,15}}){{1,3}})"  # AA, A_bb, red
_LABELLED = lazy_compile(
    rf"\d{{1,4}}{_WHAT.format('first')}(?: ?: ?\d{{1,4}}{_WHAT.format('other')}){{1,5}}"
)  # 1 AA : 2 Aa : 1 aa
_SCORE = lazy_compile(r"(\d{1,3}) ?[-\u2013] ?(\d{1,3})")
_SCORE_WITH_COLON = lazy_compile(r"(\d{1,3}) ?: ?(\d{1,3})(?: \((?:the )?(?:final |full-time )?(?:score|result)\))?\.?")


def as_ratio(gold: str, kind: str, answer: str) -> Iterator[str]:
    """A ratio or score in the signs of the gold answer."""
    if kind == "code":
        if ":" in answer and (score := _SCORE_WITH_COLON.fullmatch(answer)) and _is_score(gold):
            yield f"{score[1]}-{score[2]}"
        return
    if " out of " in answer and "/" in gold:
        yield _OUT_OF.sub("/", answer)
    if ":" not in gold:
        return
    if ":" in answer and (labelled := _LABELLED.fullmatch(plain(answer))) and not _has_units(labelled[0]):
        yield ":".join(re.findall(r"\d+", labelled[0]))
    ratio = _OF_RATIO.sub("", answer)
    yield from [ratio] if ratio != answer else []
    if ":" not in answer and " to" in answer and _RATIO.fullmatch(ratio := plain(answer)):
        yield ratio.replace(" to ", ":")
    if sides := _SIDES.fullmatch(answer):
        yield f"{sides[1]}:{sides[2]}"


def _has_units(text: str) -> bool:
    """Whether a word is a unit, so that the numbers of a ratio may not be left alone: ``1 cm : 3 km``."""
    return any(is_measure(NAMES.get(word, word)) for word in re.findall("[a-z]+", text) if len(word) > 2)


def _is_score(gold: str) -> bool:
    """Whether ``3-1`` is no range, which would have its smaller number first."""
    match = _SCORE.fullmatch(gold)
    return match is not None and (int(match[1]) >= int(match[2]) or match[1] == "0")
