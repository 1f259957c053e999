"""Is the answer the correct number, within a tolerance, in any unit of the same kind?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal, get_args

from grpo_env.core import Case, Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError
from grpo_env.lazy_regex import lazy_compile
from grpo_env.registry import verifier

from .answer_text import check_choice, check_sources, shown
from .answers.extract import SOURCES, ExtractedAnswer, Source, final_answer
from .answers.formulas.exact import approximate
from .answers.hedging import hedging
from .answers.languages.translated import may_be_translated, unit_in_english
from .answers.parse import parse
from .answers.parsed import Group, ParsedAnswer
from .answers.quantities.number import Number, OverLimitError, read_number
from .answers.quantities.physical_units import Quantity, converted, read_quantity
from .answers.quantities.units import factor_at_start, measure_at_start, same_unit
from .answers.rewordings import in_text, rewordings
from .answers.rewordings.in_english import readings
from .answers.rewordings.sentences import stated
from .answers.spelling.normal import normal
from .answers.vocabulary.number_words import in_digits
from .extras import optional_package

Units = Literal["optional", "convert", "required"]

MAX_LENGTH = 1000  # characters of an answer

_PERCENT = (("%", 1),)
_DEGREES = {(("C", 1), ("°", 1)): "°C", (("F", 1), ("°", 1)): "°F"}
_NO_NUMBER = ("not a number", "not a number with a known unit")
# How exact a number has to be is what the tolerances say: "about 5 kg" is 5 kg.
_ABOUT = lazy_compile(
    r"(?:(?<!\\)\b(?:about|approximately|approx\.?|around|roughly|circa|ca\.)\s+|\A[\s$]*(?:\\(?:approx|sim)(?![a-z])|[~≈=])\s*)"
    r"(?=[$\s]*[-+\d.\\])",
    re.IGNORECASE,
)
_DIGITS = lazy_compile(r"\d+(?:\.(\d+))?")
_APPROXIMATELY = lazy_compile(r"\\(?:approx|simeq|sim)(?![a-z])")
_UNIT_FRACTION = lazy_compile(r"\\frac\{([^{}\d][^{}]*)\}\{([^{}]+)\}")  # \frac{m}{s^2}


@verifier("numeric")
@dataclass(frozen=True)
class Numeric(Verifier):
    r"""1 if the answer is a number that is close enough to the gold answer, else 0.

    Close enough is a difference of at most ``rel_tol`` times the gold answer, or at most ``abs_tol``; without them the
    values must be equal. Numbers are exact decimals and fractions: ``1,000``, ``6.02\times10^{23}``, ``1e-9``,
    ``\frac12``, ``2 1/2``; ``50%`` is 50 and 0.5. Closed forms such as ``\sqrt2`` are no numbers here (see
    ``accuracy``), nor are ranges, bounds and lists. A gold answer that is no number is ``bad_gold``.

    An answer may also state its number, by the rules of ``accuracy``: ``m = 5 kg``, ``x = 2 + 3 = 5``, "The mass is
    5 kg.". "About 5 kg" and ``x \approx 5`` are 5, since the tolerances say how exact the number has to be. The sides
    of an equation have to agree, up to the rounding of the last one.

    A unit may be left out and must not contradict the gold answer's, nor must one behind a box or bold number
    (``\boxed{5}`` g). 1 h 30 min is also 90 min and 1.5 h. With ``units: convert`` it may be any unit of the
    same dimension, which pint converts exactly: 0.12 m is 12 cm, 25 °C is 298.15 K. ``required``: it must be written.
    Units that pint does not know ("12 apples") are then compared as words. Needs the extra ``units``: ``pip install
    'grpo_env[units]'``.

    Source: the tolerances of SciBench and TheoremQA. There: ``math.isclose`` on the first number of the text.
    """

    format: Format = field(default_factory=Format)
    rel_tol: float = 0.0
    """The largest difference as a fraction of the gold answer, 0 to 1: 0.01 is one percent."""
    abs_tol: float = 0.0
    """The largest difference, in the gold answer's unit."""
    units: Units = "optional"
    """``optional``, and never converted; ``convert``: optional and converted; ``required``: written and converted."""
    sources: tuple[Source, ...] = SOURCES
    """Where a final answer is looked for; the first one present decides. ``[boxed]`` reads boxes and nothing else."""

    cases: ClassVar[tuple[Case, ...]] = (
        Case("<answer>9.8 m/s^2</answer>", 1.0, "within one percent", answer="9.81", options={"rel_tol": 0.01}),
        Case("The answer is 0.12 m.", 1.0, "converted", answer="12 cm", options={"units": "convert"}),
        Case("\\boxed{298.15\\text{ K}}", 1.0, "converted", answer="25 °C", options={"units": "convert"}),
        Case("The mass is about 5 kg.", 1.0, "a sentence", answer="5 kg", options={"units": "required"}),
        Case("<answer>1 h 30 min</answer>", 1.0, "two units", answer="90 min", options={"units": "convert"}),
        Case("<answer>m = 5 kg, n = 6 kg</answer>", 0.0, "two numbers", answer="5 kg"),
        Case("<answer>0.12 m</answer>", 0.0, "a different unit, which is not converted", answer="12 cm"),
        Case("<answer>12 kg</answer>", 0.0, "another dimension", answer="12 cm", options={"units": "convert"}),
        Case("<answer>12</answer>", 0.0, "without its unit", answer="12 cm", options={"units": "required"}),
        Case("<answer>9.5</answer>", 0.0, "too far away", answer="9.81", options={"rel_tol": 0.01}),
        Case("<answer>9 to 10</answer>", 0.0, "a range", answer="9.81", options={"rel_tol": 0.1}),
        Case("<answer>12</answer>", None, "the gold answer is no number", answer="a few"),
    )

    def __post_init__(self) -> None:
        check_sources("numeric", self.sources)
        check_choice("numeric", "units", self.units, get_args(Units))
        if not 0 <= self.rel_tol < 1:
            raise UsageError(f"numeric: rel_tol: {self.rel_tol:g} is not between 0 and 1")
        if not 0 <= self.abs_tol < float("inf"):
            raise UsageError(f"numeric: abs_tol: {self.abs_tol:g} is not 0 or more")
        if self.units != "optional":
            optional_package("pint", "units", f"numeric with units: {self.units}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        gold, problem = _read_gold(example.answer, self.units)
        if gold is None:
            return Score(None, "bad_gold", gold=example.answer, explanation=problem)
        final = final_answer(self.format, completion, self.sources)
        score = Score(0.0, answer=shown(final.answers), gold=example.answer)
        if not final.answers:
            return replace(score, status="no_answer", explanation=final.reason)
        if final.denied:
            return replace(score, explanation=f"{final.source}: denied")
        try:
            reasons = [self._fault(gold, answer, final) for answer in final.answers]
        except OverLimitError as error:
            return replace(score, status="over_limit", explanation=f"{final.source}: {error}")
        fault = next(filter(None, reasons), None)
        if fault and len(reasons) > 1:
            fault = "several different answers"
        return replace(score, value=float(fault is None), explanation=f"{final.source}: {fault or 'close enough'}")

    def problem(self, example: Example) -> str | None:
        gold, problem = _read_gold(example.answer, self.units)
        return None if gold else problem

    def _fault(self, gold: str, answer: str, final: ExtractedAnswer) -> str | None:
        """Why an answer is wrong, or ``None`` if it is correct. Raises ``OverLimitError``."""
        if len(answer) > MAX_LENGTH:
            raise OverLimitError(f"an answer of more than {MAX_LENGTH:,} characters")
        text = _with_unit_behind(normal(answer), final)
        fault = self._fault_of(gold, text)
        if fault not in _NO_NUMBER:
            return fault
        for reading in _other_readings(gold, answer, final):
            of_reading = self._fault_of(gold, reading)
            if of_reading is None:
                return None
            fault = fault if of_reading in _NO_NUMBER else of_reading
        return fault

    def _fault_of(self, gold: str, text: str) -> str | None:
        """Why a text in normal spelling is wrong as it stands."""
        if self.units != "optional":
            expected = _quantity(gold)
            if expected and expected.unit is not None:
                return self._quantity_fault(expected.value, expected.unit, text)
        number, target = read_number(text), read_number(gold)
        assert target is not None
        if number is None:
            return "not a number"
        if self.units == "required" and not number.unit:
            return "without its unit"
        values = _values(number, target)
        if not values:
            return "a different unit"
        return None if any(self._is_close(value, target.value) for value in values) else "not close enough"

    def _quantity_fault(self, expected: Fraction, unit: object, text: str) -> str | None:
        quantity = _quantity(text)
        if quantity is None:
            return "not a number with a known unit"
        if quantity.unit is None and self.units == "required":
            return "without its unit"
        value = quantity.value if quantity.unit is None else converted(quantity, unit)
        if value is None:
            return "a unit of another dimension"
        return None if self._is_close(value, expected) else "not close enough"

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
    unit = factor_at_start(final.unit) or unit_in_english(final.unit) or measure_at_start(normal(final.unit))
    return normal(f"{text} {unit}") if unit else text


def _other_readings(gold: str, answer: str, final: ExtractedAnswer) -> Iterator[str]:
    """What an answer that is no number may say, as ``accuracy`` reads it: ``m = 5 kg``, "The mass is 5 kg."."""
    answer = _ABOUT.sub("", answer)
    text = normal(answer)
    if hedging(gold, _APPROXIMATELY.sub("", text)):
        return
    said = [answer]
    is_marked = final.source not in ("last_line", "last_number") or final.is_all
    if is_marked and " " in answer:
        said += stated(gold, "number", in_text(answer) or answer)
    for part in said:
        for other in (part, *rewordings(gold, "number", part)):
            yield from _with_value(normal(other))
    if len(final.answers) == 1 and may_be_translated(answer, final.text):
        final = final._replace(answers=(answer,))
        yield from map(normal, readings(final, in_english=True, with_end=is_marked, with_unit=True, without_dates=True))


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


def _quantity(text: str) -> Quantity | None:
    """The quantity that a text is, also in two units (1 h 30 min) and with words for numbers or degrees."""
    if "\\frac" in text:
        text = _UNIT_FRACTION.sub(r"\1/(\2)", text)
    if text[:1].isalpha():
        text = in_digits(text) or text
    number = read_number(text)
    if number and number.also:
        text = f"{number.value} {number.unit[0][0]}"
    elif number and number.unit in _DEGREES:
        text = f"{number.value} {_DEGREES[number.unit]}"
    return read_quantity(text)


def _values(number: Number, gold: Number) -> list[Fraction]:
    """The values that a number may have in the unit of the gold answer; none if its unit contradicts it."""
    if number.unit != gold.unit and _PERCENT in (number.unit, gold.unit) and not (number.unit and gold.unit):
        return [number.value, number.value / 100 if number.unit else number.value * 100]
    for form in (number, *number.also):
        for other in (gold, *gold.also):  # 1 h 30 min is 1.5 h and 90 min
            if same_unit(form.unit, other.unit):
                return [form.value * gold.value / other.value if other.value else form.value]
    return []


@lru_cache(maxsize=4096)
def _read_gold(text: str | None, units: Units) -> tuple[str | None, str]:
    """The gold answer in normal spelling, or ``None`` and what is wrong with it."""
    if text is None or not text.strip():
        return None, "the gold answer is missing"
    if "####" in text:
        text = text.rpartition("####")[2]
    gold = normal(text) if len(text) <= MAX_LENGTH else ""
    try:
        quantity = _quantity(gold) if units != "optional" else None
        number = read_number(gold)
    except OverLimitError as error:
        return None, f"the gold answer {text[:60]!r}: {error}"
    if units == "required" and not (number and number.unit) and not (quantity and quantity.unit is not None):
        return None, f"the gold answer {text[:60]!r} has no unit"
    if number is None and not (quantity and quantity.unit is not None):
        return None, f"the gold answer {text[:60]!r} is not a number"
    return gold, ""
