"""What all groups of settings share: immutable, without unknown names, strict about types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from grpo_env.errors import UsageError
from grpo_env.registry import load_function, refuse_in_safe_mode


class Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _number_from_text(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads ``1e-4``, which has no dot, as text."""
        if isinstance(value, str) and cls.model_fields[str(info.field_name)].annotation in (float, float | None):
            try:
                return float(value)
            except ValueError:
                pass
        return value


def load(name: str | None, setting: str) -> Callable[..., Any] | None:
    """The function of a setting. Raises ``UsageError``."""
    if name is None:
        return None
    refuse_in_safe_mode(f"{setting}={name}")
    try:
        return load_function(name)
    except Exception as error:  # of the imported code
        raise UsageError(
            f"{setting}={name} cannot be loaded ({type(error).__name__}: {error}); expected FILE.py:function, or "
            "module:function of an installed module"
        ) from error
