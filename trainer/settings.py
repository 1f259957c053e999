"""Settings, a dataclass of them, from names and values; and errors that help where they are wrong."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from grpo_env.errors import UsageError, nearest


@dataclass(frozen=True)
class Range:
    """What a number may be: from ``low`` to ``high``, or above something."""

    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf

    def check(self, name: str, value: float | None) -> None:
        """Raises ``UsageError``. ``None``, where a type allows it, is no number."""
        if value is None or (math.isfinite(value) and self.low <= value <= self.high and value > self.above):
            return
        bounds = {
            f"at least {self.low:g}": self.low,
            f"at most {self.high:g}": self.high,
            f"above {self.above:g}": self.above,
        }
        told = " and ".join(text for text, bound in bounds.items() if math.isfinite(bound)) or "finite"
        raise UsageError(f"{name} is {value:g}; it must be {told}")


def check_ranges(settings: Any) -> None:
    """Raises ``UsageError`` for a field whose number is not what the ``Range`` in its annotation says."""
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        for limits in getattr(hint, "__metadata__", ()):
            limits.check(name, getattr(settings, name))


def checked_types(cls: Any, given: Mapping[str, Any], source: str, elsewhere: Mapping[str, str]) -> dict[str, Any]:
    """Values of some of a dataclass's fields, as they stand in YAML or on the command line, as those fields' types.

    ``elsewhere`` tells what other libraries call a field. Raises ``UsageError``, beginning with ``source``.
    """
    hints, known = get_type_hints(cls), [field.name for field in fields(cls)]
    for name in given:
        if name in elsewhere:
            raise UsageError(f"{source}: unknown setting {name!r}; here it is called {elsewhere[name]!r}")
        if name not in known:
            raise UsageError(f"{source}: unknown setting {name!r}; {nearest(str(name), known)}")
    return {name: typed(name, value, hints[name], source) for name, value in given.items()}


def typed(name: str, value: Any, hint: Any, source: str) -> Any:
    """``value`` as the type of a setting: a number, text, true or false, one of some names, or none where allowed.

    Raises ``UsageError``, beginning with ``source``, for anything else.
    """
    if isinstance(hint, types.UnionType) or type(None) in get_args(hint):
        if value is None:
            return None
        hint = next(choice for choice in get_args(hint) if choice is not type(None))
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise UsageError(f"{source}: {name} is {value!r}; {nearest(str(value), get_args(hint))}")
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str):  # YAML reads 1e-4, without a dot, as text
        try:
            return float(value)
        except ValueError:
            pass
    if type(value) is not hint:
        kind = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[hint]
        raise UsageError(f"{source}: {name} is {value!r}; it must be {kind}")
    return value
