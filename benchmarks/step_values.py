"""Would it pay to continue some prefixes of completions more often than others? The error of step values per token.

    python benchmarks/step_values.py
    python benchmarks/step_values.py --model FOLDER --steps 3 6

Samples completions of the arithmetic task and continues every prefix that ends with a step 64 times. Then it draws
from these rewards as a run would, by several rules, and prints the mean squared error of the values, the tokens, and
their product, relative to the same number of rollouts for every prefix:

- ``step before``: more where the continuations of the step before disagree, which keeps the values unbiased;
- ``own``: more where the prefix's own first continuations disagree, which does not;
- ``known deviations``: the best allocation, by deviations that no run knows. It is computed, not drawn.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean, pstdev
from typing import NamedTuple

import torch

from grpo_env import load_task
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.extensions.step_values import continuations, step_boundaries
from grpo_env.trainer.rollout import make_prompts, sample_rollouts
from grpo_env.trainer.shared_types import Start

CONTINUATIONS = 64
TRIALS = 200


class Prefix(NamedTuple):
    """The rewards of its continuations, their mean length, and the index of the prefix that ends one step earlier."""

    rewards: list[float]
    rest: float
    before: int | None


def measure(model: str, steps: Sequence[int], questions: int) -> list[Prefix]:
    """The prefixes of eight completions of each question, in groups of unequal rewards."""
    policy = load_policy(model, device="cpu")
    data = {"dataset.limit": {"train": questions, "eval": 1}, "dataset.arguments": {"steps": list(steps)}}
    task = load_task("arithmetic", data)
    config = TrainConfig.from_mapping({"sampling.max_new_tokens": 128})
    prompts = make_prompts(task, task.examples("train"))
    sampled = sample_rollouts(policy, prompts, 8, config.sampling, "0")
    starts: list[Start] = []
    before: list[int | None] = []
    for number, prompt in enumerate(prompts):
        rows = sampled[8 * number : 8 * number + 8]
        if len({row.score.value for row in rows}) == 1:
            continue
        for row in rows:
            last = None
            for token in step_boundaries(policy, task, row.rollout):
                starts.append(Start(prompt, row.rollout, token + 1, f"{len(starts)}"))
                before.append(last)
                last = len(starts) - 1
    continued, _ = continuations(policy, starts, CONTINUATIONS, config.sampling)
    return [
        Prefix(
            [row.score.value or 0.0 for row in group], fmean(len(row.rollout.ids) - start.length for row in group), last
        )
        for start, group, last in zip(starts, continued, before, strict=True)
    ]


Rule = Callable[[list[Prefix], list[list[float]], int], bool]
"""Whether a prefix is continued again: by all prefixes, their first rewards and the prefix's index."""


def step_before(prefixes: list[Prefix], first: list[list[float]], index: int) -> bool:
    before = prefixes[index].before
    return before is None or len(set(first[before])) > 1


def own(prefixes: list[Prefix], first: list[list[float]], index: int) -> bool:
    return len(set(first[index])) > 1


def drawn(prefixes: list[Prefix], rollouts: int, more: int, rule: Rule) -> tuple[float, float]:
    """Mean squared error, and tokens."""
    generator, errors, tokens = random.Random(0), 0.0, 0.0
    for _ in range(TRIALS):
        first = [[generator.choice(prefix.rewards) for _ in range(rollouts)] for prefix in prefixes]
        for index, prefix in enumerate(prefixes):
            rewards = list(first[index])
            if more and rule(prefixes, first, index):
                rewards += [generator.choice(prefix.rewards) for _ in range(more)]
            errors += (fmean(rewards) - fmean(prefix.rewards)) ** 2
            tokens += len(rewards) * prefix.rest
    return errors / TRIALS / len(prefixes), tokens / TRIALS


def known_deviations(prefixes: list[Prefix], rollouts: int) -> tuple[float, float]:
    """Mean squared error and tokens if each prefix is continued by its deviation, and at least once."""
    deviations = [pstdev(prefix.rewards) for prefix in prefixes]
    tokens, low, high = rollouts * sum(prefix.rest for prefix in prefixes), 0.0, 1e6
    for _ in range(100):  # bisection: the tokens grow with the factor
        factor = (low + high) / 2
        counts = [max(1.0, factor * d / sqrt(p.rest)) for d, p in zip(deviations, prefixes, strict=True)]
        spent = sum(count * prefix.rest for count, prefix in zip(counts, prefixes, strict=True))
        low, high = (factor, high) if spent < tokens else (low, factor)
    return fmean(d * d / count for d, count in zip(deviations, counts, strict=True)), tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--steps", type=int, nargs=2, default=(1, 3), help="fewest and most operations of a problem")
    parser.add_argument("--questions", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    prefixes = measure(options.model, options.steps, options.questions)
    certain = fmean(pstdev(prefix.rewards) < 0.1 for prefix in prefixes)
    print(f"{len(prefixes)} prefixes, {certain:.0%} of them with a deviation of less than 0.1\n")
    print("| rule | rollouts | squared error | tokens | error x tokens, relative |\n|---|---|---|---|---|")
    rows = [("uniform", "4", drawn(prefixes, 4, 0, own))]
    for rule in (step_before, own):
        name = rule.__name__.replace("_", " ")
        rows += [
            (name, f"{count} + {more}", drawn(prefixes, count, more, rule)) for count, more in ((2, 2), (2, 4), (4, 4))
        ]
    rows.append(("known deviations", "4 in the mean", known_deviations(prefixes, 4)))
    scale = rows[0][2][0] * rows[0][2][1]
    for name, count, (error, tokens) in rows:
        print(f"| {name} | {count} | {error:.4f} | {tokens:,.0f} | {error * tokens / scale:.2f} |")


if __name__ == "__main__":
    main()
