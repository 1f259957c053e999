"""What is wrong with a request, as answers: their statuses for the description, and how errors become them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from grpo_env.errors import RunError, UsageError, nearest
from grpo_env.killable_worker import LateError

from .schemas import Item, Problem, RewardRequest, ScoreRequest

TOLD = 5  # problems of a request
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


def answer_problems(app: FastAPI, deadline: float) -> None:
    """Have errors answered as ``{"detail": "..."}``."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UsageError, _answer(422))
    app.add_exception_handler(RunError, _answer(503))
    app.add_exception_handler(LateError, _answer(504))
    app.add_exception_handler(TimeoutError, _late(deadline))
    app.add_exception_handler(500, _failed)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    whole = RewardRequest if request.url.path == "/get_reward" else ScoreRequest
    told = dict.fromkeys(_problem(one, whole) for one in error.errors()[:TOLD])
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
