"""The packed loss on one core, with and without our own layers and attention in chunks of rows.

    python benchmarks/layers.py                                   # the bundled model, float32
    python benchmarks/layers.py --model FOLDER --precision bf16

Completions are random tokens, because nothing here depends on their content. Prints processor seconds of a forward and
backward pass (median, by turns), and the memory kept between them, without weights.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from unittest.mock import patch

import torch
from torch.autograd.graph import saved_tensors_hooks

from grpo_env.trainer.engine.fast.layers import FAMILIES
from grpo_env.trainer.engine.fast.packed import CHUNKS
from grpo_env.trainer.engine.forward import completion_states, with_fast_paths
from grpo_env.trainer.engine.policy import Policy, load_policy


def loss(policy: Policy, prompts: list[list[int]], ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.stack(
        [states.float().square().sum() for states, _ in completion_states(policy, prompts, ids, mask)]
    ).sum()


def saved_bytes(policy: Policy, *inputs: object) -> int:
    """Bytes that autograd keeps from a forward pass, counting each storage once."""
    weights = {weight.untyped_storage().data_ptr() for weight in policy.model.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        value = loss(policy, *inputs)  # type: ignore[arg-type]
    del value
    return sum(sizes.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="bundled", help="bundled, or a folder")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--group", type=int, default=8, help="completions a prompt")
    parser.add_argument("--prompt-tokens", type=int, default=24)
    parser.add_argument("--tokens", type=int, default=64, help="longest completion; lengths are spread evenly up to it")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    policy = with_fast_paths(load_policy(options.model, device="cpu", precision=options.precision), share_prompts=True)
    rows = options.prompts * options.group
    prompts = torch.randint(2, 300, (options.prompts, options.prompt_tokens)).repeat_interleave(options.group, 0)
    lengths = torch.linspace(1, options.tokens, rows).round().long()
    mask = torch.arange(options.tokens) < lengths[:, None]
    ids = torch.randint(2, 300, mask.shape).where(mask, 0)
    inputs = policy, prompts.tolist(), ids, mask

    variants = {
        "ours": (FAMILIES, CHUNKS),
        "transformers' layers": ((), CHUNKS),
        "all rows in one chunk": (FAMILIES, 1),
    }
    times: dict[str, list[float]] = {name: [] for name in variants}
    sizes: dict[str, int] = {}
    for turn in range(options.rounds + 1):
        for name, (families, chunks) in variants.items():
            with (
                patch("grpo_env.trainer.engine.fast.layers.FAMILIES", families),
                patch("grpo_env.trainer.engine.fast.packed.CHUNKS", chunks),
            ):
                sizes[name] = saved_bytes(*inputs) if not turn else sizes[name]
                start = time.process_time()
                loss(*inputs).backward()
                policy.model.zero_grad()
                if turn:
                    times[name].append(time.process_time() - start)
    print(f"{options.model}, {options.precision}, {rows} completions of 1 to {options.tokens} tokens\n")
    print("| | CPU s | kept, MB | relative time | relative memory |\n|---|---|---|---|---|")
    for name, seconds in times.items():
        ratios = median(seconds) / median(times["ours"]), sizes[name] / sizes["ours"]
        print(f"| {name} | {median(seconds):.3f} | {sizes[name] / 1e6:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")


if __name__ == "__main__":
    main()
