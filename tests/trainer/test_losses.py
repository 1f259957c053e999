"""The loss against hand arithmetic, against exact expectations, and the polarity of every mask."""

from __future__ import annotations

import math

import pytest
import torch

from grpo_env.trainer.config import LossConfig
from grpo_env.trainer.engine import logprobs
from grpo_env.trainer.engine.logprobs import Entropy, token_logp
from grpo_env.trainer.losses import (
    LossInputs,
    aggregate,
    clipped,
    denominators,
    importance_ratio,
    kl_penalty,
    policy_loss,
    tis_weight,
)

BOUNDS = {"clip_low": 0.2, "clip_high": 0.2}


def of_logits(
    logits: torch.Tensor, ids: torch.Tensor, temperature: float, entropy: Entropy = "value"
) -> tuple[torch.Tensor, torch.Tensor]:
    """``token_logp`` of a model whose states are its logits."""
    return token_logp(logits, lambda states: states, ids, logits.shape[-1], temperature, entropy)


def inputs_of(
    logp: torch.Tensor, old: torch.Tensor, advantages: torch.Tensor, mask: torch.Tensor | None = None
) -> LossInputs:
    """The inputs of a loss that knows no sampler and no reference."""
    present = torch.ones_like(logp, dtype=torch.bool) if mask is None else mask
    return LossInputs(logp, old, old, None, advantages, present, torch.zeros_like(old))


def surrogate(ratios: list[float], advantage: float, **bounds: float) -> tuple[list[float], list[bool], list[bool]]:
    """The surrogate, whether each token gets a gradient, and whether ``clipped`` marks it."""
    logp = torch.tensor(ratios, dtype=torch.float64).log().requires_grad_()
    advantages = torch.full((len(ratios),), advantage, dtype=torch.float64)
    settings, inputs = LossConfig(**(bounds or BOUNDS)), inputs_of(logp, torch.zeros_like(logp), advantages)
    loss = policy_loss(inputs, settings)
    loss.sum().backward()
    cut = clipped(inputs, settings)
    return (-loss).tolist(), (logp.grad != 0).tolist(), cut.tolist()


def test_a_ratio_beyond_float32_is_no_nan_where_the_advantage_is_0() -> None:
    """exp(100) is infinite in float32, and infinity times 0 is not a number."""
    logp = torch.tensor([[-1.0, -1.0]], requires_grad=True)
    inputs = inputs_of(logp, torch.full((1, 2), -101.0), torch.tensor([[0.0, -1.0]]))
    loss = policy_loss(inputs, LossConfig(**BOUNDS))
    assert loss.tolist()[0] == pytest.approx([0.0, math.exp(20)])
    assert torch.autograd.grad(loss.sum(), logp)[0].isfinite().all()


def test_clipped_surrogate_worked_example() -> None:
    values, flows, _ = surrogate([1.3, 1.05, 0.7], 1.3416)
    assert values == pytest.approx([1.6099, 1.4087, 0.9391], abs=1e-4)
    assert sum(values) / 3 == pytest.approx(1.3192, abs=1e-4)
    assert flows == [False, True, True]


@pytest.mark.parametrize(
    ("advantage", "values", "flows"),
    [
        (2.0, [1.0, 1.8, 2.0, 2.2, 2.4], [True, True, True, True, False]),
        (-2.0, [-1.6, -1.8, -2.0, -2.2, -3.0], [False, True, True, True, True]),
    ],
)
def test_clip_table(advantage: float, values: list[float], flows: list[bool]) -> None:
    actual, gradient, cut = surrogate([0.5, 0.9, 1.0, 1.1, 1.5], advantage)
    assert actual == pytest.approx(values, abs=1e-12)
    assert gradient == flows
    assert cut == [not flow for flow in flows]


def test_the_two_clip_bounds_are_independent() -> None:
    assert surrogate([1.25], 1.0, clip_low=0.2, clip_high=0.28)[1] == [True]
    assert surrogate([1.25], 1.0, clip_low=0.28, clip_high=0.2)[1] == [False]
    assert surrogate([0.75], -1.0, clip_low=0.2, clip_high=0.28)[1] == [False]
    assert surrogate([0.75], -1.0, clip_low=0.28, clip_high=0.2)[1] == [True]


def test_on_policy_gradient_is_minus_the_advantage() -> None:
    logp = torch.tensor([0.5]).log().requires_grad_()
    inputs = inputs_of(logp, logp.detach(), torch.tensor([-0.2]))
    policy_loss(inputs, LossConfig(**BOUNDS)).sum().backward()
    assert logp.grad.item() == pytest.approx(0.2)


LENGTHS = (5, 1, 3)


def slopes(logp: list[float], old: list[float], advantage: float, level: str):
    """Minus the gradient of one row's summed loss, and what the clip changes, token by token from the papers."""
    ratios = [math.exp(new - previous) for new, previous in zip(logp, old, strict=True)]
    if level == "sequence":
        ratios = [math.exp(sum(logp) / len(logp) - sum(old) / len(old))] * len(logp)
    row_slopes, cut = [], []
    for ratio in ratios:
        out = (advantage > 0 and ratio > 1.3) or (advantage < 0 and ratio < 0.8)
        row_slopes.append(0.0 if out else ratio * advantage)
        cut.append(out)
    return row_slopes, cut


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_gradients_are_those_of_the_papers(level: str) -> None:
    generator = torch.Generator().manual_seed(1)
    bounds = {"clip_low": 0.2, "clip_high": 0.3}
    clip_outcomes = set()
    for _ in range(40):
        logp = -torch.rand(3, 5, generator=generator, dtype=torch.float64) * 2
        old = logp + torch.randn(3, 5, generator=generator, dtype=torch.float64) * 0.4
        advantages = torch.randn(3, 1, generator=generator, dtype=torch.float64).expand(3, 5)
        mask = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
        logp.requires_grad_()
        settings = LossConfig(importance_level=level, **bounds)
        inputs = inputs_of(logp, old, advantages, mask)
        aggregate(policy_loss(inputs, settings), mask, "token", 1.0).backward()
        cut = clipped(inputs, settings)
        for row, length in enumerate(LENGTHS):
            slope, changed = slopes(
                logp[row, :length].tolist(),
                old[row, :length].tolist(),
                advantages[row, 0].item(),
                level,
            )
            torch.testing.assert_close(
                -logp.grad[row, :length], torch.tensor(slope, dtype=torch.float64), rtol=1e-10, atol=1e-12
            )
            assert cut[row, :length].tolist() == changed
            assert (logp.grad[row, length:] == 0).all()
            clip_outcomes |= set(changed)
    assert clip_outcomes == {True, False}


def test_the_ratio_of_a_sequence_is_its_geometric_mean() -> None:
    logp, old = torch.tensor([[0.5, 0.2, 0.9]]).log(), torch.tensor([[0.25, 0.4, 0.1]]).log()
    inputs = inputs_of(logp, old, torch.ones(1, 3), torch.tensor([[True, True, False]]))
    assert importance_ratio(inputs, "sequence")[0, :2].tolist() == pytest.approx([1.0, 1.0])  # 2 and 1/2
    assert importance_ratio(inputs, "token")[0, :2].tolist() == pytest.approx([2.0, 0.5])


def test_the_gradient_of_the_penalty_on_policy() -> None:
    """Over all tokens, against the derivative of KL(reference || policy) (Tang and Munos 2025)."""
    z = torch.tensor([0.3, -0.2, 0.9], dtype=torch.float64, requires_grad=True)
    ref, logp = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64).log(), z.log_softmax(0)
    (expected,) = torch.autograd.grad((ref.exp() * (ref - logp)).sum(), z, retain_graph=True)
    mean = (logp.exp().detach() * kl_penalty(logp, ref)).sum()
    torch.testing.assert_close(torch.autograd.grad(mean, z)[0], expected, rtol=0, atol=1e-12)


def test_the_entropy_has_a_gradient_only_on_request() -> None:
    z = torch.tensor([[0.3, -0.2, 0.9]], requires_grad=True)
    _, entropy = of_logits(z, torch.tensor([0]), 1.0, "gradient")
    (gradient,) = torch.autograd.grad(entropy.sum(), z)
    p = z.detach().softmax(-1)
    expected = -p * (p.log() + entropy.detach())  # dH/dz_j = -p_j (log p_j + H)
    torch.testing.assert_close(gradient, expected)
    assert not of_logits(z, torch.tensor([0]), 1.0)[1].requires_grad


def test_k3_worked_example() -> None:
    policy, reference = torch.tensor([0.30]).log(), torch.tensor([0.24]).log()
    penalty = kl_penalty(policy, reference).item()
    assert penalty == pytest.approx(0.0231436, abs=1e-6)  # 0.8 - ln 0.8 - 1; with the sign reversed it would be 0.0269
    assert 0.04 * penalty == pytest.approx(0.000926, abs=1e-6)
    assert kl_penalty(policy, policy).item() == 0.0


@pytest.mark.parametrize("apart", [21.0, 89.0, 1e4])
def test_k3_is_finite_and_pulls_back_wherever_the_exponential_overflows(apart: float) -> None:
    """float32 ends at exp(88.7); TRL#3015. Beyond 20 nats the gradient, 1 - exp(d), stays at that of 20."""
    logp = torch.tensor([-apart], requires_grad=True)
    penalty = kl_penalty(logp, torch.zeros(1))
    (gradient,) = torch.autograd.grad(penalty.sum(), logp)
    assert penalty.item() == pytest.approx(math.exp(20) - 1 - apart)
    assert gradient.item() == pytest.approx(1 - math.exp(20))


def test_kl_gradient() -> None:
    logp = torch.tensor([0.30], dtype=torch.float64).log().requires_grad_()
    kl_penalty(logp, torch.tensor([0.24], dtype=torch.float64).log()).sum().backward()
    assert logp.grad.item() == pytest.approx(1 - 0.24 / 0.3, rel=1e-6)


@pytest.mark.parametrize(("apart", "spread"), [(0.1, 1.4166), (1.0, 1.6950)])
def test_kl_expectations_for_normals(apart: float, spread: float) -> None:
    """Policy N(apart, 1), reference N(0, 1): KL = apart^2 / 2. Mean and spread, relative to it, by integration."""
    x = torch.linspace(apart - 12, apart + 12, 200_001, dtype=torch.float64)
    logp = -(x - apart).square() / 2 - math.log(2 * math.pi) / 2
    true, k = apart**2 / 2, kl_penalty(logp, -x.square() / 2 - math.log(2 * math.pi) / 2)
    mean = torch.trapezoid(logp.exp() * k, x).item()
    variance = torch.trapezoid(logp.exp() * (k - mean).square(), x).item()
    assert mean / true == pytest.approx(1, abs=1e-4)
    assert math.sqrt(variance) / true == pytest.approx(spread, rel=1e-3)


PER_TOKEN = torch.tensor([[1.0, 2.0, 3.0, 99.0], [4.0, 99.0, 99.0, 99.0]])
MASK = torch.tensor([[True, True, True, False], [True, False, False, False]])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("token", (1 + 2 + 3 + 4) / 4), ("sequence", (2 + 4) / 2), ("constant", (1 + 2 + 3 + 4) / (2 * 10))],
)
def test_aggregate(mode: str, expected: float) -> None:
    lengths = torch.tensor([3, 1])
    assert aggregate(PER_TOKEN, MASK, mode, denominators(lengths, 2, mode, 10)).item() == pytest.approx(expected)


@pytest.mark.parametrize("mode", ["token", "sequence", "constant"])
def test_parts_of_a_batch_add_up_to_the_batch(mode: str) -> None:
    denominator = denominators(torch.tensor([3, 1]), 2, mode, 10)
    parts = [aggregate(PER_TOKEN[row : row + 1], MASK[row : row + 1], mode, denominator) for row in range(2)]
    assert sum(parts).item() == pytest.approx(aggregate(PER_TOKEN, MASK, mode, denominator).item())


def test_truncated_importance_weights() -> None:
    old = torch.tensor([0.5, 0.1, 0.6, 1.0, 1.0], dtype=torch.float64).log().requires_grad_()
    sampler = torch.tensor([0.4, 0.2, 0.2, 1.0, 0.0], dtype=torch.float64).log()
    weights = tis_weight(old, sampler, 2.0)
    assert weights.tolist() == pytest.approx([1.25, 0.5, 2.0, 1.0, 2.0], abs=1e-15)
    assert not weights.requires_grad


def test_masked_tokens_have_no_value_and_no_gradient_even_when_not_finite() -> None:
    tokens = torch.tensor([[1.0, math.inf], [math.nan, math.nan]], requires_grad=True)
    mask = torch.tensor([[True, False], [False, False]])
    for mode in ("token", "sequence", "constant"):
        loss = aggregate(tokens, mask, mode, 1.0)
        (gradient,) = torch.autograd.grad(loss, tokens)
        assert loss.item() == 1.0
        assert gradient.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_sequence_probability() -> None:
    logits = torch.tensor([[0.4, 0.6], [0.5, 0.5], [0.8, 0.2]]).log()
    logp, entropy = of_logits(logits, torch.tensor([0, 0, 1]), 1.0)
    assert logp.sum().exp().item() == pytest.approx(0.04)
    assert entropy[1].item() == pytest.approx(math.log(2))


def test_temperature_divides_the_logits() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)]])
    assert of_logits(logits, torch.tensor([1]), 1.0)[0].exp().item() == pytest.approx(3 / 4)
    assert of_logits(logits, torch.tensor([1]), 0.5)[0].exp().item() == pytest.approx(9 / 10)


def test_an_impossible_token_leaves_the_entropy_finite() -> None:
    logits = torch.tensor([[0.0, 0.0, -math.inf]], requires_grad=True)
    for wanted in ("value", "gradient"):
        _, entropy = of_logits(logits, torch.tensor([0]), 1.0, wanted)
        assert entropy.item() == pytest.approx(math.log(2))
    assert torch.autograd.grad(entropy.sum(), logits)[0].tolist() == [[0.0, 0.0, 0.0]]  # the largest entropy; TRL#7221


def test_chunks_change_neither_value_nor_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    logits, ids = torch.randn(7, 5, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 4, 0, 1])
    results = []
    monkeypatch.setattr("torch.get_rng_state", lambda: pytest.fail("read, which takes time, though nothing is random"))
    for size in (10**6, 10):
        monkeypatch.setattr(logprobs, "CHUNK", size)
        leaf = logits.clone().requires_grad_()
        logp, entropy = of_logits(leaf, ids, 0.7, "gradient")
        (logp * torch.arange(7) + 0.1 * entropy).sum().backward()
        entropy = entropy.detach()
        results.append((logp.detach(), entropy, leaf.grad))
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected)


def test_entropies_are_computed_once_in_blocks_and_not_again_in_the_backward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    logits, ids = torch.randn(7, 5, requires_grad=True), torch.arange(7) % 5
    expected = torch.distributions.Categorical(logits=logits.detach()).entropy()
    monkeypatch.setattr(logprobs, "CHUNK", 15)
    monkeypatch.setattr(logprobs, "BLOCK", 10)
    rows: list[int] = []
    entropies = logprobs.entropies_of

    def counted(log_probs: torch.Tensor, gradient: bool) -> torch.Tensor:
        rows.append(len(log_probs))
        return entropies(log_probs, gradient)

    monkeypatch.setattr(logprobs, "entropies_of", counted)
    logp, entropy = of_logits(logits, ids, 1.0)
    logp.sum().backward()
    assert rows == [3, 3, 1]
    torch.testing.assert_close(entropy, expected)
    assert of_logits(logits, ids, 1.0, "none")[1].tolist() == [0.0] * 7
    assert len(rows) == 3


def test_the_head_is_never_applied_to_more_than_a_chunk_and_gets_its_whole_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    states, ids = torch.randn(7, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 3, 4, 0, 1])
    weight = torch.randn(5, 3, dtype=torch.float64).requires_grad_()
    logp = torch.log_softmax((states @ weight.T).float() / 0.7, -1)[range(7), ids]
    (logp * torch.arange(7)).sum().backward()
    expected, weight.grad = weight.grad, None
    sizes = []

    def head(part: torch.Tensor) -> torch.Tensor:
        sizes.append(len(part))
        return part @ weight.T

    monkeypatch.setattr(logprobs, "CHUNK", 10)
    chunked, _ = token_logp(states, head, ids, 5, 0.7)
    (chunked * torch.arange(7)).sum().backward()
    torch.testing.assert_close(chunked, logp)
    torch.testing.assert_close(weight.grad, expected)
    assert max(sizes) == 2
