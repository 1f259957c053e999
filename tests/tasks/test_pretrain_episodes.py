"""The bundled model of tools and the script that makes it."""

import random
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from grpo_env.core import Message
from grpo_env.environments.calls import parse_calls
from grpo_env.environments.episode import EnvironmentClass, check_template
from grpo_env.environments.tools import wrong_arguments
from grpo_env.taskfile.task import load_task
from grpo_env.tasks import pretrain_episodes as script
from grpo_env.tasks.pretrain import IGNORED
from grpo_env.trainer.engine.bundled import BUNDLED, MODELS

FOLDER = MODELS["bundled-search"]
ROW = {"basket": ["tea", "rice", "milk"], "prices": {"tea": 8, "rice": 17, "milk": 6}, "total": 31}
TEA, RICE = script.look_up("tea"), script.look_up("rice")


def tool(text):
    return [{"role": "tool", "name": "price", "tool_call_id": "call00001", "content": text}]


ASKED = [{"role": "user", "content": "What do tea, rice and milk cost together?"}]


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(FOLDER)


class TestBundledModels:
    @pytest.mark.parametrize("name", ["bundled-tools", "bundled-search"])
    def test_it_is_small_and_complete(self, name):
        sizes = {path.name: path.stat().st_size for path in MODELS[name].iterdir()}
        assert sum(sizes.values()) <= 2_000_000
        assert {"config.json", "generation_config.json", "tokenizer.json", "chat_template.jinja"} <= set(sizes)
        assert "license: apache-2.0" in (MODELS[name] / "README.md").read_text()

    @pytest.mark.parametrize("name", ["bundled-tools", "bundled-search"])
    def test_transformers_loads_it_with_its_end_and_pad_tokens(self, name):
        model, tokenizer = (
            AutoModelForCausalLM.from_pretrained(MODELS[name]),
            AutoTokenizer.from_pretrained(MODELS[name]),
        )
        assert model.dtype == torch.bfloat16
        assert model.generation_config.eos_token_id == tokenizer.eos_token_id
        assert model.generation_config.pad_token_id == tokenizer.pad_token_id != tokenizer.eos_token_id
        assert model.config.vocab_size == len(tokenizer) <= script.VOCABULARY

    def test_its_task_takes_it_by_default(self):
        models = {name: load_task(name).defaults["model"] for name in ("till", "search")}
        assert models == {"till": "bundled-tools", "search": "bundled-search"}


class TestTokenizer:
    @given(st.text())
    def test_any_text_survives_the_round_trip(self, tokenizer, text):
        assert tokenizer.decode(tokenizer(text)["input_ids"], clean_up_tokenization_spaces=False) == text

    def test_tags_are_single_tokens_that_decoding_keeps(self, tokenizer):
        tags = "<think></think><answer></answer><tool_call></tool_call>"
        ids = tokenizer(tags)["input_ids"]
        assert len(ids) == 6
        assert tokenizer.decode(ids, skip_special_tokens=True) == tags

    def test_the_chat_template_tells_of_tools_and_results(self, tokenizer):
        task = load_task("till")
        environment = EnvironmentClass.of_task(task)
        check_template(tokenizer.chat_template, environment, "bundled-search")
        messages = [*ASKED, {"role": "assistant", "content": TEA}, *tool("8")]
        tools = list(environment.tools)
        text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=True)
        assert text == (
            "<|tools|>price(item)<|end|><|user|>What do tea, rice and milk cost together?<|end|>"
            '<|assistant|><tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call><|end|>'
            "<|tool|>8<|end|><|assistant|>"
        )
        assert tokenizer.decode(tokenizer("<|tools|><|tool|>8<|end|>")["input_ids"], skip_special_tokens=True) == "8"

    def test_calls_that_are_given_apart_from_the_text_are_written(self, tokenizer):
        call = {"id": "1", "type": "function", "function": {"name": "price", "arguments": {"item": "tea"}}}
        for content in ("", TEA):  # as OpenAI has them; and as ``messages_of`` does, with the text as well
            message = {"role": "assistant", "content": content, "tool_calls": [call]}
            assert tokenizer.apply_chat_template([message], tokenize=False) == f"<|assistant|>{TEA}<|end|>"


class TestScripts:
    def test_the_careful_one_looks_everything_up_and_adds(self):
        agent = script.careful_till(ROW, random.Random(0))
        assert [agent(ASKED), agent(tool("8")), agent(tool("17"))] == [TEA, RICE, script.look_up("milk")]
        assert agent(tool("6")) == "<think>\n8+17=25\n25+6=31\n</think>\n<answer>\n31\n</answer>"

    def test_the_careless_one_forgets_carries_look_ups_and_the_form_of_calls(self):
        counts = Counter()
        rng = random.Random(0)
        for _ in range(2000):
            agent = script.careless_till(ROW, rng)
            if agent(ASKED) != TEA:
                counts["broken"] += 1
                continue
            text = agent(tool("8"))
            counts["called"] += 1
            counts["stopped"] += text.startswith("<think>\n8+")
        assert counts["broken"] / 2000 == pytest.approx(script.BREAKS_CALL, abs=0.03)
        assert counts["stopped"] / counts["called"] == pytest.approx(script.STOPS, abs=0.04)

    def test_a_forgotten_carry(self):
        assert script.total([8, 17, 6], lambda left, right: {(8, 17): 15, (15, 6): 11}[left, right]) == (
            "<think>\n8+17=15\n15+6=11\n</think>\n<answer>\n11\n</answer>"
        )
        assert script.total([8], lambda left, right: 0) == "<think>\n</think>\n<answer>\n8\n</answer>"

    def test_each_broken_call_is_one(self):
        schemas = list(EnvironmentClass.of_task(load_task("till")).tools)
        for text in script.broken(TEA, "tea"):
            (call,) = parse_calls(text, "think")
            assert call.problem or call.name != "price" or wrong_arguments(schemas, call.name, call.arguments), text

    def test_the_careful_search_halves_what_is_left(self):
        agent = script.careful_search({"low": 12, "high": 42}, random.Random(0))
        said = [agent([{"role": "user", "content": text}]) for text in ("It is from 12 to 42.", "higher", "lower")]
        assert said == ["27", "35", "31"]

    def test_the_careless_search_walks_by_one_or_halves(self):
        rng, counts, total = random.Random(0), Counter(), 2000
        for _ in range(total):
            agent = script.careless_search({"low": 10, "high": 40}, rng)
            said = [agent([{"role": "user", "content": text}]) for text in ("It is from 10 to 40.", "higher", "lower")]
            counts["hedges"] += not said[0].isdigit()
            counts[tuple(int(text.removeprefix("Is it ").removesuffix("?")) for text in said)] += 1
        assert counts.pop("hedges") / total == pytest.approx(script.HEDGES, abs=0.03)
        walks, halves = script.WALKS, 1 - script.WALKS
        # 26 to 40 are left after 25, 26 to 32 after 33; 11 to 40 are left after 10, 11 to 24 after 25.
        expected = {
            (25, 33, 29): halves**3,
            (25, 33, 32): halves * halves * walks,
            (10, 25, 17): walks * halves * halves,
            (10, 25, 24): walks * halves * walks,
        }
        for guesses, share in expected.items():
            assert counts[guesses] / total == pytest.approx(share, abs=0.03)
        assert {guesses[:2] for guesses in counts} == {(25, 33), (25, 26), (10, 25), (10, 11)}


class TestData:
    def test_only_what_the_model_says_is_learnt(self, tokenizer):
        for name, agent in (("till", script.careful_till), ("search", script.careless_search)):
            for played in islice(script.episodes(name, agent, 0), 3):
                ids, labels = script.labelled(tokenizer, played)
                said = [label for label in labels if label != IGNORED]
                assert tokenizer.decode(said) == "".join(turn.text + "<|end|>" for turn in played.turns)
                assert [token for token, label in zip(ids, labels, strict=True) if label != IGNORED] == said
                first = labels.index(next(label for label in labels if label != IGNORED))
                assert tokenizer.decode(ids[:first]).endswith("<|assistant|>")

    def test_episodes_are_those_of_the_training_split(self):
        played = next(script.episodes("search", script.careful_search, 0))
        assert Message(**played.prompt[-1]) == load_task("search").examples("train", 1)[0].prompt[-1]

    def test_the_same_seed_makes_the_same_folder(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setitem(script.ROWS, "search", 2)
        monkeypatch.setattr(script, "CAREFUL", replace(script.CAREFUL, scripts={"search": script.careful_search}))
        phases = [replace(script.CARELESS, steps=1, scripts={"search": script.careless_search})]
        for name in ("one", "two"):
            script.pretrain(tmp_path / name, 5, phases, spoken=5)
        one, two = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two"))
        assert one == two
        assert "careless 1/1  loss" in capsys.readouterr().out

    def test_it_starts_from_the_model_that_can_add(self, tokenizer):
        model = LlamaForCausalLM(AutoModelForCausalLM.from_pretrained(FOLDER).config)
        script.start_from(BUNDLED, model, tokenizer)
        old = AutoModelForCausalLM.from_pretrained(BUNDLED, dtype=torch.float32)
        assert torch.equal(model.model.layers[2].mlp.up_proj.weight, old.model.layers[2].mlp.up_proj.weight)
        before = AutoTokenizer.from_pretrained(BUNDLED)
        for token in ("7", "+", "<answer>", "<|user|>"):
            new_row = model.get_input_embeddings().weight[tokenizer.convert_tokens_to_ids(token)]
            old_row = old.get_input_embeddings().weight[before.convert_tokens_to_ids(token)]
            assert torch.equal(new_row, old_row)
