"""Trains a reward model on labels: binary cross-entropy on its outputs, by transformers' ``Trainer``."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from accelerate.state import AcceleratorState, GradientState, PartialState
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils.rnn import pad_sequence
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from .labels import Labelled

if TYPE_CHECKING:
    from grpo_env.verifiers.pretrained import Pretrained

RATE = 1e-5
NO_LABEL = -100.0  # what ``Trainer`` does not count


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
    at_once = min(settings.rows_at_once, settings.batch_size)
    with tempfile.TemporaryDirectory() as folder, _process_state_kept():
        trainer = Trainer(
            loaded.model,
            TrainingArguments(
                output_dir=folder,
                num_train_epochs=settings.epochs,
                learning_rate=RATE if settings.learning_rate is None else settings.learning_rate,
                per_device_train_batch_size=at_once,
                gradient_accumulation_steps=-(-settings.batch_size // at_once),
                warmup_steps=0.1 if len(rows) * settings.epochs > settings.batch_size else 0,  # or the one has rate 0
                weight_decay=0.01,
                seed=settings.seed,
                data_seed=settings.seed,
                use_cpu=loaded.device.type == "cpu",
                bf16=loaded.device.type == "cuda" and torch.cuda.is_bf16_supported(),
                dataloader_pin_memory=loaded.device.type == "cuda",
                remove_unused_columns=False,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=[_tensors(row, loaded.head == "token") for row in rows],
            data_collator=partial(padded, pad_id=loaded.pad_id),
            compute_loss_func=loss,
            callbacks=[_Progress(partial(advance, settings.batch_size))],
        )
        trainer.remove_callback(PrinterCallback)
        return float(trainer.train().training_loss)


def loss(outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None) -> Tensor:
    """The sum of the binary cross-entropies of all labels, divided by their number in the whole update."""
    logits = outputs.logits.float()  # (rows, labels) or (rows, tokens, labels)
    logits = logits[..., -1] - (logits[..., 0] if logits.shape[-1] == 2 else 0.0)
    known = labels != NO_LABEL
    total = binary_cross_entropy_with_logits(logits[known], labels[known], reduction="sum")
    return total / (known.sum() if num_items_in_batch is None else num_items_in_batch)


def _tensors(row: Labelled, by_token: bool) -> dict[str, Any]:
    """A row's ids with its label, or for ``by_token`` with one for each token: ``NO_LABEL`` where there is none."""
    ids, positions, types = row.read.encoded
    labels = [NO_LABEL if label is None else label for label in row.labels]
    if not by_token:
        return {"ids": ids, "types": types, "labels": labels[0]}
    of_tokens = [NO_LABEL] * len(ids)
    for position, label in zip(positions, labels, strict=True):
        of_tokens[position] = label
    return {"ids": ids, "types": types, "labels": of_tokens}


def padded(rows: Sequence[Mapping[str, Any]], pad_id: int) -> dict[str, Tensor]:
    """Rows as tensors (rows, longest), padded on the right; labels of whole texts as (rows,)."""

    def filled(lists: Sequence[Sequence[float]], value: float) -> Tensor:
        return pad_sequence([torch.tensor(values) for values in lists], batch_first=True, padding_value=value)

    labels = [row["labels"] for row in rows]
    tensors = {
        "input_ids": filled([row["ids"] for row in rows], pad_id),
        "attention_mask": filled([[1] * len(row["ids"]) for row in rows], 0),
        "labels": filled(labels, NO_LABEL) if isinstance(labels[0], list) else torch.tensor(labels),
    }
    if rows[0]["types"] is not None:
        tensors["token_type_ids"] = filled([row["types"] for row in rows], 0)
    return tensors


def save(loaded: Pretrained, folder: Path) -> None:
    """Write model and tokenizer as transformers, and so the verifiers, load them."""
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)


@contextmanager
def _process_state_kept() -> Iterator[None]:
    """Undo what ``Trainer`` sets for the whole process: random numbers, accelerate's state, and its variables."""
    shared = [state._shared_state for state in (PartialState, AcceleratorState, GradientState)]
    before, environment = [dict(state) for state in shared], dict(os.environ)
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        for state, content in zip(shared, before, strict=True):
            state.clear()
            state.update(content)
        for name in set(os.environ) - set(environment):
            del os.environ[name]


class _Progress(TrainerCallback):  # type: ignore[misc]
    """Tells how far training is, after each update."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self._advance()
