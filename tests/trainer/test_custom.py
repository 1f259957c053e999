"""Losses and advantages of the user's own: the examples of the page, and what is wrong with a function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from grpo_env.core import Example, Score
from grpo_env.errors import RunError, UsageError
from grpo_env.trainer.advantages import group_advantages
from grpo_env.trainer.config import TrainConfig, with_located_code
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.loop import train
from grpo_env.trainer.losses import LossInputs, policy_loss
from grpo_env.trainer.optimizer import make_optimizer
from grpo_env.trainer.scored_groups import ScoredGroups
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import one_step, read_samples, with_settings

PAGE = Path(__file__).parents[2] / "docs/algorithm.md"
FEW = {"steps": 2, "eval.every": 0, "eval.examples": 1, "eval.samples": 0, "optimizer.updates_per_step": 2}


@pytest.fixture
def page_folder(tmp_path: Path) -> Path:
    """A folder with the Python files of the page."""
    for name, source in re.findall(r'^```python title="(.*?)"\n(.*?)^```', PAGE.read_text(), re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(source)
    return tmp_path


def config_of(setting: str, source: str, folder: Path, **more: object) -> TrainConfig:
    (folder / "own.py").write_text(source)
    return TrainConfig.from_mapping(with_located_code({setting: "own.py:f", **more}, folder))


def weights(model: Path) -> dict[str, torch.Tensor]:
    return dict(AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).state_dict())


def test_the_entropy_has_a_gradient_for_an_own_loss(policy: Policy, tmp_path: Path) -> None:
    """To follow it raises the entropy."""
    config = config_of("loss.function", "def f(inputs):\n    return -inputs.entropy\n", tmp_path)
    config = with_settings(
        config, group_size=2, **{"optimizer.learning_rate": 1e-3, "optimizer.lr_schedule": "constant"}
    )
    rollout = Rollout([40, 41], [50, 51, 52], "", "length", [-1.0] * 3)
    rows = [ScoredRollout(Example("0"), rollout, Score(0.0))] * 2
    optimizer = make_optimizer(policy, config.optimizer)
    entropies = [one_step(policy, rows, config, optimizer)["entropy"] for _ in range(6)]
    assert entropies[-1] > entropies[0] + 0.01


def test_an_own_loss_trains_as_the_built_in_one_that_it_writes_out(tmp_path: Path, make_task) -> None:
    source = """
def f(inputs):
    ratio = (inputs.logp - inputs.old_logp).exp()
    return -(ratio * inputs.advantages).minimum(ratio.clamp(0.7, 1.1) * inputs.advantages)
"""
    (tmp_path / "own.py").write_text(source)
    own = {"loss.function": str(tmp_path / "own.py:f")}
    built_in = {"loss.clip_low": 0.3, "loss.clip_high": 0.1}
    trained = []
    for name, settings in (("own", own), ("built-in", built_in)):
        task = make_task({"test_ascii": {"weight": 1.0}}, **FEW, **settings)
        trained.append(weights(train(task, run_dir=tmp_path / name).run_dir / "model"))
    before = weights(Path(task.defaults["model"]))
    torch.testing.assert_close(trained[0], trained[1], atol=1e-6, rtol=1e-5)
    assert any((trained[0][name] - before[name]).abs().max() > 1e-3 for name in before)


def test_the_loss_of_the_page_by_hand(page_folder: Path) -> None:
    """SAPO. A = 1, tau 1: sigmoid(0.5) x 4 = 2.48984; A = -2, tau 1.05: sigmoid(-.525) x 4 / 1.05 x 2 = 2.83187."""
    config = TrainConfig.from_mapping(with_located_code({"loss.function": "my_loss.py:sapo"}, page_folder))
    logp = torch.tensor([[1.5, 0.5, 1.0, 1.0]]).log().requires_grad_()
    advantages, zeros = torch.tensor([[1.0, -2.0, 1.0, -1.0]]), torch.zeros(1, 4)
    inputs = LossInputs(logp, zeros, zeros, None, advantages, torch.ones(1, 4, dtype=torch.bool), zeros)
    loss = policy_loss(inputs, config.loss)
    assert loss.tolist()[0] == pytest.approx([-2.48984, 2.83187, -2.0, 2 / 1.05], abs=1e-5)
    (gradient,) = torch.autograd.grad(loss.sum(), logp)
    assert gradient[0, 2:].tolist() == pytest.approx([-1.0, 1.0])  # at ratio 1 that of every other loss


def test_cispo_of_the_page_by_hand(page_folder: Path) -> None:
    """MiniMax-M1, equation 4: the weight of grad logp is the ratio, at most 5, times the advantage."""
    config = TrainConfig.from_mapping(with_located_code({"loss.function": "my_loss.py:cispo"}, page_folder))
    logp = torch.tensor([[0.5, 2.0, 9.0, 9.0]]).log().requires_grad_()
    advantages, zeros = torch.tensor([[1.0, -2.0, 1.0, -1.0]]), torch.zeros(1, 4)
    inputs = LossInputs(logp, zeros, zeros, None, advantages, torch.ones(1, 4, dtype=torch.bool), zeros)
    (gradient,) = torch.autograd.grad(policy_loss(inputs, config.loss).sum(), logp)
    assert gradient.tolist()[0] == pytest.approx([-0.5, 4.0, -5.0, 5.0])


def test_online_rft_of_the_page(page_folder: Path) -> None:
    """DeepSeekMath, equation 11: 1 for correct completions; graded is wrong."""
    own = with_located_code({"advantage.function": "my_advantages.py:online_rft", "group_size": 4}, page_folder)
    advantages = group_advantages(groups_of([1.0, 1.0, 0.0, 0.5], 4), TrainConfig.from_mapping(own))
    assert advantages.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_the_advantages_of_the_page_by_hand(page_folder: Path) -> None:
    """MaxRL. 1 of 4 right: (1 - 1/4) / (1/4) = 3 and -1; 2 of 3 scored: 1/2, 1/2, -1; none: 0."""
    own = with_located_code({"advantage.function": "my_advantages.py:maxrl", "group_size": 4}, page_folder)
    config = TrainConfig.from_mapping(own)
    verdicts = [0.0, 1.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    scored = torch.tensor([True] * 7 + [False] + [True] * 4)
    advantages = group_advantages(groups_of(verdicts, 4, scored), config)
    assert advantages.tolist() == pytest.approx([-1, 3, -1, -1, 0.5, 0.5, -1, 0, 0, 0, 0, 0])


def test_a_run_with_group_advantages(tmp_path: Path, make_task) -> None:
    (tmp_path / "own.py").write_text("def f(groups): return groups.rewards - 0.5")
    settings = {**FEW, "advantage.function": str(tmp_path / "own.py:f")}
    run = train(make_task({"test_ascii": {"weight": 1.0}}, **settings), run_dir=tmp_path / "run").run_dir
    for row in read_samples(run):
        assert row["advantage"] == pytest.approx(row["total"] - 0.5, abs=1e-6)


def groups_of(rewards: list[float], size: int, scored: torch.Tensor | None = None) -> ScoredGroups:
    values = torch.tensor(rewards, dtype=torch.float64)
    known = torch.ones_like(values, dtype=torch.bool) if scored is None else scored
    none = torch.zeros(len(values), 1, dtype=torch.float64)
    return ScoredGroups(
        size, values, known, values, ~known, torch.zeros_like(known), torch.ones(len(values), 2).bool(),
        torch.full_like(values, 2).long(), {"r": values}, none, none.long(), none.bool(),
    )  # fmt: skip


def inputs_of_two(with_reference: bool = False) -> LossInputs:
    """Two completions, of 3 and 2 tokens, with advantages 1 and -1."""
    mask = torch.tensor([[True, True, True], [True, True, False]])
    old = torch.tensor([[-0.5, -1.0, -2.0], [-0.1, -3.0, 0.0]])
    advantages = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, 0.0]])
    logp = (old + 0.01 * mask).requires_grad_()
    return LossInputs(logp, old, old, old if with_reference else None, advantages, mask, mask.float())


FUNCTIONS = {
    "x = 1": r"AttributeError: .*has no attribute 'f'.*expected FILE\.py:function",
    "f = 1": "TypeError: f is not a function",
    "def f(inputs: return 1": "SyntaxError",
    "import absent_module": "No module named 'absent_module'",
}


@pytest.mark.parametrize(("source", "message"), FUNCTIONS.items())
def test_a_function_that_cannot_be_loaded(tmp_path: Path, make_task, source: str, message: str) -> None:
    (tmp_path / "own.py").write_text(source)
    with pytest.raises(UsageError, match=rf"^loss\.function .*own\.py:f.*{message}"):
        train(make_task({}, **FEW, **{"loss.function": str(tmp_path / "own.py:f")}), run_dir=tmp_path / "run")


LOSSES = {
    "def f(inputs): return inputs.log_p": r"failed: AttributeError: .*'log_p'",
    "def f(inputs): return 0.5": r"returned float; return one loss per token, a .* of shape \(2, 3\)",
    "def f(inputs): return inputs.logp.sum(1)": r"returned torch.float32 of shape \(2,\); return one loss per token",
    "def f(inputs): return inputs.mask": r"returned torch.bool of shape \(2, 3\)",
    "def f(inputs): return (inputs.logp * 0).log()": "not finite for 5 of 5 tokens; look for a division by 0",
    "def f(inputs): return inputs.logp.detach()": r"without a gradient.*compute it from inputs\.logp",
    "def f(inputs): return inputs.logp + inputs.ref_logp": "failed: TypeError",
}


@pytest.mark.parametrize(("source", "message"), LOSSES.items())
def test_what_is_wrong_with_a_loss(tmp_path: Path, source: str, message: str) -> None:
    config = config_of("loss.function", source, tmp_path)
    with pytest.raises(RunError, match=rf"^loss\.function=.*own\.py:f.*{message}"):
        policy_loss(inputs_of_two(), config.loss)


ADVANTAGES = {
    "def f(groups): return None": "returned NoneType; return one advantage per completion or per token",
    "def f(groups): return groups.rewards[:2]": r"shape \(2,\); return .* of shape \(4,\) or \(4, 2\)",
    "def f(groups): return groups.rewards.sub(0.6).log()": "not finite for 2 of 3 advantages of scored",
    "def f(groups): return groups.reward": "failed: AttributeError",
}


@pytest.mark.parametrize(("source", "message"), ADVANTAGES.items())
def test_what_is_wrong_with_advantages(tmp_path: Path, source: str, message: str) -> None:
    config, scored = config_of("advantage.function", source, tmp_path), torch.tensor([True, False, True, True])
    with pytest.raises(RunError, match=rf"^advantage\.function=.*own\.py:f.*{message}"):
        group_advantages(groups_of([1.0, 0.0, 0.5, 0.5], 2, scored), config)


def test_a_loss_may_use_the_reference_where_there_is_one(tmp_path: Path) -> None:
    source = "def f(inputs): return inputs.logp - inputs.ref_logp"
    config = config_of("loss.function", source, tmp_path)
    assert policy_loss(inputs_of_two(with_reference=True), config.loss).shape == (2, 3)


def test_padding_may_hold_anything_and_advantages_may_be_per_token(tmp_path: Path) -> None:
    source = "def f(inputs): return inputs.logp.where(inputs.mask, float('nan'))"
    assert policy_loss(inputs_of_two(), config_of("loss.function", source, tmp_path).loss).shape == (2, 3)
    rows = "def f(groups): return groups.rewards[:, None].expand(-1, int(groups.lengths.max()))"
    config = config_of("advantage.function", rows, tmp_path)
    assert group_advantages(groups_of([1.0, 0.0], 2), config).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_a_loss_that_fails_in_a_step_names_the_setting(tmp_path: Path) -> None:
    config = config_of("loss.function", "def f(inputs): return (inputs.logp + 10).log()", tmp_path)
    low = torch.full((1, 2), -11.0, requires_grad=True)
    inputs = LossInputs(low, low, low, None, low, torch.ones(1, 2, dtype=torch.bool), low)
    with pytest.raises(RunError, match=r"^loss\.function=.*not finite for 2 of 2 tokens"):
        policy_loss(inputs, config.loss)


def test_a_file_is_run_once_per_run(tmp_path: Path) -> None:
    source = "calls = []\ndef f(inputs):\n    calls.append(1)\n    return inputs.logp * len(calls)"
    config = config_of("loss.function", source, tmp_path)
    assert [config.loss.own_function(LossInputs(*[torch.ones(1)] * 7)).item() for _ in range(3)] == [1, 2, 3]


def test_safe_mode_refuses_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_ENV_SAFE", "1")
    with pytest.raises(UsageError, match=r"^loss\.function .*GRPO_ENV_SAFE=1 refuses"):
        _ = config_of("loss.function", "print(1 / 0)", tmp_path).loss.own_function


def test_paths_of_a_task_file_start_from_its_folder(page_folder: Path) -> None:
    located = with_located_code({"loss": {"function": "my_loss.py:f"}, "advantage.function": "torch:f"}, page_folder)
    assert located == {"loss.function": f"{page_folder}/my_loss.py:f", "advantage.function": "torch:f"}
    assert with_located_code({"loss.function": "my_loss:f"}, page_folder) == {
        "loss.function": f"{page_folder}/my_loss.py:f"
    }
