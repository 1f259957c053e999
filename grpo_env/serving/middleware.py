"""Checks before a request is read: body size, token, content type, room in the queue, time to arrive.

An ASGI middleware, so that the body of a refused request is not parsed, and one that is too large is not read.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from h11 import LocalProtocolError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from .address import is_loopback
from .metrics import Metrics

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]

SCORING_ROUTES = ("/score", "/get_reward")  # take a body and wait for scores
PUBLIC_ROUTES = ("/healthz", "/docs", "/openapi.json")  # need no token
OTHER_ROUTES = ("/tasks", "/metrics")
MAX_PENDING_BYTES = 1 << 29  # bodies of all accepted requests together
LINGER = 1.0  # seconds for a client that is still sending to see why it is refused


@dataclass(frozen=True)
class Limits:
    """Bytes and items of a request, requests that wait for an answer, and seconds for a request."""

    max_body: int = 8 << 20
    max_items: int = 4096
    queue: int = 1024
    deadline: float = 60.0


class RefusedError(Exception):
    """A request that is refused before its body is read."""

    def __init__(self, status: int, why: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.headers = headers or {}


class AdmissionMiddleware:
    """Passes complete requests within the limits on to ``app``. With a ``token``, requests must carry it.

    Without one, requests must be for a loopback name: a web page that has its own name resolved to 127.0.0.1 (DNS
    rebinding) can send what a page of this server could.
    """

    def __init__(self, app: App, limits: Limits, token: str | None, metrics: Metrics) -> None:
        self._app = app
        self._limits = limits
        self._expected = None if token is None else f"bearer {token}".encode()
        self._metrics = metrics
        self._requests = 0
        self._bytes = 0

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer a request."""
        start, status = time.perf_counter(), 499  # nginx's status for a client that disconnected

        async def noting_status(event: Event) -> None:
            nonlocal status
            if event["type"] == "http.response.start":
                status = event["status"]
            await send(event)

        try:
            await self._admit(scope, receive, noting_status)
        except RefusedError as refusal:
            await _refuse(refusal, scope, receive, noting_status)
        finally:
            path = scope["path"]
            route = path if path in (*SCORING_ROUTES, *PUBLIC_ROUTES, *OTHER_ROUTES) else "other"
            self._metrics.answered(route, status, time.perf_counter() - start)

    async def _admit(self, scope: Event, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        size = self._size(headers)
        if scope["path"] not in PUBLIC_ROUTES:
            self._check_access(headers)
        if scope["path"] not in SCORING_ROUTES or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        _check_content_type(headers)
        if self._requests >= self._limits.queue or (self._requests and self._bytes + size > MAX_PENDING_BYTES):
            raise RefusedError(429, f"{self._requests} requests are waiting; try again later", {"Retry-After": "1"})
        self._requests += 1
        self._bytes += size
        self._metrics.accepted.set(self._requests)
        try:
            body = await self._body(receive)
            if body is not None:
                await _while_connected(self._app, scope, body, receive, send)
        finally:
            self._requests -= 1
            self._bytes -= size
            self._metrics.accepted.set(self._requests)

    def _size(self, headers: Headers) -> int:
        if "transfer-encoding" in headers:
            raise RefusedError(411, "chunked bodies are not accepted; send Content-Length")
        size = int(headers.get("content-length", 0))
        if size > self._limits.max_body:
            raise RefusedError(
                413, f"the body has {size:,} bytes; at most {self._limits.max_body:,} are accepted (--max-body)"
            )
        return size

    def _check_access(self, headers: Headers) -> None:
        if self._expected is None:
            host = headers.get("host", "localhost")
            if not is_loopback(host.rpartition(":")[0] if re.search(r":\d*$", host) else host):
                raise RefusedError(403, f"{host[:100]!r} is not a name of this machine; use 127.0.0.1, or set a token")
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = f"{scheme.lower()} {token.strip()}".encode("latin-1")
        if not hmac.compare_digest(given, self._expected):
            raise RefusedError(
                401, "the token is missing or wrong; send Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"}
            )

    async def _body(self, receive: Receive) -> bytes | None:
        """The complete body; ``None`` if the client disconnected."""
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


def _check_content_type(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, f"the body must be JSON (Content-Type: application/json), not {kind[:100]!r}")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedError(415, "compressed bodies (Content-Encoding) are not accepted")


async def _while_connected(app: App, scope: Event, body: bytes, receive: Receive, send: Send) -> None:
    """Answer a request, but give up once its client has disconnected, so that nothing is scored for nobody."""
    answered = False

    async def noting_end(event: Event) -> None:
        nonlocal answered
        answered = event["type"] == "http.response.body" and not event.get("more_body", False)
        await send(event)

    answer = asyncio.ensure_future(app(scope, _replay(body, receive), noting_end))
    leaving = asyncio.ensure_future(receive())  # returns when the answer is complete, too
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done() and not answered:
            answer.cancel()
        with suppress(asyncio.CancelledError):
            await answer
    finally:
        answer.cancel()
        leaving.cancel()


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body, which was read already, and then the events after it."""
    replayed = False

    async def receive_again() -> Event:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


async def _refuse(refusal: RefusedError, scope: Event, receive: Receive, send: Send) -> None:
    unread = refusal.status in (408, 411, 413)
    headers = {**refusal.headers, "Connection": "close"} if unread else refusal.headers

    async def lingering(event: Event) -> None:
        """Keep reading for a moment: a client that is still sending would not see the answer on a closed connection."""
        if event["type"] == "http.response.body":
            await send({**event, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER):
                    while (await receive()).get("more_body", False):
                        pass
            event = {"type": "http.response.body", "body": b""}
        await send(event)

    response = JSONResponse({"detail": str(refusal)}, refusal.status, headers)
    try:
        await response(scope, receive, lingering if refusal.status in (411, 413) else send)
    except LocalProtocolError:  # uvicorn has read on, answered what follows with 400, and is closing the connection
        while (await receive())["type"] != "http.disconnect":
            continue
