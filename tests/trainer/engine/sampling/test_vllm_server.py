"""vLLM servers, played by ``fake_vllm``. ``tests/vllm`` has the same with vLLM itself."""

from __future__ import annotations

import gc
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from accelerate import Accelerator

from grpo_env.errors import DivergedError, RunError, UsageError
from grpo_env.trainer.batch import Batch, pack_batches
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy, load_model, load_policy
from grpo_env.trainer.engine.prefix_cache import PrefixCache
from grpo_env.trainer.engine.sampling import vllm_server
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.episodes.sampling import _TurnSampler
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.shared_types import ScoredRollout
from grpo_env.trainer.update import update

from ...shortcuts import read_samples
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
    started = VllmServers([server.url for server in servers], None)
    started.start(policy)
    yield started
    started.close()


def plain_logps(policy: Policy, rollout: Rollout, temperature: float) -> list[float]:
    with torch.no_grad():
        logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[0] / temperature
    logp = torch.log_softmax(logits[len(rollout.prompt_ids) - 1 : -1], -1)
    return logp[range(len(rollout.ids)), rollout.ids].tolist()


def test_greedy_tokens_equal_those_of_the_own_engine(policy: Policy, engine: VllmServers) -> None:
    expected = sample(policy, PROMPTS, 2, max_new_tokens=20, temperature=0)
    assert sample(replace(policy, rollout_engine=engine), PROMPTS, 2, max_new_tokens=20, temperature=0) == expected


def test_samples_have_the_log_probabilities_of_new_weights(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    with torch.no_grad():
        for weight in policy.trained.values():
            weight.add_(torch.randn_like(weight) * 0.05)
    engine.update_weights(policy, 1)
    sampler, ended = replace(policy, rollout_engine=engine), []
    rollouts = sample(
        sampler, PROMPTS, 3, max_new_tokens=8, temperature=0.5, on_group=lambda number, rows: ended.append(number)
    )
    for rollout in rollouts:
        assert rollout.logps == pytest.approx(plain_logps(policy, rollout, 0.5), abs=1e-5)
    assert sorted(ended) == [0, 1, 2, 3]
    assert len({tuple(rollout.ids) for rollout in rollouts}) > 8  # rows have seeds of their own
    assert sample(sampler, PROMPTS, 3, max_new_tokens=8, temperature=0.5) == rollouts
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
    with pytest.raises(UsageError, match=r"sampling.url=http://127.0.0.1:9 does not answer .*; is vLLM running\?"):
        VllmServers(["http://127.0.0.1:9"], None).start(policy)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_server_with_another_tokenizer(
    policy: Policy, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers[1].policy.tokenizer, "encode", lambda *args, **options: [1, 2, 3])
    with pytest.raises(UsageError, match=r"\(the-model\) has another tokenizer than "):
        VllmServers([server.url for server in servers], None).start(policy)


def test_a_server_whose_model_has_other_shapes(policy: Policy, servers: list[FakeVllm]) -> None:
    servers[0].version = "of another run"  # so weights are sent at once
    servers[0].policy.model.model.embed_tokens.weight.data = torch.zeros(7, 5)
    with pytest.raises(
        UsageError, match=r"it has another model than .*: status 500: .*; start it anew as docs/scaling.md says"
    ):
        VllmServers([servers[0].url], None).start(policy)


def test_a_server_of_something_else_keeps_its_weights(policy: Policy, servers: list[FakeVllm]) -> None:
    """It has another model, so it is refused before it is sent anything, and goes on as it was."""
    with torch.no_grad():
        for weight in servers[0].policy.trained.values():
            weight.add_(torch.randn_like(weight))
    before = servers[0].policy.snapshot()
    with pytest.raises(UsageError, match=r"differ by .* nats a token .*; start it anew"):
        VllmServers([servers[0].url], None).start(policy)
    assert all(before[name].equal(weight) for name, weight in servers[0].policy.trained.items())
    assert not {"/collective_rpc", "/update_weight_version"} & {path for path, _ in servers[0].requests}
    servers[0].version = "of an earlier run"  # of the same model, whose weights have changed
    VllmServers([servers[0].url], None).start(policy)
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
        VllmServers([servers[0].url], None).start(policy)


def test_log_probabilities_that_are_not_finite(policy: Policy, engine: VllmServers, servers: list[FakeVllm]) -> None:
    for server in servers:
        choice = {"index": 0, "token_ids": [5], "logprobs": {"token_logprobs": [float("nan")]}}
        server.complete = lambda body, choice=choice: (200, {"choices": [choice]})
    with pytest.raises(DivergedError, match="not finite"):
        sample(replace(policy, rollout_engine=engine), PROMPTS, 1, max_new_tokens=8, temperature=1.0)


@pytest.mark.parametrize(
    ("tokens", "logps", "copies", "problem"),
    [
        ([[5], [6]], [[-1.0], [-2]], 2, None),
        ([[5, 6]] * 4, [[-0.1, 1e-5]] * 4, 4, None),  # a policy that is sure
        ([[5]], [[-1.0]], 2, "1 completions, not 2"),
        ([[5]], [[-1.0, -1.0]], 1, "1 tokens with 2 log-probabilities"),
        ([[280]], [[-1.0]], 1, "the token 280, and the vocabulary has 280"),
        ([[-1]], [[-1.0]], 1, "the token -1, and"),
        ([[True]], [[-1.0]], 1, "the token True, and"),
        ([["5"]], [[-1.0]], 1, "the token '5', and"),
        ([[5]], [[5.0]], 1, "5.0 is no log-probability"),
        ([[5]], [[1e308]], 1, "is no log-probability"),
        ([[5]], [["-1"]], 1, "'-1' is no log-probability"),
        ([[5]], [[None]], 1, "None is no log-probability"),
        ([[5] * 20] * 4, [[-1.0] * 20] * 4, 4, "all 4 completions are the same"),  # by chance: e^-60
    ],
)
def test_answers_of_a_server_are_checked(tokens: list, logps: list, copies: int, problem: str | None) -> None:
    found = vllm_server._problem(tokens, logps, copies, 280)
    assert found is None if problem is None else problem in str(found)


@pytest.mark.parametrize("wrong", [{}, {"choices": None}, {"choices": [{"index": 0, "token_ids": [5]}]}, [], None])
def test_an_answer_without_its_keys_is_one_line(
    wrong: object, policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    for server in servers:
        server.complete = lambda body: (200, wrong)
    with pytest.raises(RunError, match=r"/v1/completions: not an answer of vLLM \((?:KeyError|TypeError)"):
        sample(replace(policy, rollout_engine=engine), PROMPTS, 1, max_new_tokens=8, temperature=1.0)


@pytest.mark.parametrize("wrong", [b"{", b"[" * 100_000, b'{"choices": [\xff]}'])
def test_an_answer_that_is_no_json_is_one_line(
    wrong: bytes, policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    for server in servers:
        server.complete = lambda body: (200, iter([wrong]))
    with pytest.raises(RunError, match="/v1/completions: not an answer of vLLM") as caught:
        sample(replace(policy, rollout_engine=engine), PROMPTS, 1, max_new_tokens=8, temperature=1.0)
    assert "\n" not in str(caught.value)


def test_an_endless_answer_ends_at_a_size_that_the_request_gives(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    for server in servers:
        server.complete = lambda body: (200, repeat(b" " * 65536))
    with pytest.raises(RunError, match=r"/v1/completions: an answer of more than 1,\d{3},\d{3} bytes"):
        sample(replace(policy, rollout_engine=engine), PROMPTS, 1, max_new_tokens=8, temperature=1.0)


def test_an_answer_that_drips_ends_at_its_deadline(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte comes in time for a limit on the time between two."""
    monkeypatch.setattr(vllm_server, "COMPLETION", 2.0)
    lines: list[str] = []
    monkeypatch.setattr(engine, "report", lines.append)
    monkeypatch.setattr(vllm_server, "LOOK", 0.05)
    monkeypatch.setattr(vllm_server, "WAIT", 0.2)

    def drip() -> Iterator[bytes]:
        while True:
            time.sleep(0.02)
            yield b" "

    for server in servers:
        server.complete = lambda body: (200, drip())
    with pytest.raises(RunError, match=r"groups failed 3 times: its answer was not complete after 2 s"):
        sample(replace(policy, rollout_engine=engine), PROMPTS, 1, max_new_tokens=8, temperature=1.0)
    assert lines.count("no answer for 0 s from servers that are well; waiting, at most 2 s") >= 1, lines


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


def test_a_server_that_is_restarted_gets_the_weights_again(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "POLL", 0.01)
    with torch.no_grad():
        for weight in policy.trained.values():
            weight.mul_(1.1)
    engine.update_weights(policy, 1)
    sampler, lines = replace(policy, rollout_engine=engine), []
    engine.report = lines.append
    expected = sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0)
    servers[1].close()

    def restart() -> None:
        time.sleep(0.1)
        servers[1] = FakeVllm(model_folder, servers[1].port)

    thread = threading.Thread(target=restart)
    thread.start()
    assert sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0) == expected
    thread.join()
    assert "; waiting for it, at most 300 s" in lines[0]
    assert lines[-1].endswith(" is back and has the weights")


def test_a_completion_that_fails_is_asked_for_again(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm]
) -> None:
    sampler = replace(policy, rollout_engine=engine)
    expected = sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0)
    servers[0].fail_next = 2
    assert sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0) == expected
    servers[0].fail_next = 100
    with pytest.raises(RunError, match=r"2 groups failed 3 times: status 500: .*EngineCore encountered an issue"):
        sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0)


def test_a_run_whose_server_dies_is_saved_and_goes_on_with_another(
    make_task, servers: list[FakeVllm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "WAIT", 0.05)
    monkeypatch.setattr(vllm_server, "POLL", 0.01)
    task = make_task(steps=4, eval={"samples": 0, "every": 0}, sampling={"engine": "vllm", "url": servers[0].url})
    train(task, run_dir=tmp_path / "whole")
    send = VllmServers.update_weights

    def die(self: VllmServers, policy: Policy, version: int) -> None:
        send(self, policy, version)
        if version == 2:
            servers[0].close()

    with monkeypatch.context() as patch:
        patch.setattr(VllmServers, "update_weights", die)
        with pytest.raises(RunError, match=r"did not come back within 0 s .* The state after 2 steps is saved"):
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


@pytest.mark.parametrize("transfer", ["nccl", "ipc"])
def test_weights_from_gpu_to_gpu_need_a_gpu(
    transfer: str, policy: Policy, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "find_spec", lambda name: True)
    with pytest.raises(UsageError, match=rf"^sampling.weight_transfer={transfer} needs CUDA, and .* on cpu; use path$"):
        VllmServers([servers[0].url], transfer).start(policy)
    assert servers[0].requests == []


def test_ipc_needs_one_process(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Policy, "device", torch.device("cuda"))
    vllm_server._check_transfer(policy, "ipc")
    monkeypatch.setattr(Accelerator, "num_processes", 2)
    vllm_server._check_transfer(policy, "nccl")
    with pytest.raises(UsageError, match=r"^sampling.weight_transfer=ipc needs a run of one process; use nccl or path"):
        vllm_server._check_transfer(policy, "ipc")


@pytest.mark.parametrize(
    ("url", "gpus", "visible", "refused"),
    [
        ("http://127.0.0.1:9", 1, None, True),
        ("http://localhost:9", 1, None, True),
        ("http://127.0.0.1:9", 2, None, False),
        ("http://127.0.0.1:9", 1, "0", False),  # as docs/scaling.md divides the GPUs of a machine
        ("http://10.0.0.7:9", 1, None, False),
    ],
)
def test_nccl_is_not_chosen_for_a_server_on_the_trainers_own_gpu(
    url: str, gpus: int, visible: str | None, refused: bool, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "find_spec", lambda name: True)
    monkeypatch.setattr(Policy, "device", torch.device("cuda"))
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    def gone(*_: object) -> None:
        raise vllm_server.ServerGoneError("gone")

    monkeypatch.setattr(vllm_server.VllmServer, "call", gone)
    for transfer in (None, "nccl", "ipc"):
        stops = refused and transfer is None
        why = "which has one GPU, .* set sampling.weight_transfer=ipc" if stops else "does not answer"
        with pytest.raises(UsageError, match=why):
            VllmServers([url], transfer).start(policy)


@pytest.mark.parametrize("kind", [ConnectionResetError, RuntimeError])  # of requests, and of NCCL
def test_a_server_that_dies_while_tensors_are_sent_is_waited_for(
    kind: type[Exception], policy: Policy, engine: VllmServers, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for vLLM's sender, which takes what was gathered; the first one fails."""
    sent: list[dict[str, torch.Tensor]] = []

    class Sender:
        def __init__(self, gathered: Callable[[], dict[str, torch.Tensor]], fails: bool) -> None:
            self.gathered, self.fails = gathered, fails

        def send_weights(self) -> None:
            if self.fails:
                raise kind("the other side is gone")
            sent.append(self.gathered())

    made = list[str]()

    def make(policy: Policy, server: object, transfer: str, gathered: Callable) -> Sender:
        made.append(transfer)
        return Sender(gathered, fails=len(made) == 1)

    monkeypatch.setattr(vllm_server, "POLL", 0.01)
    monkeypatch.setattr(vllm_server, "_tensor_sender", make)
    engine._transfer, lines = "nccl", list[str]()
    engine.report = lines.append
    engine.update_weights(policy, 1)
    assert made == ["nccl"] * 3  # one more for the server whose first sender failed
    assert [weights.keys() for weights in sent] == [policy.model.state_dict().keys()] * 2
    assert f"{kind.__name__}: the other side is gone; waiting for it" in lines[0]
    assert lines[1].endswith(" is back and has the weights")


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
    assert len(sample(sampler, [[40] * 12], 1, max_new_tokens=8, temperature=0)) == 1
    with pytest.raises(UsageError, match=r"12 tokens and .*=9 exceed the 20 positions of vLLM \(max_model_len\)"):
        sample(sampler, [[40] * 12], 1, max_new_tokens=9, temperature=0)
    turns, row = _TurnSampler(sampler, 15, 1.0, PrefixCache()), SimpleNamespace(num_sampled=3)
    assert [turns.limit(row, context) for context in (2, 12)] == [12, 8]  # of an episode's next turn
    engine.max_positions = 500
    with pytest.raises(UsageError, match=r"exceed the 128 positions of .*tiny"):
        sample(sampler, [[40] * 120], 1, max_new_tokens=9, temperature=0)


def test_a_run_says_what_samples_and_where(
    make_task, servers: list[FakeVllm], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampling = {"engine": "vllm", "url": f"{servers[0].url}, {servers[1].url}"}
    train(make_task(), run_dir=tmp_path / "run", sampling=sampling, steps=1, **QUIET)
    line = f"sampling   vLLM 0.32.0 on {servers[0].url}, {servers[1].url}, weights by path"
    assert line in capsys.readouterr().err.replace("\n", " ")
    assert json.loads((tmp_path / "run/versions.json").read_text())["vllm"] == "0.32.0"


def hangs_until_reported(
    engine: VllmServers, server: FakeVllm, paths: tuple[str, ...] = ()
) -> tuple[list[str], threading.Event]:
    """Let a server answer nothing (or nothing at some paths) until the engine reports something, or the event is set.

    Returns the reported lines, and the event.
    """
    lines, awake, answer = list[str](), threading.Event(), server.answer

    def hang(path: str, body: object) -> tuple[int, object]:
        if not paths or path in paths:
            awake.wait(30)
        return answer(path, body)

    def report(line: str) -> None:
        lines.append(line)
        awake.set()

    server.answer, engine.report = hang, report
    return lines, awake


def test_a_server_that_hangs_is_noticed(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that was stopped by SIGSTOP: it answers nothing, and then everything."""
    monkeypatch.setattr(vllm_server, "LOOK", 0.05)
    monkeypatch.setattr(vllm_server, "CONNECT", 0.5)
    sampler = replace(policy, rollout_engine=engine)
    expected = sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0)
    lines, awake = hangs_until_reported(engine, servers[0], ("/v1/completions", "/health"))
    assert sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0) == expected
    # On a busy machine another call may be the first that has no answer in time.
    assert re.match(
        rf"{servers[0].url}(?: does not answer \(|: )ReadTimeout.*; waiting for it, at most 300 s", lines[0]
    )
    monkeypatch.setattr(vllm_server, "WAIT", 0.2)
    awake.clear()
    engine.report = lines.append
    try:
        with pytest.raises(
            RunError, match=rf"sampling.url={servers[0].url} did not (?:answer for|come back within) 0 s"
        ):
            sample(sampler, PROMPTS, 2, max_new_tokens=8, temperature=1.0)
    finally:
        awake.set()


def test_a_server_that_hangs_while_it_gets_weights_is_noticed(
    policy: Policy, engine: VllmServers, servers: list[FakeVllm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "LOOK", 0.05)
    monkeypatch.setattr(vllm_server, "CONNECT", 0.5)
    lines, _ = hangs_until_reported(engine, servers[0])
    engine.update_weights(policy, 1)
    assert re.match(rf"{servers[0].url}(?: does not answer \(|: )ReadTimeout", lines[0])
    assert all(server.version == engine._label for server in servers)


def test_each_group_has_a_seed_of_its_own(policy: Policy, engine: VllmServers) -> None:
    """The same prompt several times, and the same seed again."""
    sampler = replace(policy, rollout_engine=engine)
    seeds, options = ["a", "b", "c", "a"], {"max_new_tokens": 8, "temperature": 1.0}
    rollouts = sample(sampler, [PROMPTS[0]] * 4, 2, seeds=seeds, **options)
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
    rollouts = sample(sampler, PROMPTS, 8, max_new_tokens=30, temperature=1.0)
    last = {rollout.ids[-1] for rollout in rollouts if rollout.finish == "stop"}
    assert len(last) > 3
    assert all(token % 5 for rollout in rollouts for token in rollout.ids[:-1])
    asked = [body for server in servers for path, body in server.requests if path == "/v1/completions"]
    assert asked[-1]["stop_token_ids"] == ends  # or the server would sample on to the limit


AHEAD = {"engine": "vllm", "off_policy_steps": 1, "temperature": 1.0}
QUIET = {"eval": {"samples": 0, "every": 0}}


def rows_of(run: Path, kind: str = "train") -> list[dict]:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]


def test_sampling_ahead_uses_the_weights_before_the_update_going_on(
    make_task, servers: list[FakeVllm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step's log-probabilities are those of the checkpoint that its version names, the one before its own."""
    steps: list[list[ScoredRollout]] = []

    def keep(policy: Policy, rollouts: list[ScoredRollout], *arguments: object) -> list[Batch]:
        steps.append(rollouts)
        return pack_batches(policy, rollouts, *arguments)

    asked, complete = threading.Event(), servers[0].complete

    def note(body: dict) -> tuple[int, dict]:
        asked.set()
        return complete(body)

    def wait_for_the_next_step(policy: Policy, optimizer: object, batches: object, config: object, step: int) -> object:
        overlaps.append(asked.wait(30) if step < 3 else None)
        asked.clear()
        return update(policy, optimizer, batches, config, step)

    overlaps: list[bool | None] = []
    servers[0].complete = note
    monkeypatch.setattr("grpo_env.trainer.loop.pack_batches", keep)
    monkeypatch.setattr("grpo_env.trainer.loop.update", wait_for_the_next_step)
    task = make_task(steps=4, checkpoint={"every": 1, "keep": 9}, **QUIET)
    asked.clear()
    run = train(task, run_dir=tmp_path / "run", sampling={**AHEAD, "url": servers[0].url}).run_dir

    assert overlaps == [True, True, True, None]
    assert [row["staleness"] for row in rows_of(run)] == [0, 1, 1, 1]
    gaps = [row["rollout_logprob_gap"] for row in rows_of(run)]
    assert gaps[0] < 1e-5
    assert min(gaps[1:]) > 1e-3  # a step of learning
    samples = read_samples(run)
    assert {(row["step"], row["version"]) for row in samples} == {(0, 0), (1, 0), (2, 1), (3, 2)}
    policy = load_policy(str(task.defaults["model"]), device="cpu")
    start = policy.snapshot()
    for step, rollouts in enumerate(steps):
        for version in {rollout.version for rollout in rollouts}:
            saved = run / f"checkpoints/step-{version:06d}/state.pt"
            policy.restore(torch.load(saved, weights_only=True)["weights"] if version else start)
            assert version == max(0, step - 1)
        for rollout in rollouts:
            assert rollout.rollout.logps == pytest.approx(plain_logps(policy, rollout.rollout, 1.0), abs=1e-5)


def test_a_server_that_restarts_while_it_samples_ahead(
    make_task, servers: list[FakeVllm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot get weights that are changing, so the step is sampled again, with those after the update."""
    complete = servers[0].complete
    monkeypatch.setattr(vllm_server, "POLL", 0.01)

    def restart_at_version_1(body: dict) -> tuple[int, dict]:
        if servers[0].version.endswith("-1"):
            servers[0].version = "default"
            return 500, {"error": {"message": "starting"}}
        return complete(body)

    servers[0].complete = restart_at_version_1
    settings = {"steps": 4, "sampling": {**AHEAD, "url": servers[0].url}, **QUIET}
    run = train(make_task(), run_dir=tmp_path / "run", **settings).run_dir
    assert [row["staleness"] for row in rows_of(run)] == [0, 1, 0, 1]


def test_an_error_while_samples_are_ahead_ends_the_run(
    make_task, servers: list[FakeVllm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state is saved, and the resumed run first samples from the weights that it has."""
    complete, stuck, free, in_time = servers[0].complete, threading.Event(), threading.Event(), list[bool]()

    def wait(body: dict) -> tuple[int, dict]:
        if servers[0].version.endswith("-2"):
            stuck.set()
            in_time.append(free.wait(20))
        return complete(body)

    def fail(policy: Policy, optimizer: object, batches: object, config: object, step: int) -> object:
        if step == 2:
            assert stuck.wait(30)
            raise RunError("a bug")
        return update(policy, optimizer, batches, config, step)

    settings = {"steps": 4, "sampling": {**AHEAD, "url": servers[0].url}, **QUIET}
    with monkeypatch.context() as patch:
        patch.setattr("grpo_env.trainer.loop.update", fail)
        servers[0].complete = wait
        with pytest.raises(RunError, match=r"a bug.* The state after 2 steps is saved"):
            train(make_task(), run_dir=tmp_path / "run", **settings)
    free.set()
    run = resume(tmp_path / "run").run_dir
    assert all(in_time)  # the run did not wait for the answers
    assert [row["staleness"] for row in rows_of(run)] == [0, 1, 0, 1]


@pytest.mark.parametrize("engine", ["own", "vllm"])
def test_engines_in_this_process_do_not_sample_ahead(engine: str) -> None:
    with pytest.raises(
        UsageError, match=rf"off_policy_steps=1 .*needs vLLM servers.* sampling.engine={engine} samples in"
    ):
        TrainConfig.from_mapping({"sampling": {"engine": engine, "off_policy_steps": 1}})


def test_sampling_ahead_needs_a_correction() -> None:
    sampling = {**AHEAD, "url": "http://127.0.0.1:9"}
    assert TrainConfig.from_mapping({"sampling": sampling}).loss.tis_cap == 2.0
    with pytest.raises(UsageError, match=r"off_policy_steps=1 needs loss\.tis_cap"):
        TrainConfig.from_mapping({"sampling": sampling, "loss": {"tis_cap": None}})


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
