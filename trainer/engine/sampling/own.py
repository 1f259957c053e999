"""The library's own rollout engine: all rows advance by one token per step, and each prompt is computed once per group.

Its random numbers are drawn beforehand, one per token, from a generator that each group seeds for itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from accelerate.utils.memory import clear_device_cache
from torch import Tensor

from grpo_env.errors import DivergedError, RunError, memory_ran_out

from ..decoder import Decoder
from ..policy import Policy
from .protocol import OnGroupTokens, RolloutEngine, SamplingRequest

NOT_FINITE = -2  # in place of a completion's number
DROP_AT = 0.125
"""Part of the rows that have ended when they are dropped, since dropping copies the rest of the cache."""


class OwnEngine(RolloutEngine):
    """Samples from the policy's own tensors, which must not be sharded meanwhile.

    ``rows`` are sampled at once, or all of a request while that is ``None``. It is lowered whenever memory runs out,
    and stays so.
    """

    def __init__(self) -> None:
        self.rows: int | None = None

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``. One part of the prompts is sampled after the other, until all groups are complete.

        If memory runs out, the groups that are complete are kept, and half as many prompts are sampled at once from
        then on; ``report`` gets a message. Raises ``RunError`` if memory is too small for the rows of one prompt.
        """
        size = request.group_size
        missing = set(range(len(request.prompts)))

        def complete(numbers: list[int], index: int, rows: list[list[int]], logps: list[list[float]]) -> None:
            """Report group ``index`` of a part by its number in the whole request."""
            missing.remove(numbers[index])
            on_group(numbers[index], rows, logps)

        while missing:
            at_once = len(missing) if self.rows is None else min(len(missing), max(1, self.rows // size))
            numbers = sorted(missing)[:at_once]
            try:
                with decoding_context(policy):
                    decode_stepwise(policy, request.part(numbers), partial(complete, numbers))
                continue
            except (MemoryError, RuntimeError) as error:
                if not memory_ran_out(error):
                    raise
                if at_once == 1:
                    raise RunError(
                        f"out of memory with the {size} completions of one prompt at a time; try a lower "
                        "sampling.max_new_tokens or group_size, or engine.precision=bf16"
                    ) from error
            # Outside of the except block, whose exception would keep the tensors of the failed attempt alive.
            clear_device_cache(garbage_collection=True)
            self.rows = at_once // 2 * size
            self.report(f"out of memory while sampling: now at most {self.rows} completions are sampled at once")


def decode_stepwise(policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
    """Sample a request: all rows at once, until the last of them ends."""
    count, last = len(request.prompts) * request.group_size, request.max_new_tokens - 1
    uniforms = _uniforms(request).to(policy.device) if request.temperature > 0 else None
    ends = torch.tensor(policy.end_ids, device=policy.device)
    lasts = torch.tensor(request.limits, device=policy.device).repeat_interleave(request.group_size) - 1
    completions = _Completions(policy, request, on_group)
    decoder = Decoder(policy, request.prompts, request.group_size, request.max_new_tokens)
    rows = torch.arange(count, device=policy.device)  # of each row of the decoder: its completion
    alive = torch.ones_like(rows, dtype=torch.bool)
    unfinished = count
    for column in range(request.max_new_tokens):
        uniform = None if uniforms is None else uniforms[column, rows]
        chosen, prob = choose_tokens(decoder.logits, request.temperature, uniform)
        # Rows that have ended go on in a column that nobody reads, until they are dropped.
        place = rows, torch.where(alive, column, last + 1)
        completions.tokens[place], completions.probs[place] = chosen, prob
        ending = alive & (torch.isin(chosen, ends) | (lasts[rows] == column))
        alive &= ~ending
        # All that is read of a token, since a GPU stops for each reading: of rows that end the completion, else -1.
        ends_here = rows.where(ending, -1).where(prob.isfinite(), NOT_FINITE).tolist()
        if NOT_FINITE in ends_here:
            raise DivergedError(
                "the model's output is not finite; try a lower optimizer.learning_rate, or engine.precision=fp32"
            )
        finished = [row for row in ends_here if row >= 0]
        completions.end(finished)
        unfinished -= len(finished)
        if not unfinished:
            return
        if len(rows) - unfinished >= DROP_AT * len(rows):
            rest = alive.nonzero().squeeze(1)
            decoder.select(rest)
            rows, alive, chosen = rows[rest], alive[rest], chosen[rest]
        decoder.append(chosen)


class _Completions:
    """Tokens and probabilities of all rows of a request; they are padded, and groups are reported as they end."""

    def __init__(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        self._size, self._max, self._on_group = request.group_size, request.max_new_tokens, on_group
        self._unfinished = [self._size] * len(request.prompts)
        fill = policy.end_ids[0] if policy.end_ids else 0
        shape = len(request.prompts) * self._size, self._max + 1  # rows that have ended go on writing the last column
        self.tokens = torch.full(shape, fill, device=policy.device)
        self.probs = torch.zeros(shape, device=policy.device)

    def end(self, rows: Iterable[int]) -> None:
        """Report the groups whose last rows these are."""
        for row in rows:
            number = row // self._size
            self._unfinished[number] -= 1
            if not self._unfinished[number]:
                part = slice(number * self._size, (number + 1) * self._size), slice(self._max)
                self._on_group(number, self.tokens[part].tolist(), self.probs[part].log().tolist())


@contextmanager
def decoding_context(policy: Policy) -> Iterator[None]:
    """Without gradients, in the policy's precision.

    Under autocast, inference mode would round all weights again at every token: their rounded copies are not kept.
    """
    with torch.inference_mode() if policy.autocast is None else torch.no_grad(), policy.autocast_context():
        yield


def choose_tokens(logits: Tensor, temperature: float, uniforms: Tensor | None) -> tuple[Tensor, Tensor]:
    """One token per row and its probability, by inversion of the distribution function at ``uniforms`` (rows, 1).

    Without ``uniforms`` it is the most likely token, whose probability is then 1. Otherwise the probability is not
    finite if the logits are not.
    """
    if uniforms is None:
        chosen = logits.argmax(-1)
        return chosen, torch.ones(chosen.shape, device=chosen.device)
    probs = torch.softmax(logits.float() / temperature, dim=-1)
    cumulative = probs.cumsum(-1)
    total = cumulative[:, -1:]  # 1, up to rounding
    below = torch.nextafter(total, torch.zeros_like(total))
    chosen = torch.searchsorted(cumulative, torch.minimum(uniforms * total, below), right=True)
    chosen.clamp_(max=probs.shape[1] - 1)  # among numbers that are not finite there is no place
    return chosen.squeeze(1), probs.gather(1, chosen).squeeze(1)


def _uniforms(request: SamplingRequest) -> Tensor:
    """(max_new_tokens, rows, 1) random numbers in [0, 1), each group's from its own seed."""
    groups = []
    for seed in request.seeds:
        generator = torch.Generator().manual_seed(random.Random(seed).getrandbits(63))
        groups.append(torch.rand(request.max_new_tokens, request.group_size, 1, generator=generator))
    return torch.cat(groups, 1)
