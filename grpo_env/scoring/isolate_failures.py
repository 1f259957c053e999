"""What becomes of a chunk that a process died of: its rows one at a time, so that only the guilty ones are lost."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.errors import UsageError
from grpo_env.files.reader import Line, Record
from grpo_env.killable_worker import WorkerDiedError

from .chunks import Chunk
from .job import ChunkResult, Job
from .reader import Reader
from .summary import ScoreSummary

Attempt = Callable[[Chunk], ChunkResult]  # in a fresh process; raises WorkerDiedError


def mend(job: Job, chunk: Chunk, attempt: Attempt) -> ChunkResult:
    """The chunk scored group by group; the rows that a process dies of become rejects.

    In a group of rows these are the ones that it dies of again when each is alone; should there be none, all are.
    """
    whole = ChunkResult(b"", (), ScoreSummary(), chunk.size)
    for rows in _units(job.readers[chunk.file], chunk):
        done = _mended(job, chunk._replace(rows=tuple(rows)), attempt)
        whole.tally.merge(done.tally)
        whole = whole._replace(lines=whole.lines + done.lines, rejects=whole.rejects + done.rejects)
    return whole


def _units(reader: Reader, chunk: Chunk) -> list[list[Line | Record]]:
    """The chunk's rows by group. A row that cannot be judged is by itself, and ends no group."""
    units: list[list[Line | Record]] = []
    group: list[Line | Record] = []
    last = None
    for row in chunk.rows:
        try:
            key = reader.key(row)
        except UsageError:
            units.append([row])
            continue
        if key is None or key != last:
            group = []
            units.append(group)
        group.append(row)
        last = key
    return units


def _mended(job: Job, unit: Chunk, attempt: Attempt) -> ChunkResult:
    try:
        return attempt(unit)
    except WorkerDiedError as death:
        why = str(death)
    sound = [row for row in unit.rows if len(unit.rows) > 1 and _survives(unit._replace(rows=(row,)), attempt)]
    try:
        done = attempt(unit._replace(rows=tuple(sound)))
    except WorkerDiedError:
        done, sound = ChunkResult(b"", (), ScoreSummary()), []
    lost = [row for row in unit.rows if row not in sound]
    done.tally.merge(ScoreSummary(rows=len(lost), bad_rows=len(lost)))
    return done._replace(rejects=done.rejects + tuple(job.reject(unit, row, why) for row in lost))


def _survives(unit: Chunk, attempt: Attempt) -> bool:
    try:
        attempt(unit)
    except WorkerDiedError:
        return False
    return True
