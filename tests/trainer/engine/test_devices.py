"""That tensors meet on the model's device, wherever that is: with a stand-in, so that it is known without a GPU."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch

from grpo_env.taskfile.task import load_task
from grpo_env.trainer.batch import collate
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine import layers
from grpo_env.trainer.engine.attention import install_attention
from grpo_env.trainer.engine.cuda_graph import CudaGraphDecoder
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampler import with_cuda_graphs
from grpo_env.trainer.prompts import ask
from grpo_env.trainer.rollout import roll_out
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.update import UpdateStats, make_optimizer, update

from .elsewhere import THERE, Elsewhere, StrayedError, send_model
from .test_forward import tiny

TASK = load_task("arithmetic")
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "outcome and process": {
        "supervision": "both",
        "kl.coef": 0.1,
        "optimizer.updates_per_step": 2,
        "loss.tis_cap": 2.0,
    },
    "sequences": {
        "loss.importance_level": "sequence",
        "loss.aggregation": "sequence",
        "loss.entropy_coef": 0.01,
        "advantage.truncated": "mask",
    },
    "cispo": {"loss.surrogate": "cispo", "kl.coef": 0.1, "kl.bias_correction": True, "engine.micro_batch_tokens": 64},
}


class Replayed:
    """Stands for a recorded graph: it does the step again, with what is now at the addresses it was recorded with."""

    def __init__(self, steps: CudaGraphDecoder) -> None:
        self.steps, self.addresses = steps, addresses(steps)
        Elsewhere.recording = True
        try:
            steps._forward()
        finally:
            Elsewhere.recording = False

    def replay(self) -> None:
        assert addresses(self.steps) == self.addresses
        self.steps.found = self.steps._forward()


def addresses(steps: CudaGraphDecoder) -> list[int]:
    state = (steps.given, steps.place, steps.positions, steps.seen, steps.columns)
    return [held.data_ptr() for held in (*state, *chain.from_iterable(steps.held))]


@pytest.fixture(autouse=True)
def graphs_are_stood_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CudaGraphDecoder, "_captured", lambda steps: Replayed(steps))


@pytest.fixture
def sent() -> Policy:
    policy = load_policy("bundled", device="cpu")
    send_model(policy.model)
    return policy


def one_step(policy: Policy, **settings: Any) -> tuple[list[str], UpdateStats]:
    """What was sampled, and how large its gradient was."""
    config = TrainConfig.from_mapping(
        {"prompts_per_step": 4, "group_size": 4, "sampling.max_new_tokens": 24, **settings}
    )
    judged = roll_out(policy, ask(TASK, TASK.examples("train", 4), 0), 4, max_new_tokens=24, temperature=1.0, seed="0")
    reference = policy.snapshot() if config.kl.coef else None
    stats = update(policy, make_optimizer(policy, config), reference, collate(policy, judged, config), config, 0)
    return [one.rollout.text for one in judged], stats


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_step_of_training_stays_on_the_models_device(sent: Policy, settings: dict[str, Any]) -> None:
    here = with_fast_paths(load_policy("bundled", device="cpu"), share_prompts=True)
    with Elsewhere():
        assert sent.device == THERE
        policy = with_cuda_graphs(with_fast_paths(sent, share_prompts=True))
        assert (policy.shares_prompts, policy.has_head_apart, policy.captures) == (True, True, True)
        sampled, stats = one_step(policy, **settings)
    expected, plain = one_step(here, **settings)
    assert plain.grad_norm > 0
    assert sampled == expected, "captured steps sample what plain steps do"
    assert (stats.loss, stats.grad_norm) == pytest.approx((plain.loss, plain.grad_norm), rel=1e-3)


def test_a_checkpoint_is_taken_up_there(sent: Policy, tmp_path: Path) -> None:
    """By way of main memory: a device that a training just fits on has no room for a second copy."""
    optimizer = make_optimizer(sent, TrainConfig())
    folder = RunFolder(tmp_path)
    with Elsewhere():
        for weight in sent.trained.values():
            weight.grad = torch.ones_like(weight)
        optimizer.step()
        reference = sent.snapshot()
        folder.save(sent, optimizer, reference, 1, 1)
        assert folder.load(sent, optimizer, reference) == (1, [])
        moments = [state[name] for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
        assert {held.device for held in (*sent.trained.values(), *moments, *reference.values())} == {THERE}


@pytest.mark.parametrize("family", layers.FAMILIES)
def test_a_step_of_each_family_can_be_recorded(family: str) -> None:
    policy = tiny(family)
    install_attention(policy.model)
    send_model(policy.model)
    with Elsewhere():
        assert with_cuda_graphs(policy).captures


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("family", ["gemma2", "phi"])
def test_so_does_one_by_transformers_modules(family: str, shares: bool, sent: Policy) -> None:
    random = replace(tiny(family), tokenizer=sent.tokenizer)
    random.model.resize_token_embeddings(sent.vocabulary)
    install_attention(random.model)
    send_model(random.model)
    with Elsewhere():
        policy = with_cuda_graphs(with_fast_paths(random, share_prompts=shares))
        assert (policy.shares_prompts, policy.captures) == (shares, False)
        assert len(one_step(policy, kl={"coef": 0.1})[0]) == 16


def test_the_stand_in_refuses_what_cuda_does() -> None:
    with Elsewhere():
        here, there = torch.ones(2), torch.ones(2, device="cuda")
        assert (there + 1 + torch.ones(()) + here.to("cuda")).device == THERE
        assert there[torch.tensor([0])].device == THERE
        assert (there.cpu().device, there.device) == (torch.device("cpu"), THERE)
        there[:1] = here[:1]
        for strays in (
            lambda: here + there,
            lambda: here + there.sum(),
            lambda: here[torch.tensor([0], device="cuda")],
            lambda: torch.cat([here, there]),
            lambda: torch.where(here > 0, there, there),
            there.numpy,
        ):
            with pytest.raises(StrayedError):
                strays()


def test_a_recorded_graph_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with Elsewhere():
        there = torch.ones(2, device="cuda")
        monkeypatch.setattr(Elsewhere, "recording", True)
        assert (there.cumsum(0) + torch.arange(2, device="cuda")).device == THERE
        for reads in (
            lambda: bool(there.all()),
            lambda: there[there > 0],
            lambda: there.to("cpu"),
            lambda: torch.tensor([1.0], device="cuda"),
            lambda: torch.ones(2),
            there.sum().item,
            there.tolist,
        ):
            with pytest.raises(StrayedError):
                reads()
