"""reasoning-gym 0.1.25: its data sets as tasks. ``problems`` generates entries, ``ReasoningGym`` uses their own scorer.

Task files name the two as ``module:name`` (docs/integrations.md).
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError, nearest
from grpo_env.workers.killable_worker import START_TIMEOUT, LateError, ProgramWorker, WorkerDiedError

MAX_LENGTH = 20_000  # characters of an answer
MEMORY = 3 * 2**30  # bytes of address space, libraries included
PATIENCE = 5.0  # seconds by the clock for one of processor time
_MAX_CANDIDATES = 4  # entries generated for each one used, at most


def problems(split: str, size: int, seed: int, dataset: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Yield ``size`` entries ``{question, answer, metadata, arguments}`` of a data set of reasoning-gym.

    ``arguments`` configure the data set. Questions are unique, and their hash assigns half of them to each split,
    whatever the seed. (Seeds alone do not separate splits: reasoning-gym generates entry ``i`` from ``seed + i``, so
    adjacent seeds share all but one entry.) Raises ``UsageError`` for unknown names and keys, and if there are too few
    different questions.
    """
    from reasoning_gym.factory import DATASETS, create_dataset

    if split not in ("train", "eval"):
        raise UsageError(f"unknown split {split!r}; use 'train' or 'eval'")
    if dataset not in DATASETS or dataset == "composite":
        raise UsageError(f"dataset {dataset!r}; {nearest(dataset, DATASETS.keys() - {'composite'})}")
    start = int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4]) // 2
    candidates = _MAX_CANDIDATES * size + 100
    try:
        entries = create_dataset(dataset, seed=start, size=candidates, **arguments)
    except (TypeError, ValueError, AssertionError) as error:
        raise UsageError(f"{dataset}: {error}") from error
    seen: set[bytes] = set()
    for index in range(candidates):
        entry = json.loads(json.dumps(entries[index]))
        digest = hashlib.sha256(entry["question"].encode("utf-8", "backslashreplace")).digest()
        if digest not in seen and (digest[0] % 2 == 1) == (split == "eval"):
            seen.add(digest)
            yield {key: entry[key] for key in ("question", "answer", "metadata")} | {"arguments": arguments}
        if len(seen) == size:
            return
    raise UsageError(f"{dataset}: found only {len(seen)} different {split} questions; lower limit or widen the ranges")


@dataclass(frozen=True)
class ReasoningGym(Verifier):
    """The value that reasoning-gym's own scorer gives to the text in the answer tag: 0 to 1, often partial credit.

    The row is the entry: columns ``question``, ``answer``, ``metadata`` with its ``source_dataset``, and ``arguments``
    if the data set is configured. The text is that of the last closed answer tag after the reasoning, stripped, or all
    of it if the format has no answer tag. Without a closed tag the status is ``no_answer``, as for a text on which the
    scorer raises although it can score the gold answer.

    Some of these scorers evaluate the text (sympy's parser). Each answer is therefore scored in a process of its own,
    without files, network or child processes, which is killed when it is late (``timeout``) or too large
    (``over_limit``). Hostile text could still set its own score; if that matters, use a verifier of this project
    (``accuracy``, ``countdown``).
    """

    format: Format = field(default_factory=Format)
    timeout: float = 5.0
    """Seconds of processor time for one answer, more than 0. The limit by the clock is five times as long."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout < 86400:
            raise UsageError(f"timeout is {self.timeout!r}; give seconds, more than 0")

    @property
    def default_deadline(self) -> float:
        return 2 * START_TIMEOUT + 2 * PATIENCE * self.timeout

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "bad_gold", explanation=problem)
        entry = {key: example.info[key] for key in ("question", "answer", "metadata")}
        gold = entry["answer"]
        answer = _answer(self.format, completion)
        if answer is None:
            return Score(0.0, "no_answer", gold=gold, explanation="no closed answer tag after the reasoning")
        if len(answer) > MAX_LENGTH:
            return Score(0.0, "over_limit", gold=gold, explanation=f"an answer of {len(answer):,} characters")
        request = {"entry": entry, "answer": answer, "arguments": example.info.get("arguments") or {}}
        try:
            reply = _worker(self.timeout, os.getpid()).ask(request, PATIENCE * self.timeout)
        except (LateError, WorkerDiedError):
            reply = {"status": "timeout", "why": "not scored in time"}
        if "status" in reply:
            value = None if reply["status"] == "error" else 0.0
            return Score(value, reply["status"], answer=answer[:300], gold=gold, explanation=reply["why"])
        name = entry["metadata"]["source_dataset"]
        return Score(reply["value"], answer=answer[:300], gold=gold, explanation=f"the scorer of {name}")

    def problem(self, example: Example) -> str | None:
        for column in ("question", "answer", "metadata"):
            if column not in example.info:
                return f"the row has no column {column!r}, which every entry of reasoning-gym has"
        metadata = example.info["metadata"]
        if not isinstance(metadata, Mapping) or not isinstance(metadata.get("source_dataset"), str):
            return "the row's metadata has no 'source_dataset'"
        return None


def _answer(format: Format, completion: Completion) -> str | None:
    # Imported here: the verifiers import the package, not the other way round.
    from grpo_env.verifiers.blocks import after_block, find_tags, whole_turn

    text = after_block(whole_turn(format, completion)[0], format.reasoning)
    if text is None or format.answer is None:
        return text and text.strip()
    tags = find_tags(text, format.answer)
    for opening, closing in zip(tags[-2::-1], tags[:0:-1], strict=True):
        if closing.closing and not opening.closing:
            return text[opening.end : closing.start].strip()
    return None


@lru_cache
def _worker(timeout: float, owner: int) -> ProgramWorker:
    """The scoring program for a timeout. ``owner`` is this process's id: a forked process has its own program."""
    folder = tempfile.mkdtemp(prefix="grpo_env-reasoning_gym-")
    atexit.register(_remove, folder, owner)
    # One thread, as a fork keeps only the one that forks.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return ProgramWorker(f"{__name__}_worker", folder, str(MEMORY), str(timeout), environment=threads)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
