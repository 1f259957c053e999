"""Two stages that fit a GPU of which a quarter of an hour is to be had.

    python benchmarks/gpu/run.py A --out runs/gpu --seconds 270
    python benchmarks/gpu/run.py B --out runs/gpu --seconds 420 --model FOLDER --data GSM8K_FOLDER
    python benchmarks/gpu/run.py report --out runs/gpu                             # the tables, in Markdown
    python benchmarks/gpu/run.py A --out /tmp/tiny --device cpu --tiny             # a rehearsal without a GPU

    A    ceilings; bfloat16 against the CPU in float32, LoRA, resuming; a step at 1.5B, and TRL's with ``generate``
    B    held-out accuracy on GSM8K before, halfway and after training with ours, then with TRL's trainer

Every measurement runs in a separate process with a time limit and a log in ``OUT/logs``. Each row of numbers is
appended to ``OUT/results.jsonl`` as soon as it is there, and a last one with the outcome; what succeeded is not
measured again. Nothing is downloaded. TRL's side needs ``benchmarks/requirements.txt``.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parent.parent))
import learning
import measure

import trainer

# Stages as groups, whose measurements run at once, one group after the other; each has a function and a limit in
# seconds.
STAGES = {
    "A": [
        {"ceilings": (measure.ceilings, 45)},
        {
            "gradient": (measure.gradient, 80),
            "LoRA": (measure.lora, 80),
            "resume": (measure.resume, 80),
            "random model": (measure.random_model, 80),
        },
        {"step/ours": (partial(measure.step, "ours"), 90)},
        {"step/trl": (partial(measure.step, "trl"), 150)},
    ],
    "B": [
        {"curve/before": (measure.before, 90)},
        {"curve/ours": (partial(measure.curve, "ours"), 300)},
        {"curve/trl": (partial(measure.curve, "trl"), 600)},
    ],
}


def run_stage(out: Path, groups: Sequence[dict], command: Sequence[str], seconds: float) -> None:
    """Run what has not succeeded yet; ``command`` runs a measurement whose name and seconds are appended to it."""
    end = time.monotonic() + seconds
    (out / "logs").mkdir(parents=True, exist_ok=True)
    (out / measure.RESULTS).touch()
    done = {row["measurement"] for row in measure.read(out) if row.get("ok")}
    for group in groups:
        names = [name for name in group if name not in done]
        with ThreadPoolExecutor(len(group)) as executor:
            left = end - time.monotonic()
            limits = [min(group[name][1], left) for name in names]
            list(executor.map(partial(run_one, out, command), names, limits))


def run_one(out: Path, command: Sequence[str], name: str, limit: float) -> None:
    """Run a measurement and append its outcome; if it takes too long, all its processes are killed."""
    if limit < 1:
        print(f"{name}: no time is left", flush=True)
        return
    start, error = time.monotonic(), None
    log = out / "logs" / f"{name.replace('/', '-').replace(' ', '-')}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, name, f"{limit:.1f}"], stdout=output, stderr=subprocess.STDOUT, process_group=0
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            error = f"took longer than {limit:.0f} s"
        finally:  # also what a finished measurement left running
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if error is None and process.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        error = next((line.strip()[:300] for line in reversed(lines) if line.strip()), f"code {process.returncode}")
    seconds = round(time.monotonic() - start, 1)
    learning.append(
        out / measure.RESULTS, {"measurement": name}, {"ok": error is None, "error": error, "took": seconds}
    )
    print(f"{time.strftime('%H:%M:%S')}  {name}: {error or 'ok'}, {seconds} s", flush=True)


def report(out: Path) -> None:
    """Print outcomes and the numbers of the checks, then the tables of steps and curves."""
    sides: dict[str, dict[str, list[measure.Row]]] = {"step": {}, "curve": {}}
    for row in measure.read(out):
        name = row.pop("measurement")
        kind, _, side = name.partition("/")
        if side and "ok" not in row:
            sides[kind].setdefault(side, []).append({"seed": 0, **row})
        else:
            numbers = (
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
            print(f"- {name}: {', '.join(numbers)}")
    if sides["step"]:
        print()
        trainer.print_steps(sides["step"])
        rates = (f"{side} {row['loss_tflops']:.3g}" for side, rows in sides["step"].items() for row in rows)
        print(f"\nTFLOP/s of the loss, without attention: {', '.join(rates)}")
    if sides["curve"]:
        print()
        learning.print_points({side: [points] for side, points in sides["curve"].items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=(*STAGES, "report"))
    parser.add_argument("--out", type=Path, required=True, help="folder of results and logs")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="smallest shapes, for a rehearsal")
    parser.add_argument("--model", default="bundled", help="folder of the instruct model of stage B")
    parser.add_argument("--data", type=Path, help="folder with gsm8k_train.jsonl and gsm8k_test.jsonl, for stage B")
    parser.add_argument("--seconds", type=float, default=900, help="seconds of the stage")
    parser.add_argument("--inner", nargs=2, metavar=("NAME", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out = options.out.resolve()
    if options.stage == "report":
        report(options.out)
        return
    if options.stage == "B" and options.data is None:
        parser.error("stage B needs --data")
    options.data = options.data and options.data.resolve()
    if options.model != "bundled":
        options.model = str(Path(options.model).resolve())
    groups = STAGES[options.stage]
    if options.inner:
        name, options.limit = options.inner[0], float(options.inner[1])
        ((function, _),) = [group[name] for group in groups if name in group]
        function(options, partial(learning.append, options.out / measure.RESULTS, {"measurement": name}))
        return
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    # For both sides, see ``install_attention``: at each new length, ``generate`` would compile cuDNN's kernel.
    os.environ["TORCH_CUDNN_SDPA_DEPRIORITIZED"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1" if options.device == "cpu" else "3"
    run_stage(options.out, groups, [sys.executable, __file__, *sys.argv[1:], "--inner"], options.seconds)


if __name__ == "__main__":
    main()
