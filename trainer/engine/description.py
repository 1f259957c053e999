"""A policy in words, for the user."""

from __future__ import annotations

from .bundled import TASKS
from .policy import Policy, count_weights
from .sharding import is_sharded


def model_line(policy: Policy) -> str:
    """Name, size, precision and device."""
    processes = policy.accelerator.num_processes
    known = f" (knows only problems like those of {TASKS[policy.name]})" if policy.name in TASKS else ""
    line = f"{policy.name}{known}: {policy.parameters:,} parameters"
    trained = count_weights(policy.trained.values())
    if trained < policy.parameters:
        line += f" ({trained:,} trained)"
    line += f", {'bf16' if policy.autocast else 'fp32'} on {policy.device}"
    if processes > 1:
        line += f", {processes} processes"
    return f"{line} with sharded weights" if is_sharded(policy) else line
