"""The tensors of a step's updates: its groups in mini-batches, and their rows with a gradient in micro-batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from accelerate.utils import gather_object
from torch import Tensor

from .config import TrainConfig
from .engine.logprobs import Entropy, Rows, completion_logp
from .engine.policy import Policy
from .engine.sampling.sampler import Rollout
from .engine.sharding import is_sharded
from .rollout import rank_slice
from .shared_types import ScoredRollout


@dataclass
class MicroBatch:
    """Rows that go through the model together: R completions, padded on the right to T tokens.

    A completion whose turns forked has several rows, one for each of its sequences, maybe not all in one micro-batch.

    ``old_logp`` is set by the first update, ``ref_logp`` by ``add_reference_logp``. Log-probabilities are 0 where no
    token was sampled. Tokens between the turns of an episode were not sampled: the model reads them, and they are not
    part of the loss.
    """

    prompts: list[list[int]]  # R prompts
    ids: Tensor  # (R, T) int64, completion tokens
    completion_mask: Tensor  # (R, T) bool, True where there is a token
    sampled: Tensor  # (R, T) bool, True where a token was sampled
    advantages: Tensor  # (R, T) float32
    sampler_logp: Tensor  # (R, T) float32
    lengths: Tensor  # (R,) int64, sampled tokens of the whole completion
    old_logp: Tensor | None = None  # (R, T) float32
    ref_logp: Tensor | None = None  # (R, T) float32

    def __post_init__(self) -> None:
        rows, dtypes = (len(self.prompts), *self.ids.shape[1:]), {"ids": torch.int64, "completion_mask": torch.bool}
        dtypes["sampled"] = torch.bool
        for name in ("ids", "completion_mask", "sampled", "advantages", "sampler_logp", "old_logp", "ref_logp"):
            _check(name, getattr(self, name), rows, dtypes.get(name, torch.float32))
        _check("lengths", self.lengths, rows[:1], torch.int64)

    def logp(self, policy: Policy, temperature: float, entropy: Entropy = "none") -> tuple[Tensor, Tensor]:
        """Log-probabilities and entropies under the policy, see ``completion_logp``."""
        rows = Rows(self.prompts, self.ids, self.completion_mask, self.sampled)
        return completion_logp(policy, rows, temperature, entropy)

    def halves(self) -> list[MicroBatch]:
        """Its rows in two micro-batches; a single row stays as it is."""
        middle = len(self.prompts) // 2
        parts = (slice(0, middle), slice(middle, None)) if middle else (slice(None),)
        values = {name: value for name, value in vars(self).items() if value is not None}
        return [replace(self, **{name: value[part] for name, value in values.items()}) for part in parts]

    def positions(self, *, shared: bool) -> int:
        """Token positions, padding included, as ``pack_rows`` counts them."""
        prompts = set(map(tuple, self.prompts)) if shared else self.prompts
        return len(prompts) * max(map(len, self.prompts)) + self.ids.numel()


@dataclass
class Batch:
    """The rows of one mini-batch, of which N, over all processes, count in the loss.

    ``micro_batches`` are those of this process. ``reduced_tokens`` is the ``engine.micro_batch_tokens`` to go on with
    after memory ran out.
    """

    lengths: Tensor  # (N,) int64, sampled tokens of the rows that count, with or without a gradient
    completions: int  # rows with a reward: the N, and those masked because they are truncated
    micro_batches: list[MicroBatch]
    uniform_groups: int  # groups whose advantages are all 0
    reduced_tokens: int | None = None

    def __post_init__(self) -> None:
        _check("lengths", self.lengths, self.lengths.shape[:1], torch.int64)


def _check(name: str, tensor: Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    if tensor is not None and (tensor.shape != shape or tensor.dtype != dtype):
        raise ValueError(f"{name}: expected {dtype} of shape {tuple(shape)}, got {tensor.dtype} {tuple(tensor.shape)}")


def pack_batches(
    policy: Policy,
    rollouts: Sequence[ScoredRollout],
    advantages: Tensor,
    config: TrainConfig,
    micro_batch_tokens: int,
) -> list[Batch]:
    """Divide a step into ``optimizer.mini_batches``, and each into micro-batches of ``micro_batch_tokens`` or less.

    Mini-batch k of K takes every K-th group, from the k-th on. So it has the same groups on any number of processes,
    each of which has groups next to each other.

    The loss leaves out rows without a reward and, under ``advantage.truncated: mask``, truncated
    rows. Rows whose advantages are all 0 count in the denominators but need no forward pass, unless a KL penalty, an
    entropy bonus or a loss of the user's own may give them a gradient.

    Args:
        policy: the policy to train; micro-batches are of this process's groups, on its device.
        rollouts: B rows of all processes, the rows of a group adjacent.
        advantages: (B, T), see ``token_advantages``.
        config: the settings.
        micro_batch_tokens: as in ``pack_rows``.
    """
    counts = scored = torch.tensor([row.score.scored for row in rollouts])
    if config.advantage.truncated == "mask":
        counts = scored & torch.tensor([row.rollout.finish != "length" for row in rollouts])
    always = config.kl.coef > 0 or config.loss.entropy_coef != 0 or config.loss.function is not None
    lengths = torch.tensor([row.rollout.num_sampled for row in rollouts])
    size, count = config.group_size, config.optimizer.mini_batches
    rows = torch.arange(len(rollouts)).view(-1, size)
    uniform = (advantages == 0).view(len(rows), -1).all(1)
    is_local = torch.zeros(len(rows), dtype=torch.bool)
    is_local[rank_slice(policy.accelerator, len(rows))] = True
    batches = []
    for first in range(count):
        members, local = rows[first::count].flatten(), rows[first::count][is_local[first::count]]
        groups = [[row for row in group if counts[row]] for group in local.tolist()]
        sequences = _trained_sequences(rollouts, advantages, groups, always=always)
        parts = _packed(sequences, micro_batch_tokens, shared=policy.shares_prompts)
        micro_batches = [_micro_batch(part, policy.device) for part in parts]
        if is_sharded(policy):  # all processes must make the same number of passes
            passes = max(1, *gather_object([len(micro_batches)]))
            micro_batches = pad_micro_batches(micro_batches, passes, policy.device)
        counted = lengths[members][counts[members]]
        batches.append(Batch(counted, int(scored[members].sum()), micro_batches, int(uniform[first::count].sum())))
    return batches


def pack_rows(
    groups: Sequence[Sequence[int]], prompts: Sequence[int], lengths: Sequence[int], budget: int, *, shared: bool
) -> list[list[int]]:
    """Rows in micro-batches of at most ``budget`` token positions, padding included; a larger row is alone in its own.

    Rows of similar length come together, so that there is little padding, but the rows of a group stay adjacent.

    Args:
        groups: the rows of each group, which share a prompt.
        prompts: prompt length of every row.
        lengths: completion length of every row.
        budget: maximum token positions of a micro-batch.
        shared: whether the rows of a group count their prompt once.
    """
    ordered = sorted((group for group in groups if group), key=lambda group: max(lengths[row] for row in group))
    parts: list[list[int]] = []
    last, copies, prompt, completion = -1, 0, 0, 0  # of the micro-batch being filled: group, prompts, longest of each
    for number, group in enumerate(ordered):
        for row in sorted(group, key=lambda row: lengths[row]):
            copies += not shared or number != last
            prompt, completion = max(prompt, prompts[row]), max(completion, lengths[row])
            if not parts or copies * prompt + (len(parts[-1]) + 1) * completion > budget:
                parts.append([])
                copies, prompt, completion = 1, prompts[row], lengths[row]
            parts[-1].append(row)
            last = number
    return parts


def pad_micro_batches(micro_batches: Sequence[MicroBatch], count: int, device: torch.device) -> list[MicroBatch]:
    """The micro-batches, with empty ones appended, so that there are ``count``."""
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    empty = MicroBatch([[0]], ids, ids.bool(), ids.bool(), ids.float(), ids.float(), ids[0])
    return [*micro_batches, *[empty] * (count - len(micro_batches))]


class _Sequence(NamedTuple):
    """A row of a micro-batch: what a completion, or a part of it after a fork, has in one context."""

    group: int
    prompt: list[int]
    ids: list[int]
    sampled: list[bool]
    logps: list[float]
    advantages: Tensor  # (T,)
    length: int  # sampled tokens of the whole completion


def _sequences(rollout: Rollout, advantages: Tensor, group: int) -> list[_Sequence]:
    """The sequences of a completion; its own is the only one unless turns forked."""
    sampled, length = rollout.sampled, rollout.num_sampled
    return [
        _Sequence(group, prompt, rollout.ids[at], sampled[at], rollout.logps[at], advantages[at], length)
        for prompt, at in rollout.sequences
    ]


def _trained_sequences(
    rollouts: Sequence[ScoredRollout], advantages: Tensor, groups: Sequence[Sequence[int]], *, always: bool
) -> list[_Sequence]:
    """Those of the rows of these groups, without those whose advantages are all 0 unless ``always``."""
    return [
        sequence
        for number, group in enumerate(groups)
        for row in group
        for sequence in _sequences(rollouts[row].rollout, advantages[row], number)
        if always or sequence.advantages.any()
    ]


def _packed(sequences: Sequence[_Sequence], budget: int, *, shared: bool) -> list[list[_Sequence]]:
    """The sequences in micro-batches, see ``pack_rows``."""
    prompts, lengths = [len(sequence.prompt) for sequence in sequences], [len(sequence.ids) for sequence in sequences]
    parts = pack_rows(_by_prompt(sequences), prompts, lengths, budget, shared=shared)
    return [[sequences[index] for index in part] for part in parts]


def _by_prompt(sequences: Sequence[_Sequence]) -> list[list[int]]:
    """The indices of the sequences of each group that have the same prompt."""
    found: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for index, sequence in enumerate(sequences):
        found.setdefault((sequence.group, tuple(sequence.prompt)), []).append(index)
    return list(found.values())


def _micro_batch(sequences: Sequence[_Sequence], device: torch.device) -> MicroBatch:
    lengths = torch.tensor([len(sequence.ids) for sequence in sequences])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]

    def padded(rows: Iterable[Sequence[Any] | Tensor], dtype: torch.dtype) -> Tensor:
        values = torch.cat([torch.as_tensor(row, dtype=dtype) for row in rows])
        return torch.zeros(mask.shape, dtype=dtype).masked_scatter(mask, values).to(device)

    return MicroBatch(
        prompts=[sequence.prompt for sequence in sequences],
        ids=padded((sequence.ids for sequence in sequences), torch.long),
        completion_mask=mask.to(device),
        sampled=padded((sequence.sampled for sequence in sequences), torch.bool),
        advantages=padded((s.advantages[: len(s.ids)] for s in sequences), torch.float32),
        sampler_logp=padded((sequence.logps for sequence in sequences), torch.float32),
        lengths=torch.tensor([sequence.length for sequence in sequences], device=device),
    )
