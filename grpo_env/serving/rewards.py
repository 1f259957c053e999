"""``POST /get_reward``: what OpenRLHF asks over HTTP, read and answered as by its Python form."""

from __future__ import annotations

import asyncio
import json

from grpo_env.core import Score
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.integrations.scoring import with_parts
from grpo_env.scoring.reader import Row
from grpo_env.taskfile.task import Task

from .pool import WorkerPool
from .schemas import RewardRequest
from .work import Verdict, pieces


async def get_reward(pool: WorkerPool, reward_func: RewardFunc, request: RewardRequest) -> tuple[list[Verdict], bytes]:
    """The verdicts, for the metrics, and the answer. Raises what ``WorkerPool.judge`` and the adapter raise.

    NaN of the logs stays NaN, which is no JSON but what OpenRLHF's reader takes, and null is not.
    """
    # In a thread: the task's templates are filled for each example.
    pairs = await asyncio.to_thread(reward_func.read, request.query, request.prompts, request.labels)
    rows = [Row(place, str(place), None, example, (completion,)) for place, (example, completion) in enumerate(pairs)]
    verdicts = await pool.judge(pieces(reward_func.task.name, rows))
    scores = [_score(verdict.line, reward_func.task) for verdict in verdicts]
    return verdicts, json.dumps(reward_func.reply(scores)).encode()


def _score(line: bytes, task: Task) -> Score:
    data = json.loads(line)
    del data["id"]
    return with_parts(task, Score.from_dict(data))
