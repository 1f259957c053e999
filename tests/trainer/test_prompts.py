"""Which examples a step takes: by difficulty or pass rate, and always the same ones for the same step."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from grpo_env.core import Example, Format, Score
from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.extensions.prompt_sampler import MIN_WEIGHT, PromptSampler
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import with_settings

SCHEDULE = TrainConfig(curriculum={"mode": "schedule", "difficulty": "level", "steps": 10})
RATE = TrainConfig(curriculum={"mode": "pass_rate"})


def pool(config: TrainConfig, levels: list[object]) -> PromptSampler:
    examples = [Example(str(number), info={"level": level}) for number, level in enumerate(levels)]

    def load(split: str, *_: object) -> list[Example]:
        return list(examples)

    spec = SimpleNamespace(environment=None)
    task = SimpleNamespace(name="t", source="t.yaml", format=Format(), spec=spec, examples=load)
    return PromptSampler(task, 1.0, config)


def test_easy_examples_come_first_and_finally_all() -> None:
    levels = [7, 1, 5, 3, 8, 2, 6, 4]
    sampler = pool(SCHEDULE, levels)
    for step, fraction in [(0, 0.2), (2, 0.36), (5, 0.6), (10, 1.0), (40, 1.0)]:
        hardest = {levels[int(example.id)] for at in range(60) for example in sampler.take(1, step, str(at))}
        assert hardest == set(range(1, 1 + -int(-fraction * 8 // 1)))


def test_without_a_column_the_data_are_in_order() -> None:
    sampler = pool(with_settings(SCHEDULE, curriculum={"difficulty": None}), [None] * 8)
    assert {example.id for at in range(40) for example in sampler.take(1, 0, str(at))} == {"0", "1"}


def test_difficulty_may_be_a_template() -> None:
    sampler = pool(
        with_settings(SCHEDULE, curriculum={"difficulty": "{{ row.level | length }}"}), ["aaa", "a", "aaaa", "aa"]
    )
    assert [example.info["level"] for example in sampler.examples] == ["a", "aa", "aaa", "aaaa"]


def test_a_step_has_no_example_twice_while_there_are_enough() -> None:
    for config in (SCHEDULE, RATE, TrainConfig()):
        assert len({example.id for example in pool(config, list(range(8))).take(8, 10, "0")}) == 8
        assert len(pool(config, [1, 2]).take(5, 0, "0")) == 5


@pytest.mark.parametrize("level", [None, "hard", True, float("nan")])
def test_a_difficulty_that_is_not_a_number_is_an_error(level: object) -> None:
    with pytest.raises(UsageError, match=r"t\.yaml: curriculum.difficulty=level: example 1 has .*a number is needed"):
        pool(SCHEDULE, [1, level])


def scored_group(id: str, *accuracies: float | None, task: str = "t") -> list[ScoredRollout]:
    rollout = Rollout([1], [2], "a", "stop", [0.0])
    return [ScoredRollout(Example(id), rollout, Score(0.0), value, task) for value in accuracies]


def test_examples_with_a_high_pass_rate_are_rare() -> None:
    sampler = pool(RATE, [None] * 4)
    sampler.update_rates([*scored_group("0", 1.0, 1.0), *scored_group("1", 1.0, 0.0), *scored_group("2", 0.0, None)])
    assert sampler.rates == {"0": 1.0, "1": 0.5, "2": 0.0}
    drawn = Counter(example.id for step in range(4000) for example in sampler.take(1, step, "0"))
    weights = {"0": MIN_WEIGHT, "1": 0.5, "2": 1.0, "3": 1.0}  # an example that was not sampled counts as wrong
    for id, weight in weights.items():
        assert drawn[id] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03)


def test_pass_rates_ignore_other_tasks_and_other_curricula() -> None:
    sampler = pool(RATE, [None] * 2)
    sampler.update_rates(scored_group("0", 1.0, task="other"))
    sampler.update_rates(scored_group("1", None))
    assert sampler.rates == {}
    plain = pool(TrainConfig(), [None] * 2)
    plain.update_rates(scored_group("0", 1.0))
    assert plain.rates == {}


def test_the_pass_rate_is_that_of_the_last_group() -> None:
    sampler = pool(RATE, [None] * 2)
    sampler.update_rates(scored_group("0", 1.0))
    sampler.update_rates(scored_group("0", 0.0, 0.5))
    assert sampler.rates == {"0": 0.25}


def test_the_same_step_takes_the_same_examples() -> None:
    for config in (SCHEDULE, RATE, TrainConfig()):
        sampler, same_sampler = (pool(config, list(range(30))) for _ in range(2))
        assert sampler.take(6, 7, "3") == same_sampler.take(6, 7, "3")
        assert sampler.take(6, 7, "3") != sampler.take(6, 8, "3")
