"""What an answer does wrong by itself, whatever it is worth: it is not worked out, denies, hedges, gives a range."""

from __future__ import annotations

import re

from .compare import Reason
from .parsed import Formula, Group, Reading

_OPERATION = re.compile(
    r"\\(?:sum|i?int|oint|prod|lim|gcd|lcm|max|min|det|[bp]?mod|lfloor|lceil)(?![a-z])"
    r"|(?<![A-Za-z\\])(?:gcd|lcm|sum|max|min|mod|floor|ceil)(?![a-z])"
)
_CALCULATION = re.compile(
    r"[\d)}!%]\s*(?:[-+*/]|\\times|\\cdot|\\div)\s*[-+]?\s*(?:[\d.($]|\\[dt]?frac|\\left)"
    r"|[\d)}!%]\s*\(\s*[-+]?[\d.(]|[)!%]\s*\d"  # products without a sign: 2(9), 24 % 50
)
_PLAIN_CALCULATION = re.compile(r"(?:[-\d\s.,+*/(){}]|\\frac|\\times|\\cdot|\\div)*")
_HEDGE = re.compile(
    r"(?<![A-Za-z\\])(?:or|either|maybe|perhaps|possibly|probably|roughly|about|around|approximately|nearly|almost)"
    r"(?![A-Za-z])|\\(?:approx|sim|simeq)(?![a-z])|\?"
)
_RANGE = re.compile(r"[<>]|\\(?:le|ge)(?![a-z])|(?<![A-Za-z])(?:between|from|at least|at most|more than|less than)\b")
_DENIAL = re.compile(r"\\(?:ne|not|lnot)(?![a-z])|(?<![A-Za-z])(?:not|never)\b")
_UNSURE: tuple[tuple[re.Pattern[str], Reason], ...] = ((_DENIAL, "denied"), (_HEDGE, "a hedge"), (_RANGE, "a range"))


def unevaluated(gold: Reading, answer: Reading) -> bool:
    """Whether the answer still has to be worked out where the gold is: ``2+2`` for 4, or an integral for its value."""
    golds = list(gold.formulas())
    plain = any(_PLAIN_CALCULATION.fullmatch(formula.text) for formula in golds)
    for formula in _results(answer):
        if _OPERATION.search(formula.text) and not any(_OPERATION.search(other.text) for other in golds):
            return True
        if (
            _CALCULATION.search(formula.text)
            and not plain
            and (not golds or _PLAIN_CALCULATION.fullmatch(formula.text))
        ):
            return True
    return False


def unsure(gold: str, answer: str) -> Reason | None:
    """Why an answer's own words are no answer where the gold has no such words: it denies, hedges or gives a range."""
    found: Reason
    for pattern, found in _UNSURE:
        if pattern.search(answer) and not pattern.search(gold):
            return found
    return None


def _results(answer: Reading) -> list[Formula]:
    """The formulas in an answer; of a chain ``2+3 = 5`` none if a side of it is worked out."""
    if isinstance(answer.shape, Group) and answer.shape.kind == "chain":
        sides = [_results(item) for item in answer.shape.items]
        return sides[-1] if all(sides) else []
    if isinstance(answer.shape, Group):
        return [formula for item in answer.shape.items for formula in _results(item)]
    return list(answer.formulas())
