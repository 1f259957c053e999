"""The settings of each preset, by paper and equation."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # Shao et al. 2024, DeepSeekMath, equations 3 and 4, section 4.1.2; KL coefficient as in its section 4.2.
    "grpo": {
        "advantage.scale": "group",
        "loss.aggregation": "sequence",
        "loss.clip_low": 0.2,
        "loss.clip_high": 0.2,
        "kl.coef": 0.04,
    },
    # Liu et al. 2025, "Understanding R1-Zero-like training": no division by std or by length.
    "dr_grpo": {
        "advantage.scale": "none",
        "loss.aggregation": "constant",
        "loss.clip_low": 0.2,
        "loss.clip_high": 0.2,
        "kl.coef": 0.0,
    },
    # Yu et al. 2025, DAPO, equation 8: token mean, higher upper clip, truncated completions filtered (section 3.4).
    "dapo": {
        "advantage.scale": "group",
        "loss.aggregation": "token",
        "loss.clip_low": 0.2,
        "loss.clip_high": 0.28,
        "kl.coef": 0.0,
        "advantage.truncated": "mask",
    },
    # Zheng et al. 2025, GSPO, equation 5 and section 5.1: the ratio of a whole sequence, hence the narrow clip.
    "gspo": {
        "advantage.scale": "group",
        "loss.aggregation": "sequence",
        "loss.importance_level": "sequence",
        "loss.clip_low": 3e-4,
        "loss.clip_high": 4e-4,
        "kl.coef": 0.0,
    },
    # Chen et al. 2025, MiniMax-M1, equation 4: no lower bound. Its upper one is unpublished; a ratio of 5 is the value
    # of Khatri et al. 2025, "The art of scaling reinforcement learning compute for LLMs".
    "cispo": {
        "advantage.scale": "group",
        "loss.aggregation": "token",
        "loss.surrogate": "cispo",
        "loss.clip_low": 1.0,
        "loss.clip_high": 4.0,
        "kl.coef": 0.0,
    },
    # Gao et al. 2025, "Soft adaptive policy optimization" (arXiv 2511.20347): GRPO without its clip and KL penalty; the
    # ratio goes through sigmoid(tau (r - 1)) 4 / tau, with the temperatures of the paper's experiments.
    "sapo": {
        "advantage.scale": "group",
        "loss.aggregation": "sequence",
        "loss.surrogate": "sapo",
        "loss.tau_pos": 1.0,
        "loss.tau_neg": 1.05,
        "kl.coef": 0.0,
    },
    # Ahmadian et al. 2024, "Back to basics": REINFORCE with a leave-one-out baseline, a sum over tokens.
    "rloo": {
        "advantage.scale": "none",
        "advantage.baseline": "leave_one_out",
        "loss.aggregation": "constant",
        "kl.coef": 0.0,
    },
    # Li et al. 2023, ReMax (arXiv 2310.10505): REINFORCE with the reward of the greedy completion as baseline,
    # sum over t of grad log pi(a_t) (r(x, a) - r(x, greedy)). The paper samples one completion of a prompt.
    "remax": {
        "advantage.baseline": "greedy",
        "advantage.scale": "none",
        "loss.aggregation": "constant",
        "loss.surrogate": "reinforce",
        "kl.coef": 0.0,
    },
    # Tajwar et al. 2026, "Maximum likelihood reinforcement learning" (arXiv 2602.02710), algorithm 1, step 8: sum over
    # the group of (r - mean) / mean grad log pi, and 0 if none is correct. Derived for rewards of 0 and 1.
    "maxrl": {
        "advantage.reward": "correct",
        "advantage.scale": "mean",
        "loss.aggregation": "constant",
        "loss.surrogate": "reinforce",
        "kl.coef": 0.0,
    },
    # Williams 1992, with the group's mean as baseline: no ratio, no clip, no deviation, no length.
    "reinforce": {
        "advantage.scale": "none",
        "loss.aggregation": "constant",
        "loss.surrogate": "reinforce",
        "kl.coef": 0.0,
    },
    # Williams 1992, without a baseline: the advantage of a completion is its reward.
    "reinforce_no_baseline": {
        "advantage.baseline": "none",
        "advantage.scale": "none",
        "loss.aggregation": "constant",
        "loss.surrogate": "reinforce",
        "kl.coef": 0.0,
    },
    # Shao et al. 2024, DeepSeekMath, equations 10 and 11: log-likelihood of the policy's own correct completions.
    "online_rft": {
        "advantage.reward": "correct",
        "advantage.baseline": "none",
        "advantage.scale": "none",
        "loss.aggregation": "sequence",
        "loss.surrogate": "reinforce",
        "kl.coef": 0.0,
    },
}
"""Explicit settings take precedence over a preset, a preset over the defaults."""
