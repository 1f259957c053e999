"""A verdict depends neither on how it was reached, exactly or by computer algebra, nor on which answer is the gold."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grpo_env.core import Completion, Example, Format
from grpo_env.verifiers.accuracy import Accuracy
from grpo_env.verifiers.answers.extract import answer_in, final_answer
from grpo_env.verifiers.answers.kinds.which_kind import MATHEMATICS
from grpo_env.verifiers.answers.math import algebra, exact
from grpo_env.verifiers.answers.math.algebra import ALGEBRA, DeadlineError, TimeLimit, UnreadableError
from grpo_env.verifiers.answers.math.compare import compare
from grpo_env.verifiers.answers.math.parse import parse
from grpo_env.verifiers.answers.math.parsed import Formula, ParsedAnswer
from grpo_env.verifiers.answers.math.verdict import Rules
from grpo_env.verifiers.answers.quantities.number import Number, OverLimitError

CASES = Path(__file__).parents[2] / "cases"
TIMEOUT = 3.0
RULES = Rules(time=TimeLimit(TIMEOUT))


RULE_OPTIONS = ("rel_tol", "decimals", "percent", "ignore_case", "notation")


def table_pairs() -> list[tuple[str, str, dict[str, Any]]]:
    """Gold and answer of every row of the tables that has one of each, and the row's options about comparing."""
    files = [*CASES.glob("kinds/*.jsonl"), *CASES.glob("rules/*.jsonl"), *CASES.glob("sources/*.jsonl")]
    files += [CASES / f"rejected/{kind}.jsonl" for kind in MATHEMATICS]
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    completions = [(row, text) for row in rows for text in row.get("rejected", [row.get("completion")])]
    pairs = {}
    for row, completion in completions:
        answers = final_answer(Format(), Completion(completion)).answers
        golds = answer_in(row.get("gold") or "").answers
        options = {name: row.get("options", {}).get(name) for name in RULE_OPTIONS}
        options = {name: value for name, value in options.items() if value is not None}
        if len(answers) == len(golds) == 1 and max(len(golds[0]), len(answers[0])) < 200:
            pairs[golds[0], answers[0], str(options)] = options
    return [(gold, answer, options) for (gold, answer, _), options in sorted(pairs.items())]


def formula_text(answer: ParsedAnswer) -> str | None:
    """The LaTeX of a formula or plain number."""
    if isinstance(answer.content, Formula):
        return answer.content.text
    if isinstance(answer.content, Number) and not answer.content.unit and answer.content.numeral is None:
        return answer.text
    return None


def by_worker(gold: str, answer: str) -> bool | None:
    """The verdict of computer algebra, or ``None`` if it times out."""
    try:
        return bool(ALGEBRA.ask({"gold": gold, "answer": answer, "rel_tol": None}, TimeLimit(TIMEOUT))["same"])
    except DeadlineError:
        return None


def check_paths(first: str, second: str) -> bool:
    """Compares both paths on a pair of formulas. Returns whether both decided it."""
    decided = exact.decide(first, second)
    assert decided == exact.decide(second, first)
    if decided is None:
        return False
    computed = by_worker(first, second)
    assert computed in (decided, None), (first, second, decided)
    return computed is not None


def test_both_paths_agree_on_the_tables() -> None:
    compared = 0
    for gold, answer, _ in table_pairs()[::5]:
        try:
            gold_formula, answer_formula = formula_text(parse(gold)), formula_text(parse(answer))
        except OverLimitError:
            continue
        if gold_formula is not None and answer_formula is not None:
            try:
                compared += check_paths(gold_formula, answer_formula)
            except (OverLimitError, UnreadableError):
                continue
    assert compared > 60


NUMBERS = st.one_of(
    st.integers(0, 40).map(str),
    st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
    st.decimals(0, 20, places=2).map(str),
    st.integers(0, 60).map(lambda radicand: rf"\sqrt{{{radicand}}}"),
    st.sampled_from(["x", "y", "x_1", r"\pi", "i", r"\sqrt{\frac{1}{2}}", "2x", r"3\sqrt{2}", r"\sqrt{-4}"]),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda pair: f"({pair[0]} + {pair[1]})"),
        pairs.map(lambda pair: f"({pair[0]} - {pair[1]})"),
        pairs.map(lambda pair: rf"{pair[0]} \cdot {pair[1]}"),
        pairs.map(lambda pair: f"({pair[0]})({pair[1]})"),
        pairs.map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        st.tuples(inner, st.integers(-2, 3)).map(lambda pair: f"({pair[0]})^{{{pair[1]}}}"),
        inner.map(lambda text: f"-{text}" if text[0] != "-" else text),
    )


FORMULAS = st.recursive(NUMBERS, _grown, max_leaves=5)


@given(first=FORMULAS, second=FORMULAS)
@settings(max_examples=60, deadline=None)
def test_both_paths_agree_on_any_two_formulas(first: str, second: str) -> None:
    assume(check_paths(first, second))


# One rule for each identity, so that equal pairs are as frequent as different ones.
@given(first=FORMULAS, second=FORMULAS, third=NUMBERS, identity=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_both_paths_decide_identities(first: str, second: str, third: str, identity: int) -> None:
    left, right = [
        (f"({first}) + ({second})", f"({second}) + ({first})"),
        (f"({first}) \\cdot ({second})", f"({second}) \\cdot ({first})"),
        (f"({third}) \\cdot (({first}) + ({second}))", f"({third}) \\cdot ({first}) + ({second}) \\cdot ({third})"),
        (f"({first}) - ({second})", f"-(({second}) - ({first}))"),
        (f"(({first}) + ({second}))^2", f"({first})^2 + 2 \\cdot ({first}) \\cdot ({second}) + ({second})^2"),
        (f"\\frac{{({first})}}{{{third}}}", f"({first}) \\cdot ({third})^{{-1}}"),
    ][identity]
    decided = exact.decide(left, right)
    assume(decided is not None)
    assert decided
    assert by_worker(left, right) in (True, None), (left, right)


ENDS = st.one_of(st.integers(-9, 9).map(Fraction), st.fractions(-5, 5, max_denominator=6))


@given(low=ENDS, high=ENDS, bound=ENDS, brackets=st.sampled_from(["()", "[]", "(]", "[)"]), form=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_computer_algebra_agrees_on_intervals(
    low: Fraction, high: Fraction, bound: Fraction, brackets: str, form: int
) -> None:
    def tex(value: Fraction) -> str:
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}" if value.denominator > 1 else str(value)

    assume(low < high and low < bound)
    less, more = ("<" if bracket in "()" else r"\le" for bracket in brackets)
    interval = f"{brackets[0]}{tex(low)}, {tex(high)}{brackets[1]}"
    written = [
        f"{tex(low)} {less} x {more} {tex(bound)}",
        f"{tex(low)} {less} x {more} {tex(high)}",
        f"x {more} {tex(high)}",
        f"x > {tex(low)}",
        f"({tex(low)}, \\infty)",
    ][form]
    for gold in (interval, f"(-\\infty, {tex(high)}{brackets[1]}"):
        correct = compare(parse(gold), parse(written), RULES).correct
        assert by_worker(gold, written) in (correct, None), (gold, written)


def test_all_paths_agree_on_numbers() -> None:
    spellings = [
        "0.5",
        r"\frac{1}{2}",
        "1/2",
        r"\frac{2}{4}",
        "2",
        "2.0",
        r"\frac{4}{2}",
        "-2",
        "-0.5",
        r"-\frac{1}{2}",
        "0.50",
    ]
    for first, second in combinations_with_replacement(spellings, 2):
        same = compare(parse(first), parse(second), RULES).correct
        assert exact.decide(first, second) == same
        assert by_worker(first, second) == same


def verdict(gold: str, answer: str, rules: Rules = RULES) -> bool | None:
    try:
        return compare(parse(gold), parse(answer), rules).correct
    except OverLimitError:
        return False
    except (UnreadableError, DeadlineError):
        return None


@pytest.mark.slow
def test_gold_and_answer_of_the_tables_may_be_swapped() -> None:
    pairs = table_pairs()[::4]
    assert len(pairs) > 1200
    rules = [(gold, answer, Rules(**options)) for gold, answer, options in pairs]
    different = [row for row in rules if verdict(*row) != verdict(row[1], row[0], row[2])]
    # Only an answer may leave out "about", or a base; only a gold answer says that a list has an order.
    by_gold = re.compile(r"about |approximately |around |roughly |.*_\{?\d|.*;|\(?[A-Z]\)?, |.*\\arctan")
    assert [row for row in different if not any(by_gold.match(text) for text in row[:2])] == []


PIECES = r"""
1 2 12 0.5 1/2 \frac{1}{2} \sqrt{3} x y \pi i 5\% \$5 12\text{ cm} \pm + - \cdot = < \le , ( ) [ ] \{ \} ^2 _n
even (A) \infty \cup 10^{3} 1,000 3:4 \text{ or }
"""
ANSWERS = st.one_of(FORMULAS, st.lists(st.sampled_from(PIECES.split()), min_size=1, max_size=6).map("".join))


@given(first=ANSWERS, second=ANSWERS)
@settings(max_examples=200, deadline=None)
def test_any_two_answers_may_be_swapped(first: str, second: str) -> None:
    assert verdict(first, second) == verdict(second, first)


def test_scores_are_the_same_without_the_exact_path() -> None:
    """Scores of the whole verifier, with and without the exact path."""
    pairs = [("(x+1)^2", "x^2+2x+1"), (r"2\sqrt{3}", r"\frac{6}{\sqrt{3}}"), ("y=2x", "2y=4x"),
             ("3+4i", "4i+3"), (r"\frac{\pi}{4}", "0.785398"), ("y=2x", "y=3x")]  # fmt: skip
    scores = []
    for decide in (exact.decide, lambda gold, answer: None):
        with pytest.MonkeyPatch.context() as patch:
            ALGEBRA.clear()
            patch.setattr(algebra, "decide", decide)
            scores.append(
                [
                    Accuracy(timeout=TIMEOUT)(Example("x", answer=gold), Completion(rf"\boxed{{{answer}}}"))
                    for gold, answer in pairs
                ]
            )
    assert scores[0] == scores[1]
    assert [score.value for score in scores[0]] == [1, 1, 1, 1, 0, 0]
