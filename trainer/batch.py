"""The tensors of a step's updates: its groups in mini-batches, and their rows with a gradient in micro-batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from accelerate.utils import gather_object
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .config import TrainConfig
from .engine.policy import Policy
from .engine.sampling.sampler import Rollout
from .engine.sharding import is_sharded
from .losses import denominators
from .rollout import rank_slice
from .shared_types import ScoredRollout


@dataclass
class MicroBatch:
    """Rows that go through the model together: R completions, padded on the right to T tokens.

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
    old_logp: Tensor | None = None  # (R, T) float32
    ref_logp: Tensor | None = None  # (R, T) float32

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
    """The rows of one mini-batch that have a gradient.

    ``micro_batches`` are those of this process, and ``denominator`` is that of the loss of all processes, see
    ``losses.denominators``. ``reduced_tokens`` is the ``engine.micro_batch_tokens`` to go on with after memory ran out.
    """

    denominator: float
    micro_batches: list[MicroBatch]
    reduced_tokens: int | None = None


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
    rows. Rows whose advantages are all 0 count in the denominators but need no forward pass, unless a KL penalty or
    a loss of the user's own may give them a gradient.

    Args:
        policy: the policy to train; micro-batches are of this process's groups, on its device.
        rollouts: B rows of all processes, the rows of a group adjacent.
        advantages: (B, T), see ``token_advantages``.
        config: the settings.
        micro_batch_tokens: as in ``pack_rows``.
    """
    in_loss = scored = torch.tensor([row.score.scored for row in rollouts])
    if config.advantage.truncated == "mask":
        in_loss = scored & torch.tensor([row.rollout.finish != "length" for row in rollouts])
    trained = (advantages != 0).any(1) | (config.kl.coef > 0 or config.loss.function is not None)
    lengths = torch.tensor([row.rollout.num_sampled for row in rollouts])
    prompt_lengths = [len(row.rollout.prompt_ids) for row in rollouts]
    row_lengths = [len(row.rollout.ids) for row in rollouts]
    size, count = config.group_size, config.optimizer.mini_batches
    rows = torch.arange(len(rollouts)).view(-1, size)
    is_local = torch.zeros(len(rows), dtype=torch.bool)
    is_local[rank_slice(policy.accelerator, len(rows))] = True
    batches = []
    for first in range(count):
        members, local = rows[first::count].flatten(), rows[first::count][is_local[first::count]]
        same_prompt = defaultdict[tuple[int, tuple[int, ...]], list[int]](list)
        for number, group in enumerate(local.tolist()):
            for row in group:  # an environment may begin the episodes of a group differently
                if in_loss[row] and trained[row]:
                    same_prompt[number, tuple(rollouts[row].rollout.prompt_ids)].append(row)
        groups, shared = list(same_prompt.values()), policy.shares_prompts
        parts = pack_rows(groups, prompt_lengths, row_lengths, micro_batch_tokens, shared=shared)
        micro_batches = [
            _micro_batch([rollouts[row].rollout for row in part], advantages[part], policy.device) for part in parts
        ]
        if is_sharded(policy):  # all processes must make the same number of passes
            passes = max(1, *gather_object([len(micro_batches)]))
            micro_batches = pad_micro_batches(micro_batches, passes, policy.device)
        completions, budget = int(scored[members].sum()), config.sampling.max_new_tokens
        denominator = denominators(lengths[members][in_loss[members]], completions, config.loss.aggregation, budget)
        batches.append(Batch(max(1.0, denominator), micro_batches))
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
    empty = MicroBatch([[0]], ids, ids.bool(), ids.bool(), ids.float(), ids.float())
    return [*micro_batches, *[empty] * (count - len(micro_batches))]


def _micro_batch(rollouts: Sequence[Rollout], advantages: Tensor, device: torch.device) -> MicroBatch:
    lengths = torch.tensor([len(rollout.ids) for rollout in rollouts])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]

    def padded(values: Iterable[Sequence[Any] | Tensor], dtype: torch.dtype) -> Tensor:
        return pad_sequence([torch.as_tensor(row, dtype=dtype) for row in values], batch_first=True).to(device)

    return MicroBatch(
        prompts=[rollout.prompt_ids for rollout in rollouts],
        ids=padded((rollout.ids for rollout in rollouts), torch.long),
        completion_mask=mask.to(device),
        sampled=padded((rollout.sampled for rollout in rollouts), torch.bool),
        advantages=advantages[:, : mask.shape[1]].to(device),
        sampler_logp=padded((rollout.logps for rollout in rollouts), torch.float32),
    )
