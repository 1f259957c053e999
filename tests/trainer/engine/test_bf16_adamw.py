"""Weights in bfloat16: rounding is right on average, small updates add up, and runs resume to the bit."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.errors import UsageError
from grpo_env.trainer.engine.fast.bf16_adamw import StochasticRoundingAdamW, stochastic_round
from grpo_env.trainer.loop import resume, train

FINITE = st.floats(-(2.0**100), 2.0**100, width=32).filter(lambda value: value == 0 or abs(value) > 2.0**-100)


@given(FINITE, st.integers(0, 2**16 - 1))
def test_a_value_is_rounded_to_one_of_its_two_neighbors(value, draw):
    exact = torch.tensor([value])
    rounded = stochastic_round(exact, torch.tensor([draw], dtype=torch.int32))
    bits = exact.view(torch.int32) & -(2**16)  # towards zero
    neighbors = [bits.view(torch.float32).item(), (bits + 2**16).view(torch.float32).item()]
    assert rounded.item() in neighbors[: 1 if value == neighbors[0] else 2]


@pytest.mark.parametrize("value", [1 + 2**-9, -(1 + 3 * 2**-10), 0.1, 3.0])
def test_the_mean_over_all_random_bits_is_the_value(value):
    draws = torch.arange(2**16, dtype=torch.int32)
    exact = torch.full((2**16,), value)
    assert stochastic_round(exact, draws).double().mean().item() == pytest.approx(exact[0].item(), rel=2**-24)


def moved(optimizer, weight, updates):
    """How far constant gradients have moved the weights, on average."""
    start = weight.detach().float().mean().item()
    for _ in range(updates):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return weight.detach().float().mean().item() - start


def test_updates_that_are_too_small_for_bfloat16_add_up():
    # By Adam's normalization the size of each of these updates is the learning rate, a thousandth of the spacing at 1.
    settings = {"lr": 2**-17, "betas": (0.9, 0.95), "weight_decay": 0.0}
    stochastic, plain = (torch.nn.Parameter(torch.ones(20_000, dtype=torch.bfloat16)) for _ in range(2))
    assert moved(StochasticRoundingAdamW([stochastic], 0, **settings), stochastic, 64) == pytest.approx(
        -64 * 2**-17, rel=0.1
    )
    assert moved(torch.optim.AdamW([plain], **settings), plain, 64) == 0


def test_small_changes_of_the_second_moment_add_up():
    # A decay of .999 changes it by less than its spacing. After n equal gradients it is 1 - .999**n.
    weight = torch.nn.Parameter(torch.ones(20_000, dtype=torch.bfloat16))
    optimizer = StochasticRoundingAdamW([weight], 0, lr=0.0, betas=(0.9, 0.999), weight_decay=0.0)
    moved(optimizer, weight, 1000)
    assert optimizer.state[weight]["exp_avg_sq"].float().mean().item() == pytest.approx(1 - 0.999**1000, rel=0.02)


@pytest.mark.parametrize("chunk", [2**22, 300])
def test_the_update_is_that_of_adamw(monkeypatch, chunk):
    monkeypatch.setattr("grpo_env.trainer.engine.fast.bf16_adamw.CHUNK", chunk)
    torch.manual_seed(0)
    start, gradients = torch.randn(1000).bfloat16(), torch.randn(5, 1000).bfloat16()
    settings = {"lr": 0.5, "betas": (0.9, 0.95), "weight_decay": 0.1}
    weight, exact = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.double())
    optimizer, reference = StochasticRoundingAdamW([weight], 0, **settings), torch.optim.AdamW([exact], **settings)
    for gradient in gradients:
        weight.grad, exact.grad = gradient.clone(), gradient.double()
        optimizer.step()
        reference.step()
    assert torch.allclose(weight.double(), exact, rtol=2**-6, atol=2**-5)
    assert optimizer.state[weight]["step"] == 5


def test_a_run_in_bfloat16_resumes_to_the_bit(make_task, tmp_path):
    settings = {"optimizer.name": "adamw_bf16", "engine.precision": "bf16", "steps": 4}
    uninterrupted = train(make_task(**settings), run_dir=tmp_path / "whole").run_dir
    cut = train(make_task(**settings), run_dir=tmp_path / "cut").run_dir
    for folder in (cut / "model", cut / "checkpoints" / "step-000004"):
        folder.rename(tmp_path / folder.name)
    resume(cut)
    states = [torch.load(run / "checkpoints" / "step-000004" / "state.pt") for run in (uninterrupted, cut)]
    for name, weight in states[0]["weights"].items():
        assert weight.dtype == torch.bfloat16
        assert torch.equal(weight, states[1]["weights"][name])
    for expected, actual in zip(*(state["optimizer"]["state"].values() for state in states), strict=True):
        assert expected["exp_avg"].dtype == expected["exp_avg_sq"].dtype == torch.bfloat16
        assert torch.equal(expected["exp_avg_sq"], actual["exp_avg_sq"])


def test_the_optimizer_needs_bf16_precision(make_task, tmp_path):
    with pytest.raises(UsageError, match=r"engine\.precision=bf16"):
        train(make_task(optimizer={"name": "adamw_bf16"}, engine={"precision": "fp32"}), run_dir=tmp_path / "run")
