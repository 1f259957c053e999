"""Equal rewards: one definition for the trainer and everything that reads scores."""

import pytest

from grpo_env.equality import all_equal, equal
from grpo_env.results.compare import Comparison, compare
from grpo_env.results.export import ExportSummary, export
from grpo_env.results.export.training_sets import Dpo
from grpo_env.results.report import make_report
from grpo_env.trainer.advantages import outcome_advantages
from grpo_env.trainer.config import AdvantageConfig

from .trainer.shortcuts import groups_of


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.0, 5e-10, True),  # absolute below 1
        (0.0, 2e-9, False),
        (1e6, 1e6 + 5e-4, True),  # relative above 1
        (1e6, 1e6 + 2e-3, False),
        (-1.0, 1.0, False),
    ],
)
def test_values_are_equal_within_a_tolerance_relative_to_their_size(a, b, expected):
    assert equal(a, b) is equal(b, a) is expected


def test_all_values_are_compared():
    assert all_equal([])
    assert all_equal([1.0, 1.0, 1.0 + 1e-12])
    assert not all_equal([1.0, 1.0, 0.5])


def rows(totals):
    """A group of completions with these totals."""
    base = {"id": "1", "group": "1", "prompt": "2+2?", "metric": "total", "status": "scored", "parts": {}}
    return [base | {"completion": n, "text": str(n), "total": total} for n, total in enumerate(totals)]


@pytest.mark.parametrize(("gap", "is_equal"), [(5e-10, True), (2e-9, False)])
def test_trainer_report_comparison_and_export_agree_on_equal_rewards(gap, is_equal):
    advantages = outcome_advantages(groups_of([0.0, gap]), AdvantageConfig())
    assert bool((advantages == 0).all()) == is_equal
    assert ("mixed" not in make_report(rows([0.0, gap])).kinds) == is_equal
    assert (list(compare(rows([0.0]), rows([gap]), "total", Comparison())) == []) == is_equal
    assert (list(export(rows([0.0, gap]), Dpo(), ExportSummary())) == []) == is_equal
