"""The sampler against transformers' own generate and against plain forward passes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
import torch

from grpo_env.core import Example, Format, Message
from grpo_env.errors import DivergedError, UsageError
from grpo_env.taskfile.prompt import prompt_lengths, prompt_text
from grpo_env.trainer.engine.cache import decoding_cache
from grpo_env.trainer.engine.decoder import Decoder
from grpo_env.trainer.engine.policy import Policy, load_policy
from grpo_env.trainer.engine.sampling import own
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest
from grpo_env.trainer.engine.sampling.sampler import Rollout, sample

PROMPTS = [[40, 41, 42], [50], [60, 61, 62, 63, 64, 65], [70, 71]]


def test_greedy_equals_generate(policy: Policy) -> None:
    rollouts = sample(policy, SamplingRequest(PROMPTS, 1, max_new_tokens=20, temperature=0))
    for prompt, rollout in zip(PROMPTS, rollouts, strict=True):
        output = policy.model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=20,
            do_sample=False,
            pad_token_id=0,
        )
        assert rollout.ids == output[0, len(prompt) :].tolist()
        assert rollout.logps == [0.0] * len(rollout.ids)  # at temperature 0 no other token is possible


def test_a_model_may_call_its_keys_and_values_cache(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """As transformers' do from 5.24 on."""
    forward, name = policy.model.forward, policy.cache_argument

    def renamed(input_ids: torch.Tensor, position_ids: torch.Tensor, cache: object, **others: object) -> object:
        return forward(input_ids=input_ids, position_ids=position_ids, **{name: cache}, **others)

    expected = sample(policy, SamplingRequest(PROMPTS, 1, max_new_tokens=5, temperature=0))
    monkeypatch.setattr(policy.model, "forward", renamed)
    assert sample(replace(policy), SamplingRequest(PROMPTS, 1, max_new_tokens=5, temperature=0)) == expected


def next_token_distribution(policy: Policy, ids: list[int], temperature: float) -> torch.Tensor:
    with torch.no_grad():
        return torch.softmax(policy.model(torch.tensor([ids])).logits[0, -1] / temperature, -1)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_samples_come_from_the_policy(policy: Policy, temperature: float) -> None:
    """Counts of first and second tokens against the distribution of a plain forward pass (chi-squared)."""
    prompt, count = PROMPTS[0], 8_000
    request = SamplingRequest([prompt, PROMPTS[1]], count, max_new_tokens=2, temperature=temperature)
    rollouts = sample(policy, request)[:count]
    first = Counter(rollout.ids[0] for rollout in rollouts)
    (common, times), second = first.most_common(1)[0], Counter()
    second.update(rollout.ids[1] for rollout in rollouts if rollout.ids[0] == common and len(rollout.ids) > 1)
    for counts, total, ids in ((first, count, prompt), (second, times, [*prompt, common])):
        expected = next_token_distribution(policy, ids, temperature) * total
        often = expected >= 5
        deviation = sum(
            (counts[token] - expected[token].item()) ** 2 / expected[token].item()
            for token in often.nonzero().flatten().tolist()
        )
        degrees = int(often.sum())
        assert degrees > 3
        assert deviation < degrees + 5 * (2 * degrees) ** 0.5


def plain_logps(policy: Policy, rollout: Rollout, temperature: float) -> list[float]:
    with torch.no_grad():
        logits = policy.model(torch.tensor([rollout.prompt_ids + rollout.ids])).logits[0] / temperature
    logp = torch.log_softmax(logits[len(rollout.prompt_ids) - 1 : -1], -1)
    return logp[range(len(rollout.ids)), rollout.ids].tolist()


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_log_probabilities_are_those_of_plain_forward_passes(policy: Policy, temperature: float) -> None:
    """However many rows have been dropped before."""
    vars(policy)["end_ids"] = list(range(0, 280, 12))
    rollouts = sample(policy, SamplingRequest(PROMPTS, 6, max_new_tokens=40, temperature=temperature))
    assert len({len(rollout.ids) for rollout in rollouts}) > 5
    for rollout in rollouts:
        assert rollout.logps == pytest.approx(plain_logps(policy, rollout, temperature), abs=1e-5)


def test_finished_rows_are_dropped_without_changing_the_others(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every third token ends a completion here, so rows finish all the time.
    ending = replace(policy)
    ending.__dict__["end_ids"] = list(range(0, 280, 12))
    results, computed, append = [], [], Decoder.append
    monkeypatch.setattr(
        Decoder, "append", lambda self, tokens: computed[-1].append(len(tokens)) or append(self, tokens)
    )
    for threshold in (own.DROP_AT, 2.0):
        monkeypatch.setattr(own, "DROP_AT", threshold)
        computed.append([])
        request = SamplingRequest(PROMPTS, 6, max_new_tokens=40, temperature=1.0, seeds=list("3abc"))
        results.append(sample(ending, request))
    assert results[0] == results[1]
    for actual, expected in zip(*results, strict=True):
        assert actual.logps == pytest.approx(expected.logps, abs=1e-5)
    lengths = {len(rollout.ids) for rollout in results[0]}
    assert len(lengths) > 5
    assert [len(steps) for steps in computed] == [max(lengths) - 1] * 2, "it stops with the last row"
    assert computed[0][-1] < len(results[0]) == computed[1][-1]
    assert {rollout.finish for rollout in results[0]} == {"stop", "length"} or max(lengths) < 40


def test_several_end_tokens_and_no_pad_token(policy: Policy) -> None:
    assert policy.tokenizer.pad_token is None
    assert policy.end_ids == [0, 1]
    rollouts = sample(policy, SamplingRequest(PROMPTS, 200, max_new_tokens=12, temperature=2.0, seeds=list("0abc")))
    last = Counter(rollout.ids[-1] for rollout in rollouts if rollout.finish == "stop")
    assert set(last) == {0, 1}
    for rollout in rollouts:
        assert (rollout.finish == "stop") == (rollout.ids[-1] in (0, 1))
        assert not {0, 1} & set(rollout.ids[:-1])
        assert rollout.finish == "stop" or len(rollout.ids) == 12
        assert rollout.text == policy.decode(rollout.ids)


def test_same_seed_same_samples(policy: Policy) -> None:
    first, second, reseeded = (
        sample(policy, SamplingRequest(PROMPTS, 4, max_new_tokens=8, temperature=1.0, seeds=list(seeds)))
        for seeds in ("5678", "5678", "6785")
    )
    assert first == second
    assert first != reseeded
    assert len({tuple(rollout.ids) for rollout in first}) > 8  # rows draw their own numbers


def test_a_groups_samples_do_not_depend_on_the_other_prompts(policy: Policy) -> None:
    together = sample(policy, SamplingRequest(PROMPTS, 3, max_new_tokens=8, temperature=1.0, seeds=list("abcd")))
    alone = sample(policy, SamplingRequest(PROMPTS[2:3], 3, max_new_tokens=8, temperature=1.0, seeds=["c"]))
    assert together[6:9] == alone


def test_padding_of_prompts_changes_nothing(policy: Policy) -> None:
    together = sample(policy, SamplingRequest(PROMPTS, 1, max_new_tokens=10, temperature=0))
    for prompt, rollout in zip(PROMPTS, together, strict=True):
        assert sample(policy, SamplingRequest([prompt], 1, max_new_tokens=10, temperature=0)) == [rollout]


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_model_whose_output_is_not_finite(policy: Policy, poison: float) -> None:
    policy.model.get_output_embeddings().weight.data[7] = poison
    with pytest.raises(DivergedError, match=r"output is not finite; try a lower optimizer.learning_rate"):
        sample(policy, SamplingRequest(PROMPTS, 2, max_new_tokens=4, temperature=1.0))


def test_too_long_for_the_model(policy: Policy) -> None:
    with pytest.raises(UsageError, match="exceed the 128 positions"):
        sample(policy, SamplingRequest([[40] * 100], 1, max_new_tokens=29, temperature=0))


CHAT = Example("a", (Message("system", "Be brief."), Message("user", "3+4?")))


def test_prompt_without_a_template(policy: Policy) -> None:
    assert prompt_text(policy.tokenizer, CHAT, Format(prefill="<think>")) == "Be brief.\n\n3+4?\n<think>"
    assert prompt_text(policy.tokenizer, Example("b", "3+4="), Format(prefill=" ")) == "3+4= "


def test_prompt_with_a_template(policy: Policy) -> None:
    policy.tokenizer.chat_template = (
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[go]{% endif %}"
    )
    assert prompt_text(policy.tokenizer, CHAT, Format(prefill="<think>")) == "[system]Be brief.[user]3+4?[go]<think>"
    assert policy.decode(policy.prompt_ids(CHAT, Format())) == "[system]Be brief.[user]3+4?[go]"


THINKS = (
    "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking is defined and not enable_thinking %}"
    "<think></think>{% endif %}"
)


def test_variables_of_the_chat_template(policy: Policy) -> None:
    """Wherever a prompt becomes text, ids or a length."""
    policy.tokenizer.chat_template = THINKS
    silent = replace(CHAT, chat_template_kwargs={"enable_thinking": False})
    thinking = replace(CHAT, chat_template_kwargs={"enable_thinking": True})
    texts = [prompt_text(policy.tokenizer, example, Format()) for example in (CHAT, thinking, silent)]
    assert texts == ["Be brief.3+4?", "Be brief.3+4?", "Be brief.3+4?<think></think>"]
    ids = [policy.prompt_ids(example, Format()) for example in (CHAT, silent)]
    assert [policy.decode(row) for row in ids] == [texts[0], texts[2]]
    assert prompt_lengths(policy.tokenizer, [CHAT, silent], Format()) == list(map(len, ids))


@pytest.mark.parametrize(
    ("written", "prefill", "end"),
    [
        ("<think>\n", "<think>\n", "[go]<think>\n"),
        ("<think>\n", "<think>\nFirst,", "[go]<think>\nFirst,"),
        ("<think>", "<think>\n", "[go]<think>\n"),
        ("<think>\n", "<think>", "[go]<think>\n"),
        ("\n", "\n<think>", "[go]\n\n<think>"),  # a line break alone says nothing
        ("<think>\n\n</think>\n\n", "<think>\n", "[go]<think>\n\n</think>\n\n<think>\n"),
        ("", "<think>\n", "[go]<think>\n"),
        ("<think>\n", "", "[go]<think>\n"),
    ],
)
def test_the_prefill_is_not_written_twice(policy: Policy, written: str, prefill: str, end: str) -> None:
    """R1's template ends in <think> and a line break."""
    policy.tokenizer.chat_template = (
        "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}[go]"
        f"{{{{ {written!r} }}}}{{% endif %}}"
    )
    assert prompt_text(policy.tokenizer, CHAT, Format(prefill=prefill)) == f"Be brief.3+4?{end}"


def test_start_token_only_where_the_prompt_does_not_have_it(policy: Policy) -> None:
    from tokenizers.processors import TemplateProcessing

    policy.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<stop> $A", special_tokens=[("<stop>", 1)]
    )
    policy.tokenizer.bos_token = "<stop>"
    texts = [Example("b", "3"), Example("c", "<stop>3")]
    assert [policy.prompt_ids(example, Format()).count(1) for example in texts] == [1, 1]
    assert prompt_lengths(policy.tokenizer, texts, Format()) == [2, 2]
    policy.tokenizer.chat_template = "<stop>{{ messages[-1].content }}"
    assert policy.prompt_ids(CHAT, Format()).count(1) == 1


def test_empty_prompt(policy: Policy) -> None:
    with pytest.raises(UsageError, match="prompt is empty"):
        policy.prompt_ids(Example("b", ""), Format())


def test_model_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, why in (("nowhere", "no such folder"), ("empty", "cannot be loaded")):
        with pytest.raises(UsageError, match=why) as caught:
            load_policy(str(tmp_path / name), device="cpu")
        assert "\n" not in str(caught.value)


def test_device_that_does_not_exist(model_folder: Path) -> None:
    missing = "mps" if torch.cuda.is_available() else "cuda"
    with pytest.raises(UsageError, match="not available"):
        load_policy(str(model_folder), device=missing)


def test_the_cache_is_copied_once_in_nine_tokens(policy: Policy) -> None:
    cache = decoding_cache(policy)
    states = torch.randn(3, 2, 40, 8)
    places = []
    for start, end in [(0, 4), *((at, at + 1) for at in range(4, 38)), (38, 40)]:
        keys, values = cache.update(states[:, :, start:end], -states[:, :, start:end], 0)
        assert keys.equal(states[:, :, :end])
        assert values.equal(-states[:, :, :end])
        places.append(keys.data_ptr())
    assert len([place for place, _ in groupby(places)]) == 1 + (40 - 4) // 9
    cache.reorder_cache(torch.tensor([0, 2]))
    keys, values = cache.update(states[::2, :, :1], states[::2, :, :1], 0)
    assert keys.equal(torch.cat([states[::2], states[::2, :, :1]], 2))
    assert values.equal(torch.cat([-states[::2], states[::2, :, :1]], 2))
    cache.reorder_cache(torch.tensor([0, 0, 1, 1]))
    cache.reorder_cache(torch.tensor([1, 3]))
    assert cache.update(states[:2, :, :1], states[:2, :, :1], 0)[0][:, :, :-1].equal(keys)


@pytest.mark.parametrize("precision", [None, torch.bfloat16])
def test_groups_are_reported_as_soon_as_they_have_ended(policy: Policy, precision: torch.dtype | None) -> None:
    policy = replace(policy, autocast=precision)
    # Every third token ends a completion here, so groups end at different times.
    vars(policy)["end_ids"] = list(range(0, len(policy.tokenizer), 3))
    groups = []
    rollouts = sample(
        policy,
        SamplingRequest(PROMPTS, 2, max_new_tokens=40, temperature=1.0),
        lambda number, rows: groups.append((number, rows)),
    )
    longest = [max(len(rollout.ids) for rollout in group) for _, group in groups]
    assert longest == sorted(longest)
    assert len(set(longest)) > 2
    assert rollouts == [rollout for _, group in sorted(groups, key=lambda item: item[0]) for rollout in group]
