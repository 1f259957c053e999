"""Error responses: the statuses in the OpenAPI description, and how exceptions become them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from grpo_env.errors import RunError, UsageError, nearest

from .schemas import ErrorResponse, Item, RewardRequest, ScoreRequest

MAX_REPORTED = 5  # errors of one request
ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorResponse, "description": "The token is missing or wrong"},
    400: {"model": ErrorResponse, "description": "The body cannot be read"},
    422: {"model": ErrorResponse, "description": "Something in the body is wrong; the error names it"},
    503: {"model": ErrorResponse, "description": "No scoring process can be started"},
    504: {"model": ErrorResponse, "description": "The items were not scored in time"},
}


def add_error_handlers(app: FastAPI, deadline: float) -> None:
    """Answer exceptions with ``{"detail": "..."}``."""
    late = f"not scored within {deadline:g} s (--deadline); send it again, with fewer items, or start more --workers"
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unreadable)
    app.add_exception_handler(UsageError, _responding(422))
    app.add_exception_handler(RunError, _responding(503))
    app.add_exception_handler(TimeoutError, _responding(504, late))
    app.add_exception_handler(500, _responding(500, "the server failed; see its log"))


def _responding(status: int, detail: str | None = None) -> Callable[[Request, Exception], Response]:
    return lambda _, error: JSONResponse({"detail": str(error) if detail is None else detail}, status)


async def _unreadable(request: Request, error: Exception) -> Response:
    """FastAPI's answer, with the reason if it could not read a body."""
    assert isinstance(error, HTTPException)
    if error.__cause__ is not None:
        error.detail = f"the body cannot be read; send JSON in UTF-8, without compression ({error.__cause__})"
    return await http_exception_handler(request, error)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if isinstance(error.body, bytes):
        return JSONResponse({"detail": "the body: send JSON, with the header Content-Type: application/json"}, 422)
    body = RewardRequest if request.url.path == "/get_reward" else ScoreRequest
    details = dict.fromkeys(_detail(problem, body) for problem in error.errors()[:MAX_REPORTED])
    return JSONResponse({"detail": "; ".join(details)}, 422)


def _detail(problem: Mapping[str, Any], body: type[BaseModel]) -> str:
    if problem["type"] == "json_invalid":
        return f"the body is not valid JSON: {problem['ctx']['error']}"
    # pydantic names the branch of a union after its type ("str", "list[ChatMessage]"), which is no key of the request.
    keys = [str(key)[:100] for key in problem["loc"][1:] if key != "str" and not str(key).startswith("list[")]
    where = ".".join(keys) or "the body"
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown key; {nearest(keys[-1], (Item if len(keys) > 1 else body).model_fields)}"
    return f"{where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
