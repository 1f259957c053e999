"""The reference model: its log-probabilities, and when it becomes the current policy."""

from __future__ import annotations

import torch

from grpo_env.core import Example, Score
from grpo_env.trainer.config import KLConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.reference import add_reference_logp, sync_if_due
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import packed

CONFIG = TrainConfig(group_size=2, kl={"coef": 0.1})


def shift(policy: Policy) -> None:
    with torch.no_grad():
        for weight in policy.trained.values():
            weight.add_(0.05)


def test_log_probabilities_are_those_of_the_weights_before(policy: Policy) -> None:
    """Against a forward pass of the model as it was; the policy has its own weights again."""
    prompt, ids = [40, 41, 42], [50, 51, 52]
    with torch.no_grad():
        logits = policy.model(torch.tensor([prompt + ids])).logits[0, len(prompt) - 1 : -1]
    expected = torch.log_softmax(logits, -1)[range(len(ids)), ids]
    reference = policy.snapshot()
    shift(policy)
    changed = policy.snapshot()
    rows = [ScoredRollout(Example("0"), Rollout(prompt, ids, "", "length", [0.0] * 3), Score(v)) for v in (0.0, 1.0)]
    batch = packed(policy, rows, CONFIG)
    add_reference_logp(policy, reference, [batch], 1.0)
    (micro,) = batch.micro_batches
    assert micro.ref_logp is not None
    torch.testing.assert_close(micro.ref_logp, expected.expand(2, 3), atol=1e-5, rtol=1e-5)
    assert all(torch.equal(weight, changed[name]) for name, weight in policy.trained.items())


def test_every_so_many_updates_it_becomes_the_policy(policy: Policy) -> None:
    name = next(iter(policy.trained))
    for every, at in ((0, []), (3, [3, 6])):
        reference = policy.snapshot()
        synced = []
        for updates in range(1, 8):
            shift(policy)
            sync_if_due(reference, policy, KLConfig(coef=0.1, reference_sync_every=every), updates)
            synced += [updates] if torch.equal(reference[name], policy.trained[name]) else []
        assert synced == at
