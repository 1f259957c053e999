r"""Learning curves of our trainer and TRL's over equal time, with the same recipe and held-out evaluation.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    python benchmarks/learning.py --peer-python /tmp/peers/bin/python --plot docs/learning.png

Both start from the bundled model and use the task's recipe (``tasks/arithmetic.yaml``), with the learning rate constant
after the warm-up, because a schedule would need to know how many steps fit into the time. Each training runs in a
separate process on one core and one thread; the sides take turns. The clock starts with the first step. Every
``--every`` seconds, at the end of a step, it stops while the weights are saved and evaluated by ``run_eval`` in our
interpreter, on the same examples: greedy, and one sample each.

``--model SMOLLM2_FOLDER`` (``benchmarks/from_gguf.py`` makes it) trains a real model on sums instead. Without
``--peer-python``, only our trainer runs. ``--points FILE`` keeps each point as soon as it is there, and ``--read FILE``
prints and draws them again.

``--clock cpu`` gives both the same processor time instead, which depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from sides import CLOCKS, SIDES, Callbacks, Work, load, pin_to_one_core, run_script, setting

# Sums of two numbers of two digits. A small instruct model does not know the form that is asked for, so its prompt
# begins with two worked examples.
SUMS = {
    "dataset.arguments": {"steps": [1, 1], "operands": [10, 99]},
    "prompt.shots": [
        {
            "user": "Zoe has 34 shells. Zoe finds 25. How many now?",
            "assistant": "<think>\n34+25=59\n</think>\n<answer>\n59\n</answer>",
        },
        {
            "user": "Tom starts with 81 cards. Tom loses 16. How many in the end?",
            "assistant": "<think>\n81-16=65\n</think>\n<answer>\n65\n</answer>",
        },
    ],
}
SUMS_STEP = {
    "prompts_per_step": 8,
    "group_size": 8,
    "sampling.max_new_tokens": 48,
    "optimizer.learning_rate": 1e-5,
}
MAX_STEPS = 1000  # never reached: the time is over earlier
KINDS = ("greedy", "sampled")
COLORS = {"ours": "tab:blue", "trl": "tab:orange"}

Point = dict[str, float]
Curves = dict[str, list[list[Point]]]  # by side, one list of points per seed


class Snapshots(Callbacks):
    """Calls ``take`` with steps, seconds and the model every ``every`` seconds, and stops after ``limit`` seconds.

    A step that takes longer leaves a point out.
    """

    def __init__(self, take: Callable[[int, float, Any], None], every: float, limit: float, clock: str) -> None:
        super().__init__(clock)
        self.take, self.every, self.limit = take, every, limit
        self.next_snapshot, self.steps = every, 0

    def on_begin(self) -> None:
        self.start = self.clock()

    def on_step(self, model: Any) -> bool:
        self.steps += 1
        seconds = self.clock() - self.start
        if seconds >= min(self.next_snapshot, self.limit):
            self.take(self.steps, seconds, model)
            self.next_snapshot = (seconds // self.every + 1) * self.every
            self.start = self.clock() - seconds
        return seconds >= self.limit


def train(
    side: str, work: Work, times: tuple[float, float], evaluated: Callable[[str], Point], write: Callable[[Point], None]
) -> None:
    """Train in this process until the time is over. Each snapshot is evaluated while the training waits for it.

    Args:
        side: a key of ``SIDES``.
        work: what to train.
        times: seconds between points, and of the whole training.
        evaluated: gives the accuracy of a folder with a model; see ``evaluate_apart``.
        write: gets each point as soon as it is there.
    """
    import torch
    from transformers import AutoTokenizer

    from grpo_env.trainer.engine.bundled import BUNDLED

    model_name = work.settings["model"]
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED if model_name == "bundled" else model_name)

    def take(steps: int, seconds: float, model: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()  # for the process that evaluates
            write({"steps": steps, "seconds": round(seconds, 2), **evaluated(folder)})

    pin_to_one_core(work.settings["engine.device"])
    SIDES[side](work, Snapshots(take, *times, work.clock))


def evaluate(work: Work, model: str, examples: int) -> Point:
    """Greedy accuracy, and that of one sample each, of a folder with a model or of ``bundled``, in this process."""
    from grpo_env.trainer.commands.evaluate import run_eval
    from grpo_env.trainer.commands.sampling_policy import SETTINGS

    pin_to_one_core(work.settings["engine.device"])
    task, _ = load(work)
    settings = {name: work.settings[name] for name in SETTINGS if name in work.settings and name != "model"}
    result = run_eval(task, model, samples=1, limit=examples, **{**settings, "seed": 0})
    return {**{kind: result[kind]["accuracy"] for kind in KINDS}, "examples": examples}


def evaluate_apart(python: str, work: Work, examples: int, model: str) -> Point:
    """``evaluate`` in a new process."""
    point: Point = run_script(__file__, python, "--inner", "evaluate", json.dumps(vars(work)), model, str(examples))
    return point


def curve(side: str, python: str, work: Work, times: tuple[float, float], examples: int, path: Path) -> None:
    """Append the points of one training to a file, one by one; see ``train``."""
    write = partial(append, path, {"side": side, "seed": work.settings["seed"]})
    write({"steps": 0, "seconds": 0, **evaluate_apart(sys.executable, work, examples, work.settings["model"])})
    arguments = json.dumps(vars(work)), side, json.dumps(times), sys.executable, str(examples), str(path)
    run_script(__file__, python, "--inner", "train", *arguments)


def append(path: Path, of: dict[str, Any], point: Point) -> None:
    """Append a point with the side and seed it is ``of``."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**of, **point}) + "\n")


def plot(curves: Curves, path: Path, title: str) -> None:
    """Draw every seed as a thin line and their mean as a thick one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, constrained_layout=True)
    for axis, kind in zip(axes, KINDS, strict=True):
        for side, runs in curves.items():
            color = COLORS.get(side, "tab:gray")
            for points in runs:
                axis.plot(*([point[name] for point in points] for name in ("seconds", kind)), color, lw=0.7)
            thick = means(runs, "seconds", kind)
            axis.plot(*thick, color, lw=2.5, label=f"{side} (mean of {len(runs)})" if thick[0] else side)
        axis.set(xlabel="seconds of training", ylabel=f"held-out accuracy, {kind}")
        axis.grid(alpha=0.3)
        axis.legend(loc="best")
    figure.suptitle(title)
    figure.savefig(path, dpi=120)


def means(runs: list[list[Point]], *names: str) -> list[list[float]]:
    """The mean over seeds of each value, at every point; nothing where seeds have other numbers of points."""
    by_time = list(zip(*runs, strict=True)) if len({len(points) for points in runs}) == 1 else []
    return [[fmean(point[name] for point in points) for points in by_time] for name in names]


def print_points(curves: Curves) -> None:
    """Print the points of each seed with Wilson's 95 % intervals."""
    print("| side | seed | seconds | steps | greedy (95 %) | sampled (95 %) |\n" + "|---" * 6 + "|")
    for side, runs in curves.items():
        for point in (point for points in runs for point in points):
            rates = " | ".join(rate_and_interval(point[kind], int(point["examples"])) for kind in KINDS)
            print(f"| {side} | {point['seed']:.0f} | {point['seconds']:.0f} | {point['steps']:.0f} | {rates} |")


def print_means(curves: Curves) -> None:
    """Print the means over seeds."""
    print("\nMeans:\n\n| side | seconds | steps | greedy | sampled |\n" + "|---" * 5 + "|")
    for side, runs in curves.items():
        for seconds, steps, greedy, sampled in zip(*means(runs, "seconds", "steps", *KINDS), strict=True):
            print(f"| {side} | {seconds:.1f} | {steps:.0f} | {greedy:.3f} | {sampled:.3f} |")


def rate_and_interval(rate: float, count: int) -> str:
    """A proportion of ``count`` examples and its interval, such as ``.420 (.328 to .518)``."""
    from grpo_env.confidence_intervals import wilson

    low, high = wilson(rate * count, count)
    return f"{rate:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with benchmarks/requirements.txt and grpo_env")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds of training")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between points of the curve")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--examples", type=int, default=200, help="held-out examples")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--rows", type=int, default=64, help="rows in a micro-batch of TRL")
    parser.add_argument("--model", type=Path, help="folder of a small instruct model, which learns sums instead")
    parser.add_argument(
        "--ours", type=setting, nargs="+", default=[], metavar="KEY=VALUE", help="settings of ours only"
    )
    parser.add_argument(
        "--trl", type=setting, nargs="+", default=[], metavar="KEY=VALUE", help="arguments of GRPOConfig"
    )
    parser.add_argument("--points", type=Path, help="append each point to this file of JSON lines")
    parser.add_argument("--read", type=Path, help="print and plot the curves of such a file, without training")
    parser.add_argument("--plot", type=Path, help="write the plot to this file")
    parser.add_argument("--inner", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inner:
        output, sys.stdout = sys.stdout, sys.stderr
        print(json.dumps(inner(*options.inner)), file=output)
        return
    curves = read(options.read) if options.read else train_all(options)
    print_points(curves)
    print_means(curves)
    if options.plot:
        clock = "processor time" if options.clock == "cpu" else "time"
        name = f"{options.model.name}, sums" if options.model else "bundled model, arithmetic"
        plot(curves, options.plot, f"{name}: equal {clock} on one core")


def train_all(options: argparse.Namespace) -> Curves:
    """The curves of all seeds; the sides take turns."""
    pythons = {"ours": sys.executable} | ({"trl": options.peer_python} if options.peer_python else {})
    with tempfile.TemporaryDirectory() as folder:
        path = options.points or Path(folder) / "points.jsonl"
        for seed in range(options.seeds):
            settings = {
                "model": "bundled",
                "seed": seed,
                "optimizer.lr_schedule": "constant",
                "steps": MAX_STEPS,
                "engine.device": "cpu",
                "engine.precision": "fp32",
            }
            overrides = {}
            if options.model:
                settings |= {**SUMS_STEP, "model": str(options.model.resolve())}
                overrides = SUMS
            peer = {"per_device_train_batch_size": options.rows, **dict(options.trl)}
            work = Work("arithmetic", overrides, settings, dict(options.ours), peer, options.clock)
            for side, python in pythons.items():
                curve(side, python, work, (options.every, options.seconds), options.examples, path)
        return read(path)


def read(path: Path) -> Curves:
    """The curves that ``--points`` wrote."""
    by_seed: dict[str, dict[int, list[Point]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        point = json.loads(line)
        by_seed.setdefault(point.pop("side"), {}).setdefault(point["seed"], []).append(point)
    return {side: list(seeds.values()) for side, seeds in by_seed.items()}


def inner(name: str, work: str, *arguments: str) -> Any:
    """``train`` or ``evaluate`` in a process of its own, with arguments as text."""
    parsed = Work(**json.loads(work))
    if name == "evaluate":
        model, examples = arguments
        return evaluate(parsed, model, int(examples))
    side, times, python, count, path = arguments
    evaluated = partial(evaluate_apart, python, parsed, int(count))
    write = partial(append, Path(path), {"side": side, "seed": parsed.settings["seed"]})
    return train(side, parsed, tuple(json.loads(times)), evaluated, write)


if __name__ == "__main__":
    main()
