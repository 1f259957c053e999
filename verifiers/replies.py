"""A cache of an endpoint's replies: an SQLite file that several processes may use at once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_env.endpoint import Reply
from grpo_env.errors import UsageError

WAIT = 60.0  # seconds for other processes to finish writing

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, whole INTEGER NOT NULL)"


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
        with self._database() as database:
            for key in keys:
                row = database.execute("SELECT text, whole FROM replies WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    replies[key] = Reply(str(row[0]), bool(row[1]))
        return replies

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply, unless the key already has one: a cached reply never changes."""
        with self._database() as database:
            database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, reply.text, reply.whole))

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """The database, open for one use that ends with a commit."""
        path = Path(self.path).expanduser()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(path, timeout=WAIT)) as database, database:
                database.execute(_TABLE)
                yield database
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"cache: {self.path} cannot be used ({error}); name another file") from error
