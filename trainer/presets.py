"""What a preset sets, by paper and equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # Shao et al. 2024, DeepSeekMath, equations 3 and 4, section 4.1.2; KL coefficient as in its section 4.2.
    "grpo": {"scale": "group", "aggregate": "sequence", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.04},
    # Liu et al. 2025, "Understanding R1-Zero-like training": no division by std or by length.
    "dr_grpo": {"scale": "none", "aggregate": "constant", "clip_low": 0.2, "clip_high": 0.2, "kl_coef": 0.0},
    # Yu et al. 2025, DAPO, equation 8: token mean, higher upper clip, truncated completions filtered (section 3.4).
    "dapo": {
        "scale": "group",
        "aggregate": "token",
        "clip_low": 0.2,
        "clip_high": 0.28,
        "kl_coef": 0.0,
        "truncated": "mask",
    },
    # Zheng et al. 2025, GSPO, equation 5 and section 5.1: the ratio of a whole sequence, hence the narrow clip.
    "gspo": {
        "scale": "group",
        "aggregate": "sequence",
        "ratio": "sequence",
        "clip_low": 3e-4,
        "clip_high": 4e-4,
        "kl_coef": 0.0,
    },
    # Chen et al. 2025, MiniMax-M1, equation 4: no lower bound. Its upper one is unpublished; a ratio of 5 is the value
    # of Khatri et al. 2025, "The art of scaling reinforcement learning compute for LLMs".
    "cispo": {
        "scale": "group",
        "aggregate": "token",
        "surrogate": "cispo",
        "clip_low": 1.0,
        "clip_high": 4.0,
        "kl_coef": 0.0,
    },
    # Ahmadian et al. 2024, "Back to basics": REINFORCE with a leave-one-out baseline, a sum over tokens.
    "rloo": {"scale": "none", "leave_one_out": True, "aggregate": "constant", "kl_coef": 0.0},
    # Williams 1992, with the group's mean as baseline: no ratio, no clip, no deviation, no length.
    "reinforce": {"scale": "none", "aggregate": "constant", "surrogate": "reinforce", "kl_coef": 0.0},
}
"""What each preset sets. An explicit setting wins over the preset, the preset over the field's default."""


def expand(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` on top of what their ``preset`` sets, if they name one."""
    return {**PRESETS.get(str(settings.get("preset")), {}), **settings}
