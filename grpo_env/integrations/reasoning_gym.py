"""reasoning-gym's data sets as tasks: ``problems`` generates their entries, ``ReasoningGym`` asks their own scorer.

Checked against reasoning-gym 0.1.25. A task names the two by ``module:name`` (docs/integrations.md).
"""

from __future__ import annotations

import atexit
import hashlib
import json
import math
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grpo_env.core import Completion, Example, Format, Score, Verifier
from grpo_env.errors import UsageError, nearest

MAX_LENGTH = 20_000  # characters of an answer
MEMORY = 3 * 2**30  # bytes of address space, libraries included
PATIENCE = 5.0  # seconds by the clock for one of processor time
START_UP = 120.0  # seconds to import reasoning_gym on a busy machine
_DRAWS = 4  # entries drawn for one that is kept, at most


def problems(split: str, size: int, seed: int, dataset: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Yield ``size`` entries ``{question, answer, metadata, arguments}`` of a data set of reasoning-gym.

    ``arguments`` are the data set's own configuration. No question comes twice, and its hash decides which split it
    belongs to, whatever the seeds: half of them go to either. (Seeds alone do not separate splits there: entry ``i``
    is drawn from ``seed + i``, so neighbouring seeds share all but one of their entries.) Raises ``UsageError`` for
    unknown names and keys, and where there are too few different questions.
    """
    from reasoning_gym.factory import DATASETS, create_dataset

    if split not in ("train", "eval"):
        raise UsageError(f"unknown split {split!r}; use 'train' or 'eval'")
    if dataset not in DATASETS or dataset == "composite":
        raise UsageError(f"dataset {dataset!r}; {nearest(dataset, DATASETS.keys() - {'composite'})}")
    start = int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4]) // 2
    draws = _DRAWS * size + 100
    try:
        entries = create_dataset(dataset, seed=start, size=draws, **arguments)
    except (TypeError, ValueError, AssertionError) as error:
        raise UsageError(f"{dataset}: {error}") from error
    seen: set[bytes] = set()
    for index in range(draws):
        entry = json.loads(json.dumps(entries[index]))
        digest = hashlib.sha256(entry["question"].encode("utf-8", "backslashreplace")).digest()
        if digest not in seen and (digest[0] % 2 == 1) == (split == "eval"):
            seen.add(digest)
            yield {key: entry[key] for key in ("question", "answer", "metadata")} | {"arguments": arguments}
        if len(seen) == size:
            return
    raise UsageError(f"{dataset}: found only {len(seen)} different {split} questions; lower limit or widen its ranges")


@dataclass(frozen=True)
class ReasoningGym(Verifier):
    """The value that reasoning-gym's own scorer gives to the text inside the answer tag: 0 to 1, often with shares.

    The entry is the row: columns ``question``, ``answer``, ``metadata`` with its ``source_dataset``, and
    ``arguments`` where the data set has a configuration of its own. The text is that of the last closed answer tag
    behind the reasoning, without white space around it, or all of it where the format has no answer tag; without one
    the status is ``no_answer``, as for a text on which the scorer raises while it can score the gold answer.

    Some of those scorers evaluate what they are given (sympy's parser). So each answer is judged in a process of its
    own without files, network and children, and ended when it is late (``timeout``) or too large (``over_limit``).
    What such a text may still do is to reach its own verdict: where that matters use a verifier of this project
    (``accuracy``, ``countdown``).
    """

    format: Format = field(default_factory=Format)
    timeout: float = 5.0
    """Seconds of processor time for one answer, more than 0; by the clock five times as long."""

    def __post_init__(self) -> None:
        if not 0 < self.timeout < 86400:
            raise UsageError(f"timeout is {self.timeout!r}; give seconds, more than 0")

    def __call__(self, example: Example, completion: Completion) -> Score:
        if problem := self.problem(example):
            return Score(None, "bad_gold", explanation=problem)
        entry = {key: example.info[key] for key in ("question", "answer", "metadata")}
        gold = entry["answer"]
        answer = _answer(self.format, completion)
        if answer is None:
            return Score(0.0, "no_answer", gold=gold, explanation="no closed answer tag behind the reasoning")
        if len(answer) > MAX_LENGTH:
            return Score(0.0, "over_limit", gold=gold, explanation=f"an answer of {len(answer):,} characters")
        request = {"entry": entry, "answer": answer, "arguments": example.info.get("arguments") or {}}
        reply = _scorers(self.timeout).ask(request)
        shown = answer[:300]
        if reply is None or "late" in reply:
            return Score(0.0, "timeout", answer=shown, gold=gold, explanation="no verdict in time")
        if "over" in reply:
            return Score(0.0, "over_limit", answer=shown, gold=gold, explanation=f"too large: {reply['over']}")
        if "unread" in reply:
            why = f"its scorer raised {reply['unread']}"
            return Score(0.0, "no_answer", answer=shown, gold=gold, explanation=why)
        if "error" in reply or not math.isfinite(reply["value"]):
            return Score(None, "error", gold=gold, explanation=str(reply.get("error", "no finite value")))
        name = entry["metadata"]["source_dataset"]
        return Score(reply["value"], answer=shown, gold=gold, explanation=f"the scorer of {name}")

    def problem(self, example: Example) -> str | None:
        for column in ("question", "answer", "metadata"):
            if column not in example.info:
                return f"the row has no column {column!r}, which every entry of reasoning-gym has"
        metadata = example.info["metadata"]
        if not isinstance(metadata, Mapping) or not isinstance(metadata.get("source_dataset"), str):
            return "the row's metadata has no 'source_dataset'"
        return None


def _answer(format: Format, completion: Completion) -> str | None:
    # By name and late: the tree of imports points from verifiers to here, not back.
    from grpo_env.verifiers.blocks import find_tags, whole_turn

    text = whole_turn(format, completion)[0]
    if format.reasoning:
        tags = find_tags(text, format.reasoning)
        if tags and not tags[-1].closing:
            return None
        text = text[tags[-1].end :] if tags else text
    if format.answer is None:
        return text.strip()
    tags = find_tags(text, format.answer)
    for opening, closing in zip(tags[-2::-1], tags[:0:-1], strict=True):
        if closing.closing and not opening.closing:
            return text[opening.end : closing.start].strip()
    return None


class _Worker:
    """The one scoring process of this process for a timeout. Threads take turns."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.mkdtemp(prefix="grpo_env-reasoning_gym-")
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The reply, ``None`` if there was none in time; the process is then ended."""
        with self._lock:
            process = self._process or self._start()
            assert process.stdin is not None
            reply = None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                reply = _line(process, PATIENCE * self._timeout)
            finally:
                if reply is None:
                    self._end()
            return None if reply is None else json.loads(reply)

    def stop(self) -> None:
        """End the process and remove its folder, unless they are those of the process this one was forked from."""
        if os.getpid() != self._owner:
            return
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", f"{__name__}_worker", self._folder, str(MEMORY), str(self._timeout)]
        # One thread, as a fork keeps only the one that forks.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads},
        )
        if _line(self._process, START_UP) is None:
            self._end()
            raise RuntimeError(f"reasoning-gym's scorer did not start; is it installed? Try: {' '.join(command)}")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.close()
            try:
                process.stdin.close()
            except BrokenPipeError:  # it ended by itself before it had read all
                return


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """The next line, which comes at once or not at all; ``None`` when the time is up or the process has ended."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], seconds)[0]:
        return None
    line = process.stdout.readline()
    return line if line.endswith(b"\n") else None


_workers: dict[tuple[int, float], _Worker] = {}


def _scorers(timeout: float) -> _Worker:
    """The worker of this process, not of the one that it was forked from."""
    key = os.getpid(), timeout
    if key not in _workers:
        _workers[key] = _Worker(timeout)
    return _workers[key]
