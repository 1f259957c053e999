"""Each guard on histories made by hand: it speaks when it should, once, and not of a sound run."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from grpo_env.trainer.config import FIELDS
from grpo_env.trainer.run.alerts import ALERTS, warnings

SOUND = {"accuracy": 0.5, "entropy": 0.5, "length": 100.0, "truncated": 0.02, "kl": 0.01, "unscored": 0.0}
SOUND["rollout_logprob_gap"] = 0.03  # half more than rounding to bfloat16 makes
Metrics = dict[str, Callable[[int], float | None]]


def run(steps: int, **metrics: Callable[[int], float | None]) -> list[dict]:
    """Training rows with small noise; ``metrics`` give the means by step."""
    noise = random.Random(0)
    means: Metrics = {"reward": lambda s: 0.5 + s / 500, "uniform_groups": lambda s: 0.3}
    means |= {name: lambda s, value=value: value for name, value in SOUND.items()} | metrics
    rows = []
    for step in range(steps):
        values = {name: mean(step) for name, mean in means.items()}
        noisy = {n: None if v is None else v * noise.uniform(0.9, 1.1) for n, v in values.items()}
        rows.append({"kind": "train", "step": step, **noisy})
    return rows


def said(rows: list[dict]) -> list[tuple[int, str]]:
    """Step and guard of every warning of a run, as the run would have said them."""
    found = [warning for end in range(1, len(rows) + 1) for warning in warnings(rows[:end])]
    assert all(warning["kind"] == "warning" and warning["seen"] and warning["try"] for warning in found)
    return [(warning["step"], warning["alert"]) for warning in found]


def test_a_sound_run_is_silent() -> None:
    assert said(run(150)) == []
    solved = run(100, reward=lambda s: min(1.2, 0.4 + s / 50), entropy=lambda s: 0.5 * 0.95**s, accuracy=lambda s: 0.95)
    assert said(solved) == []
    grows = run(150, length=lambda s: 100 + 4.0 * s, reward=lambda s: 0.2 + s / 100)  # long reasoning that pays
    assert said(grows) == []
    assert said(run(60, reward=lambda s: -3.0 if s in (30, 31) else 0.5)) == []  # two bad steps
    assert said(run(60, kl=lambda s: 0.001 if s < 30 else 0.05)) == []  # fifty times nothing
    # A quarter of the best is lost, but most of the gain is kept.
    assert said(run(80, reward=lambda s: min(1.0, 0.1 + s / 30) if s < 45 else 0.75)) == []


# At which steps each is said is by hand: means are over 10 steps, so half of a change at step 30 shows after 5 more.
@pytest.mark.parametrize(
    ("guard", "metrics", "steps"),
    [
        ("reward_collapse", {"reward": lambda s: 0.5 + s / 500 if s < 30 else 0.0}, (34, 35)),
        ("reward_collapse", {"reward": lambda s: -0.5 if s < 30 else -1.5}, (34, 35)),
        ("uniform_groups", {"uniform_groups": lambda s: 1.0 if s >= 30 else 0.3}, (36, 41)),
        ("uniform_groups", {"uniform_groups": lambda s: 1.0, "entropy": lambda s: None}, (9, 9)),
        ("entropy_collapse", {"entropy": lambda s: 0.5 if s < 30 else 0.01}, (37, 40)),
        ("length_explosion", {"length": lambda s: 100 if s < 30 else 400.0, "reward": lambda s: 0.5}, (32, 42)),
        ("truncated", {"truncated": lambda s: 0.0 if s < 30 else 1.0}, (34, 36)),
        ("kl_explosion", {"kl": lambda s: 0.02 if s < 30 else 0.9}, (30, 31)),
        ("kl_explosion", {"kl": lambda s: 0.3 * 1.1**s}, (12, 17)),  # 1.1 to the 13th is 3.5: above one nat
        ("unscored", {"unscored": lambda s: 0.0 if s < 30 else 0.1}, (31, 33)),
        ("rollout_logprob_gap", {"rollout_logprob_gap": lambda s: 0.02 if s < 30 else 0.3}, (31, 34)),
        ("rollout_logprob_gap", {"rollout_logprob_gap": lambda s: 0.3}, (9, 9)),
    ],
)
def test_what_goes_wrong_is_said_once(guard: str, metrics: Metrics, steps: tuple[int, int]) -> None:
    found = said(run(80, **metrics))
    assert [name for _, name in found] == [guard]
    assert steps[0] <= found[0][0] <= steps[1]


def test_it_is_said_again_when_it_was_right_in_between() -> None:
    def unscored(times: list[tuple[int, int]]) -> list[int]:
        bad = {step for low, high in times for step in range(low, high)}
        return [step for step, _ in said(run(100, unscored=lambda s: 0.1 if s in bad else 0.0))]

    once, gap = unscored([(20, 50)]), unscored([(20, 50), (55, 70)])
    assert gap == once  # five good steps do not end it
    assert len(unscored([(20, 40), (75, 90)])) == 2


def test_too_easy_too_hard_and_all_alike_get_other_advice() -> None:
    shares = (1.0, 0.02, 0.5)
    easy, hard, alike = (run(10, uniform_groups=lambda s: 1.0, accuracy=lambda s, a=a: a) for a in shares)
    assert "harder examples" in warnings(easy)[0]["try"]
    assert "easier examples" in warnings(hard)[0]["try"]
    assert "higher sampling.temperature" in warnings(alike)[0]["try"]


def test_a_run_without_a_reference_or_with_nothing_scored() -> None:
    rows = run(40, kl=lambda s: 0.0, reward=lambda s: None, entropy=lambda s: None, accuracy=lambda s: None)
    assert said(rows) == []


def test_advice_names_settings_that_exist() -> None:
    names = ("length", "kl", "truncated", "unscored", "rollout_logprob_gap")
    bad: Metrics = {name: lambda s: 0.5 if s < 10 else 9.0 for name in names}
    bad |= {"reward": lambda s: 1.0 - (s >= 10), "entropy": lambda s: 1.0 - (s >= 10), "uniform_groups": lambda s: 1.0}
    rows = run(30, **bad)
    found = {warning["alert"]: warning["try"] for end in range(1, 31) for warning in warnings(rows[:end])}
    assert found.keys() == ALERTS.keys()
    named = set(re.findall(r"[a-z_.]+(?==)|[a-z]+\.[a-z_]+", " ".join(found.values()))) - {"samples.jsonl"}
    assert named
    assert named <= set(FIELDS)
