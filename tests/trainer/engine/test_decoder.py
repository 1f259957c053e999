"""Reading prompts: what the head is given."""

from __future__ import annotations

from pathlib import Path

import torch

from grpo_env.trainer.engine.decoder import read
from grpo_env.trainer.engine.policy import load_policy


def test_the_head_reads_a_copy_of_the_last_states(model_folder: Path) -> None:
    """A view with gaps made torch copy a frozen bfloat16 head once for each prompt."""
    policy = load_policy(str(model_folder), device="cpu")
    given: list[torch.Tensor] = []
    policy.model.get_output_embeddings().register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
    prompts = [[3, 4, 5], [6, 7, 8, 9]]
    with torch.no_grad():
        logits, _, _ = read(policy, prompts)
        expected = [policy.model(torch.tensor([prompt])).logits[0, -1] for prompt in prompts]
    assert given[0].shape[:2] == (2, 1)
    assert given[0].is_contiguous()
    torch.testing.assert_close(logits, torch.stack(expected))
