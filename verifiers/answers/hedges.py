"""What makes an answer wrong whatever its value: it is not evaluated, or it denies, hedges or gives a range."""

from __future__ import annotations

import re

from grpo_env.lazy_regex import lazy_compile

from .math.parsed import Formula, Group, ParsedAnswer
from .math.verdict import Reason
from .quantities.number import Number

# Words that deny, doubt, correct or only try what a text says.
DENIES = r"not|never|neither|nor|cannot|except"
DOUBTS = r"maybe|perhaps|probabl[ey]|possibl[ey]|possibility|might|guess\w*"
LEAVES_OPEN = r"or|either|whether|unless"
WRONG = r"wrong\w*|incorrect\w*|false\w*|mistak\w*"
CORRECTS = r"wait|actually|correction|sorry|however|instead|rather"
BETWEEN = r"between(?! the\b| (?-i:[A-Z][a-z]))"  # "between 2 and 3", not "between the two people"
# "about 18", but not "a book about art"; and a decimal number is no less stated for being rounded: "about 2.4 hours"
NEARLY = r"(?:roughly|(?:about|around)(?=[^\d\\]{0,12}[\d\\])|approximately|nearly|almost)(?!\D{0,12}\d[\d,]*\.\d)"
UNSURE = lazy_compile(
    rf"\b(?:{DENIES}|{DOUBTS}|{LEAVES_OPEN}|if|{WRONG}|no|none|without|when|where|because|than|but|about|could"
    r"|(?<!\d )may(?! \d))\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
"""What makes a sentence no plain statement."""

_OPERATION = lazy_compile(
    r"\\(?:sum|i?int|oint|prod|lim|gcd|lcm|max|min|det|[bp]?mod|lfloor|lceil)(?![a-z])"
    r"|(?<![A-Za-z\\])(?:gcd|lcm|sum|max|min|mod|floor|ceil)(?![a-z])"
)
_OPERAND = r"\s*[-+]?\s*(?:[\d.($]|\\[dt]?frac|\\left|\\binom)"
_SUM = lazy_compile(rf"[\d)}}!%]\s*[-+]{_OPERAND}")
# Products and quotients of these are worked out: \binom{4}{2}/16 for 3/8.
_CLOSED_FORM = lazy_compile(r"\\binom\s*\{\d+\}\s*\{\d+\}|\d+\s*!|\\sqrt\s*(?:\[\d+\])?\{\d+\}")
# Where the gold answer is such a product or power, so are powers: 2 \cdot 2^{9} for 2^{10}, not for 1024.
_POWER_FORM = lazy_compile(rf"{_CLOSED_FORM.pattern}|\d+\s*\^\s*(?:\{{-?\d+\}}|\d)")
_SIGNED_FRACTION = lazy_compile(r"[-+]\s*(?:\\left)?\(\s*\d+\s*/\s*\d+\s*(?:\\right)?\)")  # -(1/2) is -1/2
_CALCULATION = lazy_compile(
    rf"[\d)}}!%]\s*(?:[-+*/]|\\times|\\cdot|\\div){_OPERAND}"
    r"|[\d)}!%]\s*\(\s*[-+]?[\d.(]|[)!%]\s*\d"  # products without a sign: 2(9), 24 % 50
)
_PLAIN_CALCULATION = lazy_compile(r"(?:[-\d\s.,+*/(){}]|\\frac|\\times|\\cdot|\\div)*")
_VARIABLE = lazy_compile(  # a letter of no command, unless it is one of a function or a constant
    r"(?<![A-Za-z\\])(?!(?:a?(?:sin|cos|tan|cot|sec|csc)h?|arc(?:sin|cos|tan)|log|ln|lg|exp|sqrt|det|floor|ceil|max|min"
    r"|pi|inf|infty|nCr|nPr|[eiCP])(?![A-Za-z]))[A-Za-z]"
)
_HEDGE = lazy_compile(
    rf"(?<![A-Za-z\\])(?:or|either|{DOUBTS}|{NEARLY})(?![A-Za-z])"
    r"|\\(?:approx|sim|simeq)(?![a-z])|\?"
)
_RANGE = lazy_compile(
    rf"[<>]|\\(?:le|ge)(?![a-z])|(?<![A-Za-z])(?:{BETWEEN}|from|at least|at most|more than|less than)\b(?! [a-z]{{3,}})"
)
_RELATIVE = lazy_compile(r"\d\W{0,3}(?:more|less|fewer)\s+than\b", re.IGNORECASE)
_OPEN = lazy_compile(
    r"\band (?:more|less|fewer|up|upwards?|above|over|beyond|below|under|counting)\W*\Z", re.IGNORECASE
)
_DENIAL = lazy_compile(r"\\(?:ne|not|lnot)(?![a-z])|(?<![A-Za-z])(?:not|never)\b")
_HEDGING: tuple[tuple[re.Pattern[str], Reason], ...] = (
    (_DENIAL, "the text denies it"),
    (_HEDGE, "several answers, or a doubt"),
    (_RANGE, "a range"),
)


def unevaluated(gold: ParsedAnswer, answer: ParsedAnswer) -> bool:
    """Whether the answer is a calculation where the gold answer is not: ``2+2`` for 4, or an integral for its value.

    So is a formula with letters for a number: ``x - x`` and ``60 EUR 0`` for 0.
    """
    results = _results(answer)
    if not results:
        return False
    gold_is_number = isinstance(gold.content, Number) and not gold.content.unit and not gold.variable
    if gold_is_number and any(_VARIABLE.search(formula.text) for formula in results):
        return True
    golds = list(gold.formulas())
    closed_form = _POWER_FORM if _POWER_FORM.search(gold.text) else _CLOSED_FORM
    gold_is_calculation = any(_PLAIN_CALCULATION.fullmatch(formula.text) for formula in golds)
    gold_has_operation = any(_OPERATION.search(formula.text) for formula in golds)
    for formula in results:
        if _OPERATION.search(formula.text) and not gold_has_operation:
            return True
        products = closed_form.sub("C", formula.text)
        if _SIGNED_FRACTION.fullmatch(formula.text):
            continue
        is_calculation = (_SUM.search(formula.text) or _CALCULATION.search(products)) and not gold_is_calculation
        if is_calculation and (not golds or _PLAIN_CALCULATION.fullmatch(formula.text)):
            return True
    return False


def hedging(gold: str, answer: str) -> Reason | None:
    """Why the wording makes an answer wrong: it denies, hedges or gives a range, and the gold answer does not."""
    for pattern, reason in _HEDGING:
        if pattern.search(answer) and not pattern.search(gold):
            return reason
    return None


def is_relative(gold: str, answer: str) -> bool:
    """Whether an answer compares with something else, and the gold answer does not: ``18 more than eggs``, 18 and more.

    Also whether one of them is in the past and the other one in the future: ``3 days ago``, ``in 3 days``.
    """
    if "ago" in gold + answer and (answer if gold.endswith("ago") else gold).lower().startswith("in "):
        return True
    if " and " in answer and _OPEN.search(answer) and not _OPEN.search(gold):
        return True
    return "than" in answer and _RELATIVE.search(answer) is not None and "than" not in gold


def _results(answer: ParsedAnswer) -> list[Formula]:
    """The formulas in an answer; of a chain ``2+3 = 5`` none if one of its sides is evaluated."""
    if isinstance(answer.content, Group) and answer.content.kind == "chain":
        sides = [_results(item) for item in answer.content.items]
        return sides[-1] if all(sides) else []
    if isinstance(answer.content, Group):
        return [formula for item in answer.content.items for formula in _results(item)]
    return list(answer.formulas())
