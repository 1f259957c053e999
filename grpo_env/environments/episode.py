"""One episode as a state machine: it is given the text of each turn, and says what the model is told next.

It knows nothing of the engine that samples, and nothing of tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grpo_env.core import Call, CallProblem, Completion, EnvironmentRecord, Example, Finish, Message, Result, Turn
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.task import Task
from grpo_env.workers.killable_worker import LateError

from .calls import ResponseParser, WrittenCall, parse_calls, spoken
from .load import load_environment
from .process import EnvironmentFailedError, EnvironmentProcess, ToolRaisedError
from .tools import tool_schemas, wrong_arguments

ChatMessage = dict[str, Any]
"""A message as chat templates take it: ``role``, ``content``, and for a tool ``name`` and ``tool_call_id``."""


@dataclass(frozen=True)
class EnvironmentClass:
    """A task's environment: its class, checked, and the descriptions of its tools. Picklable."""

    use: str
    folder: Path
    max_turns: int
    tool_timeout: float
    max_result_chars: int
    reasoning: str | None
    tools: tuple[dict[str, Any], ...]
    """JSON schemas, for ``apply_chat_template(messages, tools=list(tools))``."""
    replies: bool
    """Whether it answers turns without calls, by ``reply``."""
    rewards: bool
    """Whether it has a reward of its own, ``get_reward``."""

    @classmethod
    def of_task(cls, task: Task) -> EnvironmentClass:
        """The environment of a task. Raises ``UsageError`` if it has none, or one that cannot work."""
        spec = task.spec.environment
        if spec is None:
            raise UsageError(f"{task.source}: the task has no environment; name its class in environment.use")
        where = f"{task.source}: environment.use"
        if isinstance(task.spec.prompt.text, str):
            raise UsageError(f"{task.source}: environment: turns need a chat; give prompt.user instead of prompt.text")
        user_class = load_environment(spec.use, task.folder, where)
        return cls(
            use=spec.use,
            folder=task.folder,
            max_turns=spec.max_turns,
            tool_timeout=spec.tool_timeout,
            max_result_chars=spec.max_result_chars,
            reasoning=task.format.reasoning,
            tools=tuple(tool_schemas(user_class, f"{where} {spec.use!r}")),
            replies=callable(getattr(user_class, "reply", None)),
            rewards=callable(getattr(user_class, "get_reward", None)),
        )

    def check_columns(self, examples: Sequence[Example]) -> None:
        """Raise ``UsageError`` if ``reset`` cannot take the columns of an example."""
        user_class = load_environment(self.use, self.folder, "environment.use")
        reset = inspect.signature(user_class.reset)
        for columns in {tuple(example.info) for example in examples}:
            try:
                reset.bind(None, **dict.fromkeys(columns))
            except TypeError as error:
                raise UsageError(
                    f"environment.use {self.use!r}: reset of {user_class.__name__} cannot take a row ({error}); its "
                    f"columns are {', '.join(columns)}. End its arguments with **row, and name only columns that all "
                    "rows have"
                ) from error

    def process(self) -> EnvironmentProcess:
        """A process for one episode after another; it starts when it is first used. Close it."""
        return EnvironmentProcess(self.use, self.folder, self.tool_timeout, self.max_result_chars)


@dataclass
class Episode:
    """``begin``, then ``advance`` with the text of each turn until ``ended``; then ``completion``.

    ``parser`` is the tokenizer's own parser of replies, if it has one (``calls.response_parser``). ``plain`` is applied
    to all that the environment says (see ``control_tokens``). ``prefill`` begins each turn of the model, and is no part
    of its text. Nothing that a model writes raises. If the environment
    fails the episode ends, and its completion is unscored.
    """

    environment: EnvironmentClass
    process: EnvironmentProcess
    example: Example
    parser: ResponseParser | None = None
    plain: Callable[[str], str] = str
    prefill: str = ""
    ended: bool = field(default=False, init=False)
    finish: Finish = field(default="unknown", init=False)
    turns: list[Turn] = field(default_factory=list, init=False)
    _record: EnvironmentRecord = field(default=EnvironmentRecord(), init=False)
    _calls: int = field(default=0, init=False)

    def begin(self) -> list[ChatMessage]:
        """Reset the environment; returns the prompt's messages, with what ``reset`` adds to the last one of the user.

        Check ``ended`` before sampling: the environment may have failed.
        """
        prompt = self.example.prompt if isinstance(self.example.prompt, tuple) else ()
        try:
            self._note(told=self.plain(self.process.reset(self.example.info) or ""))
            self._note(state=self.process.state())
        except EnvironmentFailedError as error:
            self.fail(str(error))
        return [message._asdict() for message in self._record.add_to(prompt)]

    def advance(self, text: str, finish: Finish = "stop", raw: str | None = None) -> list[ChatMessage]:
        """Take a turn: run its calls or ask the partner. Returns the messages that follow it, if it is not the last.

        A text that was cut off (``length``) ends the episode, and its calls are not run. ``raw`` is the text with its
        special tokens, where calls are looked for: in some templates such a token begins a call.
        """
        if self.ended:
            raise ValueError("the episode has ended")
        start = self.turns[-1].end if self.turns else 0
        turn = Turn(text, finish=finish, start=start, end=start + len(text))
        if finish == "length":
            self._take(turn)
            self.end("length")
            return []
        of, spelled = self.environment, text if raw is None else raw
        written = parse_calls(spelled, of.reasoning, self.parser, self.prefill, of.tools) if of.tools else []
        try:
            return self._run_calls(turn, written) if written else self._ask_partner(turn)
        except EnvironmentFailedError as error:
            self.turns.append(turn)
            self.fail(str(error))
            return []

    def fail(self, reason: str) -> None:
        """End it for a reason that is not the model's, so that it is unscored."""
        self.ended = True
        self._note(failure=reason[:1000])

    def end(self, finish: Finish) -> None:
        """End it as it is: ``length`` if no token is left for another turn, ``turns`` if none is granted.

        Nothing happens if it has ended.
        """
        if self.ended:
            return
        self.ended, self.finish = True, finish
        try:
            self._note(reward=self.process.get_reward() if self.environment.rewards else None)
        except EnvironmentFailedError as error:
            self.fail(str(error))

    def completion(self, *, num_tokens: int | None = None, token_ids: tuple[int, ...] | None = None) -> Completion:
        """What verifiers score. ``token_ids`` are the sampled tokens of all turns, in order."""
        return Completion(
            text="".join(turn.text for turn in self.turns),
            finish=self.finish,
            num_tokens=num_tokens,
            prefill=self.prefill,
            token_ids=token_ids,
            turns=tuple(self.turns),
            environment=self._record,
        )

    def _note(self, **fields: Any) -> None:
        self._record = self._record._replace(**fields)

    def _run_calls(self, turn: Turn, written: Sequence[WrittenCall]) -> list[ChatMessage]:
        calls, results = [], []
        for call in written:
            self._calls += 1
            id = f"call{self._calls:05}"  # nine letters and digits, which Mistral's templates insist on
            calls.append(Call(id, call.name, dict(call.arguments)))
            answer, problem = self._answer(call)
            results.append(Result(id, self.plain(answer), problem))
            if results[-1].problem == "late":
                break
        self._take(replace(turn, calls=tuple(calls), results=tuple(results)), late=results[-1].problem == "late")
        if self._is_over():
            return []
        return [
            {"role": "tool", "name": self.plain(call.name), "tool_call_id": call.id, "content": result.text}
            for call, result in zip(calls, results, strict=True)
        ]

    def _answer(self, call: WrittenCall) -> tuple[str, CallProblem]:
        """The result of a call, and what was wrong with it."""
        names = [schema["function"]["name"] for schema in self.environment.tools]
        if call.problem:
            return f"Error: {call.problem}", "unreadable"
        if call.name not in names:
            return f"Error: there is no tool {call.name!r}; {nearest(call.name, names)}", "unknown_tool"
        if problem := wrong_arguments(self.environment.tools, call.name, call.arguments):
            return f"Error: {problem}", "wrong_arguments"
        try:
            return self.process.call(call.name, call.arguments), ""
        except ToolRaisedError as error:
            return f"Error: {error}", "raised"
        except LateError:
            return f"Error: {call.name} did not end within {self.environment.tool_timeout:g} s", "late"

    def _ask_partner(self, turn: Turn) -> list[ChatMessage]:
        reply: str | None = None
        late = False
        if self.environment.replies:
            try:
                reply = self.process.reply(spoken(turn.text, self.environment.reasoning, self.prefill).strip())
            except ToolRaisedError as error:  # of what the model said: no number, say
                reply = f"Error: {error}"
            except LateError:
                late = True
        reply = None if reply is None else self.plain(reply)
        self._take(replace(turn, reply=reply), late)
        if reply is None:
            self.end("stop")
            return []
        return [] if self._is_over() else [Message("user", reply)._asdict()]

    def _take(self, turn: Turn, late: bool = False) -> None:
        """Add a turn with the state after it. A late call leaves no environment to ask for its state or reward."""
        if late:
            self.ended, self.finish = True, "stop"
            self._note(late=True)
            state = self.turns[-1].state if self.turns else self._record.state
        else:
            try:
                state = self.process.state()
            except EnvironmentFailedError as error:
                self.fail(str(error))
                state = None
        self.turns.append(replace(turn, state=state))

    def _is_over(self) -> bool:
        if len(self.turns) >= self.environment.max_turns:
            self.end("turns")
        return self.ended


def check_template(template: str | None, environment: EnvironmentClass, model: str) -> None:
    """Raise ``UsageError`` if a chat template cannot tell a model of the environment's tools, or their results."""
    if template is None:
        raise UsageError(f"{model} has no chat template, which an environment of several turns needs")
    if environment.tools and "tools" not in template:
        raise UsageError(
            f"the chat template of {model} does not mention tools; choose a model that was trained for them (--model)"
        )


def messages_of(turns: Sequence[Turn]) -> list[ChatMessage]:
    """The conversation that turns make, as OpenAI and chat templates have it: each with its results or reply after it.

    For a viewer, a file, or a history that is rendered again; the tokens of a turn are never made from it.
    """
    messages: list[ChatMessage] = []
    for turn in turns:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in turn.calls
        ]
        messages.append({"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})})
        names: Mapping[str, str] = {call.id: call.name for call in turn.calls}
        messages += [
            {"role": "tool", "name": names.get(result.id, ""), "tool_call_id": result.id, "content": result.text}
            for result in turn.results
        ]
        if turn.reply is not None:
            messages.append(Message("user", turn.reply)._asdict())
    return messages
