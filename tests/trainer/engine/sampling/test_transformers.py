"""Sampling by transformers' continuous batching: the same policy through the same call."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grpo_env import train
from grpo_env.errors import DivergedError, RunError
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.engine.sampling.transformers import TransformersEngine

PROMPTS = [[40, 41, 42], [50], [60, 61, 62, 63, 64, 65], [70, 71]]


def test_greedy_completions_equal_those_of_the_stepwise_engine(policy: Policy) -> None:
    endless = sample(policy, PROMPTS, 1, max_new_tokens=20, temperature=0)
    stepwise, paged = replace(policy), replace(policy, rollout_engine=TransformersEngine())
    for engine_policy in (stepwise, paged):
        vars(engine_policy)["end_ids"] = [endless[0].ids[5], endless[1].ids[9]]
    expected, actual = (
        sample(engine_policy, PROMPTS, 2, max_new_tokens=20, temperature=0) for engine_policy in (stepwise, paged)
    )
    assert expected == actual
    assert len({len(rollout.ids) for rollout in expected}) > 2


def test_samples_come_from_the_policy(policy: Policy) -> None:
    """First tokens by chi-squared, log-probabilities by plain forward passes."""
    ended, count = [], 100
    rollouts = sample(
        replace(policy, rollout_engine=TransformersEngine()),
        PROMPTS[:2],
        count,
        max_new_tokens=2,
        temperature=0.5,
        on_group=lambda number, rows: ended.append((number, rows)),
    )
    assert [rollout.prompt_ids for rollout in rollouts] == [PROMPTS[0]] * count + [PROMPTS[1]] * count
    assert rollouts == [rollout for _, rows in sorted(ended, key=lambda item: item[0]) for rollout in rows]
    for prompt, rows in zip(PROMPTS, (rollouts[:count], rollouts[count:]), strict=False):
        with torch.no_grad():
            expected = count * torch.softmax(policy.model(torch.tensor([prompt])).logits[0, -1] / 0.5, -1)
        counts = Counter(rollout.ids[0] for rollout in rows)
        often = (expected >= 5).nonzero().flatten().tolist()
        deviation = sum((counts[token] - expected[token].item()) ** 2 / expected[token].item() for token in often)
        assert often
        assert deviation < len(often) + 5 * (2 * len(often)) ** 0.5
    for rollout in rollouts[::10]:
        assert rollout.logps == pytest.approx(plain_logps(policy, rollout, 0.5), abs=1e-5)


def plain_logps(policy: Policy, rollout: Rollout, temperature: float) -> list[float]:
    with torch.no_grad():
        logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[0] / temperature
    logp = torch.log_softmax(logits[len(rollout.prompt_ids) - 1 : -1], -1)
    return logp[range(len(rollout.ids)), rollout.ids].tolist()


def test_a_model_whose_output_is_not_finite(policy: Policy) -> None:
    with torch.no_grad():
        policy.model.get_output_embeddings().weight.fill_(float("nan"))
    with pytest.raises(DivergedError, match=r"has stopped \(.*nan.*\); try a lower optimizer.learning_rate"):
        sample(replace(policy, rollout_engine=TransformersEngine()), PROMPTS, 2, max_new_tokens=2, temperature=1.0)


def test_a_model_that_transformers_cannot_sample_from(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy.model, "_supports_sdpa", False)
    with pytest.raises(RunError, match=r"engine=transformers cannot sample from .*; use sampling.engine=own"):
        sample(replace(policy, rollout_engine=TransformersEngine()), PROMPTS, 2, max_new_tokens=2, temperature=1.0)


def test_the_setting_arrives(make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    generate = OwnEngine.generate
    monkeypatch.setattr(TransformersEngine, "generate", lambda *args: calls.append(args) or generate(*args))
    for chosen in ("own", "transformers"):
        train(
            make_task(steps=0, eval={"samples": 0, "examples": 1}),
            run_dir=tmp_path / chosen,
            sampling={"engine": chosen},
        )
        assert len(calls) == (chosen == "transformers")
