"""Functions of the user's own for losses and advantages: they are called, and what they return is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from grpo_env.errors import RunError


def tensor_of(
    function: Callable[[Any], Any], argument: Any, setting: str, expected: str, shapes: Sequence[tuple[int, ...]]
) -> Tensor:
    """The tensor that a user's function returns.

    Raises ``RunError``, beginning with ``setting``, if it fails, or returns something other than what is ``expected``:
    a floating-point tensor of one of the ``shapes``.
    """
    try:
        value = function(argument)
    except Exception as error:  # of the user's code
        raise RunError(f"{setting} failed: {type(error).__name__}: {error}") from error
    if isinstance(value, Tensor) and value.shape in shapes and value.is_floating_point():
        return value
    actual = f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    shape = " or ".join(map(str, shapes))
    raise RunError(f"{setting} returned {actual}; return {expected}, a floating-point tensor of shape {shape}")


def check_finite(values: Tensor, setting: str, what: str) -> None:
    """Raises ``RunError``, beginning with ``setting``, if some of the ``values`` are not finite."""
    wrong = int((~values.detach().isfinite()).sum())
    if wrong:
        raise RunError(
            f"{setting} returned numbers that are not finite for {wrong} of {values.numel()} {what}; look for a "
            "division by 0, a logarithm of 0, or an exponential of a large number"
        )
