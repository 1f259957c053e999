"""AdamW in half the memory: weights, gradients and moments in bfloat16, whose updates are rounded at random.

A bfloat16 has eight significant bits, so an update of less than a 512th of a weight would always be rounded away, and
at GRPO's learning rates all are. Rounded up as often as it is near, the update is right on average (Gupta et al. 2015,
section 3).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim.adamw import adamw

# Weights that are in float32 at the same time: the five tensors of an update then take 80 MB, whatever the model.
CHUNK = 2**22


def rounded(values: Tensor, draws: Tensor) -> Tensor:
    """Float32 values as one of their two neighbours in bfloat16, the nearer one more often.

    ``draws``, of the values' shape, are whole numbers of 0 to 2**16 - 1, all equally likely.
    """
    return (values.view(torch.int32) + draws).bitwise_and_(-(2**16)).view(torch.float32).bfloat16()


class RoundingAdamW(torch.optim.AdamW):
    """AdamW that computes each update in float32 and keeps the outcome in bfloat16.

    The draws depend on ``seed`` and on the number of updates alone, so a run that is resumed needs no state of theirs.
    The first moment is rounded to the nearest: it forgets faster than such errors add up.
    """

    def __init__(self, weights: Any, seed: int, **settings: Any) -> None:
        super().__init__(weights, fused=True, **settings)
        self._seed = seed

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of all weights that have a gradient."""
        generator = None
        for group in self.param_groups:
            settings = {name: group[name] for name in ("lr", "weight_decay", "eps", "amsgrad", "maximize")}
            settings["beta1"], settings["beta2"] = group["betas"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["step"] = torch.zeros((), device=weight.device)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
                if generator is None:
                    number = self._seed * 2**32 + int(state["step"])
                    generator = torch.Generator(weight.device).manual_seed(number % 2**63)
                kept = weight, state["exp_avg"], state["exp_avg_sq"], weight.grad.contiguous()
                for part in zip(*(held.view(-1).split(CHUNK) for held in kept), strict=True):
                    value, first, second, grad = (held.float() for held in part)
                    adamw([value], [grad], [first], [second], [], [state["step"].clone()], fused=True, **settings)
                    draws = torch.empty_like(value, dtype=torch.int32).random_(-(2**31), 2**31 - 1, generator=generator)
                    part[0].copy_(rounded(value, draws.bitwise_and(2**16 - 1)))
                    part[1].copy_(first)
                    part[2].copy_(rounded(second, draws.bitwise_right_shift_(16).bitwise_and_(2**16 - 1)))
                state["step"] += 1
