"""Which examples a step takes: always the same ones for the same step, and each once an epoch."""

from __future__ import annotations

from grpo_env.core import Example
from grpo_env.trainer.extensions.prompt_sampler import take


def examples(count: int) -> list[Example]:
    return [Example(str(number)) for number in range(count)]


def test_a_step_has_no_example_twice_while_there_are_enough() -> None:
    assert len({example.id for example in take(examples(8), 8, 80, "0")}) == 8
    assert len(take(examples(2), 5, 0, "0")) == 5


def test_the_same_step_takes_the_same_examples() -> None:
    assert take(examples(30), 6, 42, "3") == take(examples(30), 6, 42, "3")
    assert take(examples(30), 6, 42, "3") != take(examples(30), 6, 48, "3")
