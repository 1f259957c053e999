"""A reward that looks fine and has 40 exploits; the first page of the documentation shows ten of them.

grpo_env audit examples/naive_reward.yaml --verifiers examples/naive_reward.py
"""

import re
from dataclasses import dataclass

from grpo_env import Case, Completion, Example, Score, Verifier, verifier


def reward(text: str, answer: str) -> float:
    """A point for the answer, 0.1 for each tag."""
    score = 0.0

    # Does it follow the format?
    tags = re.findall(r"</?(think|answer)>", text)
    score += 0.1 * len(tags)

    # Is the right answer in the answer block?
    block = r"<answer>(.*)</answer>"
    found = re.search(block, text, re.DOTALL)
    said = found.group(1) if found else text
    if answer in said:
        score += 1.0

    return score


@verifier("naive_reward")
@dataclass(frozen=True)
class NaiveReward(Verifier):
    """The function above as a verifier."""

    cases = (
        Case("<think>\n12+8-7=13\n</think>\n<answer>\n13\n</answer>", 1.4, "right, in the form", answer="13"),
        Case("<think>\n12+8-7=12\n</think>\n<answer>\n12\n</answer>", 0.4, "wrong, in the form", answer="13"),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(reward(completion.text, example.answer))
