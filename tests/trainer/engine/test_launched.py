"""What ``accelerate launch`` asks for is done or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grpo_env.errors import UsageError
from grpo_env.trainer.engine.policy import load_policy


@pytest.mark.parametrize(
    ("launched", "precision", "autocast"),
    [
        (None, "auto", None),
        ("no", "auto", None),
        ("bf16", "auto", "bf16"),
        ("bf16", "bf16", "bf16"),
        ("no", "bf16", "bf16"),
    ],
)
def test_its_mixed_precision_is_that_of_auto(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, launched: str | None, precision: str, autocast: str | None
) -> None:
    if launched:
        monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", launched)
    loaded = load_policy(str(model_folder), device="cpu", precision=precision).autocast
    assert loaded == (torch.bfloat16 if autocast else None)


@pytest.mark.parametrize(("launched", "precision"), [("bf16", "fp32"), ("fp16", "fp32"), ("fp16", "auto")])
def test_a_contradiction_is_refused(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, launched: str, precision: str
) -> None:
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", launched)
    with pytest.raises(UsageError, match=rf"--mixed_precision {launched} contradicts engine.precision={precision}"):
        load_policy(str(model_folder), device="cpu", precision=precision)
