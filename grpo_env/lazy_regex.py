"""Regular expressions that are compiled when they are first used.

The verifiers have hundreds. Compiling them all takes longer than importing everything else, in each command and each
worker process, and one file of completions uses a fraction of them.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def lazy_compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile(pattern, flags)`` at the first use of the result, which raises ``re.error`` then."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._compiled, name)
        setattr(self, name, value)  # found without this function from now on
        return value
