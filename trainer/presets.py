"""Two tables: what a preset sets, by paper and equation, and what other libraries call our settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # Shao et al. 2024, DeepSeekMath, equations 3 and 4, section 4.1.2; KL coefficient as in its section 4.2.
    "grpo": {"scale": "group", "aggregate": "sequence", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.04},
    # Liu et al. 2025, "Understanding R1-Zero-like training": no division by std or by length.
    "dr_grpo": {"scale": "none", "aggregate": "constant", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.0},
    # Yu et al. 2025, DAPO, equation 8: token mean, higher upper clip, truncated completions filtered (section 3.4).
    "dapo": {
        "scale": "group",
        "aggregate": "token",
        "clip_low": 0.2,
        "clip_high": 0.28,
        "kl_coef": 0.0,
        "truncated": "mask",
    },
    # Zheng et al. 2025, GSPO, equation 5 and section 5.1: the ratio of a whole sequence, hence the narrow clip.
    "gspo": {
        "scale": "group",
        "aggregate": "sequence",
        "ratio": "sequence",
        "clip_low": 3e-4,
        "clip_high": 4e-4,
        "kl_coef": 0.0,
    },
    # Chen et al. 2025, MiniMax-M1, equation 4: no lower bound. Its upper one is unpublished; a ratio of 5 is the value
    # of Khatri et al. 2025, "The art of scaling reinforcement learning compute for LLMs".
    "cispo": {
        "scale": "group",
        "aggregate": "token",
        "surrogate": "cispo",
        "clip_low": 1.0,
        "clip_high": 4.0,
        "kl_coef": 0.0,
    },
    # Ahmadian et al. 2024, "Back to basics": REINFORCE with a leave-one-out baseline, a sum over tokens.
    "rloo": {"scale": "none", "leave_one_out": True, "aggregate": "constant", "kl_coef": 0.0},
    # Williams 1992, with the group's mean as baseline: no ratio, no clip, no deviation, no length.
    "reinforce": {"scale": "none", "aggregate": "constant", "surrogate": "reinforce", "kl_coef": 0.0},
}
"""What each preset sets. An explicit setting wins over the preset, the preset over the field's default."""

PEERS = {
    "num_generations": "group_size",
    "n": "group_size",
    "rollout_n": "group_size",
    "beta": "kl_coef",
    "kl_loss_coef": "kl_coef",
    "epsilon": "clip_low",
    "clip_ratio_low": "clip_low",
    "epsilon_high": "clip_high",
    "clip_ratio_high": "clip_high",
    "max_completion_length": "max_new_tokens",
    "max_response_length": "max_new_tokens",
    "max_tokens": "max_new_tokens",
    "num_iterations": "updates_per_step",
    "ppo_epochs": "updates_per_step",
    "max_steps": "steps",
    "total_training_steps": "steps",
    "lr": "learning_rate",
    "lr_scheduler_type": "schedule",
    "loss_type": "aggregate",
    "loss_agg_mode": "aggregate",
    "importance_sampling_level": "ratio",
    "multi_objective_aggregation": "normalise",
    "entropy_coeff": "entropy_coef",
    "clip_ratio_c": "dual_clip",
    "delta": "dual_clip",
    "use_transformers_continuous_batching": "sampler",
    "use_transformers_paged": "sampler",
    "vllm_importance_sampling_clip_max": "sampler_clip",
    "vllm_importance_sampling_cap": "sampler_clip",
    "tis_imp_ratio_cap": "sampler_clip",
    "rollout_is_threshold": "sampler_clip",
    "truncated_importance_sampling_ratio": "sampler_clip",
    "ref_model_sync_steps": "reference_every",
    "scale_rewards": "scale",
    "per_device_train_batch_size": "micro_batch_tokens",
    "max_token_len_per_gpu": "micro_batch_tokens",
    "filter_groups": "resample",
    "batch_size": "prompts_per_step",
    "train_batch_size": "prompts_per_step",
    "model_name_or_path": "model",
    "lora_r": "lora_rank",
    "lora_target_modules": "lora_target",
    "optim": "optimizer",
    "max_grad_clip": "max_grad_norm",
    "grad_clip": "max_grad_norm",
    "mask_truncated_completions": "truncated",
    "eval_steps": "eval_every",
    "save_steps": "save_every",
    "save_total_limit": "keep_checkpoints",
    "warmup": "warmup_steps",
    "bf16": "precision",
    "dtype": "precision",
    "use_cpu": "device",
    "report_to": "tracker",
    "log_with": "tracker",
    "logger": "tracker",
}
"""Other libraries' names for our settings, for the error message."""


def expand(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` on top of what their ``preset`` sets, if they name one."""
    return {**PRESETS.get(str(settings.get("preset")), {}), **settings}
