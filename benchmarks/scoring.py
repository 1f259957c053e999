"""Completions scored per second, memory, the time spent on anything but verdicts; and runs that are killed and go on.

    GRPO_ENV_DATA=FOLDER python benchmarks/scoring.py --rows 1000000
    GRPO_ENV_DATA=FOLDER python benchmarks/scoring.py --rows 20000 --kills 20

The rows are GSM8K's published model completions (gsm8k_model_solutions.jsonl, 5,276 of them) over and over, one a row;
without ``GRPO_ENV_DATA``, completions of the bundled arithmetic problems. What is timed is the command itself.

Shares are of processor time, which a busy machine hardly changes: ``rows read and written`` by the processes that
judge, ``handed over`` by the one that cuts the file up and writes the output. Starting processes and their ends of the
pipes are in the wall time alone. ``--kills`` ends the command by SIGKILL at random moments, starts it again until it
is done, and compares its output with that of a run nobody disturbed.
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
from rich.console import Console

from grpo_env.scoring import Options, ScoreSummary, score_files
from grpo_env.taskfile.task import load_task

MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


def make_rows() -> tuple[str, list[dict[str, Any]]]:
    """The task, and different rows for it."""
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
    """``count`` rows of JSONL, each with an id of its own."""
    texts = [json.dumps(row, ensure_ascii=False)[1:] for row in rows]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f'{{"id": "{number}", {text}\n' for number, text in enumerate(islice(cycle(texts), count)))


class Memory:
    """The largest resident memory of this process, and of any that scores for it, looked at ten times a second."""

    def __enter__(self) -> Memory:
        self.own = self.largest_child = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._done.wait(0.1):
            self.own = max(self.own, me.memory_info().rss)
            for child in me.children(recursive=True):
                try:
                    if "spawn_main" in " ".join(child.cmdline()):
                        self.largest_child = max(self.largest_child, child.memory_info().rss)
                except psutil.Error:
                    continue


def measure(task: str, file: Path, out: Path, workers: int, options: Options) -> None:
    """Score a file and print what it took."""
    start, before = time.perf_counter(), time.process_time()
    with Memory() as memory:
        tally = score_files(load_task(task), [file], out, options, workers=workers, console=Console(stderr=True))
    wall, own = time.perf_counter() - start, time.process_time() - before
    report(tally, wall, own, memory, file.stat().st_size, out.stat().st_size)


def report(tally: ScoreSummary, wall: float, own: float, memory: Memory, read: int, written: int) -> None:
    """Print one measurement."""
    total, count = own + tally.seconds, tally.completions
    print(f"{count:,} completions ({read / count:,.0f} bytes each, {written / count:,.0f} written) in {wall:,.1f} s")
    print(f"{count / wall:,.0f} a second; {count / total:,.0f} per second of processor time ({total:,.1f} s)")
    print(f"memory: {memory.own / 2**20:,.0f} MiB, largest scoring process {memory.largest_child / 2**20:,.0f} MiB")
    shares = {
        "verdicts": tally.scoring_seconds,
        "rows read and written": tally.seconds - tally.scoring_seconds,
        "handed over": own,
    }
    for what, seconds in shares.items():
        print(f"  {what:30} {seconds:9,.1f} s {seconds / total:6.1%} {seconds / count * 1e6:8,.1f} microseconds each")


def command(task: str, file: Path, out: Path, workers: int) -> list[str]:
    return [sys.executable, "-m", "grpo_env", "score", task, str(file), "--out", str(out), "--workers", str(workers)]


def trial(task: str, file: Path, folder: Path, workers: int, kills: int, seed: int) -> None:
    """Kill the command at random moments and compare what comes out; exit code 1 if it is not the same."""
    draw = random.Random(seed)
    expected, out = folder / "undisturbed.jsonl", folder / "killed.jsonl"
    start = time.perf_counter()
    subprocess.run(command(task, file, expected, workers), check=True, capture_output=True)
    usual = time.perf_counter() - start
    done = finished = orphans = 0
    while done < kills:
        run = subprocess.Popen(command(task, file, out, workers), stderr=subprocess.PIPE, text=True)
        try:
            _, said = run.communicate(timeout=draw.uniform(0.1, usual))
            if run.returncode:
                sys.exit(said)
            print(f"finished before it was killed: {going_on(said)}")
            finished += 1
            differs(expected, out)
            out.unlink()
            continue
        except subprocess.TimeoutExpired:
            children = psutil.Process(run.pid).children(recursive=True)
            run.kill()
        _, said = run.communicate()
        done += 1
        print(f"kill {done}: {going_on(said)}", flush=True)
        if out.exists():  # it came too late
            differs(expected, out)
            out.unlink()
            finished += 1
        orphans += len(psutil.wait_procs(children, timeout=30)[1])
    last = subprocess.run(command(task, file, out, workers), check=True, capture_output=True, text=True)
    print(f"the end: {going_on(last.stderr)}")
    differs(expected, out)
    print(f"{kills} kills, {finished + 1} runs came to their end, each with the rows of the undisturbed run, in order")
    print(f"{orphans} scoring processes outlived the killed one by more than 30 s")


def going_on(said: str) -> str:
    return next((line for line in said.splitlines() if line.startswith("resuming")), "from the beginning")


def differs(expected: Path, out: Path) -> None:
    """End the program if two outputs differ in more than the time that verdicts took."""
    for number, (one, other) in enumerate(zip(rows_of(expected), rows_of(out), strict=True), start=1):
        if one != other:
            sys.exit(f"row {number} differs:\n{one}\n{other}")


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
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
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the moments to kill at")
    parser.add_argument("--parquet", action="store_true", help="write Parquet")
    parser.add_argument("--no-text", action="store_true", help="leave prompts and completions out")
    parser.add_argument("--advantages", action="store_true")
    parser.add_argument("--folder", type=Path, help="for the files; default: a temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        task, rows = make_rows()
        write_rows(folder / "rows.jsonl", rows, given.rows)
        if given.kills:
            trial(task, folder / "rows.jsonl", folder, given.workers, given.kills, given.seed)
        else:
            options = Options(text=not given.no_text, advantages=given.advantages)
            out = folder / ("scores.parquet" if given.parquet else "scores.jsonl")
            measure(task, folder / "rows.jsonl", out, given.workers, options)


if __name__ == "__main__":
    main()
