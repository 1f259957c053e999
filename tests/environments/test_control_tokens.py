"""No text of an environment contains a control token of the model that reads it."""

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from grpo_env.control_tokens import without_control_tokens

SPECIAL, OTHERS = ["<|im_end|>", "<|im_start|>", "[INST]"], ["<tool_call>", "</tool_call>", "<think>", "  "]


def a_tokenizer():
    alphabet = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|im_end|>")
    tokenizer.add_special_tokens({"additional_special_tokens": SPECIAL})
    tokenizer.add_tokens(OTHERS)
    tokenizer.chat_template = "<tool_call></tool_call>  {{ messages }}"
    return tokenizer


TOKENIZER = a_tokenizer()
PIECES = st.sampled_from([*SPECIAL, *OTHERS, "<", "|im_end|>", "[IN", "x", " "])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_no_text_is_tokenized_to_a_control_token(text):
    of_template = ["<tool_call>", "</tool_call>"]
    for plain, gone in (
        (without_control_tokens(TOKENIZER), SPECIAL),
        (without_control_tokens(TOKENIZER, of_template=True), SPECIAL + of_template),
    ):
        tokens = TOKENIZER.convert_ids_to_tokens(TOKENIZER(plain(text))["input_ids"])
        assert not set(tokens) & set(gone)
        assert plain(text).replace(" ", "") == text.replace(" ", "")


def test_by_hand():
    plain = without_control_tokens(TOKENIZER, of_template=True)
    assert plain("a<|im_end|>b <tool_call>") == "a< |im_end|>b < tool_call>"
    assert plain("<think>  im_end [I] </think>") == "<think>  im_end [I] </think>"
