"""What a stage consists of: measurements that run one after the other, each in a separate process, and only once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RESULTS = "results.jsonl"
TIMEOUT = "took longer than its limit"
PACKAGES = ("grpo_env", "torch", "triton", "transformers", "accelerate", "peft", "trl", "vllm")


@dataclass(frozen=True)
class Setup:
    """Options of the command. ``model`` is a folder with a real model and ``data`` one with GSM8K; both may lack."""

    out: Path
    device: str = "cuda"
    tiny: bool = False
    model: str | None = None
    data: Path | None = None

    @property
    def precision(self) -> str:
        """What a run on this device should compute in."""
        return "bf16" if self.device == "cuda" else "fp32"

    def has(self, need: str) -> bool:
        """Whether ``cuda``, ``model``, ``data`` or a package is at hand."""
        if need == "cuda":
            return self.device == "cuda"
        return getattr(self, need) is not None if need in ("model", "data") else find_spec(need) is not None


@dataclass(frozen=True)
class Measurement:
    """A named function that returns a result for JSON, raising if something is wrong.

    ``limit`` is in seconds. ``needs`` are those of ``Setup.has``; a measurement whose needs are not met is left out.
    """

    name: str
    run: Callable[[], dict[str, Any]] = field(compare=False)
    limit: float = 120
    needs: tuple[str, ...] = ()


def finished(path: Path) -> dict[str, dict[str, Any]]:
    """The last row of each measurement in a file of results; a line that was cut off by a crash is skipped."""
    rows: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows[row["measurement"]] = row
    return rows


def pending(setup: Setup, measurements: Sequence[Measurement], retry: bool) -> Iterator[Measurement]:
    """The measurements that have no result yet; with ``retry`` also those that failed."""
    rows = finished(setup.out / RESULTS)
    for measurement in measurements:
        missing = [need for need in measurement.needs if not setup.has(need)]
        row = rows.get(measurement.name)
        if missing:
            say(f"{measurement.name}: left out, needs {' and '.join(missing)}")
        elif row is not None and (row["ok"] or not retry):
            say(f"{measurement.name}: {'finished' if row['ok'] else 'failed'} before")
        else:
            yield measurement


def run_all(
    setup: Setup,
    measurements: Sequence[Measurement],
    command: Sequence[str],
    seconds: float,
    retry: bool = False,
    jobs: int = 1,
) -> bool:
    """Run what is pending, ``jobs`` at once, and append a row for each; returns whether ``seconds`` were enough.

    ``command`` runs a measurement whose name and answer file are appended to it. A measurement that is ended by
    ``seconds`` rather than by its own limit gets no row, so that it runs again the next time.
    """
    end = time.monotonic() + seconds
    (setup.out / "logs").mkdir(parents=True, exist_ok=True)
    results = setup.out / RESULTS
    if results.exists() and not results.read_bytes().endswith(b"\n"):  # its last line was cut off by a crash
        with results.open("ab") as file:
            file.write(b"\n")

    def is_done(measurement: Measurement) -> bool:
        left = end - time.monotonic()
        if left <= 0:
            return False
        say(f"{measurement.name}: started, at most {measurement.limit:.0f} s")
        row = run_one(setup, measurement, command, min(left, measurement.limit))
        if row["error"] == TIMEOUT and left < measurement.limit:
            say(f"{measurement.name}: not finished in the time left; it runs again the next time")
            return False
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        outcome = "ok" if row["ok"] else f"FAILED: {row['error']}"
        say(f"{measurement.name}: {outcome}, {row['seconds']:.1f} s  {short(row['result'])}")
        return True

    with ThreadPoolExecutor(jobs) as executor:
        return all(list(executor.map(is_done, pending(setup, measurements, retry))))


def run_one(setup: Setup, measurement: Measurement, command: Sequence[str], limit: float) -> dict[str, Any]:
    """A measurement's row. Its output goes to ``logs/NAME.log``; if it takes too long, all its processes are killed."""
    log = setup.out / "logs" / f"{measurement.name.replace('/', '-').replace(' ', '-')}.log"
    answer = log.with_suffix(".json")
    answer.unlink(missing_ok=True)
    start, error = time.monotonic(), None
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, measurement.name, str(answer)], stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            error = TIMEOUT
        finally:  # also after Ctrl-C, and what a finished measurement left running
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    result = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() and error is None else None
    if result is None and error is None:
        error = last_line(log) or f"exit code {process.returncode}"
    row = {"measurement": measurement.name, "ok": error is None, "error": error, "result": result}
    return {**row, "seconds": round(time.monotonic() - start, 2), "tiny": setup.tiny, **environment(setup.device)}


def last_line(path: Path) -> str:
    """The last line of a log, which for a traceback is the error."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def short(result: dict[str, Any] | None) -> str:
    """A result in one line, for the console."""
    text = json.dumps(result) if result else ""
    return text if len(text) <= 200 else f"{text[:197]}..."


@cache
def environment(device: str) -> dict[str, Any]:
    """Versions, and the name of the device, asked in another process so that this one does not occupy it."""
    versions = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    code = "import torch; print(torch.cuda.get_device_name(), torch.version.cuda, sep=', CUDA ')"
    name = "cpu"
    if device == "cuda":
        process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        name = process.stdout.strip() or "none"
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    return {"device": name, "commit": commit or None, "versions": versions}


def say(line: str) -> None:
    """Print a line with the time."""
    print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)
