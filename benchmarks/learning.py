r"""Learning curves over equal time: our trainer beside TRL's, same recipe, same held-out evaluation.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    python benchmarks/learning.py --peer-python /tmp/peers/bin/python --plot docs/learning.png

Both start from the bundled model and train on the task's recipe (``tasks/arithmetic.yaml``), with the learning rate
constant after the warm-up, since a schedule would have to know how many steps the time will hold. Each training is a
process of its own on one core and one thread; the sides take turns. The clock starts with the first step. At the end
of the first step after every mark it stands still while the weights are saved. Evaluation comes later, of all saved
weights, by ``run_eval`` in our interpreter, on the same examples: greedy, and one sample each.

``--clock cpu`` gives both the same processor time instead, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from sides import CLOCKS, SIDES, Listener, Work, inner, load, one_core

MOST = 1000  # steps; the time is over before
KINDS = ("greedy", "sampled")
COLOURS = {"ours": "tab:blue", "trl": "tab:orange"}

Point = dict[str, float]
Curves = dict[str, list[list[Point]]]  # by side, of each seed


class Snapshots(Listener):
    """Saves the weights every ``every`` seconds into ``folder``, named after step and time, until ``limit``."""

    def __init__(self, folder: Path, every: float, limit: float, clock: str) -> None:
        super().__init__(clock)
        self.folder, self.every, self.limit = folder, every, limit
        self.mark, self.steps = every, 0

    def begin(self) -> None:
        self.start = self.clock()

    def step(self, model: Any) -> bool:
        self.steps += 1
        seconds = self.clock() - self.start
        if seconds >= self.mark:
            model.save_pretrained(self.folder / f"{self.steps}-{seconds:.2f}")
            self.mark += self.every
            if self.mark <= seconds:
                raise SystemExit(f"a step takes longer than {self.every:g} s; give a larger --every")
            self.start = self.clock() - seconds
        return seconds >= self.limit


def train(side: str, work: str, folder: str, every: str, limit: str, clock: str) -> int:
    """An inner process: train until the time is over; returns the number of steps."""
    one_core("cpu")
    listener = Snapshots(Path(folder), float(every), float(limit), clock)
    SIDES[side](Work(**json.loads(work)), listener)
    return listener.steps


def judge(work: str, folder: str, examples: str) -> list[Point]:
    """Another inner process: the points of the curve, from the weights that both start with to the last saved ones."""
    from grpo_env.trainer.engine.policy import load_model
    from grpo_env.trainer.evaluate import run_eval

    one_core("cpu")
    task, config = load(Work(**json.loads(work)))
    _, tokenizer = load_model(config.model)
    places = sorted(Path(folder).iterdir(), key=lambda place: int(place.name.partition("-")[0]))
    points = []
    for steps, seconds, model in (
        ("0", "0", config.model),
        *((*place.name.split("-"), str(place)) for place in places),
    ):
        if model != config.model:
            tokenizer.save_pretrained(model)
        found = run_eval(task, model, samples=1, limit=int(examples), seed=0, engine={"device": "cpu"})
        accuracy = {kind: found[kind]["accuracy"] for kind in KINDS}
        points.append({"steps": int(steps), "seconds": float(seconds), **accuracy})
    return points


def plot(curves: Curves, path: Path, title: str) -> None:
    """Every seed as a thin line, their mean as a thick one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, constrained_layout=True)
    for axis, kind in zip(axes, KINDS, strict=True):
        for side, runs in curves.items():
            for points in runs:
                axis.plot(*([point[name] for point in points] for name in ("seconds", kind)), COLOURS[side], lw=0.7)
            marks = list(zip(*runs, strict=True))
            mean = [[fmean(point[name] for point in mark) for mark in marks] for name in ("seconds", kind)]
            axis.plot(*mean, COLOURS[side], lw=2.5, label=f"{side} (mean of {len(runs)})")
        axis.set(xlabel="seconds of training", ylabel=f"held-out accuracy, {kind}")
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    figure.suptitle(title)
    figure.savefig(path, dpi=120)


def table(curves: Curves) -> None:
    """Means at the marks, with each seed's in brackets."""
    print("| side | seconds | steps | greedy | sampled |\n" + "|---" * 5 + "|")
    for side, runs in curves.items():
        for mark in zip(*runs, strict=True):
            means = [
                f"{fmean(point[kind] for point in mark):.3f} ({' '.join(f'{point[kind]:.3f}' for point in mark)})"
                for kind in KINDS
            ]
            seconds, steps = (fmean(point[name] for point in mark) for name in ("seconds", "steps"))
            print(f"| {side} | {seconds:.1f} | {steps:.0f} | {' | '.join(means)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with requirements.txt and us")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between the points")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--examples", type=int, default=200, help="held-out examples")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--rows", type=int, default=64, help="rows in a micro-batch of TRL")
    parser.add_argument("--plot", type=Path, help="file of the picture")
    parser.add_argument("--inner", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inner:
        output, sys.stdout = sys.stdout, sys.stderr
        found = INNER[options.inner[0]](*options.inner[1:])
        print(json.dumps(found), file=output)
        return
    curves: Curves = {"ours": [], "trl": []}
    for seed in range(options.seeds):
        for side, runs in curves.items():
            settings = {
                "seed": seed,
                "optimizer.lr_schedule": "constant",
                "steps": MOST,
                "engine.device": "cpu",
                "engine.precision": "fp32",
            }
            work = json.dumps(vars(Work("arithmetic", {}, settings, {}, {"per_device_train_batch_size": options.rows})))
            with tempfile.TemporaryDirectory() as folder:
                times = str(options.every), str(options.seconds), options.clock
                python = sys.executable if side == "ours" else options.peer_python
                inner(__file__, python, "--inner", "train", side, work, folder, *times)
                runs.append(inner(__file__, sys.executable, "--inner", "judge", work, folder, str(options.examples)))
            last = runs[-1][-1]
            print(f"{side}, seed {seed}: {last['greedy']:.3f} after {last['steps']} steps", file=sys.stderr)
    table(curves)
    if options.plot:
        clock = "processor time" if options.clock == "cpu" else "time"
        plot(curves, options.plot, f"bundled model, arithmetic: equal {clock} on one core")


INNER = {"train": train, "judge": judge}

if __name__ == "__main__":
    main()
