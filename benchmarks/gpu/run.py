"""Two stages that fit a GPU of which a quarter of an hour is to be had.

    python benchmarks/gpu/run.py A --out runs/gpu --seconds 270
    python benchmarks/gpu/run.py B --out runs/gpu --seconds 420 --model FOLDER --data GSM8K_FOLDER
    python benchmarks/gpu/run.py report --out runs/gpu                             # the tables, in Markdown
    python benchmarks/gpu/run.py A --out /tmp/tiny --device cpu --tiny             # a rehearsal without a GPU

    A    ceilings; bfloat16 against the CPU in float32, LoRA, resuming; a step at 1.5B, and TRL's with ``generate``
    B    held-out accuracy on GSM8K before, halfway and after training with ours, then with TRL's trainer

Every measurement runs in a separate process with a time limit and a log in ``OUT/logs``. Each row of numbers is
appended to ``OUT/results.jsonl`` as soon as it is there, and a last one with the outcome; what has that one is not
measured again. Nothing is downloaded. TRL's side needs ``benchmarks/requirements.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(1, str(Path(__file__).parent.parent))
import learning
import measure
from measure import Setup

import trainer

Row = dict[str, Any]
PACKAGES = ("grpo_env", "torch", "triton", "transformers", "accelerate", "peft", "trl")


class Measurement(NamedTuple):
    """A function, and the most seconds that it gets, of which it also gets at most this share of what is left."""

    run: Callable[[Setup, measure.Write], None]
    limit: float
    share: float = 1.0


# Stages as groups, whose measurements run at once, one group after the other.
STAGES: dict[str, list[dict[str, Measurement]]] = {
    "A": [
        {"ceilings": Measurement(measure.ceilings, 45)},
        {
            "gradient": Measurement(measure.gradient, 80),
            "decoding": Measurement(measure.decoding, 80),
            "LoRA": Measurement(measure.lora, 80),
            "resume": Measurement(measure.resume, 80),
            "random model": Measurement(measure.random_model, 80),
        },
        {"step/ours": Measurement(partial(measure.step, "ours"), 90)},
        {"step/trl": Measurement(partial(measure.step, "trl"), 150)},
    ],
    "B": [
        {"curve/before": Measurement(measure.before, 90)},
        {"curve/ours": Measurement(partial(measure.curve, "ours"), 300, 0.65)},
        {"curve/trl": Measurement(partial(measure.curve, "trl"), 600)},
    ],
}


def append(out: Path, **row: Any) -> None:
    """Append a row in one write, so that processes that run at once do not mix their lines."""
    file = os.open(out / "results.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, (json.dumps(row) + "\n").encode())
    os.close(file)


def read(out: Path) -> list[Row]:
    """All rows; a line that was cut off is skipped."""
    rows, path = [], out / "results.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with suppress(ValueError):
            rows.append(json.loads(line))
    return rows


def run_stage(setup: Setup, groups: Sequence[dict[str, Measurement]], command: Sequence[str], seconds: float) -> None:
    """Run what has no outcome yet; ``command`` runs a measurement whose name and seconds are appended to it."""
    end = time.monotonic() + seconds
    (setup.out / "logs").mkdir(parents=True, exist_ok=True)
    path = setup.out / "results.jsonl"
    if path.exists() and not path.read_bytes().endswith(b"\n"):  # its last line was cut off
        path.write_bytes(path.read_bytes() + b"\n")
    done = {row["measurement"] for row in read(setup.out) if "ok" in row}
    append(setup.out, measurement="environment", **environment(setup))
    for group in groups:
        chosen = {name: each for name, each in group.items() if name not in done and _has_peer(name)}
        with ThreadPoolExecutor(len(group)) as executor:
            left = end - time.monotonic()
            limits = [min(each.limit, each.share * left) for each in chosen.values()]
            list(executor.map(partial(run_one, setup, command), chosen, limits))


def _has_peer(name: str) -> bool:
    if name.endswith("/trl") and find_spec("trl") is None:
        print(f"{name}: left out, trl is not installed", flush=True)
        return False
    return True


def run_one(setup: Setup, command: Sequence[str], name: str, limit: float) -> None:
    """Run a measurement and append its outcome; if it takes too long, all its processes are killed."""
    if limit < 1:
        print(f"{name}: no time is left", flush=True)
        return
    start, error = time.monotonic(), None
    log = setup.out / "logs" / f"{name.replace('/', '-').replace(' ', '-')}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, name, f"{limit:.1f}"], stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            error = f"took longer than {limit:.0f} s"
        finally:  # also after Ctrl-C, and what a finished measurement left running
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if error is None and process.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        error = next((line.strip()[:300] for line in reversed(lines) if line.strip()), f"code {process.returncode}")
    seconds = round(time.monotonic() - start, 1)
    append(setup.out, measurement=name, ok=error is None, error=error, took=seconds)
    print(f"{time.strftime('%H:%M:%S')}  {name}: {error or 'ok'}, {seconds} s", flush=True)


def environment(setup: Setup) -> Row:
    """The device and the versions."""
    versions = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    device = "cpu"
    if setup.device == "cuda":
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        device = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    return {"device": device, "tiny": setup.tiny, "versions": versions}


def report(out: Path) -> None:
    """Print the environment, the numbers of the checks, the steps and the curves, and what failed."""
    rows = read(out)
    for row in rows:
        if row["measurement"] == "environment":
            size = "; smallest shapes: no figure means anything" if row["tiny"] else ""
            print(row["device"], *(f"{name} {number}" for name, number in row["versions"].items()), sep=", ", end="")
            print(f"{size}\n")
        elif "/" not in row["measurement"] or "ok" in row:
            numbers = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in
                       row.items() if key != "measurement")  # fmt: skip
            print(f"- {row['measurement']}: {', '.join(numbers)}")
    points: dict[str, dict[str, list[Row]]] = {"step": {}, "curve": {}}
    for row in rows:
        kind, _, side = row["measurement"].partition("/")
        if side and "ok" not in row:
            points[kind].setdefault(side, []).append({key: value for key, value in row.items() if key != "measurement"})
    if points["step"]:
        print()
        trainer.print_steps(points["step"])
        rates = (f"{side} {trainer.summarize(each)['loss_tflops']:.3g}" for side, each in points["step"].items())
        print(f"\nTFLOP/s of the loss, without attention: {', '.join(rates)}")
    if points["curve"]:
        print()
        learning.print_tables({side: [[{"seed": 0, **p} for p in each]] for side, each in points["curve"].items()})


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
    if options.stage == "report":
        return report(options.out)
    if options.stage == "B" and options.data is None:
        parser.error("stage B needs --data")
    model = options.model if options.model == "bundled" else str(Path(options.model).resolve())
    data = options.data and options.data.resolve()
    setup = Setup(options.out.resolve(), options.device, options.tiny, model, data)
    groups = STAGES[options.stage]
    if options.inner:
        name, limit = options.inner
        (chosen,) = [group[name] for group in groups if name in group]
        chosen.run(
            setup.__class__(**{**vars(setup), "limit": float(limit)}), partial(append, setup.out, measurement=name)
        )
        return None
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    # For both sides, see ``install_attention``: at each new length, ``generate`` would compile cuDNN's kernel.
    os.environ["TORCH_CUDNN_SDPA_DEPRIORITIZED"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1" if options.device == "cpu" else "3"
    run_stage(setup, groups, [sys.executable, __file__, *sys.argv[1:], "--inner"], options.seconds)
    return None


if __name__ == "__main__":
    main()
