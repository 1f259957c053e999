"""What settings of papers, TRL, verl and OpenRLHF are here, for the error message about a name that is no setting."""

from __future__ import annotations


def _called(*settings: str, note: str = "") -> str:
    names = " and ".join(map(repr, settings))
    return f"{'these are' if len(settings) > 1 else 'it is called'} {names}" + (f" ({note})" if note else "")


def _key(key: str) -> str:
    return f"it is a key of the task, {key!r}"


_OWN_SAMPLES = (
    "samples come from the policy itself, whose log-probabilities the loss uses; with this one they would be those of "
    "another distribution"
)
_RECORDED = "every step is recorded in the run's folder, with its completions"
_UPLOAD = "a run uploads nothing; when it is finished: hf upload ORG/NAME RUN/model --private"
_FIRST_MOMENT = "the decay rate of the first moment is 0.9"
_FRACTION = _called("optimizer.warmup_steps", note="a number below 1 is a fraction of steps")

HINTS: dict[str, str] = {
    # The group and its completions.
    **dict.fromkeys(
        ("G", "num_generations", "n_samples_per_prompt", "n", "rollout_n"),
        _called("group_size"),
    ),
    **dict.fromkeys(("max_completion_length", "max_response_length", "max_tokens"), _called("sampling.max_new_tokens")),
    "max_prompt_length": _called("sampling.max_prompt_tokens"),
    "max_length": _called(
        "sampling.max_prompt_tokens", "sampling.max_new_tokens", note="prompt and completion are limited apart"
    ),
    "filter_overlong_prompts": _called("sampling.overlong_prompts"),
    **dict.fromkeys(("top_p", "top_k", "min_p", "repetition_penalty"), _OWN_SAMPLES),
    "filter_groups": _called("dynamic_sampling.part"),
    # Loss, advantages and KL penalty.
    **dict.fromkeys(("beta", "β", "kl_loss_coef"), _called("kl.coef")),
    **dict.fromkeys(
        ("epsilon", "ε"),
        _called("loss.clip_low", "loss.clip_high", note="TRL's sets both, unless epsilon_high is given"),
    ),
    "clip_ratio": _called("loss.clip_low", "loss.clip_high"),
    "clip_ratio_low": _called("loss.clip_low"),
    **dict.fromkeys(("epsilon_high", "clip_ratio_high"), _called("loss.clip_high")),
    **dict.fromkeys(("loss_type", "loss_agg_mode"), _called("loss.aggregation")),
    "importance_sampling_level": _called("loss.importance_level"),
    **dict.fromkeys(
        ("entropy_coef", "entropy_coeff"), "an entropy bonus is a line of a loss of your own, loss.function"
    ),
    **dict.fromkeys(
        (
            "vllm_importance_sampling_clip_max",
            "vllm_importance_sampling_cap",
            "tis_imp_ratio_cap",
            "rollout_is_threshold",
            "truncated_importance_sampling_ratio",
        ),
        _called("loss.tis_cap"),
    ),
    "ref_model_sync_steps": _called("kl.reference_sync_every"),
    **dict.fromkeys(("scale_rewards", "adv_estimator", "advantage_estimator"), _called("advantage.scale")),
    "mask_truncated_completions": _called("advantage.truncated"),
    # Steps and batches.
    **dict.fromkeys(("mu", "μ", "num_iterations", "ppo_epochs"), _called("optimizer.updates_per_step")),
    "steps_per_generation": _called(
        "optimizer.mini_batches", note="TRL's counts micro-batches; divide it by gradient_accumulation_steps"
    ),
    "ppo_mini_batch_size": _called(
        "optimizer.mini_batches", note="verl's is their size in prompts; divide prompts_per_step by it"
    ),
    **dict.fromkeys(("max_steps", "total_training_steps"), _called("steps")),
    **dict.fromkeys(("num_train_epochs", "total_epochs", "num_episodes"), _called("epochs")),
    **dict.fromkeys(("batch_size", "train_batch_size"), _called("prompts_per_step")),
    "per_device_train_batch_size": _called(
        "prompts_per_step",
        "group_size",
        note="TRL's counts completions of one device; a step has prompts_per_step x group_size completions of all "
        "devices",
    ),
    "generation_batch_size": _called(
        "prompts_per_step", "group_size", note="TRL's counts completions, prompts_per_step counts prompts"
    ),
    "gradient_accumulation_steps": _called(
        "engine.micro_batch_tokens",
        note="it limits the token positions of a micro-batch, and their number follows",
    ),
    "ppo_micro_batch_size_per_gpu": _called("engine.micro_batch_tokens", note="it counts token positions, not rows"),
    "max_token_len_per_gpu": _called("engine.micro_batch_tokens"),
    # Optimizer, adapter and engine.
    "lr": _called("optimizer.learning_rate"),
    "lr_scheduler_type": _called("optimizer.lr_schedule"),
    "optim": _called("optimizer.name"),
    **dict.fromkeys(("adam_beta1", "beta1"), _FIRST_MOMENT),
    "adam_beta2": _called("optimizer.beta2"),
    **dict.fromkeys(("max_grad_clip", "grad_clip"), _called("optimizer.max_grad_norm")),
    **dict.fromkeys(("warmup", "lr_warmup_steps"), _called("optimizer.warmup_steps")),
    **dict.fromkeys(("warmup_ratio", "lr_warmup_steps_ratio"), _FRACTION),
    "lora_r": _called("lora.rank"),
    "lora_alpha": _called("lora.alpha"),
    "lora_target_modules": "all linear layers but the head have an adapter",
    **dict.fromkeys(("bf16", "dtype"), _called("engine.precision")),
    "use_cpu": _called("engine.device"),
    **dict.fromkeys(("use_vllm", "vllm_mode"), _called("sampling.engine")),
    "vllm_server_base_url": _called("sampling.url"),
    **dict.fromkeys(("vllm_gpu_memory_utilization", "gpu_memory_utilization"), _called("sampling.gpu_memory_fraction")),
    **dict.fromkeys(("max_off_policy_steps", "async_train"), "every step samples with the weights that it trains"),
    "model_name_or_path": _called("model"),
    # What a run writes.
    "output_dir": "the folder of a run is an option of the command: --run FOLDER",
    **dict.fromkeys(("logging_dir", "logging_steps", "log_completions"), _RECORDED),
    **dict.fromkeys(("report_to", "log_with", "logger"), _called("tracker")),
    "eval_steps": _called("eval.every"),
    "save_steps": _called("checkpoint.every"),
    "save_total_limit": "the newest two checkpoints are kept",
    "load_best_model_at_end": _called("checkpoint.best"),
    **dict.fromkeys(("push", "push_to_hub", "hub_model_id"), _UPLOAD),
    # What belongs to the task.
    "chat_template_kwargs": _key("prompt.chat_template_kwargs"),
    "system_prompt": _key("prompt.system"),
    "dataset_name": _key("dataset.path"),
    "dataset_config": _key("dataset.name"),
    "reward_funcs": _key("verifiers"),
    "reward_weights": _key("verifiers.NAME.weight"),
}
"""Each name with what it is called here, or why there is none."""
