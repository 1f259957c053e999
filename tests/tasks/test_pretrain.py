"""The bundled model and the script that makes it."""

import random
import re
from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo_env.tasks.arithmetic import problems
from grpo_env.tasks.pretrain import (
    CARELESS,
    CLEAN,
    IGNORED,
    TAGS,
    batches,
    build_tokenizer,
    careless_teacher,
    digitwise,
    pretrain,
    solution,
)
from grpo_env.trainer.commands.evaluate import run_eval
from grpo_env.trainer.engine.bundled import BUNDLED

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The count of threads decides the order of sums, and so the last bits of the weights."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(BUNDLED)


class TestBundledModel:
    def test_it_is_small_and_complete(self):
        sizes = {path.name: path.stat().st_size for path in BUNDLED.iterdir()}
        assert sizes["model.safetensors"] <= 2_000_000
        assert sum(sizes.values()) <= 2_100_000
        assert {"config.json", "generation_config.json", "tokenizer.json", "chat_template.jinja"} <= set(sizes)
        assert "license: apache-2.0" in (BUNDLED / "README.md").read_text()

    def test_transformers_loads_it_with_its_end_and_pad_tokens(self, tokenizer):
        model = AutoModelForCausalLM.from_pretrained(BUNDLED)
        assert model.dtype == torch.bfloat16
        assert model.generation_config.eos_token_id == tokenizer.eos_token_id
        assert model.generation_config.pad_token_id == tokenizer.pad_token_id != tokenizer.eos_token_id
        assert model.config.vocab_size == len(tokenizer) <= 384
        assert sum(weight.numel() for weight in model.parameters()) < 1_000_000

    def test_it_is_as_good_as_its_card_says(self):
        result = run_eval("arithmetic", "bundled", samples=2, limit=100, engine={"device": "cpu"})
        # Card: .596, .38 and .59. Four standard errors of 100 problems, of 200 samples.
        assert 0.40 < result["greedy"]["accuracy"] < 0.80
        assert 0.24 < result["sampled"]["accuracy"] < 0.52
        assert 0.45 < result["sampled"]["parts/strict_format"] < 0.73
        assert result["greedy"]["truncated"] == 0


class TestTokenizer:
    @given(st.text())
    def test_any_text_survives_the_round_trip(self, tokenizer, text):
        assert tokenizer.decode(tokenizer(text)["input_ids"], clean_up_tokenization_spaces=False) == text

    @given(st.text(alphabet="0123456789\n +-=", max_size=40))
    def test_every_digit_and_newline_is_a_token_of_its_own(self, tokenizer, text):
        for piece in (tokenizer.decode([token]) for token in tokenizer(text)["input_ids"]):
            assert len(piece) == 1 or not re.search(r"[0-9\n]", piece), piece

    def test_tags_are_single_tokens_that_decoding_keeps(self, tokenizer):
        ids = tokenizer("".join(TAGS))["input_ids"]
        assert len(ids) == len(TAGS)
        assert tokenizer.decode(ids, skip_special_tokens=True) == "".join(TAGS)

    def test_roles_end_and_padding_are_special(self, tokenizer):
        chat = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        assert text == "<|system|>a<|end|><|user|>b<|end|><|assistant|>"
        ids = tokenizer(text)["input_ids"]
        assert len(ids) == 7
        assert tokenizer.decode(ids, skip_special_tokens=True) == "ab"

    def test_it_is_the_one_that_the_script_builds(self, tokenizer):
        texts = [row["question"] + "\n" + solution(row) for row in problems("train", 5000, 0)]
        assert build_tokenizer(texts).get_vocab() == tokenizer.get_vocab()


class TestTeachers:
    @pytest.mark.parametrize(
        ("left", "sign", "right", "result"),
        [(17, "+", 8, 15), (12, "+", 5, 17), (23, "-", 8, 25), (28, "-", 13, 15), (20, "-", 20, 0), (75, "+", 19, 84),
         (95, "+", 19, 104), (15, "-", 18, 7)],
    )  # fmt: skip
    def test_without_carry_or_borrow(self, left, sign, right, result):
        assert digitwise(left, sign, right) == result

    def test_the_careless_teacher_slips_on_carries_and_borrows_only(self):
        rng, slips, steps_seen = random.Random(0), 0, 0
        for row in problems("train", 2000, 0):
            text = careless_teacher(row, rng)
            equations = re.findall(r"(\d+)([-+])(\d+)=(\d+)", text)
            assert len(equations) == len(row["equations"])
            for left, sign, right, result in equations:
                true = int(left) + int(right) if sign == "+" else int(left) - int(right)
                assert int(result) in (true, digitwise(int(left), sign, int(right)))
                if 0 <= true != digitwise(int(left), sign, int(right)):
                    steps_seen += 1
                    slips += int(result) != true
        assert steps_seen > 1000
        assert slips / steps_seen == pytest.approx(0.75, abs=0.04)

    def test_four_answers_in_ten_break_the_format(self):
        rng = random.Random(0)
        form = re.compile(r"<think>\n[^<]*\n</think>\n<answer>\n\d+\n</answer>")
        kept = sum(bool(form.fullmatch(careless_teacher(row, rng))) for row in problems("train", 2000, 0))
        assert kept / 2000 == pytest.approx(0.6, abs=0.04)

    def test_only_completions_are_learnt(self, tokenizer):
        ids, labels = next(batches(tokenizer, replace(CLEAN, steps=1, rows=8), seed=0))
        for row, (learnt, problem) in enumerate(zip(labels, problems("train", 8, 0), strict=True)):
            told = learnt != IGNORED
            assert tokenizer.decode(learnt[told]) == solution(problem) + "<|end|>"
            assert torch.equal(ids[row][told], learnt[told])
            before = ids[row][: int(told.nonzero()[0])]
            assert tokenizer.decode(before) == f"<|user|>{problem['question']}<|end|><|assistant|>"


@pytest.fixture
def _short_evaluation(monkeypatch):
    """A model that has learnt nothing never ends by itself."""
    monkeypatch.setattr("grpo_env.tasks.pretrain.run_eval", partial(run_eval, sampling={"max_new_tokens": 4}))


@pytest.mark.usefixtures("_short_evaluation")
def test_the_same_seed_makes_the_same_folder(tmp_path, capsys):
    phases = [replace(CLEAN, steps=2, rows=4), replace(CARELESS, steps=1, rows=4)]
    for name, seed in (("one", 5), ("two", 5), ("other", 6)):
        pretrain(tmp_path / name, seed, phases, held_out=1)
    files = {name: (tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two", "other")}
    assert files["one"] == files["two"] != files["other"]
    assert "after careless, greedy: accuracy" in capsys.readouterr().out


@pytest.mark.usefixtures("_short_evaluation")
def test_a_few_steps_of_the_clean_teacher_lower_the_loss(tmp_path, capsys):
    pretrain(tmp_path / "model", 0, [replace(CLEAN, steps=30, rows=4)], held_out=1)
    # An even guess over the vocabulary costs ln(381) = 5.9.
    assert float(re.search(r"30/30  loss (\S+)", capsys.readouterr().out)[1]) < 3
