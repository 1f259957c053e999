"""Each alert on hand-made histories: raised when it should be, once, and not for a healthy run."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from grpo_env.trainer.config import FIELDS
from grpo_env.trainer.run.alerts import ALERTS, warnings

HEALTHY = {"accuracy": 0.5, "entropy": 0.5, "length": 100.0, "truncated": 0.02, "kl": 0.01}
HEALTHY["rollout_logprob_gap"] = 0.03  # half more than rounding to bfloat16 makes
Metrics = dict[str, Callable[[int], float | None]]


def run(steps: int, **metrics: Callable[[int], float | None]) -> list[dict]:
    """Training rows with small noise; ``metrics`` give the means by step."""
    noise = random.Random(0)
    means: Metrics = {"reward": lambda s: 0.5 + s / 500, "uniform_groups": lambda s: 0.3}
    means |= {name: lambda s, value=value: value for name, value in HEALTHY.items()} | metrics
    rows = []
    for step in range(steps):
        values = {name: mean(step) for name, mean in means.items()}
        noisy = {n: None if v is None else v * noise.uniform(0.9, 1.1) for n, v in values.items()}
        rows.append({"kind": "train", "step": step, **noisy})
    return rows


def raised(rows: list[dict]) -> list[tuple[int, str]]:
    """Step and name of every alert that a run would have raised."""
    alerts = [warning for end in range(1, len(rows) + 1) for warning in warnings(rows[:end])]
    assert all(warning["kind"] == "warning" and warning["seen"] and warning["try"] for warning in alerts)
    return [(warning["step"], warning["alert"]) for warning in alerts]


def test_a_healthy_run_raises_no_alert() -> None:
    assert raised(run(150)) == []
    solved = run(100, reward=lambda s: min(1.2, 0.4 + s / 50), entropy=lambda s: 0.5 * 0.95**s, accuracy=lambda s: 0.95)
    assert raised(solved) == []
    grows = run(
        150, length=lambda s: 100 + 4.0 * s, reward=lambda s: 0.2 + s / 100
    )  # long reasoning that raises the reward
    assert raised(grows) == []
    assert raised(run(60, reward=lambda s: -3.0 if s in (30, 31) else 0.5)) == []  # two bad steps
    learns = {"phantom_gradient": lambda s: 0.9, "accuracy": lambda s: s / 100}  # of a task that was too hard at first
    assert raised(run(60, **learns)) == []
    assert raised(run(60, kl=lambda s: 0.001 if s < 30 else 0.05)) == []  # fifty times a tiny value
    # A quarter of the best is lost, but most of the gain remains.
    assert raised(run(80, reward=lambda s: min(1.0, 0.1 + s / 30) if s < 45 else 0.75)) == []


# Expected steps by hand: means are over 10 steps, so half of a change at step 30 shows after 5 more.
@pytest.mark.parametrize(
    ("alert", "metrics", "steps"),
    [
        ("reward_collapse", {"reward": lambda s: 0.5 + s / 500 if s < 30 else 0.0}, (34, 35)),
        ("reward_collapse", {"reward": lambda s: -0.5 if s < 30 else -1.5}, (34, 35)),
        ("uniform_groups", {"uniform_groups": lambda s: 1.0 if s >= 30 else 0.3}, (36, 41)),
        ("uniform_groups", {"uniform_groups": lambda s: 1.0, "entropy": lambda s: None}, (9, 9)),
        ("phantom_gradient", {"phantom_gradient": lambda s: 0.9, "accuracy": lambda s: 0.7 - s / 200}, (19, 19)),
        ("entropy_collapse", {"entropy": lambda s: 0.5 if s < 30 else 0.01}, (37, 40)),
        ("length_explosion", {"length": lambda s: 100 if s < 30 else 400.0, "reward": lambda s: 0.5}, (32, 42)),
        ("truncated", {"truncated": lambda s: 0.0 if s < 30 else 1.0}, (34, 36)),
        ("kl_explosion", {"kl": lambda s: 0.02 if s < 30 else 0.9}, (30, 31)),
        ("kl_explosion", {"kl": lambda s: 0.3 * 1.1**s}, (12, 17)),  # 1.1 to the 13th is 3.5: above one nat
        ("rollout_logprob_gap", {"rollout_logprob_gap": lambda s: 0.02 if s < 30 else 0.3}, (31, 34)),
        ("rollout_logprob_gap", {"rollout_logprob_gap": lambda s: 0.3}, (9, 9)),
    ],
)
def test_a_problem_raises_its_alert_once(alert: str, metrics: Metrics, steps: tuple[int, int]) -> None:
    alerts = raised(run(80, **metrics))
    assert [name for _, name in alerts] == [alert]
    assert steps[0] <= alerts[0][0] <= steps[1]


def test_an_alert_is_raised_again_after_ten_good_steps() -> None:
    def cut_off(times: list[tuple[int, int]]) -> list[int]:
        bad = {step for low, high in times for step in range(low, high)}
        return [step for step, _ in raised(run(100, truncated=lambda s: 1.0 if s in bad else 0.0))]

    once, gap = cut_off([(20, 50)]), cut_off([(20, 50), (52, 70)])
    assert gap == once  # two good steps do not end it
    assert len(cut_off([(20, 40), (75, 90)])) == 2


def test_advice_depends_on_why_groups_are_uniform() -> None:
    accuracies = (1.0, 0.02, 0.5)
    easy, hard, alike = (run(10, uniform_groups=lambda s: 1.0, accuracy=lambda s, a=a: a) for a in accuracies)
    assert "harder examples" in warnings(easy)[0]["try"]
    assert "easier examples" in warnings(hard)[0]["try"]
    assert "higher sampling.temperature" in warnings(alike)[0]["try"]


def test_a_run_without_a_reference_or_with_nothing_scored() -> None:
    rows = run(40, kl=lambda s: 0.0, reward=lambda s: None, entropy=lambda s: None, accuracy=lambda s: None)
    assert raised(rows) == []


def test_advice_names_settings_that_exist() -> None:
    names = ("length", "kl", "truncated", "rollout_logprob_gap")
    bad: Metrics = {name: lambda s: 0.5 if s < 10 else 9.0 for name in names}
    bad |= {"reward": lambda s: 1.0 - (s >= 10), "entropy": lambda s: 1.0 - (s >= 10), "uniform_groups": lambda s: 1.0}
    bad |= {"phantom_gradient": lambda s: 1.0}
    rows = run(30, **bad)
    hints = {warning["alert"]: warning["try"] for end in range(1, 31) for warning in warnings(rows[:end])}
    assert hints.keys() == ALERTS.keys()
    named = set(re.findall(r"[a-z_.]+(?==)|[a-z_]+\.[a-z_]+", " ".join(hints.values())))
    assert named
    assert named <= set(FIELDS)
