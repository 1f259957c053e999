"""Asking a server: retries, deadlines, limits, a dead endpoint; and the file that keeps replies."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from grpo_env.endpoint import Endpoint, Failure, Reply, _EndpointState, ask
from grpo_env.errors import UsageError
from grpo_env.verifiers.replies import ReplyCache, request_key

from .peer import Answer

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def quick(url: str, **settings: Any) -> Endpoint:
    return Endpoint(url, **{"backoff": 0.001, "retries": 3, "timeout": 10.0, **settings})


def test_requests_are_concurrent_and_replies_in_order(peer):
    together = threading.Barrier(4, timeout=10)  # is passed only if four requests are in flight at once

    def script(number: int, body: dict[str, Any]) -> str:
        together.wait()
        return body["n"]

    server = peer(script)
    replies = ask(quick(server.url, concurrency=4), [{"n": str(number)} for number in range(12)])
    assert replies == [Reply(str(number), True) for number in range(12)]
    assert server.most_at_once == 4


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=429, headers={"Retry-After": "0.01"}),
        Answer(status=429),
        Answer(status=500, body=b"oops"),
        Answer(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Answer(drop=True),
        Answer(body=b""),
        Answer(body=b"<html>\n"),
        Answer(body=b"{}"),
        Answer(body=b'{"choices": []}'),
        Answer(body=b'{"choices": [{"message": {"content": 5}}]}'),
        Answer(body=b'{"choices": [{"message": "hi"}]}'),
        Answer(body=b"[" * 100_000),
        Answer(body=b"not gzip", headers={"Content-Encoding": "gzip"}),
        Answer(trickle=0.3),
    ],
    ids=lambda answer: str(answer)[7:60],
)
def test_temporary_failures_are_retried(peer, failure):
    server = peer(lambda number, body: "hello" if number else failure)
    assert ask(quick(server.url, timeout=0.6), [BODY]) == [Reply("hello", True)]
    assert len(server.requests) == 2


def test_a_slow_stream_of_bytes_times_out(peer):
    # Each byte comes in time, the whole would take minutes.
    server = peer(lambda number, body: Answer("hello", trickle=0.1))
    (reply,) = ask(quick(server.url, timeout=0.5, retries=1), [BODY])
    assert isinstance(reply, Failure)
    assert "no reply within 0.5 s (2 attempts)" in reply.reason


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_a_client_error_is_not_retried(peer, status):
    server = peer(lambda number, body: Answer(status=status, body=b"no such\n thing", headers={"Location": "/else"}))
    (reply,) = ask(quick(server.url), [BODY])
    assert reply == Failure(f"{server.url}/chat/completions: status {status}: no such thing", status)
    assert len(server.requests) == 1


def test_a_too_long_retry_after_fails(peer):
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    for wait in ("3600", later):
        server = peer(lambda number, body, wait=wait: Answer(status=429, headers={"Retry-After": wait}))
        (reply,) = ask(quick(server.url), [BODY])
        assert isinstance(reply, Failure)
        assert "asks to wait 3" in reply.reason
        assert len(server.requests) == 1


def test_an_endpoint_that_is_down_gets_few_requests(peer):
    server = peer(lambda number, body: Answer(status=500, body=b"dead"))
    endpoint = quick(server.url, concurrency=3, retries=2)
    replies = ask(endpoint, [BODY] * 200)
    assert all(isinstance(reply, Failure) and "status 500: dead" in reply.reason for reply in replies)
    assert 9 <= len(server.requests) <= 9 + 6  # three requests with three tries each, and what was in flight by then
    before = len(server.requests)
    (reply,) = ask(endpoint, [BODY])
    assert reply.reason.startswith("not asked, the endpoint is down: ")
    assert len(server.requests) == before


def test_a_closed_port_gives_a_reason_on_one_line(peer):
    server = peer(lambda number, body: "")
    server.close()
    replies = ask(quick(server.url), [BODY] * 500)
    assert all(
        isinstance(reply, Failure) and f"{server.url}/chat/completions: Connect" in reply.reason for reply in replies
    )
    server.close = lambda: None


def test_bad_requests_do_not_mark_the_endpoint_as_down(peer):
    server = peer(lambda number, body: Answer(status=400, body=b"too long") if body["n"] else "fine")
    endpoint = quick(server.url, concurrency=1)
    ask(endpoint, [{"n": 1}] * 20)
    assert ask(endpoint, [{"n": 0}]) == [Reply("fine", True)]


def test_a_reply_between_failures_keeps_the_endpoint_up(peer):
    server = peer(lambda number, body: Answer(status=500) if number % 2 else "fine")
    endpoint = quick(server.url, concurrency=2, retries=0)
    replies = [ask(endpoint, [BODY])[0] for _ in range(8)]
    assert [isinstance(reply, Reply) for reply in replies] == [True, False] * 4


def test_a_delay_is_shared_by_all_requests():
    state = _EndpointState()
    assert state.wait() == 0
    state.delay(10.0)
    assert state.wait() == pytest.approx(10, abs=0.5)


def test_the_key_is_sent_but_never_shown(peer):
    server = peer(lambda number, body: Answer(status=401, body=b"the key sk-secret is wrong"))
    endpoint = quick(server.url, key="sk-secret")
    (reply,) = ask(endpoint, [BODY])
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(endpoint) + reply.reason
    assert "the key *** is wrong" in reply.reason


def test_it_works_within_a_running_loop_and_from_threads(peer):
    server = peer(lambda number, body: "fine")

    async def notebook() -> list[Reply | Failure]:
        return ask(quick(server.url), [BODY])

    assert asyncio.run(notebook()) == [Reply("fine", True)]
    replies: list[Any] = []
    threads = [threading.Thread(target=lambda: replies.extend(ask(quick(server.url), [BODY] * 5))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [Reply("fine", True)] * 15


def test_on_reply_is_called_as_replies_arrive(peer):
    calls: list[tuple[int, Reply]] = []
    server = peer(lambda number, body: "fine" if body["n"] % 2 else Answer(status=400))
    ask(
        quick(server.url, concurrency=1),
        [{"n": number} for number in range(4)],
        lambda *arguments: calls.append(arguments),
    )
    assert calls == [(1, Reply("fine", True)), (3, Reply("fine", True))]


def test_lone_surrogates_in_a_reply_are_replaced(peer):
    server = peer(lambda number, body: Answer(body=b'{"choices": [{"message": {"content": "a\\ud800\\u0000b"}}]}'))
    assert ask(quick(server.url), [BODY]) == [Reply("a?\0b", True)]


def test_a_cached_reply_never_changes(tmp_path: Path):
    cache = ReplyCache(str(tmp_path / "new folder" / "replies.db"))
    assert cache.get(["a"]) == {}
    cache.put("a", Reply("first\0", True))
    cache.put("b", Reply("cut", False))
    cache.put("a", Reply("second", True))
    assert cache.get(["a", "b", "c"]) == {"a": Reply("first\0", True), "b": Reply("cut", False)}


def test_a_cache_is_shared_by_processes(tmp_path: Path):
    path = str(tmp_path / "replies.db")
    code = (
        "import sys\nfrom grpo_env.verifiers.replies import *\ncache = ReplyCache(sys.argv[1])\n"
        "for n in range(20):\n"
        "    cache.put(f'{sys.argv[2]}-{n}', Reply(sys.argv[2], True))\n    cache.put(f'both-{n}', Reply('x', True))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    keys = [f"{name}-{number}" for name in ("one", "two", "both") for number in range(20)]
    assert len(ReplyCache(path).get(keys)) == 60


def test_an_unusable_cache_is_a_usage_error_with_its_path(tmp_path: Path):
    (tmp_path / "replies.db").write_text("this is no database, " * 100)
    for place in ("replies.db", "replies.db/under/a/file", "."):
        with pytest.raises(UsageError, match=r"cache: .*cannot be used .*; name another file"):
            ReplyCache(str(tmp_path / place)).get(["a"])


def test_a_locked_cache_is_an_error(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("grpo_env.verifiers.replies.WAIT", 0.05)
    cache = ReplyCache(str(tmp_path / "replies.db"))
    cache.put("a", Reply("", True))
    holder = sqlite3.connect(tmp_path / "replies.db")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UsageError, match="locked"):
        cache.put("b", Reply("", True))
    holder.close()


def test_the_key_of_a_request_depends_on_its_address_and_content_only():
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}
    assert request_key("http://a/v1", body) == request_key("http://a/v1/", dict(reversed(body.items())))
    changed = [{**body, "temperature": 1}, {**body, "model": "n"}, {**body, "messages": []}]
    assert len({request_key("http://a/v1", request) for request in [body, *changed]}) == 4
    assert request_key("http://a/v1", body) != request_key("http://b/v1", body)
