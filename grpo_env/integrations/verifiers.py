"""verifiers 0.4.0: a task as an environment. ``Tasks`` is its taskset, ``Chat`` a harness that makes one request.

``vf-eval`` finds a taskset by the name of a module without dots:

    # my_tasks.py
    from grpo_env.integrations.verifiers import Chat, Tasks
    __all__ = ["Chat", "Tasks"]

    vf-eval my_tasks --env.taskset.file sums.yaml
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from grpo_env.core import Completion, Example
from grpo_env.formats.packed_example import Unpacker, pack
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task, load_task

from .scoring import make_completion, refuse_groups, refuse_schedules, score_pairs, value_or

__all__ = ["Chat", "Tasks"]

TIMEOUT = 3600.0  # seconds for a reply; a rollout's timeout, if set, is shorter


class TasksConfig(vf.TasksetConfig):
    """Which examples are used: ``--env.taskset.KEY`` on the command line."""

    file: str = "arithmetic"
    """A task's name or its YAML file."""
    split: Split = "train"
    """``train`` or ``eval``."""
    limit: int | None = None
    """How many examples, from the first; default: all."""


class Row(vf.TaskData):
    """An example as data of verifiers."""

    answer: str | None = None
    example: str = ""
    """The example, packed."""


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
        pair = self._unpack(self.data.example, where), _completion(self._task, trace)
        (score,) = await asyncio.to_thread(score_pairs, self._task, [pair])
        trace.info["grpo_env"] = score.to_dict()
        parts = [part for part in score.walk() if part is not score]
        trace.record_metrics({part.name: part.value for part in parts if part.value is not None})
        return value_or(None, score, where, "verifiers", "statuses in the task file")


class Tasks(vf.Taskset[Problem, TasksConfig]):
    """A task's examples.

    verifiers scores one rollout at a time and passes no training step. Raises ``UsageError`` for tasks that compare the
    completions of a group or whose weights follow a schedule.
    """

    def load(self) -> Iterable[Problem]:
        """The examples of the split."""
        task = load_task(self.config.file)
        refuse_groups(task, "verifiers")
        refuse_schedules(task, "verifiers")
        return self._problems(task, Unpacker(task))

    def _problems(self, task: Task, unpack: Unpacker) -> Iterator[Problem]:
        for example in task.examples(self.config.split, self.config.limit):
            yield Problem(_row(example), self.config.task).with_task(task, unpack)


class Chat(vf.Harness[vf.HarnessConfig]):
    """Makes one request to the model from this process. verifiers' own harnesses run agents in ``uv`` environments."""

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
        """One request to the endpoint that records the rollout."""
        prompt = data.prompt
        chat = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else map(message_to_wire, prompt or [])
        body = {"model": ctx.model, "messages": list(chat)}
        async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
            url, headers = f"{endpoint}/chat/completions", {"Authorization": f"Bearer {secret}"}
            reply = await client.post(url, json=body, headers=headers)
        return vf.ProgramResult(0 if reply.is_success else 1, "", reply.text if reply.is_error else "")


def _row(example: Example) -> Row:
    prompt: Any = example.prompt
    if not isinstance(prompt, str):
        prompt = [{"role": role, "content": content} for role, content in prompt]
    return Row(id=example.id, prompt=prompt, answer=example.answer, example=pack(example))


def _completion(task: Task, trace: vf.Trace) -> Completion:
    """The last reply as the model wrote it (``last_reply`` strips it), with the server's token count."""
    messages = trace.assistant_messages
    if not messages:
        return make_completion(task, "")
    call = trace.calls[-1] if trace.calls else None
    completion = make_completion(task, [messages[-1].model_dump()], finish=call.finish_reason if call else None)
    return replace(completion, num_tokens=call.usage.completion_tokens) if call and call.usage else completion
