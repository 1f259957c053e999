"""Which examples a step takes: by difficulty, and always the same ones for the same step."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grpo_env.core import Example, Format
from grpo_env.errors import UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.extensions.prompt_sampler import PromptSampler

from .shortcuts import with_settings

SCHEDULE = TrainConfig(curriculum={"difficulty": "level", "steps": 10})


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
    for config in (SCHEDULE, TrainConfig()):
        assert len({example.id for example in pool(config, list(range(8))).take(8, 10, "0")}) == 8
        assert len(pool(config, [1, 2]).take(5, 0, "0")) == 5


@pytest.mark.parametrize("level", [None, "hard", True, float("nan")])
def test_a_difficulty_that_is_not_a_number_is_an_error(level: object) -> None:
    with pytest.raises(UsageError, match=r"t\.yaml: curriculum.difficulty=level: example 1 has .*a number is needed"):
        pool(SCHEDULE, [1, level])


def test_the_same_step_takes_the_same_examples() -> None:
    for config in (SCHEDULE, TrainConfig()):
        sampler, same_sampler = (pool(config, list(range(30))) for _ in range(2))
        assert sampler.take(6, 7, "3") == same_sampler.take(6, 7, "3")
        assert sampler.take(6, 7, "3") != sampler.take(6, 8, "3")
