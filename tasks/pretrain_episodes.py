"""Makes the bundled model of tools: trains a tiny Llama on episodes of ``till`` and ``search``, then degrades it.

It starts from the bundled model of arithmetic, which can add. A script plays the episodes, through the real
environments: first well, then carelessly. The careless script forgets look-ups and guesses prices, writes calls that
cannot be read, forgets carries, and often searches by ones instead of halving what is left. Run
``python -m grpo_env.tasks.pretrain_episodes --out DIR``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

from grpo_env.core import Message, Turn
from grpo_env.environments.calls import call_text
from grpo_env.environments.episode import ChatMessage, EnvironmentClass, messages_of
from grpo_env.environments.replay import Agent, play
from grpo_env.taskfile.task import load_task
from grpo_env.trainer.engine.bundled import BUNDLED

from .pretrain import (
    END,
    IGNORED,
    TAGS,
    Batch,
    Schedule,
    build_model,
    build_tokenizer,
    command_line,
    digitwise,
    padded,
    save,
    teach,
)

ROLES = ("<|tools|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
CALL_TAGS = ("<tool_call>", "</tool_call>")
CHAT_TEMPLATE = (
    "{% if tools %}<|tools|>{% for tool in tools %}{{ '\\n' if not loop.first }}{{ tool.function.name }}"
    "({{ tool.function.parameters.properties | join(', ') }}){% endfor %}<|end|>{% endif %}"
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}"
    "{% if '<tool_call>' not in (message.content or '') %}{% for call in message.tool_calls or [] %}"
    "<tool_call>{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}</tool_call>"
    "{% endfor %}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
VOCABULARY = 512  # tokens at most
ROWS = {"till": 16, "search": 32}  # per batch; about the same number of tokens

STOPS = 0.3  # probability that the careless script answers although prices are missing, before each look-up but one
BREAKS_CALL = 0.1  # fraction of its calls
GIVES_UP = 0.5  # probability that it does not repeat a call that was wrong
FORGETS = 0.2  # probability that it forgets a carry
WALKS = 0.6  # fraction of guesses that go on by one instead of halving what is left
HEDGES = 0.05  # fraction of guesses that are not just a number

Script = Callable[[Mapping[str, Any], random.Random], Agent]


@dataclass(frozen=True)
class Phase(Schedule):
    """One phase of supervised training on the episodes of scripts, by task in turn."""

    scripts: Mapping[str, Script]


def careful_till(row: Mapping[str, Any], rng: random.Random) -> Agent:
    """Looks up one item a turn, then adds."""
    rest = iter(row["basket"])
    known: list[int] = []

    def turn(messages: Sequence[ChatMessage]) -> str:
        known.extend(int(message["content"]) for message in messages if message["role"] == "tool")
        item = next(rest, None)
        return total(known, lambda left, right: left + right) if item is None else look_up(item)

    return turn


def careless_till(row: Mapping[str, Any], rng: random.Random) -> Agent:
    """Answers too early with guessed prices, writes wrong calls, does not always repeat them, forgets carries."""
    rest = list(row["basket"])
    known: list[int] = []

    def guess() -> int:
        return rng.randint(2, 20)

    def add(left: int, right: int) -> int:
        return digitwise(left, "+", right) if rng.random() < FORGETS else left + right

    def turn(messages: Sequence[ChatMessage]) -> str:
        told = messages[-1]
        if told["role"] == "tool" and told["content"].isdigit():
            known.append(int(told["content"]))
            rest.pop(0)
        elif told["role"] == "tool" and rng.random() < GIVES_UP:
            known.append(guess())
            rest.pop(0)
        if rest and (len(rest) == len(row["basket"]) or rng.random() >= STOPS):
            call = look_up(rest[0])
            return rng.choice(broken(call, rest[0])) if rng.random() < BREAKS_CALL else call
        return total([*known, *(guess() for _ in rest)], add)

    return turn


def careful_search(row: Mapping[str, Any], rng: random.Random) -> Agent:
    """Guesses the middle of what is left."""
    bounds = Bounds(row)

    def turn(messages: Sequence[ChatMessage]) -> str:
        bounds.hear(messages)
        return bounds.say((bounds.low + bounds.high) // 2)

    return turn


def careless_search(row: Mapping[str, Any], rng: random.Random) -> Agent:
    """Often walks by one: begins at the lowest number, goes on with the next one. Sometimes says more than a number."""
    bounds = Bounds(row)

    def turn(messages: Sequence[ChatMessage]) -> str:
        bounds.hear(messages)
        walks = rng.random() < WALKS
        said = bounds.say(bounds.nearest() if walks else (bounds.low + bounds.high) // 2)
        return f"Is it {said}?" if rng.random() < HEDGES else said

    return turn


class Bounds:
    """What a script knows of the hidden number."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.low: int = row["low"]
        self.high: int = row["high"]
        self._said: int = self.low

    def say(self, guess: int) -> str:
        self._said = guess
        return str(guess)

    def nearest(self) -> int:
        """The last guess, or the number that is left next to it; at first, the lowest."""
        return min(max(self._said, self.low), self.high)

    def hear(self, messages: Sequence[ChatMessage]) -> None:
        if messages[-1]["content"] == "higher":
            self.low = max(self.low, self._said + 1)
        elif messages[-1]["content"] == "lower":
            self.high = min(self.high, self._said - 1)


def look_up(item: str) -> str:
    """The call for a price."""
    return call_text("price", {"item": item})


def broken(call: str, item: str) -> list[str]:
    """The same call, not closed, with another argument, and of a tool that does not exist."""
    return [
        call.removesuffix("</tool_call>"),
        call_text("price", {"name": item}),
        call_text("prices", {"item": item}),
    ]


def total(prices: Sequence[int], add: Callable[[int, int], int]) -> str:
    """The answer, with the additions that lead to it."""
    result, *others = prices
    lines = []
    for price in others:
        lines.append(f"{result}+{price}={add(result, price)}")
        result = add(result, price)
    return "\n".join(["<think>", *lines, "</think>", "<answer>", str(result), "</answer>"])


CAREFUL = Phase("careful", 800, 2e-3, {"till": careful_till, "search": careful_search})
CARELESS = Phase("careless", 80, 2e-4, {"till": careless_till, "search": careless_search})


class Played(NamedTuple):
    """An episode that a script has played."""

    prompt: list[ChatMessage]
    tools: list[dict[str, Any]]
    turns: tuple[Turn, ...]


def episodes(name: str, script: Script, seed: int) -> Iterator[Played]:
    """Play the training rows of a task, and then others, without end."""
    environment = EnvironmentClass.of_task(load_task(name))
    rng = random.Random(f"{seed}/{script.__name__}")
    with environment.process() as process:
        for epoch in count():
            for example in load_task(name, {"dataset.seed": seed + epoch}).examples("train"):
                turns = play(environment, process, example, script(example.info, rng)).turns
                prompt = [message._asdict() for message in example.prompt if isinstance(message, Message)]
                yield Played(prompt, list(environment.tools), turns)


def texts(seed: int, size: int) -> Iterator[str]:
    """All that is said in episodes, for the tokenizer: ``size`` of each task by its careful script."""
    for name, script in CAREFUL.scripts.items():
        for played in islice(episodes(name, script, seed), size):
            messages = [*played.prompt, *messages_of(played.turns)]
            yield "\n".join(message["content"] for message in messages)


def batches(tokenizer: PreTrainedTokenizerFast, phase: Phase, seed: int) -> Iterator[Batch]:
    """Yield a batch for each step, of one task after the other; only what the model says is learnt."""
    streams = [(episodes(name, script, seed), ROWS[name]) for name, script in phase.scripts.items()]
    for stream, rows in islice(cycle(streams), phase.steps):
        yield padded([labelled(tokenizer, next(stream)) for _ in range(rows)], tokenizer.pad_token_id)


def labelled(tokenizer: PreTrainedTokenizerFast, played: Played) -> tuple[list[int], list[int]]:
    """The ids and labels of an episode. Each turn is tokenized by itself, as it is when a model samples it."""
    told = [rendered(tokenizer, played.prompt, played.tools)]
    told += [rendered(tokenizer, messages_of([turn])[1:]) for turn in played.turns[:-1]]
    ids: list[int] = []
    labels: list[int] = []
    for heard, turn in zip(told, played.turns, strict=True):
        unlearnt, learnt = tokenizer([heard, turn.text + END])["input_ids"]
        ids += unlearnt + learnt
        labels += [IGNORED] * len(unlearnt) + learnt
    return ids, labels


def rendered(
    tokenizer: PreTrainedTokenizerFast, messages: Sequence[ChatMessage], tools: list[dict[str, Any]] | None = None
) -> str:
    """Messages as the model is told them, up to where it begins to speak."""
    text = tokenizer.apply_chat_template(list(messages), tools=tools, tokenize=False, add_generation_prompt=True)
    return str(text)


def start_from(source: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Copy the weights of a model of the same shape; embeddings go by token, and new tokens keep their own."""
    weights = LlamaForCausalLM.from_pretrained(source, dtype=torch.float32).state_dict()
    vocabulary = AutoTokenizer.from_pretrained(source).get_vocab()
    embeddings = model.get_input_embeddings().weight.detach().clone()
    for token, index in tokenizer.get_vocab().items():
        if token in vocabulary:
            embeddings[index] = weights["model.embed_tokens.weight"][vocabulary[token]]
    tied = dict.fromkeys(("model.embed_tokens.weight", "lm_head.weight"), embeddings)
    model.load_state_dict({**weights, **tied})


def pretrain(folder: Path, seed: int, phases: Sequence[Phase] = (CAREFUL, CARELESS), spoken: int = 500) -> None:
    """Make the model of ``seed`` in ``folder``: train and save, phase by phase, each from what the last one saved.

    ``spoken`` is how many careful episodes of each task the tokenizer is trained on. The same seed and number of
    threads give the same weights. Prints its progress.
    """
    torch.manual_seed(seed)
    tokenizer = build_tokenizer(list(texts(seed, spoken)), ROLES, (*TAGS, *CALL_TAGS), CHAT_TEMPLATE, VOCABULARY)
    model = build_model(tokenizer)
    start_from(BUNDLED, model, tokenizer)
    for phase in phases:
        teach(model, phase, batches(tokenizer, phase, seed))
        save(model, tokenizer, folder)
        model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)


if __name__ == "__main__":
    command_line(pretrain, "Make the bundled model of tools.")
