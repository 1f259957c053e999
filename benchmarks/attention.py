"""Attention on one core: torch's fused kernel against the trainer's matrix products, on the same states.

    python benchmarks/attention.py

Prints milliseconds (best of many, by turns) for a decoding step and for a forward and backward pass of short sequences.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import patch

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from grpo_env.trainer.engine.fast.attention import attention_forward

# rows, heads, key and value heads, queries, keys, size, type: the bundled model, then SmolLM2-135M
CASES = [
    (64, 4, 4, 1, 50, 32, torch.float32),
    (64, 9, 3, 1, 60, 64, torch.bfloat16),
    (64, 9, 3, 1, 130, 64, torch.bfloat16),
    (64, 4, 4, 34, 59, 32, torch.float32),
    (16, 9, 3, 63, 88, 64, torch.bfloat16),
    (16, 9, 3, 63, 228, 64, torch.bfloat16),
]


def milliseconds(*functions: Callable[[], object], rounds: int = 15) -> list[float]:
    """The best time of each function; they take turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for number, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[number] = min(best[number], time.perf_counter() - start)
    return [1000 * seconds for seconds in best]


def main() -> None:
    torch.set_num_threads(1)
    print("| rows | heads | queries | keys | size | type | pass | fused | products | ratio |\n" + "|---" * 10 + "|")
    for rows, heads, kv_heads, queries, keys, size, dtype in CASES:
        shapes = ((heads, queries), (kv_heads, keys), (kv_heads, keys))
        states = [torch.randn(rows, *shape, size, dtype=dtype, requires_grad=queries > 1) for shape in shapes]
        mask = torch.arange(keys) <= torch.arange(queries)[:, None] + keys - queries
        module = SimpleNamespace(is_causal=True, num_key_value_groups=heads // kv_heads)
        inputs = (*states, mask.expand(rows, 1, queries, keys))

        def run(
            attend: Callable[..., tuple[torch.Tensor, None]], module: object = module, inputs: tuple = inputs
        ) -> None:
            output, _ = attend(module, *inputs)
            if output.requires_grad:
                output.sum().backward()

        with patch("grpo_env.trainer.engine.fast.attention._prefers_fused", lambda *_: False):
            fused, products = milliseconds(lambda: run(sdpa_attention_forward), lambda: run(attention_forward))
        what = "forward" if queries == 1 else "forward, backward"
        print(f"| {rows} | {heads}/{kv_heads} | {queries} | {keys} | {size} | {str(dtype)[6:]} | {what} ", end="")
        print(f"| {fused:.2f} | {products:.2f} | {fused / products:.1f} x |")


if __name__ == "__main__":
    main()
