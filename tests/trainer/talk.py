"""Environments of several turns. Each of their processes imports this file, so it imports nothing heavy."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any


class Echo:
    """A partner that answers ``turns`` times."""

    def reset(self, turns: int = 2, **row: Any) -> str:
        self.left = turns
        return " Go."

    def reply(self, text: str) -> str | None:
        self.left -= 1
        if text == "a number":
            return 7  # type: ignore[return-value]
        return f"{len(text)} letters" if self.left else None


class Counter:
    """Tools whose result and state can be known beforehand; some fail as told."""

    def reset(self, fail: str = "", folder: str = "", **row: Any) -> None:
        self.count, self._folder = 0, folder
        if fail == "reset":
            raise OSError("no room")

    def add(self, number: int) -> int:
        """Add to the count.

        Args:
            number: how much.
        """
        self.count += number
        return self.count

    def say(self, text: str) -> str:
        """Say something.

        Args:
            text: what.
        """
        return text

    def die(self) -> str:
        """End the process."""
        os._exit(3)

    def big(self) -> str:
        """Ten megabytes."""
        return "x" * 10_000_000

    def leave(self) -> str:
        """Leave a process behind."""
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        with (Path(self._folder) / "left").open("a") as file:
            file.write(f"{child.pid}\n")
        return "left"

    def write(self, name: str) -> str:
        """Create a file.

        Args:
            name: its name.
        """
        (Path(self._folder) / name).touch()
        return "written"

    def wait(self, name: str) -> str:
        """Wait for a file.

        Args:
            name: its name.
        """
        while not (Path(self._folder) / name).exists():
            time.sleep(0.01)
        return "seen"


class NoReset:
    def add(self, number: int) -> int:
        """Add.

        Args:
            number: how much.
        """
        return number


class NoTypes:
    def reset(self, **row: Any) -> None: ...

    def add(self, number):  # type: ignore[no-untyped-def]
        return number


class Clock:
    """Never says the same twice."""

    def reset(self, **row: Any) -> None: ...

    def look(self) -> str:
        """What time it is."""
        return str(time.monotonic_ns())


class Twice:
    """Can be called twice in a folder; then its process ends."""

    def reset(self, folder: str = "", **row: Any) -> None:
        self._folder = folder

    def mark(self) -> str:
        """Leave a mark."""
        names = sorted(Path(self._folder).iterdir())
        if len(names) == 2:
            os._exit(3)
        (Path(self._folder) / f"{os.getpid()}").touch()
        return "marked"
