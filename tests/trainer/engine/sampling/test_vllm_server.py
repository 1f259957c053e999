"""vLLM servers, played by ``fake_vllm``. ``tests/vllm`` has the same with vLLM itself."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from grpo_env.errors import DivergedError, RunError, UsageError
from grpo_env.trainer.config import SamplingConfig
from grpo_env.trainer.engine.policy import Policy, load_model
from grpo_env.trainer.engine.sampling import vllm_server
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.episodes.sampling import _Driver
from grpo_env.trainer.loop import resume, train

from .fake_vllm import FakeVllm

PROMPTS = [[40, 41, 42], [50], [60, 61, 62, 63, 64, 65], [70, 71]]


@pytest.fixture
def servers(model_folder: Path) -> Iterator[list[FakeVllm]]:
    running = [FakeVllm(model_folder), FakeVllm(model_folder)]
    yield running
    for server in running:
        server.close()


@pytest.fixture
def engine(servers: list[FakeVllm], policy: Policy) -> Iterator[VllmServers]:
    started = VllmServers([server.url for server in servers])
    started.start(policy)
    yield started
    started.close()


def plain_logps(policy: Policy, rollout: Rollout, temperature: float) -> list[float]:
    with torch.no_grad():
        logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[0] / temperature
    logp = torch.log_softmax(logits[len(rollout.prompt_ids) - 1 : -1], -1)
    return logp[range(len(rollout.ids)), rollout.ids].tolist()


def test_greedy_tokens_equal_those_of_the_own_engine(policy: Policy, engine: VllmServers) -> None:
    request = SamplingRequest(PROMPTS, 2, max_new_tokens=20, temperature=0)
    assert sample(replace(policy, rollout_engine=engine), request) == sample(policy, request)


def test_samples_have_the_log_probabilities_of_new_weights(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    with torch.no_grad():
        for weight in policy.trained.values():
            weight.add_(torch.randn_like(weight) * 0.05)
    engine.update_weights(policy, 1)
    sampler, ended = replace(policy, rollout_engine=engine), []
    rollouts = sample(
        sampler,
        SamplingRequest(PROMPTS, 3, max_new_tokens=8, temperature=0.5),
        lambda number, rows: ended.append(number),
    )
    for rollout in rollouts:
        assert rollout.logps == pytest.approx(plain_logps(policy, rollout, 0.5), abs=1e-5)
    assert sorted(ended) == [0, 1, 2, 3]
    assert len({tuple(rollout.ids) for rollout in rollouts}) > 8  # rows have seeds of their own
    assert sample(sampler, SamplingRequest(PROMPTS, 3, max_new_tokens=8, temperature=0.5)) == rollouts
    prompts = [[body["prompt"] for path, body in server.requests if path == "/v1/completions"] for server in servers]
    assert [PROMPTS[0] in part for part in prompts] == [True, False]  # the groups are spread over the servers
    assert [PROMPTS[1] in part for part in prompts] == [False, True]
    paths = [path for path, _ in servers[0].requests]
    assert paths.index("/reset_prefix_cache") > paths.index("/collective_rpc")


def test_weights_are_sent_once_for_each_version(policy: Policy, engine: VllmServers, servers: list[FakeVllm]) -> None:
    for version in (0, 1, 1, 2):
        engine.update_weights(policy, version)
    assert sum(path == "/collective_rpc" for path, _ in servers[0].requests) == 3


def test_a_server_that_is_not_there(policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(UsageError, match=r"sampling.url: http://127.0.0.1:9/v1/models does not answer .*; is vLLM run"):
        VllmServers(["http://127.0.0.1:9"]).start(policy)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_server_with_another_tokenizer(
    policy: Policy, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers[1].policy.tokenizer, "encode", lambda *args, **options: [1, 2, 3])
    with pytest.raises(UsageError, match=r"\(the-model\) has another tokenizer than "):
        VllmServers([server.url for server in servers]).start(policy)


def test_a_server_whose_model_has_other_shapes(policy: Policy, servers: list[FakeVllm]) -> None:
    servers[0].version = "of another run"  # so weights are sent at once
    servers[0].policy.model.model.embed_tokens.weight.data = torch.zeros(7, 5)
    with pytest.raises(
        UsageError, match=r"/collective_rpc: status 500: .*; start it anew as docs/scaling.md says, with the model that"
    ):
        VllmServers([servers[0].url]).start(policy)


def test_a_server_of_something_else_keeps_its_weights(policy: Policy, servers: list[FakeVllm]) -> None:
    """It has another model, so it is refused before it is sent anything, and goes on as it was."""
    with torch.no_grad():
        for weight in servers[0].policy.trained.values():
            weight.add_(torch.randn_like(weight))
    before = servers[0].policy.snapshot()
    with pytest.raises(UsageError, match=r"differ by .* nats a token .*; start it anew"):
        VllmServers([servers[0].url]).start(policy)
    assert all(before[name].equal(weight) for name, weight in servers[0].policy.trained.items())
    assert not {"/collective_rpc", "/update_weight_version"} & {path for path, _ in servers[0].requests}
    servers[0].version = "of an earlier run"  # of the same model, whose weights have changed
    VllmServers([servers[0].url]).start(policy)
    assert all(policy.trained[name].equal(weight) for name, weight in servers[0].policy.trained.items())


def test_a_server_whose_log_probabilities_are_those_of_temperature_1(policy: Policy, servers: list[FakeVllm]) -> None:
    """vLLM's default, ``--logprobs-mode raw_logprobs``."""
    complete = servers[0].complete

    def raw(body: dict) -> tuple[int, dict]:
        status, reply = complete(body)
        for choice in reply["choices"]:
            rollout = Rollout(body["prompt"], choice["token_ids"], "", "stop", [])
            choice["logprobs"]["token_logprobs"] = plain_logps(servers[0].policy, rollout, 1.0)
        return status, reply

    servers[0].complete = raw
    with pytest.raises(UsageError, match=r"differ by .* nats a token .*processed_logprobs"):
        VllmServers([servers[0].url]).start(policy)


def test_log_probabilities_that_are_not_finite(policy: Policy, engine: VllmServers, servers: list[FakeVllm]) -> None:
    for server in servers:
        choice = {"index": 0, "token_ids": [5], "logprobs": {"token_logprobs": [float("nan")]}}
        server.complete = lambda body, choice=choice: (200, {"choices": [choice]})
    with pytest.raises(DivergedError, match="not finite"):
        sample(replace(policy, rollout_engine=engine), SamplingRequest(PROMPTS, 1, max_new_tokens=8, temperature=1.0))


def test_answers_without_their_keys_or_that_are_no_json_are_one_line(policy: Policy, servers: list[FakeVllm]) -> None:
    complete = servers[0].complete
    without_keys: list[object] = [{}, {"choices": None}, {"choices": [{"index": 0, "token_ids": [5]}]}, [], None]
    no_json = [b"{", b"[" * 100_000, b'{"choices": [\xff]}']
    for wrong in (*without_keys, *no_json):
        servers[0].complete, engine = complete, VllmServers([servers[0].url])
        engine.start(policy)
        servers[0].complete = lambda body, wrong=wrong: (200, iter([wrong]) if isinstance(wrong, bytes) else wrong)
        with pytest.raises(RunError, match="/v1/completions: not an answer of vLLM") as caught:
            sample(replace(policy, rollout_engine=engine), SamplingRequest(PROMPTS, 1, 8, temperature=1.0))
        assert "\n" not in str(caught.value)
        assert isinstance(wrong, bytes) or re.search(r"of vLLM \((?:KeyError|TypeError)", str(caught.value)), wrong


def test_log_probabilities_that_are_all_0_end_the_run(make_task, servers: list[FakeVllm], tmp_path: Path) -> None:
    """Once it trains; the probe at the start sees right ones. The weights are those of before."""
    complete = servers[0].complete

    def lie(body: dict) -> tuple[int, dict]:
        status, reply = complete(body)
        for choice in reply["choices"] if body["n"] > 1 else ():
            choice["logprobs"]["token_logprobs"] = [0.0] * len(choice["token_ids"])
        return status, reply

    servers[0].complete = lie
    with pytest.raises(RunError, match=r"^step 0: log-probabilities in the loss differ by \S+ nats a token .*, more"):
        train(make_task(sampling={"engine": "vllm", "url": servers[0].url}, **QUIET), run_dir=tmp_path / "run")


def test_a_server_that_was_started_anew_is_not_sampled_from(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], model_folder: Path
) -> None:
    """It has the weights of the model's file, not those of the run."""
    engine.update_weights(policy, 1)
    servers[1].close()
    servers[1] = FakeVllm(model_folder, servers[1].port)
    with pytest.raises(RunError, match=rf"sampling.url={servers[1].url}: it has other weights \(default\)"):
        sample(replace(policy, rollout_engine=engine), SamplingRequest(PROMPTS, 2, max_new_tokens=8, temperature=1.0))


def test_a_server_that_does_not_answer_in_time_ends_the_run(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no thread goes on waiting for it."""
    monkeypatch.setattr(vllm_server, "COMPLETION", 0.2)
    free, complete = threading.Event(), servers[0].complete

    def hang(body: dict) -> tuple[int, dict]:
        free.wait(30)
        return complete(body)

    servers[0].complete = hang
    with pytest.raises(RunError, match=rf"{servers[0].url}/v1/completions does not answer \(ReadTimeout"):
        sample(replace(policy, rollout_engine=engine), SamplingRequest(PROMPTS, 2, max_new_tokens=8, temperature=1.0))
    free.set()


def test_ctrl_c_does_not_wait_for_answers(policy: Policy, engine: VllmServers, servers: list[FakeVllm]) -> None:
    free = threading.Event()

    def interrupt(body: dict) -> tuple[int, dict]:
        os.kill(os.getpid(), signal.SIGINT)
        return 500, {"late": free.wait(30)}

    servers[0].complete, servers[1].complete = interrupt, lambda body: (500, {"late": free.wait(30)})
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sample(
            replace(policy, rollout_engine=engine), SamplingRequest(PROMPTS[:2], 1, max_new_tokens=8, temperature=1.0)
        )
    assert time.monotonic() - began < 10
    free.set()


def test_a_run_whose_server_dies_is_saved_and_goes_on_with_another(
    make_task, servers: list[FakeVllm], tmp_path: Path
) -> None:
    task = make_task(steps=4, eval={"samples": 0, "every": 0}, sampling={"engine": "vllm", "url": servers[0].url})
    train(task, run_dir=tmp_path / "whole")
    send = VllmServers.update_weights

    def die(self: VllmServers, policy: Policy, version: int) -> None:
        send(self, policy, version)
        if version == 2:
            servers[0].close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VllmServers, "update_weights", die)
        with pytest.raises(RunError, match=r"/weight_info does not answer .* The state after 2 steps is saved"):
            train(task, run_dir=tmp_path / "stopped")
    config = tmp_path / "stopped/config.yaml"
    config.write_text(config.read_text().replace(servers[0].url, servers[1].url))
    resume(tmp_path / "stopped")
    whole, stopped = (load_model(tmp_path / name / "model")[0].state_dict() for name in ("whole", "stopped"))
    for name, weight in whole.items():
        torch.testing.assert_close(stopped[name], weight, atol=1e-6, rtol=1e-5)
    rows = [json.loads(line) for line in (tmp_path / "whole/metrics.jsonl").read_text().splitlines()]
    gaps = [row["rollout_logprob_gap"] for row in rows if row["kind"] == "train"]
    assert max(gaps) < 1e-5
    assert servers[1].version.endswith("-4")
    assert "tis_cap: 2.0" in config.read_text()


def test_an_adapter_is_sent_alone(make_task, servers: list[FakeVllm], tmp_path: Path) -> None:
    pytest.importorskip("peft")
    train(
        make_task(steps=2, eval={"samples": 0, "every": 0}, lora={"rank": 2}),
        run_dir=tmp_path / "lora",
        sampling={"engine": "vllm", "url": servers[0].url},
    )
    rows = [json.loads(line) for line in (tmp_path / "lora/metrics.jsonl").read_text().splitlines()]
    assert max(row["rollout_logprob_gap"] for row in rows if row["kind"] == "train") < 1e-5
    paths = [path for path, _ in servers[0].requests]
    assert paths.count("/v1/load_lora_adapter") == 3
    assert len(servers[0].adapters) == 1
    assert "/collective_rpc" not in paths


def test_an_engine_that_is_shorter_than_the_model(make_task, servers: list[FakeVllm], tmp_path: Path) -> None:
    """A server with ``--max-model-len``; the model has 128 positions."""
    servers[1].max_model_len = 100
    sampling = {"engine": "vllm", "url": f"{servers[0].url},{servers[1].url}"}
    limit = r"more than 1 tokens \(the 100 positions of vLLM \(max_model_len\), less sampling.max_new_tokens=99\)"
    with pytest.raises(UsageError, match=limit):
        train(make_task(), run_dir=tmp_path / "run", sampling={**sampling, "max_new_tokens": 99})
    train(make_task(), run_dir=tmp_path / "run", sampling=sampling, steps=1, **QUIET)


def test_no_request_is_longer_than_the_engine(policy: Policy, engine: VllmServers) -> None:
    sampler = replace(policy, rollout_engine=engine)
    assert engine.max_positions == 128
    engine.max_positions = 20
    assert len(sample(sampler, SamplingRequest([[40] * 12], 1, max_new_tokens=8, temperature=0))) == 1
    with pytest.raises(UsageError, match=r"12 tokens and .*=9 exceed the 20 positions of vLLM \(max_model_len\)"):
        sample(sampler, SamplingRequest([[40] * 12], 1, max_new_tokens=9, temperature=0))
    episodes = _Driver(sampler, SamplingConfig(max_new_tokens=15), iter(()), lambda row: None)
    row = SimpleNamespace(num_sampled=3)
    assert [episodes.limit(row, context) for context in (2, 12)] == [12, 8]  # of an episode's next turn
    engine.max_positions = 500
    with pytest.raises(UsageError, match=r"exceed the 128 positions of .*tiny"):
        sample(sampler, SamplingRequest([[40] * 120], 1, max_new_tokens=9, temperature=0))


def test_a_run_says_what_samples_and_where(
    make_task, servers: list[FakeVllm], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampling = {"engine": "vllm", "url": f"{servers[0].url}, {servers[1].url}"}
    train(make_task(), run_dir=tmp_path / "run", sampling=sampling, steps=1, **QUIET)
    line = f"sampling   vLLM 0.32.0 on {servers[0].url}, {servers[1].url}"
    assert line in capsys.readouterr().err.replace("\n", " ")
    assert json.loads((tmp_path / "run/versions.json").read_text())["vllm"] == "0.32.0"


def test_each_group_has_a_seed_of_its_own(policy: Policy, engine: VllmServers) -> None:
    """The same prompt several times, and the same seed again."""
    sampler = replace(policy, rollout_engine=engine)
    seeds, options = ["a", "b", "c", "a"], {"max_new_tokens": 8, "temperature": 1.0}
    rollouts = sample(sampler, SamplingRequest([PROMPTS[0]] * 4, 2, seeds=seeds, **options))
    groups = [[rollout.ids for rollout in rollouts[start : start + 2]] for start in (0, 2, 4, 6)]
    assert groups[3] == groups[0]
    assert groups[0] != groups[1] != groups[2] != groups[0]


def test_a_completion_ends_at_each_of_several_ends(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    ends = list(range(0, policy.vocab_size, 5))
    vars(policy)["end_ids"] = ends
    sampler = replace(policy, rollout_engine=engine)
    vars(sampler)["end_ids"] = ends
    rollouts = sample(sampler, SamplingRequest(PROMPTS, 8, max_new_tokens=30, temperature=1.0))
    last = {rollout.ids[-1] for rollout in rollouts if rollout.finish == "stop"}
    assert len(last) > 3
    assert all(token % 5 for rollout in rollouts for token in rollout.ids[:-1])
    asked = [body for server in servers for path, body in server.requests if path == "/v1/completions"]
    assert asked[-1]["stop_token_ids"] == ends  # or the server would sample on to the limit


QUIET = {"eval": {"samples": 0, "every": 0}}


def test_the_engine_is_closed_if_prompts_are_refused(
    make_task, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed: list[VllmServers] = []
    monkeypatch.setattr(VllmServers, "close", lambda self: closed.append(self))
    sampling = {"engine": "vllm", "url": servers[0].url, "max_prompt_tokens": 1}
    with pytest.raises(UsageError, match="max_prompt_tokens"):
        train(make_task(), run_dir=tmp_path / "run", sampling=sampling)
    assert len(closed) == 1
    with pytest.raises(UsageError, match="does not answer"):
        train(make_task(), sampling={"engine": "vllm", "url": "http://127.0.0.1:9"})
    assert len(closed) == 2
