"""The settings of a training run: one model of nested groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from grpo_env.errors import UsageError
from grpo_env.registry import locate

from .groups import (
    AdvantageConfig,
    CheckpointConfig,
    DynamicSamplingConfig,
    EngineConfig,
    EvalConfig,
    KLConfig,
    LoraConfig,
    LossConfig,
    OptimizerConfig,
    RewardModelConfig,
    SamplingConfig,
    Settings,
    StepValuesConfig,
    engine_here,
)
from .messages import explained, unknown
from .presets import PRESETS

STEPS = "supervision=process or both"
NEEDS = (
    ("kl.reference_sync_every", "kl.coef", "kl.coef above 0"),
    ("lora.alpha", "lora.rank", "lora.rank above 0"),
    ("step_values.rollouts", "supervision", STEPS),
    ("advantage.step_credit", "supervision", STEPS),
    *((f"reward_model.{name}", "reward_model.every", "reward_model.every above 0")
      for name in ("rule", "replay", "peak_learning_rate")),
    *((f"eval.{name}", "eval.every", "eval.every above 0") for name in ("stop_at", "patience")),
)  # fmt: skip
"""Settings that have no effect without another one, and what that has to be."""

TIS_CAP = 2.0
"""``loss.tis_cap`` of engines other than our own."""


class TrainConfig(Settings):
    """All settings of a training run."""

    model: str = "bundled"
    """Folder or hub id of a causal language model, or a bundled one: ``bundled``, ``bundled-tools``,
    ``bundled-search``."""
    seed: int = Field(default=0, ge=0, le=2**31)
    """Of the order of the examples and of every sample."""
    steps: int = Field(default=100, ge=0)
    """Steps, each of ``prompts_per_step`` x ``group_size`` completions."""
    epochs: float | None = Field(default=None, gt=0)
    """In place of ``steps``: passes over the training examples, rounded up to steps."""
    prompts_per_step: int = Field(default=16, ge=1)
    """P: prompts per step, over all processes."""
    group_size: int = Field(default=8, ge=2)
    """G: completions per prompt."""
    supervision: Literal["outcome", "process", "both"] = "outcome"
    """Advantages from the reward of the whole completion, of its steps, or both."""
    preset: Literal["grpo", "dr_grpo", "dapo", "gspo"] | None = None
    """The settings of a paper; explicit ones take precedence."""
    max_unscored_fraction: float = Field(default=0.1, ge=0, le=1)
    """The run stops when more of a step's completions cannot be scored."""
    tracker: Literal["tensorboard", "wandb", "trackio"] | None = None
    """Also send the metrics there; needs its package."""

    sampling: SamplingConfig = SamplingConfig()
    dynamic_sampling: DynamicSamplingConfig = DynamicSamplingConfig()
    step_values: StepValuesConfig = StepValuesConfig()
    reward_model: RewardModelConfig = RewardModelConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    kl: KLConfig = KLConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    lora: LoraConfig = LoraConfig()
    engine: EngineConfig = EngineConfig()
    eval: EvalConfig = EvalConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()

    @model_validator(mode="after")
    def _steps_or_epochs(self) -> Self:
        if self.epochs is not None and "steps" in self.model_fields_set:
            raise ValueError(f"steps={self.steps} and epochs={self.epochs:g} both say how long the run is; give one")
        return self

    @model_validator(mode="after")
    def _settings_have_an_effect(self) -> Self:
        values = flatten(self.model_dump())
        for name, needed, what in NEEDS:
            if values[name] != FIELDS[name].default and values[needed] in (0, "outcome"):
                raise ValueError(f"{name}={values[name]} has no effect: it needs {what}")
        if self.advantage.step_credit is not None and self.step_values.rollouts:
            raise ValueError("advantage.step_credit has no effect with step_values.rollouts; leave one out")
        return self

    @model_validator(mode="after")
    def _mini_batches_are_equal(self) -> Self:
        if self.prompts_per_step % self.optimizer.mini_batches:
            raise ValueError(
                f"prompts_per_step={self.prompts_per_step} cannot be divided into optimizer.mini_batches="
                f"{self.optimizer.mini_batches} with the same number of groups"
            )
        return self

    def in_steps(self, examples: int, report: Callable[[str], None]) -> Self:
        """With ``steps`` in place of ``epochs``, for so many training examples, and a line that says so."""
        if self.epochs is None:
            return self
        steps = math.ceil(round(self.epochs * examples / self.prompts_per_step, 9))  # .07 * 100 is above 7
        report(f"epochs     {self.epochs:g} of {examples:,} examples, {self.prompts_per_step} a step: {steps:,} steps")
        return self.model_copy(update={"steps": steps, "epochs": None})

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
        merged = _merged(flatten(defaults or {}, source), flatten(settings, source))
        if merged.get("sampling.engine", "auto") == "auto":  # settled here, so that a run resumes with the same one
            device = str(merged.get("engine.device", "auto"))
            merged["sampling.engine"] = "vllm" if merged.get("sampling.url") else engine_here(device)
        if merged["sampling.engine"] != "own":  # vLLM's probabilities differ slightly from the loss's
            merged.setdefault("loss.tis_cap", TIS_CAP)
        for name in merged:
            if name not in FIELDS:
                raise UsageError(f"{source}: {unknown(name, merged[name], FIELDS, GROUPS)}")
        try:
            return cls.model_validate(_nested(merged))
        except ValidationError as error:
            raise UsageError(f"{source}: {explained(error, FIELDS)}") from None


def _merged(defaults: dict[str, Any], explicit: dict[str, Any]) -> dict[str, Any]:
    """Flat settings, of which explicit ones take precedence: also ``epochs`` over ``steps``, and presets as a whole."""
    if explicit.keys() & {"steps", "epochs"}:
        defaults = {name: value for name, value in defaults.items() if name not in ("steps", "epochs")}
    if "preset" in explicit:  # it replaces that of the defaults whole
        return defaults | PRESETS.get(str(explicit["preset"]), {}) | explicit
    return PRESETS.get(str(defaults.get("preset")), {}) | defaults | explicit


FIELDS: dict[str, FieldInfo] = {}
"""Every setting by its dotted name."""
for _name, _field in TrainConfig.model_fields.items():
    _group = getattr(_field.annotation, "model_fields", None)
    FIELDS |= {_name: _field} if _group is None else {f"{_name}.{key}": leaf for key, leaf in _group.items()}
GROUPS = tuple(name for name in TrainConfig.model_fields if name not in FIELDS)


def flatten(settings: Mapping[str, Any], source: str = "settings") -> dict[str, Any]:
    """Nested settings under dotted names. Raises ``UsageError`` for a setting that is given twice."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        leaves = {str(name): value}
        if isinstance(value, Mapping):
            leaves = {f"{name}.{key}": leaf for key, leaf in flatten(value, source).items()}
        if twice := flat.keys() & leaves:
            raise UsageError(f"{source}: {min(twice)} is given twice")
        flat |= leaves
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
