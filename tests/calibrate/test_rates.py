"""Error rates: hand arithmetic, intervals in closed form, exhaustive samples, and coverage where rates are known."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.calibrate.rates import Calibration, calibrate, linear_interval
from grpo_env.calibrate.report_lines import summary_lines
from grpo_env.calibrate.sample import LabelRow, allocate
from grpo_env.confidence_intervals import clopper_pearson
from grpo_env.errors import UsageError


def rows(stratum: str, size: int, correct: int, wrong: int, groups: Sequence[str] | None = None) -> list[LabelRow]:
    """Labeled rows of a stratum, each in a group of its own unless ``groups`` are given."""
    labels = [True] * correct + [False] * wrong
    return [
        {
            "id": f"{stratum}/{number}",
            "completion": 0,
            "group": groups[number] if groups else f"{stratum}/{number}",
            "task": "t",
            "metric": "m",
            "verdict": stratum.startswith("accepted"),
            "stratum": stratum,
            "stratum_size": size,
            "label": label,
        }
        for number, label in enumerate(labels)
    ]


def test_rates_by_hand() -> None:
    """Estimated totals of correct completions: 1000 x 0.3, 200 x 0.05 and 800 x 0.95; the other ones are wrong."""
    result = calibrate(rows("rejected: a", 1000, 3, 7) + rows("rejected: b", 200, 1, 19) + rows("accepted", 800, 38, 2))
    assert result.false_negative.value == pytest.approx((300 + 10) / (300 + 10 + 760))
    assert result.false_positive.value == pytest.approx(40 / (40 + 700 + 190))
    assert result.rejected.value == pytest.approx(310 / 1200)
    assert result.accepted.value == pytest.approx(0.05)
    assert (result.false_negative.errors, result.false_negative.count) == (4, 42)
    assert (result.false_positive.errors, result.false_positive.count) == (2, 28)
    assert (result.completions, result.labeled, len(result.errors)) == (2000, 70, 6)
    assert [(stratum.name, stratum.rate.errors, stratum.rate.count) for stratum in result.strata] == [
        ("accepted", 2, 40),
        ("rejected: a", 3, 10),
        ("rejected: b", 1, 20),
    ]


def test_a_single_stratum_has_the_exact_interval() -> None:
    (stratum,) = calibrate(rows("rejected", 1000, 3, 97)).strata
    assert stratum.rate.interval == pytest.approx(clopper_pearson(3, 100))


def test_the_interval_of_a_sum_by_hand() -> None:
    """Half of the distances of one rate and a negative multiple of another: the bounds of the second change sides."""
    low, high = linear_interval([(2.0, 0.3, (0.2, 0.5)), (-1.0, 0.4, (0.1, 0.6))])
    assert low == pytest.approx(0.2 - math.sqrt((2 * 0.1) ** 2 + 0.2**2))
    assert high == pytest.approx(0.2 + math.sqrt((2 * 0.2) ** 2 + 0.3**2))


def mover_ratio(a: float, a_low: float, a_high: float, b: float, b_low: float, b_high: float) -> tuple[float, float]:
    """The interval of a / b: Donner and Zou 2012, the closed form."""
    low = (a * b - math.sqrt((a * b) ** 2 - a_low * b_high * (2 * a - a_low) * (2 * b - b_high))) / (
        b_high * (2 * b - b_high)
    )
    high = (a * b + math.sqrt((a * b) ** 2 - a_high * b_low * (2 * a - a_high) * (2 * b - b_low))) / (
        b_low * (2 * b - b_low)
    )
    return low, high


@pytest.mark.parametrize(("hits", "of"), [(3, 40), (0, 40), (20, 50), (1, 7)])
def test_the_interval_of_the_false_negatives_in_closed_form(hits: int, of: int) -> None:
    """With one stratum for each verdict the rate is x / (1 + x) for the ratio x of two independent totals."""
    result = calibrate(rows("rejected", 500, hits, of - hits) + rows("accepted", 900, 55, 5))
    a = [500 * rate for rate in (hits / of, *clopper_pearson(hits, of))]
    b = [900 * rate for rate in (55 / 60, *clopper_pearson(55, 60))]
    bounds = mover_ratio(*a, *b)
    assert result.false_negative.interval == pytest.approx([bound / (1 + bound) for bound in bounds], abs=1e-9)
    assert result.false_negative.interval[0] <= result.false_negative.value <= result.false_negative.interval[1]


def test_no_error_in_the_sample_does_not_mean_none() -> None:
    result = calibrate(
        rows("rejected: a", 1000, 0, 20) + rows("rejected: b", 1000, 0, 20) + rows("accepted", 500, 30, 0)
    )
    assert result.false_negative.value == 0
    assert result.false_negative.interval[0] == 0
    # About 8 % of 2,000 rejected completions might be correct, beside 500 accepted ones.
    assert 0.2 < result.false_negative.interval[1] < 0.4


@given(st.dictionaries(st.sampled_from(["accepted: a", "accepted: b", "rejected: a", "rejected: b"]),
                       st.lists(st.booleans(), min_size=1, max_size=30), min_size=1))  # fmt: skip
def test_when_everything_is_labeled_the_rates_are_exact(strata: dict[str, list[bool]]) -> None:
    labeled = [(name.startswith("accepted"), label) for name, labels in strata.items() for label in labels]
    result = calibrate(
        [row for name, own in strata.items() for row in rows(name, len(own), sum(own), len(own) - sum(own))]
    )
    correct = [verdict for verdict, label in labeled if label]
    wrong = [verdict for verdict, label in labeled if not label]
    for rate, errors, count in (
        (result.false_negative, correct.count(False), len(correct)),
        (result.false_positive, wrong.count(True), len(wrong)),
    ):
        assert (rate.errors, rate.count) == (errors, count)
        assert rate.value == (pytest.approx(errors / count) if count else None)
        assert 0 <= rate.interval[0] <= rate.interval[1] <= 1
        assert rate.value is None or rate.interval[0] - 1e-9 <= rate.value <= rate.interval[1] + 1e-9


POPULATION = {  # stratum: completions, of which correct
    "rejected: number, mixed group": (4000, 240),
    "rejected: number, uniform group": (9000, 90),
    "rejected: no_answer": (600, 150),
    "accepted: number, mixed group": (5000, 4950),
    "accepted: number, uniform group": (3000, 2970),
}


def samples(count: int, size: int) -> Iterator[Calibration]:
    """Calibrations of simple random samples of each stratum, as many rows of each as ``allocate`` says."""
    generator = random.Random(0)
    counts = allocate({name: total for name, (total, _) in POPULATION.items()}, size)
    for _ in range(count):
        sample: list[LabelRow] = []
        for name, (total, correct) in POPULATION.items():
            hits = sum(place < correct for place in generator.sample(range(total), counts[name]))
            sample += rows(name, total, hits, counts[name] - hits)
        yield calibrate(sample)


def test_intervals_contain_the_true_rates_as_often_as_they_say() -> None:
    negative, positive = 480 / (480 + 7920), 80 / (80 + 13120)
    results = list(samples(120, 300))
    mean = sum(result.false_negative.value for result in results) / len(results)
    assert mean == pytest.approx(negative, rel=0.1)
    for rates, true in (
        ([result.false_negative for result in results], negative),
        ([result.false_positive for result in results], positive),
    ):
        covered = sum(rate.interval[0] <= true <= rate.interval[1] for rate in rates) / len(rates)
        assert covered >= 0.92


def test_copies_of_completions_add_no_information() -> None:
    """Every labeled completion three times in its group: the same interval as once, up to small-sample factors."""
    once = rows("rejected", 300, 12, 48) + rows("accepted", 300, 54, 6)
    copies = [row | {"completion": copy, "stratum_size": 900} for row in once for copy in range(3)]
    single, tripled = calibrate(once), calibrate(copies)
    assert single.design_effect == (1.0, 1.0)
    assert tripled.design_effect == pytest.approx((3.0, 3.0), rel=0.03)
    for name in ("false_negative", "false_positive", "rejected", "accepted"):
        assert getattr(tripled, name).value == pytest.approx(getattr(single, name).value)
        assert getattr(tripled, name).interval == pytest.approx(getattr(single, name).interval, rel=0.03)


def test_without_errors_groups_count_and_not_their_completions() -> None:
    groups = [str(number // 4) for number in range(40)]
    result = calibrate(rows("rejected", 40, 0, 40, groups) + rows("accepted", 40, 40, 0, groups))
    assert result.rejected.interval == pytest.approx(clopper_pearson(0, 40 / 8))  # 80 completions of 10 groups
    assert result.design_effect == (8.0, 8.0)


def test_rows_without_a_label_and_strata_without_one() -> None:
    open_row = rows("rejected: b", 70, 0, 1)[0] | {"label": None}
    unsure = rows("accepted", 100, 1, 0)[0] | {"label": "?"}
    result = calibrate([*rows("accepted", 100, 4, 1), unsure, open_row])
    assert (result.labeled, result.unsure, result.uncovered, result.completions) == (5, 1, 70, 100)
    assert result.rejected.value is None
    lines = list(summary_lines(result))
    assert "left out: 1 completion that could not be decided" in lines
    assert "left out: 70 completions in strata without a label" in lines
    with pytest.raises(UsageError, match="no row has a label"):
        calibrate([open_row])


@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
def test_labels_of_one_verdict_do_not_tell_the_rates_among_correct_and_wrong_completions(verdict: str) -> None:
    other = "rejected" if verdict == "accepted" else "accepted"
    without = [row | {"label": None} for row in rows(other, 70, 5, 5)]
    result = calibrate([*rows(verdict, 100, 4, 6), *without])
    assert result.one_sided
    assert (result.false_negative.value, result.false_positive.value) == (None, None)
    assert (result.false_negative.interval, result.false_positive.interval) == ((0, 1), (0, 1))
    assert {result.accepted.value, result.rejected.value} == {None, 0.6 if verdict == "accepted" else 0.4}
    assert any("need labels of accepted and of rejected" in line for line in summary_lines(result))
    alone = calibrate(rows(verdict, 100, 4, 6))  # a file without the other verdict
    assert not alone.one_sided
    assert (alone.false_negative.value, alone.false_positive.value) == ((0, 1) if verdict == "accepted" else (1, 0))
