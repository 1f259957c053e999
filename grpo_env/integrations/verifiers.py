"""verifiers 0.4.0: a task as an environment. ``Tasks`` is its taskset, ``Chat`` a harness that makes one request, or
plays the turns of an environment.

``vf-eval`` and prime-rl find a taskset by the name of a module: ``grpo_env export env TASK --to verifiers`` makes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from grpo_env.core import Completion
from grpo_env.environments.episode import EnvironmentClass, Episode
from grpo_env.integrations.examples import Unpacker
from grpo_env.rows.formats.packed_example import pack
from grpo_env.rows.formats.verifiers import EPISODE
from grpo_env.scoring.columns import episode_of
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, load_task

from .scoring import make_completion, recorded_episode, refuse, score_pairs, value_or

__all__ = ["Chat", "Tasks"]

TIMEOUT = 3600.0  # seconds for a reply; a rollout's timeout, if set, is shorter


class TasksConfig(vf.TasksetConfig):
    """Which examples are used: ``--env.taskset.KEY`` on the command line."""

    file: str = ""
    """A task's name or its YAML file; default: the task of the module."""
    split: Split = "train"
    """``train`` or ``eval``."""
    limit: int | None = None
    """How many examples, from the first; default: all."""


class Row(vf.TaskData):
    """An example as data of verifiers."""

    answer: str | None = None
    example: str = ""
    """The example, packed."""
    environment_of: str = ""
    """The task file whose environment the harness plays."""


class Problem(vf.Task[Row]):
    """One example. ``total`` is the reward, the parts are metrics, and ``info.grpo_env`` is the complete score.

    Rewards of verifiers are numbers. An unscored completion raises, so that its rollout counts as failed; an unscored
    part has no metric.
    """

    def with_task(self, task: Task, unpack: Unpacker) -> Problem:
        """This problem, to be scored by ``task``."""
        self._task, self._unpack = task, unpack
        return self

    @vf.reward
    async def total(self, trace: vf.Trace) -> float:
        """The task's reward. Raises ``UsageError`` if there is none."""
        where = f"task {self.data.id}"
        example = self._unpack(self.data.example, where)
        completion = await asyncio.to_thread(_completion, self._task, trace)
        (score,) = await asyncio.to_thread(score_pairs, self._task, [(example, completion)])
        trace.info["grpo_env"] = score.to_dict()
        parts = [part for part in score.walk() if part is not score]
        trace.record_metrics({part.name: part.value for part in parts if part.value is not None})
        return value_or(None, score, where, "verifiers", "statuses in the task file")


class Tasks(vf.Taskset[Problem, TasksConfig]):
    """A task's examples.

    verifiers scores one rollout at a time and passes no training step. Raises ``UsageError`` for tasks that compare the
    completions of a group or whose weights follow a schedule.
    """

    default = "arithmetic"
    """The task of the module, which sets it in a subclass."""

    def load(self) -> Iterable[Problem]:
        """The examples of the split."""
        file = self.config.file or self.default
        task = load_task(file)
        refuse(task, "verifiers", ("groups", "steps"))
        return self._problems(task, file, Unpacker(task))

    def _problems(self, task: Task, file: str, unpack: Unpacker) -> Iterator[Problem]:
        for example in task.examples(self.config.split, self.config.limit):
            prompt = example.prompt
            row = Row(
                id=example.id,
                prompt=prompt if isinstance(prompt, str) else [message._asdict() for message in prompt],
                answer=example.answer,
                example=pack(example),
                environment_of=file if task.spec.environment else "",
            )
            yield Problem(row, self.config.task).with_task(task, unpack)


class Chat(vf.Harness[vf.HarnessConfig]):
    """Makes one request to the model from this process. verifiers' own harnesses run agents in ``uv`` environments.

    For a task with an environment it makes one for each turn, and calls the environment's tools in a process of its
    own; ``info.grpo_env_episode`` of the trace has the turns with their states.
    """

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """The requests to the endpoint that records the rollout."""
        if environment_of := getattr(data, "environment_of", ""):
            example = getattr(data, "example", "")
            return await _play(environment_of, example, trace, _Endpoint(endpoint, secret, ctx.model))
        prompt = data.prompt
        chat = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else map(message_to_wire, prompt or [])
        reply = await _Endpoint(endpoint, secret, ctx.model).ask(list(chat))
        return vf.ProgramResult(0 if reply.is_success else 1, "", reply.text if reply.is_error else "")


class _Endpoint(NamedTuple):
    url: str
    secret: str
    model: str

    async def ask(self, messages: list[Any], tools: Sequence[Any] = ()) -> httpx.Response:
        body = {"model": self.model, "messages": messages, **({"tools": list(tools)} if tools else {})}
        async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
            headers = {"Authorization": f"Bearer {self.secret}"}
            return await client.post(f"{self.url}/chat/completions", json=body, headers=headers)


async def _play(file: str, packed: str, trace: vf.Trace, endpoint: _Endpoint) -> vf.ProgramResult:
    """Play the environment of a task: a request for each turn, and the results of its calls before the next."""
    task = _load(file)
    environment = await asyncio.to_thread(EnvironmentClass.of_task, task)
    failed = ""
    with environment.process() as process:
        episode = Episode(environment, process, Unpacker(task)(packed, file), prefill=task.format.prefill)
        messages: list[Any] = await asyncio.to_thread(episode.begin)
        while not episode.ended:
            reply = await endpoint.ask(messages, environment.tools)
            if reply.is_error:  # such as a limit of turns or tokens
                failed = reply.text
                await asyncio.to_thread(episode.end, "turns")
                break
            choice = reply.json()["choices"][0]
            messages += await asyncio.to_thread(_advance, episode, choice, task)
        completion = episode.completion()
    trace.info[EPISODE] = {**recorded_episode(completion), "finish_reason": completion.finish}
    return vf.ProgramResult(1 if failed else 0, "", failed)


def _advance(episode: Episode, choice: Mapping[str, Any], task: Task) -> list[Any]:
    """The messages of a turn and what follows it, with the ids that the server gave to the calls."""
    message = choice["message"]
    completion = make_completion(task, [message], finish=choice.get("finish_reason"))
    calls = message.get("tool_calls") or []
    episode.parser = (lambda text: message) if calls else None
    told = episode.advance(completion.text, completion.finish if completion.finish == "length" else "stop")
    if calls:  # of more than there may be, the rest has no result
        told = [{**other, "tool_call_id": call["id"]} for other, call in zip(told, calls, strict=False)]
    return [message, *told]


@cache
def _load(file: str) -> Task:
    return load_task(file)


def _completion(task: Task, trace: vf.Trace) -> Completion:
    """The last reply as the model wrote it (``last_reply`` strips it), or the episode; with the tokens' count."""
    if recorded := trace.info.get(EPISODE):
        turns, record = episode_of(recorded, recorded["text"])
        usages = [call.usage for call in trace.calls if not call.error]
        tokens = sum(usage.completion_tokens for usage in usages if usage) if usages and all(usages) else None
        completion = make_completion(task, recorded["text"])
        more = {"finish": recorded["finish_reason"], "num_tokens": tokens, "turns": turns, "environment": record}
        return replace(completion, **more)
    messages = trace.assistant_messages
    if not messages:
        return make_completion(task, "")
    call = trace.calls[-1] if trace.calls else None
    tokens = call.usage.completion_tokens if call and call.usage else None
    finish = call.finish_reason if call else None
    return make_completion(task, [messages[-1].model_dump()], finish=finish, num_tokens=tokens)
