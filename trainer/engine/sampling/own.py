"""The library's own rollout engine: all rows advance by one token per step, and each prompt is computed once per group.

Its random numbers are drawn beforehand, one per token, from a generator that each group seeds for itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grpo_env.errors import DivergedError

from ..cache import can_share_prompts
from ..decoder import Decoder, FusedDecoder
from ..fast.cuda_graph import CudaGraphDecoder
from ..fast.layers import is_supported
from ..forward import mismatch
from ..policy import Policy
from ..prefix_cache import Prefix
from ..sharding.weights import unsharded
from .admission import fitting_prompts
from .protocol import OnGroupTokens, RolloutEngine, SamplingRequest
from .row_limit import RowLimit

NOT_FINITE = -2  # in place of a completion's number


class OwnEngine(RolloutEngine):
    """Samples from the policy's own tensors; shards are gathered meanwhile."""

    def __init__(self) -> None:
        self.row_limit = RowLimit()

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        with unsharded(policy):  # also by a process without prompts, since all gather together
            if request.prompts:
                with decoding_context(policy):
                    kind = decoder_for(policy)
                    most = fitting_prompts(policy, kind, request)
                    while most is not None and most < len(request.prompts) and request.prefix_cache is not None:
                        request = request.with_fewer_prefixes()
                        most = fitting_prompts(policy, kind, request)
                    self.row_limit.generate(
                        request, on_group, partial(decode_stepwise, policy), self.report, most, kind.refills
                    )


def decode_stepwise(
    policy: Policy, request: SamplingRequest, on_group: OnGroupTokens, at_once: int | None = None
) -> None:
    """Sample a request, beginning with ``at_once`` prompts (default: all).

    The others follow as rows end. They must not be longer than the longest of the first, and the decoder must refill.
    """
    group_size, last = request.group_size, request.max_new_tokens - 1
    device, count = policy.device, len(request.prompts)
    started = count if at_once is None else min(count, at_once)
    uniforms = _uniforms(request).to(device) if request.temperature > 0 else None
    ends = torch.tensor(policy.end_ids, device=device)
    lasts = torch.tensor([request.limit(number) - 1 for number in range(count)], device=device)
    lasts = lasts.repeat_interleave(group_size)
    completions = _Completions(policy, request, on_group)
    kept = request.take_prefixes()[:started]
    decoder = decoder_for(policy)(policy, request.prompts[:started], group_size, request.max_new_tokens, kept)
    # Of each row of the decoder: its completion, that one's length, and whether it goes on.
    rows = torch.arange(started * group_size, device=device)
    lengths, alive = torch.zeros_like(rows), torch.ones_like(rows, dtype=torch.bool)
    ended, tokens_left = 0, request.max_new_tokens
    while True:
        uniform = None if uniforms is None else uniforms[lengths.clamp(max=last), rows]
        chosen, prob = choose_tokens(decoder.logits, request.temperature, uniform)
        completions.write(rows, lengths, chosen, prob)
        ending = alive & (torch.isin(chosen, ends) | (lengths == lasts[rows]))
        alive &= ~ending
        lengths = (lengths + 1).where(alive, last + 1)
        # All that is read of a token, since a GPU stops for each reading: of rows that end the completion, else -1.
        ends_here = rows.where(ending, -1).where(prob.isfinite(), NOT_FINITE).tolist()
        if NOT_FINITE in ends_here:
            raise DivergedError(
                "the model's output is not finite; try a lower optimizer.learning_rate, or engine.precision=fp32"
            )
        finished = [(place, row) for place, row in enumerate(ends_here) if row >= 0]
        _keep(decoder, request, completions, finished)
        completions.end(row for _, row in finished)
        ended, tokens_left = ended + len(finished), tokens_left - 1
        if started == count and ended == len(rows):
            return
        if started == count and decoder.drops(ended, tokens_left):
            rest = alive.nonzero().squeeze(1)
            decoder.select(rest)
            rows, alive, chosen, lengths, ended = rows[rest], alive[rest], chosen[rest], lengths[rest], 0
        decoder.append(chosen)
        if groups := min(count - started, ended // group_size):
            places = (~alive).nonzero().squeeze(1)[: groups * group_size]
            decoder.admit(places, request.prompts[started : started + groups])
            rows[places] = torch.arange(len(places), device=device) + started * group_size
            lengths[places], alive[places] = 0, True
            started, ended, tokens_left = started + groups, ended - len(places), request.max_new_tokens


def _keep(
    decoder: Decoder, request: SamplingRequest, completions: _Completions, finished: Iterable[tuple[int, int]]
) -> None:
    """Keep what finished rows of a decoder have read, if the request has a place for it.

    ``finished`` are the place of each in the decoder and the number of its completion.
    """
    if request.prefix_cache is None:
        return
    for place, number in finished:
        layers = decoder.prefix(place)
        if layers is not None:
            read = layers[0][0].shape[1]
            ids = [*request.prompts[number], *completions.tokens(number)]
            request.prefix_cache.keep(request.keys[number], Prefix(ids[:read], layers))


class _Completions:
    """Tokens and probabilities of all rows of a request; they are padded, and groups are reported as they end."""

    def __init__(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        self._size, self._max, self._on_group = request.group_size, request.max_new_tokens, on_group
        self._unfinished = [self._size] * len(request.prompts)
        fill = policy.end_ids[0] if policy.end_ids else 0
        shape = len(request.prompts) * self._size, self._max + 1  # rows that have ended go on writing the last column
        self._tokens = torch.full(shape, fill, device=policy.device)
        self._probs = torch.zeros(shape, device=policy.device)

    def write(self, rows: Tensor, columns: Tensor, tokens: Tensor, probs: Tensor) -> None:
        """Write one token of each of some rows."""
        self._tokens[rows, columns], self._probs[rows, columns] = tokens, probs

    def tokens(self, row: int) -> list[int]:
        """The tokens of a row, padded."""
        tokens: list[int] = self._tokens[row].tolist()
        return tokens

    def end(self, rows: Iterable[int]) -> None:
        """Report the groups whose last rows these are."""
        for row in rows:
            number = row // self._size
            self._unfinished[number] -= 1
            if not self._unfinished[number]:
                part = slice(number * self._size, (number + 1) * self._size), slice(self._max)
                self._on_group(number, self._tokens[part].tolist(), self._probs[part].log().tolist())


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


def decoder_for(policy: Policy) -> type[Decoder]:
    """The fastest decoder that supports a policy."""
    if not (is_supported(policy.model) and can_share_prompts(policy)):
        return Decoder
    return CudaGraphDecoder if policy.uses_cuda_graphs else FusedDecoder


def with_cuda_graphs(policy: Policy) -> Policy:
    """The policy, on CUDA with recorded decoding steps if these give the logits of plain steps on four short rows."""
    if policy.device.type != "cuda" or not is_supported(policy.model):
        return policy
    rope, why = policy.model.get_decoder().rotary_emb.rope_type, None
    if rope in ("dynamic", "longrope"):  # a recording that fails would leave torch's allocator and generator recording
        why = f"rope_type {rope} changes its frequencies with the longest row"
    else:
        plain, recorded = (partial(probe_logits, policy, kind) for kind in (Decoder, CudaGraphDecoder))
        why = mismatch(plain, recorded, 0.05)
    if why is not None:
        return replace(policy, refusals={**policy.refusals, "uses_cuda_graphs": why})
    return replace(policy, uses_cuda_graphs=True)


def probe_logits(policy: Policy, kind: type[Decoder]) -> Tensor:
    """(tokens, V) logits of a decoder for four rows of two prompts, of which one row ends early."""
    logits, rest = [], torch.tensor([0, 2, 3], device=policy.device)
    with decoding_context(policy):
        decoder = kind(policy, [[1, 2, 3], [2, 1]], 2, 4)
        for step in range(4):
            if step == 2:
                decoder.select(rest)
            decoder.append(torch.arange(len(decoder.positions), device=policy.device) + step)
            logits.append(decoder.logits.clone())
    return torch.cat(logits)
