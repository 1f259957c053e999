"""What settings of papers, TRL, verl and OpenRLHF are here, for the error message about a name that is no setting."""

from __future__ import annotations

# Names elsewhere, and the settings here.
_CALLED = {
    # The group and its completions.
    "G num_generations n_samples_per_prompt n rollout_n": "group_size",
    "max_completion_length max_response_length max_tokens": "sampling.max_new_tokens",
    "max_prompt_length": "sampling.max_prompt_tokens",
    "max_length": "sampling.max_prompt_tokens sampling.max_new_tokens",
    "filter_overlong_prompts": "sampling.overlong_prompts",
    "filter_groups": "dynamic_sampling.part",
    # Loss, advantages and KL penalty.
    "beta β kl_loss_coef": "kl.coef",
    "epsilon ε clip_ratio": "loss.clip_low loss.clip_high",
    "clip_ratio_low": "loss.clip_low",
    "epsilon_high clip_ratio_high": "loss.clip_high",
    "loss_type loss_agg_mode": "loss.aggregation",
    "importance_sampling_level": "loss.importance_level",
    "vllm_importance_sampling_clip_max vllm_importance_sampling_cap": "loss.tis_cap",
    "tis_imp_ratio_cap rollout_is_threshold truncated_importance_sampling_ratio": "loss.tis_cap",
    "ref_model_sync_steps": "kl.reference_sync_every",
    "scale_rewards adv_estimator advantage_estimator": "advantage.scale",
    "mask_truncated_completions": "advantage.truncated",
    # Steps and batches.
    "mu μ num_iterations ppo_epochs": "optimizer.updates_per_step",
    "steps_per_generation ppo_mini_batch_size": "optimizer.mini_batches",
    "max_steps total_training_steps": "steps",
    "num_train_epochs total_epochs num_episodes": "epochs",
    "batch_size train_batch_size": "prompts_per_step",
    "per_device_train_batch_size generation_batch_size": "prompts_per_step group_size",
    "gradient_accumulation_steps ppo_micro_batch_size_per_gpu max_token_len_per_gpu": "engine.micro_batch_tokens",
    # Optimizer, adapter and engine.
    "lr": "optimizer.learning_rate",
    "lr_scheduler_type": "optimizer.lr_schedule",
    "optim": "optimizer.name",
    "adam_beta2": "optimizer.beta2",
    "max_grad_clip grad_clip": "optimizer.max_grad_norm",
    "warmup lr_warmup_steps warmup_ratio lr_warmup_steps_ratio": "optimizer.warmup_steps",
    "lora_r": "lora.rank",
    "lora_alpha": "lora.alpha",
    "bf16 dtype": "engine.precision",
    "use_cpu": "engine.device",
    "use_vllm vllm_mode": "sampling.engine",
    "vllm_server_base_url": "sampling.url",
    "vllm_gpu_memory_utilization gpu_memory_utilization": "sampling.gpu_memory_fraction",
    "model_name_or_path": "model",
    # What a run writes.
    "report_to log_with logger": "tracker",
    "eval_steps": "eval.every",
    "save_steps": "checkpoint.every",
    "load_best_model_at_end": "checkpoint.best",
}

# How a setting here differs from that of the name.
_NOTES = {
    "max_length": "prompt and completion are limited apart",
    "epsilon ε": "TRL's sets both, unless epsilon_high is given",
    "steps_per_generation": "TRL's counts micro-batches; divide it by gradient_accumulation_steps",
    "ppo_mini_batch_size": "verl's is their size in prompts; divide prompts_per_step by it",
    "per_device_train_batch_size": "TRL's counts completions of one device; a step has prompts_per_step x group_size "
    "completions of all devices",
    "generation_batch_size": "TRL's counts completions, prompts_per_step counts prompts",
    "gradient_accumulation_steps": "it limits the token positions of a micro-batch, and their number follows",
    "ppo_micro_batch_size_per_gpu": "it counts token positions, not rows",
    "warmup_ratio lr_warmup_steps_ratio": "a number below 1 is a fraction of steps",
}

_TASK_KEYS = {
    "chat_template_kwargs": "prompt.chat_template_kwargs",
    "system_prompt": "prompt.system",
    "dataset_name": "dataset.path",
    "dataset_config": "dataset.name",
    "reward_funcs": "verifiers",
    "reward_weights": "verifiers.NAME.weight",
}

_WITHOUT = {
    "top_p top_k min_p repetition_penalty": "samples come from the policy itself, whose log-probabilities the loss "
    "uses; with this one they would be those of another distribution",
    "entropy_coef entropy_coeff": "an entropy bonus is a line of a loss of your own, loss.function",
    "adam_beta1 beta1": "the decay rate of the first moment is 0.9",
    "lora_target_modules": "all linear layers but the head have an adapter",
    "max_off_policy_steps async_train": "every step samples with the weights that it trains",
    "output_dir": "the folder of a run is an option of the command: --run FOLDER",
    "logging_dir logging_steps log_completions": "every step is recorded in the run's folder, with its completions",
    "save_total_limit": "the newest two checkpoints are kept",
    "push push_to_hub hub_model_id": "a run uploads nothing; when it is finished: hf upload ORG/NAME RUN/model "
    "--private",
}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: said for names, said in table.items() for name in names.split()}


def _called(settings: list[str], note: str | None) -> str:
    names = " and ".join(map(repr, settings))
    return f"{'these are' if len(settings) > 1 else 'it is called'} {names}" + (f" ({note})" if note else "")


_notes = _by_name(_NOTES)
HINTS: dict[str, str] = {
    **{name: _called(settings.split(), _notes.get(name)) for name, settings in _by_name(_CALLED).items()},
    **{name: f"it is a key of the task, {key!r}" for name, key in _TASK_KEYS.items()},
    **_by_name(_WITHOUT),
}
"""Each name with what it is called here, or why there is none."""
