"""Does an engine sample from the policy? Compares the log-probabilities of one completion."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grpo_env.errors import RunError

from ..policy import Policy
from ..sharding import unsharded
from .protocol import OnGroupTokens, SamplingRequest
from .send_weights import compute_dtype

TEXT = "What is 3 + 4? The answer is 7. Why? Because 3 + 4 = 7, and 7 is"
TOKENS = 16
TEMPERATURE = 0.7  # not 1, which would hide an engine that reports log-probabilities at temperature 1

# Nats a token. Rounding to bfloat16 makes about 0.02, and a few updates of the weights can make as little.
MAX_GAP = {torch.float32: 0.01, torch.bfloat16: 0.1, torch.float16: 0.1}

Generate = Callable[[Policy, SamplingRequest, OnGroupTokens], None]


def probe_ids(policy: Policy) -> list[int]:
    """The prompt of the comparison."""
    ids: list[int] = policy.tokenizer.encode(TEXT, add_special_tokens=False)
    return ids


def check_logprobs(policy: Policy, generate: Generate) -> None:
    """Raises ``RunError`` if the log-probabilities that an engine reports for a completion of its own are not those of
    a forward pass of the policy. All processes must call this together.
    """
    prompt, rows = probe_ids(policy), []

    def on_group(number: int, tokens: list[list[int]], logps: list[list[float]]) -> None:
        rows.append((tokens[0], logps[0]))

    generate(policy, SamplingRequest([prompt], 1, TOKENS, TEMPERATURE, ["probe"]), on_group)
    ((tokens, logps),) = rows
    with unsharded(policy), torch.inference_mode(), policy.autocast_context():
        logits = policy.model(torch.tensor([[*prompt, *tokens]], device=policy.device)).logits[0].float()
    expected = torch.log_softmax(logits[len(prompt) - 1 : -1] / TEMPERATURE, -1)
    gap = float((expected[range(len(tokens)), tokens].cpu() - torch.tensor(logps)).abs().mean())
    if gap > MAX_GAP[compute_dtype(policy)]:
        raise RunError(
            f"the log-probabilities differ by {gap:.3f} nats a token from those of {policy.name}, by another model, "
            "other weights, or log-probabilities that are not those of the temperature (processed_logprobs)"
        )
