r"""Seconds per step, tokens per second and memory of our trainer and TRL's; speed of decoding and of ``generate``.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    python benchmarks/trainer.py --peer-python /tmp/peers/bin/python
    python benchmarks/trainer.py --peer-python /tmp/peers/bin/python --model FOLDER --precision bf16 --rows 8 \
        --reward repetition --steps 3

Every measurement runs in a separate process, bound to one core and one thread (except on a GPU). The sides take turns,
``--rounds`` times. A step lasts from the end of the previous one to its own; the first is left out. Numbers are medians
over all steps of all rounds. ``CPU s`` is processor time, which depends less on what else the machine does;
``--clock cpu`` reports the parts of a step in it too. ``forward`` is the rest of the time of the loss, and for our
trainer of the update, with clipping and statistics. ``rest`` is everything outside the parts: advantages, padding,
metrics, records. Scoring in a thread during sampling is part of both columns.

Both sides get the same weights, prompts (compared token by token), reward, learning rate and optimizer. Random numbers
and thus samples differ, so mean lengths are printed. The learning rate is practically 0, so the model, the lengths and
the fraction of uniform groups stay those of the first step. Groups with equal rewards cost us nothing, and TRL a full
step. ``--reward repetition`` has hardly any: it is minus the fraction of a completion's tokens that are repeats.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import decoding
from sides import CLOCKS, SIDES, Callbacks, Ids, Work, pin_to_one_core, run_script, setting

PARTS = ("sample", "score", "forward", "backward", "optimizer")
REPETITION = {"verifiers": {"repetition": {"unit": "token", "n": 1}}, "metric": "repetition", "cases": []}


class StepRecorder(Callbacks):
    """Records a row of numbers for each step."""

    def __init__(self, group_size: int, clock: str) -> None:
        super().__init__(clock)
        self.group_size = group_size
        self.rows: list[dict[str, float]] = []
        self.prompts: list[list[int]] = []
        self.samples: list[tuple[Ids, Any]] = []

    def on_begin(self) -> None:
        self.stopwatch.clear()
        self.start_times = {name: clock() for name, clock in CLOCKS.items()}
        self.start = self.clock()

    def on_samples(self, prompts: Ids, completions: Ids, rewards: Any) -> None:
        self.prompts += [list(prompt) for prompt in prompts[:: self.group_size]]
        self.samples.append((completions, rewards))

    def on_step(self, model: Any) -> bool:
        totals = {name: clock() - self.start_times[name] for name, clock in CLOCKS.items()}
        rest = self.clock() - self.start - sum(self.stopwatch.seconds.values())
        lengths = [len(ids) for completions, _ in self.samples for ids in completions]
        rewards = [reward for _, rewards in self.samples for reward in rewards]
        groups = [rewards[start : start + self.group_size] for start in range(0, len(rewards), self.group_size)]
        parts = {part: self.stopwatch.seconds[part] + self.stopwatch.background_seconds[part] for part in PARTS}
        self.rows.append(
            {**totals, **parts, "rest": rest}
            | {"tokens": sum(lengths), "length": fmean(lengths)}
            | {"uniform": fmean(len(set(group)) == 1 for group in groups), "peak": peak()}
        )
        self.samples.clear()
        self.on_begin()
        return False


def peak() -> float:
    """Peak memory of this process in GB: of the GPU if it uses one, else resident memory."""
    import torch

    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated() / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


def measure(side: str, work: Work) -> dict[str, Any]:
    """Train, in a process for one side: a row for each step but the first, and the prompts."""
    pin_to_one_core(work.settings["engine.device"])
    recorder = StepRecorder(work.settings["group_size"], work.clock)
    SIDES[side](work, recorder)
    return {"rows": recorder.rows[1:], "prompts": recorder.prompts}


def summarize(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Medians over steps; ``speed`` in tokens per second, the highest ``peak``, means of ``length`` and ``uniform``."""
    summary = {name: median(row[name] for row in rows) for name in rows[0]}
    summary["speed"] = sum(row["tokens"] for row in rows) / sum(row["wall"] for row in rows)
    summary["peak"] = max(row["peak"] for row in rows)
    return summary | {name: fmean(row[name] for row in rows) for name in ("length", "uniform")}


def compare(work: Work, pythons: dict[str, str], rounds: int) -> None:
    """Measure the sides by turns and print the table."""
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in pythons}
    for _ in range(rounds):
        for side, python in pythons.items():
            results[side].append(run_script(__file__, python, "--side", side, json.dumps(vars(work))))
    prompts = [result["prompts"] for side_results in results.values() for result in side_results]
    if any(step_prompts != prompts[0] for step_prompts in prompts):
        raise SystemExit("the sides did not get the same prompts")
    print_steps(
        {
            side: [{**row, "prompt": fmean(map(len, prompts[0]))} for result in side_results for row in result["rows"]]
            for side, side_results in results.items()
        }
    )


def print_steps(rows_by_side: dict[str, list[dict[str, float]]]) -> None:
    """The table of the sides' steps, and how many times better ours is if there are both."""
    print("| side | s/step | CPU s | tokens/s |", *(f" {part} |" for part in (*PARTS, "rest")), sep="", end="")
    print(" peak GB | prompt | completion | uniform |\n" + "|---" * 14 + "|")
    summaries: dict[str, dict[str, float]] = {}
    for side, rows in rows_by_side.items():
        summary = summaries[side] = summarize(rows)
        times = [f"{summary[name]:.3f}" for name in (*PARTS, "rest")]
        print(
            f"| {side} | {summary['wall']:.3f} | {summary['cpu']:.3f} | {summary['speed']:,.0f} | {' | '.join(times)} "
            f"| {summary['peak']:.2f} | {summary['prompt']:.0f} | {summary['length']:.1f} "
            f"| {summary['uniform']:.0%} |"
        )
    if len(summaries) == 2:
        ours, trl = summaries["ours"], summaries["trl"]
        ratio = {name: trl[name] / max(ours[name], 1e-9) for name in ours}
        ratio["speed"] = 1 / ratio["speed"]
        times = [f"{ratio[name]:.2f} x" for name in PARTS]
        print(
            f"| ours is better by | {ratio['wall']:.2f} x | {ratio['cpu']:.2f} x | {ratio['speed']:.2f} x | "
            f"{' | '.join(times)} | | {ratio['peak']:.2f} x | | | |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with benchmarks/requirements.txt and grpo_env")
    parser.add_argument("--model", default="bundled", help="bundled, or a folder")
    parser.add_argument("--task", default="arithmetic")
    parser.add_argument("--reward", choices=("task", "repetition"), default="task")
    parser.add_argument("--prompts", type=int, default=8, help="prompts per step")
    parser.add_argument("--group", type=int, default=8, help="completions per prompt")
    parser.add_argument("--tokens", type=int, default=64, help="maximum tokens per completion")
    parser.add_argument("--rows", type=int, default=64, help="rows in a micro-batch of TRL")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=20, help="steps that are measured")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="clock for the parts of a step")
    parser.add_argument("--only", choices=("steps", "decoding"))
    parser.add_argument(
        "--ours", type=setting, nargs="+", default=[], metavar="KEY=VALUE", help="settings of our trainer only"
    )
    parser.add_argument(
        "--trl", type=setting, nargs="+", default=[], metavar="KEY=VALUE", help="arguments of GRPOConfig"
    )
    parser.add_argument("--side", nargs=2, metavar=("SIDE", "WORK"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        output, sys.stdout = sys.stdout, sys.stderr
        print(json.dumps(measure(options.side[0], Work(**json.loads(options.side[1])))), file=output)
        return
    settings = {
        "model": options.model if options.model == "bundled" else str(Path(options.model).resolve()),
        "prompts_per_step": options.prompts,
        "group_size": options.group,
        "sampling.max_new_tokens": options.tokens,
        "engine.precision": options.precision,
        "engine.device": options.device,
        "steps": options.steps + 1,
        "optimizer.learning_rate": 1e-9,
    }
    work = Work(
        options.task,
        REPETITION if options.reward == "repetition" else {},
        settings,
        dict(options.ours),
        {"per_device_train_batch_size": options.rows, **dict(options.trl)},
        options.clock,
    )
    pythons = {"ours": sys.executable} | ({"trl": options.peer_python} if options.peer_python else {})
    size = f"{options.prompts} x {options.group} completions of up to {options.tokens} tokens"
    print(f"{options.model}, {options.precision} on {options.device}, {size}, reward: {options.reward}\n")
    if options.only != "decoding":
        compare(work, pythons, options.rounds)
    if options.only != "steps":
        decoding.compare(work, options.rounds)


if __name__ == "__main__":
    main()
