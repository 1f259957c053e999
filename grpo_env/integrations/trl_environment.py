"""TRL 1.16: a task's environment as ``environment_factory`` of ``GRPOTrainer``, which records the episodes it plays.

TRL calls the tools itself, in the trainer's process and without deadlines, and passes conversations and environments to
the reward functions. States and failures are only known to the environment, so it keeps a log of its calls.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

from grpo_env.core import CallProblem, Completion, EnvironmentRecord, Result, Turn
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.environments.load import load_environment, tools_of
from grpo_env.environments.tools import wrong_arguments
from grpo_env.environments.values import cut, raised_text, result_text, state_of
from grpo_env.errors import UsageError
from grpo_env.rows.formats.packed_example import COLUMN, unpack
from grpo_env.taskfile.task import Task

from .scoring import make_completion


class _Logged(NamedTuple):
    problem: CallProblem
    state: Any


def environment_factory(task: Task) -> type[Any]:
    """The class for ``GRPOTrainer(environment_factory=...)``, with the tools of the task's environment.

    Each ``reset`` makes a fresh object of the task's class and resets it to the example's row. The class has no
    ``get_reward``, which TRL would add to the task's reward: use the verifier ``environment_reward``. Raises
    ``UsageError`` if the task has no environment, or one that replies, which TRL cannot play.
    """
    environment = EnvironmentClass.of_task(task)
    if environment.replies:
        raise UsageError(f"{task.source}: environment: TRL has only tools, and this environment has a method reply")
    user_class = load_environment(environment.use, environment.folder, task.source)
    tools = {name: _tool(user_class, name) for name in tools_of(user_class)}
    return type(
        user_class.__name__, (RecordedEnvironment,), {"_class": user_class, "_environment": environment, **tools}
    )


class RecordedEnvironment:
    """An environment with a log of its calls. TRL makes few objects, and resets each many times."""

    _class: type[Any]
    _environment: EnvironmentClass

    def __init__(self) -> None:
        self._object: Any = None
        self._calls: list[_Logged] = []
        self._record = EnvironmentRecord()

    def reset(self, **row: Any) -> str | None:
        """Begin an episode; returns what the environment adds to the question."""
        if COLUMN in row:
            _, row = unpack(row[COLUMN], "environment_factory")
        self._calls, self._record = [], EnvironmentRecord()
        try:
            self._object = self._class()
            added = self._object.reset(**row)
            told = "" if added is None else cut(str(added), self._environment.max_result_chars)
            self._record = EnvironmentRecord(state_of(self._object), told=told)
        except Exception as error:  # of the user's class: the episode goes on, and is unscored
            self._record = EnvironmentRecord(failure=f"reset raised {raised_text(error)}")
            return None
        return None if added is None else told

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        problem: CallProblem = "raised"
        try:
            if why := wrong_arguments(self._environment.tools, name, arguments):
                problem = "wrong_arguments"
                raise UsageError(why)  # TRL tells the model
            text = result_text(getattr(self._object, name)(**arguments), self._environment.max_result_chars)
            problem = ""
        finally:
            self._calls.append(_Logged(problem, state_of(self._object)))
        return text

    def _completion(self, task: Task, chat: Any) -> Completion:
        """The episode that a conversation recorded, with the states and problems of the log."""
        self._ask_reward()
        completion = make_completion(task, chat, tools=self._environment.tools)
        text = completion.text
        turns = completion.turns or (Turn(text, finish=completion.finish, end=len(text)),)
        return replace(completion, turns=tuple(self._with_log(turns, _passed_on(chat))), environment=self._record)

    def _ask_reward(self) -> None:
        if self._record.reward is not None or self._record.failure or not self._environment.rewards:
            return
        try:
            self._record = self._record._replace(reward=float(self._object.get_reward()))
        except Exception as error:  # of the user's class
            self._record = self._record._replace(failure=f"get_reward raised {raised_text(error)}")

    def _with_log(self, turns: Sequence[Turn], passed_on: Iterator[bool]) -> list[Turn]:
        """TRL runs the calls of known tools in order, so that the n-th that it passed on is the n-th of the log."""
        names = {tool["function"]["name"] for tool in self._environment.tools}
        log, state, result = iter(self._calls), self._record.state, []
        for turn in turns:
            results: list[Result] = []
            for call, told in zip(turn.calls, turn.results, strict=True):
                passed = next(passed_on, True)
                logged = next(log, None) if call.name in names and passed else None
                state = logged.state if logged else state
                problem = logged.problem if logged else told.problem or ("" if passed else "wrong_arguments")
                results.append(told._replace(problem=problem))
            result.append(replace(turn, results=tuple(results), state=state))
        return result


def completion_of(task: Task, environment: Any, chat: Any) -> Completion:
    """The episode of a rollout. Raises ``UsageError`` for an environment that ``environment_factory`` did not make."""
    if not isinstance(environment, RecordedEnvironment):
        raise UsageError(
            f"task {task.name}: pass environment_factory=grpo_env.integrations.trl.environment_factory(task) to the "
            "trainer: other environments do not record what the task's verifiers need"
        )
    return environment._completion(task, chat)


def _passed_on(chat: Sequence[Mapping[str, Any]]) -> Iterator[bool]:
    """Whether TRL passed on each call: it fails for arguments that are a text, before it calls the tool."""
    for message in chat:
        for call in message.get("tool_calls") or ():
            yield isinstance(call["function"]["arguments"], Mapping)


def _tool(cls: type[Any], name: str) -> Callable[..., str]:
    """A method of ``RecordedEnvironment`` that is described as that of ``cls``, which may be static."""
    method = getattr(cls, name)

    @wraps(method)
    def tool(self: RecordedEnvironment, /, **arguments: Any) -> str:
        return self._call(name, arguments)

    if isinstance(inspect.getattr_static(cls, name), staticmethod | classmethod):
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        tool.__signature__ = inspect.Signature([own, *inspect.signature(method).parameters.values()])  # type: ignore[attr-defined]
    return tool
