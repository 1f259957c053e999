"""The process of one environment: holds the object and calls its methods. Run by ``process.py``, never imported by it.

Arguments: the class as ``registry.load_function`` takes it, the most characters of a result, and the pipe's number.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from grpo_env.environments.children import adopt_orphans, descendants, end
from grpo_env.environments.values import cut, raised_text, result_text, state_of
from grpo_env.registry import load_function
from grpo_env.workers.child_process import read_requests


class Host:
    """The object of one episode, made by ``reset``."""

    def __init__(self, use: str, max_chars: int) -> None:
        self._use, self._max_chars = use, max_chars
        self._cls: Any = None
        self._object: Any = None
        self._own: frozenset[int] = frozenset()
        self._opened: dict[str, None] | None = None

    def ready(self) -> None:
        """Nothing: the process has started."""

    def reset(self, row: dict[str, Any]) -> str | None:
        if self._cls is None:
            self._cls = load_function(self._use)
            self._own = frozenset(descendants(os.getpid()))  # started by the file's modules, for all episodes
        end(self._left())
        self._object = self._cls()
        return self._text_or_none(self._object.reset(**row), "reset")

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        value = getattr(self._object, name)(**arguments)
        return result_text(value, self._max_chars)

    def reply(self, text: str) -> str | None:
        return self._text_or_none(self._object.reply(text), "reply")

    def get_reward(self) -> float:
        value = self._object.get_reward()
        return float(value.item() if hasattr(value, "item") else value)  # of numpy and torch

    def opened(self) -> list[str]:
        """The files, besides modules, that have been opened since the first call of this."""
        if self._opened is None:
            self._opened = {}
            sys.addaudithook(self._note_open)
        return list(self._opened)

    def state(self) -> Any:
        """The object's public attributes that JSON can represent; ``None`` if they are too large together."""
        return state_of(self._object)

    def _note_open(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and self._opened is not None:
            path = os.path.abspath(arguments[0])
            if not path.startswith((sys.prefix, sys.base_prefix, "/proc/", "/dev/")) and ".py" not in path:
                self._opened[path] = None

    def _left(self) -> list[int]:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # the usual case, without a look at all processes
            return []
        return [pid for pid in descendants(os.getpid()) if pid not in self._own]

    def _text_or_none(self, value: Any, method: str) -> str | None:
        if value is not None and not isinstance(value, str):
            raise NotTextError(f"{method} returned {type(value).__name__}; it must return text or None")
        return None if value is None else cut(value, self._max_chars)


class NotTextError(Exception):
    """``reset`` or ``reply`` returned something that is not text: a mistake of the environment, whatever the text."""


def main() -> None:
    """Answer until the parent closes the pipe or ends."""
    os.setpgid(0, 0)  # what the environment starts can be ended with it
    adopt_orphans()
    sys.path.append(os.getcwd())
    host = Host(sys.argv[1], int(sys.argv[2]))
    for request, answer in read_requests(sys.argv):
        answer(_answer(getattr(host, request["do"]), request["with"]))


def _answer(method: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        reply: dict[str, Any] = {"value": method(**arguments)}
        json.dumps(reply)
    except BaseException as error:  # also SystemExit of a tool
        reply = {"raised": raised_text(error), "mistake": isinstance(error, NotTextError)}
    return reply


if __name__ == "__main__":
    main()
