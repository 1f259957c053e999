"""Processes of environments that are kept between episodes: starting one takes longer than many calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from .episode import EnvironmentClass
from .process import EnvironmentProcess

_idle: defaultdict[tuple[object, ...], list[EnvironmentProcess]] = defaultdict(list)


def take(environment: EnvironmentClass) -> EnvironmentProcess:
    """A process for an episode, which nothing else uses until it is given back."""
    idle = _idle[_key(environment)]
    return idle.pop() if idle else environment.process()


def give_back(environment: EnvironmentClass, process: EnvironmentProcess) -> None:
    """Keep a process for another episode."""
    _idle[_key(environment)].append(process)


def close_idle() -> None:
    """End all processes that are kept, and everything that they started."""
    for processes in _idle.values():
        while processes:
            processes.pop().close()


@contextmanager
def ended_after() -> Iterator[None]:
    """``close_idle`` at the end of the block."""
    try:
        yield
    finally:
        close_idle()


def _key(environment: EnvironmentClass) -> tuple[object, ...]:
    return environment.use, environment.folder, environment.tool_timeout, environment.max_result_chars
