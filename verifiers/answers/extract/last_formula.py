r"""A formula that ends the last sentence: "Hence the force is $F = ma$.", "We get $$x = 2t$$ where $t$ is the time."

It is part of the source ``last_line``. Nothing before it in its sentence may deny, doubt, compare or ask, and what
follows it may only say where it holds or what its letters are.
"""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .statements import UNSURE

WINDOW = 600  # characters

_FORMULA = lazy_compile(
    r"\$\$(?P<dollars>[^$]+)\$\$|\\\[(?P<brackets>.+?)\\\]|\$(?P<dollar>[^$\n]+)\$|\\\((?P<bracket>.+?)\\\)", re.DOTALL
)
_SENTENCE_END = lazy_compile(r"[.!?](?=\s)|\n\s*\n")
_BEFORE = lazy_compile(
    r"(?:\b(?:is|are|be|was|gives?|giving|gets?|yields?|yielding|obtains?|obtained|has|have|finds?|found|becomes?|equals?"
    r"|as|so|thus|hence|therefore|that|reads|it|into|to|equal|value|function|solution|answer|formula|equation|result)"
    r"|[:=])[*_]{0,2}\s{0,2}\Z",
    re.IGNORECASE,
)
_AFTER = lazy_compile(
    r"\s?[.,;!]?\s?(?:(?:where|with|using|in which|valid for|for)\b[^?]{0,200})?[.!]?\s*", re.IGNORECASE
)


def last_formula(text: str) -> str | None:
    """The formula, or ``None``."""
    tail = text.rstrip()[-WINDOW:]
    if "$" not in tail and "\\" not in tail:
        return None
    formulas = list(_FORMULA.finditer(tail))
    masked = _FORMULA.sub(lambda match: "x" * len(match[0]), tail)
    ends = [match.end() for match in _SENTENCE_END.finditer(masked)]
    start = max((end for end in ends if masked[end:].strip()), default=0)
    for formula in formulas:
        if formula.start() < start or not _AFTER.fullmatch(masked, formula.end()):
            continue
        before = masked[start : formula.start()]
        is_display = formula.lastgroup in ("dollars", "brackets")
        if UNSURE.search(before) or not (is_display or _BEFORE.search(before)):
            return None
        inside = formula[formula.lastgroup or 0].strip().rstrip(".,;").rstrip()
        return f"${inside}$" if "&" not in inside or "matrix" in inside else None
    return None
