"""Two processes train like a single process, whether each has all weights or a shard of them."""

from __future__ import annotations

import json
import shutil
import signal
import socket
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

from grpo_env.errors import InterruptedRunError, UsageError
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sharding import with_fsdp
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.update import update

from ... import forked

pytestmark = pytest.mark.slow

# Everything that crosses rows, groups or processes at once: batch scale, steps, a KL penalty, two updates on each of
# two mini-batches, groups that are replaced. One example is held out, so one of two processes has none.
SCRIPT = """
import os, shutil, signal
from unittest.mock import patch
import torch
from grpo_env import load_task, train
from grpo_env.trainer.loop import resume
from grpo_env.trainer.run import checkpoint
from grpo_env.trainer.run.recorder import Recorder
torch.set_num_threads(1)
def run(folder, **changes):
    task = load_task("arithmetic", {"dataset.limit": {"train": 100, "eval": 10}})
    settings = dict(steps=3, prompts_per_step=4, group_size=4, supervision="both", kl={"coef": 0.1},
                    eval={"every": 0, "examples": 1}, checkpoint={"every": 1}, advantage={"scale": "none"},
                    optimizer={"updates_per_step": 2, "mini_batches": 2},
                    dynamic_sampling={"part": "accuracy"},
                    engine={"micro_batch_tokens": 300, "device": "cpu"})
    with patch.object(checkpoint, "KEPT", 3):
        train(task, run_dir=folder, **{**settings, **changes})
def die_at(last):
    save = Recorder.save_if_due
    def save_or_die(self, step):
        save(self, step)
        if step == last and os.environ["RANK"] == "1":
            os.kill(os.getpid(), signal.SIGKILL)
    Recorder.save_if_due = save_or_die
"""


def two_processes(folder: Path, *lines: str) -> tuple[list[int | None], str]:
    """Exit codes and errors of the script in two processes with the environment that torchrun gives them.

    As with torchrun, one that fails ends the other.
    """
    script, errors = folder / "script.py", folder / "errors"
    script.write_text("\n".join([SCRIPT, *lines]))
    errors.write_text("")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
    processes = []
    for rank in range(2):
        environment = {name: str(value) for name, value in (shared | {"RANK": rank, "LOCAL_RANK": rank}).items()}
        command = ["python", str(script)]
        processes.append(forked.start(command, folder, environment, None, folder / f"out-{rank}", errors))
    first = wait(
        [process.sentinel for process in processes], timeout=500
    )  # processes that disagree wait for each other
    for process in processes:
        if not first or any(other.exitcode for other in processes):
            process.kill()
        process.join()
    return [process.exitcode for process in processes], errors.read_text()


@pytest.fixture(scope="module")
def single_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    folder = tmp_path_factory.mktemp("one") / "run"
    names: dict[str, Any] = {}
    exec(SCRIPT, names)
    names["run"](folder)
    return folder


def assert_equal(expected_run: Path, actual_run: Path) -> None:
    rows = [
        [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for run in (expected_run, actual_run)
    ]
    assert [row["step"] for row in rows[0]] == [0, 0, 1, 2, 3]
    for expected, actual in zip(*rows, strict=True):
        compared = {"accuracy", "reward", "length", "loss", "grad_norm", "kl", "entropy", "uniform_groups"}
        compared |= {"groups_sampled", "tokens"}
        keys = {key for key in compared & expected.keys() if actual[key] is not expected[key]}  # None without tokens
        assert [actual[key] for key in keys] == pytest.approx([expected[key] for key in keys], rel=1e-3, abs=1e-6)
    weights = [
        AutoModelForCausalLM.from_pretrained(run / "model", dtype=torch.float32) for run in (expected_run, actual_run)
    ]
    for expected, actual in zip(*(model.parameters() for model in weights), strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)


SENDER = """
from pathlib import Path
from safetensors.torch import load_file
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.engine.sharding import with_fsdp
whole = load_policy("bundled", device="cpu").model
plain = whole.state_dict()
policy = load_policy("bundled", device="cpu", sharded=True)
assert policy.model.device.type == ("cpu" if policy.accelerator.is_main_process else "meta")
policy = with_fsdp(policy, TrainConfig())
assert all(weight.full_tensor().equal(plain[name]) for name, weight in policy.trained.items())
buffers = [dict(model.named_buffers()) for model in (whole, policy.model)]
assert buffers[0].keys() == buffers[1].keys() and all(buffers[1][name].equal(buffers[0][name]) for name in buffers[0])
group = torch.distributed.distributed_c10d._get_default_group()
assert group._get_backend(torch.device("cpu")).options._timeout.total_seconds() == 4 * 3600
received = []
def call(path, body):
    if path == "/collective_rpc":
        received.append(load_file(Path(body["kwargs"]["weights_path"]) / "model.safetensors"))
engine = VllmServers(["http://first", "http://second"])
for server in engine._servers:
    server.call = call
for version in (1, 2):
    for weight in policy.trained.values():
        weight.data.mul_(2)
    engine.update_weights(policy, version)
    if policy.accelerator.is_main_process:
        assert len(received) == 2 * version
        assert received[-1].keys() == plain.keys()
        assert all(received[-1][name].equal(weight * 2**version) for name, weight in plain.items())
    else:
        assert not received
"""


def test_sharded_weights_are_gathered_once_for_each_version(tmp_path: Path) -> None:
    """By all processes; the first one, which alone has loaded them, sends them."""
    codes, errors = two_processes(tmp_path, "import sys", f"os.environ.update({FSDP2})", SENDER)
    assert codes == [0, 0], errors


@pytest.fixture(scope="module")
def two_process_runs(single_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of three runs of two processes, and their console output.

    ``whole``: each has all weights. ``sharded``: each has a shard of them; resumes after the first steps of the
    single process.
    ``resumed``: resumes after the first steps of ``sharded``.
    """
    folder = tmp_path_factory.mktemp("two")
    first_steps(single_run, folder / "sharded")
    codes, errors = two_processes(
        folder, f"os.chdir({str(folder)!r})", 'run("whole")', f"os.environ.update({FSDP2})", GO_ON
    )
    assert codes == [0, 0], errors[-3000:]
    assert errors.count("saved      ") == 3  # only the first process prints
    return folder, errors


FSDP2 = {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}  # as accelerate launch sets them
GO_ON = """
resume("sharded")
if os.environ["RANK"] == "0":
    shutil.copytree("sharded", "resumed", ignore=shutil.ignore_patterns("model", "step-000003"))
torch.distributed.barrier()
resume("resumed")
"""


def first_steps(single_run: Path, folder: Path) -> None:
    shutil.copytree(single_run, folder, ignore=shutil.ignore_patterns("model", "step-00000[23]"))


def test_two_processes_equal_one(single_run: Path, two_process_runs: tuple[Path, str]) -> None:
    folder, output = two_process_runs
    assert output.count("cpu, 2 processes\n") == 1
    assert_equal(single_run, folder / "whole")


def assert_sharded_runs_equal(single_run: Path, folder: Path) -> None:
    """``GO_ON`` repeated the steps of one process; resumed from its own checkpoint, it repeated its own exactly."""
    assert_equal(single_run, folder / "sharded")
    runs = [folder / "sharded", folder / "resumed"]
    states = [torch.load(run / "checkpoints/step-000003/state.pt", weights_only=True) for run in runs]
    torch.testing.assert_close(*states, rtol=0, atol=0)
    sizes = {(run / "model/model.safetensors").stat().st_size for run in (single_run, *runs)}
    assert len(sizes) == 1  # tied weights are written once


def test_fsdp_equals_one_process(single_run: Path, two_process_runs: tuple[Path, str]) -> None:
    folder, output = two_process_runs
    assert output.count("cpu, 2 processes with sharded weights\n") == 2
    assert_sharded_runs_equal(single_run, folder)


# Called once before the run. The first and the third step have a gradient, in the first group of the first mini-batch.
AT_TIMES = """
import itertools, torch
calls = itertools.count()
def at_times(groups):
    advantages = torch.zeros_like(groups.rewards)
    if next(calls) in (1, 3):
        advantages[0], advantages[1] = 1.0, -1.0
    return advantages
"""


@pytest.fixture(scope="module")
def seldom(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The run of one process in which most mini-batches have no gradient, and the code of such a run."""
    folder = tmp_path_factory.mktemp("seldom")
    (folder / "at_times.py").write_text(AT_TIMES)
    function = f"{folder / 'at_times.py'}:at_times"
    code = f"run({{!r}}, supervision='outcome', kl={{{{'coef': 0.0}}}}, advantage={{{{'function': {function!r}}}}})"
    exec("\n".join([SCRIPT, code.format(str(folder / "run"))]), {})
    return folder / "run", code.format("run")


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({}, id="whole"),
        pytest.param(FSDP2, id="fsdp"),
    ],
)
def test_mini_batches_without_a_gradient(seldom: tuple[Path, str], tmp_path: Path, environment: dict[str, str]) -> None:
    expected, code = seldom
    codes, errors = two_processes(tmp_path, f"os.environ.update({environment})", f"os.chdir({str(tmp_path)!r})", code)
    assert codes == [0, 0], errors[-3000:]
    assert_equal(expected, tmp_path / "run")


def test_a_run_resumes_after_a_process_was_killed(single_run: Path, tmp_path: Path) -> None:
    codes, errors = two_processes(tmp_path, "die_at(2)", 'run("two")')
    assert codes[1] == -signal.SIGKILL, errors[-3000:]
    assert codes[0] != 0
    assert not (tmp_path / "two" / "model").exists()
    resume(tmp_path / "two")
    assert_equal(single_run, tmp_path / "two")


# The first pass with a gradient of the second process fails.
SCARCE = """
from grpo_env.trainer import update
logp, calls = update.completion_logp, iter([os.environ["RANK"] == "1"])
def scarce(*arguments):
    if torch.is_grad_enabled() and next(calls, False):
        raise MemoryError
    return logp(*arguments)
update.completion_logp = scarce
"""


def test_memory_that_runs_out_in_another_process_is_reported(single_run: Path, tmp_path: Path) -> None:
    codes, errors = two_processes(tmp_path, SCARCE, f"os.chdir({str(tmp_path)!r})", 'run("two")')
    assert codes == [0, 0], errors[-3000:]
    assert errors.count("process 1: out of memory: micro-batches are halved; engine.micro_batch_tokens is now ") == 1
    assert_equal(single_run, tmp_path / "two")


def test_an_interrupted_sharded_run_saves_nothing(make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grpo_env.trainer.run.stopping.is_sharded", lambda policy: True)
    steps = iter(range(4))

    def interrupted_at_step_3(*args: Any) -> dict[str, float]:
        if next(steps) == 3:
            raise KeyboardInterrupt
        return update(*args)

    monkeypatch.setattr("grpo_env.trainer.loop.update", interrupted_at_step_3)
    with pytest.raises(
        InterruptedRunError, match=r"after 3 steps: interrupted.* Resume from the last checkpoint with: grpo_env"
    ):
        train(make_task(steps=4, checkpoint={"every": 2}), run_dir=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run/checkpoints").iterdir()] == ["step-000002"]


@pytest.mark.parametrize(
    ("settings", "environment", "message"),
    [
        ({}, {"FSDP_VERSION": "1"}, "accelerate is set up for FSDP, which needs fsdp_version: 2"),
        ({}, {"FSDP_RESHARD_AFTER_FORWARD": "false"}, "fsdp_reshard_after_forward: true"),
        ({}, {"FSDP_OFFLOAD_PARAMS": "true"}, "fsdp_offload_params: false"),
        ({}, {"FSDP_ACTIVATION_CHECKPOINTING": "true"}, "gradient_checkpointing=true, not fsdp_activation"),
        ({"optimizer.name": "adamw_8bit"}, {}, "FSDP, which needs optimizer.name=adamw; see"),
        ({"lora.rank": 2}, {}, "training of all weights, not of an adapter"),
    ],
)
def test_settings_that_do_not_work_with_fsdp(
    policy: Policy, monkeypatch: pytest.MonkeyPatch, settings: dict, environment: dict, message: str
) -> None:
    monkeypatch.setattr(Accelerator, "num_processes", 2)
    for name, value in {**FSDP2, **environment}.items():
        monkeypatch.setenv(name, value)
    config = TrainConfig.from_mapping(settings)
    next(policy.model.parameters()).requires_grad_(not config.lora.rank)  # as peft leaves it
    with pytest.raises(UsageError, match=message):
        with_fsdp(policy, config)
