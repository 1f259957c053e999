"""vLLM itself, in this process and as a server, against our own engine and plain forward passes: ``make test-vllm``."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev

import httpx2
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from grpo_env.errors import RunError, UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.bundled import BUNDLED
from grpo_env.trainer.engine.lora import prepare_adapter
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling.protocol import RolloutEngine, SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.engine.sampling.vllm import VllmEngine
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.loop import train

pytest.importorskip("vllm")

QUESTIONS = ["What is 3 + 4?", "What is 12 - 5 * 2?", "7 * 8 =", "Is 17 prime? Why"]
SERVER = {
    "VLLM_SERVER_DEV_MODE": "1",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}


@pytest.fixture
def policy() -> Policy:
    return load_policy("bundled", device="cpu")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    """The URL of a server with the bundled model, and its process."""
    with run_server(str(BUNDLED)) as server:
        yield server


@contextmanager
def run_server(model: str) -> Iterator[tuple[str, int]]:
    """The URL of a server, and its process, which is ended."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    options = ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager"]
    modes = ["--logprobs-mode", "processed_logprobs", "--no-enable-chunked-prefill"]
    with subprocess.Popen(
        [*command, *options, *modes], env={**os.environ, **SERVER}, start_new_session=True, stdout=subprocess.DEVNULL
    ) as process:
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}", process)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def wait_until_healthy(url: str, process: subprocess.Popen) -> None:
    for _ in range(300):
        assert process.poll() is None
        try:
            if httpx2.get(f"{url}/health").status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(1)
    raise AssertionError("the server did not start")


@contextmanager
def started(engine: RolloutEngine, policy: Policy) -> Iterator[Policy]:
    try:
        engine.start(policy)
        yield replace(policy, rollout_engine=engine)
    finally:
        engine.close()
        gc.collect()


def prompts(policy: Policy) -> list[list[int]]:
    return [policy.tokenizer.encode(question, add_special_tokens=False) for question in QUESTIONS]


def change(policy: Policy) -> None:
    with torch.no_grad():
        for weight in policy.trained.values():
            weight.add_(torch.randn_like(weight) * weight.std() * 0.1)


def largest_gap(policy: Policy, rollouts: list[Rollout], temperature: float) -> float:
    """Against plain forward passes, in nats."""
    gaps = []
    for rollout in rollouts:
        with torch.no_grad(), policy.autocast_context():
            logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[0].float() / temperature
        logp = torch.log_softmax(logits[len(rollout.prompt_ids) - 1 : -1], -1)[range(len(rollout.ids)), rollout.ids]
        gaps.append(float((logp - torch.tensor(rollout.logps)).abs().max()))
    return max(gaps)


def check_engine(plain: Policy, sampler: Policy) -> None:
    """Greedy tokens, log-probabilities, seeds, early ends, and weights that change."""
    engine = sampler.rollout_engine
    assert engine is not None
    assert len(prompts(plain)[0]) < engine.max_positions <= plain.max_positions
    ids, options = prompts(plain), {"max_new_tokens": 40, "temperature": 0.7}
    for version in (0, 1):
        engine.sleep()
        engine.update_weights(plain, version)
        greedy = [sample(one, SamplingRequest(ids, 2, max_new_tokens=40, temperature=0)) for one in (plain, sampler)]
        assert greedy[0] == greedy[1]
        rollouts = sample(sampler, SamplingRequest(ids, 8, **options))
        assert largest_gap(plain, rollouts, 0.7) < 1e-4
        assert sample(sampler, SamplingRequest(ids, 8, **options)) == rollouts
        assert len({tuple(rollout.ids) for rollout in rollouts}) > 16
        change(plain)
    assert largest_gap(plain, rollouts, 0.7) > 0.1  # those of the weights before

    ended: list[int] = []
    sample(sampler, SamplingRequest([ids[0]] * 3, 2, **options), lambda number, rows: ended.append(number))
    assert sorted(ended) == [0, 1, 2]
    vars(plain)["end_ids"] = vars(sampler)["end_ids"] = list(range(0, plain.vocab_size, 3))
    short = sample(sampler, SamplingRequest(ids, 8, **options))
    for rollout in short:
        assert (rollout.ids[-1] % 3 == 0) == (rollout.finish == "stop")
        assert all(token % 3 for token in rollout.ids[:-1])
    assert sum(len(rollout.ids) for rollout in short) < 8 * len(short)


def test_in_process(policy: Policy) -> None:
    with started(VllmEngine(0.3), policy) as sampler:
        check_engine(policy, sampler)


def test_in_process_groups_are_reported_as_they_end(policy: Policy) -> None:
    """One row of many tokens and one that ends at its first: the second comes first."""
    ids = prompts(policy)
    with started(VllmEngine(0.3), policy) as sampler:
        first = sample(sampler, SamplingRequest(ids, 1, max_new_tokens=12, temperature=0))
        by_length = sorted(range(len(ids)), key=lambda number: len(first[number].ids))
        assert len(first[by_length[0]].ids) < len(first[by_length[-1]].ids)
        ended: list[int] = []
        sample(
            sampler,
            SamplingRequest(ids, 1, max_new_tokens=12, temperature=0),
            lambda number, rows: ended.append(number),
        )
        assert ended.index(by_length[0]) < ended.index(by_length[-1])


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_in_process_adapter_and_dtypes(precision: str) -> None:
    policy = load_policy("bundled", device="cpu", precision=precision)
    prepare_adapter(policy, TrainConfig.from_mapping({"lora": {"rank": 4}}))
    with started(VllmEngine(0.3), policy) as sampler:
        for version in (1, 2):
            with torch.no_grad():
                for name, weight in policy.trained.items():
                    weight.add_(torch.randn_like(weight) * (0.05 if "lora_B" in name else 0.0))
            sampler.rollout_engine.update_weights(policy, version)
            rollouts = sample(sampler, SamplingRequest(prompts(policy), 4, max_new_tokens=20, temperature=0.7))
            assert largest_gap(policy, rollouts, 0.7) < (1e-4 if precision == "fp32" else 1.0)


def test_in_process_full_weights_in_bf16() -> None:
    """The trainer's weights are float32; vLLM gets them rounded."""
    policy = load_policy("bundled", device="cpu", precision="bf16")
    with started(VllmEngine(0.3), policy) as sampler:
        assert str(sampler.rollout_engine.llm.model_config.dtype) == "torch.bfloat16"
        change(policy)
        sampler.rollout_engine.update_weights(policy, 1)
        rollouts = sample(sampler, SamplingRequest(prompts(policy), 4, max_new_tokens=20, temperature=0.7))
        new = largest_gap(policy, rollouts, 0.7)
        change(policy)
        assert new < 1.0
        assert new < largest_gap(policy, rollouts, 0.7)


def test_server(policy: Policy, server: tuple[str, int]) -> None:
    with started(VllmServers([server[0]]), policy) as sampler:
        check_engine(policy, sampler)


def test_a_server_with_another_model_is_refused(server: tuple[str, int], tmp_path: Path) -> None:
    """With the same tokenizer, and half of the layers."""
    policy = load_policy("bundled", device="cpu")
    config = AutoConfig.from_pretrained(BUNDLED, num_hidden_layers=2)
    other = AutoModelForCausalLM.from_config(config)
    other.name_or_path = "other"
    engine = VllmServers([server[0]])
    with pytest.raises(UsageError, match="start it anew"), started(engine, replace(policy, model=other.eval())):
        pass


def test_a_server_with_another_tokenizer_is_refused(policy: Policy, server: tuple[str, int]) -> None:
    tokenizer = policy.tokenizer
    tokenizer.add_tokens(["answer is"])
    with pytest.raises(UsageError, match="another tokenizer"), started(VllmServers([server[0]]), policy):
        pass


def rewards(folder: Path, seed: int, **sampling: object) -> list[float]:
    """Of ten training steps of the bundled model."""
    settings = {"steps": 10, "prompts_per_step": 8, "eval": {"examples": 1, "samples": 0}}
    train("arithmetic", run_dir=folder, seed=seed, sampling=sampling, **settings)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = [row for row in rows if row["kind"] == "train"]
    if sampling:
        assert max(row["rollout_logprob_gap"] for row in steps) < 1e-5
    return [row["reward"] for row in steps]


@pytest.fixture(scope="module")
def own_rewards(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """The mean reward of steps 6 to 10 with our own engine, by seed."""
    folder = tmp_path_factory.mktemp("own")
    return [fmean(rewards(folder / str(seed), seed)[5:]) for seed in range(4)]


@pytest.mark.parametrize("where", ["in process", "server"])
def test_training_reaches_the_reward_of_the_own_engine(
    where: str, own_rewards: list[float], server: tuple[str, int], tmp_path: Path
) -> None:
    sampling = {"engine": "vllm", **({"url": server[0]} if where == "server" else {})}
    reached = fmean(rewards(tmp_path / "run", 0, **sampling)[5:])
    print(where, reached, own_rewards)
    assert abs(reached - fmean(own_rewards)) < 4 * stdev(own_rewards) + 0.01


# Notes the groups that each process samples, and whether the processes still know each other after the run.
PROCESS = """
import json, os, torch
from accelerate.utils import broadcast_object_list
from grpo_env import train
from grpo_env.trainer.engine.sampling.vllm import VllmEngine
torch.set_num_threads(1)
world, rank = (os.environ.get(name, default) for name, default in (("WORLD_SIZE", "1"), ("RANK", "0")))
groups, generate = {{}}, VllmEngine.generate
def noted(self, policy, request, on_group):
    def on_group_too(number, tokens, logps):
        groups[f"{{request.temperature}} {{request.seeds[number]}}"] = tokens, logps
        on_group(number, tokens, logps)
    generate(self, policy, request, on_group_too)
VllmEngine.generate = noted
train("arithmetic", run_dir="run-" + world, steps=2, prompts_per_step=4, group_size=4,
      eval={{"examples": 2, "samples": 0}}, optimizer={{"learning_rate": 1e-4}}, **{settings})
json.dump([groups, broadcast_object_list([world + rank])], open(f"groups-{{world}}-{{rank}}", "w"))
"""
FSDP2 = {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}


@pytest.mark.parametrize(
    ("where", "settings", "environment"),
    [
        pytest.param("server", {}, FSDP2, id="server-fsdp"),
        pytest.param("in process", {}, {}, id="in-process"),
        pytest.param("in process", {}, FSDP2, id="in-process-fsdp"),
        pytest.param("in process", {"lora.rank": 4}, {}, id="in-process-adapter"),
    ],
)
def test_two_processes(where: str, settings: dict, environment: dict, server: tuple[str, int], tmp_path: Path) -> None:
    """They take the steps of one process, and sample on the server, or each half of the groups with its own engine."""
    settings = {
        "engine.device": "cpu",
        "sampling.engine": "vllm",
        **settings,
        **({"sampling.url": server[0]} if where == "server" else {}),
    }
    script = tmp_path / "script.py"
    script.write_text(PROCESS.format(settings=settings))
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    steps = []
    for arguments in ([], torchrun):
        variables = {**environment, "OMP_NUM_THREADS": "1"} if arguments else {}
        command = [sys.executable, *arguments, str(script)]
        subprocess.run(command, cwd=tmp_path, env={**os.environ, **variables}, check=True, timeout=300)
        lines = (tmp_path / f"run-{1 + bool(arguments)}" / "metrics.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines if '"train"' in line]
        assert max(row["rollout_logprob_gap"] for row in rows) < 1e-5
        steps.append([row[key] for row in rows for key in ("reward", "loss", "grad_norm")])
    assert steps[0] == pytest.approx(steps[1], rel=1e-3)
    if where == "server":
        return
    (alone, _), (first, last), (second, heard) = (
        json.loads((tmp_path / f"groups-{name}").read_text()) for name in ("1-0", "2-0", "2-1")
    )
    assert last == heard == ["20"]
    del alone["0.7 probe"], first["0.7 probe"], second["0.7 probe"]
    assert len(first) == len(second) == len(alone) / 2
    for seed, (tokens, logps) in (first | second).items():
        assert tokens == alone[seed][0]
        expected = alone[seed][1]
        assert [*chain(*logps)] == pytest.approx([*chain(*expected)], abs=1e-4)


def test_a_server_that_is_killed(policy: Policy, server: tuple[str, int]) -> None:
    """The last test, since it kills the server."""
    with started(VllmServers([server[0]]), policy) as sampler:
        os.killpg(server[1], signal.SIGKILL)
        with pytest.raises(RunError, match="does not answer"):
            sample(sampler, SamplingRequest(prompts(policy), 2, max_new_tokens=20, temperature=1.0))
