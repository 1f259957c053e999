"""A kind of a task's own: ``kind: FILE.py:Class``, where ``accuracy`` knows no kind that reads its answers.

    class Position:
        def read(self, text: str) -> object | None: ...  # the value of an answer, or None if it is none
        def same(self, gold: object, answer: object) -> bool: ...  # of two such values

The class takes no arguments. A gold answer of which ``read`` makes ``None`` is ``bad_gold``, an answer is wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

from grpo_env.errors import UsageError
from grpo_env.registry import SAFE, is_safe_mode, load_function


class OwnKind(Protocol):
    """What such a class has."""

    def read(self, text: str) -> Any: ...
    def same(self, gold: Any, answer: Any) -> bool: ...


def own_kind(name: str) -> OwnKind:
    """The kind that ``module:Class``, or ``FILE.py:Class`` with an absolute path, names. Raises ``UsageError``."""
    if is_safe_mode():
        raise UsageError(f"accuracy: kind: {name!r} is not built in, and {SAFE}=1 refuses all other code")
    return _loaded(name)


@lru_cache(maxsize=64)
def _loaded(name: str) -> OwnKind:
    try:
        kind = load_function(name)()
    except Exception as error:  # of the imported code
        problem = f"cannot be loaded ({type(error).__name__}: {error}); expected FILE.py:Class, relative to the task"
        raise UsageError(f"accuracy: kind: {name!r} {problem}") from error
    for method in ("read", "same"):
        if not callable(getattr(kind, method, None)):
            raise UsageError(f"accuracy: kind: {name!r} has no method {method}")
    return kind  # type: ignore[no-any-return]
