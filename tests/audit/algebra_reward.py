"""TRL's accuracy_reward (and open-r1's), in words of our own: imports when the file is loaded, as there."""

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

CONFIG = LatexExtractionConfig(
    normalization_config=NormalizationConfig(units=True), boxed_match_priority=0, try_extract_without_anchor=False
)


def accuracy_by_algebra(completions, solution, **kwargs):
    rewards = []
    for completion, gold in zip(completions, solution, strict=True):
        text = completion if isinstance(completion, str) else completion[0]["content"]
        parsed = parse(gold, parsing_timeout=None)
        said = parse(text, extraction_config=[CONFIG], extraction_mode="first_match", parsing_timeout=None)
        rewards.append(float(verify(parsed, said, timeout_seconds=None)) if parsed else None)
    return rewards
