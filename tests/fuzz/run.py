"""Fuzz everything for a while: ``make fuzz``, or ``FUZZ_SECONDS=3600 make fuzz`` for an hour.

Each part gets a share of the time. Findings become files in ``build/fuzz``, next to the corpora, which later runs
continue from; the last lines say how to run a finding again. The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "build" / "fuzz"
START = 5.0  # seconds that a part needs before and after its time

Part = Callable[[float], tuple[int, str]]  # seconds in; exit status and a summary out


def atheris(target: str) -> Part:
    def run(seconds: float) -> tuple[int, str]:
        program = [str(HERE / "fuzz_atheris.py"), target, str(FOLDER), f"-max_total_time={int(seconds)}"]
        status, output = logged(f"atheris-{target}", program, seconds)
        runs = re.search(r"^Done (\d+) runs", output, re.MULTILINE)
        coverage = re.findall(r"cov: (\d+)", output)
        return status, f"{runs[1] if runs else 'no'} inputs, {coverage[-1] if coverage else 'no'} branches"

    return run


def hypothesis(seconds: float) -> tuple[int, str]:
    program = [str(HERE / "fuzz_hypothesis.py"), "--minutes", f"{seconds / 60}", "--folder", str(FOLDER)]
    status, output = logged("hypothesis", program, seconds)
    return status if status != 1 else 0, output.strip().rpartition("\n")[2]  # 1: findings, which are counted as files


def stateful(test: str) -> Part:
    def run(seconds: float) -> tuple[int, str]:
        program = ["-m", "pytest", "-s", str(HERE / test), "--fuzz-seconds", f"{seconds:.0f}"]
        status, output = logged(f"stateful-{test.rpartition(':')[2]}", program, seconds + 300)
        return status, ", ".join(re.findall(r"^\w+: (\d+ examples)", output, re.MULTILINE))

    return run


def schemathesis(seconds: float) -> tuple[int, str]:
    status, output = logged("schemathesis", [str(HERE / "openapi.py"), "--seconds", f"{seconds:.0f}"], seconds + 60)
    cases = re.findall(r"(\d+) generated", output)
    return status, f"{cases[-1] if cases else 'no'} requests"


# A part and how much of the time it gets. The same names are arguments of this program.
PARTS: dict[str, tuple[Part, int]] = {
    "chain": (atheris("chain"), 4),
    "pair": (atheris("pair"), 4),
    "extract": (atheris("extract"), 3),
    "kinds": (atheris("kinds"), 3),
    "rest": (atheris("rest"), 2),
    "files": (atheris("files"), 4),
    "hypothesis": (hypothesis, 3),
    "score": (stateful("stateful_score.py::test_score"), 3),
    "program": (stateful("stateful_score.py::test_program"), 2),
    "serve": (stateful("stateful_serve.py::test_serve"), 3),
    "schemathesis": (schemathesis, 2),
}


def logged(name: str, program: list[str], seconds: float) -> tuple[int, str]:
    """Run a Python program with its output in a log. Returns its exit status and what it wrote."""
    log = FOLDER / f"{name}.log"
    command = [sys.executable, *program]
    with log.open("w") as file:
        print("$", " ".join(command), file=file, flush=True)
        try:
            status = subprocess.run(command, stdout=file, stderr=file, timeout=seconds + 300).returncode
        except subprocess.TimeoutExpired:
            status = 124
    return status, log.read_text(errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts to run; default: all")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "600")))
    options = parser.parse_args()
    names = options.parts or list(PARTS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    start = time.time()
    shares = sum(PARTS[name][1] for name in names)
    failed = []
    for name in names:
        part, share = PARTS[name]
        began = time.monotonic()
        status, summary = part(max(5.0, options.seconds * share / shares - START))
        print(
            f"{name:13} {time.monotonic() - began:5.0f} s  {summary}{f'; FAILED ({status})' if status else ''}",
            flush=True,
        )
        if status:
            failed.append(name)
    findings = [
        path for path in FOLDER.iterdir() if path.is_file() and path.suffix != ".log" and path.stat().st_mtime > start
    ]
    for path in sorted(findings):
        if path.suffix == ".json":
            print(f"finding: {sys.executable} tests/fuzz/replay.py {path}")
        else:  # of libFuzzer: crash-…, timeout-…, oom-…
            print(f"finding: {path}; give it to the command in the first line of the log of its part")
    for name in failed:
        print(f"failed: {name}; see {FOLDER}/*{name}*.log, and run {sys.executable} tests/fuzz/run.py {name} again")
    print(f"{len(findings)} findings, {len(failed)} failed parts, {time.time() - start:.0f} s")
    return int(bool(findings or failed))


if __name__ == "__main__":
    sys.exit(main())
