"""Advantages against hand arithmetic, a plain Python oracle, and what must not change them."""

from __future__ import annotations

import itertools
import math
import re
from statistics import fmean, pstdev, stdev
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Example, Score, StepScore
from grpo_env.trainer.advantages import (
    outcome_advantages,
    phantom_gradient,
    step_advantages,
)
from grpo_env.trainer.config import AdvantageConfig, TrainConfig
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import advantages_of, groups_of


def outcome(
    rewards: list[float], group_size: int | None = None, scored: list[bool] | None = None, **how
) -> list[float]:
    return outcome_advantages(groups_of(rewards, group_size, scored=scored), AdvantageConfig(**how)).tolist()


def close(actual, expected, tolerance: float = 1e-4) -> None:
    assert actual == pytest.approx(expected, abs=tolerance)


def test_phantom_gradient_is_the_share_of_groups_without_a_right_completion() -> None:
    """By hand: |A| sums to 2 x .5 in the first group, which is wrong throughout, and to 3 x 1 in the second."""
    rows = [SimpleNamespace(correct=correct) for correct in (0.0, 0.0, 1.0, None)]
    advantages = torch.tensor([[0.5, 0.0], [-0.5, 0.0], [1.0, 1.0], [-1.0, 0.0]])
    assert phantom_gradient(rows, advantages, 2) == 0.25
    assert math.isnan(phantom_gradient(rows, torch.zeros(4, 2), 2))


# Worked by hand: mean 0.35, variance 0.1125 over four, standard deviation 0.3354.
def test_population_worked_example() -> None:
    close(outcome([0.2, 0.8, 0.5, -0.1], std="population"), [-0.4472, 1.3416, 0.4472, -1.3416])


def test_sample_worked_example() -> None:
    close(outcome([0.2, 0.8, 0.5, -0.1], std="sample"), [-0.3873, 1.1619, 0.3873, -1.1619])


def test_group_of_two() -> None:
    close(outcome([1, 0], std="population"), [1, -1], 1e-12)
    close(outcome([1, 0], std="sample"), [0.7071067812, -0.7071067812], 1e-9)


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([1, 0, 0, 0, 0, 0], [2.04124, -0.40825, -0.40825, -0.40825, -0.40825, -0.40825]),
        ([1, 0, 0, 0, 1, 0], [1.29099, -0.64550, -0.64550, -0.64550, 1.29099, -0.64550]),
        ([0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
    ],
)
def test_binary_rewards(rewards: list[float], expected: list[float]) -> None:
    close(outcome(rewards, std="sample"), expected, 1e-5)


@pytest.mark.parametrize("scale", ["group", "none"])
def test_equal_rewards_give_exactly_zero(scale: str) -> None:
    # 0.1 three times has a mean that is not 0.1; 0.1 + 0.2 is not 0.3.
    rewards = [0.1, 0.1, 0.1, 0.1 + 0.2, 0.3, 0.3, 1.0, 0.0, 0.0]
    advantages = outcome(rewards, 3, scale=scale)
    assert advantages[:6] == [0.0] * 6
    assert advantages[6] > 0


def test_scale_none_is_dr_grpo() -> None:
    close(outcome([1, 0, 0, 0], scale="none"), [0.75, -0.25, -0.25, -0.25], 1e-12)


def test_groups_do_not_mix() -> None:
    close(outcome([1, 0, 100, 98], 2, std="population"), [1, -1, 1, -1], 1e-12)


def test_unscored_rows_get_zero_and_do_not_move_the_baseline() -> None:
    alone = outcome([0.2, 0.8, 0.5])
    beside = outcome([0.2, math.nan, 0.8, 0.5], scored=[True, False, True, True])
    assert beside[1] == 0.0
    close([beside[0], *beside[2:]], alone, 1e-12)


def test_one_scored_row_has_nothing_to_compare_with() -> None:
    for how in ({}, {"scale": "none"}):
        assert outcome([0.7, 9.0, 9.0], scored=[True, False, False], **how) == [0.0, 0.0, 0.0]


def test_nothing_scored() -> None:
    for scale in ("group", "none"):
        assert outcome([math.nan, math.nan], scored=[False, False], scale=scale) == [0.0, 0.0]


rewards_of_six = st.lists(st.floats(-5, 5).map(lambda value: round(value, 3)), min_size=6, max_size=6)


@given(rewards_of_six, st.sampled_from(["sample", "population"]))
def test_against_plain_python(rewards: list[float], std: str) -> None:
    spread = (stdev if std == "sample" else pstdev)(rewards)
    mean = fmean(rewards)
    expected = [(r - mean) / spread if spread > 0 and len(set(rewards)) > 1 else 0.0 for r in rewards]
    close(outcome(rewards, std=std), expected, 1e-6)


@given(rewards_of_six, st.floats(-3, 3).map(lambda value: round(value, 3)))
def test_a_constant_added_to_the_group_changes_nothing(rewards: list[float], constant: float) -> None:
    close(outcome([r + constant for r in rewards]), outcome(rewards), 1e-6)


@given(rewards_of_six, st.permutations(range(6)))
def test_the_order_of_rows_only_orders_the_result(rewards: list[float], order: list[int]) -> None:
    advantages = outcome(rewards)
    close(outcome([rewards[place] for place in order]), [advantages[place] for place in order], 1e-9)


def process(steps: list[list[tuple[int, float]]], length: int, group_size: int | None = None, **how):
    """Advantages of rows given as (token, reward) pairs; with ``turns``, tokens of an episode that end its turns."""
    most = max(1, *map(len, steps))
    rewards, tokens = torch.zeros(len(steps), most).double(), torch.zeros(len(steps), most, dtype=torch.long)
    mask = torch.zeros(len(steps), most, dtype=torch.bool)
    for row, pairs in enumerate(steps):
        for place, (token, reward) in enumerate(pairs):
            tokens[row, place], rewards[row, place], mask[row, place] = token, reward, True
    options = {"scored": how.pop("scored", None), "length": length}
    fields = {"step_rewards": rewards, "step_tokens": tokens, "step_mask": mask}
    fields["episode"] = torch.full((len(steps),), how.pop("turns", False))
    groups = groups_of([0.0] * len(steps), group_size, **options, **fields)
    return step_advantages(groups, AdvantageConfig(**how)).tolist()


# The steps of the first answer end at its 5th and 11th token: 0.2 and 0.9; those of the second are -0.1 and 0.4.
# Mean 0.35, population variance 0.1325; normalized -0.4121, 1.5110, -1.2362, 0.1374.
WORKED = [[(4, 0.2), (10, 0.9)], [(3, -0.1), (8, 0.4)]]


def test_process_worked_example() -> None:
    advantages = process(WORKED, 14, std="population")
    # Token 3 has both steps before it, token 7 the second, token 12 none; counted from one.
    close([advantages[0][token - 1] for token in (3, 7, 12)], [1.0989, 1.5110, 0.0])
    close([advantages[0][token - 1] for token in (1, 5, 6, 11, 12)], [1.0989, 1.0989, 1.5110, 1.5110, 0.0])
    close([advantages[1][token - 1] for token in (1, 4, 5, 9, 10)], [-1.0989, -1.0989, 0.1374, 0.1374, 0.0])


def test_process_scale_none_only_centers() -> None:
    advantages = process([[(0, 1.0)], [(1, 0.0), (2, 0.5)]], 3, scale="none")
    close(advantages[0], [0.5, 0, 0], 1e-12)
    close(advantages[1], [-0.5 + 0.0, -0.5 + 0.0, 0.0], 1e-12)


def test_process_two_steps_on_one_token_add_up() -> None:
    together = process([[(2, 1.0), (2, 0.0)], [(2, 0.5)]], 3, scale="none")
    close(together[0], [0.0, 0.0, 0.0], 1e-12)


def test_process_single_step_and_equal_steps_give_zero() -> None:
    assert process([[(1, 0.7)], []], 3) == [[0.0] * 3] * 2
    assert process([[(1, 0.1), (2, 0.1)], [(0, 0.1)]], 3) == [[0.0] * 3] * 2
    assert process([[], []], 3) == [[0.0] * 3] * 2


def test_process_unscored_row_stays_out_of_the_pool() -> None:
    alone = process(WORKED, 14)
    with_unscored = process([*WORKED, [(0, 99.0)]], 14, scored=torch.tensor([True, True, False]))
    assert with_unscored[2] == [0.0] * 14
    for actual, expected in zip(with_unscored, alone, strict=False):
        close(actual, expected, 1e-12)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 7), st.floats(-2, 2).map(lambda v: round(v, 2))), max_size=4),
        min_size=4,
        max_size=4,
    )
)
def test_process_against_plain_python(steps: list[list[tuple[int, float]]]) -> None:
    advantages = process(steps, 8, group_size=2)
    for group in (0, 2):
        pool = [reward for row in steps[group : group + 2] for _, reward in row]
        spread = stdev(pool) if len(set(pool)) > 1 else 0.0
        for row in (group, group + 1):
            for token in range(8):
                later = (
                    [(reward - fmean(pool)) / spread for end, reward in steps[row] if end >= token] if spread else []
                )
                assert advantages[row][token] == pytest.approx(sum(later), abs=1e-4)


@pytest.mark.parametrize(
    ("credit", "first", "second"),
    [
        ("sum", [0.9, 0.9, -0.1, 0.0], [-0.9, -0.3, -0.3, -0.3]),
        ("mean", [0.45, 0.45, -0.1, 0.0], [-0.45, -0.3, -0.3, -0.3]),
    ],
)
def test_process_credit_by_hand(credit: str, first: list[float], second: list[float]) -> None:
    """Rewards 1.5 and 0.4, -0.1 and 0.2 with mean 0.5: centered 1.0 and -0.1, -0.6 and -0.3."""
    advantages = process([[(1, 1.5), (2, 0.4)], [(0, -0.1), (3, 0.2)]], 4, scale="none", step_credit=credit)
    close(advantages[0], first, 1e-6)
    close(advantages[1], second, 1e-6)


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.floats(-2, 2).map(lambda v: round(v, 2))), max_size=4),
        min_size=3,
        max_size=3,
    ),
)
def test_process_credit_against_plain_python(steps: list[list[tuple[int, float]]]) -> None:
    advantages = process(steps, 6, scale="none", step_credit="mean")
    pool = [reward for row in steps for _, reward in row]
    equal = len(set(pool)) < 2
    for row, pairs in enumerate(steps):
        for token in range(6):
            later = [0.0 if equal else reward - fmean(pool) for end, reward in pairs if end >= token]
            expected = fmean(later) if later else 0.0
            assert advantages[row][token] == pytest.approx(expected, abs=1e-5)


def test_padding_with_average_steps_raises_the_sum_but_not_the_mean() -> None:
    """Ten true but useless steps in one completion: the sum grows with their number, the mean does not."""
    short, padded = [(0, 1.0)], [(n, 1.0) for n in range(10)]
    wrong = [(0, 0.0)]
    by_sum = process([short, padded, wrong], 10, scale="none", step_credit="sum")
    by_mean = process([short, padded, wrong], 10, scale="none", step_credit="mean")
    assert by_sum[1][0] > 5 * by_sum[0][0] > 0
    assert by_mean[1][0] == pytest.approx(by_mean[0][0])


# Steps of the first answer: 0.2, 0.9, so 1.1 and 0.9 are still to come; of the second: -0.1, 0.4, so 0.3 and 0.4.
def test_returns_less_their_mean_at_the_same_step() -> None:
    steps = [[(1, 0.2), (3, 0.9)], [(0, -0.1), (2, 0.4)]]
    how = {"step_credit": "return", "scale": "none", "turns": True}
    first, second = process(steps, 5, **how)
    close(first, [0.4, 0.4, 0.25, 0.25, 0.0])
    close(second, [-0.4, -0.25, -0.25, 0.0, 0.0])
    # The four returns have mean 0.675 and squared deviations .180625, .050625, .140625, .075625: 0.4475 in all.
    close(process(steps, 5, step_credit="return", std="population", turns=True)[0][0], 0.4 / math.sqrt(0.4475 / 4))


def test_a_row_that_has_ended_returns_zero_at_later_steps() -> None:
    steps = [[(0, 1.0)], [(0, 0.0), (1, 1.0)], [(0, 5.0), (1, 5.0)]]
    scored = torch.tensor([True, True, False])
    how = {"step_credit": "return", "scale": "none", "scored": scored, "turns": True}
    advantages = process(steps, 3, **how)
    assert advantages == [[0.0, -0.5, -0.5], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_a_step_of_a_text_has_the_token_after_it() -> None:
    """Which may be a line break or the end token, both of which end it. The last token has none after it."""
    steps = [[(1, 0.2), (4, 0.9)], [(0, -0.1), (2, 0.4)]]
    first, second = process(steps, 5, step_credit="return", scale="none")
    close(first, [0.4, 0.4, 0.4, 0.25, 0.25])
    close(second, [-0.4, -0.4, -0.25, -0.25, 0.0])


def test_steps_that_end_on_one_token_are_one_step() -> None:
    how = {"step_credit": "return", "scale": "none"}
    apart = process([[(1, 0.25), (1, 0.5), (2, 1.0)], [(0, 0.5), (2, 0.0)]], 3, **how)
    assert apart == process([[(1, 0.75), (2, 1.0)], [(0, 0.5), (2, 0.0)]], 3, **how)


@pytest.mark.parametrize("outcome", [0.0, 1.0])
@pytest.mark.parametrize("longest", [2, 4])
def test_return_within_a_text_has_the_gradient_of_the_expected_rewards(longest: int, outcome: float) -> None:
    """All pairs of texts of at most ``longest`` tokens, each a digit, a line break or the end token.

    A line is a step, worth 1 if it is "1" and .25 if it is longer. The whole text is worth ``outcome`` if it ends on a
    digit and has not been cut off. In pairs, the mean of the group leaves half of the gradient.
    """
    characters, end = "1\n", 2
    z = torch.tensor([0.3, -0.2, 0.4], dtype=torch.float64, requires_grad=True)
    logp = z.log_softmax(0)
    texts = [
        ids
        for length in range(1, longest + 1)
        for ids in itertools.product(range(3), repeat=length)
        if end not in ids[:-1] and (ids[-1] == end or length == longest)
    ]
    scored = []
    for ids in texts:
        text, finish = (
            "".join(characters[token] for token in ids if token != end),
            "stop" if ids[-1] == end else "length",
        )
        lines = re.finditer("1+", text)
        steps = [StepScore(*line.span(), 1.0 if line.group() == "1" else 0.25) for line in lines]
        steps.append(StepScore(0, len(text), outcome * (text.endswith("1") and finish == "stop")))
        rollout = Rollout([0], list(ids), text, finish, [0.0] * len(ids))
        scored.append(ScoredRollout(Example("0"), rollout, Score(0.0, steps=tuple(steps))))
    rewards = torch.tensor([sum(step.value for step in row.score.steps) for row in scored], dtype=torch.float64)
    probabilities = torch.stack([logp[list(ids)].sum().exp() for ids in texts])
    (expected,) = torch.autograd.grad((probabilities * rewards).sum(), z, retain_graph=True)

    settings = {"supervision": "process", "group_size": 2}
    settings["advantage"] = {"step_credit": "return", "scale": "none"}
    policy = SimpleNamespace(decode=lambda ids: "".join(characters[token] for token in ids))
    pairs = list(itertools.product(range(len(texts)), repeat=2))
    rows = [scored[index] for pair in pairs for index in pair]
    advantages = advantages_of(policy, rows, TrainConfig.from_mapping(settings)).double()  # type: ignore[arg-type]
    loss = torch.zeros((), dtype=torch.float64)
    for number, pair in enumerate(pairs):
        for row, index in enumerate(pair, start=2 * number):
            ids = list(texts[index])
            loss = (
                loss + probabilities[list(pair)].prod().detach() * (advantages[row, : len(ids)] * logp[ids]).sum() / 2
            )
    torch.testing.assert_close(torch.autograd.grad(loss, z)[0], expected / 2, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("credit", "share"), [("return", 7 / 8), ("sum", 0.0)])
def test_the_gradient_of_going_on(credit: str, share: float) -> None:
    """Rows go on with probability q after their first step, for six steps at most; a step is worth 1 with p, else 0.

    So E[sum of rewards] = p (1 + q + ... + q^5). In the logit of q, of which dq = q (1 - q), its derivative is
    p (1 - q) (q + 2 q^2 + ... + 5 q^5), of which the mean of a group of 8 leaves 7/8. DeepSeekMath's sum of normalized
    step rewards has none.
    """
    p, q, groups, size, most = 0.3, 0.6, 3000, 8, 6
    rows, generator = groups * size, torch.Generator().manual_seed(0)
    goes_on = torch.rand(rows, most - 1, generator=generator) < q
    steps = 1 + goes_on.long().cumprod(1).sum(1)
    mask = torch.arange(most) < steps[:, None]
    rewards = (torch.rand(rows, most, generator=generator) < p).float()
    tokens = torch.arange(most).expand(rows, most)
    how = {"step_credit": credit, "scale": "none"}
    fields = {"step_rewards": rewards, "step_tokens": tokens, "step_mask": mask}
    fields["episode"] = torch.ones(rows, dtype=torch.bool)
    all_rows = groups_of(torch.zeros(rows), size, length=most + 1, **fields)
    advantages = step_advantages(all_rows, AdvantageConfig(**how))
    position = torch.arange(most + 1)
    went_on = (position >= 1) & (position < steps[:, None])
    stopped = (position == steps[:, None]) & (position < most)
    score = went_on * (1 - q) - stopped * q  # of each token: d log(its probability) / d logit
    gradients = (advantages * score).sum(1).view(groups, size).mean(1)
    true = p * (1 - q) * sum(k * q**k for k in range(1, most))
    error = gradients.std() / math.sqrt(groups)
    assert error < 0.02 * true or credit == "sum"
    assert abs(gradients.mean() - share * true) < 4 * error
