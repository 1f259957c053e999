"""What each fast path of ``trainer/engine/fast`` gains on one CPU core: switched off alone, by turns, in one process.

    python benchmarks/fast_paths.py                       # the bundled model, float32
    python benchmarks/fast_paths.py --precision bf16      # the same in bfloat16
    python benchmarks/fast_paths.py --shape smollm2       # SmolLM2-135M's shape with random weights, bfloat16

Prints processor seconds (the least of several rounds, by turns) of a forward and backward pass of the loss and of
sampling, the memory that the loss keeps for its gradient, and all of them relative to the run with all paths.
Completions of the loss are random tokens with lengths spread evenly, and sampled ones all have the maximum length.
Nothing here depends on their content.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from accelerate import Accelerator
from torch.autograd.graph import saved_tensors_hooks
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.trainer.engine.decoder import Decoder
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.forward import completion_states, with_fast_paths
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import own

ENGINE = "grpo_env.trainer.engine"
SMOLLM2 = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
           "num_attention_heads": 9, "num_key_value_heads": 3, "tie_word_embeddings": True, "bos_token_id": 0,
           "eos_token_id": 0, "max_position_embeddings": 8192}  # fmt: skip

# What is replaced to switch a path off: in the loss and in sampling; ``None`` where it plays no part.
OFF: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]] = {
    "all paths": ({}, {}),
    "without packed.py": ({}, None),
    "packed.py in one chunk": ({f"{ENGINE}.fast.packed.CHUNKS": 1}, None),
}


def smollm2() -> Policy:
    """The shape of SmolLM2-135M with random weights."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMOLLM2)).eval()
    install_attention(model)
    tokenizer = type("Words", (), {"decode": lambda self, ids, **options: "", "eos_token_id": None})()
    return Policy("smollm2", model, tokenizer, Accelerator(cpu=True), torch.bfloat16)


def saved_bytes(policy: Policy, run: Callable[[], torch.Tensor]) -> int:
    """Bytes that autograd keeps from a forward pass, counting each storage once."""
    weights = {weight.untyped_storage().data_ptr() for weight in policy.model.parameters()}
    sizes: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        value = run()
    del value
    return sum(sizes.values())


def loss(policy: Policy, options: argparse.Namespace) -> torch.Tensor:
    rows = options.prompts * options.group
    draw = torch.Generator().manual_seed(1)
    prompts = torch.randint(2, 270, (options.prompts, options.prompt_tokens), generator=draw)
    mask = torch.arange(options.tokens) < torch.linspace(1, options.tokens, rows).round().long()[:, None]
    ids = torch.randint(2, 270, mask.shape, generator=draw).where(mask, 0)
    pieces = completion_states(policy, prompts.repeat_interleave(options.group, 0).tolist(), ids, mask)
    return torch.stack([states.float().square().sum() for states, _ in pieces]).sum()


def decode(policy: Policy, options: argparse.Namespace) -> None:
    prompts = torch.randint(2, 270, (options.prompts, options.prompt_tokens)).tolist()
    with own.decoding_context(policy):
        decoder = Decoder(policy, prompts, options.group, options.tokens)
        for _ in range(options.tokens - 1):
            decoder.append(decoder.logits.argmax(-1))


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    value = run()
    if value is not None:
        value.backward()
    return time.process_time() - start


def measured(policy: Policy, options: argparse.Namespace) -> Iterator[tuple[str, str, list[float], int | None]]:
    for number, (kind, function) in enumerate({"loss": loss, "sampling": decode}.items()):
        if options.only not in (None, kind):
            continue
        variants = {name: patches[number] for name, patches in OFF.items() if patches[number] is not None}
        times: dict[str, list[float]] = {name: [] for name in variants}
        sizes: dict[str, int] = {}
        for turn in range(options.rounds + 1):
            for name, patches in variants.items():
                with ExitStack() as stack:
                    for target, value in patches.items():
                        stack.enter_context(patch(target, value))
                    variant = replace(policy, shares_prompts=name != "without packed.py")
                    run = partial(function, variant, options)
                    if turn:
                        times[name].append(seconds(run))
                    elif number == 0:
                        sizes[name] = saved_bytes(policy, run)
                policy.model.zero_grad()
        yield from ((kind, name, times[name], sizes.get(name)) for name in variants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=("bundled", "smollm2"), default="bundled")
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--group", type=int, default=8, help="completions a prompt")
    parser.add_argument("--prompt-tokens", type=int, default=24)
    parser.add_argument("--tokens", type=int, default=64, help="longest completion")
    parser.add_argument("--only", choices=("loss", "sampling"))
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the bundled model")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    torch.set_num_threads(1)
    policy = (
        load_policy("bundled", device="cpu", precision=options.precision) if options.shape == "bundled" else smollm2()
    )
    policy = with_fast_paths(policy)
    print(f"{options.shape}, {options.prompts} x {options.group} completions of up to {options.tokens} tokens\n")
    print("| | | CPU s | time | kept, MB | memory |\n|---|---|---|---|---|---|")
    first: dict[str, tuple[float, int | None]] = {}
    for kind, name, times, size in measured(policy, options):
        base = first.setdefault(kind, (min(times), size))
        memory = f"{size / 1e6:.1f} | {size / base[1]:.2f}" if size and base[1] else " | "
        print(f"| {kind} | {name} | {min(times):.3f} | {min(times) / base[0]:.2f} | {memory} |", flush=True)


if __name__ == "__main__":
    main()
