"""Asks an OpenAI-compatible chat endpoint many things at once: patient with a busy server, brief with a dead one."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ssl

    import httpx2

LONGEST_WAIT = 60.0  # seconds; a server that asks for more has given up on us for now
REST = 30.0  # seconds in which an endpoint that is down is left alone
LONGEST_DETAIL = 200  # characters of an error page that a reason keeps

_AGAIN = {408, 409, 425, 429}  # and every 5xx: the same request may succeed later
_ITS_OWN_FAULT = {400, 413, 422}  # these speak of one request, all other failures of the endpoint


class Reply(NamedTuple):
    """What the model answered. ``whole`` is false if a token limit cut it."""

    text: str
    whole: bool


class Failure(NamedTuple):
    """Why there is no reply, on one line."""

    reason: str


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, and how hard to try. All limits hold for one process.

    ``timeout`` (seconds) bounds one try from connecting to the last byte. A failed try is repeated up to ``retries``
    times after ``backoff`` seconds, doubled each time and spread at random, or after what ``Retry-After`` says. When
    ``concurrency`` requests in a row have failed for good, the endpoint is down: it is left alone for ``REST``
    seconds, and everything asked of it meanwhile fails at once.
    """

    base_url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 8
    requests_per_minute: float | None = None
    backoff: float = 0.5

    @property
    def url(self) -> str:
        """The address of chat completions."""
        return self.base_url.rstrip("/") + "/chat/completions"


def ask(
    endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], keep: Callable[[int, Reply], None] | None = None
) -> list[Reply | Failure]:
    """The reply to each request body, in order. Raises nothing for what the server does.

    ``keep`` is called with the index of a body and its reply as soon as that is there, in whatever order they come.
    """
    if not bodies:
        return []
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_ask_all(endpoint, bodies, keep))
    with ThreadPoolExecutor(1) as pool:  # a notebook's thread has a loop already
        return pool.submit(asyncio.run, _ask_all(endpoint, bodies, keep)).result()


class _Try(NamedTuple):
    """A try that failed: whether the same request may succeed later, and after how many seconds if that was said."""

    reason: str
    again: bool = True
    wait: float | None = None
    down: bool = True


class _Line:
    """What this process knows about an endpoint: when the next request may start, and whether it is down."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.next_start = 0.0
        self.failures = 0
        self.down_until = 0.0
        self.reason = ""

    def book(self, requests_per_minute: float | None) -> float:
        """Seconds to wait before the request that is booked herewith."""
        with self.lock:
            now = time.monotonic()
            start = max(now, self.next_start)
            if requests_per_minute is not None:
                self.next_start = start + 60 / requests_per_minute
            return start - now

    def hold(self, seconds: float) -> None:
        """No request may start for so long: the server asked for it."""
        with self.lock:
            self.next_start = max(self.next_start, time.monotonic() + seconds)

    def answered(self) -> None:
        with self.lock:
            self.failures, self.down_until = 0, 0.0

    def failed(self, reason: str, most: int) -> None:
        with self.lock:
            self.failures += 1
            if self.failures >= most:
                self.reason, self.down_until = reason, time.monotonic() + REST

    def down(self) -> str | None:
        with self.lock:
            return self.reason if time.monotonic() < self.down_until else None


@lru_cache(maxsize=64)
def _line(endpoint: Endpoint) -> _Line:
    return _Line()


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()  # takes 30 ms, as long as many a request


async def _ask_all(
    endpoint: Endpoint, bodies: Sequence[Mapping[str, Any]], keep: Callable[[int, Reply], None] | None
) -> list[Reply | Failure]:
    import httpx2

    headers = {"Content-Type": "application/json"}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    limits = httpx2.Limits(max_connections=endpoint.concurrency)
    room = asyncio.Semaphore(endpoint.concurrency)
    # Each try has a deadline of its own; the client's would bound single reads, and a trickle would last for ever.
    async with httpx2.AsyncClient(headers=headers, timeout=None, limits=limits, verify=_certificates()) as client:

        async def one(index: int, body: Mapping[str, Any]) -> Reply | Failure:
            async with room:
                found = await _ask_one(client, endpoint, body)
            if keep is not None and isinstance(found, Reply):
                keep(index, found)
            return found

        return await asyncio.gather(*(one(index, body) for index, body in enumerate(bodies)))


async def _ask_one(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> Reply | Failure:
    line = _line(endpoint)
    tries = 0
    while True:
        if (reason := line.down()) is not None:
            return Failure(f"not asked, the endpoint is down: {reason}")
        await asyncio.sleep(line.book(endpoint.requests_per_minute))
        found = await _try(client, endpoint, body)
        if isinstance(found, Reply):
            line.answered()
            return found
        tries += 1
        if not found.again or tries > endpoint.retries:
            break
        if found.wait is not None:
            line.hold(found.wait)
        else:
            await asyncio.sleep(endpoint.backoff * 2 ** (tries - 1) * random.uniform(0.5, 1.5))
    reason = f"{endpoint.url}: {found.reason}" + (f" ({tries} tries)" if tries > 1 else "")
    if found.down:
        line.failed(reason, endpoint.concurrency)
    return Failure(reason)


async def _try(client: httpx2.AsyncClient, endpoint: Endpoint, body: Mapping[str, Any]) -> Reply | _Try:
    import httpx2

    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await client.post(endpoint.url, content=json.dumps(body).encode())
    except TimeoutError:
        return _Try(f"no reply within {endpoint.timeout:g} s")
    except httpx2.RequestError as error:
        return _Try(_one_line(f"{type(error).__name__}: {error}", endpoint))
    if response.status_code != 200:
        return _refusal(response, endpoint)
    try:
        choice = response.json()["choices"][0]
        text = choice["message"]["content"]
        if not isinstance(text, str | None):
            raise TypeError
        text = (text or "").encode(errors="replace").decode()  # lone surrogates can be neither sent nor kept
        return Reply(text, choice.get("finish_reason") != "length")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return _Try(_one_line(f"the reply is no chat completion: {response.text}", endpoint))


def _refusal(response: httpx2.Response, endpoint: Endpoint) -> _Try:
    status = response.status_code
    reason = _one_line(f"status {status}: {response.text}", endpoint)
    again = status in _AGAIN or status >= 500
    wait = _retry_after(response.headers.get("retry-after", "")) if again else None
    if wait is not None and wait > LONGEST_WAIT:
        return _Try(f"{reason} (asks to wait {wait:.0f} s)", again=False)
    return _Try(reason, again, wait, down=status not in _ITS_OWN_FAULT)


def _retry_after(header: str) -> float | None:
    """Seconds that a ``Retry-After`` header asks for: RFC 9110, 10.2.3, a number or a date."""
    if header.replace(".", "", 1).isdecimal():
        return float(header)
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def _one_line(text: str, endpoint: Endpoint) -> str:
    if endpoint.key:
        text = text.replace(endpoint.key, "***")
    text = " ".join(text[: 10 * LONGEST_DETAIL].split())
    return text if len(text) <= LONGEST_DETAIL else text[: LONGEST_DETAIL - 1] + "…"
