"""Plays episodes without a model: turns from a function, and the gold path of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.registry import load_named
from grpo_env.taskfile.task import Task

from .calls import call_text
from .episode import ChatMessage, EnvironmentClass, Episode
from .process import EnvironmentProcess

CHARACTERS_PER_TOKEN = 4  # an estimate, so that verifiers of length have token counts

Agent = Callable[[Sequence[ChatMessage]], str]
"""Writes the next turn; it is called with the messages that it has not seen."""


def play(environment: EnvironmentClass, process: EnvironmentProcess, example: Example, agent: Agent) -> Completion:
    """The episode in which ``agent`` takes the turns."""
    episode = Episode(environment, process, example)
    messages = episode.begin()
    while not episode.ended:
        messages = episode.advance(agent(messages))
    return episode.completion(num_tokens=sum(len(turn.text) for turn in episode.turns) // CHARACTERS_PER_TOKEN + 1)


def from_list(turns: Sequence[str]) -> Agent:
    """An agent that takes these turns, and then says nothing."""
    rest = iter(turns)
    return lambda messages: next(rest, "")


def load_gold(task: Task) -> Callable[[Example], list[str]] | None:
    """``environment.gold``: from an example to the texts of the turns that solve it; ``None`` if the task has none.

    Raises ``UsageError`` for a function that cannot be loaded, and when it raises or returns something else.
    """
    spec = task.spec.environment
    if spec is None or spec.gold is None:
        return None
    key = f"{task.source}: environment.gold"
    function, where = load_named(spec.gold, task.folder, key), f"{key} {spec.gold!r}"

    def gold(example: Example) -> list[str]:
        try:
            turns = list(function(dict(example.info)))
        except Exception as error:  # of the user's code
            raise UsageError(f"{where}: {example.name}: {type(error).__name__}: {error}") from error
        try:
            return [turn if isinstance(turn, str) else "".join(call_text(**call) for call in turn) for turn in turns]
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{where} must return a list of turns, each a text or a list of calls "
                '{"name": ..., "arguments": {...}}'
            ) from error

    return gold
