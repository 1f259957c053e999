"""Rescores a chunk that killed its process, row by row if need be, so that only the rows that caused it are lost."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.workers.killable_worker import WorkerDiedError

from .chunks import Chunk, cut_file
from .job import ChunkResult, Job
from .summary import ScoreSummary

Attempt = Callable[[Chunk], ChunkResult]  # in a fresh process; raises WorkerDiedError


def isolate_failures(job: Job, chunk: Chunk, attempt: Attempt) -> ChunkResult:
    """The chunk scored group by group; rows that kill the process become rejects.

    In a group of several rows these are the rows that kill it again when scored alone, or else all rows.
    """
    total = ChunkResult(b"", (), ScoreSummary(), chunk.size)
    for group in cut_file(chunk.file, chunk.rows, job.readers[chunk.file].key, most=1):
        result = _score_group(job, group, attempt)
        total.summary.merge(result.summary)
        total = total._replace(
            lines=total.lines + result.lines,
            rejects=total.rejects + result.rejects,
            groups=total.groups + result.groups,
        )
    return total


def _score_group(job: Job, group: Chunk, attempt: Attempt) -> ChunkResult:
    try:
        return attempt(group)
    except WorkerDiedError as error:
        problem = str(error)
    survivors = [row for row in group.rows if len(group.rows) > 1 and _survives(group._replace(rows=(row,)), attempt)]
    try:
        result = attempt(group._replace(rows=tuple(survivors)))
    except WorkerDiedError:
        result, survivors = ChunkResult(b"", (), ScoreSummary()), []
    lost = [row for row in group.rows if row not in survivors]
    result.summary.merge(ScoreSummary(rows=len(lost), bad_rows=len(lost)))
    return result._replace(rejects=result.rejects + tuple(job.reject(group, row, problem) for row in lost))


def _survives(chunk: Chunk, attempt: Attempt) -> bool:
    try:
        attempt(chunk)
    except WorkerDiedError:
        return False
    return True
