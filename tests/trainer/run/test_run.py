"""Whole runs on a tiny random model: what they write, how they stop, and how they go on."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import math
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml
from rich.console import Console
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_env import Score, Verifier, load_task
from grpo_env.core import Example, Group, Message
from grpo_env.errors import InterruptedRunError, RunError, UsageError
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task
from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sharding import optimizer_step
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.run.folder import uninterrupted
from grpo_env.trainer.run.run import Run
from grpo_env.trainer.run.task_checks import end_warning
from grpo_env.trainer.update import update
from grpo_env.workers.scoring_process import score_in_process

from ..shortcuts import read_samples

TIMES = ("tokens_per_second", "sample_seconds", "update_seconds", "seconds")
stop_after = [math.inf]  # completions until Ctrl-C is pressed


@pytest.fixture(autouse=True)
def _pressing_control_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after ``stop_after`` completions that were sent to be scored."""

    def score(verifier: Verifier, groups: Sequence[Group]) -> list[list[Score]]:
        before = stop_after[0]
        stop_after[0] -= sum(len(group.completions) for group in groups)
        if before > 0 >= stop_after[0]:
            signal.raise_signal(signal.SIGINT)
        return score_in_process(verifier, groups)

    monkeypatch.setattr("grpo_env.workers.scoring_process.score_in_process", score)


LETTERS = {"test_ascii": {"weight": 1.0}}


def metrics(run: Path, kind: str | None = None) -> list[dict]:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows if kind in (None, row["kind"])]


def weights(run: Path) -> dict[str, torch.Tensor]:
    return AutoModelForCausalLM.from_pretrained(run / "model", dtype=torch.float32).state_dict()


def assert_same_runs(first: Path, second: Path) -> None:
    assert metrics(first) == metrics(second)
    first_weights, second_weights = weights(first), weights(second)
    assert all(torch.equal(first_weights[name], second_weights[name]) for name in second_weights)
    texts = [[(row["step"], row["text"]) for row in read_samples(run)] for run in (first, second)]
    assert texts[0] == texts[1]


def test_a_run_writes_its_files_and_console_output(
    make_task, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task()
    result = train(task, run_dir=tmp_path / "run", seed=3)
    run = result.run_dir
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert (config["seed"], config["steps"], config["loss"]["clip_high"]) == (3, 3, 0.28)
    assert TrainConfig.from_mapping(config).seed == 3
    assert load_task(run / "task.yaml").name == "vowels"
    versions = json.loads((run / "versions.json").read_text())
    assert torch.__version__.startswith(versions["torch"].split("+")[0])
    for split, limit in (("train", None), ("eval", 4)):
        numbers = [int(str(example.answer)) for example in task.examples(split, limit)]
        lines = [f'{{"answer": "{n}", "question": "what is {n // 2}+{n // 2}?"}}\n' for n in numbers]
        assert versions["data"]["vowels"][split] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert [row["step"] for row in metrics(run, "train")] == [0, 1, 2]
    assert [row["step"] for row in metrics(run, "eval")] == [0, 2, 3]
    assert (result.before["step"], result.after["step"]) == (0, 3)
    samples = read_samples(run)
    assert Counter(row["step"] for row in samples) == dict.fromkeys(range(3), 3 * 4)
    assert all(row["parts"]["test_vowels"]["value"] is not None for row in samples)
    assert [row["group"] for row in samples[::4]] == [f"{step}/{group}" for step in range(3) for group in (1, 2, 3)]
    assert sum(row["advantage"] for row in samples[:4]) == pytest.approx(0, abs=1e-5)
    assert AutoTokenizer.from_pretrained(run / "model").eos_token == "<end>"
    changes = [(a - b).abs().max() for a, b in zip(weights(run).values(), _start_weights(config), strict=True)]
    assert max(changes) > 1e-3
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("task       vowels: ")
    assert "27,552 parameters, fp32 on cpu" in lines[1]
    assert lines[2] == "sampling   the library's own sampler: the device is cpu"
    assert "3 steps of 3 x 4 = 12 completions" in lines[3]
    assert str(run) in lines[4]
    assert lines[-1].endswith(f"grpo_env eval {run / 'task.yaml'} --model {run / 'model'}")


def _start_weights(config: dict) -> list[torch.Tensor]:
    return list(AutoModelForCausalLM.from_pretrained(config["model"]).state_dict().values())


def test_before_the_first_update_the_policy_is_its_own_reference(make_task, tmp_path: Path) -> None:
    """At the temperature of sampling, so that the KL between them is 0."""
    train(make_task(), run_dir=tmp_path / "run", steps=1, sampling={"temperature": 0.6}, kl={"coef": 0.1})
    (row,) = metrics(tmp_path / "run", "train")
    assert row["kl"] == pytest.approx(0, abs=1e-6)


def test_a_model_that_is_never_correct_is_reported_after_the_first_evaluation(
    make_task, tmp_path: Path, capsys
) -> None:
    settings = {"steps": 1, "eval": {"every": 0, "samples": 1}}
    train(make_task({"accuracy": {"weight": 1.0}}, **settings), run_dir=tmp_path / "silent")
    count = 2 * len(load_task(tmp_path / "silent" / "task.yaml").examples("eval", 4))
    messages = capsys.readouterr().err
    assert messages.count(f"0 of {count} completions are correct, 100% are cut off, and they have the same reward") == 1
    assert "try a larger sampling.max_new_tokens" in messages
    train(make_task(**settings), run_dir=tmp_path / "vowels")
    assert "are correct" not in capsys.readouterr().err


def test_default_names_count_up(make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [train(make_task(steps=0)).run_dir for _ in range(2)]
    assert [name.parent.name for name in names] == ["runs", "runs"]
    assert [name.name.split("-")[0::2] for name in names] == [["vowels", "1"], ["vowels", "2"]]


def test_an_existing_folder_is_not_overwritten(make_task, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious").write_text("x")
    with pytest.raises(UsageError, match="already exists"):
        train(make_task(), run_dir=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["precious"]
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(UsageError, match="already exists"):
        train(make_task(), run_dir=tmp_path / "link")


def test_a_run_that_still_trains_is_refused_to_others(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before they load a model, or send weights to a server. A killed run is resumed in ``test_resume.py``."""
    run, refused = tmp_path / "run", list[str]()
    others = (lambda: resume(run), lambda: resume(run, steps="+1"), lambda: train(make_task(), run_dir=run))

    def try_others(policy: Policy, optimizer: object, batches: object, config: object, step: int) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(Run, "load", lambda *_: pytest.fail("loaded"))
            for other in others:
                with pytest.raises(UsageError) as error:
                    other()
                refused.append(str(error.value))
        return update(policy, optimizer, batches, config, step)

    monkeypatch.setattr("grpo_env.trainer.loop.update", try_others)
    train(make_task(steps=1, eval={"every": 0}), run_dir=run)
    line = f"{run}: another process trains this run; wait for it, or stop it first"
    advice = f"choose another folder, or go on with that run: grpo_env train --resume {run}"
    assert refused == [line, line, f"{run} already exists; {advice}"]
    resume(run, steps="+1")
    assert refused[3:5] == [line, line]
    assert [row["step"] for row in metrics(run, "train")] == [0, 1]

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.undo()
    monkeypatch.setattr("fcntl.flock", no_locks)
    capsys.readouterr()
    resume(run, steps="+1")
    assert f"{run}: locks fail (Function not implemented), so a second process would" in capsys.readouterr().err


CUT = {
    "steps": 4,
    "checkpoint.every": 0,
    "kl.coef": 0.05,
    "optimizer.updates_per_step": 2,
    "optimizer.mini_batches": 3,
    "eval.samples": 1,
}


@pytest.fixture(autouse=True)
def _ctrl_c_raises():
    """A process that a script started in the background inherits a SIGINT that is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def whole_run(make_task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    stop_after[0] = math.inf
    return train(make_task(LETTERS, **CUT), run_dir=tmp_path_factory.mktemp("runs") / "whole").run_dir


# 8 calls before the first step (4 examples, greedy and sampled), then 12 a step, and 8 more before step 2.
@pytest.mark.slow
@pytest.mark.parametrize(("calls", "updates"), [(5, 0), (18, 0), (38, 2), (56, 3)])
def test_ctrl_c_and_resume_give_the_same_numbers(
    whole_run: Path, make_task, tmp_path: Path, calls: int, updates: int
) -> None:
    """In an evaluation, in the first step, between two steps and in the last one."""
    stop_after[0] = calls
    with pytest.raises(InterruptedRunError, match=rf"interrupted; {updates} of 4 steps are saved.*--resume") as caught:
        train(make_task(LETTERS, **CUT), run_dir=tmp_path / "cut")
    assert caught.value.exit_code == 130
    assert not (tmp_path / "cut" / "model").exists()
    resumed = resume(tmp_path / "cut")
    assert_same_runs(whole_run, resumed.run_dir)
    assert resumed.before["accuracy"] == metrics(whole_run)[0]["accuracy"]


@pytest.mark.slow
def test_epochs_are_as_many_steps_and_resume_as_these(make_task, tmp_path: Path, capsys) -> None:
    task = make_task(LETTERS, **CUT)
    rows = [example.id for example in task.examples("train")]
    assert len(rows) == 6
    stop_after[0] = math.inf
    whole = train(task, run_dir=tmp_path / "whole", steps=5).run_dir
    stop_after[0] = 38
    with pytest.raises(InterruptedRunError, match="2 of 5 steps are saved"):
        train(task, run_dir=tmp_path / "cut", epochs=2.2)  # 13.2 prompts, 3 a step
    assert "epochs     2.2 of 6 examples, 3 a step: 5 steps\n" in capsys.readouterr().err
    stop_after[0] = math.inf
    assert_same_runs(whole, resume(tmp_path / "cut").run_dir)
    taken = Counter(row["id"] for row in read_samples(whole)[::4])
    assert sorted(taken.values()) == [2] * 3 + [3] * 3
    assert set(taken) == set(rows)


@pytest.mark.slow
@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), UsageError("a prompt")])
def test_any_error_saves_the_steps_before_it(
    whole_run: Path, make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    stop_after[0] = math.inf
    calls = itertools.count()

    def fail_in_third_step(*arguments: object) -> torch.Tensor:
        if next(calls) == 2:
            raise error
        return token_advantages(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("grpo_env.trainer.loop.token_advantages", fail_in_third_step)
        with pytest.raises(type(error) if isinstance(error, ZeroDivisionError) else RunError) as caught:
            train(make_task(LETTERS, **CUT), run_dir=tmp_path / "cut")
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert str(error) in text
    assert re.search(r"2 (of 4 )?steps (is|are) saved.*grpo_env train --resume", text)
    assert [path.name for path in RunFolder(tmp_path / "cut").checkpoints()] == ["step-000002"]
    assert_same_runs(whole_run, resume(tmp_path / "cut").run_dir)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failing", "saved", "error"),
    [(6, ["step-000001"], ZeroDivisionError), (7, [], RunError), (11, [], ZeroDivisionError)],
)
def test_half_an_update_is_not_saved(
    whole_run: Path,
    make_task,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: int,
    saved: list[str],
    error: type[Exception],
) -> None:
    """A step has six updates. If the first fails, the weights are those of the step before; if a later one, of none."""
    stop_after[0] = math.inf
    calls = itertools.count()

    def fail_once(*arguments: object) -> float:
        if next(calls) == failing:
            raise error("a bug")
        return optimizer_step(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("grpo_env.trainer.update.optimizer_step", fail_once)
        with pytest.raises(error, match="a bug"):
            train(make_task(LETTERS, **CUT), run_dir=tmp_path / "cut")
    assert [path.name for path in RunFolder(tmp_path / "cut").checkpoints()] == saved
    assert_same_runs(whole_run, resume(tmp_path / "cut").run_dir)


def test_ctrl_c_waits_for_the_end_of_an_update() -> None:
    before, reached = signal.getsignal(signal.SIGINT), []

    def interrupted_update() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        interrupted_update()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_a_run_that_goes_on_with_other_rows_says_so(make_task, tmp_path: Path, capsys) -> None:
    stop_after[0] = math.inf
    task = make_task(steps=1, eval={"every": 0, "at_start": False, "examples": 1})
    run = train(task, run_dir=tmp_path / "run").run_dir
    resume(run, steps="+1")
    assert "others than when the run began" not in capsys.readouterr().err
    rows = task.folder / "rows.jsonl"
    kept = [example.answer for example in task.examples("eval", 1)]
    lines = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join(line for line in lines if json.loads(line)["answer"] in kept) + "".join(lines[:8]))
    resume(run, steps="+1")
    assert capsys.readouterr().err.count("data       the train rows of vowels are others than when the run began") == 1
    versions = run / "versions.json"
    versions.write_text(re.sub(r'("code": \{[^}]*?": )"\w+"', r'\1"another"', versions.read_text()))
    resume(run, steps="+1")
    assert "a verifier of vowels, is another than when the run began" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"kl.coef": 0.5, "kl.reference_sync_every": 3}])
def test_resume_after_a_crash_drops_rows_after_the_checkpoint(make_task, tmp_path: Path, settings) -> None:
    task = make_task(LETTERS, steps=5, checkpoint={"every": 2}, **settings)
    stop_after[0] = math.inf
    uninterrupted = train(task, run_dir=tmp_path / "whole").run_dir
    crashed = train(task, run_dir=tmp_path / "crashed").run_dir
    # The state that kill -9 at the end of step 4 leaves: an incomplete line, and no checkpoint since step 4 began.
    (crashed / "model").rename(crashed / "gone")
    (crashed / "checkpoints" / "step-000005").rename(crashed / "step-000005")
    (crashed / "checkpoints" / ".step-000006.tmp").mkdir()
    (crashed / "checkpoints" / ".step-000006.tmp" / "state.pt").write_bytes(b"half")
    with (crashed / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "train", "st')
    resume(crashed)
    assert_same_runs(uninterrupted, crashed)


def test_an_updated_reference_is_the_model_of_the_last_sync(make_task, tmp_path: Path) -> None:
    stop_after[0] = math.inf
    task = make_task(LETTERS, steps=4, kl={"coef": 0.01}, eval={"every": 0})
    kls = []
    for every in (0, 1, 2):
        run = train(task, run_dir=tmp_path / str(every), kl={"reference_sync_every": every}).run_dir
        kls.append([row["kl"] for row in metrics(run) if row["kind"] == "train"])
    frozen, always, second = kls
    assert frozen[0] == pytest.approx(0.0, abs=1e-9)
    assert min(frozen[1:]) > 0
    assert always == pytest.approx([0.0] * 4, abs=1e-6)
    assert [value > 1e-6 for value in second] == [False, True, False, True]


def interrupted(make_task, folder: Path, calls: int = 40, **train_settings) -> Path:
    task = make_task(LETTERS, steps=4, checkpoint={"every": 1}, eval={"every": 0}, **train_settings)
    stop_after[0] = calls
    with pytest.raises(InterruptedRunError):
        train(task, run_dir=folder)
    stop_after[0] = math.inf
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_a_corrupt_checkpoint_is_skipped(
    make_task, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    run = interrupted(make_task, tmp_path / "run")
    newest = RunFolder(run).checkpoints()[-1]
    content = (newest / "state.pt").read_bytes()
    if damage == "flip":
        half = len(content) // 2
        (newest / "state.pt").write_bytes(content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :])
    else:
        (newest / "state.pt").write_bytes(content[:-100])
    (newest.parent / f"corrupt-{newest.name}").mkdir()  # the same step was damaged before
    (newest.parent / f"corrupt-{newest.name}" / "state.pt").write_bytes(b"")
    resume(run)
    assert f"{newest.name} is corrupt" in capsys.readouterr().err
    assert [row["step"] for row in metrics(run, "train")] == [0, 1, 2, 3]
    assert (newest.parent / f"corrupt-{newest.name}").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")]
)
def test_running_out_of_memory_does_not_mark_a_checkpoint_as_corrupt(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    run = interrupted(make_task, tmp_path / "run")
    before = RunFolder(run).checkpoints()
    with monkeypatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "load_state_dict", lambda *_: (_ for _ in ()).throw(error))
        with pytest.raises(type(error)):
            resume(run)
    assert RunFolder(run).checkpoints() == before
    resume(run)
    assert [row["step"] for row in metrics(run, "train")] == [0, 1, 2, 3]


def test_resume_fails_when_all_checkpoints_are_corrupt(make_task, tmp_path: Path) -> None:
    run = interrupted(make_task, tmp_path / "run")
    for checkpoint in RunFolder(run).checkpoints():
        (checkpoint / "state.pt").write_bytes(b"")
    with pytest.raises(RunError, match="all checkpoints are corrupt"):
        resume(run)


@pytest.mark.parametrize(
    ("settings", "changed", "problem"),
    [
        ({"kl": {"coef": 0.1}}, {"kl": {"coef": 0.1, "reference_sync_every": 2}}, "it has no reference model"),
        ({}, {"lora": {"rank": 2}}, "KeyError: 'model.layers.0"),
    ],
)
def test_a_checkpoint_of_other_settings_is_kept(make_task, tmp_path: Path, settings, changed, problem: str) -> None:
    """What was changed in config.yaml is named as the reason, and can be undone."""
    run = interrupted(make_task, tmp_path / "run", **settings)
    before, config = RunFolder(run).checkpoints(), (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load(config) | changed))
    with pytest.raises(
        RunError, match=rf"does not fit the settings .*{problem}.*undo what was changed in .*config.yaml"
    ):
        resume(run)
    assert RunFolder(run).checkpoints() == before
    (run / "config.yaml").write_text(config)
    resume(run)
    assert [row["step"] for row in metrics(run, "train")] == [0, 1, 2, 3]


@pytest.mark.slow
def test_only_the_newest_checkpoints_are_kept(make_task, tmp_path: Path) -> None:
    run = train(make_task(steps=5), run_dir=tmp_path / "run").run_dir
    assert [path.name for path in RunFolder(run).checkpoints()] == ["step-000004", "step-000005"]
    assert not list((run / "checkpoints").glob(".*"))


def test_resume_refuses_finished_runs_and_other_folders(
    make_task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="not a run folder"):
        resume(tmp_path)
    overridden = load_task(make_task(steps=0).source, {"verifiers.repetition": {"weight": 0.1}})
    run = train(overridden, run_dir=tmp_path / "run").run_dir
    assert f"grpo_env eval {run / 'task.yaml'} --model {run / 'model'}" in capsys.readouterr().err  # as overridden
    with pytest.raises(UsageError, match=r"finished; to go on with it: grpo_env train --resume .*/run steps=\+\d+"):
        resume(run)
    for steps in (0, "0", "+0", "+x", "-1"):
        with pytest.raises(UsageError, match="steps"):
            resume(run, steps=steps)
    with pytest.raises(UsageError, match=r"another folder, or go on with that run: grpo_env train --resume .*/run"):
        train(make_task(steps=0), run_dir=run)
    assert train(make_task(steps=0), run_dir=tmp_path / "run-2", model=str(run / "model")).run_dir.name == "run-2"


@pytest.mark.slow
@pytest.mark.parametrize("more", [2, "+1"])
def test_a_finished_run_goes_on_with_more_steps(make_task, tmp_path: Path, more: int | str) -> None:
    """With a constant learning rate, to the numbers of a run that had these steps from the start."""
    settings = {"steps": 1, "eval": {"every": 0, "examples": 2}, "optimizer": {"lr_schedule": "constant"}}
    run = train(make_task(**settings), run_dir=tmp_path / "run").run_dir
    first = {path.name: path.read_bytes() for path in (run / "model").iterdir()}
    resume(run, steps=more)
    assert {path.name: path.read_bytes() for path in (run / "model-1").iterdir()} == first
    settings |= {"steps": 2, "eval": {"every": 1, "examples": 2}}
    assert_same_runs(train(make_task(**settings), run_dir=tmp_path / "whole").run_dir, run)
    assert yaml.safe_load((run / "config.yaml").read_text())["steps"] == 2


def test_more_steps_that_a_kill_interrupts_are_as_without_it(make_task, tmp_path: Path) -> None:
    """Also the evaluation at the run's first end, which is due at no other time, and the best model."""
    settings = {"steps": 1, "eval": {"every": 0, "examples": 2}, "checkpoint": {"best": True}}
    stop_after[0] = math.inf
    whole, killed = (train(make_task(LETTERS, **settings), run_dir=tmp_path / name).run_dir for name in ("a", "b"))
    resume(whole, steps="+2")
    stop_after[0] = 24
    with pytest.raises(InterruptedRunError):
        resume(killed, steps="+2")
    for checkpoint in (killed / "checkpoints").glob("step-00000[23]"):  # as kill -9 leaves it
        shutil.rmtree(checkpoint)
    stop_after[0] = math.inf
    resume(killed)
    assert_same_runs(whole, killed)
    best = [sorted(path.name for path in run.glob("best-*")) for run in (whole, killed)]
    assert best[0] == best[1] != []


def test_the_mode_that_an_interrupt_left_on_does_not_stop_the_next_run(make_task, tmp_path: Path) -> None:
    """An interrupt inside of torch's context manager, as a notebook's users make them."""
    with torch.inference_mode():
        train(make_task(steps=1, eval={"every": 0, "examples": 2}), run_dir=tmp_path / "run")
        resume(tmp_path / "run", steps="+1")


def test_a_diverging_run_stops_without_a_model(make_task, tmp_path: Path) -> None:
    task = make_task(optimizer={"learning_rate": 1e30, "warmup_steps": 0}, steps=4, checkpoint={"every": 0})
    with pytest.raises(RunError, match="not finite") as caught:
        train(task, run_dir=tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run" / "model").exists()


def test_too_much_unscored_stops_the_run(make_task, tmp_path: Path) -> None:
    task = make_task({"test_unscored_odd": {}}, max_unscored_fraction=0.2)
    files = r"the settings are in .*config.yaml, the task with its verifiers in .*task.yaml. Change what is wrong"
    with pytest.raises(RunError, match=rf"max_unscored_fraction=0.2; first: example .*not_applicable: .*odd.*{files}"):
        train(task, run_dir=tmp_path / "run")
    result = train(make_task({"test_unscored_odd": {}}, max_unscored_fraction=1.0), run_dir=tmp_path / "more")
    assert 0 < metrics(result.run_dir, "train")[0]["unscored"] < 1


def test_process_supervision_needs_steps(make_task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="supervision=process needs step scores, and no part of the reward of vowels"):
        train(make_task({"tag_count": {}}), run_dir=tmp_path / "run", supervision="process")
    with pytest.raises(UsageError, match="the reward of vowels is 0 for every completion, as all weights are 0"):
        train(make_task({"test_ascii": {"weight": 0.0}}), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full stands for a full disk")
def test_a_full_disk_is_reported_in_one_line(make_task, tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", make_task(), TrainConfig(), {})
    (run.path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(RunError, match=r"metrics.jsonl: the disk is full"):
        run.record({"kind": "train", "step": 0})


def with_questions(task: Task, digits: Sequence[int]) -> Task:
    """The task with questions of so many digits, each of which is a token, as is the space after the question."""
    rows = [{"question": "7" * count, "answer": "1"} for count in digits]
    (task.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return task


DIGITS = [*range(108, 120), *range(20, 32)]


def longer_than(task: Task, split: Split, tokens: int) -> int:
    return sum(len(example.info["question"]) + 1 > tokens for example in task.examples(split))


def test_prompts_that_are_too_long_stop_a_run_before_it_begins(make_task, tmp_path: Path) -> None:
    """The model has 128 positions, of which a completion takes 12."""
    task = with_questions(make_task(), DIGITS)
    longer, longest = longer_than(task, "train", 116), max(len(e.info["question"]) for e in task.examples("train")) + 1
    with pytest.raises(
        UsageError, match=rf"{longer} of \d+ prompts of the train split have more than 116 tokens"
    ) as caught:
        train(task, run_dir=tmp_path / "run")
    assert f"the longest has {longest}" in str(caught.value)
    assert "sampling.overlong_prompts=drop" in str(caught.value)
    with pytest.raises(UsageError, match=r"have more than 50 tokens \(sampling.max_prompt_tokens\)"):
        train(task, run_dir=tmp_path / "run", sampling={"max_prompt_tokens": 50})
    with pytest.raises(UsageError, match="all prompts of the train split have more than 5 tokens"):
        train(task, run_dir=tmp_path / "run", sampling={"max_prompt_tokens": 5, "overlong_prompts": "drop"})
    with pytest.raises(UsageError, match=r"has no position left for a prompt \(.*; lower sampling.max_new_tokens"):
        train(task, run_dir=tmp_path / "run", sampling={"max_new_tokens": 1000})
    with pytest.raises(UsageError, match="prompts of the eval split have more than 116 tokens"):
        run_eval(task)
    assert not (tmp_path / "run").exists()


def test_prompts_that_are_too_long_are_dropped_on_request(make_task, tmp_path: Path, capsys) -> None:
    task = with_questions(make_task(eval={"examples": 20}), DIGITS)
    train(task, run_dir=tmp_path / "run", sampling={"max_prompt_tokens": 50, "overlong_prompts": "drop"}, steps=1)
    messages = capsys.readouterr().err
    for split in ("train", "eval"):
        count, longer = len(task.examples(split)), longer_than(task, split, 50)
        assert f"{longer} of {count} prompts of the {split} split have more than 50 tokens" in messages
    assert f"task       vowels: {len(task.examples('train')) - longer_than(task, 'train', 50)} examples" in messages


def test_a_folder_that_cannot_be_created(make_task, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be created"):
        train(make_task(), run_dir=tmp_path / "file" / "run")


# Every setting changes what a run does. Those of the loss and the optimizer are in test_update.py. Settings share a run
# where none can change what is observed of another.
EFFECTS = [
    {
        "steps": (4, lambda run: len(metrics(run, "train"))),
        "group_size": (2, lambda run: len(read_samples(run)) / len(metrics(run, "train"))),
        "eval.every": (0, lambda run: len(metrics(run, "eval"))),
        "eval.samples": (0, lambda run: sorted(metrics(run, "eval")[0])),
        "checkpoint.every": (0, lambda run: len(RunFolder(run).checkpoints())),
    },
    {
        "sampling.max_new_tokens": (5, lambda run: max(row["length"] for row in metrics(run)) > 5),
        "sampling.temperature": (0.2, lambda run: metrics(run, "train")[0]["entropy"] < 2),
        "kl.coef": (5.0, lambda run: metrics(run, "train")[2]["kl"] > 0),
    },
    {"seed": (1, lambda run: metrics(run, "train")[0]["tokens"])},
    {"prompts_per_step": (2, lambda run: metrics(run, "train")[0]["tokens"])},
    {"eval.examples": (1, lambda run: metrics(run, "eval")[0]["accuracy"])},
    {"supervision": ("process", lambda run: metrics(run, "train")[1]["reward"])},
    {"engine.precision": ("bf16", lambda run: metrics(run, "train")[0]["loss"])},
    {"optimizer.mini_batches": (3, lambda run: metrics(run, "train")[1]["reward"])},
]


@pytest.mark.parametrize("effects", EFFECTS, ids=" ".join)
def test_each_setting_has_an_effect(plain_run: Path, make_task, tmp_path: Path, effects: dict) -> None:
    settings = {name: value for name, (value, _) in effects.items()}
    changed = train(make_task(), run_dir=tmp_path / "changed", **settings).run_dir
    assert all(observed(changed) != observed(plain_run) for _, observed in effects.values())


@pytest.fixture(scope="module")
def plain_run(make_task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(make_task(), run_dir=tmp_path_factory.mktemp("runs") / "plain").run_dir


def test_memory_settings_do_not_change_the_gradient(plain_run: Path, make_task, tmp_path: Path) -> None:
    settings = {"engine.gradient_checkpointing": True, "engine.micro_batch_tokens": 30, "steps": 1}
    changed = train(make_task(), run_dir=tmp_path / "changed", **settings).run_dir
    first, second = (metrics(run, "train")[0] for run in (plain_run, changed))
    first.pop("kind"), second.pop("kind")
    assert first == pytest.approx(second, rel=1e-4, abs=1e-6)


def test_settings_win_over_presets_and_presets_over_the_task(make_task, tmp_path: Path) -> None:
    task = make_task(steps=0, advantage={"scale": "group"}, loss={"clip_low": 0.1})
    run = train(task, run_dir=tmp_path / "run", preset="dr_grpo", loss={"clip_high": 0.5}).run_dir
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert (config["advantage"]["scale"], config["loss"]["clip_low"], config["loss"]["clip_high"]) == ("none", 0.2, 0.5)


def test_wrong_settings_name_their_source(make_task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"vowels.yaml: train: unknown setting 'stpes'; did you mean 'steps'"):
        train(make_task(stpes=3), run_dir=tmp_path / "run")
    with pytest.raises(UsageError, match="in grpo_env it is called 'group_size'"):
        train(make_task(), run_dir=tmp_path / "run", num_generations=3)
    assert not (tmp_path / "run").exists()


def test_a_run_says_what_a_filter_leaves_out_and_which_template_variables_have_no_effect(
    make_task, tmp_path: Path, capsys
) -> None:
    """The twelve answers are 0, 2, ... 22; the tiny model has no chat template."""
    short = {"steps": 1, "eval.every": 0, "eval.examples": 20, "eval.samples": 0}
    keys = {"dataset.filter": "{{ answer | int < 12 }}", "prompt": {"user": "{{ question }}"}}
    keys["prompt.chat_template_kwargs"] = {"enable_thinking": False}
    source = make_task(**short).source
    task = load_task(source, keys)
    everything = load_task(source)
    train(task, run_dir=tmp_path / "run")
    messages = " ".join(capsys.readouterr().err.split())
    for split in ("train", "eval"):
        answers = [int(example.answer) for example in everything.examples(split)]
        left_out = sum(answer >= 12 for answer in answers)
        assert f"vowels: dataset.filter leaves out {left_out} of {len(answers)} rows of the {split} split" in messages
    assert "prompt.chat_template_kwargs has no effect: the chat template of" in messages
    assert "does not use enable_thinking" in messages


def test_an_evaluation_reports_the_completions_that_have_ended(
    make_task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4 examples, which are one or two chunks of 3 x 2 completions: greedy, and 3 samples each."""
    seen: list[tuple[str, int, list[int]]] = []

    @contextmanager
    def progress(label: str, total: int, console: Console, advice: str) -> Iterator[Callable[[int], None]]:
        seen.append((label, total, []))
        yield seen[-1][2].append

    monkeypatch.setattr("grpo_env.trainer.run.held_out.progress", progress)
    train(make_task(group_size=2, steps=1, **{"eval.samples": 3, "eval.every": 0}), run_dir=tmp_path / "run")
    assert [(label, total) for label, total, _ in seen] == [
        (f"evaluation after {step} steps, {kind}", total)
        for step in (0, 1)
        for kind, total in (("greedy", 4), ("sampled", 12))
    ]
    for _, total, counts in seen:
        assert sum(counts) == total
        assert len(counts) == 4  # one for each example


@pytest.mark.parametrize(
    ("opens", "prefill", "warned"),
    [("<think>\n", "", True), ("<think>\n", "<think>\n", False), ("", "", False), ("<other>", "", False)],
)
def test_a_template_that_opens_the_reasoning_block_is_warned_of(
    make_task,
    model_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    opens: str,
    prefill: str,
    warned: bool,
) -> None:
    """As that of DeepSeek-R1."""
    model = shutil.copytree(model_folder, tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.chat_template = "{{ messages[0].content }}" + opens
    tokenizer.save_pretrained(model)
    changes = {"prompt": {"user": "{{ question }}"}, "format.prefill": prefill, "train.model": str(model)}
    task = load_task(make_task(steps=0).source, changes)
    train(task, run_dir=tmp_path / "run")
    line = (
        "end in <think>, so completions begin inside of the reasoning block, and strict_format is 0 for all of them; "
    )
    messages = " ".join(capsys.readouterr().err.split())
    assert (line + 'set format.prefill: "<think>\\n"' in messages) is warned


def test_tags_that_are_special_tokens_are_refused(make_task, model_folder: Path, tmp_path: Path) -> None:
    """They would be in no text, as in https://github.com/huggingface/trl/issues/2897."""
    model = shutil.copytree(model_folder, tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>", "</think>"]})
    tokenizer.save_pretrained(model)
    keys = {"train.model": str(model)}  # <think> is the tag of every task that names none
    task = load_task(make_task(steps=0).source, keys)
    line = r"format: <think>, </think> are special tokens of .*/model, .*strict_format would be 0 for all completions"
    for begin in (lambda: train(task, run_dir=tmp_path / "run"), lambda: run_eval(task)):
        with pytest.raises(UsageError, match=line):
            begin()
    assert not (tmp_path / "run").exists()
    train(load_task(task.source, {**keys, "format.reasoning": "thought"}), run_dir=tmp_path / "run")


@pytest.mark.parametrize(
    ("end", "ends", "line"),
    [
        ("<end>", [0], None),
        (" <stop>", [0, 1], None),
        (
            " <stop>",
            [0],
            "ends a message of the assistant with <stop>, which does not end a completion: only <end> does",
        ),
        ("", [0], None),
        ("text", [0], None),
        ("' if false else '<stop>", [0], None),  # writes no message
        ("<end>", None, "model has no end token"),
    ],
)
def test_completions_that_do_not_end_with_the_template_are_warned_of(
    policy: Policy, end: str, ends: list[int] | None, line: str | None
) -> None:
    """As those of a base model, whose template for chats has an end token that its configuration does not know."""
    policy.tokenizer.chat_template = "{% for m in messages %}{{ m.content + '" + end + "' }}{% endfor %}"
    policy.model.generation_config.eos_token_id = ends
    if ends is None:
        policy.tokenizer.eos_token = None
    seen = end_warning(replace(policy, name="model"), Example("a", (Message("user", "3+4?"),)))
    assert (line is None and seen is None) or (line is not None and seen is not None and line in seen)
    if ends:
        assert end_warning(policy, Example("a", "3+4?")) is None
