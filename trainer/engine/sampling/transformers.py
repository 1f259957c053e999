"""transformers' continuous batching as a rollout engine: keys and values in pages, and rows may end at any time."""

from __future__ import annotations

import copy
import random
from functools import partial
from typing import Any

import torch
from transformers import GenerationConfig
from transformers.generation import ContinuousBatchingConfig

from grpo_env.errors import DivergedError, RunError

from ..policy import Policy
from .protocol import OnGroupTokens, RolloutEngine, SamplingRequest
from .row_limit import RowLimit

TOKENS_PER_PAGE = 256


class TransformersEngine(RolloutEngine):
    """Samples from a copy of the weights, made for every request, in the dtype that the policy computes in.

    One generator, seeded by all ``seeds`` together, draws for all rows that are sampled at once.
    """

    def __init__(self) -> None:
        self.row_limit = RowLimit()

    @property
    def description(self) -> str:
        """See ``RolloutEngine``."""
        return "continuous batching by transformers"

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        if request.prompts:
            with torch.inference_mode(), policy.autocast_context():
                self.row_limit.generate(request, on_group, partial(_generate, policy), self.report)


def _generate(policy: Policy, request: SamplingRequest, on_group: OnGroupTokens, at_once: int) -> None:
    """Sample a request that has no more than ``at_once`` prompts."""
    copies = request.group_size if request.temperature else 1  # transformers makes no copies of a greedy row
    manager = _make_manager(policy, request, copies)
    # Requests are added before the start, or the first batch would depend on timing.
    if request.limits is None:
        request_ids = manager.add_requests(list(request.prompts), request.max_new_tokens)
    else:
        ends = {"eos_token_id": policy.end_ids or -1}
        pairs = zip(request.prompts, request.limits, strict=True)
        request_ids = [manager.add_request(prompt, max_new_tokens=limit, **ends) for prompt, limit in pairs]
    numbers = {request_id: number for number, request_id in enumerate(request_ids)}
    groups: list[list[tuple[str, list[int], list[float]]]] = [[] for _ in request.prompts]
    manager.start()
    try:
        while any(len(group) < copies for group in groups):
            result = manager.get_result(timeout=1)
            if result is None and manager.is_running():
                continue
            if result is None or result.error:
                raise _failure(result.error if result else "its thread has ended")
            number = numbers[result.request_id.partition("__child#")[0]]
            groups[number].append((result.request_id, result.generated_tokens, result.logprobs))
            if len(groups[number]) == copies:
                _, tokens, logps = zip(*sorted(groups[number]) * (request.group_size // copies), strict=True)
                on_group(number, list(tokens), list(logps))
    finally:
        manager.stop(hard_stop=True)
        manager.destroy()


def _make_manager(policy: Policy, request: SamplingRequest, copies: int) -> Any:
    rows = len(request.prompts) * request.group_size
    pages = -(-(max(map(len, request.prompts)) + request.max_new_tokens) // TOKENS_PER_PAGE)
    sampling: dict[str, Any] = {}
    if request.temperature:
        sampling = {"do_sample": True, "temperature": request.temperature, "top_k": 0, "top_p": 1.0}
    generation = GenerationConfig(eos_token_id=policy.end_ids or -1, num_return_sequences=copies, **sampling)
    attention, switch = _attention(flash=policy.autocast is not None)  # if installed; it does not support float32
    batching = ContinuousBatchingConfig(
        num_blocks=rows * pages,  # the default would take most of the memory
        max_requests_per_batch=rows,
        max_batch_tokens=min(8192, rows + sum(map(len, request.prompts))),
        return_logprobs=True,
        seed=random.Random("/".join(request.seeds)).getrandbits(31),
        **switch,
    )
    try:
        model = copy.deepcopy(policy.model).to(policy.autocast or torch.float32)
        model.set_attn_implementation(attention)
        return model.init_continuous_batching(generation, batching)
    except Exception as error:  # model families that are not supported fail in many ways
        raise RunError(
            f"sampling.engine=transformers cannot sample from {policy.name} ({error}); use sampling.engine=own"
        ) from error


def _attention(*, flash: bool) -> tuple[str, dict[str, bool]]:
    """The model's attention, and the option that lets transformers replace it by flash attention, or not.

    Older releases, such as 5.17, have no such option, and replace all but ``paged|`` attention.
    """
    if hasattr(ContinuousBatchingConfig, "auto_switch_to_flash"):
        return "sdpa", {"auto_switch_to_flash": flash}
    return "sdpa" if flash else "paged|sdpa", {}


def _failure(error: object) -> RunError:
    reason = str(error)
    # How torch.multinomial reports logits that are not finite, on a CPU and on CUDA.
    kind = DivergedError if "`nan`" in reason or "device-side assert" in reason else RunError
    return kind(
        f"sampling.engine=transformers has stopped ({reason}); try a lower optimizer.learning_rate, or "
        "sampling.engine=own"
    )
