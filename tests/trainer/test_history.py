"""``environment.history: fork``: turns are sampled and trained on the history as the chat template writes it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from grpo_env.core import Completion, EnvironmentRecord, Example, Format, Score
from grpo_env.environments import pool
from grpo_env.errors import UsageError
from grpo_env.trainer.advantages import token_advantages
from grpo_env.trainer.batch import pack_batches
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.sampler import Context, Rollout
from grpo_env.trainer.episodes.conversation import Conversation, check_conversation
from grpo_env.trainer.episodes.history import History
from grpo_env.trainer.episodes.metrics import episode_metrics
from grpo_env.trainer.loop import train
from grpo_env.trainer.losses import denominators
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.shared_types import ScoredRollout

from .shortcuts import loss_of, read_samples, roll_out
from .test_episodes import a_task, call, examples, play, scripted, talk_file, talker  # noqa: F401

FORGETS = (
    "{% if tools %}tools {{ tools | length }}<stop>{% endif %}"
    "{% for message in messages %}{{ message.role }}: {% if message.role == 'assistant' %}"
    "{{ message.content.split('</think>')[-1].strip() }}{% else %}{{ message.content }}{% endif %}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Drops the reasoning of every turn that is past."""
TURNS = ["<think>one</think>a", "b", "<think>three</think>c", "d"]


@pytest.fixture(autouse=True)
def _no_process_is_left():
    yield
    pool.close_idle()


def forgetful(policy: Policy, *rows: list[str]) -> Policy:
    """A policy that says these turns, and whose template drops reasoning."""
    speaker = scripted(policy, *rows)
    speaker.tokenizer.chat_template = FORGETS
    return speaker


def spelled(policy: Policy, ids: list[int]) -> str:
    return policy.tokenizer.decode(ids, skip_special_tokens=False)


def test_each_turn_is_sampled_on_the_history_as_the_template_writes_it(policy: Policy) -> None:
    policy = forgetful(policy, TURNS)
    (row,) = play(policy, a_task(history="fork"), examples(1, turns=4), size=1, max_new_tokens=999)
    replies = [turn.reply for turn in row.episode.turns]
    messages = [{"role": "user", "content": "Hi. Go."}]
    read = []
    for said, reply in zip(TURNS, replies, strict=True):
        text = policy.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        read.append((text, said))
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": reply}]
    contexts = []
    for prompt, at in row.sequences:
        for start, end in row.spans:
            if at.start <= start < at.stop:
                before = spelled(policy, prompt + row.ids[at.start : start])
                contexts.append((before, spelled(policy, row.ids[start:end]).removesuffix("<end>")))
    assert contexts == read
    # The second turn follows a turn whose reasoning is dropped, the third one that stays, the fourth again.
    starts = [start for start, _ in row.spans]
    assert [fork.start for fork in row.forks] == [starts[1], starts[3]]
    assert len(row.sequences) == 3
    assert row.num_sampled == sum(row.sampled) == len(row.episode.token_ids)
    metrics = episode_metrics([row])
    names = ("episodes/forked", "episodes/sequences", "episodes/unwritten")
    assert tuple(metrics[name] for name in names) == (2 / 4, 3.0, 0)
    (row,) = play(policy, a_task(history="append"), examples(1, turns=4), size=1, max_new_tokens=999)
    assert not set(names) & set(episode_metrics([row]))


def test_calls_of_a_turn_stay_as_the_model_wrote_them(policy: Policy) -> None:
    turns = ["<think>so</think>" + call("add", number=1), call("sub") + "x", '<tool_call>{"name":', "7"]
    (row,) = play(forgetful(policy, turns), a_task("Counter", history="fork"), examples(1), size=1, max_new_tokens=999)
    last = row.forks[-1].prompt_ids + row.ids[row.forks[-1].start :]
    text = spelled(policy, last)
    assert "think" not in text
    results = [turn.results[0].text for turn in row.episode.turns[:3]]
    for piece in (call("add", number=1), "tool: 1", *turns[1:3], *results):
        assert piece in text
    assert len(row.forks) == 1


@pytest.mark.parametrize("cls", ["Echo", "Counter"])
def test_an_episode_that_does_not_fork_is_that_of_append(policy: Policy, cls: str) -> None:
    turns = [call("add", number=1), call("add", number=2), "3"]
    appended, forked = (
        play(scripted(policy, turns), a_task(cls, history=history), examples(2, turns=3), max_new_tokens=999)
        for history in ("append", "fork")
    )
    assert [row.unwritten for row in (*appended, *forked)] == [None] * 4 + [0] * 4
    assert appended == [replace(row, unwritten=None) for row in forked]
    assert max(len(row.spans) for row in forked) == 3


def test_another_end_token_than_the_templates_is_another_history(talker: Policy) -> None:  # noqa: F811
    rows = play(talker, a_task(history="fork"), examples(4, turns=3), size=2)
    ends = {row.ids[end - 1] for row in rows for _, end in row.spans[:-1]}
    assert ends
    assert 0 not in ends
    assert all(len(row.forks) == len(row.spans) - 1 for row in rows)
    for row in rows:
        for prompt, at in row.sequences:
            with torch.no_grad():
                logits = talker.model(torch.tensor([prompt + row.ids[at]])).logits[0, len(prompt) - 1 : -1]
            logp = torch.log_softmax(logits, -1)[range(len(row.ids[at])), row.ids[at]]
            assert row.logps[at] == pytest.approx(logp.tolist(), abs=1e-5)


def test_what_the_model_spells_out_does_not_become_a_control_token(policy: Policy) -> None:
    """It writes an end token letter by letter, and the history is tokenized again."""
    policy = forgetful(policy, ["<think>x</think>7", "b"])
    policy.tokenizer.add_tokens(["<tool>"])
    history = History(Conversation(policy, Format()), examples(1)[0])
    history.begin([{"role": "user", "content": "Hi."}])
    letters = [token for letter in "<end>" for token in policy.tokenizer(letter)["input_ids"]]
    thought, tag = policy.tokenizer("<think>x</think>")["input_ids"], policy.tokenizer("<tool>")["input_ids"]
    ids, forks = history.after([*thought, *tag, *letters], 0, [{"role": "user", "content": "So?"}])
    assert forks
    assert spelled(policy, ids) == "user: Hi.<end>\nassistant: <tool>< end><end>\nuser: So?<end>\nassistant: "
    assert (ids.count(0), ids.count(tag[0])) == (3, 1)


@pytest.mark.parametrize(
    ("fails_on", "forks", "unwritten"), [(3, [2, 3], 1), (5, [1, 3], 1), (7, [1], 1), (9, [1, 3], 0)]
)
def test_a_history_that_cannot_be_written_is_counted_and_goes_on_as_it_was_sampled(
    policy: Policy, fails_on: int, forks: list[int], unwritten: int
) -> None:
    """A template that fails on the n-th message; with ``TURNS``, turns 1 and 3 (from 0) fork if none fails."""
    policy = forgetful(policy, TURNS)
    fails = "{% if messages[0].content == 'Hi. Go.' and messages | length == NUMBER %}{{ 1 / 0 }}{% endif %}"
    policy.tokenizer.chat_template = fails.replace("NUMBER", str(fails_on)) + FORGETS
    (row,) = play(policy, a_task(history="fork"), examples(1, turns=4), size=1, max_new_tokens=999)
    assert len(row.spans) == 4
    assert [fork.start for fork in row.forks] == [row.spans[turn][0] for turn in forks]
    assert episode_metrics([row])["episodes/unwritten"] == unwritten
    for prompt, at in row.sequences:  # what goes on as sampled is the whole of what was said before
        assert spelled(policy, prompt + row.ids[at]).endswith("<end>")


def test_a_history_that_leaves_no_position_ends_the_episode(policy: Policy) -> None:
    policy = forgetful(policy, TURNS)
    options = {"size": 1, "max_new_tokens": 999}
    (whole,) = play(policy, a_task(history="fork"), examples(1, turns=4), **options)
    vars(policy)["max_positions"] = len(whole.forks[0].prompt_ids)
    (row,) = play(policy, a_task(history="fork"), examples(1, turns=4), **options)
    assert (row.finish, len(row.spans), row.forks) == ("length", 1, ())


def test_templates_that_cannot_write_a_turn_as_text_are_refused(policy: Policy) -> None:
    policy.tokenizer.chat_template = FORGETS
    check_conversation(policy, a_task(history="fork"))
    check_conversation(policy, a_task("Counter", history="fork"))
    with pytest.raises(UsageError, match=r"rewrites the turns of the past: before turn 2, .*=append .*=fork"):
        check_conversation(policy, a_task())
    insists = "{% for m in messages %}{% if m.role == 'tool' and not messages[loop.index0 - 1].tool_calls %}"
    policy.tokenizer.chat_template = insists + "{{ raise_exception('no call') }}{% endif %}{% endfor %}" + FORGETS
    with pytest.raises(UsageError, match=r"history=fork: the chat template of .* part of their text: .*no call"):
        check_conversation(policy, a_task("Counter", history="fork"))


# Two groups of two rows. The first row of each has three sequences, the others one.
ROLLOUTS = [
    ([5, 6], [10, 11, 0, 12, 0, 13, 14, 15, 0], ((0, 3), (3, 5), (5, 9)), ((3, [5, 6, 7]), (5, [5, 8]))),
    ([5, 6], [20, 0, 30, 31, 21, 0], ((0, 2), (4, 6)), ()),
    ([7], [40, 0, 41, 42, 0, 33, 43, 0], ((0, 2), (2, 5), (6, 8)), ((2, [7, 7]),)),
    ([7], [50, 0], ((0, 2),), ()),
]
ADVANTAGES = [1.5, -0.5, -2.0, 0.25]


def hand_made(policy: Policy) -> tuple[list[ScoredRollout], torch.Tensor]:
    rows, advantages = [], torch.zeros(4, 9)
    for number, (prompt, ids, spans, forks) in enumerate(ROLLOUTS):
        episode = Completion("", "stop", environment=EnvironmentRecord())
        contexts = tuple(Context(*fork) for fork in forks)
        rollout = Rollout(prompt, ids, "", "stop", [-1.0] * len(ids), spans, episode, contexts)
        rows.append(ScoredRollout(Example(str(number), ""), rollout, Score(1.0)))
        for start, end in spans:
            advantages[number, start:end] = ADVANTAGES[number]
    return rows, advantages


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize(("budget", "shared"), [(1, True), (16, False), (4096, True)])
def test_the_gradient_is_that_of_the_sequences_by_the_weight_of_their_row(
    policy: Policy, aggregation: str, budget: int, shared: bool
) -> None:
    """By hand: 9, 4, 7 and 2 sampled tokens, 22 in all; a token weighs 1 / 22, 1 / (4 x 9) in the first row, 1 / 40."""
    policy = replace(policy, shares_prompts=shared, has_separate_head=shared)
    rows, advantages = hand_made(policy)
    settings = {"sampling": {"max_new_tokens": 10}, "loss": {"aggregation": aggregation}}
    config = TrainConfig(group_size=2, prompts_per_step=2, **settings)
    (batch,) = pack_batches(policy, rows, advantages, config, budget)
    assert batch.lengths.tolist() == [9, 4, 7, 2]
    assert sum(len(micro.prompts) for micro in batch.micro_batches) == 7
    denominator = denominators(batch.lengths, batch.completions, aggregation, 10)
    weight = policy.model.get_decoder().layers[0].mlp.up_proj.weight
    losses = [loss_of(policy, micro, config, denominator) for micro in batch.micro_batches]
    (gradient,) = torch.autograd.grad(sum(loss for loss, _ in losses), weight)
    assert sum(sums["tokens"] for _, sums in losses) == 22
    weights = {"token": [1 / 22] * 4, "sequence": [1 / 36, 1 / 16, 1 / 28, 1 / 8], "constant": [1 / 40] * 4}
    expected = 0.0
    for (prompt, ids, spans, forks), advantage, share in zip(ROLLOUTS, ADVANTAGES, weights[aggregation], strict=True):
        starts = [(0, prompt), *forks]
        for (start, context), end in zip(starts, [*(at for at, _ in forks), len(ids)], strict=True):
            logp = torch.log_softmax(policy.model(torch.tensor([context + ids[start:end]])).logits[0], -1)
            for place in range(start, end):
                if any(first <= place < last for first, last in spans):
                    expected = expected - share * advantage * logp[len(context) + place - start - 1, ids[place]]
    (by_hand,) = torch.autograd.grad(expected, weight)
    torch.testing.assert_close(gradient, by_hand, atol=1e-6, rtol=1e-4)


def test_sequences_without_an_advantage_are_left_out(policy: Policy) -> None:
    rows, advantages = hand_made(policy)
    advantages[0, 3:5] = 0.0
    advantages[3] = 0.0
    config = TrainConfig(group_size=2, prompts_per_step=2)
    (batch,) = pack_batches(policy, rows, advantages, config, 4096)
    assert sorted(prompt for micro in batch.micro_batches for prompt in micro.prompts) == [
        [5, 6],
        [5, 6],
        [5, 8],
        [7],
        [7, 7],
    ]
    assert batch.lengths.tolist() == [9, 4, 7, 2]


def test_advantages_of_turns_stand_where_they_were_sampled(policy: Policy) -> None:
    """Returns to go of the turns, .5 1 and .5, less their means: by hand, as in an episode that does not fork."""
    verifiers = {
        "exact_text": {"weight": 1.0, "process": 1.0},
        "tool_calls": {"weight": 0.0, "process": 0.5, "on": "each"},
    }
    rows = [["<think>x</think>" + call("add", number=1), "7"], ["<think>x</think>" + call("add", number=1), "8"]]
    prompts = make_prompts(a_task("Counter", verifiers, history="fork"), [replace(examples(1)[0], answer="7")])
    found = roll_out(forgetful(policy, *rows), prompts, 2, max_new_tokens=999, temperature=1.0, seed="0")
    assert [len(row.rollout.forks) for row in found] == [1, 1]
    config = TrainConfig(supervision="process", group_size=2, prompts_per_step=1, advantage={"scale": "none"})
    advantages = token_advantages(policy, found, config)
    for row, values, expected in zip(found, advantages, [[0.5, 0.5], [-0.5, -0.5]], strict=True):
        for (start, end), value in zip(row.rollout.spans, expected, strict=True):
            assert values[start:end].tolist() == pytest.approx([value] * (end - start))


def test_a_run_with_forks_trains_and_records_them(talk_file: Path, tmp_path: Path) -> None:  # noqa: F811
    spec = json.loads(talk_file.read_text())
    spec["environment"]["history"] = "fork"
    spec["train"] |= {"steps": 1, "loss.entropy_coef": 0.01}  # so that all rows have a gradient
    talk_file.write_text(json.dumps(spec))
    result = train(str(talk_file), run_dir=tmp_path / "run")
    samples = read_samples(result.run_dir)
    metrics = [json.loads(line) for line in (result.run_dir / "metrics.jsonl").read_text().splitlines()]
    assert any(row["forked_turns"] for row in samples)
    for row in samples:
        assert (row["forked_turns"] or []) == list(range(1, len(row["turns"])))
        assert len(row["token_ids"]) == len(row["token_ends"]) == row["num_tokens"]
        assert row["token_ends"] == sorted(row["token_ends"])
        assert {turn["end"] for turn in row["turns"]} <= {*row["token_ends"]}
    (step,) = [row for row in metrics if row["kind"] == "train"]
    assert 0 < step["episodes/forked"] < 1 < step["episodes/sequences"]
    assert step["rollout_logprob_gap"] < 1e-5  # the loss sees the contexts that were sampled from
    before, after = (load_file(path / "model.safetensors") for path in (tmp_path / "model", result.run_dir / "model"))
    assert any(not torch.equal(before[name], after[name]) for name in after)


@pytest.mark.parametrize("written", ["<think>\n", "<think>", ""])
def test_the_prefill_of_a_turn_is_written_once(policy: Policy, written: str) -> None:
    """Whether the template has written it, as DeepSeek-R1's does, a part of it, or nothing."""
    policy.tokenizer.chat_template = "{% for m in messages %}[{{ m.content }}]{% endfor %}" + written
    conversation = Conversation(policy, Format(prefill="<think>\n"))
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert conversation.render(examples(1)[0], messages) == "[a][b]<think>\n"
