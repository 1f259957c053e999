"""A short, repeatable run of the fuzzers in ``tests/fuzz``."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import oracles
from grammar import ANSWERS, TEXTS, formula_pairs, hacks, identities, known_pairs

SHORT = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@SHORT
@given(gold=ANSWERS, text=TEXTS)
def test_all_verifiers_score_any_text_with_any_gold(gold: str, text: str) -> None:
    oracles.everything(gold, text)


@SHORT
@given(pair=known_pairs())
def test_numbers_are_compared_by_value(pair: tuple[str, str, bool]) -> None:
    oracles.truth(*pair)


@SHORT
@given(pair=formula_pairs())
def test_formulas_are_compared_by_their_numbers(pair: tuple[str, str, bool]) -> None:
    oracles.truth(*pair)


@settings(SHORT, max_examples=25)
@given(pair=identities())
def test_both_paths_decide_identities(pair: tuple[str, str, bool]) -> None:
    oracles.paths(*pair)


@SHORT
@given(parts=hacks())
def test_a_hedge_is_never_correct(parts: tuple[str, str, str]) -> None:
    oracles.hack(*parts)


@SHORT
@given(first=ANSWERS, second=ANSWERS)
def test_answers_equal_themselves_and_may_be_swapped_and_respelled(first: str, second: str) -> None:
    oracles.pair(first, second)
