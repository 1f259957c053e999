"""DeepSpeed's ZeRO (Rajbhandari et al. 2020), where accelerate is set up for it.

Stage 2: every process keeps a share of the gradients and of AdamW's moments. Stage 3: of the weights too. The engine
that accelerate makes runs on GPUs only and takes a step at every backward pass; this one is of the same configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import DeepSpeedPlugin, parse_flag_from_env
from torch import Tensor

from grpo_env.errors import UsageError

if TYPE_CHECKING:
    from ...config import TrainConfig
    from ..policy import Policy

MOMENTS = ("exp_avg", "exp_avg_sq")


def check_setup(kind: str, needs: dict[str, bool], policy: Policy, config: TrainConfig) -> None:
    """Raises ``UsageError`` if shares of this kind need what is not the case."""
    needs = {
        **needs,
        "optimizer.name=adamw": config.optimizer.name == "adamw",
        "sampling.engine=own": config.sampling.engine == "own",
        "training of all weights, not of an adapter": all(part.requires_grad for part in policy.model.parameters()),
    }
    if missing := [need for need, met in needs.items() if not met]:
        raise UsageError(f"accelerate is set up for {kind}, which needs {', '.join(missing)}; see docs/scaling.md")


def with_engine(policy: Policy, optimizer: torch.optim.Optimizer, config: TrainConfig) -> Policy:
    """The policy with an engine over model and optimizer, if ``accelerate config`` says so and there are processes.

    Its learning rate is still that of the optimizer's groups. Raises ``UsageError`` for what does not go with it.
    """
    if policy.accelerator.num_processes == 1 or not parse_flag_from_env("ACCELERATE_USE_DEEPSPEED"):
        return policy
    asked = DeepSpeedPlugin()
    needs = {
        "zero_stage: 2 or 3": asked.zero_stage in (2, 3),
        "offload_optimizer_device: none": asked.offload_optimizer_device == "none",
        "offload_param_device: none": asked.offload_param_device == "none",
        "no optimizer or scheduler of its own": not {"optimizer", "scheduler"} & asked.deepspeed_config.keys(),
    }
    check_setup("DeepSpeed", needs, policy, config)
    try:
        import deepspeed
    except ImportError as error:
        raise UsageError("accelerate is set up for DeepSpeed: pip install 'grpo_env[deepspeed]'") from error
    zero = {key: value for key, value in asked.deepspeed_config["zero_optimization"].items() if value != "auto"}
    engine, *_ = deepspeed.initialize(
        model=policy.model,
        optimizer=optimizer,
        config={
            "train_micro_batch_size_per_gpu": 1,
            "managed_gradient_accumulation": False,  # as many backward passes as there are, then a step
            "gradient_clipping": config.optimizer.max_grad_norm,
            "zero_allow_untested_optimizer": True,
            "steps_per_print": None,
            # A weight that stayed whole would be in two places, see ``Policy.holding``.
            "zero_optimization": {**zero, "stage3_param_persistence_threshold": 0},
        },
    )
    return replace(policy, engine=engine, has_head_apart=policy.has_head_apart and asked.zero_stage == 2)


def backward(policy: Policy, loss: Tensor) -> None:
    """Add a loss's gradient to that of the step: to the sum over processes, where the engine takes the mean."""
    policy.engine.optimizer.clear_backward_seen_flag()  # the engine's own forward pass does; stage 3 counts by it
    policy.engine.backward(loss * policy.accelerator.num_processes)


@contextmanager
def gathered(engine: Any) -> Iterator[None]:
    """Every process has all weights, and the engine's hooks, which would free them layer by layer, are gone."""
    layers = getattr(engine.optimizer, "parameter_offload", None)
    if layers is None:  # stage 2
        yield
        return
    import deepspeed

    engine.empty_partition_cache()
    with deepspeed.zero.GatheredParameters(engine.module.parameters()):
        layers._remove_module_hooks()
        layers.forward_hooks.clear()
        layers.backward_hooks.clear()
        try:
            yield
        finally:
            layers.setup_zero_stage3_hooks()


def whole_weights(policy: Policy, keep: bool) -> dict[str, Any]:
    """The trained weights on the CPU, ``None`` where a process does not keep them."""
    with gathered(policy.engine):
        return {name: weight.detach().to("cpu", copy=True) if keep else None for name, weight in policy.trained.items()}


def whole_state(
    policy: Policy, optimizer: torch.optim.Optimizer, reference: Mapping[str, Tensor] | None, keep: bool
) -> dict[str, Any]:
    """Optimizer, reference and weights as a process without shares has them, on the CPU."""
    from deepspeed.utils import safe_get_full_optimizer_state

    weights = list(policy.trained.values())
    group = {**optimizer.param_groups[0], "params": list(range(len(weights)))}
    moments: dict[int, Any] = {}
    for place, weight in enumerate(weights if optimizer.state else ()):
        full = {key: safe_get_full_optimizer_state(weight, key).cpu() for key in MOMENTS}
        moments[place] = {"step": next(iter(optimizer.state.values()))["step"].cpu(), **full} if keep else None
    state: dict[str, Any] = {"optimizer": {"state": moments, "param_groups": [group]}, "reference": None}
    if reference is not None:
        with policy.holding(reference):
            state["reference"] = whole_weights(policy, keep)
    return {**state, "weights": whole_weights(policy, keep)}


def share(policy: Policy, tensor: Tensor) -> Tensor:
    """What this process holds of a whole tensor: in stage 3 its part of the flat, padded tensor."""
    if policy.engine.zero_optimization_stage() == 2:
        return tensor
    accelerator = policy.accelerator
    padded = torch.nn.functional.pad(tensor.flatten(), (0, -tensor.numel() % accelerator.num_processes))
    return padded.view(accelerator.num_processes, -1)[accelerator.process_index]


def load_optimizer(policy: Policy, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Take up a state of ``whole_state``, after the weights; its moments as ``share`` gives them."""
    from deepspeed.utils import safe_set_full_optimizer_state, safe_set_local_optimizer_state

    zero, stage = policy.engine.optimizer, policy.engine.zero_optimization_stage()
    zero.refresh_fp32_params()  # its own copy of this process's share of the weights
    if not state["state"]:
        return
    for flat in zero.single_partition_of_fp32_groups if stage == 2 else zero.fp32_partitioned_groups_flat:
        optimizer.state[flat] = {key: torch.zeros_like(flat) for key in MOMENTS}
        optimizer.state[flat]["step"] = state["state"][0]["step"].to(flat.device, copy=True)
    if stage == 2:
        zero._lazy_init_hp_params_optimizer_state()  # so that it finds them by weight
    put = safe_set_full_optimizer_state if stage == 2 else safe_set_local_optimizer_state
    for place, weight in enumerate(policy.trained.values()):
        for key in MOMENTS:
            put(weight, state["state"][place][key], key)
