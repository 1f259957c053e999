"""DeepSpeed's ZeRO (Rajbhandari et al. 2020), where accelerate is set up for it.

Stage 2 shards the gradients and AdamW's moments, stage 3 the weights too. The engine that accelerate would make runs on
GPUs only and takes an optimizer step at every backward pass, so this module makes its own of the same configuration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import DeepSpeedPlugin, parse_flag_from_env
from torch import Tensor

from grpo_env.errors import UsageError

from .requirements import check_requirements

if TYPE_CHECKING:
    from ...config import TrainConfig
    from ..policy import Policy

MOMENTS = ("exp_avg", "exp_avg_sq")


def with_deepspeed(policy: Policy, optimizer: torch.optim.Optimizer, config: TrainConfig) -> Policy:
    """The policy with a DeepSpeed engine if ``accelerate config`` asks for it and there are several processes.

    The learning rate is still set on the optimizer's groups. Raises ``UsageError`` for settings that do not work with
    DeepSpeed, and where it is not installed.
    """
    if policy.accelerator.num_processes == 1 or not parse_flag_from_env("ACCELERATE_USE_DEEPSPEED"):
        return policy
    plugin = DeepSpeedPlugin()
    requirements = {
        "zero_stage: 2 or 3": plugin.zero_stage in (2, 3),
        "offload_optimizer_device: none": plugin.offload_optimizer_device == "none",
        "offload_param_device: none": plugin.offload_param_device == "none",
        "no optimizer or scheduler of its own": not {"optimizer", "scheduler"} & plugin.deepspeed_config.keys(),
    }
    check_requirements("DeepSpeed", requirements, policy, config)
    try:
        import deepspeed
    except ImportError as error:
        raise UsageError("accelerate is set up for DeepSpeed: pip install 'grpo_env[deepspeed]'") from error
    zero = {key: value for key, value in plugin.deepspeed_config["zero_optimization"].items() if value != "auto"}
    engine, *_ = deepspeed.initialize(
        model=policy.model,
        optimizer=optimizer,
        config={
            "train_micro_batch_size_per_gpu": 1,
            "managed_gradient_accumulation": False,  # any number of backward passes, then a step
            "gradient_clipping": config.optimizer.max_grad_norm,
            "zero_allow_untested_optimizer": True,
            "steps_per_print": None,
            # A weight that stayed gathered would exist twice, and ``Policy.swapped_weights`` would swap only one.
            "zero_optimization": {**zero, "stage3_param_persistence_threshold": 0},
        },
    )
    return replace(
        policy, deepspeed_engine=engine, has_separate_head=policy.has_separate_head and plugin.zero_stage == 2
    )


def backward(policy: Policy, loss: Tensor) -> None:
    """Add a loss's gradient to that of the step. The engine averages over processes; the factor makes it a sum."""
    engine = policy.deepspeed_engine
    engine.optimizer.clear_backward_seen_flag()  # the engine's own forward pass would; stage 3 counts by it
    engine.backward(loss * policy.accelerator.num_processes)


def optimizer_step(policy: Policy) -> float:
    """``weights.optimizer_step`` by the engine, which was given the norm to clip to."""
    engine = policy.deepspeed_engine
    engine.step()
    return math.inf if engine.optimizer.overflow else float(engine.get_global_grad_norm())


@contextmanager
def unsharded(engine: Any) -> Iterator[None]:
    """Every process has all weights inside the block, without the engine's hooks, which free them layer by layer."""
    offload = getattr(engine.optimizer, "parameter_offload", None)
    if offload is None:  # stage 2
        yield
        return
    import deepspeed

    engine.empty_partition_cache()
    with deepspeed.zero.GatheredParameters(engine.module.parameters()):
        offload._remove_module_hooks()
        offload.forward_hooks.clear()
        offload.backward_hooks.clear()
        try:
            yield
        finally:
            offload.setup_zero_stage3_hooks()


def full_weights(policy: Policy, keep: bool) -> dict[str, Any]:
    """The trained weights on the CPU; ``None`` for each where ``keep`` is False."""
    with unsharded(policy.deepspeed_engine):
        return {name: weight.detach().to("cpu", copy=True) if keep else None for name, weight in policy.trained.items()}


def full_model_state(policy: Policy, keep: bool) -> dict[str, Any]:
    """``weights.full_model_state`` of an engine's model."""
    buffers = dict(policy.model.named_buffers())
    state = {name: part for name, part in policy.model.state_dict().items() if name in buffers}
    return state | full_weights(policy, keep)


def full_state(
    policy: Policy, optimizer: torch.optim.Optimizer, reference: Mapping[str, Tensor] | None, keep: bool
) -> dict[str, Any]:
    """Optimizer, reference and weights on the CPU, in the layout of a process without sharding."""
    from deepspeed.utils import safe_get_full_optimizer_state

    weights = list(policy.trained.values())
    group = {**optimizer.param_groups[0], "params": list(range(len(weights)))}
    moments: dict[int, Any] = {}
    for index, weight in enumerate(weights if optimizer.state else ()):
        full = {key: safe_get_full_optimizer_state(weight, key).cpu() for key in MOMENTS}
        moments[index] = {"step": next(iter(optimizer.state.values()))["step"].cpu(), **full} if keep else None
    state: dict[str, Any] = {"optimizer": {"state": moments, "param_groups": [group]}, "reference": None}
    if reference is not None:
        with policy.swapped_weights(reference):
            state["reference"] = full_weights(policy, keep)
    return {**state, "weights": full_weights(policy, keep)}


def shard_tensor(policy: Policy, tensor: Tensor) -> Tensor:
    """What this process stores of a full tensor: all of it in stage 2, its part of the flat, padded one in stage 3."""
    if policy.deepspeed_engine.zero_optimization_stage() == 2:
        return tensor
    accelerator = policy.accelerator
    padded = torch.nn.functional.pad(tensor.flatten(), (0, -tensor.numel() % accelerator.num_processes))
    return padded.view(accelerator.num_processes, -1)[accelerator.process_index]


def load_optimizer(policy: Policy, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Restore the optimizer part of a ``full_state`` whose tensors went through ``shard_tensor``, after the weights."""
    from deepspeed.utils import safe_set_full_optimizer_state, safe_set_local_optimizer_state

    zero, stage = policy.deepspeed_engine.optimizer, policy.deepspeed_engine.zero_optimization_stage()
    zero.refresh_fp32_params()  # DeepSpeed's own copy of this process's weights
    if not state["state"]:
        return
    for flat in zero.single_partition_of_fp32_groups if stage == 2 else zero.fp32_partitioned_groups_flat:
        optimizer.state[flat] = {key: torch.zeros_like(flat) for key in MOMENTS}
        optimizer.state[flat]["step"] = state["state"][0]["step"].to(flat.device, copy=True)
    if stage == 2:
        zero._lazy_init_hp_params_optimizer_state()  # links the moments to their weights
    set_state = safe_set_full_optimizer_state if stage == 2 else safe_set_local_optimizer_state
    for index, weight in enumerate(policy.trained.values()):
        for key in MOMENTS:
            set_state(weight, state["state"][index][key], key)
