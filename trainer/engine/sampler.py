"""The sampler: G completions per prompt, exactly from the policy, with the prompt computed once per group."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import Tensor

from grpo_env.core import Completion, Finish
from grpo_env.errors import DivergedError, UsageError

from .cache import can_share
from .continuous_batching import decode_in_pages
from .cuda_graph import CudaGraphDecoder
from .decoder import Decoder, FusedDecoder
from .forward import agree
from .layers import is_supported
from .policy import Policy
from .sharding.fsdp import gathered


@dataclass(frozen=True)
class Rollout:
    """One completion as it was sampled. ``ids`` include the end token of a completion that finished by itself.

    ``logps`` are the float32 log-probabilities, at the temperature of the sampling, of each of ``ids``; their last bits
    depend on what was sampled at the same time, so they do not count when two are compared.
    """

    prompt_ids: list[int]
    ids: list[int]
    text: str
    finish: Finish
    logps: list[float] = field(compare=False)

    def completion(self, prefill: str = "") -> Completion:
        """What verifiers see."""
        return Completion(self.text, self.finish, len(self.ids), prefill, tuple(self.ids))


def sample(
    policy: Policy,
    prompts: Sequence[list[int]],
    group_size: int,
    *,
    max_new_tokens: int,
    temperature: float,
    seeds: Sequence[str] | None = None,
    ended: Callable[[int, list[Rollout]], None] = lambda number, rollouts: None,
) -> list[Rollout]:
    """Sample ``group_size`` completions of every prompt; a group's rows are adjacent. Temperature 0 is greedy.

    The random numbers of a group, one a token, are drawn beforehand from a generator that starts from its own one of
    ``seeds`` (default: its place): neither the other prompts of the batch nor the rows that have finished change a
    group's completions, and a resumed run needs no generator state. Of a ``paged`` policy, one generator draws for all
    groups. ``ended`` is called with a group's number and its completions as soon as the last of them has ended.

    Raises:
        UsageError: prompt and completion together exceed the model's positions.
        DivergedError: the model's output is not finite.
        RunError: the policy is ``paged``, and transformers cannot sample from it so.
    """
    if not prompts:  # there are fewer than processes
        with gathered(policy):
            return []
    longest = max(map(len, prompts))
    if policy.max_positions is not None and longest + max_new_tokens > policy.max_positions:
        raise UsageError(
            f"a prompt of {longest} tokens and sampling.max_new_tokens={max_new_tokens} exceed the "
            f"{policy.max_positions} positions of {policy.name}"
        )
    seeds = seeds if seeds is not None else [str(place) for place in range(len(prompts))]
    decode = decode_in_pages if policy.paged else _decode
    ends, was_training = set(policy.end_ids), policy.model.training
    found: dict[int, list[Rollout]] = {}

    def group_ended(number: int, rows: list[list[int]], logps: list[list[float]]) -> None:
        found[number] = [_rollout(policy, prompts[number], *row, ends) for row in zip(rows, logps, strict=True)]
        ended(number, found[number])

    policy.model.eval()
    try:
        with gathered(policy), torch.inference_mode(), policy.computing():
            decode(policy, prompts, group_size, max_new_tokens, temperature, seeds, group_ended)
    finally:
        policy.model.train(was_training)
    return [rollout for number in range(len(prompts)) for rollout in found[number]]


def _draws(seed: str, max_new_tokens: int, group_size: int) -> Tensor:
    generator = torch.Generator().manual_seed(random.Random(seed).getrandbits(63))
    return torch.rand(max_new_tokens, group_size, 1, generator=generator)


def _rollout(policy: Policy, prompt_ids: list[int], tokens: list[int], logps: list[float], ends: set[int]) -> Rollout:
    length = next((index + 1 for index, token in enumerate(tokens) if token in ends), None)
    ids = tokens[:length]
    text = policy.decode(ids if length is None else ids[:-1])
    return Rollout(prompt_ids, ids, text, "length" if length is None else "stop", logps[:length])


def decoder_of(policy: Policy) -> type[Decoder]:
    """The fastest that there is for a policy."""
    if not (is_supported(policy.model) and can_share(policy)):
        return Decoder
    return CudaGraphDecoder if policy.captures else FusedDecoder


def with_cuda_graphs(policy: Policy) -> Policy:
    """The policy, on CUDA with decoding steps as graphs if these give the plain steps' logits on four short rows."""
    if policy.device.type != "cuda" or not is_supported(policy.model):
        return policy
    return replace(
        policy, captures=agree(partial(_trial, policy, Decoder), partial(_trial, policy, CudaGraphDecoder), 0.05)
    )


def _trial(policy: Policy, kind: type[Decoder]) -> Tensor:
    """(tokens, V) logits of four rows behind two prompts, of which one row ends early."""
    found, kept = [], torch.tensor([0, 2, 3], device=policy.device)
    with torch.inference_mode(), policy.computing():
        decoder = kind(policy, [[1, 2, 3], [2, 1]], 2, 4)
        for step in range(4):
            if step == 2:
                decoder.select(kept)
            decoder.append(torch.arange(len(decoder.positions), device=policy.device) + step)
            found.append(decoder.logits.clone())
    return torch.cat(found)


def _decode(
    policy: Policy,
    prompts: Sequence[list[int]],
    group_size: int,
    max_new_tokens: int,
    temperature: float,
    seeds: Sequence[str],
    ended: Callable[[int, list[list[int]], list[list[float]]], None],
) -> None:
    """Calls ``ended`` for every group: its number, and of each row, with whatever follows its end token, tokens and
    their log-probabilities.
    """
    device, rows = policy.device, len(prompts) * group_size
    draws = [_draws(seed, max_new_tokens, group_size) for seed in seeds] if temperature > 0 else None
    drawn = None if draws is None else torch.cat(draws, 1).to(device)
    decoder = decoder_of(policy)(policy, prompts, group_size, max_new_tokens)
    ends = torch.tensor(policy.end_ids, device=device)
    fill = policy.end_ids[0] if policy.end_ids else 0
    tokens = torch.full((rows, max_new_tokens), fill, device=device)
    chances = torch.zeros(tokens.shape, device=device)
    active = torch.arange(rows, device=device)  # the row of ``tokens`` that each row of the decoder writes
    alive = torch.ones(rows, dtype=torch.bool, device=device)
    unfinished, living = [group_size] * len(prompts), rows
    for t in range(max_new_tokens):
        chosen, chance = _choose(decoder.logits, temperature, None if drawn is None else drawn[t, active])
        tokens[active, t], chances[active, t] = chosen, chance
        ending = alive & (torch.isin(chosen, ends) if t < max_new_tokens - 1 else alive)
        alive &= ~ending
        for row in active[ending].tolist():
            number = row // group_size
            unfinished[number] -= 1
            living -= 1
            if not unfinished[number]:
                group = slice(number * group_size, (number + 1) * group_size)
                ended(number, tokens[group].tolist(), chances[group].log().tolist())
        if living == 0:
            return
        if len(alive) - living >= decoder.drop_at * len(alive):
            kept = alive.nonzero().squeeze(1)
            decoder.select(kept)
            active, alive, chosen = active[kept], alive[kept], chosen[kept]
        decoder.append(chosen)


def _choose(logits: Tensor, temperature: float, draws: Tensor | None) -> tuple[Tensor, Tensor]:
    """One token a row, and its probability: the likeliest, whose probability at temperature 0 is 1, or the one where
    the distribution function passes the row's draw in [0, 1).
    """
    if draws is None:
        chosen = logits.argmax(-1)
        return chosen, torch.ones(chosen.shape, device=chosen.device)
    chances = torch.softmax(logits.float() / temperature, dim=-1)
    cumulative = chances.cumsum(-1)
    total = cumulative[:, -1:]  # rounding leaves it next to 1, not at it
    if not total.isfinite().all():
        raise DivergedError(
            "the model's output is not finite; try a lower optimizer.learning_rate, or engine.precision=fp32"
        )
    below = torch.nextafter(total, torch.zeros_like(total))
    chosen = torch.searchsorted(cumulative, torch.minimum(draws * total, below), right=True)
    return chosen.squeeze(1), chances.gather(1, chosen).squeeze(1)
