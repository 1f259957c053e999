"""Baselines and scales: numbers less the mean of those that they are compared with, over their spread.

Numbers are compared in *pools*: ``values`` (P, G, S), S numbers of each of G rows in P groups, and ``present``, a bool
of the same shape. Everything is float64, because the spread of a group may be small compared with its mean.
"""

from __future__ import annotations

import torch
from torch import Tensor

from grpo_env.equality import TOLERANCE

from .config import AdvantageConfig, Baseline, Std


def normalize(values: Tensor, mask: Tensor, group_size: int, settings: AdvantageConfig) -> Tensor:
    """Center and scale (B, S) values over each group's G x S pool; 0 where ``mask`` is False.

    Uses ``scale``, ``std`` and ``baseline`` of the settings; a baseline of ``greedy`` is for the caller to subtract.
    """
    pools = values.double().where(mask, 0.0).view(-1, group_size, values.shape[1])
    present = mask.view_as(pools)
    return (center(pools, present, settings.baseline) / divisor(pools, present, settings)).view_as(values)


def center(values: Tensor, present: Tensor, baseline: Baseline) -> Tensor:
    """Pools less their baseline; 0 where they are not ``present`` and, with a baseline, in equal pools."""
    if baseline in ("none", "greedy"):
        return values
    mean = others = _mean(values, present)
    if baseline == "leave_one_out":
        count = present.sum((1, 2), keepdim=True) - present.sum(2, keepdim=True)
        total = values.sum((1, 2), keepdim=True) - values.sum(2, keepdim=True)
        others = (total / count.clamp(min=1)).where(count > 0, mean)
    return (values - others).where(present & ~_equal(values, present), 0.0)


def divisor(values: Tensor, present: Tensor, settings: AdvantageConfig) -> Tensor:
    """What centered pools are divided by, (P, 1, 1) or a scalar; 1 instead of 0, where all of them are 0 already."""
    if settings.scale == "none":
        return torch.ones((), dtype=values.dtype)
    if settings.scale == "batch":
        divisor = _deviation(values[present], settings.std)
    elif settings.scale == "mean":
        divisor = _mean(values, present)
    else:
        count = present.sum((1, 2), keepdim=True)
        square = (values - _mean(values, present)).where(present, 0.0).square().sum((1, 2), keepdim=True)
        divisor = (square / (count - int(settings.std == "sample")).clamp(min=1)).sqrt()
    return divisor.where(divisor > 0, 1.0)


def differences(rewards: Tensor, baselines: Tensor) -> Tensor:
    """Rewards less baselines; exactly 0 where they are equal but for rounding (see ``grpo_env.equality``)."""
    size = torch.maximum(rewards.abs(), baselines.abs()).clamp(min=1.0)
    difference = rewards - baselines
    return difference.where(difference.abs() > TOLERANCE * size, 0.0)


def _mean(values: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) means of the values that are present; the others are 0."""
    return values.sum((1, 2), keepdim=True) / present.sum((1, 2), keepdim=True).clamp(min=1)


def _deviation(values: Tensor, std: Std) -> Tensor:
    """The standard deviation of (N,) values; 0 if there are fewer than two."""
    return values.std(correction=int(std == "sample")) if values.numel() > 1 else torch.zeros((), dtype=values.dtype)


def _equal(values: Tensor, present: Tensor) -> Tensor:
    """(P, 1, 1) True for pools with fewer than two values, or with equal values (see ``grpo_env.equality``)."""
    high = values.where(present, -torch.inf).amax((1, 2), keepdim=True)
    low = values.where(present, torch.inf).amin((1, 2), keepdim=True)
    size = torch.maximum(high.abs(), low.abs()).clamp(min=1.0)
    return ~(high - low > TOLERANCE * size)
