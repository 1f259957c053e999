"""The settings of a run: one dataclass, and errors that help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from grpo_env.errors import UsageError

from .aliases import ALIASES
from .presets import expand
from .settings import Range, check_ranges, checked_types

Scale = Literal["group", "batch", "none"]
Std = Literal["sample", "population"]
Credit = Literal["sum", "mean", "min"]
Aggregate = Literal["token", "sequence", "constant"]
Surrogate = Literal["ppo", "cispo", "reinforce"]
RatioLevel = Literal["token", "sequence"]
Estimator = Literal["k1", "k2", "k3"]


@dataclass(frozen=True)
class TrainConfig:
    """Everything that a run can be told. The defaults are what the literature supports as of 2026."""

    model: str = "bundled"
    """A folder or hub id that transformers loads as a causal language model, or ``bundled``."""
    seed: Annotated[int, Range(0, 2**31)] = 0
    """Fixes the order of the examples and every sample."""
    steps: Annotated[int, Range(0)] = 100
    """Training steps; each samples, scores and learns from ``prompts_per_step`` x ``group_size`` completions."""
    prompts_per_step: Annotated[int, Range(1)] = 16
    """P: prompts per step, over all processes."""
    group_size: Annotated[int, Range(2)] = 8
    """G: completions per prompt, which are compared with each other."""
    max_new_tokens: Annotated[int, Range(1)] = 256
    """Longest completion, in tokens; a longer one is truncated."""
    temperature: Annotated[float, Range(above=0)] = 1.0
    """Of sampling and of the log-probabilities alike. Top-p and top-k do not exist: samples are from the policy."""
    sampler: Literal["own", "paged"] = "own"
    """``paged`` samples by transformers' continuous batching, from a copy of the weights: see ``sampler_clip``."""

    supervision: Literal["outcome", "process", "both"] = "outcome"
    """What the advantages come from: the reward of the whole completion, of its steps, or their sum."""
    process_weight: Annotated[float, Range(0)] = 1.0
    """Weight of the process advantages under ``supervision: both``."""
    credit: Credit = "sum"
    """What a token gets of the normalised rewards of the steps that end on it or later: sum, mean or min."""
    preset: Literal["grpo", "dr_grpo", "dapo", "gspo", "cispo", "rloo", "reinforce"] | None = None
    """A named row of settings (see ``presets``); explicit settings win over it."""
    scale: Scale = "group"
    """Divide advantages by the standard deviation of the group, of the batch's raw rewards, or by none."""
    std: Std = "sample"
    """Standard deviation over n - 1 (``sample``) or n (``population``)."""
    leave_one_out: bool = False
    """Baseline of a completion: the mean of the others in its group instead of the whole group's."""
    normalise: Literal["total", "parts"] = "total"
    """Advantages of the total reward, or of each part by itself, then summed by weight (GDPO)."""
    aggregate: Aggregate = "token"
    """Mean over all tokens, over rows of each row's mean, or sum divided by rows x ``max_new_tokens``."""
    surrogate: Surrogate = "ppo"
    """``ppo`` clips the ratio, ``cispo`` the weight of each token's gradient, ``reinforce`` uses no ratio."""
    ratio: RatioLevel = "token"
    """Ratio of each token, or the geometric mean of its completion (GSPO)."""
    clip_low: Annotated[float, Range(0, 1)] = 0.2
    """The ratio is clipped below at 1 - ``clip_low``."""
    clip_high: Annotated[float, Range(0)] = 0.28
    """The ratio is clipped above at 1 + ``clip_high``."""
    dual_clip: Annotated[float | None, Range(above=1)] = None
    """Under ``ppo``: bound on the ratio where the advantage is negative, above 1 (3 is usual); none: no bound."""
    sampler_clip: Annotated[float | None, Range(above=1)] = None
    """Weight tokens by the loss's probability over the sampler's, at most this (2 is usual); none: no weights."""
    entropy_coef: Annotated[float, Range()] = 0.0
    """Weight of an entropy bonus in the loss."""
    kl_coef: Annotated[float, Range(0)] = 0.0
    """Weight of the KL penalty to the starting model; at 0 no reference model is kept."""
    kl_estimator: Estimator = "k3"
    """k1, k2 or k3 (see ``losses.kl_penalty``)."""
    kl_ratio: bool = False
    """Multiply the KL estimate by the ratio: unbiased, gradient included, for samples of older weights."""
    reference_every: Annotated[int, Range(0)] = 0
    """Take the current model as the new reference every so many steps (iterative GRPO); 0: the first one stays."""
    curriculum: Literal["schedule", "pass_rate"] | None = None
    """Order of the examples: easy ones first, or by how often each was wrong; none: a new order every epoch."""
    curriculum_by: str | None = None
    """Under ``schedule``: column, path or template with a number, larger for harder; none: data in that order."""
    curriculum_start: Annotated[float, Range(0, 1)] = 0.2
    """Under ``schedule``: share of the examples, the easiest, that the first step draws from."""
    curriculum_steps: Annotated[int, Range(0)] = 50
    """Under ``schedule``: steps until all examples are drawn from."""
    resample: str | None = None
    """Dynamic sampling: replace groups in which this part of the reward, such as accuracy, is the same for all."""
    resample_rounds: Annotated[int, Range(0)] = 3
    """How often at most a step samples further prompts for ``resample``."""
    truncated: Literal["keep", "zero", "mask"] = "keep"
    """Truncated completions: learn from them; or their rewards are 0; or they are out of the loss, not the baseline."""
    updates_per_step: Annotated[int, Range(1)] = 1
    """mu: optimizer updates on each step's samples."""
    max_unscored_share: Annotated[float, Range(0, 1)] = 0.1
    """Stop when more than this share of a step's completions cannot be scored."""

    lora_rank: Annotated[int, Range(0)] = 0
    """Train a LoRA adapter of this rank and leave the weights as they are (Hu et al. 2021); 0: train all weights."""
    lora_alpha: Annotated[float, Range(0)] = 32.0
    """What the adapter adds is scaled by ``lora_alpha`` / ``lora_rank``."""
    lora_target: str = "all-linear"
    """Layers that the adapter is of: all linear ones but the head, or names (``q_proj,v_proj``)."""
    optimizer: Literal["adamw", "adamw_bf16", "adamw_8bit"] = "adamw"
    """``adamw_bf16``: weights, gradients, moments in bfloat16, rounded at random; ``adamw_8bit``: moments in 8 bits."""
    learning_rate: Annotated[float, Range(above=0)] = 1e-6
    """Peak learning rate of AdamW."""
    warmup_steps: Annotated[int, Range(0)] = 3
    """Steps of linear warm-up."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """After the warm-up: fall along a cosine to ``lr_floor``, or stay."""
    lr_floor: Annotated[float, Range(0, 1)] = 0.1
    """Where the cosine ends, as a share of ``learning_rate``."""
    adam_beta1: Annotated[float, Range(0, 0.999999)] = 0.9
    """AdamW's decay of the first moment."""
    adam_beta2: Annotated[float, Range(0, 0.999999)] = 0.95
    """AdamW's decay of the second moment."""
    weight_decay: Annotated[float, Range(0)] = 0.0
    """AdamW's weight decay."""
    max_grad_norm: Annotated[float, Range(above=0)] = 1.0
    """The gradient is scaled down to this norm."""
    micro_batch_tokens: Annotated[int, Range(1)] = 4096
    """Token positions per forward and backward pass, padding included: memory against speed, for the same gradient."""
    share_prompts: bool = True
    """Compute a group's prompt once in the loss, and no padding, where the model's family can."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, a third more time."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """``bf16`` computes in bfloat16 over float32 weights; ``auto`` does so where a GPU supports it."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """``auto`` takes CUDA, else MPS, else the CPU."""

    eval_every: Annotated[int, Range(0)] = 25
    """Evaluate on held-out examples every so many steps, and before and after; 0: only before and after."""
    eval_examples: Annotated[int, Range(1)] = 200
    """Held-out examples per evaluation."""
    eval_samples: Annotated[int, Range(0)] = 1
    """Sampled completions per held-out example, beside the greedy one; 0: none."""
    save_every: Annotated[int, Range(0)] = 50
    """Checkpoint every so many steps, and at the end; 0: only at the end."""
    keep_checkpoints: Annotated[int, Range(1)] = 2
    """Checkpoints to keep."""
    tracker: Literal["tensorboard", "wandb", "trackio"] | None = None
    """Send the metrics there too; each needs its package: ``pip install 'grpo_env[tensorboard]'``."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.dual_clip is not None and self.surrogate != "ppo":
            raise UsageError(f"dual_clip belongs to surrogate=ppo, not to {self.surrogate}")
        if self.surrogate == "reinforce" and self.ratio != "token":
            raise UsageError("surrogate=reinforce has no ratio; leave ratio out")
        if self.normalise == "parts" and self.supervision == "process":
            raise UsageError("normalise=parts is about the outcome; use supervision=outcome or both")
        if self.curriculum_by is not None and self.curriculum != "schedule":
            raise UsageError("curriculum_by belongs to curriculum=schedule")
        if self.reference_every and not self.kl_coef:
            raise UsageError("reference_every needs a reference model: set kl_coef above 0")

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any], source: str = "settings") -> Self:
        """A config from names and values, as they stand in YAML or on the command line.

        Raises ``UsageError``, beginning with ``source``, for an unknown name (with the nearest known one, also from
        what other libraries call it), a wrong type, or a value out of range.
        """
        checked = checked_types(cls, settings, source, ALIASES)
        try:
            return cls(**expand(checked))
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from None
