"""What episodes cost beside sampling: the same number of tokens a row in several turns and in one, by turns.

    python benchmarks/environments.py                               # 16 episodes of 4 turns of 32 tokens
    python benchmarks/environments.py --turns 8 --tokens 64 --rounds 9

The engine is the library's own, which ends every turn after the same number of tokens; a partner answers each with one
word. ``loop`` is the time outside of the engine: environments, chat template, waiting. ``engine`` is what the engine
takes longer, because it reads the whole past before each turn. The two kinds take turns. Starting the environments is
not counted. Times are by the clock and, in parentheses, of the processor in this process alone.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor

from grpo_env.core import Example, Message
from grpo_env.environments import pool
from grpo_env.environments.children import descendants
from grpo_env.taskfile.task import Task, load_task
from grpo_env.trainer.config import SamplingConfig
from grpo_env.trainer.engine.forward import with_fast_paths
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import OnGroupTokens, SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.episodes.sampling import sample_episodes
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.shared_types import Start

PARTNER = """
class Partner:
    def reset(self, turns, **row):
        self.left = turns

    def reply(self, text):
        self.left -= 1
        return "more" if self.left else None
"""


class Seconds(NamedTuple):
    """By the clock, and of the processor in this process."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> Seconds:
        """Since some moment."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, before: Seconds) -> Seconds:
        """The difference."""
        return Seconds(self.clock - before.clock, self.processor - before.processor)

    def plus(self, other: Seconds) -> Seconds:
        """The sum."""
        return Seconds(self.clock + other.clock, self.processor + other.processor)


class Round(NamedTuple):
    """Episodes, the engine in them, and one turn with the same tokens."""

    episodes: Seconds
    engine: Seconds
    once: Seconds


class FixedEngine(OwnEngine):
    """The library's own engine, in which every turn has ``tokens`` tokens; ``seconds`` is its time.

    The last token of a turn is the end token, and where another would end it, the token after that one takes its place.
    """

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self._tokens, self.seconds = tokens, Seconds(0.0, 0.0)

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        end, steps, choose = policy.end_ids[0], count(1), own.choose_tokens

        def fixed(logits: Tensor, temperature: float, uniforms: Tensor | None) -> tuple[Tensor, Tensor]:
            chosen, prob = choose(logits, temperature, uniforms)
            ends = torch.isin(chosen, torch.tensor(policy.end_ids))
            is_last = next(steps) == self._tokens
            return (
                torch.full_like(chosen, end) if is_last else torch.where(ends, max(policy.end_ids) + 1, chosen)
            ), prob

        began = Seconds.now()
        with patch.object(own, "choose_tokens", fixed):
            super().generate(policy, request, on_group)
        self.seconds = self.seconds.plus(Seconds.now().since(began))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    policy = with_fast_paths(load_policy(options.model))
    vars(policy)["max_positions"] = None  # the time does not depend on what the tokens are
    with tempfile.TemporaryDirectory() as folder, pool.ended_after():
        task = partner(Path(folder))
        examples = [
            Example(str(number), (Message("user", f"What is {number} + 7?"),), "7", {"turns": options.turns})
            for number in range(options.episodes)
        ]
        rounds, memory = [], []
        for number in range(options.rounds + 1):
            seed = f"round {number}"
            total, engine = episodes(policy, task, examples, options.turns, options.tokens, seed)
            memory.append(resident())
            rounds.append(Round(total, engine, one_turn(policy, task, examples, options, seed)))
    report(rounds[1:], memory, options)


def partner(folder: Path) -> Task:
    """A task with a partner who answers every turn with one word."""
    (folder / "partner.py").write_text(PARTNER)
    spec = {
        "version": 1,
        "task": "partner",
        "dataset": {"path": "rows.jsonl"},
        "prompt": {"user": "{{ question }}"},
        "environment": {"use": "partner.py:Partner", "max_turns": 100},
        "verifiers": {"turns": {"most": 100}},
        "metric": "turns",
    }
    (folder / "partner.yaml").write_text(json.dumps(spec))
    return load_task(str(folder / "partner.yaml"))


def episodes(
    policy: Policy, task: Task, examples: Sequence[Example], turns: int, tokens: int, seed: str
) -> tuple[Seconds, Seconds]:
    """Episodes, and the engine in them."""
    engine = FixedEngine(tokens)
    began = Seconds.now()
    prompts = make_prompts(task, examples)
    starts = [Start(prompt, None, 0, f"{seed}/{prompt.example.id}") for prompt in prompts]
    sampling = SamplingConfig(max_new_tokens=turns * tokens)
    rollouts: list[Rollout] = []
    sample_episodes(replace_engine(policy, engine), starts, 1, sampling, lambda _, group: rollouts.extend(group))
    seconds = Seconds.now().since(began)
    assert {row.num_sampled for row in rollouts} == {turns * tokens}
    assert {len(row.spans or ()) for row in rollouts} == {turns}
    return seconds, engine.seconds


def one_turn(
    policy: Policy, task: Task, examples: Sequence[Example], options: argparse.Namespace, seed: str
) -> Seconds:
    """Completions of one turn with as many tokens."""
    tokens, began = options.turns * options.tokens, Seconds.now()
    prompts = [policy.prompt_ids(example, task.format) for example in examples]
    request = SamplingRequest(prompts, 1, tokens, 1.0, [f"{seed}/{example.id}" for example in examples])
    sample(replace_engine(policy, FixedEngine(tokens)), request)
    return Seconds.now().since(began)


def replace_engine(policy: Policy, engine: FixedEngine) -> Policy:
    """The policy with an engine, without a limit on positions."""
    changed = replace(policy, rollout_engine=engine)
    vars(changed)["max_positions"] = None
    return changed


def resident() -> float:
    """MB that this process and its environments have in memory, shared pages divided among them."""
    pids = [os.getpid(), *descendants(os.getpid())]
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def report(rounds: Sequence[Round], memory: Sequence[float], options: argparse.Namespace) -> None:
    """Print medians of the rounds, and the memory after each."""
    threads = torch.get_num_threads()
    print(f"{options.episodes} episodes of {options.turns} x {options.tokens} tokens, {threads} threads")
    once = [median(part) for part in zip(*(row.once for row in rounds), strict=True)]
    print(f"one turn  {once[0]:.2f} s ({once[1]:.2f} s)")

    def line(name: str, excess: Callable[[Round], Seconds]) -> None:
        ratios = [[part / once for part, once in zip(excess(row), row.once, strict=True)] for row in rounds]
        clock, processor = (median(part) for part in zip(*ratios, strict=True))
        print(f"{name:<9} {clock:+.1%} ({processor:+.1%}) of one turn")

    line("episodes", lambda row: row.episodes.since(row.once))
    line("  loop", lambda row: row.episodes.since(row.engine))
    line("  engine", lambda row: row.engine.since(row.once))
    print(f"memory after rounds of {options.episodes} episodes, MB: {', '.join(f'{m:,.0f}' for m in memory)}")


if __name__ == "__main__":
    main()
