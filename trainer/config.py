"""The settings of a training run: one model of nested groups, its ranges, and error messages for wrong settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from grpo_env.errors import UsageError, nearest
from grpo_env.registry import SAFE, is_safe_mode, load_function, locate

from .aliases import ALIASES, NOTES, TASK_KEYS
from .presets import PRESETS

Scale = Literal["group", "batch", "mean", "none"]
Baseline = Literal["group", "leave_one_out", "greedy", "none"]
Std = Literal["sample", "population"]
StepCredit = Literal["sum", "mean", "min", "return"]
ErrorCorrection = Literal["backward", "forward"]
Aggregation = Literal["token", "sequence", "constant"]
Surrogate = Literal["ppo", "cispo", "sapo", "reinforce"]
ImportanceLevel = Literal["token", "sequence"]
KLEstimator = Literal["k1", "k2", "k3"]

WARMUP_STEPS = 3
"""Steps of linear warmup unless ``optimizer.warmup_steps`` or ``warmup_ratio`` is set."""
EXCLUSIVE = {
    "optimizer.warmup_steps": "optimizer.warmup_ratio",
    "optimizer.warmup_ratio": "optimizer.warmup_steps",
}
"""Settings of which only one can be set."""
TIS_CAP = 2.0
"""``loss.tis_cap`` of engines other than our own."""


def _load(name: str | None, setting: str) -> Callable[..., Any] | None:
    """The function of a setting. Raises ``UsageError``."""
    if name is None:
        return None
    if is_safe_mode():
        raise UsageError(f"{setting}={name}: {SAFE}=1 refuses all code that is not built in")
    try:
        return load_function(name)
    except Exception as error:  # of the imported code
        raise UsageError(
            f"{setting}={name} cannot be loaded ({type(error).__name__}: {error}); expected FILE.py:function, or "
            "module:function of an installed module"
        ) from error


class _Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _number_from_text(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads ``1e-4``, which has no dot, as text."""
        if isinstance(value, str) and cls.model_fields[str(info.field_name)].annotation in (float, float | None):
            try:
                return float(value)
            except ValueError:
                pass
        return value


class SamplingConfig(_Settings):
    """How completions are sampled. There is no top-p or top-k: samples come from the policy itself."""

    max_new_tokens: int = Field(default=256, ge=1)
    """Maximum completion length in tokens; longer completions are truncated."""
    max_prompt_tokens: int | None = Field(default=None, ge=1)
    """Maximum prompt length in tokens; null: what the model's positions leave beside ``max_new_tokens``."""
    overlong_prompts: Literal["error", "drop"] = "error"
    """Longer prompts: stop before the run begins, or leave them out and report their number."""
    temperature: float = Field(default=1.0, gt=0)
    """Temperature of sampling and of the log-probabilities in the loss."""
    engine: Literal["own", "transformers", "vllm"] = "own"
    """The library's own loop, transformers' continuous batching, or vLLM in this process or on servers (``url``)."""
    url: str | None = None
    """Under ``vllm``: addresses of vLLM servers, separated by commas, which sample in place of this process."""
    weight_transfer: Literal["nccl", "ipc", "path"] | None = None
    """How servers get new weights: NCCL, CUDA IPC, or a folder that both see; null: ``nccl`` on CUDA, else ``path``."""
    off_policy_steps: int = Field(default=0, ge=0, le=1)
    """1: sample each step while the one before is learned from, so from weights one step older; needs ``url``."""
    gpu_memory_fraction: float = Field(default=0.3, gt=0, le=1)
    """Under ``vllm`` without ``url``: fraction of the GPU's memory for its weights and cache while it samples."""

    @model_validator(mode="after")
    def _servers_are_of_vllm(self) -> Self:
        if self.url is not None and self.engine != "vllm":
            raise ValueError(f"sampling.url requires sampling.engine=vllm, not {self.engine}")
        if self.weight_transfer is not None and self.url is None:
            raise ValueError("sampling.weight_transfer requires sampling.url")
        if self.off_policy_steps and self.url is None:
            raise ValueError(
                "sampling.off_policy_steps=1 samples while the policy is updated, which needs vLLM servers "
                f"(sampling.engine=vllm with sampling.url); sampling.engine={self.engine} samples in this process"
            )
        return self

    @property
    def urls(self) -> list[str]:
        """The servers, without slashes at the end."""
        return [url.strip().rstrip("/") for url in (self.url or "").split(",") if url.strip()]


class DynamicSamplingConfig(_Settings):
    """Replace groups without a gradient (Yu et al. 2025, DAPO)."""

    part: str | None = None
    """Replace groups whose completions all have the same value of this part of the reward; null: off."""
    max_rounds: int = Field(default=3, ge=0)
    """Maximum number of times a step samples further prompts."""


class AdvantageConfig(_Settings):
    """How rewards become advantages."""

    function: str | None = None
    """A function of your own that computes the advantages: ``FILE.py:function`` or ``module:function``; null: by the
    settings below."""
    reward: Literal["total", "correct"] = "total"
    """What is compared: the reward, or whether the metric is 1 (1 or 0)."""
    baseline: Baseline = "group"
    """Subtracted from a reward: the mean of its group, that of the group's other completions (RLOO), the reward of a
    greedy completion that is sampled in addition (ReMax), or nothing."""
    scale: Scale = "group"
    """Divide advantages by the standard deviation of the group, by that of the batch's raw rewards, by the mean of the
    group (MaxRL), or not at all."""
    std: Std = "sample"
    """Standard deviation over n - 1 (``sample``) or n (``population``)."""
    normalize: Literal["total", "parts"] = "total"
    """Normalize the total reward, or each part separately and then sum by weight (GDPO)."""
    step_credit: StepCredit = "sum"
    """How a token combines the normalized rewards of the steps that end on or after it: sum, mean or min; or the raw
    rewards still to come, less those of the group's other completions at the same step (``return``)."""
    process_weight: float = Field(default=1.0, ge=0)
    """Weight of the process advantages under ``supervision: both``."""
    truncated: Literal["keep", "zero", "mask"] = "keep"
    """Truncated completions: learn from them, set their rewards to 0, or mask them in the loss only."""
    error_correction: ErrorCorrection | None = None
    """Correct the advantages for a metric that is wrong at the two rates below (Cai et al. 2025); null: off."""
    false_positive_rate: float = Field(default=0.0, ge=0, le=0.999999)
    """Fraction of wrong completions that the metric accepts, as ``grpo_env calibrate`` measures it."""
    false_negative_rate: float = Field(default=0.0, ge=0, le=0.999999)
    """Fraction of correct completions that the metric rejects."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return _load(self.function, "advantage.function")

    @model_validator(mode="after")
    def _baseline_of_scale(self) -> Self:
        if self.baseline in ("none", "greedy") and self.scale in ("group", "mean"):
            raise ValueError(
                f"advantage.baseline={self.baseline} needs advantage.scale=none or batch, because completions of equal "
                f"rewards have advantages too, and advantage.scale={self.scale} compares within the group"
            )
        special = "baseline" if self.baseline in ("none", "greedy") else "scale" if self.scale == "mean" else None
        if special and self.normalize == "parts":
            raise ValueError(f"advantage.{special}={getattr(self, special)} needs advantage.normalize=total")
        if self.reward == "correct" and (self.normalize == "parts" or self.error_correction):
            other = "normalize=parts" if self.normalize == "parts" else "error_correction"
            raise ValueError(f"advantage.{other} is about the parts of the reward; it needs advantage.reward=total")
        return self

    @model_validator(mode="after")
    def _correctable(self) -> Self:
        rates = self.false_positive_rate, self.false_negative_rate
        if self.error_correction is None:
            if any(rates):
                raise ValueError("the rates of verifier errors have no effect without advantage.error_correction")
            return self
        if not any(rates):
            raise ValueError("advantage.error_correction needs a false_positive_rate or false_negative_rate above 0")
        if sum(rates) >= 1:
            raise ValueError(
                "advantage.error_correction: the two rates add up to 1 or more, so the metric says nothing"
            )
        if self.baseline in ("none", "greedy"):
            raise ValueError("advantage.error_correction needs advantage.baseline=group or leave_one_out")
        if self.scale != "none" or self.normalize != "total":
            raise ValueError(
                "advantage.error_correction needs advantage.scale=none and advantage.normalize=total, because dividing "
                "by a standard deviation undoes the correction"
            )
        if self.error_correction == "forward" and self.truncated != "keep":
            raise ValueError(
                "advantage.error_correction=forward needs advantage.truncated=keep: its advantages are negative on "
                "average, so that masked completions would seem better than others"
            )
        return self


class LossConfig(_Settings):
    """The policy loss; see ``losses.py`` for the equations."""

    aggregation: Aggregation = "token"
    """Mean over all tokens, mean of each completion's mean, or sum divided by completions x ``max_new_tokens``."""
    function: str | None = None
    """A function of your own that computes the loss per token, in place of ``surrogate``: ``FILE.py:function`` or
    ``module:function``."""
    surrogate: Surrogate = "ppo"
    """``ppo`` clips the ratio, ``cispo`` clips the weight of each token's gradient, ``sapo`` weights it smoothly,
    ``reinforce`` has no ratio."""
    importance_level: ImportanceLevel = "token"
    """Importance ratio of each token, or the geometric mean over its completion (GSPO)."""
    clip_low: float = Field(default=0.2, ge=0, le=1)
    """The ratio is clipped below at 1 - ``clip_low``."""
    clip_high: float = Field(default=0.28, ge=0)
    """The ratio is clipped above at 1 + ``clip_high``."""
    dual_clip: float | None = Field(default=None, gt=1)
    """Under ``ppo``: upper bound of the ratio for negative advantages (3 is usual); null: no bound."""
    tau_pos: float = Field(default=1.0, gt=0)
    """Under ``sapo``: temperature of the gate where advantages are positive."""
    tau_neg: float = Field(default=1.05, gt=0)
    """Under ``sapo``: where they are negative; a larger one gives less weight to ratios far from 1."""
    tis_cap: float | None = Field(default=None, gt=1)
    """Truncated importance sampling: weight tokens by trainer over sampler probability, at most this; null: off.
    2 unless ``sampling.engine`` is ``own``."""
    max_row_gap: float | None = Field(default=None, gt=0)
    """Leave rows out of the policy loss where the mean log-ratio of trainer to sampler, in nats a token, is beyond
    plus or minus this; null: off."""
    entropy_coef: float = 0.0
    """Weight of an entropy bonus."""

    @cached_property
    def own_function(self) -> Callable[..., Any] | None:
        """What ``function`` names, loaded once. Raises ``UsageError``."""
        return _load(self.function, "loss.function")

    @model_validator(mode="after")
    def _function_or_surrogate(self) -> Self:
        if self.function is not None and (self.surrogate != "ppo" or self.importance_level != "token"):
            other = "surrogate" if self.surrogate != "ppo" else "importance_level"
            raise ValueError(f"loss.function replaces loss.{other}={getattr(self, other)}; leave one of them out")
        return self

    @model_validator(mode="after")
    def _surrogate_options(self) -> Self:
        if self.dual_clip is not None and (self.surrogate != "ppo" or self.function is not None):
            other = "loss.function" if self.function is not None else self.surrogate
            raise ValueError(f"loss.dual_clip requires loss.surrogate=ppo, not {other}")
        if self.surrogate == "reinforce" and self.importance_level != "token":
            raise ValueError("loss.surrogate=reinforce has no ratio; leave out loss.importance_level")
        return self


class KLConfig(_Settings):
    """The KL penalty to the reference model."""

    coef: float = Field(default=0.0, ge=0)
    """Weight of the penalty; at 0 no reference model is kept."""
    estimator: KLEstimator = "k3"
    """k1, k2 or k3 (see ``losses.kl_penalty``)."""
    bias_correction: bool = False
    """Multiply the estimate by the importance ratio: unbiased, gradient included, for samples of older weights."""
    reference_sync_every: int = Field(default=0, ge=0)
    """Replace the reference model with the current model every so many steps (iterative GRPO); 0: never."""

    @model_validator(mode="after")
    def _sync_needs_reference(self) -> Self:
        if self.reference_sync_every and not self.coef:
            raise ValueError("kl.reference_sync_every requires a reference model; set kl.coef above 0")
        return self


class CurriculumConfig(_Settings):
    """The order of the training examples."""

    mode: Literal["schedule", "pass_rate"] | None = None
    """``schedule``: easy examples first; ``pass_rate``: prefer examples often failed; null: shuffle every epoch."""
    difficulty: str | None = None
    """Under ``schedule``: column, path or template of a number, larger for harder; null: data in order."""
    start_fraction: float = Field(default=0.2, ge=0, le=1)
    """Under ``schedule``: fraction of the examples, the easiest ones, available at the first step."""
    steps: int = Field(default=50, ge=0)
    """Under ``schedule``: steps until all examples are available."""

    @model_validator(mode="after")
    def _difficulty_needs_schedule(self) -> Self:
        if self.difficulty is not None and self.mode != "schedule":
            raise ValueError("curriculum.difficulty requires curriculum.mode=schedule")
        return self


class OptimizerConfig(_Settings):
    """AdamW and its learning rate schedule."""

    name: Literal["adamw", "adamw_bf16", "adamw_8bit", "paged_adamw_8bit"] = "adamw"
    """``adamw_bf16``: all state in bfloat16, with stochastic rounding; ``adamw_8bit``: 8-bit moments;
    ``paged_adamw_8bit``: these in memory that CUDA moves to the CPU when the GPU is full."""
    learning_rate: float = Field(default=1e-6, gt=0)
    """Peak learning rate."""
    warmup_steps: int | None = Field(default=None, ge=0)
    """Steps of linear warmup; null: 3, or ``warmup_ratio``."""
    warmup_ratio: float | None = Field(default=None, ge=0, le=1)
    """Fraction of ``steps`` of linear warmup, rounded up, in place of ``warmup_steps``."""
    lr_schedule: Literal["cosine", "constant"] = "cosine"
    """After the warmup: cosine decay to ``min_lr_ratio``, or constant."""
    min_lr_ratio: float = Field(default=0.1, ge=0, le=1)
    """Final learning rate of the cosine, as a fraction of ``learning_rate``."""
    beta1: float = Field(default=0.9, ge=0, le=0.999999)
    """Decay rate of the first moment."""
    beta2: float = Field(default=0.95, ge=0, le=0.999999)
    """Decay rate of the second moment."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are clipped to this norm."""
    mini_batches: int = Field(default=1, ge=1)
    """Divide the groups of a step into so many mini-batches, with an update on each."""
    updates_per_step: int = Field(default=1, ge=1)
    """Updates on each of them (mu in the paper)."""

    @model_validator(mode="after")
    def _one_warmup(self) -> Self:
        if self.warmup_steps is not None and self.warmup_ratio is not None:
            raise ValueError(
                "optimizer.warmup_steps and optimizer.warmup_ratio are both set; set one of them, and the other to null"
            )
        return self

    def warmup(self, steps: int) -> int:
        """Steps of linear warmup in a run of ``steps``."""
        if self.warmup_ratio is not None:
            # 0.07 * 100 is 7.000000000000001, whose ceiling is 8.
            return math.ceil(round(self.warmup_ratio * steps, 9))
        return WARMUP_STEPS if self.warmup_steps is None else self.warmup_steps


class LoraConfig(_Settings):
    """Train a low-rank adapter instead of all weights (Hu et al. 2021)."""

    rank: int = Field(default=0, ge=0)
    """Rank of the adapter; 0: train all weights."""
    alpha: float = Field(default=32.0, ge=0)
    """The adapter's output is scaled by ``alpha`` / ``rank``."""
    target_modules: str = "all-linear"
    """Layers to adapt: ``all-linear`` (all linear layers but the head) or names (``q_proj,v_proj``)."""


class EngineConfig(_Settings):
    """Device, precision and memory. Gradients are the same for every value of these, up to rounding."""

    micro_batch_tokens: int | None = Field(default=None, ge=1)
    """Token positions, padding included, per forward and backward pass: trades memory for speed. null: as many as
    are estimated to fit into the free memory on CUDA, 4,096 elsewhere."""
    share_prompts: bool = True
    """Compute each group's prompt once in the loss, without padding, where the model's architecture supports it."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, a third more time."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``bf16`` computes in bfloat16 with float32 weights; ``auto`` does so on GPUs that support it."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """``auto`` prefers CUDA, then MPS, then the CPU."""


class EvalConfig(_Settings):
    """Evaluation on held-out examples during training. The first and last model are always evaluated."""

    every: int = Field(default=25, ge=0)
    """Evaluate every so many steps; 0: only before and after training."""
    examples: int = Field(default=200, ge=1)
    """Held-out examples per evaluation."""
    samples: int = Field(default=1, ge=0)
    """Sampled completions per held-out example, in addition to the greedy one; 0: none."""


class CheckpointConfig(_Settings):
    """Checkpoints of the run. The last step is always saved."""

    every: int = Field(default=50, ge=0)
    """Save every so many steps; 0: only at the end."""
    keep: int = Field(default=2, ge=1)
    """Number of checkpoints to keep."""


class TrainConfig(_Settings):
    """All settings of a training run. The defaults are those the literature supports as of 2026."""

    model: str = "bundled"
    """A folder or hub id of a causal language model for transformers, or ``bundled``."""
    seed: int = Field(default=0, ge=0, le=2**31)
    """Determines the order of the examples and every sample."""
    steps: int = Field(default=100, ge=0)
    """Training steps; each samples, scores and trains on ``prompts_per_step`` x ``group_size`` completions."""
    prompts_per_step: int = Field(default=16, ge=1)
    """P: prompts per step, over all processes."""
    group_size: int = Field(default=8, ge=2)
    """G: completions per prompt, compared with each other."""
    supervision: Literal["outcome", "process", "both"] = "outcome"
    """Compute advantages from the reward of the whole completion, from those of its steps, or from both."""
    preset: (
        Literal[
            "grpo",
            "dr_grpo",
            "dapo",
            "gspo",
            "cispo",
            "sapo",
            "rloo",
            "remax",
            "maxrl",
            "reinforce",
            "reinforce_no_baseline",
            "online_rft",
        ]
        | None
    ) = None
    """A named set of settings (see ``presets.py``); explicit settings take precedence."""
    max_unscored_fraction: float = Field(default=0.1, ge=0, le=1)
    """Stop the run when more than this fraction of a step's completions cannot be scored."""
    tracker: Literal["tensorboard", "wandb", "trackio"] | None = None
    """Also send the metrics to this tracker; each needs its package: ``pip install 'grpo_env[tensorboard]'``."""
    push: str | None = None
    """ORG/NAME of a new, private repository of the Hugging Face Hub, to upload the trained model to."""

    sampling: SamplingConfig = SamplingConfig()
    dynamic_sampling: DynamicSamplingConfig = DynamicSamplingConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    kl: KLConfig = KLConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    lora: LoraConfig = LoraConfig()
    engine: EngineConfig = EngineConfig()
    eval: EvalConfig = EvalConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()

    @model_validator(mode="after")
    def _parts_need_outcome(self) -> Self:
        if self.advantage.normalize == "parts" and self.supervision == "process":
            raise ValueError("advantage.normalize=parts applies to the outcome; use supervision=outcome or both")
        return self

    @model_validator(mode="after")
    def _older_samples_are_corrected(self) -> Self:
        if self.sampling.off_policy_steps and self.loss.tis_cap is None:
            raise ValueError("sampling.off_policy_steps=1 needs loss.tis_cap, which corrects for the older weights")
        return self

    @model_validator(mode="after")
    def _mini_batches_are_equal(self) -> Self:
        if self.prompts_per_step % self.optimizer.mini_batches:
            raise ValueError(
                f"prompts_per_step={self.prompts_per_step} cannot be divided into optimizer.mini_batches="
                f"{self.optimizer.mini_batches} with the same number of groups"
            )
        return self

    @model_validator(mode="after")
    def _advantages_of_outcomes(self) -> Self:
        advantage = self.advantage
        for name, value in (("baseline", "greedy"), ("scale", "mean"), ("reward", "correct")):
            if getattr(advantage, name) == value and self.supervision != "outcome":
                raise ValueError(f"advantage.{name}={value} needs supervision=outcome, not {self.supervision}")
        return self

    @model_validator(mode="after")
    def _correction_needs_outcome(self) -> Self:
        if self.advantage.error_correction and self.supervision != "outcome":
            raise ValueError(f"advantage.error_correction needs supervision=outcome, not {self.supervision}")
        if self.advantage.error_correction == "forward" and self.dynamic_sampling.part:
            raise ValueError(
                "advantage.error_correction=forward needs all groups, also those of equal rewards; leave out "
                "dynamic_sampling.part"
            )
        return self

    @classmethod
    def from_mapping(
        cls, settings: Mapping[str, Any], source: str = "settings", *, defaults: Mapping[str, Any] | None = None
    ) -> Self:
        """A config from names and values, as YAML or the command line gives them: nested, dotted, or both.

        Args:
            settings: explicit settings; they take precedence over the preset that they name.
            source: where the settings come from, for messages.
            defaults: settings, such as those of a task, that ``settings`` and their preset override.

        Raises:
            UsageError: beginning with ``source``, for an unknown name (with the nearest known name, also for names of
                other libraries), a wrong type, or a value that is not allowed.
        """
        merged: dict[str, Any] = {}
        for mapping in (defaults or {}, settings):
            explicit = flatten(mapping, source)
            for name in explicit.keys() & EXCLUSIVE.keys():  # the other one of the defaults is overridden, too
                merged.pop(EXCLUSIVE[name], None)
            merged |= {**PRESETS.get(str(explicit.get("preset")), {}), **explicit}
        if merged.get("sampling.engine", "own") != "own":  # whose probabilities differ slightly from the loss's
            merged.setdefault("loss.tis_cap", TIS_CAP)
        for name in merged:
            if name not in FIELDS:
                raise UsageError(f"{source}: {_unknown(name, merged[name])}")
        try:
            return cls.model_validate(_nested(merged))
        except ValidationError as error:
            raise UsageError(f"{source}: {_explained(error)}") from None


def _leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


FIELDS: dict[str, FieldInfo] = dict(_leaves(TrainConfig))
"""Every setting by its dotted name."""
GROUPS = tuple(name for name in TrainConfig.model_fields if name not in FIELDS)


def flatten(settings: Mapping[str, Any], source: str = "settings") -> dict[str, Any]:
    """Nested settings under dotted names. Raises ``UsageError`` for a setting that is given twice."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inner = flatten(value, source) if isinstance(value, Mapping) else None
        for key, leaf in {str(name): value}.items() if inner is None else inner.items():
            dotted = key if inner is None else f"{name}.{key}"
            if dotted in flat:
                raise UsageError(f"{source}: {dotted} is given twice")
            flat[dotted] = leaf
    return flat


def with_located_code(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings, flat, with absolute paths for the functions that they name by files relative to ``folder``."""
    flat = flatten(settings)
    for name in ("loss.function", "advantage.function"):
        if isinstance(flat.get(name), str):
            flat[name] = locate(flat[name], folder)
    return flat


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        group, _, leaf = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[leaf] = value
    return nested


def _unknown(name: str, value: Any) -> str:
    """What is wrong with a name that is no setting, and which setting may be meant."""
    if name in GROUPS:
        members = [field for field in FIELDS if field.startswith(f"{name}.")]
        return f"{name} is {value!r}; it must be a group of settings: {', '.join(members)}"
    if key := next((TASK_KEYS[part] for part in name.split(".") if part in TASK_KEYS), None):
        return f"unknown setting {name!r}; in grpo_env it is a key of the task, {key!r}"
    leaf = name.rpartition(".")[2]
    if alias := ALIASES.get(leaf):
        several = not isinstance(alias, str)
        hint = f"these are {' and '.join(map(repr, alias))}" if several else f"it is called {alias!r}"
        note = f" ({NOTES[leaf]})" if leaf in NOTES else ""
        return f"unknown setting {name!r}; in grpo_env {hint}{note}"
    if same := [field for field in FIELDS if field.rpartition(".")[2] == leaf]:
        return f"unknown setting {name!r}; did you mean {' or '.join(map(repr, same))}?"
    return f"unknown setting {name!r}; {nearest(name, FIELDS)}"


def _explained(error: ValidationError) -> str:
    """The first problem of a pydantic error: the setting, its value, and what is allowed."""
    problem = error.errors()[0]
    if problem["type"] == "value_error":  # a check across settings, which names them itself
        return problem["msg"].removeprefix("Value error, ")
    name = ".".join(map(str, problem["loc"]))
    return f"{name} is {problem['input']!r}; {_allowed(FIELDS[name], problem['input'])}"


def _allowed(field: FieldInfo, value: Any) -> str:
    """What a setting may be, in words: its type and its bounds."""
    hint, *rest = get_args(field.annotation) if type(None) in get_args(field.annotation) else (field.annotation,)
    if get_origin(hint) is Literal:
        return nearest(str(value), get_args(hint))
    finite = "a finite number" if isinstance(value, float) and not math.isfinite(value) else "a number"
    kind = {int: "a whole number", float: finite, bool: "true or false"}.get(hint, "text")
    words = {"ge": "of at least", "gt": "above", "le": "and at most"}
    bounds = [f" {words[key]} {bound:g}" for limit in field.metadata for key, bound in asdict(limit).items()]
    return f"it must be {kind}{''.join(bounds)}{' or null' if rest else ''}"
