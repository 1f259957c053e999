"""From scored rollouts to the tensors of an update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from .advantages import decoupled_advantages, outcome_advantages, process_advantages
from .config import TrainConfig
from .engine.policy import Policy
from .engine.sampler import Rollout
from .rollout import ScoredRollout, rank_slice
from .step_tokens import step_token, token_ends


@dataclass
class MicroBatch:
    """Rows that go through the model together.

    ``old_logp`` and ``ref_logp`` (rows, T) are filled in by the first update. ``sampler_logp`` is 0 where no token is.
    """

    prompts: list[list[int]]  # of each row
    ids: Tensor  # (rows, T) completion tokens, padded on the right
    completion_mask: Tensor  # (rows, T)
    advantages: Tensor  # (rows, T)
    sampler_logp: Tensor  # (rows, T)
    old_logp: Tensor | None = None
    ref_logp: Tensor | None = None

    def halves(self) -> list[MicroBatch]:
        """Its rows in two micro-batches; itself, where it has one."""
        middle = len(self.prompts) // 2
        parts = (slice(0, middle), slice(middle, None)) if middle else (slice(None),)
        filled = {name: value for name, value in vars(self).items() if value is not None}
        return [replace(self, **{name: value[part] for name, value in filled.items()}) for part in parts]

    def positions(self, *, shared: bool) -> int:
        """Token positions, padding included, as ``pack`` counts them."""
        copies = set(map(tuple, self.prompts)) if shared else self.prompts
        return len(copies) * max(map(len, self.prompts)) + self.ids.numel()


@dataclass
class Batch:
    """One step's samples. ``lengths`` are of all rows that count in the loss, with or without a gradient.

    ``fits`` is the ``engine.micro_batch_tokens`` to go on with, where memory has run out.
    """

    advantages: Tensor  # (B, T), 0 beyond a row's length
    lengths: Tensor  # (rows that count,)
    micro_batches: list[MicroBatch]
    uniform_groups: int
    fits: int | None = None


def collate(policy: Policy, judged: Sequence[ScoredRollout], config: TrainConfig) -> Batch:
    """Advantages of all rows, and micro-batches of this process's rows that have a gradient.

    The loss leaves out unscored rows and, under ``advantage.truncated: mask``, truncated rows. Rows whose advantages
    are all 0 count in the denominators but need no forward pass, unless a KL penalty or an entropy bonus gives them a
    gradient.
    """
    advantages = token_advantages(policy, judged, config)
    scored = torch.tensor([one.score.scored for one in judged])
    counts = scored.clone()
    if config.advantage.truncated == "mask":
        counts &= torch.tensor([one.rollout.finish == "stop" for one in judged])
    always = config.kl.coef > 0 or config.loss.entropy_coef != 0
    useful = counts & ((advantages != 0).any(1) | always)
    lengths = [len(one.rollout.ids) for one in judged]
    flat = (advantages == 0).all(1).view(-1, config.group_size).all(1)

    own, size = rank_slice(policy.accelerator, len(flat)), config.group_size
    parts = pack(
        [[row for row in range(at * size, (at + 1) * size) if useful[row]] for at in range(own.start, own.stop)],
        [len(one.rollout.prompt_ids) for one in judged],
        lengths,
        config.engine.micro_batch_tokens,
        shared=policy.shares_prompts,
    )
    return Batch(
        advantages=advantages,
        lengths=torch.tensor(lengths)[counts],
        micro_batches=[
            _micro_batch([judged[row].rollout for row in part], advantages[part], policy.device) for part in parts
        ],
        uniform_groups=int(flat.sum()),
    )


def pack(
    groups: Sequence[Sequence[int]], prompts: Sequence[int], lengths: Sequence[int], budget: int, *, shared: bool
) -> list[list[int]]:
    """Rows in micro-batches of at most ``budget`` token positions, padding included; a larger row goes by itself.

    Args:
        groups: the rows of each group, which have their prompt in common.
        prompts: prompt length of every row.
        lengths: completion length of every row.
        budget: token positions that a micro-batch may have.
        shared: whether rows of one group count their prompt once.

    Rows of like length come together, so that there is little padding, but a group's rows stay side by side.
    """
    ordered = sorted((group for group in groups if group), key=lambda group: max(lengths[row] for row in group))
    rows = [
        (row, number) for number, group in enumerate(ordered) for row in sorted(group, key=lambda row: lengths[row])
    ]
    parts: list[list[int]] = []
    held: list[tuple[int, int]] = []
    for each in rows:
        tried = [*held, each]
        prompt, longest = max(prompts[row] for row, _ in tried), max(lengths[row] for row, _ in tried)
        copies = len({number for _, number in tried}) if shared else len(tried)
        if held and copies * prompt + len(tried) * longest > budget:
            parts, tried = [*parts, [row for row, _ in held]], [each]
        held = tried
    return [*parts, [row for row, _ in held]] if held else parts


def token_advantages(policy: Policy, judged: Sequence[ScoredRollout], config: TrainConfig) -> Tensor:
    """(B, T) float32 advantages of every completion token under the config's supervision; 0 beyond a row's length."""
    lengths = torch.tensor([len(one.rollout.ids) for one in judged])
    scored = torch.tensor([one.score.scored for one in judged])
    longest, group_size = int(lengths.max()), config.group_size
    total = torch.zeros(len(judged), longest, dtype=torch.float64)
    options: dict[str, Any] = {
        "scale": config.advantage.scale,
        "std": config.advantage.std,
        "leave_one_out": config.advantage.leave_one_out,
    }
    paid = torch.tensor([config.advantage.truncated != "zero" or one.rollout.finish == "stop" for one in judged])
    if config.supervision != "process":
        if config.advantage.normalize == "parts":
            values, weights = _parts(judged)
            outcome = decoupled_advantages(values * paid[:, None], weights, scored, group_size, **options)
        else:
            rewards = torch.tensor([one.score.value or 0.0 for one in judged], dtype=torch.float64)
            outcome = outcome_advantages(rewards * paid, scored, group_size, **options)
        total += outcome[:, None]
    if config.supervision != "outcome":
        rewards, tokens, mask = _steps(policy, judged)
        process = process_advantages(
            rewards * paid[:, None],
            tokens,
            mask,
            scored,
            group_size,
            longest,
            credit=config.advantage.step_credit,
            **options,
        )
        total += process * (config.advantage.process_weight if config.supervision == "both" else 1.0)
    return total.where(torch.arange(longest) < lengths[:, None], 0.0).float()


def _parts(judged: Sequence[ScoredRollout]) -> tuple[Tensor, Tensor]:
    """(B, K) values of all tasks' parts that count, 0 where unscored, and their weights, 0 in other tasks' rows."""
    rows = [[part for part in one.score.parts if part.weight] for one in judged]
    tasks = {one.task: len(row) for one, row in zip(judged, rows, strict=True)}
    starts = dict(zip(tasks, accumulate(tasks.values(), initial=0), strict=False))
    values, weights = (torch.zeros(len(judged), sum(tasks.values()), dtype=torch.float64) for _ in range(2))
    for number, (one, row) in enumerate(zip(judged, rows, strict=True)):
        for place, part in enumerate(row, start=starts[one.task]):
            values[number, place], weights[number, place] = part.value or 0.0, part.weight
    return values, weights


def _steps(policy: Policy, judged: Sequence[ScoredRollout]) -> tuple[Tensor, Tensor, Tensor]:
    """(B, S) step rewards, the tokens they are paid on, and which of them exist."""
    most = max(1, *(len(one.score.steps) for one in judged))
    rewards = torch.zeros(len(judged), most, dtype=torch.float64)
    tokens = torch.zeros(len(judged), most, dtype=torch.long)
    mask = torch.zeros(len(judged), most, dtype=torch.bool)
    for row, one in enumerate(judged):
        ends = completion_ends(policy, one.rollout) if one.score.steps else []
        for index, step in enumerate(one.score.steps):
            rewards[row, index] = step.value
            tokens[row, index] = step_token(ends, step.end)
            mask[row, index] = True
    return rewards, tokens, mask


def completion_ends(policy: Policy, rollout: Rollout) -> list[int]:
    """``token_ends`` of a rollout's ids; its end token adds no characters."""
    if rollout.finish == "stop":
        return [*token_ends(policy.decode, rollout.ids[:-1]), len(rollout.text)]
    return token_ends(policy.decode, rollout.ids)


def pad_micro_batches(micro_batches: Sequence[MicroBatch], count: int, device: torch.device) -> list[MicroBatch]:
    """The micro-batches, and some of nothing, so that there are ``count``."""
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    nothing = MicroBatch([[0]], ids, ids.bool(), ids.float(), ids.float())
    return [*micro_batches, *[nothing] * (count - len(micro_batches))]


def _micro_batch(rollouts: Sequence[Rollout], advantages: Tensor, device: torch.device) -> MicroBatch:
    lengths = torch.tensor([len(rollout.ids) for rollout in rollouts])
    longest = int(lengths.max())
    mask = torch.arange(longest) < lengths[:, None]
    tokens = torch.tensor([token for rollout in rollouts for token in rollout.ids])
    logps = torch.tensor([logp for rollout in rollouts for logp in rollout.logps])
    return MicroBatch(
        prompts=[rollout.prompt_ids for rollout in rollouts],
        ids=torch.zeros(len(rollouts), longest, dtype=torch.long).masked_scatter(mask, tokens).to(device),
        completion_mask=mask.to(device),
        advantages=advantages[:, :longest].to(device),
        sampler_logp=torch.zeros(len(rollouts), longest).masked_scatter(mask, logps).to(device),
    )
