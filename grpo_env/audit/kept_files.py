"""Files that agents try to write, and how they were before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_BYTES = 16 << 20  # of a file that is kept


def can_be_kept(path: str) -> bool:
    """Whether a file can be put back: it does not exist yet, or is a regular one, readable and not too large."""
    file = Path(path)
    try:
        return not file.exists() or (file.is_file() and file.stat().st_size <= MAX_BYTES and os.access(file, os.R_OK))
    except (OSError, ValueError):
        return False


@contextmanager
def kept(paths: Iterable[str]) -> Iterator[None]:
    """Put these files back at the end: those that were changed or removed as they were, and remove new ones."""
    before = {Path(path): _content(Path(path)) for path in paths}
    try:
        yield
    finally:
        for path, content in before.items():
            with suppress(OSError):
                if _content(path) == content:
                    continue
                if content is None:
                    path.unlink()
                else:
                    path.write_bytes(content)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
