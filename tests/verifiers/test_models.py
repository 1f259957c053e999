"""Reward models: values of tiny models computed by hand, and independence of the batch and of hostile texts."""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    LlamaForTokenClassification,
)

from grpo_env.core import Completion, Example, Format, Group, Message, score_groups
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import make_verifier
from grpo_env.trainer.engine.bundled import BUNDLED
from grpo_env.verifiers.models import ProcessRewardModel, RewardModel
from grpo_env.verifiers.pretrained import load

HIDDEN = 32
CHAT = (Message("system", "Be brief."), Message("user", "What is 9 * 8?"))
PLAIN = Example("x", "Q: ")
EXAMPLE = Example("x", CHAT)
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TOKENIZER = AutoTokenizer.from_pretrained(BUNDLED)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Models this small only wait for each other's threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def config(**settings: Any) -> LlamaConfig:
    return LlamaConfig(
        **{
            "vocab_size": len(TOKENIZER),
            "hidden_size": HIDDEN,
            "intermediate_size": HIDDEN,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": 512,
            "eos_token_id": 1,
            "bos_token_id": None,
            "pad_token_id": 0,
            "tie_word_embeddings": False,
            "num_labels": 1,
            **settings,
        }
    )


def save(model: Any, folder: Path, template: str | None = TEMPLATE) -> str:
    model.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED)
    tokenizer.chat_template = template
    tokenizer.model_max_length = 10**30
    tokenizer.save_pretrained(folder)
    return str(folder)


def emptied(model: Any) -> Any:
    """The model with all weights 0, but norms 1: what is embedded comes out.

    Every token is embedded as ``(sqrt 32, 0, ...)``, whose length keeps a norm from changing it.
    """
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        model.model.embed_tokens.weight[:, 0] = math.sqrt(HIDDEN)
    return model


def token(text: str) -> int:
    (id,) = TOKENIZER(text, add_special_tokens=False)["input_ids"]
    return int(id)


@pytest.fixture(scope="module")
def last_digit(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A reward model whose value is the last token's: a digit minus 4.5, nan for #, 0 for all else."""
    model = emptied(LlamaForSequenceClassification(config()))
    with torch.no_grad():
        for digit in range(10):
            value = digit - 4.5
            model.model.embed_tokens.weight[token(str(digit)), 0] = math.sqrt(HIDDEN - value**2)
            model.model.embed_tokens.weight[token(str(digit)), 1] = value
        model.model.embed_tokens.weight[token("#")] = math.nan
        model.score.weight[0, 1] = 1
    return save(model, tmp_path_factory.mktemp("last_digit"))


def share_of_sevens(model: Any) -> Any:
    """A model with ``m`` = 4 * (7s so far) / (tokens so far) on axis 2 of its output, before the norm.

    Queries and keys are 0, so attention is the mean over all tokens so far of what axis 1 holds: 4 for a 7.
    """
    emptied(model)
    with torch.no_grad():
        model.model.embed_tokens.weight[token("7"), 0] = 4
        model.model.embed_tokens.weight[token("7"), 1] = 4
        model.model.layers[0].self_attn.v_proj.weight[0, 1] = 1
        model.model.layers[0].self_attn.o_proj.weight[2, 0] = 1
    return model


def good(sevens: int, tokens: int) -> float:
    """The probability that such a model gives to a step, by hand; the last token is no 7."""
    m = 4 * sevens / tokens
    return 1 / (1 + math.exp(m / math.sqrt((HIDDEN + m * m) / HIDDEN)))


def tokens(text: str) -> int:
    return len(TOKENIZER(text, add_special_tokens=False)["input_ids"])


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    model = share_of_sevens(LlamaForTokenClassification(config(num_labels=2)))
    with torch.no_grad():
        model.score.weight[0, 2] = 1
    return save(model, tmp_path_factory.mktemp("classifier"))


@pytest.fixture(scope="module")
def speaker(tmp_path_factory: pytest.TempPathFactory) -> str:
    model = share_of_sevens(LlamaForCausalLM(config()))
    with torch.no_grad():
        model.lm_head.weight[token("-"), 2] = 1
        model.lm_head.weight[token("*"), 2] = 99  # no candidate
    return save(model, tmp_path_factory.mktemp("speaker"))


@pytest.fixture(scope="module")
def random_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    torch.manual_seed(0)
    models = {
        "sequence": LlamaForSequenceClassification(config(initializer_range=0.2)),
        "token": LlamaForTokenClassification(config(initializer_range=0.2, num_labels=2)),
        "causal": LlamaForCausalLM(config(initializer_range=0.2)),
    }
    return {name: save(model, tmp_path_factory.mktemp(name)) for name, model in models.items()}


# Outcome


@pytest.mark.parametrize(("text", "value"), [("7", 2.5), ("It is 0", -4.5), ("9 7 4 ", -0.5), ("x\n", 0.0), ("", 0.0)])
def test_the_value_is_the_logit_of_the_model(last_digit, text, value):
    for example in (PLAIN, EXAMPLE):
        score = RewardModel(last_digit)(example, Completion(text))
        assert (score.value, score.status) == (pytest.approx(value, abs=1e-5), "scored")
        score = RewardModel(last_digit, activation="sigmoid")(example, Completion(text))
        assert score.value == pytest.approx(1 / (1 + math.exp(-value)), abs=1e-5)


def test_the_input_is_the_conversation_in_the_chat_template(random_models):
    model = LlamaForSequenceClassification.from_pretrained(random_models["sequence"]).eval()
    written = "<|system|>Be brief.<|user|>What is 9 * 8?<|assistant|><think>\n72\n</think>"
    expected = model(**TOKENIZER(written, add_special_tokens=False, return_tensors="pt")).logits.item()
    prefilled = Completion("\n72\n</think>\n", prefill="<think>")
    assert RewardModel(random_models["sequence"])(EXAMPLE, prefilled).value == pytest.approx(expected, abs=1e-5)


def test_without_a_template_the_input_is_a_pair(tmp_path):
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "what",
        "is",
        "9",
        "8",
        "72",
        "it",
        "?",
        "*",
        "be",
        "brief",
        ".",
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    tokenizer = BertTokenizer(vocab={word: number for number, word in enumerate(words)})
    torch.manual_seed(1)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(words), hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
            max_position_embeddings=64, num_labels=1, initializer_range=0.5,
        )
    ).eval()  # fmt: skip
    tokenizer.save_pretrained(tmp_path)
    model.save_pretrained(tmp_path)
    pairs = [("Be brief.\n\nWhat is 9 * 8?", text) for text in ("it is 72", "8")]
    expected = [model(**tokenizer(*pair, return_tensors="pt")).logits.item() for pair in pairs]
    scores = RewardModel(str(tmp_path)).batch([(EXAMPLE, Completion(text)) for _, text in pairs])
    assert [score.value for score in scores] == pytest.approx(expected, abs=1e-5)
    assert abs(expected[0] - expected[1]) > 1e-3


def test_a_value_that_is_not_finite_leaves_only_its_completion_unscored(last_digit):
    scores = RewardModel(last_digit).batch([(PLAIN, Completion(text)) for text in ("7", "#", "8")])
    assert [score.status for score in scores] == ["scored", "error", "scored"]
    assert scores[1].explanation == "the model's value is nan"


def test_a_model_is_loaded_once(last_digit):
    assert RewardModel(last_digit)._load() is RewardModel(last_digit, activation="sigmoid")._load()
    assert RewardModel(last_digit, dtype="bfloat16")._load() is not RewardModel(last_digit)._load()
    assert RewardModel(last_digit, dtype="bfloat16")(PLAIN, Completion("7")).value == pytest.approx(2.5, abs=0.05)


# Both


def verifiers(random_models: dict[str, str], **options: Any) -> list[Any]:
    return [
        RewardModel(random_models["sequence"], **options),
        ProcessRewardModel(random_models["token"], **options),
        ProcessRewardModel(random_models["causal"], good_token="+", bad_token="-", step_tag=" =", **options),
    ]


def test_values_do_not_depend_on_the_batch(random_models):
    rng = random.Random(0)

    def line() -> str:
        return "".join(rng.choices("0123456789 abc", k=rng.randint(1, 40)))

    texts = ["\n".join(line() for _ in range(rng.randint(1, 5))) for _ in range(12)]
    pairs = [(rng.choice([PLAIN, EXAMPLE]), Completion(text)) for text in texts]
    for wide, narrow in zip(verifiers(random_models), verifiers(random_models, batch_tokens=100), strict=True):
        single_scores = [wide(*pair) for pair in pairs]
        assert len({score.value for score in single_scores}) == len(pairs)
        for scores in (wide.batch(pairs), narrow.batch(pairs[::-1])[::-1]):
            for single_score, batched_score in zip(single_scores, scores, strict=True):
                assert single_score.value == pytest.approx(batched_score.value, abs=1e-5)
                assert [step.value for step in single_score.steps] == pytest.approx(
                    [step.value for step in batched_score.steps], abs=1e-5
                )


def test_without_a_prompt_completions_are_unscored(random_models):
    for verifier in verifiers(random_models):
        score = verifier(Example("x"), Completion("a\nb"))
        assert (score.value, score.status) == (None, "not_applicable")
        assert "no prompt" in score.explanation
        assert verifier.needs_prompt


@pytest.mark.parametrize("text", ["7 " * 2000, "7\n" * 900, "a" * 1_000_000])
def test_inputs_are_never_truncated(random_models, text):
    outcome, classified, spoken = verifiers(random_models)
    assert (outcome(EXAMPLE, Completion(text)).value, outcome(EXAMPLE, Completion(text)).status) == (
        None,
        "not_applicable",
    )
    for verifier in (classified, spoken, RewardModel(random_models["sequence"], activation="sigmoid")):
        score = verifier(EXAMPLE, Completion(text))
        assert (score.value, score.status) == (0.0, "over_limit")
        assert "the model reads 512" in score.explanation
    for verifier in verifiers(random_models, max_tokens=20):
        assert "the model reads 20" in verifier(EXAMPLE, Completion("7")).explanation


def test_many_short_steps(random_models):
    score = ProcessRewardModel(random_models["token"])(EXAMPLE, Completion("7\n" * 2000))
    assert (score.value, score.status, score.explanation) == (0.0, "over_limit", "more than 1000 steps")


def special_ids(ids: list[int]) -> list[int]:
    return [id for id in ids if id in range(5)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["<|end|>", "<|", "end|>", "<|user|>", "<", "|", ">", "<|pad|>", "a ", "\n", "<think>"]))
)
def test_control_tokens_in_a_text_are_broken_up(random_models, parts):
    text = "".join(parts)
    for verifier in verifiers(random_models):
        loaded = verifier._load()
        encoding = verifier._encode(loaded, EXAMPLE, Completion(text))
        if hasattr(encoding, "encoded"):
            assert special_ids(encoding.encoded.ids) == [2, 3, 4]  # system, user, assistant: those of the template
    assert loaded.plain(text).replace(" ", "") == text.replace(" ", "")


def test_lone_surrogates_are_read_as_question_marks(random_models):
    for verifier in verifiers(random_models):
        assert verifier(EXAMPLE, Completion("a\ud800b")).value == verifier(EXAMPLE, Completion("a?b")).value


def test_a_template_that_rejects_the_prompt_is_an_error(last_digit, tmp_path):
    model = LlamaForSequenceClassification.from_pretrained(last_digit)
    folder = save(model, tmp_path, "{{ raise_exception('roles must alternate') }}")
    scores = RewardModel(folder).batch([(EXAMPLE, Completion("7")), (PLAIN, Completion("7"))])
    assert [score.status for score in scores] == ["error", "scored"]
    assert "rejects the prompt: roles must alternate" in scores[0].explanation


# Steps


def test_steps_of_a_token_classifier_by_hand(classifier):
    # Prompt, steps and tags are tokenized one by one; the value of a step is read at its tag.
    text = "ab\n77\n\n  c7d  "
    score = ProcessRewardModel(classifier)(PLAIN, Completion(text))
    first = tokens("Q: ") + tokens("ab") + 1
    second = first + 2 + 1
    third = second + tokens("c7d") + 1
    expected = [good(0, first), good(2, second), good(3, third)]
    assert [step.value for step in score.steps] == pytest.approx(expected, abs=1e-5)
    assert [text[step.start : step.end] for step in score.steps] == ["ab", "77", "c7d"]
    assert expected[0] == 0.5
    assert score.value == pytest.approx(min(expected), abs=1e-5)
    for reduce, value in [("mean", sum(expected) / 3), ("last", expected[2]), ("product", math.prod(expected))]:
        assert ProcessRewardModel(classifier, reduce=reduce)(PLAIN, Completion(text)).value == pytest.approx(
            value, abs=1e-5
        )


@pytest.mark.parametrize("tag", [" =", "=", "§", " 世"])
def test_steps_of_a_language_model_by_hand(speaker, tag):
    # One text, a line for each step; a tag of several tokens is read at its last.
    verifier = ProcessRewardModel(speaker, good_token="+", bad_token="-", step_tag=tag)
    text = "ab\n77\nc7d"
    score = verifier(PLAIN, Completion(text))
    inputs = [f"Q: ab{tag}", f"Q: ab{tag}\n77{tag}", f"Q: ab{tag}\n77{tag}\nc7d{tag}"]
    expected = [good(sevens, tokens(part)) for sevens, part in zip((0, 2, 3), inputs, strict=True)]
    assert [step.value for step in score.steps] == pytest.approx(expected, abs=1e-5)
    assert [text[step.start : step.end] for step in score.steps] == ["ab", "77", "c7d"]


def test_a_classifier_with_one_label(tmp_path):
    model = share_of_sevens(LlamaForTokenClassification(config(num_labels=1)))
    with torch.no_grad():
        model.score.bias[0] = 1.0
    score = ProcessRewardModel(save(model, tmp_path))(PLAIN, Completion("7"))
    assert score.value == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-5)


@pytest.mark.parametrize(
    ("completion", "format", "steps"),
    [
        (Completion("<think>\na\nb\n</think>\n<answer>\nc\n</answer>"), Format(), ["a", "b"]),
        (Completion("\na\nb\n</think>\nc", prefill="<think>"), Format(prefill="<think>"), ["a", "b"]),
        (Completion("世界\n🙂 b"), Format(), ["世界", "🙂 b"]),
        (Completion("<think>a\nb"), Format(), ["a", "b"]),
    ],
)
def test_steps_are_spans_of_the_completions_text(classifier, completion, format, steps):
    score = ProcessRewardModel(classifier, format=format)(EXAMPLE, completion)
    assert [completion.text[step.start : step.end] for step in score.steps] == steps


def test_a_step_that_contains_the_tag_is_one_step(classifier, speaker):
    for verifier in (
        ProcessRewardModel(classifier, step_tag="§"),
        ProcessRewardModel(speaker, good_token="+", bad_token="-", step_tag="§"),
    ):
        score = verifier(PLAIN, Completion("7§ §§\n7 + + +"))
        assert len(score.steps) == 2
        assert max(step.value for step in score.steps) < 0.5


@pytest.mark.parametrize("text", ["", " \n ", "<think></think>72"])
def test_no_step_is_no_answer(classifier, text):
    score = ProcessRewardModel(classifier)(PLAIN, Completion(text))
    assert (score.value, score.status, score.steps) == (0.0, "no_answer", ())


def test_step_values_that_are_not_finite_are_unscored(tmp_path):
    model = share_of_sevens(LlamaForTokenClassification(config(num_labels=2)))
    with torch.no_grad():
        model.score.bias[0] = math.inf
    score = ProcessRewardModel(save(model, tmp_path))(PLAIN, Completion("7"))
    assert (score.value, score.status) == (None, "error")


# Unusable options and models


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("reward_model", {"model": "/no/such/folder"}, "model: /no/such/folder is not a folder"),
        ("reward_model", {"model": "~/no/such/folder"}, "is not a folder"),
        ("reward_model", {"model": "m", "batch_tokens": 0}, "batch_tokens: expected at least 1"),
        ("reward_model", {"model": "m", "max_tokens": 0}, "max_tokens: expected at least 1"),
        ("reward_model", {"model": "m", "activation": "tanh"}, "activation"),
        ("reward_model", {"model": "m", "trust_remote_code": True}, "unknown key"),
        ("reward_model", {}, "model: this key is required"),
        ("process_reward_model", {"model": "m", "good_token": "+"}, "good_token and bad_token belong together"),
        ("process_reward_model", {"model": "m", "step_tag": ""}, "step_tag: must not be empty"),
        ("process_reward_model", {"model": "m", "reduce": "max"}, "reduce"),
    ],
)
def test_invalid_options_are_refused(name, options, message):
    with pytest.raises(UsageError, match=message):
        make_verifier(name, options, "task.yaml")


def test_unusable_models_are_errors(last_digit, classifier, speaker, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text(json.dumps({"model_type": "nothing"}))
    unnamed = Path(save(LlamaForCausalLM(config()), tmp_path / "unnamed"))
    settings = json.loads((unnamed / "config.json").read_text())
    (unnamed / "config.json").write_text(json.dumps(settings | {"architectures": None}))
    unnamed = str(unnamed)
    two_labels = save(emptied(LlamaForSequenceClassification(config(num_labels=2))), tmp_path / "two")
    three_labels = save(emptied(LlamaForTokenClassification(config(num_labels=3))), tmp_path / "three")
    failures = [
        (RewardModel(str(BUNDLED)), "is a language model (LlamaForCausalLM); give a reward model of whole completions"),
        (RewardModel(unnamed), "has no weights for score.weight: it is not a checkpoint for AutoModelForSequence"),
        (RewardModel(classifier), "is a process reward model (LlamaForTokenClassification)"),
        (RewardModel(two_labels), "has 2 labels, a reward model of whole completions has 1"),
        (RewardModel("nobody/nothing"), "'nobody/nothing' cannot be loaded"),
        (RewardModel(str(broken)), "cannot be loaded"),
        (RewardModel(last_digit, device="cuda:99"), "device 'cuda:99' is not available"),
        (RewardModel(last_digit, device="toaster"), "device 'toaster' is not available"),
        (ProcessRewardModel(speaker), "is a language model (LlamaForCausalLM); give a process reward model"),
        (ProcessRewardModel(three_labels), "has 3 labels, a process reward model has 1 or 2"),
        (ProcessRewardModel(last_digit, good_token="+", bad_token="-"), "give a language model"),
        (ProcessRewardModel(speaker, good_token="++1", bad_token="-"), "must be different single tokens"),
        (ProcessRewardModel(speaker, good_token="+", bad_token="+"), "must be different single tokens"),
    ]
    for verifier, message in failures:
        ((score,),) = score_groups(verifier, [Group(EXAMPLE, [Completion("7")])])
        assert (score.value, score.status) == (None, "error")
        assert message in score.explanation
    with pytest.raises(UsageError, match="it is not a checkpoint for"):
        load(unnamed, "sequence")


def test_what_is_no_model_of_the_right_kind_is_known_without_loading_one(random_models, tmp_path, monkeypatch):
    """``torch`` could not be imported: only configurations are read."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    sequence, token, causal = (random_models[name] for name in ("sequence", "token", "causal"))
    tags = {"good_token": "+", "bad_token": "-"}
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").touch()
    usable = [RewardModel(sequence), ProcessRewardModel(token), ProcessRewardModel(causal, **tags)]
    assert [verifier.unusable() for verifier in [*usable, RewardModel(str(adapter))]] == [None] * 4
    process = "give a process reward model (...ForTokenClassification), such as grpo_env reward-model train --process"
    for verifier, messages in [
        (RewardModel(token), ["is a process reward model (LlamaForTok", "for the verifier process_reward_model"]),
        (ProcessRewardModel(sequence), ["is a reward model of whole comp", "for the verifier reward_model", process]),
        (ProcessRewardModel(causal), ["is a language model (LlamaForCausalLM)", process]),
        (ProcessRewardModel(token, **tags), ["give a language model (...ForCausalLM)"]),
        (RewardModel(str(tmp_path)), ["has no config.json"]),
        (RewardModel("nobody/nothing"), ["nobody/nothing is not a folder, and cannot be fetched from the hub"]),
    ]:
        assert all(message in (verifier.unusable() or "") for message in messages), verifier.unusable()


def test_a_path_in_a_folder_that_exists_is_no_hub_id(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    with pytest.raises(UsageError, match="model: runs/none is not a folder; give the folder of a model, or a hub id"):
        RewardModel("runs/none")
    RewardModel("elsewhere/none")
