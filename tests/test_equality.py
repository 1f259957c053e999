"""Equal rewards: one definition for the trainer and everything that reads scores."""

import pytest

from grpo_env.equality import all_equal, equal


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
