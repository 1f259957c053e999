"""Completions scored per second, memory, and where the time goes; and runs that are killed and resume.

    GRPO_ENV_DATA=FOLDER python benchmarks/scoring.py --rows 1000000
    GRPO_ENV_DATA=FOLDER python benchmarks/scoring.py --rows 20000 --kills 20

The rows are GSM8K's published model completions (gsm8k_model_solutions.jsonl, 5,276 of them), repeated, one per row;
without ``GRPO_ENV_DATA``, completions of the bundled arithmetic problems. They are scored by the task and by
``accuracy`` alone, and with ``--peer-python`` by plain loops over the functions of others.

Fractions are of processor time, which hardly depends on what else the machine does: ``rows read, scored and written``
is that of the scoring processes, ``splitting, communication, writing`` that of the process that splits the file and
writes the output. Starting processes counts only in the wall time. ``--kills`` kills the command (SIGKILL) at random
moments, restarts it until it finishes, and compares its output with that of an uninterrupted run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil
from natural import run_side
from rich.console import Console

from grpo_env.scoring import Options, OutputFile, ScoreSummary, score_files
from grpo_env.taskfile.task import Task, load_task

MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


def make_rows() -> tuple[str, list[dict[str, Any]]]:
    """The name of the task, and distinct rows for it."""
    folder = os.environ.get("GRPO_ENV_DATA")
    if folder:
        problems = map(json.loads, (Path(folder) / "gsm8k_model_solutions.jsonl").open(encoding="utf-8"))
        return "gsm8k", [
            {"question": row["question"], "answer": row["ground_truth"].split("A:")[-1].strip(), "completion": text}
            for row in problems
            for text in (row[model]["solution"] for model in MODELS)
        ]
    examples = load_task("arithmetic").examples("train")
    return "arithmetic", [
        {
            **example.info,
            "completion": "<think>\n{}\n</think>\n<answer>\n{}\n</answer>".format(
                "\n".join(example.info["equations"]), int(example.answer or 0) + number % 2
            ),
        }
        for number, example in enumerate(examples)
    ]


def write_rows(path: Path, rows: list[dict[str, Any]], count: int) -> None:
    """Write ``count`` rows of JSONL, each with a different id."""
    texts = [json.dumps(row, ensure_ascii=False)[1:] for row in rows]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f'{{"id": "{number}", {text}\n' for number, text in enumerate(islice(cycle(texts), count)))


class Memory:
    """Peak resident memory of this process and of its largest scoring process, sampled ten times per second."""

    def __enter__(self) -> Memory:
        self.parent = self.largest_child = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        parent = psutil.Process()
        while not self._done.wait(0.1):
            self.parent = max(self.parent, parent.memory_info().rss)
            for child in parent.children(recursive=True):
                try:
                    if "function_calls" in " ".join(child.cmdline()):
                        self.largest_child = max(self.largest_child, child.memory_info().rss)
                except psutil.Error:
                    continue


def measure(task: Task, file: Path, out: Path, options: Options) -> None:
    """Score a file and print time and memory."""
    start, cpu_start = time.perf_counter(), time.process_time()
    with Memory() as memory:
        summary = score_files(task, [file], OutputFile(out, overwrite=True), options, console=Console(stderr=True))
    wall, parent_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    report(summary, wall, parent_seconds, memory, file.stat().st_size, out.stat().st_size)


def plain_loops(rows: list[dict[str, Any]], python: str) -> None:
    """Print how many of the rows a loop over one function judges, in one process and without reading or writing."""
    given = [{"gold": row["answer"], "text": row["completion"]} for row in rows]
    for side in ("math-verify", "trl"):
        seconds = run_side(side, python, given)["cpu"]
        print(f"a loop over {side}: {len(given) / seconds:,.0f} per second of processor time")


def report(summary: ScoreSummary, wall: float, parent_seconds: float, memory: Memory, read: int, written: int) -> None:
    """Print a measurement. ``read`` and ``written`` are sizes in bytes."""
    total, count = parent_seconds + summary.seconds, summary.completions
    print(f"{count:,} completions ({read / count:,.0f} bytes each, {written / count:,.0f} written) in {wall:,.1f} s")
    print(f"{count / wall:,.0f} per second; {count / total:,.0f} per second of processor time ({total:,.1f} s)")
    print(f"memory: {memory.parent / 2**20:,.0f} MiB, largest scoring process {memory.largest_child / 2**20:,.0f} MiB")
    parts = {
        "rows read, scored and written": summary.seconds,
        "splitting, communication, writing": parent_seconds,
    }
    for part, seconds in parts.items():
        print(f"  {part:34} {seconds:9,.1f} s {seconds / total:6.1%} {seconds / count * 1e6:8,.1f} microseconds each")


def command(task: str, file: Path, out: Path, workers: int) -> list[str]:
    return [sys.executable, "-m", "grpo_env", "score", task, str(file), "--out", str(out), "--workers", str(workers)]


def kill_and_resume(task: str, file: Path, folder: Path, workers: int, kills: int, seed: int) -> None:
    """Kill the command at random moments and compare the outputs; exit code 1 if they differ."""
    rng = random.Random(seed)
    expected, out = folder / "uninterrupted.jsonl", folder / "killed.jsonl"
    start = time.perf_counter()
    subprocess.run(command(task, file, expected, workers), check=True, capture_output=True)
    duration = time.perf_counter() - start
    killed = finished = orphans = 0
    while killed < kills:
        process = subprocess.Popen(command(task, file, out, workers), stderr=subprocess.PIPE, text=True)
        try:
            _, messages = process.communicate(timeout=rng.uniform(0.1, duration))
            if process.returncode:
                sys.exit(messages)
            print(f"finished before it was killed: {resume_message(messages)}")
            finished += 1
            check_same_rows(expected, out)
            out.unlink()
            continue
        except subprocess.TimeoutExpired:
            children = psutil.Process(process.pid).children(recursive=True)
            process.kill()
        _, messages = process.communicate()
        killed += 1
        print(f"kill {killed}: {resume_message(messages)}", flush=True)
        if out.exists():  # the run had finished when it was killed
            check_same_rows(expected, out)
            out.unlink()
            finished += 1
        orphans += len(psutil.wait_procs(children, timeout=30)[1])
    last = subprocess.run(command(task, file, out, workers), check=True, capture_output=True, text=True)
    print(f"last run: {resume_message(last.stderr)}")
    check_same_rows(expected, out)
    print(f"{kills} kills; {finished + 1} runs finished, each with the rows of the uninterrupted run, in order")
    print(f"{orphans} scoring processes outlived a killed run by more than 30 s")


def resume_message(messages: str) -> str:
    return next((line for line in messages.splitlines() if line.startswith("resuming")), "from the beginning")


def check_same_rows(expected: Path, out: Path) -> None:
    """Exit with code 1 if two outputs differ, except for the seconds that scoring took."""
    pairs = zip(rows_without_seconds(expected), rows_without_seconds(out), strict=True)
    for number, (row, other) in enumerate(pairs, start=1):
        if row != other:
            sys.exit(f"row {number} differs:\n{row}\n{other}")


def rows_without_seconds(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            del row["seconds"]
            yield row


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kills", type=int, default=0, help="kill the command this many times")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments to kill at")
    parser.add_argument("--parquet", action="store_true", help="write Parquet")
    parser.add_argument("--no-text", action="store_true", help="leave out prompts and completions")
    parser.add_argument("--advantages", action="store_true", help="write advantages")
    parser.add_argument("--peer-python", help="python of the environment with TRL and math-verify, for plain loops")
    parser.add_argument("--folder", type=Path, help="parent of the temporary folder for the files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        task, rows = make_rows()
        write_rows(folder / "rows.jsonl", rows, options.rows)
        if options.kills:
            kill_and_resume(task, folder / "rows.jsonl", folder, options.workers, options.kills, options.seed)
        else:
            chosen = Options(text=not options.no_text, advantages=options.advantages, workers=options.workers)
            out = folder / ("scores.parquet" if options.parquet else "scores.jsonl")
            for name, changes in {task: {}, "accuracy alone": {"verifiers": {"accuracy": {}}, "cases": []}}.items():
                print(f"\n{name}")
                measure(load_task(task, changes), folder / "rows.jsonl", out, chosen)
            if options.peer_python:
                plain_loops(rows[:5000], options.peer_python)


if __name__ == "__main__":
    main()
