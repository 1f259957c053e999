"""From step labels to a process reward model, and from there to a trained policy, on a small scale.

    python examples/process_reward_model.py label --out runs/steps
    python examples/process_reward_model.py train runs/steps/train.jsonl --out runs/prm
    grpo_env score examples/step_labels.yaml runs/steps/eval.jsonl --out runs/steps/scores.jsonl --workers 1
    python examples/process_reward_model.py agree runs/steps/scores.jsonl
    grpo_env train arithmetic supervision=process steps=30 \\
        'verifiers.equations={use: process_reward_model, model: runs/prm, weight: 0.0, process: 1.0}'

A file of labels has one solution a line: ``question``, ``steps`` (texts), ``labels`` (one number for each, above 0 is
good) and ``completion``, the steps as one text. ``label`` makes two from the bundled model's own solutions. ``train``
also takes a file of PRM800K (Lightman et al. 2023, arXiv:2305.20050).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AutoModelForTokenClassification, AutoTokenizer, PreTrainedTokenizerBase

from grpo_env import load_task
from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.rows.formats.prm800k import PRM800K
from grpo_env.trainer.config import SamplingConfig
from grpo_env.trainer.engine.bundled import BUNDLED
from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.rollout import make_prompts, sample_rollouts, score_rollouts
from grpo_env.verifiers.blocks import reasoning_span
from grpo_env.verifiers.equation_steps import EquationSteps
from grpo_env.verifiers.segments import spans

STEP_TAG = "\n"  # after each step, where the model predicts the label, as in TRL's PRMTrainer
NO_LABEL = -100  # cross_entropy's ignore_index

Row = dict[str, Any]


def label(example: Example, text: str) -> Row:
    """Labels for a solution of an arithmetic problem: 1 for a line with an equation that is asked for, else 0.

    This stands in for human labels. Every line gets a label, because the model must score every line: a tag left
    over from a broken format is a bad step.
    """
    verifier = EquationSteps(expected="\n".join(example.info["equations"]))
    correct = {step.end for step in verifier(example, Completion(text)).steps if step.value == 1.0}
    lines = list(spans(text, *(reasoning_span(text, verifier.format) or (0, len(text))), "line"))
    steps = [text[first:last] for first, last in lines]
    labels = [float(last in correct) for _, last in lines]
    return {"question": example.info["question"], "steps": steps, "labels": labels, "completion": "\n".join(steps)}


def sampled(split: str, problems: int, samples: int) -> Iterator[Row]:
    """Labelled solutions by the bundled model."""
    task, policy = load_task("arithmetic"), load_policy("bundled")
    examples = task.examples(split, problems)
    for at in range(0, len(examples), 16):
        prompts = make_prompts(task, examples[at : at + 16])
        sampled = sample_rollouts(policy, prompts, samples, SamplingConfig(max_new_tokens=64), "0")
        rows = (label(row.example, row.rollout.text) for row in score_rollouts(policy, sampled))
        yield from (row for row in rows if row["steps"])


def encoded(tokenizer: PreTrainedTokenizerBase, row: Row) -> tuple[list[int], list[int]]:
    """Ids and labels as ``process_reward_model`` reads them: prompt, steps and tags, with a label at each tag."""
    chat = [{"role": "user", "content": row["question"]}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    labels = [NO_LABEL] * len(ids)
    for step, good in zip(row["steps"], row["labels"], strict=True):
        piece = [
            *tokenizer(step, add_special_tokens=False)["input_ids"],
            *tokenizer(STEP_TAG, add_special_tokens=False)["input_ids"],
        ]
        ids += piece
        labels += [NO_LABEL] * (len(piece) - 1) + [int(good > 0)]
    return ids, labels


def train(rows: Sequence[Row], start: str, out: Path, epochs: int, learning_rate: float) -> None:
    """Give the model in ``start`` a head with two labels and train it on the step labels: cross-entropy, AdamW."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(start)
    model = AutoModelForTokenClassification.from_pretrained(start, num_labels=2, dtype=torch.float32).train()
    texts = [encoded(tokenizer, row) for row in rows]
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    batches = [batch for epoch in range(epochs) for batch in shuffled(texts, 32, epoch)]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, total_steps=len(batches), pct_start=0.1)
    for number, batch in enumerate(batches, 1):
        ids, labels = padded(batch)
        # Padding is on the right, so causal attention already excludes it.
        loss = functional.cross_entropy(model(input_ids=ids).logits.flatten(0, 1), labels.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if number % 50 == 0 or number == len(batches):
            print(f"{number}/{len(batches)}  loss {loss.item():.3f}", flush=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def shuffled(texts: Sequence[Any], rows: int, seed: int) -> list[list[Any]]:
    order = random.Random(seed).sample(list(texts), len(texts))
    return [order[at : at + rows] for at in range(0, len(order), rows)]


def padded(batch: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
    """(rows, longest) ids and labels, padded on the right."""
    longest = max(len(ids) for ids, _ in batch)
    ids = [row + [0] * (longest - len(row)) for row, _ in batch]
    labels = [row + [NO_LABEL] * (longest - len(row)) for _, row in batch]
    return torch.tensor(ids), torch.tensor(labels)


def agreement(rows: Iterable[Row]) -> str:
    """How the model's values of the steps agree with their labels, from the scores that ``step_labels.yaml`` gives."""
    pairs = [
        (step["value"] > 0, guess["value"])
        for row in rows
        for step, guess in zip(row["parts"]["labels"]["steps"], row["parts"]["model"]["steps"], strict=True)
    ]
    good, bad = ([value for is_good, value in pairs if is_good == side] for side in (True, False))
    right = sum((value >= 0.5) == is_good for is_good, value in pairs)
    kept, caught = sum(value >= 0.5 for value in good), sum(value < 0.5 for value in bad)
    ranked = sum((a > b) + 0.5 * (a == b) for a in good for b in bad) / (len(good) * len(bad))
    return (
        f"{len(pairs)} steps: {right / len(pairs):.3f} scored as labelled; good steps {kept} of {len(good)}, "
        f"bad steps {caught} of {len(bad)}; a good step above a bad one: {ranked:.3f}"
    )


def read(path: Path) -> Iterator[Row]:
    with path.open() as lines:
        yield from map(json.loads, lines)


def solutions(path: Path) -> Iterator[Row]:
    """The rows of a file of labels, or those of PRM800K that have a rating."""
    for row in read(path):
        with suppress(UsageError):
            yield PRM800K.convert(row) or {} if PRM800K.matches(row) else row


def write(rows: Iterable[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines))
    print(f"{path}: {len(lines)} solutions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    labels = commands.add_parser("label", help="sample solutions from the bundled model and label their steps")
    labels.add_argument("--out", type=Path, required=True, help="folder for train.jsonl and eval.jsonl")
    labels.add_argument("--problems", type=int, default=600, help="training problems, four solutions of each")
    teach = commands.add_parser("train", help="make a process reward model from a file of labels")
    teach.add_argument("file", type=Path)
    teach.add_argument("--out", type=Path, required=True, help="folder for the model")
    teach.add_argument("--start", default=str(BUNDLED), help="the model to start from, a folder or hub id")
    teach.add_argument("--epochs", type=int, default=4)
    teach.add_argument("--learning-rate", type=float, default=5e-4)
    agree = commands.add_parser("agree", help="compare the two parts of a file scored by step_labels.yaml")
    agree.add_argument("file", type=Path)
    options = parser.parse_args()
    if options.command == "label":
        write(sampled("train", options.problems, 4), options.out / "train.jsonl")
        write(sampled("eval", 200, 2), options.out / "eval.jsonl")
    elif options.command == "train":
        train(list(solutions(options.file)), options.start, options.out, options.epochs, options.learning_rate)
    else:
        print(agreement(read(options.file)))


if __name__ == "__main__":
    main()
