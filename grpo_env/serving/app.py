"""The HTTP application: its routes and what is around them."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from grpo_env import __version__
from grpo_env.core import Score
from grpo_env.errors import UsageError, nearest
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.scoring.row_reader import InputRow
from grpo_env.taskfile.task import Task

from .error_responses import ERRORS, add_error_handlers
from .local_server import is_loopback
from .pieces import read_items, response_body
from .schemas import Health, RewardRequest, RewardResponse, ScoreRequest, ScoreResponse
from .worker_pool import WorkerPool

MAX_REWARD_FUNCS = 16  # kept with the examples that they unpacked from labels

_BEARER = HTTPBearer(auto_error=False)


def make_app(tasks: Mapping[str, Task], pool: WorkerPool, token: str | None = None) -> FastAPI:
    """The application that scores completions by ``tasks`` in the processes of ``pool``, for those with the token."""
    app = FastAPI(
        title="grpo_env serve",
        version=__version__,
        description="Scores completions with the verifiers of tasks.",
        redoc_url=None,
        redirect_slashes=False,
    )
    if token is None:  # on a loopback address
        app.add_middleware(OwnHost)
    add_error_handlers(app, pool.deadline)
    checked = [] if token is None else [Depends(_token_check(token))]
    app.include_router(_routes(tasks, pool), dependencies=checked)

    @app.get("/healthz")
    async def health() -> Health:
        """Whether the server responds. A scoring process that has ended is replaced when it is needed."""
        return Health(status="ok", workers=pool.alive, restarts=pool.restarts)

    return app


class OwnHost:
    """Answers only requests for this machine: a name that a web page made point here is not the machine's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        host = re.sub(r":\d*$", "", Headers(scope=scope).get("host", ""))
        detail = (
            f"Host: {host[:100]!r} is not this machine; ask for localhost or 127.0.0.1, "
            "or start the server with a token and --host"
        )
        await (self._app if is_loopback(host) else JSONResponse({"detail": detail}, 400))(scope, receive, send)


def _token_check(token: str) -> Callable[..., None]:
    def check_token(given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> None:
        if given is None or not hmac.compare_digest(given.credentials.encode(), token.encode()):
            detail = "the token is missing or wrong; send Authorization: Bearer TOKEN"
            raise HTTPException(401, detail, {"WWW-Authenticate": "Bearer"})

    return check_token


def _routes(tasks: Mapping[str, Task], pool: WorkerPool) -> APIRouter:
    router = APIRouter()

    @router.post("/score", response_model=ScoreResponse, responses=ERRORS)
    async def score(request: ScoreRequest) -> Response:
        """Score completions. The response has a score for each, in order."""
        task = _task(tasks, request.task)
        scores = await pool.score(task.name, read_items(task, request.items))
        return Response(response_body(task.name, scores), media_type="application/json")

    @lru_cache(MAX_REWARD_FUNCS)
    def reward_func(task: str | None, unscored: float | None) -> RewardFunc:
        return RewardFunc(_task(tasks, task), unscored)

    @router.post("/get_reward", response_model=RewardResponse, responses=ERRORS)
    async def rewards(
        request: RewardRequest,
        task: Annotated[str | None, Query(description="Name of a served task.")] = None,
        unscored: Annotated[
            float | None, Query(allow_inf_nan=False, description="The reward of a completion that cannot be scored.")
        ] = None,
    ) -> Response:
        """Reward completions for OpenRLHF. Without `unscored`, a completion that cannot be scored is an error."""
        func = reward_func(task, unscored)
        # In a thread: the task's templates are rendered for each example.
        pairs = await asyncio.to_thread(func.read, request.query, request.prompts, request.labels)
        rows = [InputRow(place, str(place), None, example, (text,)) for place, (example, text) in enumerate(pairs)]
        scores = await pool.score(func.task.name, rows)
        # NaN in the logs stays NaN, which is not JSON; but OpenRLHF's reader accepts it, and does not accept null.
        body = json.dumps(func.reply([_decoded(score, func.task) for score in scores]))
        return Response(body, media_type="application/json")

    return router


def _task(tasks: Mapping[str, Task], name: str | None) -> Task:
    """The task of a request, which need not name it if only one is served. Raises ``UsageError``."""
    if name is None and len(tasks) == 1:
        return next(iter(tasks.values()))
    if name is None:
        raise UsageError(f"task: several tasks are served, name one of {', '.join(sorted(tasks))}")
    if name not in tasks:
        raise UsageError(f"task: {name[:100]!r} is not served; {nearest(name[:100], tasks)}")
    return tasks[name]


def _decoded(score: str, task: Task) -> Score:
    data = json.loads(score)
    del data["id"]
    return task.with_parts(Score.from_dict(data))
