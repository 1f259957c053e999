"""Values of texts, against independent oracles: long division, membership, rounding by ``decimal``."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import gcd

from hypothesis import assume, given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.math.compare import compare
from grpo_env.verifiers.answers.math.normal import normal
from grpo_env.verifiers.answers.math.parse import parse
from grpo_env.verifiers.answers.math.real_sets import real_set
from grpo_env.verifiers.answers.math.verdict import Rules
from grpo_env.verifiers.answers.quantities.number import read_number

SLOW = "x^{" * 25 + r"\sin x/2" + "}" * 25  # small enough for every cap, and takes the algebra many seconds


def equal(first: str, second: str, **rules: object) -> bool:
    correct = compare(parse(first), parse(second), Rules(**rules)).correct  # type: ignore[arg-type]
    assert correct == compare(parse(second), parse(first), Rules(**rules)).correct  # type: ignore[arg-type]
    return correct


def long_division(top: int, bottom: int) -> tuple[str, str, str]:
    """The integer part, the digits before the period and the period of a positive fraction."""
    integer, remainder = divmod(top, bottom)
    digits, positions = "", {}
    while remainder and remainder not in positions:
        positions[remainder] = len(digits)
        digit, remainder = divmod(10 * remainder, bottom)
        digits += str(digit)
    start = positions[remainder] if remainder else len(digits)
    return str(integer), digits[:start], digits[start:]


@given(top=st.integers(0, 999), bottom=st.integers(1, 120))
def test_repeating_decimals_are_their_fraction(top: int, bottom: int) -> None:
    integer, fixed, period = long_division(top, bottom)
    if not period:
        assert read_number(f"{integer}.{fixed}0").value == Fraction(top, bottom)  # type: ignore[union-attr]
        return
    dots = rf"\dot{{{period[0]}}}" + (rf"{period[1:-1]}\dot{{{period[-1]}}}" if period[1:] else "")
    spellings = [rf"\overline{{{period}}}", f"({period})", dots]
    for spelling in spellings:
        number = read_number(normal(f"{integer}.{fixed}{spelling}"))
        assert number is not None, spelling
        assert number.value == Fraction(top, bottom), spelling


@given(value=st.integers(0, 10**9), base=st.integers(2, 16), other_base=st.integers(2, 16))
def test_a_numeral_has_the_value_of_its_base(value: int, base: int, other_base: int) -> None:
    def numeral(base: int) -> str:
        digits, rest = "", value
        while rest or not digits:
            rest, digit = divmod(rest, base)
            digits = "0123456789ABCDEF"[digit] + digits
        return f"0{digits}_{{{base}}}" if base > 10 else f"{digits}_{{{base}}}"

    assert equal(numeral(base), str(value))
    assert equal(numeral(base), numeral(other_base))
    assert not equal(numeral(base), f"1{numeral(base)}")


@given(
    first=st.decimals(-50, 50, places=4),
    second=st.decimals(-50, 50, places=4),
    difference=st.decimals("-0.01", "0.01", places=4),
    decimals=st.integers(0, 4),
)
def test_decimals_round_both_sides(first: Decimal, second: Decimal, difference: Decimal, decimals: int) -> None:
    unit = Decimal(1).scaleb(-decimals)
    for compared in (second, first + difference):
        rounded = [{x.quantize(unit, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)} for x in (first, compared)]
        assert equal(f"{first:f}", f"{compared:f}", decimals=decimals) == (not rounded[0].isdisjoint(rounded[1]))


@given(first=st.integers(-1000, 1000), second=st.integers(-1000, 1000), rel_tol=st.sampled_from([0.01, 0.1, 0.5]))
def test_rel_tol_is_a_fraction_of_the_larger_number(first: int, second: int, rel_tol: float) -> None:
    tolerance = Fraction(str(rel_tol)) * max(abs(first), abs(second))
    assert equal(str(first), str(second), rel_tol=rel_tol) == (abs(first - second) <= tolerance)


@given(top=st.integers(-99, 99), bottom=st.integers(-99, 99).filter(bool), other=st.integers(-99, 99))
def test_signs_and_brackets_of_a_fraction(top: int, bottom: int, other: int) -> None:
    spellings = [f"({top})/({bottom})", f"{top}/{bottom}", f"({top})/{bottom}", rf"\frac{{({top})}}{{{bottom}}}"]
    for spelling in spellings:
        assert read_number(spelling).value == Fraction(top, bottom), spelling  # type: ignore[union-attr]
        assert equal(spelling, rf"\frac{{{other}}}{{{bottom}}}") == (top == other)


@given(value=st.decimals(-500, 500, places=3), other=st.decimals(-500, 500, places=3))
def test_a_percentage_equals_its_value(value: Decimal, other: Decimal) -> None:
    hundredth = value / 100
    assert equal(f"{value:f}%", f"{hundredth:f}")
    assert equal(f"{value:f}%", f"{hundredth:f}", percent="strict") == (value == 0)
    assert equal(f"{value:f}%", f"{other:f}%") == (value == other)
    sign_left_out = value == other and abs(value) >= 1
    assert equal(f"{value:f}%", f"{other:f}") == (sign_left_out or other == hundredth)


@given(value=st.integers(0, 999), letter=st.sampled_from("abcdfgkmnpqstxyzABDLNVW"), power=st.integers(1, 4))
def test_letters_mean_the_same_spaced_or_tight(value: int, letter: str, power: int) -> None:
    assume(value > 1)
    exponent = "" if power == 1 else f"^{power}"
    tight, spaced = f"{value}{letter}{exponent}", f"{value} {letter}{exponent}"
    assert equal(tight, spaced)
    assert not equal(spaced, f"{value} {letter}^{power + 1}")
    assert not equal(spaced, f"{value + 1}{letter}{exponent}")
    if power > 1:
        assert not equal(spaced, str(value))
        assert not equal(tight, str(value))


BELOW_20 = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def in_words(value: int) -> str:
    ones = BELOW_20.split()
    if value < 20:
        return ones[value]
    if value < 100:
        tens = TENS.split()[value // 10 - 2]
        return tens + (f"-{ones[value % 10]}" if value % 10 else "")
    for size, name in ((10**9, "billion"), (10**6, "million"), (10**3, "thousand"), (100, "hundred")):
        if value >= size:
            rest = value % size
            return f"{in_words(value // size)} {name}" + (f" {in_words(rest)}" if rest else "")
    raise AssertionError


@given(value=st.integers(0, 10**12 - 1), other=st.integers(0, 10**12 - 1))
def test_numbers_in_words(value: int, other: int) -> None:
    assert read_number(in_words(value)) == read_number(str(value))
    assert equal(in_words(value), f"{value} eggs")
    assert equal(f"minus {in_words(value)}", f"-{value}")
    assert equal(in_words(value), in_words(other)) == (value == other)


ENDS = st.integers(-4, 4)
PIECES = st.lists(
    st.tuples(ENDS, ENDS, st.booleans(), st.booleans()).filter(lambda p: p[0] < p[1]), min_size=1, max_size=4
)
Piece = tuple[int, int, bool, bool]


def holds(pieces: list[Piece], x: Fraction) -> bool:
    return any(
        (low <= x if closed else low < x) and (x <= high if shut else x < high) for low, high, closed, shut in pieces
    )


def as_intervals(pieces: list[Piece], french: bool = False) -> str:
    opening, closing = ("][", "[]") if french else ("([", ")]")
    return r" \cup ".join(f"{opening[closed]}{low},{high}{closing[shut]}" for low, high, closed, shut in pieces)


def as_inequalities(pieces: list[Piece]) -> str:
    signs = ("<", r"\le ")
    return r" \text{ or } ".join(f"{low}{signs[closed]}x{signs[shut]}{high}" for low, high, closed, shut in pieces)


@given(first=PIECES, second=PIECES)
def test_sets_of_reals_are_equal_if_they_contain_the_same_numbers(first: list[Piece], second: list[Piece]) -> None:
    points = [Fraction(n, 2) for n in range(-9, 10)]
    same = [holds(first, x) for x in points] == [holds(second, x) for x in points]
    for first_spelling in (as_intervals(first), as_intervals(first, french=True), as_inequalities(first)):
        assert equal(first_spelling, as_intervals(first))
        for second_spelling in (as_intervals(second), as_inequalities(second)):
            assert equal(first_spelling, second_spelling) == same, (first_spelling, second_spelling)


@given(pieces=PIECES, point=ENDS)
def test_a_point_can_be_removed_from_a_set(pieces: list[Piece], point: int) -> None:
    rest = real_set(parse(rf"\mathbb{{R}} \setminus \{{{point}\}}").content)
    assert rest == real_set(parse(rf"x \ne {point}").content)
    assert rest == real_set(parse(rf"x<{point} \text{{ or }} x>{point}").content)
    interval = as_intervals(pieces[:1])
    assert equal(rf"{interval} \setminus \{{{point}\}}", interval) == (not holds(pieces[:1], Fraction(point)))


@given(parts=st.lists(st.integers(1, 60), min_size=2, max_size=4), factor=st.integers(1, 9))
def test_ratios_are_equal_up_to_a_factor(parts: list[int], factor: int) -> None:
    ratio, larger = (":".join(str(n * part) for part in parts) for n in (1, factor))
    assert equal(ratio, larger)
    divisor = gcd(*parts)
    lowest = ":".join(str(part // divisor) for part in parts)
    assert equal(ratio, lowest)


def test_many_slow_formulas_share_one_deadline() -> None:
    answer = ", ".join(f"{SLOW}+{n}" for n in range(4))
    gold = r"\sin x, \cos x, \tan x, \cot x"
    score = Accuracy(timeout=0.2)(Example("x", answer=gold), Completion(rf"\boxed{{{answer}}}"))
    assert (score.value, score.status) == (0, "timeout")


def test_a_name_may_stand_before_a_formula() -> None:
    assert equal("x+0", "y=x")
    assert not equal("x+1", "y=x")
