"""A small Markov chain as a language model: what it is worth to go on from a prefix is known in closed form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from grpo_env import load_task
from grpo_env.taskfile.task import Task
from grpo_env.trainer.engine.policy import Policy, load_policy

# The chain: the probability of each next token after a token.
END, A, B, BREAK = range(4)
CHAIN = torch.tensor(
    [[1.0, 0.0, 0.0, 0.0], [0.2, 0.1, 0.4, 0.3], [0.2, 0.1, 0.4, 0.3], [0.05, 0.7, 0.2, 0.05]], dtype=torch.float64
)
LONGEST = 12


class Chain(NamedTuple):
    policy: Policy
    task: Task


def make_chain(folder: Path, verifier: str) -> Chain:
    """A Llama whose layers add nothing, so that its next token depends on the last one alone, and 40 prompts "a"."""
    core = Tokenizer(models.WordLevel({"<end>": END, "a": A, "b": B, "\n": BREAK}, unk_token="<end>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    core.decoder = decoders.Fuse()
    PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<end>").save_pretrained(folder)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=4,
            hidden_size=4,
            intermediate_size=4,
            num_hidden_layers=1,
            num_attention_heads=1,
            max_position_embeddings=64,
            bos_token_id=None,
            eos_token_id=END,
            pad_token_id=None,
        )
    )
    layer = model.model.layers[0]
    with torch.no_grad():
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(4))
        # The norm before the head makes the one-hot state twice as long: sqrt(4).
        model.lm_head.weight.copy_(CHAIN.clamp(min=1e-9).log().T / 2)
    model.save_pretrained(folder)
    rows = [{"question": "a", "number": number} for number in range(40)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = {
        "version": 1,
        "task": "chain",
        "dataset": {"path": "rows.jsonl", "split": {"train": 0.9, "eval": 0.1}},
        "format": {"reasoning": None, "answer": None},
        "prompt": {"text": "{{ question }}"},
        "verifiers": {verifier: {"weight": 1.0}},
        "metric": verifier,
    }
    (folder / "chain.yaml").write_text(json.dumps(spec))
    return Chain(load_policy(str(folder), device="cpu"), load_task(folder / "chain.yaml"))
