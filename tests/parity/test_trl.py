"""Advantages, losses and gradients equal those of TRL 1.16, except for the known differences listed here.

TRL is no dependency of this project, so these tests run only in an environment that has it:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    /tmp/peers/bin/python -m pytest tests/parity

Both trainers get the same weights (the bundled model's), completions and rewards, and do two updates by gradient
descent; the second has ratios that are not 1, some of them beyond the clip, and a KL that is not 0. Compared are the
gradients of all weights. TRL runs as it is: completions come in through its ``rollout_func``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from grpo_env import Score, load_task
from grpo_env.taskfile.mixture import Mixture
from grpo_env.taskfile.task import Task
from grpo_env.trainer.advantages import outcome_advantages, token_advantages
from grpo_env.trainer.batch import pack_batches
from grpo_env.trainer.config import AdvantageConfig, TrainConfig
from grpo_env.trainer.engine.policy import load_model
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import sample
from grpo_env.trainer.reference import add_reference_logp
from grpo_env.trainer.run.run import Run
from grpo_env.trainer.scored_groups import scored_groups
from grpo_env.trainer.shared_types import ScoredRollout
from grpo_env.trainer.update import update

from ..trainer.shortcuts import groups_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    trl = pytest.importorskip("trl", reason="TRL is not installed; see the docstring of this file")
    from datasets import Dataset

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # TRL's warnings
    pytest.mark.skipif(not trl.__version__.startswith("1.16."), reason="these tests compare with TRL 1.16"),
]

GROUP, LONGEST, LEARNING_RATE = 4, 26, 0.3
REWARDS = [1.0, 0.2, 0.0, 0.7, 0.3, 0.3, 0.3, 0.3, 0.0, 0.0, 1.0, 0.1]  # the second group is uniform
WIDE = {"loss.clip_low": 0.2, "loss.clip_high": 0.28}, {"epsilon": 0.2, "epsilon_high": 0.28}
NARROW = {"loss.clip_low": 0.02, "loss.clip_high": 0.03}, {"epsilon": 0.02, "epsilon_high": 0.03}
TRUNCATE = {"vllm_importance_sampling_mode": "token_truncate", "vllm_importance_sampling_clip_max": 1.05}
Gradients = list[dict[str, Tensor]]


class Recorder(torch.optim.SGD):
    """Gradient descent that keeps every gradient, at a learning rate that no schedule changes."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__(model.parameters(), lr=LEARNING_RATE)
        self.names = [name for name, _ in model.named_parameters()]
        self.gradients: Gradients = []

    def step(self, closure: Any = None) -> None:
        weights = self.param_groups[0]["params"]
        self.param_groups[0]["lr"] = LEARNING_RATE
        self.gradients.append({name: weight.grad.clone() for name, weight in zip(self.names, weights, strict=True)})
        super().step(closure)


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task("arithmetic", {"dataset.limit": {"train": 3, "eval": 1}})


@pytest.fixture(scope="module")
def scored_rollouts(task: Task) -> list[ScoredRollout]:
    """Three groups of four completions that the model itself wrote, some of them truncated."""
    run = Run.load(Mixture.of(task), config())
    examples = run.samplers[0].examples
    prompts = [run.policy.prompt_ids(example, task.format) for example in examples]
    rollouts = sample(run.policy, SamplingRequest(prompts, GROUP, max_new_tokens=LONGEST, temperature=1.5))
    assert {rollout.finish for rollout in rollouts} == {"stop", "length"}
    return [
        ScoredRollout(examples[row // GROUP], rollout, Score(reward))
        for row, (rollout, reward) in enumerate(zip(rollouts, REWARDS, strict=True))
    ]


def config(**settings: Any) -> TrainConfig:
    defaults = {
        "prompts_per_step": 3,
        "group_size": GROUP,
        "sampling.max_new_tokens": LONGEST,
        "optimizer.updates_per_step": 2,
        "advantage.scale": "none",
        "optimizer.max_grad_norm": 1e9,
        "engine.device": "cpu",
    }
    return TrainConfig.from_mapping({**defaults, **settings})


def own_update(task: Task, scored_rollouts: Sequence[ScoredRollout], **settings: Any) -> tuple[Gradients, float, float]:
    """Gradients of both updates; loss and fraction of clipped tokens of the second."""
    run = Run.load(Mixture.of(task), config(**settings))
    optimizer = Recorder(run.policy.model)
    advantages = token_advantages(scored_groups(run.policy, scored_rollouts, run.config), run.config)
    batches = pack_batches(run.policy, scored_rollouts, advantages, run.config, run.micro_batch_tokens)
    if run.reference is not None:
        add_reference_logp(run.policy, run.reference, batches, run.config.sampling.temperature)
    stats = update(run.policy, optimizer, batches, run.config, 0)
    return optimizer.gradients, stats["loss"], stats["clip_fraction"]


class RecordingTrainer(trl.GRPOTrainer):  # type: ignore[misc, name-defined]
    """TRL's trainer, which keeps the advantages and the loss."""

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        outputs = super()._generate_and_score_completions(inputs)
        self.advantages = outputs["advantages"].clone()
        return outputs

    def compute_loss(self, *args: Any, **kwargs: Any) -> Tensor:
        loss: Tensor = super().compute_loss(*args, **kwargs)
        self.loss = loss.item()
        return loss


def trl_update(
    scored_rollouts: Sequence[ScoredRollout], folder: Path, rewards: Any = None, **arguments: Any
) -> tuple[Gradients, RecordingTrainer]:
    """Gradients of both updates, and the trainer after them. ``rewards``: one list for each reward function."""
    model, tokenizer = load_model("bundled")
    optimizer = Recorder(model)
    rollouts = [scored.rollout for scored in scored_rollouts]

    def roll_out(prompts: list[str], _: Any) -> dict[str, Any]:
        assert [int(prompt) for prompt in prompts] == [row // GROUP for row in range(len(scored_rollouts))]
        ids = {
            "prompt_ids": [rollout.prompt_ids for rollout in rollouts],
            "completion_ids": [rollout.ids for rollout in rollouts],
        }
        return {**ids, "logprobs": [rollout.logps for rollout in rollouts]}

    def reward_of(values: Sequence[float | None]) -> Any:
        def reward(**_: Any) -> list[float | None]:
            return list(values)

        return reward

    settings = {
        "output_dir": str(folder),
        "max_steps": 2,
        "num_iterations": 2,
        "per_device_train_batch_size": len(scored_rollouts),
        "num_generations": GROUP,
        "max_completion_length": LONGEST,
        "shuffle_dataset": False,
        "scale_rewards": "none",
        "max_grad_norm": 1e9,
        "bf16": False,
        "gradient_checkpointing": False,
        "use_cpu": True,
        "report_to": "none",
        "logging_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
    }
    trainer = RecordingTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[reward_of(values) for values in rewards or [[scored.score.value for scored in scored_rollouts]]],
        train_dataset=Dataset.from_list([{"prompt": str(place)} for place in range(len(scored_rollouts) // GROUP)]),
        args=trl.GRPOConfig(**{**settings, **arguments}),
        optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)),
        rollout_func=roll_out,
    )
    if "vllm_importance_sampling_mode" in arguments:  # needs vLLM for nothing but the samples, which are there
        trainer.use_vllm, trainer._last_loaded_step = True, 0
    trainer.train()
    return optimizer.gradients, trainer


SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "token": ({"loss.aggregation": "token"}, {"loss_type": "dapo"}),
    "token as bnpo": ({"loss.aggregation": "token"}, {"loss_type": "bnpo"}),
    "sequence": ({"loss.aggregation": "sequence"}, {"loss_type": "grpo"}),
    "constant": ({"loss.aggregation": "constant"}, {"loss_type": "dr_grpo"}),
    "clips": ({"loss.clip_low": 0.1, "loss.clip_high": 0.4}, {"epsilon": 0.1, "epsilon_high": 0.4}),
    "gspo": (
        {"loss.importance_level": "sequence", "loss.aggregation": "sequence", **NARROW[0]},
        {"importance_sampling_level": "sequence", "loss_type": "grpo", **NARROW[1]},
    ),
    "gspo, token": (
        {"loss.importance_level": "sequence", **NARROW[0]},
        {"importance_sampling_level": "sequence", **NARROW[1]},
    ),
    "kl": ({"kl.coef": 0.5}, {"beta": 0.5, "use_bias_correction_kl": False}),
    "temperature": ({"sampling.temperature": 0.7}, {"temperature": 0.7}),
    "truncated": ({"advantage.truncated": "mask"}, {"mask_truncated_completions": True}),
    # The samples are of temperature 1.5, the loss of 1: a wide gap. TRL's own mode drops whole completions instead.
    "sampler": ({"loss.tis_cap": 1.05}, TRUNCATE),
    "sampler, kl": ({"loss.tis_cap": 1.05, "kl.coef": 0.5}, {**TRUNCATE, "beta": 0.5, "use_bias_correction_kl": False}),
}


@pytest.mark.parametrize("case", SAME)
def test_gradients_and_losses_are_the_same(
    case: str, task: Task, scored_rollouts: list[ScoredRollout], tmp_path: Path
) -> None:
    """To 2e-5 of the largest gradient (3e-6 but for the entropy): what float32 leaves of sums in another order."""
    settings, arguments = SAME[case]
    expected, trainer = trl_update(scored_rollouts, tmp_path, **{**WIDE[1], **arguments})
    gradients, loss, clip_fraction = own_update(task, scored_rollouts, **{**WIDE[0], **settings})
    assert len(gradients) == 2
    assert difference(gradients, expected) < 2e-5 * size(gradients)
    assert loss == pytest.approx(trainer.loss, abs=1e-6)
    assert difference(gradients[:1], gradients[1:]) > 1e-2 * size(gradients), "the second update must differ"
    assert clip_fraction > 0.01, "nothing is clipped"
    plain, *_ = own_update(task, scored_rollouts, **WIDE[0])
    assert (difference(gradients, plain) > 1e-3 * size(gradients)) == (not case.startswith("token")), (
        "the setting must change something"
    )


LOSS_TYPES = {"token": "dapo", "sequence": "grpo", "constant": "dr_grpo"}


@pytest.mark.parametrize("aggregate", LOSS_TYPES)
def test_rows_without_a_loss_do_not_count_in_our_mean(
    aggregate: str, task: Task, scored_rollouts: list[ScoredRollout], tmp_path: Path
) -> None:
    """TRL divides by rows that have no part in the loss: truncated ones when masked, unscored ones; ours does not.

    So ours is larger by one factor. Masked rows make none for a mean over tokens, where TRL leaves them out too, and
    for Dr. GRPO's constant, where ours counts them as well.
    """
    rollouts = [scored.rollout for scored in scored_rollouts]
    expected, _ = trl_update(
        scored_rollouts, tmp_path, **WIDE[1], loss_type=LOSS_TYPES[aggregate], mask_truncated_completions=True
    )
    gradients, *_ = own_update(
        task, scored_rollouts, **WIDE[0], loss={"aggregation": aggregate}, advantage={"truncated": "mask"}
    )
    assert first_gradient_is(
        gradients,
        expected,
        len(rollouts) / sum(rollout.finish == "stop" for rollout in rollouts) if aggregate == "sequence" else 1.0,
    )

    missing = 2
    with_unscored = [
        scored if row != missing else scored._replace(score=Score(None, "error"))
        for row, scored in enumerate(scored_rollouts)
    ]
    expected, _ = trl_update(with_unscored, tmp_path, **WIDE[1], loss_type=LOSS_TYPES[aggregate])
    gradients, *_ = own_update(task, with_unscored, **WIDE[0], loss={"aggregation": aggregate})
    tokens = [len(rollout.ids) for rollout in rollouts]
    factors = {"token": sum(tokens) / (sum(tokens) - tokens[missing])}
    assert first_gradient_is(gradients, expected, factors.get(aggregate, len(rollouts) / (len(rollouts) - 1)))


@pytest.mark.parametrize("scale", ["group", "none"])
@pytest.mark.parametrize("unscored", [(), (0, 2)])
def test_advantages_equal_those_of_trl(
    scale: Any, unscored: tuple[int, ...], scored_rollouts: list[ScoredRollout], tmp_path: Path
) -> None:
    """TRL adds 1e-4 to the standard deviation; we add nothing, and equal rewards have advantage 0."""
    rewards = [None if row in unscored else reward for row, reward in enumerate(REWARDS)]
    _, trainer = trl_update(scored_rollouts, tmp_path, rewards=[rewards], scale_rewards=scale)
    values, scored = torch.tensor(REWARDS).double(), torch.tensor([reward is not None for reward in rewards])
    expected = torch.zeros(len(values)).double()
    for start in range(0, len(values), GROUP):
        group = slice(start, start + GROUP)
        known = values[group][scored[group]]
        spread = {"group": known.std() + 1e-4, "none": 1.0}[scale]
        expected[group] = ((values[group] - known.mean()) / spread).where(scored[group], 0.0)
    torch.testing.assert_close(trainer.advantages.double(), expected, rtol=0, atol=1e-6)
    advantages = outcome_advantages(groups_of(values, GROUP, scored=scored), AdvantageConfig(scale=scale))
    torch.testing.assert_close(advantages, expected, rtol=0, atol=1e-3)


def difference(first: Gradients, second: Gradients) -> float:
    """The largest difference of any weight's gradient in any update."""
    pairs = zip(first, second, strict=True)
    return max(
        float((first_step[name] - second_step[name]).abs().max())
        for first_step, second_step in pairs
        for name in first_step
    )


def size(gradients: Gradients) -> float:
    """The largest gradient of any weight in any update."""
    return max(float(gradient.abs().max()) for update in gradients for gradient in update.values())


def first_gradient_is(gradients: Gradients, expected: Gradients, factor: float) -> bool:
    """Whether the first update's gradient is ``factor`` times the expected one."""
    scaled = [{name: factor * gradient for name, gradient in expected[0].items()}]
    return difference(gradients[:1], scaled) < 1e-5 * size(gradients[:1])
