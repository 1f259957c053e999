"""AdamW in half the memory: weights, gradients and moments in bfloat16, with stochastic rounding.

A bfloat16 has eight significant bits, so round-to-nearest would discard every update of less than a 512th of a weight,
and at GRPO's learning rates that is all of them. Stochastic rounding is right on average (Gupta et al. 2015, section
3).

For the bundled model, weights, gradients and moments take 7.2 MB instead of 14.4 MB in float32, and an update 20 ms
of a CPU core instead of 2 ms (``python benchmarks/fast_paths.py --only optimizer``): it is for memory, not for speed.
Neither has been measured on a GPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim.adamw import adamw

# Weights that are converted to float32 at a time: the five tensors of an update then take 80 MB, whatever the model.
CHUNK = 2**22


def stochastic_round(values: Tensor, random_bits: Tensor) -> Tensor:
    """Float32 values as one of their two neighbors in bfloat16, the nearer one more often.

    ``random_bits``, of the values' shape, are integers that are uniform on [0, 2**16).
    """
    return (values.view(torch.int32) + random_bits).bitwise_and_(-(2**16)).view(torch.float32).bfloat16()


class StochasticRoundingAdamW(torch.optim.AdamW):
    """AdamW that computes each update in float32 and stores the result in bfloat16.

    The random bits depend only on ``seed`` and the number of updates, so resuming needs no generator state. The first
    moment is rounded to nearest: it decays faster than such errors accumulate.
    """

    def __init__(self, weights: Any, seed: int, **settings: Any) -> None:
        super().__init__(weights, fused=True, **settings)
        self._seed = seed

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update all weights that have a gradient."""
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
                tensors = weight, state["exp_avg"], state["exp_avg_sq"], weight.grad.contiguous()
                for chunk in zip(*(tensor.view(-1).split(CHUNK) for tensor in tensors), strict=True):
                    value, first, second, grad = (tensor.float() for tensor in chunk)
                    adamw([value], [grad], [first], [second], [], [state["step"].clone()], fused=True, **settings)
                    bits = torch.empty_like(value, dtype=torch.int32).random_(-(2**31), 2**31 - 1, generator=generator)
                    chunk[0].copy_(stochastic_round(value, bits.bitwise_and(2**16 - 1)))
                    chunk[1].copy_(first)
                    chunk[2].copy_(stochastic_round(second, bits.bitwise_right_shift_(16).bitwise_and_(2**16 - 1)))
                state["step"] += 1
