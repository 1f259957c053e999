"""The routes: what is asked in each, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated

from fastapi import FastAPI, Query, Response
from fastapi.responses import HTMLResponse, JSONResponse

from grpo_env import __version__
from grpo_env.errors import UsageError, nearest
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.taskfile.task import Task

from .describe import describe
from .metrics import Metrics
from .middleware import Gate, Limits
from .page import page
from .pool import WorkerPool
from .problems import REFUSED, UNREAD, answer_problems
from .rewards import get_reward
from .schemas import Health, RewardRequest, RewardResponse, ScoreRequest, ScoreResponse, TaskCard
from .strict import strict_route
from .work import pieces, read

KEPT = 16  # tasks, each with its `unscored`, whose examples OpenRLHF's labels became


def make_app(tasks: Mapping[str, Task], pool: WorkerPool, limits: Limits, token: str | None) -> FastAPI:
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
    app.router.route_class = strict_route(limits.max_items)
    app.add_middleware(Gate, limits=limits, token=token, metrics=metrics)
    answer_problems(app, limits.deadline)
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
    return TaskCard(
        name=task.name,
        description=task.spec.description,
        metric=task.metric,
        verifiers=list(task.spec.verifiers),
        needs_prompt=task.needs_prompt,
        scores_groups=task.scores_groups,
    )
