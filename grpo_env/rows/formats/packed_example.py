"""Packs an example into a line of text, to carry it through another framework's dataset, and unpacks it.

It is text because Arrow datasets fill missing keys of nested columns with nulls, which a verifier would see, and
because some frameworks pass on a single string of a row.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from grpo_env.core import Example
from grpo_env.errors import UsageError
from grpo_env.rows.jsonl import dump_record

COLUMN = "grpo_env"
"""The column, or key, that holds a packed example."""

_MARK = f'{{"{COLUMN}": '


def pack(example: Example) -> str:
    """The example's row and id as JSON."""
    return dump_record({COLUMN: example.id, "row": dict(example.info)}).rstrip("\n")


def is_packed(text: object) -> TypeGuard[str]:
    """Whether a value is a packed example, rather than a gold answer."""
    return isinstance(text, str) and text.startswith(_MARK)


def unpack(text: str, where: str) -> tuple[str, dict[str, Any]]:
    """Id and row of a packed example. Raises ``UsageError``, beginning with ``where``, for a damaged one."""
    try:
        data = json.loads(text)
        return data[COLUMN], dict(data["row"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{where}: not an example of grpo_env ({error}); write the dataset again") from error
