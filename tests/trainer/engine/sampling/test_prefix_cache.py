"""Kept keys and values: they change no sample and no log-probability, and never outlive the weights or the memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grpo_env.trainer.engine import prefill
from grpo_env.trainer.engine.fast.attention import install_attention
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.prefix_cache import Prefix, PrefixCache
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample

from ..test_forward import WORDS, tiny

PROMPTS = [[5, 6, 7, 8], [5, 6, 7, 8], [9, 3], [11] * 7]
TOLD = [[20, 21], [22], [23, 24, 25, 26, 27], [28, 29, 30]]
TURNS = 3


def converse(
    policy: Policy, prefix_cache: PrefixCache | None, *, fork: bool = False, temperature: float = 1.0
) -> list[Rollout]:
    """Conversations of several turns; each turn misses another of them, and the last begins late.

    With ``fork``, the second loses its third token before its last turn, as by a template that rewrites the past.
    """
    said, turns = [list(prompt) for prompt in PROMPTS], []
    for turn in range(TURNS):
        due = [number for number in range(4) if number != turn and not (number == 3 and turn == 0)]
        if fork and turn == TURNS - 1:
            del said[1][2]
        rows = sample(
            policy,
            [said[number] for number in due],
            1,
            max_new_tokens=8,
            temperature=temperature,
            seeds=[f"{number}/{turn}" for number in due],
            limits=[8 - number for number in due],
            prefix_cache=prefix_cache,
            keys=due if prefix_cache is not None else (),
        )
        turns += rows
        for number, row in zip(due, rows, strict=True):
            said[number] = said[number] + row.ids + TOLD[(number + turn) % 4]
    return turns


def a_policy(family: str) -> Policy:
    policy = replace(tiny(family), tokenizer=WORDS, rollout_engine=OwnEngine())
    install_attention(policy.model)
    vars(policy).update(end_ids=list(range(8)), max_positions=None)
    return policy


@pytest.fixture
def llama() -> Policy:
    return a_policy("llama")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens of how many rows each forward pass has read that was not a decoding step."""
    tokens, next_logits = [], prefill.next_logits
    monkeypatch.setattr(
        prefill, "next_logits", lambda policy, ids, *rest: tokens.append(ids.numel()) or next_logits(policy, ids, *rest)
    )
    return tokens


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2"])
def test_the_same_turns_with_the_log_probabilities_of_a_whole_pass(read: list[int], family: str, fork: bool) -> None:
    """In two of the families there is a sliding window, narrower than a turn."""
    policy = a_policy(family)
    expected = converse(policy, None, fork=fork)
    whole = sum(read)
    read.clear()
    with PrefixCache() as prefix_cache:
        rows = converse(policy, prefix_cache, fork=fork)
    assert rows == expected
    assert len({len(row.ids) for row in rows}) > 3
    assert sum(read) < (0.9 if fork else 0.7) * whole
    with torch.inference_mode():
        for row in rows:
            logits = policy.model(torch.tensor([row.prompt_ids + row.ids]), use_cache=False).logits[0]
            logps = logits[len(row.prompt_ids) - 1 : -1].log_softmax(-1)[range(len(row.ids)), row.ids]
            torch.testing.assert_close(torch.tensor(row.logps), logps, atol=1e-5, rtol=1e-5)


def test_greedy_turns(llama: Policy) -> None:
    with PrefixCache() as prefix_cache:
        assert converse(llama, prefix_cache, temperature=0.0) == converse(llama, None, temperature=0.0)


def test_a_model_whose_keys_cannot_be_kept_reads_everything_again(llama: Policy) -> None:
    llama.model.set_attn_implementation("sdpa")
    with PrefixCache() as prefix_cache:
        assert converse(llama, prefix_cache) == converse(llama, None)
        assert len(prefix_cache) == 0


def test_a_turn_reads_what_is_new_and_the_last_sampled_token(llama: Policy, read: list[int]) -> None:
    options = {"max_new_tokens": 4, "temperature": 1.0, "seeds": ["0", "1"], "keys": "ab"}
    vars(llama)["end_ids"] = []
    with PrefixCache() as prefix_cache:
        rows = sample(llama, [[5] * 9, [5] * 9], 1, prefix_cache=prefix_cache, **options)
        assert read == [9], "once for neighbors with the same prompt"
        prompts = [row.prompt_ids + row.ids + told for row, told in zip(rows, ([6], [6, 7, 8]), strict=True)]
        sample(llama, prompts, 1, prefix_cache=prefix_cache, **options)
        assert read == [9, 2 * (3 + 1)]


class Leaky(PrefixCache):
    """Loses every second prefix."""

    def keep(self, key: object, prefix: Prefix) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count % 2:
            super().keep(key, prefix)


def test_what_is_lost_is_read_again(llama: Policy) -> None:
    with Leaky() as prefix_cache:
        assert converse(llama, prefix_cache) == converse(llama, None)


def test_where_memory_runs_out_all_are_freed(llama: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, kept, decode = converse(llama, None), [], own.decode_stepwise

    def failing(policy: Policy, request: SamplingRequest, *rest: object) -> None:
        if len(request.prompts) == 3:
            raise MemoryError
        kept.append(len(prefix_cache))
        decode(policy, request, *rest)

    monkeypatch.setattr(own, "decode_stepwise", failing)
    llama.rollout_engine.report = lambda message: None
    with PrefixCache() as prefix_cache:
        assert converse(llama, prefix_cache) == expected
    assert kept[0] == 0
    assert set(kept[1:]) == {0}


def test_nothing_outlives_the_block(llama: Policy) -> None:
    prefix_cache = PrefixCache()
    with prefix_cache:
        converse(llama, prefix_cache)
        assert len(prefix_cache) == 4
        prefix_cache.forget(0)
        prefix_cache.forget("unknown")
        assert len(prefix_cache) == 3
    assert len(prefix_cache) == 0
    with pytest.raises(ValueError, match="only inside of their block"):
        converse(llama, prefix_cache)


@pytest.mark.parametrize(
    ("ids", "known"),
    [
        ([1, 2, 3, 4], 3),  # it goes on
        ([1, 2, 3], 2),  # nothing is new, but the last token's logits are needed
        ([1, 2], 1),
        ([1, 9, 3, 4], 1),  # rewritten
        ([9, 2, 3, 4], 0),
    ],
)
def test_the_common_beginning_is_taken(ids: list[int], known: int) -> None:
    states = torch.arange(6.0).view(1, 3, 2)
    with PrefixCache() as prefix_cache:
        prefix_cache.keep("a", Prefix([1, 2, 3], [(states, -states)]))
        prefix = prefix_cache.take("a", ids)
        assert prefix_cache.take("a", ids) is None
    assert prefix.ids == ids[:known]
    ((keys, values),) = prefix.layers
    assert keys.equal(states[:, :known])
    assert values.equal(-states[:, :known])
