"""Finds a verifier by name: registered in this process, built in, from an entry point, or ``module:Class``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

from grpo_env.core import Verifier
from grpo_env.errors import UsageError, nearest

V = TypeVar("V", bound=type[Verifier])

ENTRY_POINTS = "grpo_env.verifiers"

# Built-in verifiers by name and home, so that looking one up imports only its own module.
BUILT_IN: dict[str, str] = {
    "accuracy": "grpo_env.verifiers.accuracy:Accuracy",
    "strict_format": "grpo_env.verifiers.format:StrictFormat",
    "soft_format": "grpo_env.verifiers.format:SoftFormat",
    "tag_count": "grpo_env.verifiers.tags:TagCount",
    "reasoning_steps": "grpo_env.verifiers.reasoning:ReasoningSteps",
    "equation_steps": "grpo_env.verifiers.process:EquationSteps",
    "labelled_steps": "grpo_env.verifiers.process:LabelledSteps",
    "weighted_sum": "grpo_env.verifiers.compose:WeightedSum",
    "any_of": "grpo_env.verifiers.compose:AnyOf",
    "all_of": "grpo_env.verifiers.compose:AllOf",
    "clip": "grpo_env.verifiers.compose:Clip",
}

_registered: dict[str, type[Verifier]] = {}


def verifier(name: str) -> Callable[[V], V]:
    """Class decorator: make a verifier known under ``name`` in this process. Raises ``UsageError`` if taken."""

    def register(cls: V) -> V:
        home = BUILT_IN.get(name)
        if home is not None and home != f"{cls.__module__}:{cls.__qualname__}":
            raise UsageError(f"verifier {name!r} is built in ({home}); choose another name")
        known = _registered.get(name)
        if known is not None and known.__qualname__ != cls.__qualname__:
            raise UsageError(f"verifier {name!r} is already registered by {known.__module__}.{known.__qualname__}")
        _registered[name] = cls
        return cls

    return register


def find(name: str) -> type[Verifier]:
    """The verifier class called ``name``. Raises ``UsageError`` with the nearest known name."""
    if name in _registered:
        return _registered[name]
    if name in BUILT_IN:
        return _load(BUILT_IN[name])
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        return _load(entry.value)
    if ":" in name:
        return _load(name)
    raise UsageError(f"unknown verifier {name!r}; {nearest(name, names())}")


def names() -> list[str]:
    """All names that ``find`` knows, sorted."""
    return sorted({*_registered, *BUILT_IN, *(entry.name for entry in entry_points(group=ENTRY_POINTS))})


def _load(home: str) -> type[Verifier]:
    module, _, attribute = home.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"verifier {home!r} cannot be loaded: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Verifier)):
        raise UsageError(f"verifier {home!r} is not a subclass of grpo_env.core.Verifier")
    return found
