"""Tokens per second of the rollout engines: the same prompts, weights and lengths, in one process, by turns.

    python benchmarks/rollouts.py                                           # arithmetic, the bundled model
    python benchmarks/rollouts.py --engines own,vllm --rounds 5 sampling.max_new_tokens=256
    python benchmarks/rollouts.py --engines own,vllm sampling.url=http://127.0.0.1:8000    # vLLM on a server
    python benchmarks/rollouts.py gsm8k model=Qwen/Qwen2.5-1.5B-Instruct prompts_per_step=64 'dataset.path=...'

Every engine samples the rows of one training step (``prompts_per_step`` x ``group_size``). A round takes each engine
once; ratios are to the first engine of the same round. Loading, and a first call without a clock, are not counted.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from statistics import fmean, median

from grpo_env.cli.options import split_overrides
from grpo_env.taskfile.task import load_task
from grpo_env.trainer.config import TrainConfig, flatten
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling.engines import make_engine
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.extensions.prompt_sampler import take


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", nargs="?", default="arithmetic")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--engines", default="own,vllm")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_intermixed_args()
    if "=" in options.task:
        options.task, options.overrides = "arithmetic", [options.task, *options.overrides]
    keys, settings = split_overrides(options.overrides)
    task = load_task(options.task, keys)
    names = options.engines.split(",")
    url = flatten(settings).get("sampling.url")
    given = {name: value for name, value in flatten(settings).items() if name != "sampling.url"}
    configs = {
        name: TrainConfig.from_mapping(
            {**given, "sampling.engine": name, **({"sampling.url": url} if url and name == "vllm" else {})},
            defaults=task.defaults,
        )
        for name in names
    }
    config = configs[names[0]]
    policy = load_policy(config.model, device=config.engine.device, precision=config.engine.precision)
    policy = with_fast_paths(policy)
    examples = take(task.examples("train"), config.prompts_per_step, 0, config.seed)
    prompts = [policy.prompt_ids(example, task.format) for example in examples]
    policies: dict[str, Policy] = {}
    try:
        for name in names:
            engine = make_engine(configs[name])
            policies[name] = replace(policy, rollout_engine=engine)
            engine.start(policy)
            roll_out(policies[name], prompts, config, "warm-up")
        report(measure(policies, prompts, config, options.rounds), config)
    finally:
        for started in policies.values():
            started.rollout_engine.close()


def roll_out(policy: Policy, prompts: list[list[int]], config: TrainConfig, seed: str) -> list[Rollout]:
    """The rollouts of a step."""
    seeds, sampling = [f"{seed}/{number}" for number in range(len(prompts))], config.sampling
    request = SamplingRequest(prompts, config.group_size, sampling.max_new_tokens, sampling.temperature, seeds)
    return sample(policy, request)


def measure(
    policies: dict[str, Policy], prompts: list[list[int]], config: TrainConfig, rounds: int
) -> dict[str, list[tuple[float, float, list[int]]]]:
    """Tokens/s, tokens per second of this process's processor time, and lengths, by engine and round."""
    results: dict[str, list[tuple[float, float, list[int]]]] = {name: [] for name in policies}
    for number in range(rounds):
        for name, policy in policies.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            lengths = [len(rollout.ids) for rollout in roll_out(policy, prompts, config, f"round {number}")]
            seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
            results[name].append((sum(lengths) / seconds, sum(lengths) / cpu_seconds, lengths))
    return results


def report(results: dict[str, list[tuple[float, float, list[int]]]], config: TrainConfig) -> None:
    """Print medians over rounds, and the median of each round's ratio to the first engine."""
    rows = config.prompts_per_step * config.group_size
    print(f"\n{config.model}, {rows} rows of up to {config.sampling.max_new_tokens} tokens, {os.cpu_count()} cores\n")
    print("| engine | tokens/s | ratio | tokens per CPU second | ratio | mean length |\n" + "|---" * 6 + "|")
    first = next(iter(results.values()))
    for name, runs in results.items():
        cells = []
        for clock in (0, 1):
            ratio = median(run[clock] / base[clock] for run, base in zip(runs, first, strict=True))
            cells.append(f"{median(run[clock] for run in runs):,.0f} | {ratio:.2f} x")
        print(f"| {name} | {' | '.join(cells)} | {fmean(length for run in runs for length in run[2]):.1f} |")


if __name__ == "__main__":
    main()
