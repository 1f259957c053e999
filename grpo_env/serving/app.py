"""The HTTP application: its routes and what is around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Response
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from grpo_env import __version__
from grpo_env.errors import UsageError, nearest
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.taskfile.task import Task

from .docs_page import page
from .error_responses import COMMON_ERRORS, SCORING_ERRORS, add_error_handlers
from .metrics import Metrics
from .middleware import AdmissionMiddleware, Limits
from .openapi import complete_openapi
from .pieces import cut, read_items, response_body
from .pool import WorkerPool
from .rewards import get_reward
from .schemas import Health, RewardRequest, RewardResponse, ScoreRequest, ScoreResponse, TaskCard
from .strict_json import strict_route

MAX_REWARD_FUNCS = 16  # kept with the examples that they unpacked from labels


@dataclass(frozen=True)
class Service:
    """What the routes use: the served tasks by name, the processes that score, and the metrics."""

    tasks: Mapping[str, Task]
    pool: WorkerPool
    metrics: Metrics

    def task(self, name: str | None) -> Task:
        """The task of a request, which need not name it if only one is served. Raises ``UsageError``."""
        if name is None and len(self.tasks) == 1:
            return next(iter(self.tasks.values()))
        if name is None:
            raise UsageError(f"task: several tasks are served, name one of {', '.join(sorted(self.tasks))}")
        if name not in self.tasks:
            raise UsageError(f"task: {name[:100]!r} is not served; {nearest(name[:100], self.tasks)}")
        return self.tasks[name]


def make_app(tasks: Mapping[str, Task], pool: WorkerPool, limits: Limits, token: str | None) -> FastAPI:
    """The application that scores completions by ``tasks`` in the processes of ``pool``."""
    app = FastAPI(
        title="grpo_env serve",
        version=__version__,
        description="Scores completions with the verifiers of tasks.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    service = Service(tasks, pool, Metrics(pool))
    app.add_middleware(AdmissionMiddleware, limits=limits, token=token, metrics=service.metrics)
    add_error_handlers(app, limits.deadline)
    route_class = strict_route(limits.max_items)
    app.include_router(_score_routes(service, route_class))
    app.include_router(_reward_routes(service, route_class))
    app.include_router(_status_routes(service))
    complete_openapi(app, tasks, limits, token is not None)
    app.include_router(_docs_routes(page(app.openapi())))
    return app


def _score_routes(service: Service, route_class: type[APIRoute]) -> APIRouter:
    router = APIRouter(route_class=route_class)

    @router.post("/score", response_model=ScoreResponse, responses=SCORING_ERRORS)
    async def score(request: ScoreRequest) -> Response:
        """Score completions. The response has a score for each, in order."""
        task = service.task(request.task)
        scores = await service.pool.score(cut(task.name, read_items(task, request.items)))
        service.metrics.scored(task.name, scores)
        return Response(response_body(task.name, scores), media_type="application/json")

    return router


def _reward_routes(service: Service, route_class: type[APIRoute]) -> APIRouter:
    router = APIRouter(route_class=route_class)

    @lru_cache(MAX_REWARD_FUNCS)
    def reward_func(task: str | None, unscored: float | None) -> RewardFunc:
        return RewardFunc(service.task(task), unscored)

    @router.post("/get_reward", response_model=RewardResponse, responses=SCORING_ERRORS)
    async def rewards(
        request: RewardRequest,
        task: Annotated[str | None, Query(description="Name of a served task.")] = None,
        unscored: Annotated[
            float | None, Query(allow_inf_nan=False, description="The reward of a completion that cannot be scored.")
        ] = None,
    ) -> Response:
        """Reward completions for OpenRLHF. Without `unscored`, a completion that cannot be scored is an error."""
        func = reward_func(task, unscored)
        scores, body = await get_reward(service.pool, func, request)
        service.metrics.scored(func.task.name, scores)
        return Response(body, media_type="application/json")

    return router


def _status_routes(service: Service) -> APIRouter:
    router = APIRouter()
    cards = [_card(task) for task in service.tasks.values()]

    @router.get("/tasks", responses=COMMON_ERRORS)
    async def list_tasks() -> list[TaskCard]:
        """The served tasks."""
        return cards

    @router.get("/healthz", responses={status: COMMON_ERRORS[status] for status in (411, 413)})
    async def health() -> Health:
        """Whether the server responds. A scoring process that has ended is replaced within a second or two."""
        return Health(status="ok", workers=service.pool.alive)

    @router.get("/metrics", response_class=Response, responses={**COMMON_ERRORS, 200: {"content": {"text/plain": {}}}})
    async def show_metrics() -> Response:
        """The metrics, for Prometheus."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


def _docs_routes(html: str) -> APIRouter:
    router = APIRouter()

    @router.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(html, headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"})

    return router


def _card(task: Task) -> TaskCard:
    return TaskCard(
        name=task.name,
        description=task.spec.description,
        metric=task.metric,
        verifiers=list(task.spec.verifiers),
        needs_prompt=task.needs_prompt,
        scores_groups=task.scores_groups,
    )
