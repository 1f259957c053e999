"""The size of micro-batches where ``engine.micro_batch_tokens`` is not set: on CUDA, what the free memory allows."""

from __future__ import annotations

from ..config import TrainConfig
from .free_memory import MARGIN, free_bytes
from .logprobs import CUDA_CHUNK
from .policy import Policy, count_weights
from .sharding.weights import is_sharded

DEFAULT = 4096
LEAST, MOST, STEP = 1024, 65536, 1024

# Bytes a weight of gradient and moments, which are not there yet when a run begins.
OPTIMIZER_BYTES = {"adamw": 12, "adamw_8bit": 6, "paged_adamw_8bit": 6}
LOGIT_BYTES = 24  # of a logit: itself, its softmax and their gradients


def default_tokens(policy: Policy, config: TrainConfig) -> int:
    """``engine.micro_batch_tokens``, or the number that fits into this process's free memory."""
    if config.engine.micro_batch_tokens is not None:
        return config.engine.micro_batch_tokens
    free = free_bytes(policy.device)
    if free is None:
        return DEFAULT
    return fitting_tokens(free - coming_bytes(policy, config), position_bytes(policy, config))


def fitting_tokens(free: float, per_position: int) -> int:
    """Token positions that fit into ``free`` bytes with a margin: a multiple of ``STEP`` from ``LEAST`` to ``MOST``.

    If ``LEAST`` is too many, memory runs out and micro-batches are halved (see ``oom``).
    """
    tokens = int(MARGIN * free / per_position) // STEP * STEP
    return min(MOST, max(LEAST, tokens))


def coming_bytes(policy: Policy, config: TrainConfig) -> int:
    """Bytes that an update needs beside activations and that are not allocated yet: gradients, moments, rounded copies
    of the weights, and a chunk of logits.
    """
    shards = policy.accelerator.num_processes if is_sharded(policy) else 1
    state = count_weights(policy.trained.values()) * OPTIMIZER_BYTES[config.optimizer.name] // shards
    copies = 2 * policy.parameters if policy.autocast is not None else 0
    return state + copies + (CUDA_CHUNK * LOGIT_BYTES if policy.has_separate_head else 0)


def position_bytes(policy: Policy, config: TrainConfig) -> int:
    """Upper estimate of the bytes that a token position stores for the gradient.

    A layer stores up to 64 D + 16 I bytes in float32 and 56 D + 9 I in bfloat16, for D hidden and I intermediate units:
    fitted to what models of several families store, without what eager attention adds. With gradient checkpointing,
    only its input stays, and one layer is computed at a time. A model whose head is not separate stores all logits.
    """
    model = policy.model.config.get_text_config(decoder=True)
    hidden, intermediate = model.hidden_size, getattr(model, "intermediate_size", None) or 4 * model.hidden_size
    layer = 64 * hidden + 16 * intermediate if policy.autocast is None else 56 * hidden + 9 * intermediate
    layers = model.num_hidden_layers
    states = layers * 4 * hidden + layer if config.engine.gradient_checkpointing else layers * layer
    return int(states + (0 if policy.has_separate_head else policy.vocab_size * LOGIT_BYTES))
