"""Another sampler: transformers' continuous batching, with keys and values in pages, where rows may end at any time."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence

import torch
from transformers import GenerationConfig
from transformers.generation import ContinuousBatchingConfig

from grpo_env.errors import DivergedError, RunError

from .policy import Policy


def decode_in_pages(
    policy: Policy,
    prompts: Sequence[list[int]],
    group_size: int,
    max_new_tokens: int,
    temperature: float,
    seeds: Sequence[str],
    ended: Callable[[int, list[list[int]], list[list[float]]], None],
) -> None:
    """Calls ``ended`` for every group: its number, and each row's tokens and their log-probabilities.

    One generator, which starts from all ``seeds``, draws for all rows: the same call gives the same rows. It works on
    a copy of the weights in the type that the policy computes in. Raises ``RunError``.
    """
    rows, pages = len(prompts) * group_size, -(-(max(map(len, prompts)) + max_new_tokens) // 256)
    sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
    copies = group_size if temperature else 1  # it makes no copies of a greedy row
    settings = GenerationConfig(eos_token_id=policy.end_ids or -1, num_return_sequences=copies, **sampling)
    batching = ContinuousBatchingConfig(
        num_blocks=rows * pages,  # or it would take most of the memory
        max_requests_per_batch=rows,
        max_batch_tokens=min(8192, rows + sum(map(len, prompts))),
        auto_switch_to_flash=policy.autocast is not None,  # where it is installed; it does not know float32
        return_logprobs=True,
        seed=random.Random("/".join(seeds)).getrandbits(31),
    )
    groups: list[list[tuple[str, list[int], list[float]]]] = [[] for _ in prompts]
    try:
        model = copy.deepcopy(policy.model).to(policy.autocast or torch.float32)
        model.set_attn_implementation("sdpa")
        manager = model.init_continuous_batching(settings, batching)
    except Exception as error:  # every family that it does not know says so in a way of its own
        raise RunError(
            f"sampling.engine=transformers cannot sample from {policy.name} ({error}); use sampling.engine=own"
        ) from error
    # Before the start, or it would be a matter of time which rows are in the first batch.
    numbers = {name: number for number, name in enumerate(manager.add_requests(list(prompts), max_new_tokens))}
    manager.start()
    try:
        while any(len(group) < copies for group in groups):
            result = manager.get_result(timeout=1)
            if result is None and manager.is_running():
                continue
            if result is None or result.error:
                why = str(result.error if result else "its thread has ended")
                # What torch.multinomial says of logits that are not finite, on a CPU and on CUDA.
                kind = DivergedError if "`nan`" in why or "device-side assert" in why else RunError
                raise kind(
                    f"sampling.engine=transformers has stopped ({why}); try a lower optimizer.learning_rate, or "
                    "sampling.engine=own"
                )
            number = numbers[result.request_id.partition("__child#")[0]]
            groups[number].append((result.request_id, result.generated_tokens, result.logprobs))
            if len(groups[number]) == copies:
                _, tokens, logps = zip(*sorted(groups[number]) * (group_size // copies), strict=True)
                ended(number, list(tokens), list(logps))
    finally:
        manager.stop(hard_stop=True)
        manager.destroy()
