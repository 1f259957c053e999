"""A cache of an endpoint's replies: an SQLite file that several processes may use at once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_env.endpoint import Reply
from grpo_env.errors import UsageError

WAIT = 60.0  # seconds for other processes to finish writing


def request_key(base_url: str, body: Mapping[str, Any]) -> str:
    """The cache key of a request: the SHA-256 of its address and its body, with sorted keys."""
    return hashlib.sha256(json.dumps([base_url.rstrip("/"), body], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class ReplyCache:
    """The cache in the file at ``path``, created on first use. Raises ``UsageError`` if that fails."""

    path: str

    def get(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The cached replies, by key."""
        replies = {}
        try:
            with closing(self._open()) as database:
                for key in keys:
                    row = database.execute("SELECT text, whole FROM replies WHERE key = ?", (key,)).fetchone()
                    if row is not None:
                        replies[key] = Reply(str(row[0]), bool(row[1]))
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return replies

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply, unless the key already has one: a cached reply never changes."""
        try:
            with closing(self._open()) as database, database:
                database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, reply.text, reply.whole))
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        path = Path(self.path).expanduser()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        database = sqlite3.connect(path, timeout=WAIT)
        try:
            database.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, whole INTEGER NOT NULL)"
            )
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _unusable(self, error: Exception) -> UsageError:
        return UsageError(f"cache: {self.path} cannot be used ({error}); name another file")
