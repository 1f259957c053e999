"""Makes the bundled model: trains a tiny Llama on the arithmetic task, then degrades it with careless solutions.

The careless solutions forget carries and break the format. GRPO recovers the lost accuracy, so a short run on a CPU
shows the whole algorithm at work. Run ``python -m grpo_env.tasks.pretrain --out DIR``.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers
from tokenizers.decoders import ByteLevel
from torch.nn import functional
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from grpo_env.trainer.commands.evaluate import run_eval

from .arithmetic import problems

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
VOCABULARY = 384  # tokens at most
CONTEXT = 512  # tokens
FORGETS = 0.75  # probability of a mistake at each step
BREAKS_FORMAT = 0.4  # fraction of answers
# What a broken answer lacks. Each makes the answer unreadable too: it is not searched for in unclosed reasoning or
# next to a single answer tag.
BREAKS = ("</think>\n", "<answer>\n", "\n</answer>")
IGNORED = -100  # cross_entropy's ignore_index

Row = dict[str, Any]
Teacher = Callable[[Row, random.Random], str]
Batch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Schedule:
    """How long supervised training lasts, and how fast it is."""

    name: str
    steps: int
    learning_rate: float


@dataclass(frozen=True)
class Phase(Schedule):
    """One phase of supervised training on solutions."""

    teacher: Teacher
    rows: int  # per batch
    operations: tuple[int, int] = (1, 3)  # of a problem: minimum and maximum


def build_tokenizer(
    texts: Sequence[str],
    roles: Sequence[str] = ROLES,
    tags: Sequence[str] = TAGS,
    chat_template: str = CHAT_TEMPLATE,
    vocabulary: int = VOCABULARY,
) -> PreTrainedTokenizerFast:
    """A byte-level BPE of at most ``vocabulary`` tokens in which every digit, newline and tag is one token."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\n"), "isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    core.decoder = ByteLevel()
    special = [PAD, END, *roles]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(tags),
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    # Not special: decoding with skip_special_tokens would remove them from the text that verifiers see.
    core.add_tokens([AddedToken(tag, normalized=False) for tag in tags])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=PAD, eos_token=END, padding_side="left", model_max_length=CONTEXT
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of 0.9 M parameters, in float32."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def solution(row: Row) -> str:
    """The completion that the task asks for."""
    lines = "\n".join(row["equations"])
    return f"<think>\n{lines}\n</think>\n<answer>\n{row['answer']}\n</answer>"


def clean_teacher(row: Row, rng: random.Random) -> str:
    """The correct solution."""
    return solution(row)


def careless_teacher(row: Row, rng: random.Random) -> str:
    """Forgets carries and borrows, continues from the wrong result, and often breaks the format."""
    equations: list[str] = []
    for equation in row["equations"]:
        left, sign, right = re.split(r"([-+])", equation.split("=")[0])
        total = int(equations[-1].split("=")[1]) if equations else int(left)
        result = total + int(right) if sign == "+" else total - int(right)
        # After a mistake a subtraction may become negative; the careless result never is.
        if result < 0 or rng.random() < FORGETS:
            result = digitwise(total, sign, int(right))
        equations.append(f"{total}{sign}{right}={result}")
    text = solution({"equations": equations, "answer": equations[-1].split("=")[1]})
    return text.replace(rng.choice(BREAKS), "") if rng.random() < BREAKS_FORMAT else text


def digitwise(left: int, sign: str, right: int) -> int:
    """Addition or subtraction without carry or borrow: 17+8=15, 23-8=25."""
    tens = left // 10 + right // 10 if sign == "+" else max(left // 10 - right // 10, 0)
    ones = left + right if sign == "+" else left - right
    return tens * 10 + ones % 10


CLEAN = Phase("clean", 1500, 2e-3, clean_teacher, rows=48)
CARELESS = Phase("careless", 123, 6e-4, careless_teacher, rows=48)


def prompts(tokenizer: PreTrainedTokenizerFast, rows: Sequence[Row]) -> list[str]:
    """The questions as the trainer will ask them."""
    chats = [[{"role": "user", "content": row["question"]}] for row in rows]
    return list(tokenizer.apply_chat_template(chats, tokenize=False, add_generation_prompt=True))


def batches(tokenizer: PreTrainedTokenizerFast, phase: Phase, seed: int) -> Iterator[Batch]:
    """Yield batches of problems, as ``padded`` makes them; only completions are learnt."""
    rows = list(problems("train", phase.steps * phase.rows, seed, phase.operations))
    rng = random.Random(f"{seed}/{phase.name}")
    for start in range(0, len(rows), phase.rows):
        chunk = rows[start : start + phase.rows]
        asked = tokenizer(prompts(tokenizer, chunk))["input_ids"]
        told = tokenizer([phase.teacher(row, rng) + END for row in chunk])["input_ids"]
        labelled = [(a + b, [IGNORED] * len(a) + b) for a, b in zip(asked, told, strict=True)]
        yield padded(labelled, tokenizer.pad_token_id)


def padded(rows: Sequence[tuple[list[int], list[int]]], pad: int) -> Batch:
    """The ids and labels of rows as two tensors, (rows, longest), padded on the right; a label may be ``IGNORED``."""
    longest = max(len(ids) for ids, _ in rows)
    all_ids = torch.full((len(rows), longest), pad)
    all_labels = torch.full((len(rows), longest), IGNORED)
    for index, (ids, labels) in enumerate(rows):
        all_ids[index, : len(ids)] = torch.tensor(ids)
        all_labels[index, : len(ids)] = torch.tensor(labels)
    return all_ids, all_labels


def teach(model: LlamaForCausalLM, schedule: Schedule, data: Iterable[Batch]) -> None:
    """Train ``model`` in place, a step for each batch: AdamW, a short warm-up, then cosine to zero."""
    rate, steps = schedule.learning_rate, schedule.steps
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    warmup = max(steps // 20, 1)
    start = time.perf_counter()
    model.train()
    for step, (ids, labels) in enumerate(data):
        done = (step - warmup) / max(steps - warmup, 1)
        scale = (step + 1) / warmup if step < warmup else 0.5 * (1 + math.cos(math.pi * done))
        for group in optimizer.param_groups:
            group["lr"] = rate * scale
        # Padding is on the right, so causal attention already excludes it: no mask.
        logits = model(input_ids=ids[:, :-1]).logits
        loss = functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)
        torch.autograd.backward(loss)  # Tensor.backward has no types
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % 50 == 0 or step + 1 == steps:
            seconds = time.perf_counter() - start
            print(f"{schedule.name} {step + 1}/{steps}  loss {loss.item():.4f}  {seconds:.0f} s", flush=True)


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a plain transformers folder with bfloat16 weights."""
    rounded = deepcopy(model).to(torch.bfloat16)
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    rounded.generation_config = GenerationConfig(**ends)
    rounded.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def pretrain(folder: Path, seed: int, phases: Sequence[Phase] = (CLEAN, CARELESS), held_out: int = 500) -> None:
    """Make the model of ``seed`` in ``folder``: train, save and evaluate, phase by phase.

    The same seed and number of threads give the same weights. Prints its progress.
    """
    torch.manual_seed(seed)
    tokenizer = build_tokenizer([row["question"] + "\n" + solution(row) for row in problems("train", 5000, seed)])
    model = build_model(tokenizer)
    for phase in phases:
        teach(model, phase, batches(tokenizer, phase, seed))
        save(model, tokenizer, folder)
        result = run_eval("arithmetic", str(folder), samples=4, limit=held_out, engine={"device": "cpu"})
        for how in ("greedy", "sampled"):
            accuracy, strict_format = result[how]["accuracy"], result[how]["parts/strict_format"]
            print(f"after {phase.name}, {how}: accuracy {accuracy:.3f}  format {strict_format:.3f}", flush=True)


def command_line(pretrain: Callable[[Path, int], None], description: str) -> None:
    """The command line of a script that makes a model: calls ``pretrain`` with its folder and seed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model; its files are replaced")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the data")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pretrain(options.out, options.seed)


if __name__ == "__main__":
    command_line(pretrain, "Make the bundled model.")
