"""What a request for scores has to pass before it is scored: its type, room for it, its size, its JSON."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.requests import ClientDisconnect


@dataclass
class Admission:
    """The token, bytes of a body, requests that wait for an answer, and seconds to arrive, and then to be answered."""

    token: str | None = None
    max_body: int = 8 << 20
    queue: int = 1024
    deadline: float = 60.0
    waiting: int = 0
    """Requests admitted and not answered yet."""


def check_token(request: Request) -> None:
    """Raises ``HTTPException`` if the server needs a token that the request does not have."""
    token = request.app.state.admission.token
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    sent, expected = f"{scheme.lower()} {given.strip()}".encode("latin-1"), f"bearer {token}".encode()
    if token and not hmac.compare_digest(sent, expected):
        detail = "the token is missing or wrong; send Authorization: Bearer TOKEN"
        raise HTTPException(401, detail, {"WWW-Authenticate": "Bearer"})


class ScoringRoute(APIRoute):
    """A route whose requests are admitted by ``app.state.admission``, and given up when their client leaves."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See ``APIRoute``. The handler finds its deadline, by the event loop's clock, in ``request.state.end``."""
        handle = super().get_route_handler()

        async def admit(request: Request) -> Response:
            admission: Admission = request.app.state.admission
            check_token(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise HTTPException(415, f"the body must be JSON (Content-Type: application/json), not {kind[:100]!r}")
            if admission.waiting >= admission.queue:
                detail = f"{admission.waiting} requests are waiting; try again later (--queue)"
                raise HTTPException(429, detail, {"Retry-After": "1"})
            admission.waiting += 1
            try:
                scoring = _ScoringRequest(request.scope, request.receive)
                await _arrived(scoring, admission.deadline)
                scoring.state.end = asyncio.get_running_loop().time() + admission.deadline
                return await while_connected(handle(scoring), request)
            finally:
                admission.waiting -= 1

        return admit


class _ScoringRequest(Request):
    """A request with a body of at most ``max_body`` bytes of standard JSON: no NaN, no lone surrogates."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            most = self.app.state.admission.max_body
            announced, body = int(self.headers.get("content-length", 0)), bytearray()
            if announced <= most:
                async for block in self.stream():
                    body += block
                    if len(body) > most:
                        break
            if max(announced, len(body)) > most:
                raise HTTPException(413, f"the body has more than {most:,} bytes (--max-body)")
            self._body = bytes(body)
        return self._body

    async def json(self) -> Any:
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"the body is not valid JSON: {error}") from error


async def _arrived(request: Request, deadline: float) -> None:
    try:
        async with asyncio.timeout(deadline):
            await request.body()
    except ClientDisconnect as left:
        raise HTTPException(499, "the client has disconnected") from left
    except TimeoutError as late:
        detail = f"the request did not arrive within {deadline:g} s (--deadline)"
        raise HTTPException(408, detail, {"Connection": "close"}) from late


async def while_connected(answering: Coroutine[Any, Any, Response], request: Request) -> Response:
    """The answer, unless the client disconnects before: then nothing more is begun for it. Raises ``HTTPException``."""
    answer = asyncio.ensure_future(answering)
    leaving: asyncio.Future[Any] = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise HTTPException(499, "the client has disconnected")
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()
