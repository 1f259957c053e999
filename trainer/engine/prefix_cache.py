"""A prefix cache: keys and values of conversations between their turns, so that a turn reads only what is new."""

from __future__ import annotations

from collections.abc import Hashable
from types import TracebackType
from typing import NamedTuple, Self

from torch import Tensor

Layers = list[tuple[Tensor, Tensor]]  # of each layer, keys and values (KV heads, tokens, size)


class Prefix(NamedTuple):
    """The keys and values of the first tokens of a conversation, ``ids``."""

    ids: list[int]
    layers: Layers


class PrefixCache:
    """The prefixes of conversations that wait for their next turn, by a key of each conversation.

    A block of ``with`` bounds their life: weights must not change inside it, and nothing is kept after it.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Prefix] = {}
        self._open = False

    def __enter__(self) -> Self:
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, key: Hashable, prefix: Prefix) -> None:
        """Keep a prefix until it is taken. Raises ``ValueError`` outside of the block."""
        if not self._open:
            raise ValueError("prefixes are kept only inside of their block")
        self._kept[key] = prefix

    def take(self, key: Hashable, ids: list[int]) -> Prefix | None:
        """The part of a prefix with which ``ids`` begins, at most all but one of them. It is kept no longer."""
        prefix = self._kept.pop(key, None)
        if prefix is None:
            return None
        pairs = zip(prefix.ids, ids[:-1], strict=False)
        same = next((n for n, (old, new) in enumerate(pairs) if old != new), min(len(prefix.ids), len(ids) - 1))
        return Prefix(ids[:same], [(keys[:, :same], values[:, :same]) for keys, values in prefix.layers])

    def forget(self, key: Hashable) -> None:
        """Free the prefix of a conversation that has ended, if there is one."""
        self._kept.pop(key, None)

    def clear(self) -> None:
        """Free all."""
        self._kept.clear()
