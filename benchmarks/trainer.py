r"""Seconds a step, tokens a second and memory: our trainer beside TRL's; and decoding alone beside ``generate``.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements.txt -e '.[dev]'
    python benchmarks/trainer.py --peer-python /tmp/peers/bin/python
    python benchmarks/trainer.py --peer-python /tmp/peers/bin/python --model FOLDER --precision bf16 --rows 8 \
        --reward repetition --steps 3

Every measurement is a process of its own, bound to one core and one thread (not on a GPU). The sides take turns,
``--rounds`` times. A step lasts from the end of the one before to its own end, whatever happens there; the first is
left out. Numbers are medians over all steps of all rounds; ``CPU s`` is processor time, which a busy machine changes
less, and with ``--clock cpu`` the parts are told in it too. ``forward`` is what remains of the loss's time; with us
also of the update's: clipping, statistics. ``rest`` is what belongs to none of the parts: advantages, padding, metrics,
records. Scoring in a thread beside the sampling is in both of their columns.

Both sides get the same weights, prompts (checked: token for token), reward, learning rate and optimizer. Samples
differ, as the random numbers do, so the mean lengths are printed; the learning rate is as good as 0, so that the
model, and with it the lengths and the share of uniform groups, stay those of the first step. Groups with equal rewards
cost us nothing and TRL a full step. ``--reward repetition`` has next to none: minus the share of a completion's tokens
that it has written before.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from pathlib import Path
from statistics import fmean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import decoding
from sides import CLOCKS, SIDES, Ids, Listener, Work, inner, one_core

PARTS = ("sample", "score", "forward", "backward", "optimiser")
SPREAD = {"verifiers": {"repetition": {"unit": "token", "n": 1}}, "metric": "repetition", "cases": []}


class Measure(Listener):
    """One row of numbers a step."""

    def __init__(self, group_size: int, clock: str) -> None:
        super().__init__(clock)
        self.group_size = group_size
        self.rows: list[dict[str, float]] = []
        self.prompts: list[list[int]] = []
        self.heard: list[tuple[Ids, Any]] = []

    def begin(self) -> None:
        self.watch.clear()
        self.began = {name: clock() for name, clock in CLOCKS.items()}
        self.start = self.clock()

    def samples(self, prompts: Ids, completions: Ids, rewards: Any) -> None:
        self.prompts += [list(prompt) for prompt in prompts[:: self.group_size]]
        self.heard.append((completions, rewards))

    def step(self, model: Any) -> bool:
        step = {name: clock() - self.began[name] for name, clock in CLOCKS.items()}
        rest = self.clock() - self.start - sum(self.watch.seconds.values())
        lengths = [len(ids) for completions, _ in self.heard for ids in completions]
        rewards = [reward for _, rewards in self.heard for reward in rewards]
        groups = [rewards[at : at + self.group_size] for at in range(0, len(rewards), self.group_size)]
        parts = {part: self.watch.seconds[part] + self.watch.beside[part] for part in PARTS}
        self.rows.append(
            {**step, **parts, "rest": rest}
            | {"tokens": sum(lengths), "length": fmean(lengths)}
            | {"uniform": fmean(len(set(group)) == 1 for group in groups), "peak": peak()}
        )
        self.heard.clear()
        self.begin()
        return False


def peak() -> float:
    """The most memory that this process has had, in GB: on a GPU the device's, else its own."""
    import torch

    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated() / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


def measure(side: str, work: Work) -> None:
    """The inner process: train, and print a row for each step as JSON."""
    one_core(work.settings["device"])
    listener = Measure(work.settings["group_size"], work.clock)
    output, sys.stdout = sys.stdout, sys.stderr
    SIDES[side](work, listener)
    print(json.dumps({"rows": listener.rows[1:], "prompts": listener.prompts}), file=output)


def compare(work: Work, pythons: dict[str, str], rounds: int) -> None:
    """Measure the sides in turns and print the table."""
    results: dict[str, list[dict[str, Any]]] = {side: [] for side in pythons}
    for _ in range(rounds):
        for side, python in pythons.items():
            results[side].append(inner(__file__, python, "--side", side, json.dumps(vars(work))))
    prompts = [one["prompts"] for found in results.values() for one in found]
    if any(one != prompts[0] for one in prompts):
        raise SystemExit("the sides did not get the same prompts")
    print("| side | s/step | CPU s | tokens/s |", *(f" {part} |" for part in (*PARTS, "rest")), sep="", end="")
    print(" peak GB | prompt | completion | uniform |\n" + "|---" * 14 + "|")
    best: dict[str, dict[str, float]] = {}
    for side, found in results.items():
        rows = [row for one in found for row in one["rows"]]
        middle = {name: median(row[name] for row in rows) for name in rows[0]}
        middle["speed"] = sum(row["tokens"] for row in rows) / sum(row["wall"] for row in rows)
        middle["peak"] = max(row["peak"] for row in rows)
        middle["length"] = fmean(row["length"] for row in rows)
        middle["uniform"] = fmean(row["uniform"] for row in rows)
        best[side] = middle
        times = [f"{middle[name]:.3f}" for name in (*PARTS, "rest")]
        print(
            f"| {side} | {middle['wall']:.3f} | {middle['cpu']:.3f} | {middle['speed']:,.0f} | {' | '.join(times)} "
            f"| {middle['peak']:.2f} | {fmean(map(len, prompts[0])):.0f} | {middle['length']:.1f} "
            f"| {middle['uniform']:.0%} |"
        )
    if len(best) == 2:
        ratio = {name: best["trl"][name] / max(best["ours"][name], 1e-9) for name in best["ours"]}
        ratio["speed"] = 1 / ratio["speed"]
        times = [f"{ratio[name]:.2f} x" for name in PARTS]
        print(
            f"| ours is better by | {ratio['wall']:.2f} x | {ratio['cpu']:.2f} x | {ratio['speed']:.2f} x | "
            f"{' | '.join(times)} | | {ratio['peak']:.2f} x | | | |"
        )


def value(text: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as JSON where it is."""
    key, _, given = text.partition("=")
    try:
        return key, json.loads(given)
    except ValueError:
        return key, given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", help="python of the environment with benchmarks/requirements.txt and grpo_env")
    parser.add_argument("--model", default="bundled", help="bundled, or a folder")
    parser.add_argument("--task", default="arithmetic")
    parser.add_argument("--reward", choices=("task", "repetition"), default="task")
    parser.add_argument("--prompts", type=int, default=8, help="prompts a step")
    parser.add_argument("--group", type=int, default=8, help="completions a prompt")
    parser.add_argument("--tokens", type=int, default=64, help="longest completion")
    parser.add_argument("--rows", type=int, default=64, help="rows in a micro-batch of TRL")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=20, help="steps that count")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="of the parts of a step")
    parser.add_argument("--only", choices=("steps", "decoding"))
    parser.add_argument("--ours", type=value, nargs="+", default=[], metavar="KEY=VALUE", help="settings of ours alone")
    parser.add_argument("--trl", type=value, nargs="+", default=[], metavar="KEY=VALUE", help="of GRPOConfig")
    parser.add_argument("--side", nargs=2, metavar=("SIDE", "WORK"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        measure(options.side[0], Work(**json.loads(options.side[1])))
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
        SPREAD if options.reward == "repetition" else {},
        settings,
        dict(options.ours),
        {"per_device_train_batch_size": options.rows, **dict(options.trl)},
        options.clock,
    )
    pythons = {"ours": sys.executable} | ({"trl": options.peer_python} if options.peer_python else {})
    size = f"{options.prompts} x {options.group} completions of at most {options.tokens} tokens"
    print(f"{options.model}, {options.precision} on {options.device}, {size}, reward: {options.reward}\n")
    if options.only != "decoding":
        compare(work, pythons, options.rounds)
    if options.only != "steps":
        decoding.compare(work, options.rounds)


if __name__ == "__main__":
    main()
