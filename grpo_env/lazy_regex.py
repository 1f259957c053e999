"""Regular expressions that are compiled when they are first used.

The verifiers have hundreds. Compiling them all takes longer than importing everything else, in each command and each
worker process, and one file of completions uses a fraction of them.
"""

from __future__ import annotations

import re
from functools import cached_property
from operator import attrgetter
from typing import cast


def lazy_compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile(pattern, flags)`` at the first use of the result, which raises ``re.error`` then."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """A pattern with the methods that this library uses. ``__getattr__`` would slow down every one of them."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    search = cached_property(attrgetter("_compiled.search"))
    match = cached_property(attrgetter("_compiled.match"))
    fullmatch = cached_property(attrgetter("_compiled.fullmatch"))
    finditer = cached_property(attrgetter("_compiled.finditer"))
    findall = cached_property(attrgetter("_compiled.findall"))
    split = cached_property(attrgetter("_compiled.split"))
    sub = cached_property(attrgetter("_compiled.sub"))
