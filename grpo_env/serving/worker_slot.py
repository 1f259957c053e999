"""One scoring process, called from the event loop: each piece has a deadline, and a process that ended is replaced."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from contextlib import suppress

from grpo_env.workers.killable_worker import LateError, ReplaceableWorker, WorkerDiedError

from .pieces import Piece, PieceScorer, Scored


class WorkerSlot:
    """Scores pieces in one process at a time, each for ``deadline`` seconds at most."""

    def __init__(self, scorer: PieceScorer, deadline: float, threads: Executor) -> None:
        self.process = ReplaceableWorker(scorer)
        self._deadline = deadline
        self._threads = threads  # one of them blocks on the process while the event loop goes on

    async def start(self) -> None:
        """Start the process, unless one is running. Raises ``RunError``."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self.process.start)

    async def __call__(self, piece: Piece, again: bool) -> Scored:
        """As ``ReplaceableWorker``; raises ``LateError``, too."""
        answer = asyncio.get_running_loop().run_in_executor(self._threads, self.process, piece, self._deadline, again)
        try:
            await asyncio.wait({answer}, timeout=self._deadline)
        except asyncio.CancelledError:
            self.process.kill()
            with suppress(WorkerDiedError):
                await answer
            raise
        late = not answer.done()
        if late:
            self.process.kill()
        try:
            return await answer
        except WorkerDiedError as death:
            if late:
                raise LateError(f"no answer within {self._deadline:g} s") from death
            raise
