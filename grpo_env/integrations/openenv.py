"""OpenEnv 0.10: a running server as an environment here, with the package ``openenv``.

A class of yours names the server and has a method for each action that the model may take:

    # echo.py
    from grpo_env.integrations.openenv import OpenEnv

    class Echo(OpenEnv):
        url = "http://127.0.0.1:8000"

        def say(self, message: str) -> str:
            \"\"\"Say something.

            Args:
                message: what to say.
            \"\"\"
            return self._step(message=message)

and the task file has ``environment: {use: "echo.py:Echo"}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from grpo_env.errors import UsageError, install

T = TypeVar("T")

_REFUSALS = ("(code: VALIDATION_ERROR)", "(code: EXECUTION_ERROR)")  # of an action; the session goes on


class OpenEnv:
    """A session on an OpenEnv server, a new one for each episode. Subclasses set ``url`` and define the tools.

    ``server_state`` is what the server says of its state, and so part of the state that ``on: state`` judges.
    ``get_reward`` is the sum of the rewards of all steps.
    """

    url: ClassVar[str] = ""
    """Where the server listens."""
    columns: ClassVar[tuple[str, ...]] = ()
    """The columns of the row that the server's ``reset`` gets, such as ``seed``."""

    def __init__(self) -> None:
        self._client: Any = None
        self._reward = 0.0
        self._lost = ""
        self.done = False
        self.server_state: Any = None

    def reset(self, **row: Any) -> str | None:
        """Begin a session; returns what ``_told`` makes of the first observation."""
        try:
            from openenv.core import GenericEnvClient
        except ImportError as error:
            raise UsageError(f"OpenEnv is not installed ({error}): {install('openenv')}") from error
        if not self.url:
            raise UsageError(f"{type(self).__name__}.url: set the address of the server")
        missing = [name for name in self.columns if name not in row]
        if missing:
            raise UsageError(f"{type(self).__name__}.columns: the row has no column {missing[0]!r}")
        self._client = GenericEnvClient(base_url=self.url).sync()
        self._client.connect()
        result = self._client.reset(**{name: row[name] for name in self.columns})
        self._keep(result)
        return self._told(result.observation)

    def get_reward(self) -> float:
        """The sum of the rewards so far. Raises ``RuntimeError`` if the session was lost, so that it is unscored."""
        self._check_session()
        return self._reward

    def _step(self, **action: Any) -> str:
        """Send an action; returns what ``_told`` makes of the observation.

        Raises ``RuntimeError`` after the end, and what the client raises: for an action that the server refuses, or
        if the session is lost. The client would go on in a new session, which is that of another episode.
        """
        self._check_session()
        if self.done:
            raise RuntimeError("the episode has ended")
        result = self._ask(lambda: self._client.step(action))
        self._keep(result)
        return self._told(result.observation) or ""

    def _told(self, observation: Mapping[str, Any]) -> str | None:
        """What the model is told of an observation: JSON of its fields. Override it for a text."""
        fields = {key: value for key, value in observation.items() if key not in ("done", "reward", "metadata")}
        return json.dumps(fields, ensure_ascii=False) if fields else None

    def _keep(self, result: Any) -> None:
        self._reward += float(result.reward or 0.0)
        self.done = bool(result.done)
        self.server_state = self._ask(self._client.state)

    def _ask(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except Exception as error:
            if not str(error).endswith(_REFUSALS):
                self._lost = f"{type(error).__name__}: {error}"
            raise

    def _check_session(self) -> None:
        if self._lost:
            raise RuntimeError(f"the session with {self.url} was lost ({self._lost})")

    def __del__(self) -> None:
        client = getattr(self, "_client", None)
        if client is not None:
            client.close()
