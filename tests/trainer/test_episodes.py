"""Episodes of several turns in the trainer: which tokens are trained, and with which advantages; who waits for whom."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from grpo_env.core import Example, Message
from grpo_env.environments import pool
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.errors import InterruptedRunError, UsageError
from grpo_env.taskfile.task import Task
from grpo_env.taskfile.task import make_task as make_task_from
from grpo_env.trainer.batch import pack_batches
from grpo_env.trainer.config import SamplingConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Rollout
from grpo_env.trainer.engine.sampling.vllm_server import VllmServers
from grpo_env.trainer.episodes.conversation import check_conversation
from grpo_env.trainer.episodes.sampling import sample_episodes
from grpo_env.trainer.loop import resume, train
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.run.evaluation import summarize
from grpo_env.trainer.shared_types import ScoredRollout, Start

from .engine.sampling.fake_vllm import FakeVllm
from .script import TEMPLATE, RecordingEngine, ScriptedEngine
from .shortcuts import advantages_of, loss_of, read_samples, roll_out

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _no_process_is_left():
    yield
    pool.close_idle()


@pytest.fixture
def talker(policy: Policy) -> Policy:
    """The tiny model with a chat template; a third of its tokens end a turn."""
    policy.tokenizer.chat_template = TEMPLATE
    policy.model.generation_config.eos_token_id = list(range(0, len(policy.tokenizer), 3))
    return policy


def a_task(cls: str = "Echo", verifiers: dict | None = None, **environment: object) -> Task:
    data = {
        "version": 1,
        "task": "talk",
        "dataset": {"path": "rows.jsonl", "answer": "7"},
        "prompt": {"user": "Hi."},
        "environment": {"use": f"talk.py:{cls}", **environment},
        "verifiers": verifiers or {"turns": {"most": 9}},
        "metric": next(iter(verifiers or {"turns": {}})),
    }
    return make_task_from(data, "talk.yaml", HERE)


def examples(count: int, **info: object) -> list[Example]:
    return [Example(str(number), (Message("user", "Hi."),), "7", info) for number in range(count)]


def play(policy: Policy, task: Task, rows: list[Example], size: int = 2, **options: object) -> list[Rollout]:
    seeds = options.pop("seeds", [row.id for row in rows])
    sampling = SamplingConfig().model_copy(update={"max_new_tokens": 30, **options})
    starts = [Start(prompt, None, 0, seed) for prompt, seed in zip(make_prompts(task, rows), seeds, strict=True)]
    groups: dict[int, list[Rollout]] = {}
    sample_episodes(policy, starts, size, sampling, groups.__setitem__)
    return [row for number in range(len(starts)) for row in groups[number]]


def call(tool: str, /, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def scripted(policy: Policy, *rows: list[str]) -> Policy:
    """A policy that says these turns in the rows of each group; all rows say the same if there is one list."""
    policy.tokenizer.chat_template = TEMPLATE
    speaker = replace(policy, rollout_engine=ScriptedEngine(lambda row, turn: rows[row % len(rows)][turn]))
    vars(speaker)["max_positions"] = None
    return speaker


def test_what_is_trained_is_what_was_sampled_and_nothing_else(talker: Policy) -> None:
    engine = RecordingEngine()
    policy = replace(talker, rollout_engine=engine)
    rollouts = play(policy, a_task(), examples(3, turns=3), size=4, max_new_tokens=5)
    assert len({len(row.spans) for row in rollouts}) > 1  # some use up their tokens before the third turn
    sampled = [ids[start:end] for row in rollouts for ids in [row.ids] for start, end in row.spans]
    assert sorted(sampled) == sorted(tokens for _, tokens, _ in engine.turns)
    assert sum(row.num_sampled for row in rollouts) == sum(len(tokens) for _, tokens, _ in engine.turns)
    by_prompt = {(tuple(prompt), tuple(tokens)): logps for prompt, tokens, logps in engine.turns}
    for row in rollouts:
        assert len(row.ids) == len(row.logps) == len(row.sampled)
        assert sum(row.sampled) == row.num_sampled <= 5
        assert row.seen.token_ids == tuple(token for token, flag in zip(row.ids, row.sampled, strict=True) if flag)
        assert [logp for logp, flag in zip(row.logps, row.sampled, strict=True) if not flag] == [0.0] * (
            len(row.ids) - row.num_sampled
        )
        for number, (start, end) in enumerate(row.spans):
            key = (*row.prompt_ids, *row.ids[:start]), tuple(row.ids[start:end])
            assert row.logps[start:end] == by_prompt[key]
            turn = row.seen.turns[number]
            assert turn.text == talker.decode(row.ids[start : end - (turn.finish == "stop")])
        ends = [turn.finish for turn in row.seen.turns]
        assert ends[:-1] == ["stop"] * (len(ends) - 1)


def test_the_model_reads_the_conversation_as_its_template_writes_it(policy: Policy) -> None:
    turns = [call("add", number=3) + call("add", number=4), "so: " + call("sub", number=1), "7 it is"]
    tools = list(EnvironmentClass.of_task(a_task("Counter")).tools)
    (example,) = examples(1)
    example = replace(example, chat_template_kwargs={"tools": tools})
    (row,) = play(scripted(policy, turns), a_task("Counter"), [example], size=1, max_new_tokens=999)
    told = row.seen.turns[1].results[0].text
    messages = [Message("user", "Hi.")._asdict(), {"role": "assistant", "content": turns[0]}]
    messages += [{"role": "tool", "content": "3"}, {"role": "tool", "content": "7"}]
    messages += [{"role": "assistant", "content": turns[1]}, {"role": "tool", "content": told}]
    messages += [{"role": "assistant", "content": turns[2]}]
    assert told.startswith("Error: there is no tool 'sub'")
    text = policy.tokenizer.apply_chat_template(messages, tokenize=False, tools=tools)
    assert policy.tokenizer.decode(row.prompt_ids + row.ids) + "\n" == text
    sampled = [policy.tokenizer.decode(row.ids[start:end]) for start, end in row.spans]
    assert sampled == [f"{turn}<end>" for turn in turns]
    assert row.finish == "stop"


def test_log_probabilities_are_those_of_the_whole_conversation(talker: Policy) -> None:
    for row in play(talker, a_task(), examples(2, turns=3)):
        with torch.no_grad():
            logits = talker.model(torch.tensor([row.prompt_ids + row.ids])).logits[0]
        logp = torch.log_softmax(logits[len(row.prompt_ids) - 1 : -1], -1)[range(len(row.ids)), row.ids]
        assert row.logps == pytest.approx((logp * torch.tensor(row.sampled)).tolist(), abs=1e-5)


def test_an_episode_depends_on_its_seed_row_and_turns_alone(talker: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    task, rows = a_task(), examples(3, turns=3)
    together = play(talker, task, rows, size=3)
    assert len({tuple(row.ids) for row in together}) > 5
    assert play(talker, task, rows[1:2], size=3) == together[3:6]
    assert play(talker, task, rows, size=3, seeds=["a", "b", "c"]) != together
    monkeypatch.setattr("grpo_env.trainer.episodes.sampling.AT_ONCE", 1)
    assert play(talker, task, rows, size=3) == together


@pytest.mark.slow
def test_vllm_servers_play_the_same_episodes(talker: Policy, model_folder: Path) -> None:
    rows = examples(3, turns=3)
    expected = play(talker, a_task(), rows, size=1, temperature=0.0)
    assert max(len(row.spans) for row in expected) > 1
    with closing(FakeVllm(model_folder)) as server, closing(VllmServers([server.url])) as engine:
        engine.start(talker)
        assert play(replace(talker, rollout_engine=engine), a_task(), rows, size=1, temperature=0.0) == expected


def test_the_tokens_of_all_turns_and_the_positions_are_bounded(policy: Policy) -> None:
    task = a_task("Counter")
    turn, rows = call("add", number=1), examples(1)
    length = len(policy.tokenizer(turn)["input_ids"]) + 1
    (whole,) = play(scripted(policy, [turn, turn, "done"]), task, rows, size=1, max_new_tokens=2 * length)
    assert (whole.finish, whole.num_sampled, len(whole.spans)) == ("length", 2 * length, 2)  # no token for a third turn
    assert whole.sampled[-1]
    assert whole.seen.environment.state == {"count": 0}
    (cut,) = play(scripted(policy, [turn, turn, "done"]), task, rows, size=1, max_new_tokens=2 * length - 5)
    assert (cut.finish, cut.num_sampled, cut.seen.turns[-1].finish) == ("length", 2 * length - 5, "length")
    assert cut.seen.turns[-1].calls == ()
    narrow, none = scripted(policy, [turn, turn, "done"]), scripted(policy, [turn])
    vars(narrow)["max_positions"] = positions = len(whole.prompt_ids) + len(whole.ids) + 5
    (row,) = play(narrow, task, rows, size=1, max_new_tokens=10 * length)
    assert (row.finish, row.num_sampled) == ("length", 2 * length)
    assert len(row.prompt_ids) + len(row.ids) <= positions
    vars(none)["max_positions"] = len(whole.prompt_ids)
    (row,) = play(none, task, rows, size=1)
    assert (row.ids, row.spans) == ([], ())
    problem = f"the prompt of {len(whole.prompt_ids)} tokens leaves no position of {policy.name}"
    assert row.seen.environment.failure == problem


def test_no_one_but_the_template_and_the_model_writes_control_tokens(policy: Policy) -> None:
    spelled = "\\u003cend>, \\u003cstop>"  # the model writes a call, and no control token
    turns = [turn.replace("it", spelled) for turn in (call("say", text="it"), call("it"), "7")]
    policy = scripted(policy, turns)
    policy.tokenizer.add_special_tokens({"additional_special_tokens": ["<stop>"]})
    (row,) = play(policy, a_task("Counter"), examples(1), size=1, max_new_tokens=999)
    said, unknown = (turn.results[0].text for turn in row.seen.turns[:2])
    assert said == "< end>, < stop>"
    assert "there is no tool '< end>, < stop>'" in unknown
    assert len(row.spans) == 3
    assert [row.ids.count(token) for token in (0, 1)] == [3 + 2, 0]  # of three turns, and of what follows two
    assert [row.prompt_ids.count(token) for token in (0, 1)] == [1, 0]


def test_a_tool_that_takes_long_holds_up_no_other_episode(policy: Policy, tmp_path: Path) -> None:
    """The first row's tool waits for a file that the second row writes in its third turn."""
    task, rows = a_task("Counter", tool_timeout=60), examples(1, folder=str(tmp_path))
    waits = [call("wait", name="a"), "done"]
    works = [call("add", number=1), call("add", number=1), call("write", name="a"), "done"]
    first, second = play(scripted(policy, waits, works), task, rows, max_new_tokens=999)
    assert first.seen.turns[0].results[0].text == "seen"
    assert (first.finish, second.finish, len(first.spans), len(second.spans)) == ("stop", "stop", 2, 4)


ROWS = [[call("add", number=1), call("add", number=1), "7"], [call("sub", number=1), "7"], [call("add", number=1), "8"]]
"""Two good calls and the answer; a bad call and the answer; a good call and a wrong answer."""
BY_HAND = {
    # Rewards 1, 1, 0, less their mean.
    "outcome": [[1 / 3] * 3, [1 / 3] * 2, [-2 / 3] * 2],
    # Step rewards .5 .5 1; 0 1; .5 0. Still to come: 2 1.5 1; 1 1 (0); .5 0 (0), with means 7/6, 5/6, 1/3.
    "process": [[5 / 6, 2 / 3, 2 / 3], [-1 / 6, 1 / 6], [-2 / 3, -5 / 6]],
    "both": [[7 / 6, 1, 1], [1 / 6, 1 / 2], [-4 / 3, -3 / 2]],
}


def rows_by_hand(policy: Policy) -> list[ScoredRollout]:
    verifiers = {
        "exact_text": {"weight": 1.0, "process": 1.0},
        "tool_calls": {"weight": 0.0, "process": 0.5, "on": "each"},
    }
    task, example = a_task("Counter", verifiers), replace(examples(1)[0], answer="7")
    prompts = make_prompts(task, [example])
    options = {"max_new_tokens": 999, "temperature": 1.0, "seed": "0"}
    return roll_out(scripted(policy, *ROWS), prompts, 3, **options)


@pytest.mark.parametrize("supervision", ["outcome", "process", "both"])
def test_advantages_by_hand(policy: Policy, supervision: str) -> None:
    rows = rows_by_hand(policy)
    config = TrainConfig(supervision=supervision, group_size=3, prompts_per_step=1, advantage={"scale": "none"})
    advantages = advantages_of(policy, rows, config)
    for row, values, expected in zip(rows, advantages, BY_HAND[supervision], strict=True):
        tokens = torch.zeros(len(values))
        for (start, end), value in zip(row.rollout.spans, expected, strict=True):
            tokens[start:end] = value
        torch.testing.assert_close(values, tokens)


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_loss_and_its_gradient_see_sampled_tokens_alone(policy: Policy, aggregation: str, shared: bool) -> None:
    policy = replace(policy, shares_prompts=shared, has_separate_head=shared)
    rows = rows_by_hand(policy)
    settings = {
        "sampling": {"max_new_tokens": 999},
        "loss": {"aggregation": aggregation},
        "advantage": {"scale": "none"},
    }
    config = TrainConfig(supervision="both", group_size=3, prompts_per_step=1, **settings)
    (batch,) = pack_batches(policy, rows, advantages_of(policy, rows, config), config, 4096)
    (micro,) = batch.micro_batches
    loss, sums = loss_of(policy, micro, config, batch.denominator)
    weight = policy.model.get_decoder().layers[0].mlp.up_proj.weight
    (gradient,) = torch.autograd.grad(loss, weight)
    lengths = [row.rollout.num_sampled for row in rows]
    expected, entropy = 0.0, 0.0
    for row, turns in zip(rows, BY_HAND["both"], strict=True):
        rollout, value = row.rollout, 0.0
        logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[
            0, len(rollout.prompt_ids) - 1 : -1
        ]
        logp = torch.log_softmax(logits, -1)
        for (start, end), advantage in zip(rollout.spans, turns, strict=True):
            value = value - advantage * logp[range(start, end), rollout.ids[start:end]].sum()
            entropy -= (logp[start:end].exp() * logp[start:end]).sum().item()
        expected = (
            expected
            + value / {"token": sum(lengths), "sequence": 3 * rollout.num_sampled, "constant": 3 * 999}[aggregation]
        )
    (by_hand,) = torch.autograd.grad(expected, weight)
    torch.testing.assert_close(gradient, by_hand, atol=1e-6, rtol=1e-4)
    assert (sums["tokens"], sums["entropy"]) == (sum(lengths), pytest.approx(entropy, rel=1e-4))
    assert summarize(rows)["length"] == sum(lengths) / 3


def test_an_environment_that_dies_leaves_its_row_unscored(policy: Policy) -> None:
    prompts = make_prompts(a_task("Counter", {"exact_text": {}}), examples(1))
    options = {"max_new_tokens": 999, "temperature": 1.0, "seed": "0"}
    rows = roll_out(scripted(policy, [call("die"), "7"], ["7"], ["8"]), prompts, 3, **options)
    assert [row.score.value for row in rows] == [None, 1.0, 0.0]
    assert "the environment's process ended in call" in rows[0].score.parts[0].explanation
    config = TrainConfig(group_size=3, prompts_per_step=1, advantage={"scale": "none"})
    advantages = advantages_of(policy, rows, config)
    assert [row[0].item() for row in advantages] == [0.0, 0.5, -0.5]
    failed = make_prompts(a_task("Counter", {"exact_text": {}}), examples(1, fail="reset"))
    rows = roll_out(scripted(policy, ["7"]), failed, 2, **options)
    assert [(row.rollout.ids, row.score.value) for row in rows] == [([], None)] * 2


def test_what_a_tool_or_a_partner_must_not_do_in_training(policy: Policy) -> None:
    """A result of ten megabytes is cut; a tool that never returns ends its episode, which is scored; a reply that is no
    text is the environment's fault, so its row is unscored."""
    options = {"max_new_tokens": 999, "temperature": 1.0, "seed": "0"}
    task = a_task("Counter", {"exact_text": {}}, tool_timeout=1.0, max_result_chars=10)
    prompts = make_prompts(task, examples(1, folder="/"))
    never = [call("wait", name="nowhere"), "7"]
    big, late = roll_out(scripted(policy, [call("big"), "7"], never), prompts, 2, **options)
    assert big.rollout.seen.turns[0].results[0].text == "xxxxxxxxxx\n[cut: 10,000,000 characters]"
    assert late.rollout.seen.turns[0].results[0].problem == "late"
    assert (big.score.value, late.score.value, len(late.rollout.spans)) == (1.0, 0.0, 1)
    prompts = make_prompts(a_task("Echo", {"exact_text": {}}), examples(1))
    wrong, right = roll_out(scripted(policy, ["a number", "7"], ["6", "7"]), prompts, 2, **options)
    assert wrong.rollout.seen.environment.failure == "reply returned int; it must return text or None"
    assert (wrong.score.value, right.score.value) == (None, 1.0)


def test_processes_that_an_environment_leaves_behind_end_with_the_run(policy: Policy, tmp_path: Path) -> None:
    task = a_task("Counter")
    play(scripted(policy, [call("leave"), "done"]), task, examples(2, folder=str(tmp_path)), max_new_tokens=999)
    pool.close_idle()
    pids = (tmp_path / "left").read_text().split()
    assert len(pids) == 4
    latest = time.monotonic() + 30  # a process that was killed takes a moment to end
    while (running := [pid for pid in pids if is_sleep(pid)]) and time.monotonic() < latest:
        time.sleep(0.05)
    assert not running


def is_sleep(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"
    except OSError:
        return False


FORGETS = (
    "{% for message in messages %}{{ message.role }}: {% if message.role == 'user' or loop.index > loop.length - 2 %}"
    "{{ message.content }}{% else %}{{ message.content.split('</think>')[-1].strip() }}{% endif %}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Drops the reasoning of all turns but the last."""


def test_a_template_that_forgets_may_be_continued_if_the_user_says_so(policy: Policy) -> None:
    policy.tokenizer.chat_template = FORGETS
    check_conversation(policy, a_task(history="append"))
    policy.tokenizer.chat_template = TEMPLATE
    for history in ("append", None):
        check_conversation(policy, a_task(history=history))
        check_conversation(policy, a_task("Counter", history=history))


@pytest.fixture
def talk_file(talker: Policy, tmp_path: Path) -> Path:
    """A task on disk, with a model that ends a third of its turns early."""
    model = tmp_path / "model"
    talker.model.save_pretrained(model)
    talker.tokenizer.save_pretrained(model)
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"turns": {number % 3 + 1}}}\n' for number in range(8)))
    train_settings = {
        "model": str(model),
        "steps": 2,
        "prompts_per_step": 2,
        "group_size": 3,
        "supervision": "both",
        "sampling.max_new_tokens": 20,
        "eval.every": 0,
        "eval.examples": 2,
        "engine.device": "cpu",
        "checkpoint.every": 1,
        "optimizer.learning_rate": 0.01,
    }
    spec = {
        "version": 1,
        "task": "talk",
        "dataset": {"path": "rows.jsonl", "split": {"train": 0.5, "eval": 0.5}},
        "prompt": {"user": "Hi."},
        "environment": {"use": f"{HERE / 'talk.py'}:Echo"},
        "verifiers": {"test_vowels": {"weight": 1.0}, "turns": {"most": 5, "on": "each", "process": 1.0}},
        "metric": "test_vowels",
        "train": train_settings,
    }
    (tmp_path / "talk.yaml").write_text(json.dumps(spec))
    return tmp_path / "talk.yaml"


def lasting(run_dir: Path) -> tuple[list[dict], list[dict]]:
    """The metrics and samples of a run without what depends on the clock.

    Which turns are sampled together depends on it too, and so do the last bits of the sampler's log-probabilities.
    """
    lines = (run_dir / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines], read_samples(run_dir)
    by_clock = ("seconds", "tokens_per_second", "rollout_logprob_gap")
    return tuple([{k: row[k] for k in row if not k.endswith(by_clock)} for row in kind] for kind in rows)


@pytest.mark.slow
def test_a_run_records_turns_and_resumes_exactly(talk_file: Path, tmp_path: Path) -> None:
    spec = json.loads(talk_file.read_text())
    spec["train"]["advantage.step_credit"] = "return"
    talk_file.write_text(json.dumps(spec))
    whole = train(str(talk_file), run_dir=tmp_path / "whole")
    metrics, samples = lasting(whole.run_dir)
    assert max(len(row["turns"]) for row in samples) > 1
    assert max(row.get("grad_norm", 0) for row in metrics) > 0
    for row in samples:
        assert "".join(turn["text"] for turn in row["turns"]) == row["text"]
        assert row["environment"]["failure"] == ""
    part, calls = tmp_path / "part", []

    def interrupted(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return pack_batches(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grpo_env.trainer.loop.pack_batches", interrupted)
        with pytest.raises(InterruptedRunError, match="1 of 2 steps"):
            train(str(talk_file), run_dir=part)
    resume(part)
    assert lasting(part) == (metrics, samples)
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (whole.run_dir, part)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


@pytest.mark.parametrize(
    ("template", "cls", "problem"),
    [
        (None, "Echo", "has no chat template, which an environment of several turns needs"),
        ("{{ messages }}", "Counter", "does not mention tools"),
        (TEMPLATE, "NoReset", "talk.py:NoReset' has no method reset"),
        (TEMPLATE, "NoTypes", "the tool add cannot be described to a model"),
        ("{{ tools }}{{ 1 / 0 }}", "Counter", "cannot write turns with tools: ZeroDivisionError"),
        (FORGETS, "Echo", "rewrites the turns of the past: before turn 3, 's.*' was '<.*history=append"),
    ],
)
def test_a_model_that_cannot_hold_a_conversation_is_an_error(
    talk_file, tmp_path, policy, template, cls, problem
) -> None:
    spec = json.loads(talk_file.read_text())
    spec["environment"]["use"] = f"{HERE / 'talk.py'}:{cls}"
    talk_file.write_text(json.dumps(spec))
    policy.tokenizer.chat_template = template
    (tmp_path / "model" / "chat_template.jinja").unlink(missing_ok=True)
    policy.tokenizer.save_pretrained(tmp_path / "model")
    with pytest.raises(UsageError, match=problem):
        train(str(talk_file), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()
