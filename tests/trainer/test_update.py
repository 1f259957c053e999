"""The update: its gradient against a float64 computation by hand, and what must not change it."""

from __future__ import annotations

import copy
import math
import statistics
import time
from dataclasses import replace
from itertools import groupby
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import OPTConfig, OPTForCausalLM

from grpo_env.core import Example, Score, StepScore
from grpo_env.errors import RunError
from grpo_env.trainer.batch import pack_rows
from grpo_env.trainer.config import OptimizerConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy, checkpoint_activations
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.optimizer import learning_rate, make_optimizer
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.run import alerts
from grpo_env.trainer.shared_types import ScoredRollout
from grpo_env.trainer.update import update

from .shortcuts import advantages_of, loss_of, mini_batches, one_step, packed, with_settings

EXAMPLE = Example("e", "")
CONFIG = TrainConfig(
    group_size=3,
    prompts_per_step=2,
    sampling={"max_new_tokens": 8},
    optimizer={"max_grad_norm": 1e9, "warmup_steps": 0},
)
ROWS = [
    ([40, 41, 42], [50, 51, 52, 0], 1.0),
    ([40, 41, 42], [53, 54], 0.0),
    ([40, 41, 42], [55, 56, 57, 58, 59, 60, 61, 62], 0.6),
    ([70], [80, 0], 0.2),
    ([70], [81, 82, 83, 84, 85], 0.9),
    ([70], [86], 0.4),
]


@pytest.fixture(params=[False, True], ids=["plain", "fast"])
def policy(policy: Policy, request: pytest.FixtureRequest) -> Policy:
    return replace(policy, shares_prompts=request.param, has_separate_head=request.param)


def sampler_logp(token: int) -> float:
    return -0.1 * token  # as far from the model's as would be hard to overlook


def scored(policy: Policy, rows=None, **score) -> list[ScoredRollout]:
    result = []
    for prompt, ids, reward in rows or ROWS:
        finish = "stop" if ids[-1] == 0 else "length"
        rollout = Rollout(prompt, ids, policy.decode(ids), finish, list(map(sampler_logp, ids)))
        status = "scored" if reward is not None else "error"
        result.append(ScoredRollout(EXAMPLE, rollout, Score(reward, status, **score)))
    return result


def gradient(policy: Policy, rows: list[ScoredRollout], config: TrainConfig, reference=None) -> torch.Tensor:
    """The full gradient as a vector, through batch, micro-batches and loss."""
    policy.model.zero_grad()
    batch = packed(policy, rows, config)
    if reference is not None:
        add_reference_logp(policy, reference, [batch], config.sampling.temperature)
    for micro in batch.micro_batches:
        loss_of(policy, micro, config, batch.denominator)[0].backward()
    weights = list(policy.model.parameters())
    return torch.cat([(w.grad if w.grad is not None else torch.zeros_like(w)).flatten().double() for w in weights])


def reinforce_gradient(
    policy: Policy, rows, advantages, weights, temperature: float = 1.0, clip: float | None = None
) -> torch.Tensor:
    """sum of weight * -A * grad logp, row by row, float64, without any of the trainer's code.

    With ``clip`` a token's weight has min(probability / the sampler's, clip) as another factor.
    """
    model = copy.deepcopy(policy.model).double()
    loss = torch.zeros((), dtype=torch.float64)
    for (prompt, ids, _), advantage, weight in zip(rows, advantages, weights, strict=True):
        logits = model(torch.tensor([prompt + ids])).logits[0].double() / temperature
        for place, token in enumerate(ids):
            logp = torch.log_softmax(logits[len(prompt) + place - 1], -1)[token]
            gap = 1.0 if clip is None else min(math.exp(logp.item() - sampler_logp(token)), clip)
            loss = loss - gap * weight * advantage * logp
    loss.backward()
    return torch.cat([w.grad.flatten() for w in model.parameters()])


def hand_advantages() -> list[float]:
    advantages = []
    for group in (ROWS[:3], ROWS[3:]):
        rewards = [reward for _, _, reward in group]
        mean = sum(rewards) / 3
        spread = math.sqrt(sum((r - mean) ** 2 for r in rewards) / 2)
        advantages += [(r - mean) / spread for r in rewards]
    return advantages


@pytest.mark.parametrize("mode", ["token", "sequence", "constant"])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_gradient_at_old_equals_current_is_reinforce(policy: Policy, mode: str, temperature: float) -> None:
    lengths = [len(ids) for _, ids, _ in ROWS]
    weights = {
        "token": [1 / sum(lengths)] * 6,
        "sequence": [1 / 6 / length for length in lengths],
        "constant": [1 / 6 / 8] * 6,
    }[mode]
    expected = reinforce_gradient(policy, ROWS, hand_advantages(), weights, temperature)
    actual = gradient(
        policy,
        scored(policy),
        with_settings(CONFIG, loss={"aggregation": mode}, sampling={"temperature": temperature}),
    )
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-4)
    assert expected.abs().max() > 1e-3


@pytest.mark.parametrize("mode", ["token", "sequence", "constant"])
@pytest.mark.parametrize("tokens", [1, 16, 24])
def test_micro_batches_and_padding_do_not_change_the_gradient(policy: Policy, mode: str, tokens: int) -> None:
    config = with_settings(CONFIG, loss={"aggregation": mode}, kl={"coef": 0.1})
    reference = {name: weight + 0.01 for name, weight in policy.snapshot().items()}
    undivided = gradient(policy, scored(policy), config, reference)
    split = gradient(policy, scored(policy), with_settings(config, engine={"micro_batch_tokens": tokens}), reference)
    torch.testing.assert_close(split, undivided, atol=1e-6, rtol=1e-4)


@given(
    st.lists(st.lists(st.integers(1, 9), max_size=4), max_size=5),
    st.lists(st.integers(1, 20), min_size=5, max_size=5),
    st.integers(1, 80),
    st.booleans(),
)
def test_rows_are_packed_once_within_the_budget_and_groups_stay_together(lengths, prompts, budget, shared) -> None:
    numbers = iter(range(20))
    groups = [[next(numbers) for _ in group] for group in lengths]
    group_of = {row: number for number, group in enumerate(groups) for row in group}
    flat = [length for group in lengths for length in group]
    parts = pack_rows(groups, [prompts[group_of[row]] for row in group_of], flat, budget, shared=shared)
    order = [row for part in parts for row in part]
    assert sorted(order) == sorted(group_of)
    assert len([number for number, _ in groupby(group_of[row] for row in order)]) == sum(
        bool(group) for group in groups
    )
    for part in parts:
        rows = len({group_of[row] for row in part}) if shared else len(part)
        positions = rows * max(prompts[group_of[row]] for row in part) + len(part) * max(flat[row] for row in part)
        assert positions <= budget or len(part) == 1


def test_packing_fills_the_budget() -> None:
    # Two groups with prompts of 4: shared, 4 + 2 x 3 = 10 and 4 + 2 x 5 = 14 positions; together 2 x 4 + 4 x 5 = 28.
    arguments = ([[0, 1], [2, 3]], [4] * 4, [5, 4, 3, 2])
    assert pack_rows(*arguments, 28, shared=True) == [[3, 2, 1, 0]]
    assert pack_rows(*arguments, 27, shared=True) == [[3, 2, 1], [0]]
    assert pack_rows(*arguments, 28, shared=False) == [[3, 2, 1], [0]]
    assert pack_rows(*arguments, 9, shared=False) == [[3], [2], [1], [0]]


def test_packing_time_grows_with_the_rows_and_not_with_their_square() -> None:
    """A second where it grows with the square: half a minute."""
    rows = 2**14
    groups = [list(range(start, start + 16)) for start in range(0, rows, 16)]
    began = time.perf_counter()
    (part,) = pack_rows(groups, [10] * rows, [row % 50 + 1 for row in range(rows)], 10**9, shared=True)
    assert time.perf_counter() - began < 1
    assert len(part) == rows


def test_row_order_within_a_group_does_not_change_the_gradient(policy: Policy) -> None:
    order = [2, 0, 1, 4, 5, 3]
    moved = gradient(policy, scored(policy, [ROWS[place] for place in order]), CONFIG)
    torch.testing.assert_close(moved, gradient(policy, scored(policy), CONFIG), atol=1e-6, rtol=1e-4)


def test_a_constant_added_to_a_groups_rewards_does_not_change_the_gradient(policy: Policy) -> None:
    shifted = [(prompt, ids, reward + 7) for prompt, ids, reward in ROWS[:3]] + ROWS[3:]
    actual = gradient(policy, scored(policy, shifted), CONFIG)
    torch.testing.assert_close(actual, gradient(policy, scored(policy), CONFIG), atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("mode", ["token", "sequence", "constant"])
def test_an_unscored_row_does_not_change_the_gradient(policy: Policy, mode: str) -> None:
    config = with_settings(CONFIG, loss={"aggregation": mode})
    more = []
    for group in (ROWS[:3], ROWS[3:]):
        more += [*group, (group[0][0], [90, 91, 92, 93], None)]
    actual = gradient(policy, scored(policy, more), with_settings(config, group_size=4))
    torch.testing.assert_close(actual, gradient(policy, scored(policy), config), atol=1e-6, rtol=1e-4)


def test_uniform_groups_are_skipped_and_keep_their_place_in_the_denominator(policy: Policy) -> None:
    uniform = [(prompt, ids, 0.3) for prompt, ids, _ in ROWS[3:]]
    batch = packed(policy, scored(policy, ROWS[:3] + uniform), CONFIG)
    assert sum(len(micro.ids) for micro in batch.micro_batches) == 3
    advantages = [*hand_advantages()[:3], 0, 0, 0]
    expected = reinforce_gradient(policy, ROWS, advantages, [1 / 22] * 6)
    actual = gradient(policy, scored(policy, ROWS[:3] + uniform), CONFIG)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-4)


def test_uniform_groups_are_forwarded_where_the_kl_penalty_gives_them_a_gradient(policy: Policy) -> None:
    uniform = [(prompt, ids, 0.3) for prompt, ids, _ in ROWS]
    batch = packed(policy, scored(policy, uniform), with_settings(CONFIG, kl={"coef": 0.1}))
    assert sum(len(micro.ids) for micro in batch.micro_batches) == 6


def test_a_loss_of_the_users_own_gets_rows_whose_advantages_are_0(policy: Policy) -> None:
    uniform = scored(policy, [(prompt, ids, 0.3) for prompt, ids, _ in ROWS])
    batch = packed(policy, uniform, with_settings(CONFIG, **{"loss.function": "module:function"}))
    assert sum(len(micro.ids) for micro in batch.micro_batches) == 6


def test_truncated_rows_masked_out_of_the_loss_stay_in_the_baseline(policy: Policy) -> None:
    completed = [0, 3]  # the rows that end with the end token
    expected = reinforce_gradient(
        policy, [ROWS[row] for row in completed], [hand_advantages()[row] for row in completed], [1 / 6] * 2
    )
    actual = gradient(policy, scored(policy), with_settings(CONFIG, advantage={"truncated": "mask"}))
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-4)


def test_the_constant_counts_completions_that_are_masked(policy: Policy) -> None:
    """Dr. GRPO's constant is 6 x 8, as without a mask, though only two of the six completions ended."""
    completed = [0, 3]
    expected = reinforce_gradient(
        policy, [ROWS[row] for row in completed], [hand_advantages()[row] for row in completed], [1 / 6 / 8] * 2
    )
    config = with_settings(CONFIG, advantage={"truncated": "mask"}, loss={"aggregation": "constant"})
    torch.testing.assert_close(gradient(policy, scored(policy), config), expected, atol=1e-6, rtol=1e-4)


def test_micro_batch_masks(policy: Policy) -> None:
    (micro,) = packed(policy, scored(policy), CONFIG).micro_batches
    by_length = [sorted(group, key=lambda row: len(row[1])) for group in (ROWS[3:], ROWS[:3])]
    rows = [*by_length[0], *by_length[1]]  # the second group is shorter
    assert micro.prompts == [prompt for prompt, _, _ in rows]
    assert micro.completion_mask.sum(1).tolist() == [len(ids) for _, ids, _ in rows]
    assert micro.ids[micro.completion_mask].tolist() == [token for _, ids, _ in rows for token in ids]
    assert (micro.advantages != 0).logical_and(~micro.completion_mask).sum() == 0


def test_kl_pulls_towards_the_reference(policy: Policy) -> None:
    """With equal rewards only the penalty acts: following it lowers the KL."""
    reference = policy.snapshot()
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in policy.model.parameters():
            weight.add_(torch.randn_like(weight) * 0.05)
    uniform = scored(policy, [(prompt, ids, 0.3) for prompt, ids, _ in ROWS])
    config = with_settings(CONFIG, kl={"coef": 1.0}, optimizer={"learning_rate": 1e-3, "lr_schedule": "constant"})
    optimizer = make_optimizer(policy, config.optimizer)
    kls = [one_step(policy, uniform, config, optimizer, reference)["kl"] for _ in range(8)]
    assert kls[-1] < 0.7 * kls[0]


def test_more_updates_on_one_batch_use_the_old_log_probabilities(policy: Policy) -> None:
    config = with_settings(
        CONFIG,
        optimizer={"updates_per_step": 4, "learning_rate": 3e-2, "lr_schedule": "constant"},
        loss={"clip_low": 0.0, "clip_high": 0.0},
    )
    stats = one_step(policy, scored(policy), config)
    assert stats["clip_fraction"] > 0.5  # ratios have left 1, and the clip has no width
    once = with_settings(config, optimizer={"updates_per_step": 1})
    stats = one_step(policy, scored(policy), once)
    assert stats["clip_fraction"] == 0


@pytest.mark.parametrize("mode", ["token", "sequence", "constant"])
def test_mini_batches_are_updates_one_after_the_other(policy: Policy, mode: str) -> None:
    """Two groups in two mini-batches: two steps of SGD by hand, in float64, the second with clipped ratios.

    Each is divided by the tokens, rows or completions of its own group.
    """
    rate, advantages = 2.0, hand_advantages()
    model = copy.deepcopy(policy.model).double()

    def logps(prompt: list[int], ids: list[int]) -> torch.Tensor:
        logits = model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
        return torch.log_softmax(logits, -1)[range(len(ids)), ids]

    with torch.no_grad():
        old = [logps(prompt, ids) for prompt, ids, _ in ROWS]
    losses, clipped = [], 0
    for group in (range(3), range(3, 6)):
        tokens = sum(len(ROWS[row][1]) for row in group)
        loss = torch.zeros((), dtype=torch.float64)
        for row in group:
            prompt, ids, _ = ROWS[row]
            ratio = (logps(prompt, ids) - old[row]).exp()
            bounded = torch.minimum(ratio * advantages[row], ratio.clamp(0.8, 1.28) * advantages[row])
            clipped += int((bounded != ratio * advantages[row]).sum())
            loss = loss - bounded.sum() / {"token": tokens, "sequence": 3 * len(ids), "constant": 3 * 8}[mode]
        model.zero_grad()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for weight in model.parameters():
                weight -= rate * weight.grad
    assert clipped > 2

    optimizer_settings = {"mini_batches": 2, "learning_rate": rate}
    config = with_settings(CONFIG, optimizer=optimizer_settings, loss={"aggregation": mode})
    stats = one_step(policy, scored(policy), config, torch.optim.SGD(policy.trained.values(), lr=rate))
    for actual, expected in zip(policy.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(actual.double(), expected, atol=1e-4, rtol=1e-4)
    assert stats["loss"] == pytest.approx(statistics.fmean(losses), abs=1e-5)
    assert stats["clip_fraction"] == pytest.approx(clipped / sum(len(ids) for _, ids, _ in ROWS))
    gap = sum(
        abs(sampler_logp(token) - logp)
        for row, (_, ids, _) in enumerate(ROWS)
        for token, logp in zip(ids, old[row].tolist(), strict=True)
    )
    assert stats["rollout_logprob_gap"] == pytest.approx(gap / 22, rel=1e-5)  # of the weights before the step


def test_a_mini_batch_has_the_same_rows_on_any_number_of_processes(policy: Policy) -> None:
    rows = [row for _ in range(2) for row in scored(policy)]  # 4 groups
    rows = [row._replace(rollout=replace(row.rollout, ids=[100 + n], logps=[0.0])) for n, row in enumerate(rows)]
    config = with_settings(CONFIG, prompts_per_step=4, optimizer={"mini_batches": 2})

    def tokens(world: int) -> list[list[int]]:
        rank_batches = []
        for rank in range(world):
            accelerator = SimpleNamespace(process_index=rank, num_processes=world)
            rank_batches.append(mini_batches(replace(policy, accelerator=accelerator), rows, config))
        return [
            sorted(t for batch in part for micro in batch.micro_batches for t in micro.ids.flatten().tolist())
            for part in zip(*rank_batches, strict=True)
        ]

    first, second = [100, 101, 102, 106, 107, 108], [103, 104, 105, 109, 110, 111]
    assert tokens(1) == tokens(2) == tokens(4) == [first, second]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("tokens", [16, 4096])
def test_gradient_of_truncated_importance_sampling(policy: Policy, temperature: float, tokens: int) -> None:
    expected = reinforce_gradient(policy, ROWS, hand_advantages(), [1 / 22] * 6, temperature, 2.0)
    config = with_settings(
        CONFIG, sampling={"temperature": temperature}, engine={"micro_batch_tokens": tokens}, loss={"tis_cap": 2.0}
    )
    actual = gradient(policy, scored(policy), config)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-4)
    for cap in (None, 50.0):
        differently_capped = reinforce_gradient(policy, ROWS, hand_advantages(), [1 / 22] * 6, temperature, cap)
        assert (actual - differently_capped).norm() > 0.1 * actual.norm()  # tokens are on both sides of the bound


def test_importance_weights_do_not_affect_penalty_and_skipped_rows(policy: Policy) -> None:
    reference = policy.snapshot()
    reference["model.embed_tokens.weight"] *= 1.5
    uniform = scored(policy, [(prompt, ids, 0.3) for prompt, ids, _ in ROWS])
    config = with_settings(CONFIG, kl={"coef": 0.1})
    plain, weighted = (
        gradient(policy, uniform, with_settings(config, loss={"tis_cap": clip}), reference) for clip in (None, 2.0)
    )
    assert plain.norm() > 1e-2
    assert torch.equal(plain, weighted)

    mixed = scored(policy, ROWS[:3]) + uniform[3:]
    config = with_settings(CONFIG, loss={"tis_cap": 2.0})
    skipped, passed = (gradient(policy, mixed, with_settings(config, kl={"coef": coef})) for coef in (0.0, 0.1))
    torch.testing.assert_close(skipped, passed, atol=1e-6, rtol=1e-4)


def test_importance_weights_are_those_of_the_first_update(policy: Policy) -> None:
    (micro,) = packed(policy, scored(policy), CONFIG).micro_batches
    config = with_settings(CONFIG, loss={"tis_cap": 1e6, "clip_low": 1.0, "clip_high": 1e6})
    loss_of(policy, micro, config)
    old = micro.old_logp
    with torch.no_grad():
        for weight in policy.model.parameters():
            weight.mul_(1.02)
    loss, _ = loss_of(policy, micro, config)
    assert micro.old_logp is old
    model = copy.deepcopy(policy.model).double()
    expected = 0.0
    for row, (prompt, ids) in enumerate(zip(micro.prompts, micro.ids, strict=True)):
        length = int(micro.completion_mask[row].sum())
        logits = model(torch.tensor([prompt + ids[:length].tolist()])).logits[0].double()
        for place, token in enumerate(ids[:length].tolist()):
            logp = torch.log_softmax(logits[len(prompt) + place - 1], -1)[token].item()
            # exp(old - sampler) * exp(logp - old): the full ratio of policy to sampler.
            expected -= micro.advantages[row, place].item() * math.exp(logp - sampler_logp(token))
    assert loss.item() == pytest.approx(expected, rel=1e-4)


def test_the_rollout_logprob_gap_of_a_step_is_that_of_its_first_update(policy: Policy) -> None:
    model, gaps = copy.deepcopy(policy.model).double(), []
    for prompt, ids, _ in ROWS:
        logits = model(torch.tensor([prompt + ids])).logits[0].double()
        for place, token in enumerate(ids):
            logp = torch.log_softmax(logits[len(prompt) + place - 1], -1)[token].item()
            gaps.append(abs(logp - sampler_logp(token)))
    start = policy.snapshot()
    for updates, tokens in ((1, 4096), (3, 16)):
        policy.model.load_state_dict(start, strict=False)
        config = with_settings(
            CONFIG,
            optimizer={"updates_per_step": updates, "learning_rate": 1e-2},
            engine={"micro_batch_tokens": tokens},
        )
        stats = one_step(policy, scored(policy), config)
        assert stats["rollout_logprob_gap"] == pytest.approx(statistics.fmean(gaps), rel=1e-5)


def gap(policy: Policy, sampler: Policy, temperature: float) -> float:
    rollouts = sample(sampler, SamplingRequest([[40, 41, 42], [70]], 3, max_new_tokens=20, temperature=temperature))
    rows = [ScoredRollout(EXAMPLE, rollout, Score(float(at % 3))) for at, rollout in enumerate(rollouts)]
    (micro,) = packed(policy, rows, CONFIG).micro_batches
    with torch.no_grad():
        _, sums = loss_of(policy, micro, CONFIG)
    return sums["rollout_logprob_gap"] / sums["tokens"]


def test_the_rollout_logprob_gap_distinguishes_rounding_from_errors(policy: Policy) -> None:
    """For the same computation, one rounded to bfloat16, and other distributions."""
    rounded = replace(policy, autocast=torch.bfloat16)
    unchanged, rounding = (gap(policy, sampler, 1.0) for sampler in (policy, rounded))
    assert unchanged < 1e-5
    assert rounding > 1e-4
    wrong = gap(policy, policy, 0.7)
    older = gap(policy, replace(policy, model=moved(policy.model)), 1.0)
    for value, raised in ((unchanged, False), (rounding, False), (wrong, True), (older, True)):
        assert (alerts.rollout_logprob_gap([{"rollout_logprob_gap": value}] * 10) is not None) == raised, value


def moved(model: torch.nn.Module) -> torch.nn.Module:
    model = copy.deepcopy(model)
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.03)
    return model


def test_gradient_norm_is_limited(policy: Policy) -> None:
    """Plain SGD shows it: the step is as long as the limit."""
    config = with_settings(CONFIG, optimizer={"max_grad_norm": 1e-3, "learning_rate": 1.0, "lr_schedule": "constant"})
    before = torch.cat([weight.detach().flatten().clone() for weight in policy.model.parameters()])
    optimizer = torch.optim.SGD(policy.model.parameters())
    stats = one_step(policy, scored(policy), config, optimizer)
    after = torch.cat([weight.detach().flatten() for weight in policy.model.parameters()])
    assert stats["grad_norm"] > 1e-3
    assert (after - before).norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_optimizer_settings_apply(policy: Policy) -> None:
    config = with_settings(CONFIG, optimizer={"beta2": 0.8, "weight_decay": 0.3})
    (group,) = make_optimizer(policy, config.optimizer).param_groups
    assert (group["betas"], group["weight_decay"]) == ((0.9, 0.8), 0.3)


def test_gradient_checkpointing_changes_no_gradient(policy: Policy) -> None:
    plain = gradient(policy, scored(policy), CONFIG)
    checkpoint_activations(policy.model)
    calls = []
    layer = policy.model.model.layers[0].input_layernorm
    layer.register_forward_hook(lambda *_: calls.append(1))
    torch.testing.assert_close(gradient(policy, scored(policy), CONFIG), plain, atol=1e-6, rtol=1e-5)
    assert len(calls) == 2  # once forward, once recomputed


def test_recomputed_layers_that_drop_out_themselves_do_not(policy: Policy) -> None:
    """Those of OPT drop out of their own output; so do BioGPT's, Falcon's and DBRX's."""
    sizes = {"hidden_size": 16, "word_embed_proj_dim": 16, "ffn_dim": 16, "num_hidden_layers": 2}
    config = OPTConfig(vocab_size=policy.vocab_size, num_attention_heads=2, dropout=0.5, **sizes)
    opt, norms = replace(policy, model=OPTForCausalLM(config).eval()), []
    opt = replace(opt, shares_prompts=False, has_separate_head=False)
    for recompute in (False, True):
        if recompute:
            checkpoint_activations(opt.model)
        settings = with_settings(CONFIG, engine={"gradient_checkpointing": recompute})
        norms.append(one_step(opt, scored(opt), settings, torch.optim.SGD(opt.model.parameters()))["grad_norm"])
    assert norms[1] == pytest.approx(norms[0], rel=1e-3)


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_not_finite_stops_before_the_optimizer(policy: Policy, poison: float) -> None:
    batch = packed(policy, scored(policy), CONFIG)
    batch.micro_batches[0].advantages[0, 0] = poison
    before = copy.deepcopy(policy.model.state_dict())
    optimizer = make_optimizer(policy, CONFIG.optimizer)
    with pytest.raises(RunError, match=r"step 7: .*learning_rate"):
        update(policy, optimizer, [batch], CONFIG, 7)
    for name, weight in policy.model.state_dict().items():
        assert torch.equal(weight, before[name])
    assert not optimizer.state


def test_schedule() -> None:
    config = TrainConfig(steps=10, optimizer={"warmup_steps": 2, "learning_rate": 1.0})
    rates = [learning_rate(config.optimizer, step, config.steps) for step in range(11)]
    assert rates[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert rates[6] == pytest.approx(0.55)  # halfway along the cosine
    assert rates[10] == pytest.approx(0.1)
    assert learning_rate(OptimizerConfig(learning_rate=1.0, lr_schedule="constant"), 9, 10) == 1.0


@pytest.mark.parametrize(
    ("warmup", "steps", "expected"),
    [
        ({}, 10, [1 / 4, 2 / 4, 3 / 4, 1.0]),  # 3 steps
        ({"warmup_steps": 0}, 10, [1.0]),
        ({"warmup_steps": 0.15}, 10, [1 / 3, 2 / 3, 1.0]),  # 1.5 steps, rounded up
        ({"warmup_steps": 1}, 10, [1 / 2, 1.0]),
        ({"warmup_steps": 0.07}, 100, [*(n / 8 for n in range(1, 8)), 1.0]),  # 7 steps, though .07 * 100 is above 7
    ],
)
def test_warmup(warmup: dict, steps: int, expected: list[float]) -> None:
    config = OptimizerConfig(learning_rate=1.0, lr_schedule="constant", **warmup)
    assert [learning_rate(config, step, steps) for step in range(len(expected))] == pytest.approx(expected)


def steps_of(*pairs: tuple[int, float]) -> tuple[StepScore, ...]:
    return tuple(StepScore(0, end, value) for end, value in pairs)


def test_process_supervision_from_text_to_tokens(policy: Policy) -> None:
    """Step rewards 0.2 and 0.9 on spans that end in tokens 5 and 11, and -0.1 and 0.4 on another completion.

    Normalized over the group: -0.4121, 1.5110, -1.2362, 0.1374. So token 3 gets 1.0989, 7 gets 1.5110, 12 gets 0.
    """
    letters = policy.tokenizer("zqzqzqzqzqzqzq")["input_ids"]
    assert len(letters) == 14  # one character a token
    first = Rollout([40], letters, policy.decode(letters), "length", [0.0] * 14)
    # A character of four bytes comes before the step's end, so character and token positions differ.
    emoji_ids = policy.tokenizer("𝄞zqzqzqzqzq")["input_ids"]
    second = Rollout([40], [*emoji_ids, 0], policy.decode(emoji_ids), "stop", [0.0] * 15)
    assert len(emoji_ids) == 14
    rows = [
        ScoredRollout(EXAMPLE, first, Score(0.0, steps=steps_of((5, 0.2), (11, 0.9)))),
        ScoredRollout(EXAMPLE, second, Score(0.0, steps=steps_of((1, -0.1), (11, 0.4)))),
    ]
    config = with_settings(CONFIG, group_size=2, supervision="process", advantage={"std": "population"})
    advantages = advantages_of(policy, rows, config)
    expected = [1.0989] * 5 + [1.5110] * 6 + [0.0] * 4
    assert advantages[0].tolist() == pytest.approx(expected, abs=1e-4)
    # The second rollout's first step ends with the emoji's fourth byte, its last with the text, so with the end token.
    assert advantages[1].tolist() == pytest.approx([-1.0989] * 4 + [0.1374] * 11, abs=1e-4)


def test_supervision_both_adds_the_process_advantages(policy: Policy) -> None:
    rows = [
        row._replace(score=replace(row.score, steps=steps_of((1, index % 2))))
        for index, row in enumerate(scored(policy))
    ]
    parts = {
        kind: advantages_of(policy, rows, with_settings(CONFIG, supervision=kind))
        for kind in ("outcome", "process", "both")
    }
    torch.testing.assert_close(parts["both"], parts["outcome"] + parts["process"])
    assert parts["process"].abs().sum() > 0


@pytest.mark.parametrize("change", [{"advantage.scale": "none"}, {"advantage.std": "population"}])
@pytest.mark.parametrize("supervision", ["outcome", "process"])
def test_advantage_settings_apply(policy: Policy, change: dict[str, object], supervision: str) -> None:
    rows = [
        row._replace(score=replace(row.score, steps=steps_of((1, index), (2, 0.5))))
        for index, row in enumerate(scored(policy))
    ]
    plain, changed = (
        advantages_of(policy, rows, with_settings(CONFIG, supervision=supervision, **more)) for more in ({}, change)
    )
    assert not torch.allclose(plain, changed)


@pytest.mark.parametrize("credit", ["mean", "return"])
def test_the_step_credit_setting_applies(policy: Policy, credit: str) -> None:
    rows = [
        row._replace(score=replace(row.score, steps=steps_of((1, index), (2, 0.5))))
        for index, row in enumerate(scored(policy))
    ]
    plain = advantages_of(policy, rows, with_settings(CONFIG, supervision="process"))
    assert not torch.allclose(
        plain,
        advantages_of(policy, rows, with_settings(CONFIG, supervision="process", advantage={"step_credit": credit})),
    )


def test_under_return_the_end_token_ends_the_last_step(policy: Policy) -> None:
    ended = [row for row in scored(policy) if row.rollout.finish == "stop"][:1]
    text = ended[0].rollout.text
    short, long = (
        ended[0]._replace(score=replace(ended[0].score, steps=steps_of(*steps)))
        for steps in ([(len(text), 1.0)], [(1, 0.5), (len(text), 1.0)])
    )
    settings = {"step_credit": "return", "scale": "none"}
    config = with_settings(CONFIG, supervision="process", group_size=2, advantage=settings)
    first, second = advantages_of(policy, [short, long], config).tolist()
    # What is still to come: 1, against 1.5 and then 1. The first step of the second row has the token after it.
    assert first == [-0.25] * len(first)
    assert (second[:2], second[-1]) == ([0.25, 0.25], 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {"loss.importance_level": "sequence"},
        {"loss.tis_cap": 2.0},
    ],
)
def test_loss_settings_apply(policy: Policy, change: dict[str, object]) -> None:
    """On samples of older weights each setting changes the gradient."""
    gradients = []
    for more in ({}, change):
        config = with_settings(CONFIG, kl={"coef": 0.1}, **more)
        reference = policy.snapshot()
        reference["model.embed_tokens.weight"] *= 1.5
        batch = packed(policy, scored(policy), config)
        (micro,) = batch.micro_batches
        generator = torch.Generator().manual_seed(0)
        shift = 0.3 * torch.randn(micro.completion_mask.shape, generator=generator)
        add_reference_logp(policy, reference, [batch], config.sampling.temperature)
        loss_of(policy, micro, config)
        assert micro.old_logp is not None
        micro.old_logp = micro.old_logp + shift
        policy.model.zero_grad()
        loss_of(policy, micro, config)[0].backward()
        gradients.append(torch.cat([weight.grad.flatten() for weight in policy.model.parameters()]))
    assert (gradients[0] - gradients[1]).norm() > 1e-3 * gradients[0].norm()
