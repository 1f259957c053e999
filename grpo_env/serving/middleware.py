"""What a request must pass before it is read: its size, its token, its kind, a place in the queue, its time to arrive.

An ASGI middleware, so that nothing of a refused body is parsed, and nothing of a too large one is held.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from .metrics import Metrics

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]

JUDGED = ("/score", "/get_reward")  # routes that take a body and wait for verdicts
OPEN = ("/healthz", "/docs", "/openapi.json")  # nothing in them is secret
OTHERS = ("/tasks", "/metrics")
HELD = 1 << 29  # bytes of bodies that all accepted requests may have together
LINGER = 1.0  # seconds in which a client that is still sending can see why it is refused


@dataclass(frozen=True)
class Limits:
    """How much is taken at once: bytes and items of a request, seconds for it, and requests not answered yet."""

    max_body: int = 8 << 20
    max_items: int = 4096
    queue: int = 1024
    deadline: float = 60.0


class RefusedError(Exception):
    """A request that is answered before it is read."""

    def __init__(self, status: int, why: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.headers = headers or {}


class Gate:
    """Lets requests through to ``app``, whole, if they pass; ``token`` is what they must bear, if anything."""

    def __init__(self, app: App, limits: Limits, token: str | None, metrics: Metrics) -> None:
        self._app = app
        self._limits = limits
        self._expected = None if token is None else f"bearer {token}".encode()
        self._metrics = metrics
        self._requests = 0
        self._bytes = 0

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer a request."""
        start, status = time.perf_counter(), 499  # nginx's number for a client that went away

        async def noting(event: Event) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                status = event["status"]
            await send(event)

        try:
            await self._pass(scope, receive, noting)
        except RefusedError as refusal:
            await _refuse(refusal, scope, receive, noting)
        finally:
            path = scope["path"]
            route = path if path in (*JUDGED, *OPEN, *OTHERS) else "other"
            self._metrics.answered(route, status, time.perf_counter() - start)

    async def _pass(self, scope: Event, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        size = self._size(headers)
        if scope["path"] not in OPEN:
            self._check_token(headers)
        if scope["path"] not in JUDGED or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        _check_kind(headers)
        if self._requests >= self._limits.queue or (self._requests and self._bytes + size > HELD):
            raise RefusedError(429, f"{self._requests} requests are waiting; try again later", {"Retry-After": "1"})
        self._requests += 1
        self._bytes += size
        self._metrics.accepted.set(self._requests)
        try:
            body = await self._body(receive)
            if body is not None:
                await self._app(scope, _replayed(body, receive), send)
        finally:
            self._requests -= 1
            self._bytes -= size
            self._metrics.accepted.set(self._requests)

    def _size(self, headers: Headers) -> int:
        if "transfer-encoding" in headers:
            raise RefusedError(411, "a body of unknown length (chunked) is not read; send Content-Length")
        size = int(headers.get("content-length", 0))
        if size > self._limits.max_body:
            raise RefusedError(
                413, f"a body of {size:,} bytes; at most {self._limits.max_body:,} are read (--max-body)"
            )
        return size

    def _check_token(self, headers: Headers) -> None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = f"{scheme.lower()} {token.strip()}".encode("latin-1")
        if self._expected is not None and not hmac.compare_digest(given, self._expected):
            raise RefusedError(
                401, "this needs the server's token: Authorization: Bearer ...", {"WWW-Authenticate": "Bearer"}
            )

    async def _body(self, receive: Receive) -> bytes | None:
        """The body, as long as its Content-Length says; ``None`` if the client went away."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.deadline):
                while True:
                    event = await receive()
                    if event["type"] == "http.disconnect":
                        return None
                    body += event.get("body", b"")
                    if not event.get("more_body", False):
                        return bytes(body)
        except TimeoutError as late:
            raise RefusedError(408, f"the request did not arrive within {self._limits.deadline:g} s") from late


def _check_kind(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(
            415, f"the body must be JSON (Content-Type: application/json), found {kind[:100] or 'no type'!r}"
        )
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedError(415, "a compressed body (Content-Encoding) is not read")


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Event:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _refuse(refusal: RefusedError, scope: Event, receive: Receive, send: Send) -> None:
    unread = refusal.status in (408, 411, 413)
    headers = {**refusal.headers, "Connection": "close"} if unread else refusal.headers

    async def lingering(event: Event) -> None:
        """Read on for a moment before the end: closing on a client that still sends would lose it the answer."""
        if event["type"] == "http.response.body":
            await send({**event, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while (await receive()).get("more_body", False):
                        pass
            event = {"type": "http.response.body", "body": b""}
        await send(event)

    response = JSONResponse({"detail": str(refusal)}, refusal.status, headers)
    await response(scope, receive, lingering if refusal.status in (411, 413) else send)
