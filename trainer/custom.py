"""Losses and advantages of the user's own: called with the tensors of the built-in ones, and their results checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grpo_env.errors import GrpoEnvError, RunError, UsageError

if TYPE_CHECKING:
    from .config import TrainConfig
    from .losses import LossInputs
    from .scored_groups import ScoredGroups


def custom_loss(function: Callable[[LossInputs], Any], setting: str, inputs: LossInputs) -> Tensor:
    """The loss per token that a user's function returns.

    Raises ``RunError``, beginning with ``setting``, if it fails, or returns something other than one finite number
    with a gradient for each token.
    """
    result = _call(function, setting, inputs)
    loss = _checked_tensor(result, setting, "one loss per token", [tuple(inputs.mask.shape)])
    if not loss.requires_grad:
        raise RunError(
            f"{setting} returned a loss without a gradient, so nothing would be learned; compute it from inputs.logp, "
            "without detach()"
        )
    _check_finite(loss[inputs.mask], setting, "tokens")
    return loss.float()


def custom_advantages(function: Callable[[ScoredGroups], Any], setting: str, groups: ScoredGroups) -> Tensor:
    """The advantages that a user's function returns, (B,) or (B, T).

    Raises ``RunError``, beginning with ``setting``, if it fails, or returns something other than one finite number
    for each scored completion or for each of its tokens.
    """
    result = _call(function, setting, groups)
    rows, tokens = len(groups.rewards), int(groups.lengths.max())
    shapes = [(rows,), (rows, tokens)]
    advantages = _checked_tensor(result, setting, "one advantage per completion or per token", shapes)
    _check_finite(advantages[groups.scored], setting, "advantages of scored completions")
    return advantages.detach().double().cpu()


def try_functions(config: TrainConfig, part_names: Sequence[str] = ("accuracy",)) -> None:
    """Load the functions of ``loss.function`` and ``advantage.function`` and call them once on small made-up tensors.

    ``part_names`` are those of the weighted parts of the reward. Raises ``UsageError`` with the problem.
    """
    from .advantages import advantage_function
    from .losses import loss_function

    try:
        if config.loss.function is not None:
            inputs = _example_inputs(config.kl.coef > 0)
            loss = loss_function(config.loss)(inputs)[inputs.mask].sum()
            (gradient,) = torch.autograd.grad(loss, inputs.logp, allow_unused=True)
            _check_gradient(gradient, f"loss.function={config.loss.function}")
        if config.advantage.function is not None:
            advantage_function(config)(_example_groups(part_names, config.advantage.baseline == "greedy"))
    except UsageError:
        raise
    except GrpoEnvError as error:
        raise UsageError(str(error)) from error


def _call(function: Callable[[Any], Any], setting: str, argument: Any) -> Any:
    try:
        return function(argument)
    except Exception as error:  # of the user's code
        raise RunError(f"{setting} failed: {type(error).__name__}: {error}") from error


def _checked_tensor(value: Any, setting: str, expected: str, shapes: Sequence[tuple[int, ...]]) -> Tensor:
    if isinstance(value, Tensor) and value.shape in shapes and value.is_floating_point():
        return value
    actual = f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    shape = " or ".join(map(str, shapes))
    raise RunError(f"{setting} returned {actual}; return {expected}, a floating-point tensor of shape {shape}")


def _check_finite(values: Tensor, setting: str, what: str) -> None:
    wrong = int((~values.detach().isfinite()).sum())
    if wrong:
        raise RunError(
            f"{setting} returned numbers that are not finite for {wrong} of {values.numel()} {what}; look for a "
            "division by 0, a logarithm of 0, or an exponential of a large number"
        )


def _check_gradient(gradient: Tensor | None, setting: str) -> None:
    if gradient is None or not gradient.any() or not gradient.isfinite().all():
        problem = "is not finite" if gradient is not None and not gradient.isfinite().all() else "is 0 for all tokens"
        raise UsageError(
            f"{setting}: the gradient of its loss {problem} when tried on two completions with advantages 1 and -1; "
            "compute it from inputs.logp, without detach()"
        )


def _example_inputs(with_reference: bool) -> LossInputs:
    """Two completions, of 3 and 2 tokens, with advantages 1 and -1."""
    from .losses import LossInputs

    mask = torch.tensor([[True, True, True], [True, True, False]])
    old = torch.tensor([[-0.5, -1.0, -2.0], [-0.1, -3.0, 0.0]])
    near = torch.tensor([[0.01, -0.02, 0.03], [-0.01, 0.02, 0.0]])
    advantages = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, 0.0]])
    logp = (old + near).requires_grad_()
    return LossInputs(logp, old, old - near, old + 2 * near if with_reference else None, advantages, mask, mask.float())


def _example_groups(part_names: Sequence[str], with_greedy: bool) -> ScoredGroups:
    """Two prompts with two completions each, of which one could not be scored and the last two are equal."""
    from .scored_groups import ScoredGroups

    rewards = torch.tensor([1.0, 0.0, 0.5, 0.5], dtype=torch.float64)
    scored = torch.tensor([True, False, True, True])
    steps, lengths = torch.zeros(4, 1, dtype=torch.float64), torch.tensor([3, 4, 2, 1])
    return ScoredGroups(
        group_size=2,
        rewards=rewards,
        scored=scored,
        metric=rewards,
        metric_weights=scored.double(),
        truncated=torch.tensor([False, True, False, False]),
        episode=torch.zeros(4, dtype=torch.bool),
        sampled=torch.arange(4) < lengths[:, None],
        lengths=lengths,
        part_names=tuple(part_names),
        part_values=rewards[:, None].repeat(1, len(part_names)),
        part_weights=scored[:, None].double().repeat(1, len(part_names)),
        step_rewards=steps,
        step_tokens=steps.long(),
        step_mask=steps.bool(),
        greedy_rewards=rewards.roll(1) if with_greedy else None,
    )
