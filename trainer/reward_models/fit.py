"""Trains a reward model on labels: binary cross-entropy on the outputs that its verifier reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils import clip_grad_norm_
from transformers import get_linear_schedule_with_warmup

from .labels import Labelled

if TYPE_CHECKING:
    from grpo_env.verifiers.pretrained import Pretrained

RATE = 1e-5
DECAY = 0.01  # of matrices
MAX_GRAD_NORM = 1.0


@dataclass(frozen=True)
class FitSettings:
    """How a reward model is trained: AdamW, a linear schedule after a warm-up of a tenth of the updates.

    ``batch_size`` rows make an update, ``rows_at_once`` of them at a time. Without a ``learning_rate``, ``reward-model
    train`` chooses one that suits the model, and ``fit`` takes ``RATE``.
    """

    epochs: int = 4
    learning_rate: float | None = None
    batch_size: int = 32
    rows_at_once: int = 8
    seed: int = 0


def fit(
    loaded: Pretrained,
    rows: Sequence[Labelled],
    settings: FitSettings,
    advance: Callable[[int], None] = lambda count: None,
) -> float:
    """Train the model in place and return the mean loss. ``advance`` is called with the number of rows of an update.

    The loss is the binary cross-entropy of each output's probability and its label, hard or soft, averaged over the
    labels of an update: of a step's last token in a process model (Wang et al. 2024, Math-Shepherd, equation 2), of the
    whole text in an outcome model (equation 1).
    """
    weights = list(loaded.model.parameters())
    groups = [
        {"params": [weight for weight in weights if weight.dim() > 1], "weight_decay": DECAY},
        {"params": [weight for weight in weights if weight.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE if settings.learning_rate is None else settings.learning_rate)
    updates = settings.epochs * math.ceil(len(rows) / settings.batch_size)
    # The first update of a warm-up has rate 0, so a single one has none.
    schedule = get_linear_schedule_with_warmup(optimizer, math.ceil(0.1 * updates) if updates > 1 else 0, updates)
    losses: list[float] = []
    with torch.random.fork_rng():  # of dropout
        torch.manual_seed(settings.seed)
        loaded.model.train()
        for epoch in range(settings.epochs):
            order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(settings.seed + epoch)).tolist()
            for start in range(0, len(rows), settings.batch_size):
                update = [rows[index] for index in order[start : start + settings.batch_size]]
                losses.append(_set_gradient(loaded, update, settings.rows_at_once))
                clip_grad_norm_(weights, MAX_GRAD_NORM)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                advance(len(update))
    return fmean(losses)


def _set_gradient(loaded: Pretrained, update: Sequence[Labelled], at_once: int) -> float:
    """Set the gradient of the mean loss over the labels of an update; returns that mean."""
    bf16 = loaded.device.type == "cuda" and torch.cuda.is_bf16_supported()
    labels, total = sum(len(row.known) for row in update), 0.0
    for start in range(0, len(update), at_once):
        part = update[start : start + at_once]
        with torch.autocast(loaded.device.type, torch.bfloat16, enabled=bf16):
            logits = loaded.forward([row.read.encoded for row in part])
        summed = loss(logits, [label for row in part for label in row.labels]) / labels
        summed.backward()  # type: ignore[no-untyped-call]
        total += summed.item()
    return total


def loss(logits: Tensor, labels: Sequence[float | None]) -> Tensor:
    """The sum of the binary cross-entropies of outputs, one (n, 1) or two logits (n, 2) each, whose label is known."""
    logits = logits.float()
    logits = logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0)
    targets = torch.tensor([math.nan if label is None else label for label in labels], device=logits.device)
    known = targets.isfinite()
    return binary_cross_entropy_with_logits(logits[known], targets[known], reduction="sum")


def save(loaded: Pretrained, folder: Path) -> None:
    """Write model and tokenizer as transformers, and so the verifiers, load them."""
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
