"""Routes that read JSON as its standard has it: no NaN, no lone surrogates, bounded depth and numbers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json

MOST_KEYS = 100  # of the request and of an item, which have ten at most


def strict_route(max_items: int) -> type[APIRoute]:
    """The class of routes whose requests have at most ``max_items`` in each of their lists."""

    class StrictRequest(Request):
        async def json(self) -> Any:
            try:
                found = from_json(await self.body(), allow_inf_nan=False)
            except ValueError as error:
                raise HTTPException(400, f"the body is not valid JSON: {error}") from error
            if isinstance(found, dict):
                _check_size(found, max_items)
            return found

    class StrictRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def strict(request: Request) -> Response:
                return await handle(StrictRequest(request.scope, request.receive))

            return strict

    return StrictRoute


def _check_size(found: dict[str, Any], max_items: int) -> None:
    """Before pydantic checks it, which takes time for each item and much for each unknown key."""
    count = max((len(value) for value in found.values() if isinstance(value, list)), default=0)
    if count > max_items:
        raise HTTPException(422, f"{count:,} items; at most {max_items:,} are judged at once (--max-items)")
    items = found.get("items")
    objects = [found, *items] if isinstance(items, list) else [found]
    keys = max(len(one) for one in objects if isinstance(one, dict))
    if keys > MOST_KEYS:
        raise HTTPException(422, f"an object with {keys:,} keys; other columns of a row belong into its info")
