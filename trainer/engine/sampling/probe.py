"""Does an engine sample from the policy? Compares the log-probabilities of one completion."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..policy import Policy
from ..sharding.weights import unsharded
from .protocol import OnGroupTokens, SamplingRequest

TEXT = "What is 3 + 4? The answer is 7. Why? Because 3 + 4 = 7, and 7 is"
TOKENS = 16
TEMPERATURE = 0.7  # not 1, which would hide an engine that reports log-probabilities at temperature 1

MAX_GAP = 0.1
"""Nats a token. Rounding to bfloat16 makes about 0.02."""

Generate = Callable[[Policy, SamplingRequest, OnGroupTokens], None]


def probe_ids(policy: Policy) -> list[int]:
    """The prompt of the comparison."""
    ids: list[int] = policy.tokenizer.encode(TEXT, add_special_tokens=False)
    return ids


def logprob_gap(policy: Policy, generate: Generate) -> float:
    """Mean absolute difference, in nats, between the log-probabilities that an engine reports for a completion of its
    own and those of a forward pass. All processes must call this together.
    """
    prompt, rows = probe_ids(policy), []

    def on_group(number: int, tokens: list[list[int]], logps: list[list[float]]) -> None:
        rows.append((tokens[0], logps[0]))

    generate(policy, SamplingRequest([prompt], 1, TOKENS, TEMPERATURE, ["probe"]), on_group)
    ((tokens, logps),) = rows
    with unsharded(policy), torch.inference_mode(), policy.autocast_context():
        logits = policy.model(torch.tensor([[*prompt, *tokens]], device=policy.device)).logits[0].float()
    expected = torch.log_softmax(logits[len(prompt) - 1 : -1] / TEMPERATURE, -1)
    difference = expected[range(len(tokens)), tokens].cpu() - torch.tensor(logps)
    return float(difference.abs().mean())
