"""The middleware, without a server: what happens to a request whose client leaves."""

import asyncio

import pytest

from grpo_env.serving.metrics import Metrics
from grpo_env.serving.middleware import AdmissionMiddleware, Limits


class NoPool:
    alive = restarts = waiting = 0


SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/score",
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"2")],
}


async def requested(app, leaves):
    """What ``app`` sends to a client that leaves right after its request, or waits for the answer."""
    events, answered = [], asyncio.Event()
    incoming = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def receive():
        if incoming:
            return incoming.pop()
        if not leaves:
            await answered.wait()
        return {"type": "http.disconnect"}

    async def send(event):
        events.append(event)
        if event["type"] == "http.response.body":
            answered.set()
            await asyncio.sleep(0)  # lets the watcher see the end before the application returns

    await AdmissionMiddleware(app, Limits(), None, Metrics(NoPool()))(dict(SCOPE), receive, send)
    return events


def test_scoring_ends_when_the_client_leaves():
    ended = []

    async def never_answers(scope, receive, send):
        assert (await receive())["body"] == b"{}"
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    assert asyncio.run(asyncio.wait_for(requested(never_answers, leaves=True), 30)) == []
    assert ended == [True]


@pytest.mark.parametrize("cleans_up", [False, True])
def test_an_answer_is_sent_whole(cleans_up):
    done = []

    async def answers(scope, receive, send):
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"answer"})
        await asyncio.sleep(0.01 if cleans_up else 0)
        done.append(True)

    events = asyncio.run(requested(answers, leaves=False))
    assert [event.get("status", event.get("body")) for event in events] == [200, b"answer"]
    assert done == [True]


def test_an_error_of_the_application_is_raised():
    async def fails(scope, receive, send):
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(requested(fails, leaves=False))
