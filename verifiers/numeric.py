"""Is the answer the correct number, within a tolerance?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import check_rel_tol, check_sources, shown
from .answers.extract import final_answer
from .answers.extract.result import SOURCES, ExtractedAnswer, Source
from .answers.hedges import hedging
from .answers.math.exact import approximate
from .answers.math.normal import normal
from .answers.math.parse import parse
from .answers.math.parsed import Group, ParsedAnswer
from .answers.quantities.number import Number, OverLimitError, read_number
from .answers.quantities.units import PERCENT, factor_at_start, measure_at_start, same_unit
from .answers.rules import inner_text, may_state, only_quantity

MAX_LENGTH = 1000  # characters of an answer
SEVERAL = "several different answers"

_NO_NUMBER = "not a number"
# How exact a number has to be is what the tolerances say: "about 5 kg" is 5 kg.
_ABOUT = lazy_compile(
    r"(?:(?<!\\)\b(?:about|approximately|approx\.?|around|roughly|circa|ca\.)\s+|\A[\s$]*(?:\\(?:approx|sim)(?![a-z])|[~≈=])\s*)"
    r"(?=[$\s]*[-+\d.\\])",
    re.IGNORECASE,
)
_DIGITS = lazy_compile(r"\d+(?:\.(\d+))?")
_APPROXIMATELY = lazy_compile(r"\\(?:approx|simeq|sim)(?![a-z])")


@verifier("numeric")
@dataclass(frozen=True)
class Numeric(Verifier):
    r"""1 if the answer is a number that is close enough to the gold answer, else 0.

    Close enough is a difference of at most ``rel_tol`` times the gold answer, or at most ``abs_tol``; without them the
    values must be equal. Numbers are exact decimals and fractions: ``1,000``, ``6.02\times10^{23}``, ``1e-9``,
    ``\frac12``, ``2 1/2``; ``50%`` is 50 and 0.5. Closed forms (``\sqrt2``, see ``accuracy``), ranges, bounds and
    lists are no numbers. A gold answer that is no number is ``bad_gold``. The answer may be an equation (``m = 5 kg``,
    ``x = 2 + 3 = 5``, whose sides have to agree) or a sentence with one number ("about 5 kg").

    A unit may be left out and must not contradict the gold answer's; units are not converted.

    Source: the tolerances of SciBench and TheoremQA, there on the first number of the text.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float = 0.0
    """The largest difference as a fraction of the gold answer, below 1: 0.01 is one percent."""
    abs_tol: float = 0.0
    """The largest difference, in the gold answer's unit."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides, unless an answer behind it contradicts it."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>9.8 m/s^2</answer>", 1.0, "within one percent", answer="9.81", options={"rel_tol": 0.01}),
        Case("So the mass is about 5 kg.", 1.0, "a sentence", answer="5 kg"),
        Case("<answer>m = 5 kg, n = 6 kg</answer>", 0.0, "two numbers", answer="5 kg"),
        Case("<answer>0.12 m</answer>", 0.0, "a different unit, which is not converted", answer="12 cm"),
        Case("<answer>9.5</answer>", 0.0, "too far away", answer="9.81", options={"rel_tol": 0.01}),
        Case("<answer>9 to 10</answer>", 0.0, "a range", answer="9.81", options={"rel_tol": 0.1}),
        Case("<answer>12</answer>", None, "the gold answer is no number", answer="a few"),
    )

    def __post_init__(self) -> None:
        check_sources("numeric", self.sources)
        check_rel_tol("numeric", self.rel_tol)
        if not 0 <= self.abs_tol < float("inf"):
            raise UsageError(f"numeric: abs_tol: {self.abs_tol:g} is not 0 or more")

    def __call__(self, example: Example, completion: Completion) -> Score:
        gold, problem = _read_gold(example.answer)
        if gold is None:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = final_answer(self.format, completion, self.sources, kind="number")
        score = Score(0.0, answer=shown(final.answers), gold=example.answer)
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied:
            return replace(score, explanation=final.told("the text denies it"))
        try:
            faults, rules = zip(*(self._fault(gold, answer, final) for answer in final.answers), strict=True)
        except OverLimitError as error:
            return replace(score, status="over_limit", explanation=f"{final.source}: {error}")
        if fault := next(filter(None, faults), None):
            return replace(score, explanation=final.told(fault if len(faults) == 1 else SEVERAL))
        return replace(score, value=1.0, explanation=f"{final.source}: close enough", rule=rules[-1])

    def problem(self, example: Example) -> str | None:
        gold, problem = _read_gold(example.answer)
        return None if gold else problem

    def _fault(self, gold: str, answer: str, final: ExtractedAnswer) -> tuple[str | None, str]:
        """Why an answer is wrong, or ``None`` and the reading that makes it correct. Raises ``OverLimitError``."""
        if len(answer) > MAX_LENGTH:
            raise OverLimitError(f"an answer of more than {MAX_LENGTH:,} characters")
        text = _with_unit_behind(normal(answer), final)
        fault = self._fault_of(gold, text)
        if fault != _NO_NUMBER:
            return fault, "number"
        for rule, reading in _other_readings(gold, answer, final):
            of_reading = self._fault_of(gold, reading)
            if of_reading is None:
                return None, rule
            fault = fault if of_reading == _NO_NUMBER else of_reading
        return fault, ""

    def _fault_of(self, gold: str, text: str) -> str | None:
        """Why a text in normal spelling is wrong as it stands."""
        number, target = read_number(text), read_number(gold)
        assert target is not None
        if number is None:
            return _NO_NUMBER
        values = _values(number, target)
        if not values:
            return "a different unit"
        return None if any(self._is_close(value, target.value) for value in values) else "not close enough"

    def _is_close(self, value: Fraction, gold: Fraction) -> bool:
        """Tolerances are the decimals that were written: 0.1 is one tenth."""
        difference = abs(value - gold)
        return difference <= Fraction(str(self.abs_tol)) or difference <= Fraction(str(self.rel_tol)) * abs(gold)


def _with_unit_behind(text: str, final: ExtractedAnswer) -> str:
    """A text with the unit that stands behind its box, if it is a number without one: ``\\boxed{5}`` kg."""
    if not final.unit or len(final.answers) != 1:
        return text
    number = read_number(text)
    if number is None or number.unit:
        return text
    unit = factor_at_start(final.unit) or measure_at_start(normal(final.unit))
    return normal(f"{text} {unit}") if unit else text


def _other_readings(gold: str, answer: str, final: ExtractedAnswer) -> Iterator[tuple[str, str]]:
    """What an answer that is no number may say: ``m = 5 kg``, "The mass is 5 kg."."""
    answer = _ABOUT.sub("", inner_text(answer) or answer)
    text = normal(answer)
    if hedging(gold, _APPROXIMATELY.sub("", text)):
        return
    for value in _with_value(text):
        yield "stated value", value
    quantity = only_quantity(answer) if may_state(answer, final.source) and read_number(text) is None else None
    if quantity and _has_unit(quantity) >= _has_unit(gold):
        yield "one number", quantity


def _has_unit(text: str) -> bool:
    number = read_number(text)
    return number is None or bool(number.unit)


def _with_value(text: str) -> Iterator[str]:
    """A text and, of an equation, the value that it states: 5 of ``x = 5``, ``x \\approx 5`` and ``x = 2 + 3 = 5``."""
    yield text
    for spelling in dict.fromkeys((text, _APPROXIMATELY.sub("=", text))):
        answer = parse(spelling)
        if isinstance(answer.content, Number):
            yield answer.right_side or answer.text
        elif isinstance(answer.content, Group) and answer.content.kind == "chain" and _agree(answer):
            yield answer.content.items[-1].text


def _agree(equation: ParsedAnswer) -> bool:
    """Whether the last side of an equation is a number that the others are equal to, exact or rounded.

    Of ``x = \\ln 2 = 0.693`` a side that is not worked out here is taken as equal.
    """
    assert isinstance(equation.content, Group)
    sides = equation.content.items
    last = sides[-1].content
    digits = _DIGITS.search(sides[-1].text.replace(",", ""))
    if not isinstance(last, Number) or digits is None:
        return False
    mantissa = Fraction(digits[0])
    one_more = Fraction(1, 10 ** len(digits[1] or "")) * abs(last.value / mantissa if mantissa else Fraction(1))
    values = [approximate(side.content) for side in sides[:-1]]
    if None in values and not equation.variable:
        return False
    return all(value is None or value == last.value or abs(value - last.value) < one_more for value in values)


def _values(number: Number, gold: Number) -> list[Fraction]:
    """The values that a number may have in the unit of the gold answer; none if its unit contradicts it."""
    if number.unit != gold.unit and (PERCENT,) in (number.unit, gold.unit) and not (number.unit and gold.unit):
        return [number.value, number.value / 100 if number.unit else number.value * 100]
    return [number.value] if same_unit(number.unit, gold.unit) else []


@lru_cache(maxsize=4096)
def _read_gold(text: str | None) -> tuple[str | None, str]:
    """The gold answer in normal spelling, or ``None`` and what is wrong with it."""
    if text is None or not text.strip():
        return None, "the gold answer is missing"
    if "####" in text:
        text = text.rpartition("####")[2]
    gold = normal(text) if len(text) <= MAX_LENGTH else ""
    try:
        number = read_number(gold)
    except OverLimitError as error:
        return None, f"the gold answer {text[:60]!r}: {error}"
    if number is None:
        return None, f"the gold answer {text[:60]!r} is not a number"
    return gold, ""
