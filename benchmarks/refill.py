"""Sampling where memory holds only some of the completions: in waves, and with refills.

    python benchmarks/refill.py

The decoder is that of CUDA graphs; without CUDA its steps run one kernel after the other. The bundled model samples 32
prompts with 8 completions each of at most 96 tokens. With ``spread`` lengths, every token ends a row with the same
probability, so that the mean is .43 of the maximum; ``own`` is the model's own end token. A row step is a step of one
row of the batch, whether it has ended or not.
"""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median
from unittest.mock import patch

import torch
from torch import Tensor

from grpo_env.taskfile.task import load_task
from grpo_env.trainer.engine.fast.cuda_graph import CudaGraphDecoder
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.sampler import sample

PROMPTS, GROUP, TOKENS, ROUNDS = 32, 8, 96, 3


def main() -> None:
    torch.set_num_threads(1)
    policy, task = load_policy("bundled", device="cpu"), load_task("arithmetic")
    prompts = [policy.prompt_ids(example, task.format) for example in task.examples("train", PROMPTS)]
    steps: list[int] = []
    step = CudaGraphDecoder.step

    def counted(decoder: CudaGraphDecoder, tokens: Tensor) -> Tensor:
        steps.append(len(tokens))
        return step(decoder, tokens)

    print("| lengths | completions at once | steps | with refills | row steps | with refills | CPU time of waves |")
    print("|---" * 7 + "|")
    spread = list(range(round(2 / TOKENS * policy.vocab_size)))
    for name, ends, temperature in (("spread", spread, 1e6), ("own", policy.end_ids, 1.0)):
        for parts in (2, 4):
            rows: dict[bool, list[tuple[int, int, float]]] = {False: [], True: []}
            for turn in range(2 * ROUNDS):
                refills, sampling = bool(turn % 2), replace(policy, rollout_engine=OwnEngine())
                vars(sampling)["end_ids"] = ends
                steps.clear()
                with (
                    patch.object(CudaGraphDecoder, "step", counted),
                    patch.object(CudaGraphDecoder, "refills", refills),
                    patch.object(own, "decoder_for", lambda policy: CudaGraphDecoder),
                    patch.object(own, "fitting_prompts", lambda *_, parts=parts: PROMPTS // parts),
                ):
                    start = time.process_time()
                    sample(sampling, prompts, GROUP, max_new_tokens=TOKENS, temperature=temperature)
                rows[refills].append((len(steps), sum(steps), time.process_time() - start))
            waves, refilled = ([median(values) for values in zip(*rows[kind], strict=True)] for kind in (False, True))
            counts = " | ".join(f"{waves[index]:,.0f} | {refilled[index]:,.0f}" for index in (0, 1))
            print(f"| {name} | {PROMPTS // parts * GROUP} of {PROMPTS * GROUP} | {counts} ", end="")
            print(f"| {waves[2] / refilled[2]:.2f} x |")


if __name__ == "__main__":
    main()
