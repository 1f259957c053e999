"""Everything that is measured on a GPU, in three stages, each of which can be stopped and continued.

    python benchmarks/gpu/run.py --out runs/gpu --model SMOLLM2_FOLDER --data GSM8K_FOLDER
    python benchmarks/gpu/run.py --out runs/gpu --stages works --seconds 540     # stop after nine minutes
    python benchmarks/gpu/report.py runs/gpu                                     # the tables
    python benchmarks/gpu/run.py --out /tmp/tiny --device cpu --tiny             # a rehearsal without a GPU

    works    CUDA against a CPU: decoding, attention, gradients, training, resuming, memory that runs out
    fast     tokens per second, seconds per step and peak memory; TRL's if it is installed; fast paths on and off
    learns   held-out accuracy of a real model over time, and TRL's in equal time

``--only`` chooses measurements by a regular expression. ``offline/run.sh`` runs the most important ones first, for when
only a quarter of an hour is to be had. What ``--seconds`` interrupts starts anew in the next call.

Every measurement runs in a separate process with a time limit, and leaves a line in ``OUT/results.jsonl`` and a log in
``OUT/logs``. The same command goes on where it was stopped: what has a line is not measured again (with
``--retry``: except what failed). Nothing is downloaded. TRL's side needs ``benchmarks/requirements.txt``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parent.parent))
import fast
import learns
import works
from plan import Measurement, Setup, run_all, say

STAGES: dict[str, Callable[[Setup], list[Measurement]]] = {
    "works": works.measurements,
    "fast": fast.measurements,
    "learns": learns.measurements,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of results and logs")
    parser.add_argument("--stages", default="works,fast,learns")
    parser.add_argument("--only", type=re.compile, default="", metavar="REGEX", help="measurements whose names match")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="smallest shapes, to try every measurement")
    parser.add_argument("--model", help="folder of a small instruct model, such as SmolLM2-135M-Instruct")
    parser.add_argument("--data", type=Path, help="folder with gsm8k_train.jsonl and gsm8k_test.jsonl")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many seconds")
    parser.add_argument(
        "--jobs", type=int, default=1, help="measurements at once, for the stage works, which times nothing"
    )
    parser.add_argument("--retry", action="store_true", help="measure again what failed")
    parser.add_argument("--list", action="store_true", help="print the names of all measurements")
    parser.add_argument("--inner", nargs=2, metavar=("NAME", "ANSWER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    stages = options.stages.split(",")
    if unknown := [stage for stage in stages if stage not in STAGES]:
        parser.error(f"unknown stage {unknown[0]!r}; there are {', '.join(STAGES)}")
    model, data = (str(Path(path).resolve()) if path else None for path in (options.model, options.data))
    setup = Setup(options.out.resolve(), options.device, options.tiny, model, Path(data) if data else None)
    measurements = [each for stage in stages for each in STAGES[stage](setup) if re.search(options.only, each.name)]
    if options.inner:
        name, answer = options.inner
        (measurement,) = [each for each in measurements if each.name == name]
        Path(answer).write_text(json.dumps(measurement.run()), encoding="utf-8")
    elif options.list:
        print(*(f"{each.name} (at most {each.limit:.0f} s)" for each in measurements), sep="\n")
    else:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.environ["HF_HUB_OFFLINE"] = "1"
        # For both sides, see ``install_attention``: at each new length, ``generate`` would compile cuDNN's kernel.
        os.environ["TORCH_CUDNN_SDPA_DEPRIORITIZED"] = "1"
        if options.device == "cpu":
            os.environ["OMP_NUM_THREADS"] = "1"
        command = [sys.executable, __file__, *sys.argv[1:], "--inner"]
        complete = run_all(setup, measurements, command, options.seconds, options.retry, options.jobs)
        say(f"{'complete' if complete else 'to be continued'}: {setup.out}")


if __name__ == "__main__":
    main()
