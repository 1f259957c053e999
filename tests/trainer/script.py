"""A chat template for conversations, an engine that says what a script says, and one that keeps what it sampled."""

from __future__ import annotations

from collections.abc import Callable

from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import OnGroupTokens, RolloutEngine, SamplingRequest

TEMPLATE = (
    "{% if tools %}tools {{ tools | length }}<stop>{% endif %}"
    "{% for message in messages %}{{ message.role }}: {{ message.content }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<end>\n"
    "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Keeps its past, and writes one token, the end of a line, after the end token of a turn."""


class ScriptedEngine(RolloutEngine):
    """Says what ``script`` answers to the number of a row and of its turn, and then the end token."""

    def __init__(self, script: Callable[[int, int], str]) -> None:
        self._script = script

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        for number, seed in enumerate(request.seeds):
            row, turn = map(int, seed.split("/")[-2:])
            text = self._script(row, turn)
            ids = policy.tokenizer(text, add_special_tokens=False)["input_ids"] + policy.end_ids[:1]
            ids = ids[: request.limits[number]]
            on_group(number, [ids] * request.group_size, [[-0.5] * len(ids)] * request.group_size)


class RecordingEngine(RolloutEngine):
    """The library's own engine; ``turns`` holds the prompt, tokens and log-probabilities of everything it sampled."""

    def __init__(self) -> None:
        self.own, self.turns, self.waves = OwnEngine(), [], []

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        ends = set(policy.end_ids)

        def record(number: int, rows: list[list[int]], logps: list[list[float]]) -> None:
            for tokens, row_logps in zip(rows, logps, strict=True):
                ended = next((at + 1 for at, token in enumerate(tokens) if token in ends), len(tokens))
                length = min(ended, request.limits[number])
                self.turns.append((list(request.prompts[number]), tokens[:length], row_logps[:length]))
            on_group(number, rows, logps)

        self.waves.append(len(request.prompts))
        self.own.generate(policy, request, record)
