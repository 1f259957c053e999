"""How many prompts our own sampler takes at once: on CUDA, as many as are estimated to fit into the free memory.

The estimate is for the longest prompt and for completions that all have the maximum length.
"""

from __future__ import annotations

import torch

from ..cache import SPARE_TOKENS, position_bytes
from ..decoder import Decoder
from ..free_memory import MARGIN, free_bytes
from ..policy import Policy
from .protocol import SamplingRequest

LOGIT_BYTES = 12  # of a row's logit: itself, its probability and the sum of probabilities up to it


def fitting_prompts(policy: Policy, decoder: type[Decoder], request: SamplingRequest) -> int | None:
    """Prompts whose rows fit into this process's free memory, at least 1; ``None`` on a CPU, where it is not known."""
    free = free_bytes(policy.device)
    if free is None:
        return None
    rounds_weights = policy.autocast is not None and policy.model.dtype == torch.float32
    rounded_copies = 2 * policy.parameters if rounds_weights else 0
    return max(1, int(MARGIN * (free - rounded_copies) / group_bytes(policy, decoder, request)))


def group_bytes(policy: Policy, decoder: type[Decoder], request: SamplingRequest) -> int:
    """Upper estimate of the bytes for a prompt and its rows.

    Keys and values of the prompt are stored until the end. Besides them there are first the states of one layer for
    the whole prompt, and later the rows' keys and values (a layer is copied to grow or to drop rows), the states of
    one token per row, its logits, and, if they are kept, a copy of its keys and values. Not counted are attention
    weights, which fused kernels do not store.
    """
    model = policy.model.config.get_text_config(decoder=True)
    intermediate = getattr(model, "intermediate_size", None) or 4 * model.hidden_size
    state = 4 * (6 * model.hidden_size + 4 * intermediate)
    prompt = max(map(len, request.prompts))
    positions, cached = decoder.row_positions(policy, prompt, request.max_new_tokens), position_bytes(policy)
    rows = positions * (cached + cached // model.num_hidden_layers) + state + policy.vocab_size * LOGIT_BYTES
    if request.prefix_cache is not None:
        rows += (prompt + request.max_new_tokens) * cached
    return int((prompt + SPARE_TOKENS) * cached + max(prompt * state, request.group_size * rows))
