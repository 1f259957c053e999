"""Settings: wrong ones are errors that help."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from grpo_env.errors import UsageError
from grpo_env.trainer.aliases import ALIASES
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.presets import PRESETS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stpes": 1}, "unknown setting 'stpes'; did you mean 'steps'"),
        ({"num_generations": 8}, "here it is called 'group_size'"),
        ({"beta": 0.1}, "here it is called 'kl_coef'"),
        ({"epsilon_high": 0.3}, "here it is called 'clip_high'"),
        ({"steps": 1.5}, "steps is 1.5; it must be a whole number"),
        ({"steps": True}, "it must be a whole number"),
        ({"steps": "many"}, "it must be a whole number"),
        ({"steps": -1}, "steps is -1; it must be at least 0"),
        ({"learning_rate": "fast"}, "it must be a number"),
        ({"learning_rate": 0}, "learning_rate is 0; it must be above 0"),
        ({"learning_rate": float("nan")}, "it must be above 0"),
        ({"temperature": 0.0}, "above 0"),
        ({"max_grad_norm": float("inf")}, "max_grad_norm is inf"),
        ({"entropy_coef": float("inf")}, "entropy_coef is inf; it must be finite"),
        ({"adam_beta2": 1.0}, "adam_beta2 is 1; it must be at least 0 and at most 0.999999"),
        ({"sampler_clip": 1.0}, "sampler_clip is 1; it must be above 1"),
        ({"clip_low": 1.5}, "clip_low is 1.5; it must be at least 0 and at most 1"),
        ({"group_size": 1}, "group_size is 1; it must be at least 2"),
        ({"preset": "drgrpo"}, "did you mean 'dr_grpo'"),
        ({"scale": "std"}, "known: batch, group, none"),
        ({"device": "gpu"}, "did you mean 'cpu'"),
        ({"model": None}, "model is None; it must be text"),
        ({"leave_one_out": 1}, "it must be true or false"),
        ({1: 2}, "unknown setting 1"),
        ({"dual_clip": 0.9}, "dual_clip is 0.9; it must be above 1"),
        ({"dual_clip": 3, "surrogate": "cispo"}, "dual_clip belongs to surrogate=ppo"),
        ({"surrogate": "reinforce", "ratio": "sequence"}, "has no ratio"),
        ({"normalise": "parts", "supervision": "process"}, "about the outcome"),
        ({"reference_every": 5}, "set kl_coef above 0"),
        ({"importance_sampling_level": "sequence"}, "here it is called 'ratio'"),
    ],
)
def test_wrong_settings(settings: dict, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        TrainConfig.from_mapping(settings, "run.yaml")
    assert str(caught.value).startswith("run.yaml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_as_yaml_reads_them() -> None:
    # PyYAML reads 1e-4, which has no dot, as text, and 1 as a whole number.
    config = TrainConfig.from_mapping({"learning_rate": "1e-4", "temperature": 1})
    assert config.learning_rate == 1e-4
    assert isinstance(config.temperature, float)


def test_presets() -> None:
    grpo = TrainConfig.from_mapping({"preset": "grpo"})
    assert (grpo.scale, grpo.aggregate, grpo.kl_coef, grpo.clip_high) == ("group", "sequence", 0.04, 0.2)
    dr = TrainConfig.from_mapping({"preset": "dr_grpo"})
    assert (dr.scale, dr.aggregate, dr.kl_coef) == ("none", "constant", 0.0)
    dapo = TrainConfig.from_mapping({"preset": "dapo"})
    assert (dapo.aggregate, dapo.clip_low, dapo.clip_high, dapo.truncated) == ("token", 0.2, 0.28, "mask")
    rloo = TrainConfig.from_mapping({"preset": "rloo"})
    assert (rloo.scale, rloo.leave_one_out) == ("none", True)
    gspo = TrainConfig.from_mapping({"preset": "gspo"})
    assert (gspo.ratio, gspo.aggregate, gspo.clip_low, gspo.clip_high) == ("sequence", "sequence", 3e-4, 4e-4)
    cispo = TrainConfig.from_mapping({"preset": "cispo"})
    assert (cispo.surrogate, cispo.clip_low, cispo.clip_high) == ("cispo", 1.0, 4.0)
    reinforce = TrainConfig.from_mapping({"preset": "reinforce"})
    assert (reinforce.surrogate, reinforce.scale, reinforce.aggregate) == ("reinforce", "none", "constant")
    assert TrainConfig.from_mapping({"preset": "grpo", "kl_coef": 0.1}).kl_coef == 0.1
    names, _ = get_args(get_type_hints(TrainConfig)["preset"])
    assert set(get_args(names)) == set(PRESETS)


def test_the_tables_speak_of_settings_that_exist() -> None:
    known = {field.name for field in fields(TrainConfig)}
    assert set(ALIASES.values()) <= known
    assert not set(ALIASES) & known
    assert {name for row in PRESETS.values() for name in row} <= known
    for row in PRESETS.values():
        TrainConfig.from_mapping(row)
