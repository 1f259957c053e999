"""Settings: names, types, ranges, presets, and the messages for wrong ones."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import asdict
from typing import Any, get_args

import pytest
from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen, MultipleOf
from pydantic import ValidationError

from grpo_env.errors import UsageError
from grpo_env.field_limits import bounds
from grpo_env.taskfile.schema import SECTIONS
from grpo_env.trainer.config import FIELDS, GROUPS, TrainConfig
from grpo_env.trainer.config.hints import HINTS
from grpo_env.trainer.config.presets import PRESETS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stpes": 1}, "unknown setting 'stpes'; did you mean 'steps'?"),
        ({1: 2}, "unknown setting '1'"),
        ({"epsilon": 0.2}, "TRL's sets both, unless epsilon_high is given"),
        ({"every": 5}, "did you mean 'reward_model.every' or 'eval.every' or 'checkpoint.every'?"),
        ({"optimizer.learning_rat": 1e-6}, "did you mean 'optimizer.learning_rate'?"),
        ({"optimizer": {"learning_rat": 1e-6}}, "unknown setting 'optimizer.learning_rat'; did you mean 'optimizer.l"),
        ({"steps": {"total": 3}}, "unknown setting 'steps.total'"),
        (
            {"eval.limit": 3},
            "'eval.limit'; known: eval.at_start, eval.every, eval.examples, eval.patience, eval.samples, eval.stop_at",
        ),
        ({"lora": 8}, "lora is 8; it must be a group of settings: lora.rank, lora.alpha, lora.quantize"),
        ({"lora": None}, "lora is None; it must be a group of settings"),
        ({"kl.coef": 0.1, "kl": {"coef": 0.2}}, "kl.coef is given twice"),
        ({"steps": 1.5}, "steps is 1.5; it must be a whole number of at least 0"),
        ({"steps": True}, "steps is True; it must be a whole number"),
        ({"steps": "many"}, "steps is 'many'; it must be a whole number"),
        ({"steps": "3"}, "steps is '3'; it must be a whole number"),
        ({"steps": -1}, "steps is -1; it must be a whole number of at least 0"),
        ({"optimizer.learning_rate": "fast"}, "optimizer.learning_rate is 'fast'; it must be a number above 0"),
        ({"optimizer.learning_rate": 0}, "optimizer.learning_rate is 0; it must be a number above 0"),
        ({"optimizer.learning_rate": True}, "optimizer.learning_rate is True; it must be a number above 0"),
        ({"optimizer.learning_rate": float("nan")}, "it must be a finite number above 0"),
        ({"sampling.temperature": 0.0}, "above 0"),
        ({"optimizer.max_grad_norm": float("inf")}, "optimizer.max_grad_norm is inf; it must be a finite number"),
        ({"optimizer.max_grad_norm": "inf"}, "optimizer.max_grad_norm is inf; it must be a finite number"),
        ({"optimizer.beta2": 1.0}, "optimizer.beta2 is 1.0; it must be a number of at least 0 and at most 0.999999"),
        ({"loss": {"tis_cap": 1.0}}, "loss.tis_cap is 1.0; it must be a number above 1 or null"),
        (
            {"sampling": {"engine": "own", "url": "http://a:8000"}},
            "sampling.url requires sampling.engine=vllm, not own",
        ),
        ({"loss.clip_low": 1.5}, "loss.clip_low is 1.5; it must be a number of at least 0 and at most 1"),
        ({"reward_model.replay": 2}, "reward_model.replay is 2; it must be a number of at least 0 and below 1"),
        ({"reward_model.replay": -1}, "reward_model.replay is -1; it must be a number of at least 0 and below 1"),
        ({"group_size": 1}, "group_size is 1; it must be a whole number of at least 2"),
        ({"preset": "drgrpo"}, "preset is 'drgrpo'; did you mean 'dr_grpo'?"),
        ({"preset": ["grpo"]}, "preset is ['grpo']; did you mean 'grpo'?"),
        ({"advantage.scale": "std"}, "advantage.scale is 'std'; known: group, none"),
        ({"engine.device": "gpu"}, "did you mean 'cpu'?"),
        ({"model": None}, "model is None; it must be text"),
        ({"engine.gradient_checkpointing": 1}, "it must be true or false"),
        ({"loss.function": "a:b", "preset": "gspo"}, "loss.function replaces loss.importance_level=sequence"),
        ({"optimizer.warmup_steps": 1.5}, "is 1.5; it must be a whole number, or a fraction below 1"),
        ({"chat_template_kwargs": {"a": 1}}, "it is a key of the task, 'prompt.chat_template_kwargs'"),
        ({"warmup_ratio": 0.1}, "it is called 'optimizer.warmup_steps' (a number below 1 is a fraction of steps)"),
        ({"kl.reference_sync_every": 5}, "kl.reference_sync_every=5 has no effect: it needs kl.coef above 0"),
        ({"lora.alpha": 8}, "lora.alpha=8.0 has no effect: it needs lora.rank above 0"),
        ({"step_values.rollouts": 2}, "step_values.rollouts=2 has no effect: it needs supervision=process or both"),
        (
            {"advantage.step_credit": "mean"},
            "advantage.step_credit=mean has no effect: it needs supervision=process or",
        ),
        (
            {"reward_model.rule": "accuracy"},
            "reward_model.rule=accuracy has no effect: it needs reward_model.every abo",
        ),
        ({"eval.stop_at": 0.9, "eval.every": 0}, "eval.stop_at=0.9 has no effect: it needs eval.every above 0"),
        ({"advantage.function": "a:b", "advantage.scale": "none"}, "advantage.function replaces advantage.scale, std"),
        (
            {"supervision": "process", "step_values.rollouts": 2, "advantage.step_credit": "mean"},
            "advantage.step_credit has no effect with step_values.rollouts; leave one out",
        ),
    ],
)
def test_wrong_settings(settings: dict[Any, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        TrainConfig.from_mapping(settings, "run.yaml")
    assert str(caught.value).startswith("run.yaml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_kind_of_bound_has_words() -> None:
    """The kinds are those of annotated-types, which pydantic takes; all that bound a number or a length."""
    kinds = [Gt(1), Ge(1), Lt(5), Le(5), MultipleOf(2), MinLen(1), MaxLen(3)]
    words = "above 1|of at least 1|below 5|of at most 5|divisible by 2|of length 1 or more|of length 3 or less"
    assert [bounds([kind]).strip() for kind in kinds] == words.split("|")
    known = {key for kind in kinds for key in asdict(kind)}
    assert {key for field in FIELDS.values() for limit in field.metadata for key in asdict(limit)} <= known


def test_numbers_as_yaml_reads_them() -> None:
    # PyYAML reads 1e-4, which has no dot, as text, and 1 as a whole number.
    config = TrainConfig.from_mapping({"optimizer.learning_rate": "1e-4", "loss.tis_cap": "2e0", "kl.coef": 1})
    assert (config.optimizer.learning_rate, config.loss.tis_cap) == (1e-4, 2.0)
    assert isinstance(config.kl.coef, float)


def test_nested_and_dotted_names_are_the_same() -> None:
    nested = TrainConfig.from_mapping({"steps": 3, "optimizer": {"learning_rate": 1e-4, "beta2": 0.8}, "lora": {}})
    dotted = TrainConfig.from_mapping({"steps": 3, "optimizer.learning_rate": 1e-4, "optimizer.beta2": 0.8})
    assert nested == dotted
    assert TrainConfig.from_mapping(nested.model_dump()) == nested


def test_a_config_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().steps = 3  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        TrainConfig().kl.coef = 0.1  # type: ignore[misc]


def test_explicit_settings_override_presets_and_defaults() -> None:
    assert TrainConfig.from_mapping({"preset": "grpo", "kl": {"coef": 0.1}}).kl.coef == 0.1
    defaults = {"preset": "grpo", "loss": {"clip_high": 0.5}, "steps": 7}
    config = TrainConfig.from_mapping({"preset": "dapo", "loss.clip_low": 0.3}, defaults=defaults)
    # The preset of the settings also overrides the explicit defaults.
    assert (config.loss.clip_low, config.loss.clip_high, config.kl.coef, config.steps) == (0.3, 0.28, 0.0, 7)
    config = TrainConfig.from_mapping({"loss.clip_low": 0.3}, defaults=defaults)
    assert (config.loss.clip_low, config.loss.clip_high, config.kl.coef) == (0.3, 0.5, 0.04)


@pytest.mark.parametrize(("preset", "aggregation"), [("grpo", "sequence"), (None, "token")])
def test_a_preset_replaces_that_of_the_defaults(preset: str | None, aggregation: str) -> None:
    """Not only where both have the same settings."""
    defaults = {"preset": "dr_grpo", "advantage.std": "population"}
    config = TrainConfig.from_mapping({"preset": preset}, defaults=defaults)
    assert (config.advantage.scale, config.loss.aggregation) == ("group", aggregation)
    assert config.advantage.std == "population"


def test_presets() -> None:
    grpo = TrainConfig.from_mapping({"preset": "grpo"})
    assert (grpo.advantage.scale, grpo.loss.aggregation, grpo.kl.coef, grpo.loss.clip_high) == (
        "group",
        "sequence",
        0.04,
        0.2,
    )
    dr = TrainConfig.from_mapping({"preset": "dr_grpo"})
    assert (dr.advantage.scale, dr.loss.aggregation, dr.kl.coef) == ("none", "constant", 0.0)
    dapo = TrainConfig.from_mapping({"preset": "dapo"})
    assert (dapo.loss.aggregation, dapo.loss.clip_low, dapo.loss.clip_high) == ("token", 0.2, 0.28)
    assert dapo.advantage.truncated == "mask"
    gspo = TrainConfig.from_mapping({"preset": "gspo"}).loss
    assert (gspo.importance_level, gspo.aggregation, gspo.clip_low, gspo.clip_high) == (
        "sequence",
        "sequence",
        3e-4,
        4e-4,
    )
    names, _ = get_args(FIELDS["preset"].annotation)
    assert set(get_args(names)) == set(PRESETS)


def test_presets_name_existing_settings() -> None:
    assert {name for row in PRESETS.values() for name in row} <= set(FIELDS)
    for row in PRESETS.values():
        TrainConfig.from_mapping(row)


# Names in papers, TRL, verl, OpenRLHF and accelerate, with the settings that do the same here.
ELSEWHERE = {
    "G num_generations n_samples_per_prompt n rollout.n rollout_n": "group_size",
    "max_completion_length max_response_length max_tokens": "sampling.max_new_tokens",
    "max_prompt_length": "sampling.max_prompt_tokens",
    "max_length": "sampling.max_prompt_tokens sampling.max_new_tokens",
    "filter_overlong_prompts": "sampling.overlong_prompts",
    "temperature": "sampling.temperature",
    "filter_groups": "dynamic_sampling.part",
    "beta β kl_loss_coef actor.kl_loss_coef": "kl.coef",
    "epsilon ε ϵ clip_ratio": "loss.clip_low loss.clip_high",
    "clip_ratio_low": "loss.clip_low",
    "epsilon_high clip_ratio_high": "loss.clip_high",
    "loss_type loss_agg_mode": "loss.aggregation",
    "importance_sampling_level": "loss.importance_level",
    "vllm_importance_sampling_clip_max vllm_importance_sampling_cap": "loss.tis_cap",
    "tis_imp_ratio_cap rollout_is_threshold truncated_importance_sampling_ratio": "loss.tis_cap",
    "ref_model_sync_steps": "kl.reference_sync_every",
    "scale_rewards adv_estimator advantage_estimator": "advantage.scale",
    "mask_truncated_completions": "advantage.truncated",
    "mu μ µ num_iterations ppo_epochs": "optimizer.updates_per_step",
    "steps_per_generation ppo_mini_batch_size": "optimizer.mini_batches",
    "max_steps total_training_steps": "steps",
    "num_train_epochs total_epochs num_episodes": "epochs",
    "batch_size train_batch_size": "prompts_per_step",
    "per_device_train_batch_size generation_batch_size": "prompts_per_step group_size",
    "gradient_accumulation_steps ppo_micro_batch_size_per_gpu max_token_len_per_gpu": "engine.micro_batch_tokens",
    "lr learning_rate actor.optim.lr": "optimizer.learning_rate",
    "lr_scheduler_type": "optimizer.lr_schedule",
    "optim": "optimizer.name",
    "adam_beta2": "optimizer.beta2",
    "weight_decay optim.weight_decay": "optimizer.weight_decay",
    "max_grad_norm max_grad_clip grad_clip": "optimizer.max_grad_norm",
    "warmup warmup_steps lr_warmup_steps warmup_ratio lr_warmup_steps_ratio": "optimizer.warmup_steps",
    "lora_r": "lora.rank",
    "lora_alpha": "lora.alpha",
    "gradient_checkpointing": "engine.gradient_checkpointing",
    "bf16 dtype": "engine.precision",
    "use_cpu": "engine.device",
    "use_vllm vllm_mode": "sampling.engine",
    "vllm_server_base_url": "sampling.url",
    "vllm_gpu_memory_utilization gpu_memory_utilization": "sampling.gpu_memory_fraction",
    "model_name_or_path": "model",
    "report_to log_with logger": "tracker",
    "eval_steps": "eval.every",
    "save_steps": "checkpoint.every",
    "load_best_model_at_end": "checkpoint.best",
    "chat_template_kwargs data.chat_template_kwargs.enable_thinking": "prompt.chat_template_kwargs",
    "system_prompt": "prompt.system",
    "dataset_name": "dataset.path",
    "dataset_config": "dataset.name",
    "reward_funcs": "verifiers",
    "reward_weights": "verifiers.NAME.weight",
}
WITHOUT = {
    "top_p top_k min_p repetition_penalty": "samples come from the policy itself, whose log-probabilities",
    "adam_beta1 beta1 optimizer.beta1": "the decay rate of the first moment is 0.9",
    "entropy_coef entropy_coeff": "an entropy bonus is a line of a loss of your own, loss.function",
    "lora_target_modules": "all linear layers but the head have an adapter",
    "max_off_policy_steps async_train": "every step samples with the weights that it trains",
    "save_total_limit": "the newest two checkpoints are kept",
    "output_dir": "the folder of a run is an option of the command: --run FOLDER",
    "logging_dir logging_steps log_completions": "every step is recorded in the run's folder",
    "push push_to_hub hub_model_id": "a run uploads nothing",
}
ALL_NAMES = [(name, text) for names, text in [*ELSEWHERE.items(), *WITHOUT.items()] for name in names.split()]


@pytest.mark.parametrize(("name", "text"), ALL_NAMES)
def test_a_name_from_elsewhere_is_answered_with_what_it_is_here(name: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        TrainConfig.from_mapping({name: 1})
    message = str(caught.value)
    assert message.startswith(f"settings: unknown setting {name!r}; ")
    assert "\n" not in message
    quoted = re.findall(r"'([\w.]+)'", message.partition("; ")[2])
    if text in WITHOUT.values():
        assert f"in grpo_env {text}" in message
        assert not quoted
    else:
        assert quoted == text.split()
        task_keys = text.split(".")[0] in SECTIONS
        assert f"key of the task, '{text}'" in message if task_keys else set(quoted) <= set(FIELDS)


def test_all_names_from_elsewhere_are_in_the_table_above() -> None:
    leaves = {name.rpartition(".")[2] for name in FIELDS}
    assert set(HINTS) <= {name for name, _ in ALL_NAMES}
    assert not set(HINTS) & (set(FIELDS) | leaves | set(GROUPS))


def test_epochs_stand_in_place_of_steps() -> None:
    both = "steps=3 and epochs=2 both say how long the run is; give one"
    for settings, defaults in (({"steps": 3, "epochs": 2}, {}), ({}, {"steps": 3, "epochs": 2})):
        with pytest.raises(UsageError, match=both):
            TrainConfig.from_mapping(settings, defaults=defaults)
    lines: list[str] = []
    for settings, defaults, examples, steps in (
        ({"epochs": 1, "prompts_per_step": 16}, {"steps": 30}, 7473, 468),  # 467 steps and one prompt
        ({"epochs": 0.07, "prompts_per_step": 1}, {}, 100, 7),
        ({"epochs": 3, "prompts_per_step": 4}, {"epochs": 9}, 8, 6),
        ({"steps": 30}, {"epochs": 9}, 8, 30),
        ({}, {}, 8, 100),
    ):
        config = TrainConfig.from_mapping(settings, defaults=defaults).in_steps(examples, lines.append)
        assert (config.steps, config.epochs) == (steps, None)
        assert TrainConfig.from_mapping(config.model_dump()) == config
    assert lines == [
        "epochs     1 of 7,473 examples, 16 a step: 468 steps",
        "epochs     0.07 of 100 examples, 1 a step: 7 steps",
        "epochs     3 of 8 examples, 4 a step: 6 steps",
    ]


def test_every_setting_is_documented() -> None:
    assert all(field.description for field in FIELDS.values())
    assert all(type(TrainConfig.model_fields[group].default).__doc__ for group in GROUPS)


def test_the_config_does_not_import_torch() -> None:
    code = "import sys, grpo_env.trainer.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_engines_other_than_our_own_are_corrected_for() -> None:
    caps = {engine: TrainConfig.from_mapping({"sampling.engine": engine}).loss.tis_cap for engine in ("own", "vllm")}
    assert caps == {"own": None, "vllm": 2.0}
    explicit = {"loss.tis_cap": None}
    assert TrainConfig.from_mapping({"sampling.engine": "vllm"}, defaults=explicit).loss.tis_cap is None
    servers = TrainConfig.from_mapping({"sampling": {"engine": "vllm", "url": "http://a:8000/, http://b:8000"}})
    assert servers.sampling.urls == ["http://a:8000", "http://b:8000"]
    openai = TrainConfig(sampling={"engine": "vllm", "url": "http://a:8000/v1, http://b/v1/,http://c/sub/"})
    assert openai.sampling.urls == ["http://a:8000", "http://b", "http://c/sub"]
