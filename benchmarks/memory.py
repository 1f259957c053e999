"""Peak memory of one training step, and the size of its files, for each kind of optimizer and adapter.

    python benchmarks/memory.py MODEL [--prompts 1] [--group 4] [--tokens 16]

Each variant runs in a separate process. Completions are few and short, so weights, gradients and moments dominate.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from torch import Tensor

from grpo_env.trainer.losses import LossInputs

VARIANTS: dict[str, dict[str, object]] = {
    "all weights": {},
    "all weights, a reference": {"kl.coef": 0.04},
    "all weights, adamw_8bit": {"optimizer.name": "adamw_8bit"},
    "LoRA": {"lora.rank": 16},
    "LoRA, a reference": {"lora.rank": 16, "kl.coef": 0.04},
}


def likelihood(inputs: LossInputs) -> Tensor:
    """A loss that has nothing to do with rewards."""
    return inputs.logp


def measure(settings: dict[str, object]) -> dict[str, float]:
    """One step with these settings: peak memory in GB, checkpoint and model in MB."""
    from grpo_env import load_task, train

    with tempfile.TemporaryDirectory() as folder:
        task = load_task("arithmetic", {"dataset.limit": {"train": 8, "eval": 1}})
        run = train(task, run_dir=Path(folder) / "run", **settings).run_dir
        sizes = {
            name: sum(file.stat().st_size for file in (run / name).rglob("*")) for name in ("checkpoints", "model")
        }
    scale = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes on macOS, in KiB elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return {"peak_gb": peak / 1e9, "checkpoint_mb": sizes["checkpoints"] / 1e6, "model_mb": sizes["model"] / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--prompts", type=int, default=1)
    parser.add_argument("--group", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--inner", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    # This loss gives every completion a gradient, whatever its reward.
    common = {
        "model": options.model,
        "steps": 1,
        "prompts_per_step": options.prompts,
        "group_size": options.group,
        "sampling.max_new_tokens": options.tokens,
        "engine.precision": options.precision,
        "loss.function": f"{__file__}:likelihood",
        "eval.every": 0,
        "eval.examples": 1,
        "eval.samples": 0,
    }
    if options.inner is not None:
        print(json.dumps(measure(common | options.inner)))
        return
    print(f"{'':28}{'peak, GB':>10}{'checkpoint, MB':>16}{'model/, MB':>12}")
    for name, settings in VARIANTS.items():
        command = [sys.executable, __file__, *sys.argv[1:], "--inner", json.dumps(settings)]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        sizes = json.loads(process.stdout.splitlines()[-1])
        print(f"{name:28}{sizes['peak_gb']:10.2f}{sizes['checkpoint_mb']:16.1f}{sizes['model_mb']:12.1f}", flush=True)


if __name__ == "__main__":
    main()
