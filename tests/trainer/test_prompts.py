"""Which examples a step takes: by difficulty, by pass rate, and the same ones whenever it is asked."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from grpo_env.core import Example, Format, Score
from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.sampler import Rollout
from grpo_env.trainer.prompts import MIN_WEIGHT, PromptSampler
from grpo_env.trainer.rollout import ScoredRollout

from .shortcuts import with_settings

SCHEDULE = TrainConfig(curriculum={"mode": "schedule", "difficulty": "level", "start_fraction": 0.25, "steps": 10})
RATE = TrainConfig(curriculum={"mode": "pass_rate"})


def pool(config: TrainConfig, levels: list[object]) -> PromptSampler:
    examples = [Example(str(number), info={"level": level}) for number, level in enumerate(levels)]
    task = SimpleNamespace(name="t", source="t.yaml", format=Format(), examples=lambda split: list(examples))
    return PromptSampler(task, 1.0, config)


def test_easy_examples_come_first_and_finally_all() -> None:
    levels = [7, 1, 5, 3, 8, 2, 6, 4]
    found = pool(SCHEDULE, levels)
    for step, share in [(0, 0.25), (2, 0.4), (5, 0.625), (10, 1.0), (40, 1.0)]:
        hardest = {levels[int(example.id)] for at in range(60) for example in found.take(1, step, str(at))}
        assert hardest == set(range(1, 1 + -int(-share * 8 // 1)))


def test_without_a_column_the_data_are_in_order() -> None:
    found = pool(with_settings(SCHEDULE, curriculum={"difficulty": None}), [None] * 8)
    assert {example.id for at in range(40) for example in found.take(1, 0, str(at))} == {"0", "1"}


def test_difficulty_may_be_a_template() -> None:
    found = pool(
        with_settings(SCHEDULE, curriculum={"difficulty": "{{ row.level | length }}"}), ["aaa", "a", "aaaa", "aa"]
    )
    assert [example.info["level"] for example in found.examples] == ["a", "aa", "aaa", "aaaa"]


def test_a_step_has_no_example_twice_while_there_are_enough() -> None:
    for config in (SCHEDULE, RATE, TrainConfig()):
        assert len({example.id for example in pool(config, list(range(8))).take(8, 10, "0")}) == 8
        assert len(pool(config, [1, 2]).take(5, 0, "0")) == 5


@pytest.mark.parametrize("level", [None, "hard", True, float("nan")])
def test_a_difficulty_that_is_not_a_number_is_an_error(level: object) -> None:
    with pytest.raises(UsageError, match=r"t\.yaml: curriculum.difficulty=level: example 1 has .*a number is needed"):
        pool(SCHEDULE, [1, level])


def judged(id: str, *right: float | None, task: str = "t") -> list[ScoredRollout]:
    rollout = Rollout([1], [2], "a", "stop", [0.0])
    return [ScoredRollout(Example(id), rollout, Score(0.0), value, task) for value in right]


def test_examples_with_a_high_pass_rate_are_rare() -> None:
    found = pool(RATE, [None] * 4)
    found.update_rates([*judged("0", 1.0, 1.0), *judged("1", 1.0, 0.0), *judged("2", 0.0, None)])
    assert found.rates == {"0": 1.0, "1": 0.5, "2": 0.0}
    drawn = Counter(example.id for step in range(4000) for example in found.take(1, step, "0"))
    weights = {"0": MIN_WEIGHT, "1": 0.5, "2": 1.0, "3": 1.0}  # what has not been tried counts as wrong
    for id, weight in weights.items():
        assert drawn[id] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03)


def test_pass_rates_are_of_the_own_task_and_only_for_the_pass_rate_curriculum() -> None:
    found = pool(RATE, [None] * 2)
    found.update_rates(judged("0", 1.0, task="other"))
    found.update_rates(judged("1", None))
    assert found.rates == {}
    plain = pool(TrainConfig(), [None] * 2)
    plain.update_rates(judged("0", 1.0))
    assert plain.rates == {}


def test_the_pass_rate_is_that_of_the_last_group() -> None:
    found = pool(RATE, [None] * 2)
    found.update_rates(judged("0", 1.0))
    found.update_rates(judged("0", 0.0, 0.5))
    assert found.rates == {"0": 0.25}


def test_the_same_step_takes_the_same_examples() -> None:
    for config in (SCHEDULE, RATE, TrainConfig()):
        one, other = (pool(config, list(range(30))) for _ in range(2))
        assert one.take(6, 7, "3") == other.take(6, 7, "3")
        assert one.take(6, 7, "3") != one.take(6, 8, "3")
