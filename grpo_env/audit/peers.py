"""Rewards that are no functions: those of a package of verifiers 0.4, and those of a server of NeMo Gym 0.7."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_env.core import Completion, Example, Score, Verifier
from grpo_env.errors import UsageError

from .foreign import Foreign

if TYPE_CHECKING:
    import httpx2

HERE = __name__


def taskset(package: str, folder: Path, limit: int) -> Foreign:
    """The rewards of a taskset that is installed, on its first tasks, which are written to ``folder``.

    Raises ``UsageError`` if there is none, or if a reward needs a runtime, which one reply does not have.
    """
    tasks = _tasks(package, limit)
    for reward in tasks[0].hooks("reward") if tasks else ():
        parameter = inspect.signature(reward).parameters.get("runtime")
        if parameter is not None and parameter.default is parameter.empty:
            name = reward.__name__
            raise UsageError(f"{package}: its reward {name!r} needs a runtime of verifiers; a text alone has none")
    data = folder / "tasks.jsonl"
    rows = (task.data.model_dump(mode="json", exclude_none=True) for task in tasks)
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Foreign(package, {"taskset": {"use": f"{HERE}:TasksetReward", "package": package, "limit": limit}}, data)


def server(url: str, data: Path) -> Foreign:
    """The reward of a resources server, on rows as ``ng_collect_rollouts`` reads them."""
    asked = "responses_create_params.input"
    prompt = f"{{{{ {asked} if {asked} is string else {asked}[-1].content }}}}"
    return Foreign(url, {"verify": {"use": f"{HERE}:ServerReward", "url": url}}, data, prompt)


@dataclass(frozen=True)
class TasksetReward(Verifier):
    """What a task of verifiers pays for one reply. The tasks are loaded when it is made, which no deadline counts."""

    package: str
    """As ``vf-eval`` names it."""
    limit: int
    """The tasks that are loaded."""

    def __post_init__(self) -> None:
        _tasks(self.package, self.limit)

    def __reduce__(self) -> tuple[Any, ...]:
        return TasksetReward, (self.package, self.limit)

    def __call__(self, example: Example, completion: Completion) -> Score:
        task = _tasks(self.package, self.limit)[example.info["idx"]]
        trace = _trace(task, completion)
        asyncio.run(task.score(trace))
        each = (f"{name} {reward.value:.3g}" for name, reward in trace.rewards.items() if reward is not None)
        return Score(float(trace.reward), explanation=", ".join(each))


@lru_cache(maxsize=4)
def _tasks(package: str, limit: int) -> Sequence[Any]:
    """The first tasks. Raises ``UsageError``."""
    try:
        from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

        return tuple(load_taskset(taskset_config_type(package)(id=package)).take(limit))
    except Exception as error:
        raise UsageError(
            f"--verifiers {package}: cannot be loaded ({type(error).__name__}: {error}); expected a package of "
            "verifiers 0.4 in this environment that exports a Taskset"
        ) from error


def _trace(task: Any, completion: Completion) -> Any:
    """A rollout of one reply, as ``verifiers.v1.rollout`` begins one and its client records it."""
    import verifiers.v1 as vf
    from verifiers.v1.state import state_cls

    prompt = task.data.prompt or ""
    asked = [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt
    asked = [vf.SystemMessage(content=task.data.system_prompt), *asked] if task.data.system_prompt else asked
    messages = [*asked, vf.AssistantMessage(content=completion.text)]
    finish = "length" if completion.finish == "length" else "stop"
    return vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
        state=state_cls(type(task))(),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[
            vf.MessageNode(message=message, parent=place - 1 if place else None, sampled=place == len(asked))
            for place, message in enumerate(messages)
        ],
        calls=[vf.ModelCall(node=len(asked), finish_reason=finish)],
        is_completed=True,
        ok=True,
    )


@dataclass(frozen=True)
class ServerReward(Verifier):
    """What a server pays for one reply: ``/seed_session`` and ``/verify``, as Gym's ``simple_agent`` asks."""

    url: str
    """Its address."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        row, client = dict(example.info), _client(self.url)
        client.cookies.clear()  # which name the session
        for path, body in (("/seed_session", row), ("/verify", {**row, "response": _response(completion)})):
            reply = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
            if reply.is_error:
                return Score(None, "error", explanation=f"{path} answers {reply.status_code}: {reply.text:.200}")
        return Score(float(reply.json()["reward"]))


@lru_cache(maxsize=1)
def _client(url: str) -> httpx2.Client:
    import httpx2

    return httpx2.Client(base_url=url, timeout=None)


def _response(completion: Completion) -> dict[str, Any]:
    """A response of OpenAI's Responses API with one message."""
    text = completion.text.encode("utf-8", "replace").decode("utf-8")  # JSON of others has no lone surrogates
    part = {"type": "output_text", "text": text, "annotations": []}
    is_cut = completion.finish == "length"
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    return {
        "id": "resp_1", "object": "response", "created_at": 0.0, "model": "audit",
        "tools": [], "tool_choice": "auto", "parallel_tool_calls": False,
        "output": [{**message, "status": "incomplete" if is_cut else "completed"}],
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
    }  # fmt: skip
