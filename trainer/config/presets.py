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
}
"""Explicit settings take precedence over a preset, a preset over the defaults."""
