"""What to write in place of the settings and values of 0.1.0 that 0.2.0 does not have, for the error message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OWN_LOSS = "write it as loss.function; docs/algorithm.md has ten-line examples"
_OWN_ADVANTAGES = "write it as advantage.function; docs/algorithm.md has ten-line examples"
_NO_RATES = f"verdicts are not corrected for errors; {_OWN_ADVANTAGES}"
_STAGES = "train in stages, each a run of its own with harder data (see the recipes)"
_PASSES = "the model is trained with one pass, in updates of 32 completions; leave it out"

REMOVED: dict[str, str] = {
    "advantage.baseline": "the baseline is the group's mean; RLOO is advantage.scale=none times G / (G - 1)",
    "advantage.error_correction": _NO_RATES,
    "advantage.false_negative_rate": _NO_RATES,
    "advantage.false_positive_rate": _NO_RATES,
    "advantage.leave_one_out": "RLOO is advantage.scale=none times G / (G - 1)",
    "advantage.normalize": f"the total is normalized; {_OWN_ADVANTAGES}",
    "advantage.process_weight": "set the process weight of each part of the task, verifiers.NAME.process",
    "advantage.reward": "give the task a reward of its metric alone: weight 0 for all other parts",
    "advantage.scale=batch": f"use group or none; or {_OWN_ADVANTAGES}",
    "advantage.step_credit=min": f"use sum, mean or return; or {_OWN_ADVANTAGES}",
    "advantage.truncated=zero": "use mask, which leaves truncated completions out of the loss",
    "checkpoint.keep": "the newest two are kept; leave it out",
    "checkpoint.samples_gb": "all samples are kept; delete files of samples/ if the disk is small",
    "curriculum": _STAGES,
    "curriculum.difficulty": _STAGES,
    "curriculum.mode": f"{_STAGES}; dynamic_sampling.part stands in place of pass rates",
    "curriculum.start_fraction": _STAGES,
    "curriculum.steps": _STAGES,
    "dynamic_sampling.max_rounds": "it is always 3; leave it out",
    "engine.compile": "leave it out",
    "engine.share_prompts": "prompts are shared wherever the model can; leave it out",
    "eval.patience": "stop a run with Ctrl-C, which saves it; checkpoint.best=true keeps the best model",
    "eval.stop_at": "stop a run with Ctrl-C, which saves it; checkpoint.best=true keeps the best model",
    "kl.bias_correction": "the penalty is that of DeepSeekMath, without a ratio; leave it out",
    "kl.estimator": "it is always k3; leave it out",
    "lora.target_modules": "all linear layers but the head have an adapter; leave it out",
    "loss.dual_clip": _OWN_LOSS,
    "loss.entropy_coef": f"for an entropy bonus, {_OWN_LOSS}",
    "loss.max_row_gap": "loss.tis_cap bounds the weight of a token that trainer and sampler disagree on",
    "loss.surrogate": f"the loss is PPO's clipped ratio; for another, {_OWN_LOSS}",
    "loss.tau_neg": f"for SAPO, {_OWN_LOSS}",
    "loss.tau_pos": f"for SAPO, {_OWN_LOSS}",
    "optimizer.min_lr_ratio": "a cosine ends at a tenth of the rate; use optimizer.lr_schedule=constant for none",
    "optimizer.name=adamw_bf16": "use adamw_8bit, which needs less memory",
    "preset=cispo": f"for CISPO, {_OWN_LOSS}",
    "preset=gdpo": f"for GDPO, {_OWN_ADVANTAGES}",
    "preset=maxrl": f"for MaxRL, {_OWN_ADVANTAGES}",
    "preset=online_rft": f"for online RFT, {_OWN_ADVANTAGES}",
    "preset=reinforce": "the default loss has its gradient with one update a step (optimizer.updates_per_step=1)",
    "preset=reinforce_no_baseline": f"for a reward without a baseline, {_OWN_ADVANTAGES}",
    "preset=remax": f"for ReMax, {_OWN_ADVANTAGES}",
    "preset=rloo": "use preset=dr_grpo; RLOO is advantage.scale=none times G / (G - 1)",
    "preset=sapo": f"for SAPO, {_OWN_LOSS}",
    "reward_model.epochs": _PASSES,
    "reward_model.part": "the one learned part of the reward is watched; leave it out",
    "reward_model.rows_at_once": _PASSES,
    "reward_model.rows_per_update": _PASSES,
    "sampling.engine=transformers": "use own, or vllm",
    "sampling.environments": "at most 64 episodes are played at once; leave it out",
    "sampling.off_policy_steps": "every step samples with the weights that it trains; leave it out",
    "sampling.weight_transfer": "servers get weights by a folder that they and the trainer see (TMPDIR); leave it out",
    "step_values.segments=separator": "use line, paragraph, sentence or marker",
    "step_values.separator": "use step_values.segments=line, paragraph, sentence or marker",
    "step_values.skip_uniform": "groups of equal rewards are always left out; leave it out",
    "step_values.token_budget": "lower step_values.rollouts",
}
"""By the dotted name of a setting, or ``NAME=VALUE`` where the setting is left."""

_NOW_ALWAYS: dict[str, Any] = {
    "advantage.baseline": "group",
    "advantage.reward": "total",
    "checkpoint.keep": 2,
    "curriculum.difficulty": None,
    "curriculum.mode": None,
    "curriculum.steps": 0,
    "dynamic_sampling.max_rounds": 3,
    "engine.compile": False,
    "engine.share_prompts": True,
    "eval.patience": None,
    "eval.stop_at": None,
    "kl.bias_correction": False,
    "kl.estimator": "k3",
    "lora.target_modules": "all-linear",
    "loss.entropy_coef": 0.0,
    "loss.surrogate": "ppo",
    "sampling.environments": 64,
    "sampling.off_policy_steps": 0,
    "sampling.weight_transfer": None,
    "step_values.separator": "",
    "step_values.skip_uniform": True,
}
"""The values that these settings had unless set, and that every run has now."""


def without_idle(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run of 0.1.0, flat, without those that are gone and had the value that every run has now."""
    return {name: value for name, value in flat.items() if name not in _NOW_ALWAYS or value != _NOW_ALWAYS[name]}
