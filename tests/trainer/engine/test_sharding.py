"""Gradients of several processes: the sums themselves are tested in real processes (``test_processes``)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from grpo_env.trainer.engine import sharding


def test_gradients_are_summed_many_in_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "BUCKET_BYTES", 400)
    shapes = [(5, 5), (50,), (2, 2), (), (200,)]
    gradients = [torch.randn(shape) for shape in shapes] + [torch.ones(3, dtype=torch.bfloat16)]
    expected, messages = [3 * gradient for gradient in gradients], list[int]()

    def reduce(tensor: torch.Tensor, how: str) -> torch.Tensor:
        messages.append(tensor.numel())
        assert how == "sum"
        return 3 * tensor  # as of three processes with equal gradients

    sharding.sum_gradients(SimpleNamespace(reduce=reduce), gradients)
    assert all(torch.equal(gradient, value) for gradient, value in zip(gradients, expected, strict=True))
    assert len(messages) < len(gradients)
    assert sum(messages) == sum(gradient.numel() for gradient in gradients)
