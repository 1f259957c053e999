"""Sends concurrent requests to an OpenAI-compatible chat endpoint, with retries and a circuit breaker."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from grpo_env.errors import UsageError
from grpo_env.terminal import shortened

if TYPE_CHECKING:
    import ssl

    import httpx2

T = TypeVar("T")

LONGEST_WAIT = 60.0  # seconds; a request that a server wants to delay for longer fails
PAUSE = 30.0  # seconds without requests to an endpoint that is down
LONGEST_DETAIL = 200  # characters of an error page in a reason

_RETRIABLE = {408, 409, 425, 429}  # and every 5xx: the same request may succeed later
_BAD_REQUEST = {400, 413, 422}  # the fault of one request; all other failures are the fault of the endpoint


class Reply(NamedTuple):
    """A reply of the model. ``whole`` is false if it was truncated at a token limit.

    ``reasoning`` is what the server returned apart from the text, and ``num_tokens`` counts the tokens of both.
    """

    text: str
    whole: bool
    reasoning: str | None = None
    num_tokens: int | None = None


class Failure(NamedTuple):
    """The reason why there is no reply, on one line, and the HTTP status, if there was a response."""

    reason: str
    status: int | None = None


@dataclass(frozen=True)
class Endpoint:
    """An endpoint with its timeouts and limits, all of them per process.

    ``timeout`` (seconds) bounds an attempt from connecting to the last byte. A failed attempt is repeated up to
    ``retries`` times, after ``backoff`` seconds (doubled each time, with jitter) or as ``Retry-After`` says. After
    ``concurrency`` consecutive requests failed for good the endpoint counts as down: for ``PAUSE`` seconds all
    requests fail at once.
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 8
    backoff: float = 0.5

    @property
    def url(self) -> str:
        """The URL of chat completions."""
        return self.base_url.rstrip("/") + "/chat/completions"


def check_address(base_url: str, place_of_key: str) -> None:
    """Raises ``UsageError`` for what is no base URL of an endpoint. ``place_of_key`` says where the API key belongs."""
    try:
        parts = urlsplit(base_url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError(f"base_url: expected a URL such as http://localhost:8000/v1, got {base_url!r}")
    if parts.username is not None or parts.query:
        raise UsageError(f"base_url: no credentials or query; {place_of_key}")


def usable_key(variable: str) -> str | None:
    """The API key in an environment variable; ``None`` if there is none that a header can hold."""
    key = os.environ.get(variable, "").strip()
    return key if key and key.isascii() and key.isprintable() else None


def ask(
    endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], on_reply: Callable[[int, Reply], None] | None = None
) -> list[Reply | Failure]:
    """The reply to each request body, in order. Failures of the server are returned, not raised.

    ``on_reply`` is called with the index of a body and its reply as soon as it arrives, in any order.
    """
    if not bodies:
        return []
    return run_async(_ask_all(endpoint, bodies, on_reply))


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:  # a notebook's thread already runs a loop
        return pool.submit(asyncio.run, work).result()


class _FailedAttempt(NamedTuple):
    """A failed attempt; ``wait`` are the seconds until the next one, if the server asks for a delay."""

    reason: str
    retriable: bool = True
    wait: float | None = None
    endpoint_fault: bool = True
    status: int | None = None


class _EndpointState:
    """When the next request of this process to an endpoint may start, and whether the endpoint is down."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.next_start = 0.0
        self.failures = 0
        self.down_until = 0.0
        self.reason = ""

    def wait(self) -> float:
        """The seconds until the next request may start."""
        with self.lock:
            return max(self.next_start - time.monotonic(), 0.0)

    def delay(self, seconds: float) -> None:
        """Start no request for this long, as the server asked."""
        with self.lock:
            self.next_start = max(self.next_start, time.monotonic() + seconds)

    def answered(self) -> None:
        with self.lock:
            self.failures, self.down_until = 0, 0.0

    def failed(self, reason: str, limit: int) -> None:
        with self.lock:
            self.failures += 1
            if self.failures >= limit:
                self.reason, self.down_until = reason, time.monotonic() + PAUSE

    def down(self) -> str | None:
        with self.lock:
            return self.reason if time.monotonic() < self.down_until else None


@lru_cache(maxsize=64)
def _state(endpoint: Endpoint) -> _EndpointState:
    return _EndpointState()


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Of the authorities that clients trust."""
    import httpx2

    return httpx2.create_ssl_context()  # takes 30 ms, as long as a short request


async def _ask_all(
    endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], on_reply: Callable[[int, Reply], None] | None
) -> list[Reply | Failure]:
    import httpx2

    headers = {"Content-Type": "application/json"}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    limits = httpx2.Limits(max_connections=endpoint.concurrency)
    slots = asyncio.Semaphore(endpoint.concurrency)
    # Attempts have their own deadline: the client's timeout is per read, so a slow stream of bytes could last forever.
    async with httpx2.AsyncClient(headers=headers, timeout=None, limits=limits, verify=certificates()) as client:

        async def request(index: int, body: Mapping[str, Any]) -> Reply | Failure:
            async with slots:
                result = await _ask_one(client, endpoint, body)
            if on_reply is not None and isinstance(result, Reply):
                on_reply(index, result)
            return result

        return await asyncio.gather(*(request(index, body) for index, body in enumerate(bodies)))


async def _ask_one(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> Reply | Failure:
    state = _state(endpoint)
    attempts = 0
    while True:
        if (reason := state.down()) is not None:
            return Failure(f"not asked, the endpoint is down: {reason}")
        await asyncio.sleep(state.wait())
        result = await _attempt(client, endpoint, body)
        if isinstance(result, Reply):
            state.answered()
            return result
        attempts += 1
        if not result.retriable or attempts > endpoint.retries:
            break
        if result.wait is not None:
            state.delay(result.wait)
        else:
            await asyncio.sleep(endpoint.backoff * 2 ** (attempts - 1) * random.uniform(0.5, 1.5))
    reason = f"{endpoint.url}: {result.reason}" + (f" ({attempts} attempts)" if attempts > 1 else "")
    if result.endpoint_fault:
        state.failed(reason, endpoint.concurrency)
    return Failure(reason, result.status)


async def _attempt(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> Reply | _FailedAttempt:
    import httpx2

    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await client.post(endpoint.url, content=json.dumps(body).encode())
    except TimeoutError:
        return _FailedAttempt(f"no reply within {endpoint.timeout:g} s")
    except httpx2.RequestError as error:
        return _FailedAttempt(_one_line(f"{type(error).__name__}: {error}", endpoint))
    if response.status_code != 200:
        return _refusal(response, endpoint)
    try:
        reply = response.json()
        choice = reply["choices"][0]
        message, usage = choice["message"], reply.get("usage") or {}
        text, tokens = message["content"], usage.get("completion_tokens")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        if not isinstance(text, str | None):
            raise TypeError
        return Reply(
            encodable(text or ""),
            choice.get("finish_reason") != "length",
            encodable(reasoning) if isinstance(reasoning, str) else None,
            tokens if isinstance(tokens, int) else None,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return _FailedAttempt(_one_line(f"the reply is not a chat completion: {response.text}", endpoint))


def encodable(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded."""
    return text.encode(errors="replace").decode()


def _refusal(response: httpx2.Response, endpoint: Endpoint) -> _FailedAttempt:
    status = response.status_code
    reason = _one_line(f"status {status}: {response.text}", endpoint)
    retriable = status in _RETRIABLE or status >= 500
    wait = _retry_after(response.headers.get("retry-after", "")) if retriable else None
    if wait is not None and wait > LONGEST_WAIT:
        return _FailedAttempt(f"{reason} (asks to wait {wait:.0f} s)", retriable=False, status=status)
    return _FailedAttempt(reason, retriable, wait, status not in _BAD_REQUEST, status)


def _retry_after(header: str) -> float | None:
    """The seconds in a ``Retry-After`` header, a number or a date (RFC 9110, 10.2.3)."""
    if header.replace(".", "", 1).isdecimal():
        return float(header)
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def _one_line(text: str, endpoint: Endpoint) -> str:
    if endpoint.key:
        text = text.replace(endpoint.key, "***")
    return shortened(" ".join(text[: 10 * LONGEST_DETAIL].split()), LONGEST_DETAIL)
