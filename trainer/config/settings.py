"""What all groups of settings share: immutable, without unknown names, strict about types."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


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
