"""How many operators the attention of the packed loss is: padded parts, and variable-length flash attention.

    python benchmarks/operators.py                # 4 prompts of 60 tokens, 8 completions of 1 to 128 tokens each

An operator that computes is a kernel or more on a GPU; views are not counted. Flash attention is not run, for it needs
a GPU: an operator of the same shapes stands for its forward and another for its backward pass. Counts do not depend on
the machine. One attention, forward and backward, in the shape of Qwen2.5-1.5B; in float32, where a CPU takes torch's
fused kernel for the padded parts, as CUDA does.
"""

from __future__ import annotations

import argparse
from collections import Counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from grpo_env.trainer.engine.fast import varlen
from grpo_env.trainer.engine.fast.packed import Layout, PaddedLayout
from grpo_env.trainer.engine.fast.varlen import VarlenLayout

HEADS, KV_HEADS, SIZE = 12, 2, 128
VIEWS = ("view", "transpose", "slice", "select", "split", "expand", "unsqueeze", "squeeze", "detach", "t", "permute")


class Kernel(torch.autograd.Function):
    """Stands for the two kernels of flash attention."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        context.save_for_backward(query, key, value)
        return query.new_empty(query.shape)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, ...]:
        return tuple(states.new_empty(states.shape) for states in context.saved_tensors)


class Count(TorchDispatchMode):
    """Counts the operators that compute."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__.strip("_")
        if name not in VIEWS:
            self.counts[name] += 1
        return func(*args, **(kwargs or {}))


def attend(layout: Layout, tokens: int) -> None:
    query = torch.randn(tokens, HEADS, SIZE, requires_grad=True)
    key, value = (torch.randn(tokens, KV_HEADS, SIZE, requires_grad=True) for _ in range(2))
    gradient = torch.ones(tokens, HEADS, SIZE)
    module = SimpleNamespace(is_causal=True, num_key_value_groups=HEADS // KV_HEADS)
    with patch.object(varlen, "varlen_attn", lambda q, k, v, *_, **__: Kernel.apply(q, k, v)), Count() as count:
        attended = layout.attend(module, query, key, value, window=None, scaling=SIZE**-0.5, softcap=None)
        attended.backward(gradient)
    if isinstance(layout, VarlenLayout):  # one kernel, not the new tensors of each
        count.counts["new_empty"] = 2
    masks = sum(mask.numel() for mask in layout.masks(None)) if isinstance(layout, PaddedLayout) else 0
    print(f"| {type(layout).__name__} | {count.counts.total()} | {masks / 1e3:,.0f} | "
          + ", ".join(f"{name} {number}" for name, number in count.counts.most_common(6)) + " |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--prompt-tokens", type=int, default=60)
    parser.add_argument("--tokens", type=int, default=128)
    options = parser.parse_args()
    rows = options.prompts * options.group
    lengths = torch.linspace(1, options.tokens, rows).round().long()
    completions = torch.arange(options.tokens) < lengths[:, None]
    prompts = torch.ones(options.prompts, options.prompt_tokens, dtype=torch.bool)
    prompt_of = torch.arange(rows) % options.prompts
    print("| | operators | masks, kB | of which |\n|---|---|---|---|")
    for kind in (PaddedLayout, VarlenLayout):
        attend(kind(prompt_of, prompts, completions), int(prompts.sum() + lengths.sum()))


if __name__ == "__main__":
    main()
