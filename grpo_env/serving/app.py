"""The routes: what is asked in each, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import from_json

from grpo_env import __version__
from grpo_env.core import GroupVerifier
from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.task import Task

from .describe import describe
from .gate import Gate, Limits
from .metrics import Metrics
from .page import page
from .pool import Pool
from .rewards import get_reward
from .seat import LateError
from .shapes import (
    Health,
    Item,
    Problem,
    RewardRequest,
    RewardResponse,
    ScoreRequest,
    ScoreResponse,
    TaskCard,
)
from .work import pieces, read

MOST_KEYS = 100  # of an object whose keys are checked
PROBLEMS = 5  # of a request that are told
KEPT = 16  # tasks, each with its `unscored`, whose examples OpenRLHF's labels became
REFUSED: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "The token is missing or wrong"},
    411: {"model": Problem, "description": "The body's length is not told"},
    413: {"model": Problem, "description": "The body is too large"},
}
UNREAD: dict[int | str, dict[str, Any]] = {
    **REFUSED,
    400: {"model": Problem, "description": "The body is no JSON"},
    408: {"model": Problem, "description": "The body did not arrive in time"},
    415: {"model": Problem, "description": "The body is not called JSON"},
    422: {"model": Problem, "description": "Something in the body is wrong, and is named"},
    429: {
        "model": Problem,
        "description": "Too many requests are waiting",
        "headers": {"Retry-After": {"schema": {"type": "integer"}, "required": True, "description": "Seconds"}},
    },
    503: {"model": Problem, "description": "No process can be started to judge it"},
    504: {"model": Problem, "description": "It was not judged in time"},
}


def make_app(tasks: Mapping[str, Task], pool: Pool, limits: Limits, token: str | None) -> FastAPI:
    """The application: ``tasks`` by name, judged by ``pool``."""
    app = FastAPI(
        title="grpo_env serve",
        version=__version__,
        description="Judges completions by tasks' verifiers.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    metrics = Metrics(pool)
    app.router.route_class = _strict(limits.max_items)
    app.add_middleware(Gate, limits=limits, token=token, metrics=metrics)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UsageError, _answer(422))
    app.add_exception_handler(RunError, _answer(503))
    app.add_exception_handler(LateError, _answer(504))
    app.add_exception_handler(TimeoutError, _late(limits.deadline))
    app.add_exception_handler(500, _failed)
    cards = [_card(task) for task in tasks.values()]

    def asked(name: str | None) -> Task:
        if name is None and len(tasks) == 1:
            return next(iter(tasks.values()))
        if name is None:
            raise UsageError(f"task: several are served, name one; known: {', '.join(sorted(tasks))}")
        if name not in tasks:
            raise UsageError(f"task: {name[:100]!r} is not served; {nearest(name[:100], tasks)}")
        return tasks[name]

    @app.post("/score", response_model=ScoreResponse, responses=UNREAD)
    async def score(request: ScoreRequest) -> Response:
        """Judge completions: a verdict for each, in order."""
        task = asked(request.task)
        verdicts = await pool.judge(pieces(task.name, read(task, request.items)))
        metrics.judged(task.name, verdicts)
        # The processes that judged have written the JSON: this one has all requests to look after.
        head = JSONResponse({"task": task.name}).body[:-1]
        body = b'%b,"scores":[%b]}' % (bytes(head), b",".join(verdict.line for verdict in verdicts))
        return Response(body, media_type="application/json")

    @lru_cache(KEPT)
    def reward_func(task: str | None, unscored: float | None) -> RewardFunc:
        return RewardFunc(asked(task), unscored)

    @app.post("/get_reward", response_model=RewardResponse, responses=UNREAD)
    async def rewards(
        request: RewardRequest,
        task: Annotated[str | None, Query(description="Which of the served tasks.")] = None,
        unscored: Annotated[
            float | None, Query(allow_inf_nan=False, description="The reward of a completion that cannot be judged.")
        ] = None,
    ) -> Response:
        """Reward completions as OpenRLHF asks for it. One that cannot be judged is an error without a number for it."""
        func = reward_func(task, unscored)
        verdicts, body = await get_reward(pool, func, request)
        metrics.judged(func.task.name, verdicts)
        return Response(body, media_type="application/json")

    @app.get("/tasks", responses=REFUSED)
    async def list_tasks() -> list[TaskCard]:
        """The tasks that are served."""
        return cards

    @app.get("/healthz", responses={key: REFUSED[key] for key in (411, 413)})
    async def health() -> Health:
        """Whether the server answers. A process that is gone is replaced within a second or two."""
        return Health(status="ok", workers=pool.alive)

    @app.get("/metrics", response_class=Response, responses={**REFUSED, 200: {"content": {"text/plain": {}}}})
    async def show_metrics() -> Response:
        """What was counted, for Prometheus."""
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    describe(app, tasks, limits, token is not None)
    shown = page(app.openapi())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(shown, headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"})

    return app


def _card(task: Task) -> TaskCard:
    within = list(task.verifier.within())
    return TaskCard(
        name=task.name,
        description=task.spec.description,
        metric=task.metric,
        verifiers=list(task.spec.verifiers),
        needs_prompt=any(verifier.needs_prompt for verifier in within),
        judges_groups=any(isinstance(verifier, GroupVerifier) for verifier in within),
    )


def _strict(max_items: int) -> type[APIRoute]:
    """Routes that read JSON as its standard has it: no NaN, no lone surrogates, bounded depth and numbers."""

    class StrictRequest(Request):
        async def json(self) -> Any:
            try:
                found = from_json(await self.body(), allow_inf_nan=False)
            except ValueError as error:
                raise HTTPException(400, f"the body is not valid JSON: {error}") from error
            # Before their checking, which costs time for each item and much for each unknown key.
            lists = [value for value in found.values() if isinstance(value, list)] if isinstance(found, dict) else []
            count = max(map(len, lists), default=0)
            if count > max_items:
                raise HTTPException(422, f"{count:,} items; at most {max_items:,} are judged at once (--max-items)")
            keys = max((len(one) for one in chain([found], *lists) if isinstance(one, dict)), default=0)
            if keys > MOST_KEYS:
                raise HTTPException(422, f"an object with {keys:,} keys; other columns of a row belong into its info")
            return found

    class StrictRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def strict(request: Request) -> Response:
                return await handle(StrictRequest(request.scope, request.receive))

            return strict

    return StrictRoute


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    whole = RewardRequest if request.url.path == "/get_reward" else ScoreRequest
    told = dict.fromkeys(_problem(one, whole) for one in error.errors()[:PROBLEMS])
    return JSONResponse({"detail": "; ".join(told)}, 422)


def _problem(error: Mapping[str, Any], whole: type[BaseModel]) -> str:
    # pydantic names the branch of a union after its type ("str", "list[ChatMessage]"): that is no key of the request.
    keys = [str(key)[:100] for key in error["loc"][1:] if key != "str" and not str(key).startswith("list[")]
    where = ".".join(keys) or "the body"
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key; {nearest(keys[-1], (Item if len(keys) > 1 else whole).model_fields)}"
    return f"{where}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _answer(status: int) -> Callable[[Request, Exception], Response]:
    return lambda _, error: JSONResponse({"detail": str(error)}, status)


def _late(deadline: float) -> Callable[[Request, Exception], Response]:
    return lambda _, error: JSONResponse({"detail": f"not judged within {deadline:g} s (--deadline)"}, 504)


def _failed(_: Request, error: Exception) -> Response:
    return JSONResponse({"detail": "the server failed; its log says why"}, 500)
