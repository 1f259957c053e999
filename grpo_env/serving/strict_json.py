"""Routes that accept only standard JSON: no NaN, no lone surrogates, bounded depth and numbers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

MAX_KEYS = 100  # of the request and of an item; both know about ten


def strict_route(max_items: int) -> type[APIRoute]:
    """A route class for requests whose lists have at most ``max_items``."""

    class StrictRequest(Request):
        async def json(self) -> Any:
            try:
                body = from_json(await self.body(), allow_inf_nan=False)
            except ValueError as error:
                raise HTTPException(400, f"the body is not valid JSON: {error}") from error
            if isinstance(body, dict):
                _check_size(body, max_items)
            return body

    class StrictRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def strict(request: Request) -> Response:
                return await handle(StrictRequest(request.scope, request.receive))

            return strict

    return StrictRoute


def _check_size(body: dict[str, Any], max_items: int) -> None:
    """Before pydantic checks the body, which takes time for each item and much more for each unknown key."""
    count = max((len(value) for value in body.values() if isinstance(value, list)), default=0)
    if count > max_items:
        raise HTTPException(422, f"{count:,} items; at most {max_items:,} per request (--max-items)")
    items = body.get("items")
    objects = [body, *items] if isinstance(items, list) else [body]
    keys = max(len(value) for value in objects if isinstance(value, dict))
    if keys > MAX_KEYS:
        raise HTTPException(422, f"an object with {keys:,} keys; put the columns of a row into its info")
