"""The tokens of an episode that the model did not sample: its prompt, and what the chat template writes between turns.

A turn of the model is never decoded and rendered again. What follows it is the difference of two renders of the chat
template with a made-up turn in its place, one with and one without the messages that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grpo_env.core import Example, Format, Message
from grpo_env.environments.episode import ChatMessage, EnvironmentClass, check_template
from grpo_env.errors import UsageError
from grpo_env.taskfile.prompt import missing_prefill
from grpo_env.taskfile.task import Task

from ..engine.bundled import TASKS
from ..engine.policy import Policy

MARK = "7f3a9c51"  # in the made-up turn, to find its end; no template writes it
_QUESTION = {"role": "user", "content": "?"}


@dataclass(frozen=True)
class Conversation:
    """Renders the conversations of a task's episodes for a policy. Nothing here depends on what a model wrote."""

    policy: Policy
    format: Format

    def prompt_ids(self, example: Example, messages: Sequence[ChatMessage]) -> list[int]:
        """The prompt's messages as token ids, up to the model's first turn. Raises ``UsageError``."""
        prompt = tuple(Message(message["role"], message["content"]) for message in messages)
        return self.policy.prompt_ids(replace(example, prompt=prompt), self.format)

    def spelled(self, ids: Sequence[int]) -> str:
        """Tokens as text, special ones included."""
        tokenizer = self.policy.tokenizer
        return str(tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def between(self, example: Example, messages: Sequence[ChatMessage]) -> list[int]:
        """The tokens between a turn that ended by itself and the next: what follows the turn's end token in the
        template, ``messages`` (results of tools, or a reply), and the beginning of the next turn.

        Raises ``UsageError`` if the template cannot write that.
        """
        problem = "it writes nothing of the turn"
        for turn in _made_up_turns(messages):
            try:
                before = self._after_mark([_QUESTION, turn], example.chat_template_kwargs, more=False)
                after = self._after_mark([_QUESTION, turn, *messages], example.chat_template_kwargs, more=True)
            except Exception as error:  # a template is a program
                problem = f"{type(error).__name__}: {error}".splitlines()[0]
                continue
            if after is None or before is None:
                continue
            if not after.startswith(before.rstrip()):
                problem = "it writes the end of a turn differently when messages follow"
                continue
            if (ids := self._after_end(before, after, has_calls="tool_calls" in turn)) is not None:
                return ids
            problem = "it ends a turn without an end token of the model"
        raise UsageError(f"the chat template of {self.policy.name} cannot continue after a turn: {problem}")

    def rewritten(self, told: ChatMessage, variables: Mapping[str, Any]) -> str | None:
        """How the template changes a turn with reasoning when others follow it: the first difference.

        ``None`` if what the model reads before its third turn begins with what it has read and said before.
        """
        messages: list[ChatMessage] = [_QUESTION]
        tag, said = self.format.reasoning or "think", ""
        for number in (1, 2, 3):
            text = self._write(messages, variables, more=True)
            if not text.startswith(said):
                at = next((n for n, pair in enumerate(zip(said, text, strict=False)) if pair[0] != pair[1]), len(text))
                return f"before turn {number}, {text[at : at + 20]!r} was {said[at : at + 20]!r}"
            content = f"<{tag}>\nthought {number}\n</{tag}>\n\nsaid {number}"
            said = text + missing_prefill(text, content)
            messages.append({"role": "assistant", "content": content})
            if told["role"] == "tool":
                call = {"name": told["name"], "arguments": {}}
                messages[-1]["tool_calls"] = [{"id": told["tool_call_id"], "type": "function", "function": call}]
            messages.append(told)
        return None

    def _write(self, messages: Sequence[ChatMessage], variables: Mapping[str, Any], *, more: bool) -> str:
        template = self.policy.tokenizer.apply_chat_template
        return str(template(list(messages), add_generation_prompt=more, tokenize=False, **variables))

    def _after_mark(self, messages: Sequence[ChatMessage], variables: Mapping[str, Any], *, more: bool) -> str | None:
        """What the template writes after the made-up turn's mark, and after that the prefill of the next turn."""
        text = self._write(messages, variables, more=more)
        _, found, rest = text.partition(MARK)
        return rest + (missing_prefill(text, self.format.prefill) if more else "") if found else None

    def _after_end(self, before: str, after: str, *, has_calls: bool) -> list[int] | None:
        """The tokens after the end token of the made-up turn, which takes the place of the sampled end token.

        A template may write none after plain text; after calls, there would be what the model has written itself.
        """
        tokenizer = self.policy.tokenizer
        ends = [str(token) for token in tokenizer.convert_ids_to_tokens(self.policy.end_ids)]
        at = min((before.find(end) for end in ends if end in before), default=None)
        if at is None and has_calls:
            return None
        ids: list[int] = tokenizer(after[at:], add_special_tokens=False)["input_ids"]
        return ids if at is None else ids[1:]


def _made_up_turns(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    """Turns that the messages could follow: with all calls, with the first (some templates allow one), without."""
    calls = [
        {"id": message["tool_call_id"], "type": "function", "function": {"name": message["name"], "arguments": {}}}
        for message in messages
        if message["role"] == "tool"
    ]
    for some in (calls, calls[:1])[: len(calls)]:
        last: Any = some[-1]["function"]
        marked = {**some[-1], "function": {**last, "arguments": {"mark": MARK}}}
        yield {"role": "assistant", "content": "", "tool_calls": [*some[:-1], marked]}
    yield {"role": "assistant", "content": MARK}


def check_conversation(policy: Policy, task: Task) -> None:
    """Raises ``UsageError`` if the policy's chat template cannot hold the episodes of a task, if it has any.

    A template that rewrites the turns of the past shows the model another conversation than the one it has had, so the
    user must agree to go on with that one (``environment.history``).
    """
    spec = task.spec.environment
    if spec is None:
        return
    environment = EnvironmentClass.of_task(task)
    try:
        check_template(policy.tokenizer.chat_template, environment, policy.name)
    except UsageError as error:
        fitting = next((model for model, name in TASKS.items() if name == task.name), "Qwen/Qwen3-0.6B")
        raise UsageError(f"{error}, such as --model {fitting}") from error
    conversation = Conversation(policy, task.format)
    variables = {**task.spec.prompt.chat_template_kwargs}
    if environment.tools:
        variables["tools"] = list(environment.tools)
    try:
        answers = [_TOLD_BY_TOOL] * bool(environment.tools) + [_TOLD_BY_USER] * environment.replies
        rewritten = next(filter(None, (conversation.rewritten(told, variables) for told in answers)), None)
    except Exception as error:  # a template is a program
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UsageError(f"the chat template of {policy.name} cannot write turns with tools: {reason}") from error
    if rewritten is not None and spec.history is None:
        raise UsageError(
            f"{task.source}: the chat template of {policy.name} rewrites the turns of the past: {rewritten}. Set "
            "environment.history=append to go on with the turns as they were sampled"
        )


_TOLD_BY_TOOL = {"role": "tool", "name": "tool", "tool_call_id": "call00001", "content": "told"}
_TOLD_BY_USER = {"role": "user", "content": "told"}
