"""The environment of an episode in a process of its own, which is ended if it is late."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from grpo_env.registry import locate
from grpo_env.workers.killable_worker import LateError, ProgramWorker, WorkerDiedError

from .children import descendants, end

START_ALLOWANCE = 60.0  # seconds that ``reset`` has besides the limit: the first one imports the user's file


class ToolRaisedError(Exception):
    """A method of the environment raised; the message is that of its exception, bounded."""


class EnvironmentFailedError(Exception):
    """The environment, not the model's text, failed: it did not start, died or returned what it must not."""


class EnvironmentProcess:
    """A process that holds one environment at a time. ``reset`` begins an episode with a fresh object.

    It may serve one episode after another. ``timeout`` is in seconds by the clock, for each call. All methods raise
    ``EnvironmentFailedError`` if the process ends by itself.
    """

    def __init__(self, use: str, folder: Path, timeout: float, max_chars: int) -> None:
        self._worker = ProgramWorker("grpo_env.environments.environment_worker", locate(use, folder), str(max_chars))
        self._timeout = timeout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def reset(self, row: Mapping[str, Any]) -> str | None:
        """Make a fresh object and reset it to a row. Returns what it adds to the question."""
        return self._ask_own("reset", START_ALLOWANCE, row=dict(row))  # type: ignore[no-any-return]

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The result of a tool, as text. Raises ``ToolRaisedError``, and ``LateError`` when the process was ended."""
        return self._ask("call", 0.0, name=name, arguments=dict(arguments))  # type: ignore[no-any-return]

    def reply(self, text: str) -> str | None:
        """What the partner answers, ``None`` at the end. Raises as ``call`` does."""
        return self._ask("reply", 0.0, text=text)  # type: ignore[no-any-return]

    def get_reward(self) -> float:
        """The environment's own reward."""
        value = self._ask_own("get_reward")
        if not math.isfinite(value):
            raise EnvironmentFailedError(f"get_reward returned {value}, which is not a finite number")
        return float(value)

    def state(self) -> Any:
        """The object's public attributes that JSON can represent; ``None`` if they are too large together."""
        return self._ask_own("state")

    def opened(self) -> list[str]:
        """The files, besides modules, that the environment has opened since the first call of this."""
        return list(self._ask_own("opened"))

    def close(self) -> None:
        """End the process and all that it started."""
        self._end_all(self._worker.pid)
        self._worker.close()

    def _ask_own(self, do: str, allowance: float = 0.0, **arguments: Any) -> Any:
        """What a method says that no text of the model's calls: if it raises or is late, the environment has failed."""
        try:
            return self._ask(do, allowance, **arguments)
        except ToolRaisedError as error:
            raise EnvironmentFailedError(f"{do} raised {error}") from error
        except LateError as error:
            raise EnvironmentFailedError(f"{do} did not end within {self._timeout:g} s") from error

    def _ask(self, do: str, allowance: float, **arguments: Any) -> Any:
        pid = self._worker.pid or self._start()
        try:
            answer = self._worker.ask({"do": do, "with": arguments}, self._timeout + allowance)
        except LateError:
            self._end_all(pid)
            raise
        except (WorkerDiedError, RuntimeError) as error:
            self._end_all(pid)
            raise EnvironmentFailedError(f"the environment's process ended in {do}: {error}") from error
        except (TypeError, ValueError) as error:
            raise EnvironmentFailedError(f"the row cannot be sent to the environment: {error}") from error
        if answer.get("mistake"):
            raise EnvironmentFailedError(answer["raised"].partition(": ")[2])
        if "raised" in answer:
            raise ToolRaisedError(answer["raised"])
        return answer.get("value")

    def _start(self) -> int | None:
        """Start the process; returns its id, by which all that it starts is ended."""
        with suppress(WorkerDiedError, LateError, RuntimeError):  # the call that follows tells
            self._worker.ask({"do": "ready", "with": {}}, START_ALLOWANCE)
        return self._worker.pid

    @staticmethod
    def _end_all(pid: int | None) -> None:
        if pid is None:
            return
        started = descendants(pid)  # also those in groups of their own, while the process runs
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        end(started)
