"""What happens to a request whose client leaves."""

import asyncio

import pytest
from fastapi import HTTPException

from grpo_env.serving.admission import while_connected


class Connection:
    """The part of a request that knows whether its client has left."""

    def __init__(self, leaves):
        self._leaves = leaves

    async def receive(self):
        if not self._leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}


def answered(work, leaves):
    return asyncio.run(asyncio.wait_for(while_connected(work(), Connection(leaves)), 30))


def test_scoring_ends_when_the_client_leaves():
    ended = []

    async def never_answers():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(HTTPException) as left:
        answered(never_answers, leaves=True)
    assert left.value.status_code == 499
    assert ended == [True]


def test_an_answer_is_returned_and_an_error_raised():
    async def answers():
        await asyncio.sleep(0.01)
        return "answer"

    async def fails():
        raise ValueError("broken")

    assert answered(answers, leaves=False) == "answer"
    with pytest.raises(ValueError, match="broken"):
        answered(fails, leaves=False)
