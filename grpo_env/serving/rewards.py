"""``POST /get_reward``: OpenRLHF's request, answered as its adapter for Python does."""

from __future__ import annotations

import asyncio
import json

from grpo_env.core import Score
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.integrations.scoring import with_parts
from grpo_env.scoring.row_reader import InputRow
from grpo_env.taskfile.task import Task

from .pool import WorkerPool
from .schemas import RewardRequest


async def get_reward(pool: WorkerPool, reward_func: RewardFunc, request: RewardRequest, end: float) -> str:
    """The response. Raises what ``WorkerPool.score`` and the adapter raise.

    NaN in the logs stays NaN, which is not JSON; but OpenRLHF's reader accepts it, and does not accept null.
    """
    # In a thread: the task's templates are rendered for each example.
    pairs = await asyncio.to_thread(reward_func.read, request.query, request.prompts, request.labels)
    rows = [
        InputRow(index, str(index), None, example, (completion,)) for index, (example, completion) in enumerate(pairs)
    ]
    encoded = await pool.score(reward_func.task.name, rows, end)
    scores = [_decode(score, reward_func.task) for score in encoded]
    return json.dumps(reward_func.reply(scores))


def _decode(score: str, task: Task) -> Score:
    data = json.loads(score)
    del data["id"]
    return with_parts(task, Score.from_dict(data))
