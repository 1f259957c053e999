"""NeMo Gym 0.5.1: a task as a resources server, and its data set.

Gym's agents (``responses_api_agents/simple_agent``) post ``/seed_session``, then ``/verify`` with the row and the
response; ``gym eval run`` also posts ``/aggregate_metrics`` (``nemo_gym/base_resources_server.py``). Needs ``fastapi``
and ``uvicorn``: ``pip install -c constraints.txt '.[serve]'``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ConfigDict

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.integrations.examples import Unpacker, chats
from grpo_env.rows.formats.nemo_gym import messages_of_items
from grpo_env.rows.formats.packed_example import COLUMN, pack
from grpo_env.rows.jsonl import dump_record
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .scoring import make_completion, refuse, score_pairs, value_or

if TYPE_CHECKING:
    from fastapi import FastAPI


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Response(_Model):
    output: list[dict[str, Any]]
    incomplete_details: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None


class VerifyRequest(_Model):
    """``BaseVerifyRequest`` of Gym, as far as it is read; the other keys are the row, which the reply repeats."""

    response: _Response


class MetricsRequest(BaseModel):
    """``AggregateMetricsRequest`` of Gym: replies of ``/verify``."""

    verify_responses: list[dict[str, Any]]


def make_app(task: Task, unscored: float | None = None) -> FastAPI:
    """The server. An unscored completion is an error 422 with its reason, unless ``unscored`` is a reward to give.

    Raises ``UsageError`` for a task with an environment, a schedule of weights or verifiers that compare completions.
    """
    from fastapi import FastAPI, HTTPException

    refuse(task, "NeMo Gym")
    unpack = Unpacker(task)
    app = FastAPI(title=task.name)

    @app.post("/seed_session")
    def seed_session() -> dict[str, Any]:
        return {}

    @app.post("/verify")
    def verify(body: VerifyRequest) -> dict[str, Any]:
        try:
            (score,) = score_pairs(task, [(_example(task, unpack, body), _completion(task, body.response))])
            reward = value_or(unscored, score, "/verify", "NeMo Gym", "make_app's unscored")
        except UsageError as error:
            raise HTTPException(422, str(error)) from error
        parts = {f"parts/{name}": score.part(name).value for name in task.spec.verifiers}
        known = {name: value for name, value in parts.items() if value is not None}
        return {**body.model_dump(exclude_unset=True), "reward": reward, **known}

    @app.post("/aggregate_metrics")
    def aggregate_metrics(body: MetricsRequest) -> dict[str, Any]:
        names = ["reward", *(f"parts/{name}" for name in task.spec.verifiers)]
        values = {name: [row[name] for row in body.verify_responses if name in row] for name in names}
        means = {f"mean/{name}": fmean(numbers) for name, numbers in values.items() if numbers}
        return {"group_level_metrics": [], "agent_metrics": means, "key_metrics": means}

    return app


def serve(app: FastAPI) -> None:
    """Serve at the address that ``gym env start`` gave to this process."""
    import uvicorn

    config = yaml.safe_load(os.environ["NEMO_GYM_CONFIG_DICT"])[os.environ["NEMO_GYM_CONFIG_PATH"]]
    (server,) = config["resources_servers"].values()
    uvicorn.run(app, host=server["host"], port=server["port"])


def rows(task: Task, split: Split) -> Iterator[dict[str, Any]]:
    """A split as Gym reads it. Raises ``UsageError`` for text prompts and for a task with an environment."""
    for example, prompt in chats(task, split, "NeMo Gym"):
        yield {"responses_create_params": {"input": prompt}, COLUMN: pack(example)}


def write(task: Task, split: Split, path: str | Path) -> None:
    """Write a split as JSON lines for the ``jsonl_fpath`` of a dataset."""
    Path(path).write_text("".join(map(dump_record, rows(task, split))), encoding="utf-8")


def _example(task: Task, unpack: Unpacker, body: VerifyRequest) -> Example:
    """The example of a row, which may also have the columns of the task's own data."""
    row = {key: value for key, value in (body.model_extra or {}).items() if key != "responses_create_params"}
    return unpack(row[COLUMN], "/verify") if COLUMN in row else task.example(row, "", "/verify")


def _completion(task: Task, response: _Response) -> Completion:
    try:
        chat = messages_of_items(response.output) or [{"role": "assistant", "content": ""}]
    except (KeyError, TypeError) as error:
        raise UsageError(f"response.output: no items of OpenAI's Responses API ({error!r})") from error
    cut = (response.incomplete_details or {}).get("reason") == "max_output_tokens"
    tokens = (response.usage or {}).get("output_tokens")
    return make_completion(task, chat, finish="length" if cut else "stop", num_tokens=tokens)
