"""Episodes of ``till`` by vLLM itself, in this process and as a server, against our own sampler: ``make test-vllm``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import httpx2
import pytest
import torch

from grpo_env.environments import pool
from grpo_env.taskfile.task import load_task
from grpo_env.trainer.config import SamplingConfig
from grpo_env.trainer.engine.bundled import MODELS
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.engine.sampling.vllm import VllmEngine
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.episodes.sampling import sample_episodes
from grpo_env.trainer.rollout import make_prompts, task_examples
from grpo_env.trainer.shared_types import Start

from .test_vllm import run_server, started

ROWS = 6
LONG = "Here is a remark that only makes the prompt longer than a block of the cache. " * 2


@pytest.fixture(autouse=True)
def _no_process_is_left():
    yield
    pool.close_idle()


@pytest.fixture
def policy() -> Policy:
    return load_policy("bundled-tools", device="cpu")


def play(policy: Policy, temperature: float) -> list[Rollout]:
    task = load_task("till")
    examples = [
        replace(example, prompt=tuple(message._replace(content=LONG + message.content) for message in example.prompt))
        for example in task_examples(task, "train", ROWS)
    ]
    starts = [Start(prompt, None, 0, prompt.example.id) for prompt in make_prompts(task, examples)]
    sampling = SamplingConfig().model_copy(update={"max_new_tokens": 120, "temperature": temperature})
    groups: dict[int, list[Rollout]] = {}
    sample_episodes(policy, starts, 2, sampling, groups.__setitem__)
    return [row for number in range(len(starts)) for row in groups[number]]


def check_episodes(plain: Policy, sampler: Policy, hits: Callable[[], float]) -> None:
    """Greedy turns and masks are those of our own sampler, and log-probabilities those of the whole conversation."""
    greedy = play(plain, 0.0)
    assert max(len(row.spans) for row in greedy) > 1
    before = hits()
    assert play(sampler, 0.0) == greedy
    sampled = play(sampler, 1.0)
    assert hits() > before
    assert sum(len(row.spans) > 1 for row in sampled) > 2
    for row in sampled:
        with torch.no_grad():
            logits = plain.model(torch.tensor([row.prompt_ids + row.ids])).logits[0, len(row.prompt_ids) - 1 : -1]
        logp = torch.log_softmax(logits, -1)[range(len(row.ids)), row.ids]
        assert row.logps == pytest.approx((logp * torch.tensor(row.sampled)).tolist(), abs=1e-4)
        assert [row.ids[at] for at in range(len(row.ids)) if row.sampled[at]] == list(row.seen.token_ids)


def test_in_process(policy: Policy) -> None:
    with started(VllmEngine(0.3), policy) as sampler:
        engine, cached = sampler.rollout_engine.llm.llm_engine, [0]
        step = engine.step

        def counted() -> list:
            outputs = step()
            cached[0] += sum(output.num_cached_tokens or 0 for output in outputs)
            return outputs

        engine.step = counted
        check_episodes(policy, sampler, partial(cached.__getitem__, 0))


def test_server(policy: Policy) -> None:
    folder = str(MODELS["bundled-tools"])
    with run_server(folder) as (url, _), started(VllmServers([url]), policy) as sampler:

        def hits() -> float:
            lines = httpx2.get(f"{url}/metrics").text.splitlines()
            (line,) = [line for line in lines if line.startswith("vllm:prefix_cache_hits_total{")]
            return float(line.split()[-1])

        check_episodes(policy, sampler, hits)
