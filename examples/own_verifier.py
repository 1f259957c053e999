"""A custom verifier: how many of the problem's numbers does the reasoning use?

grpo_env verifiers check examples/own_verifier.py
grpo_env train examples/own_data.yaml --verifiers examples/own_verifier.py \
    'verifiers.numbers={use: uses_the_numbers, weight: 0.2, when: accuracy}'

It rewards numbers, not what is done with them. Hence the gate ``when: accuracy`` above, and the last of its
cases, which documents the hack.
"""

import re
from dataclasses import dataclass, field

from grpo_env import Case, Completion, Example, Format, Score, Verifier, verifier
from grpo_env.verifiers.blocks import reasoning_span

PROBLEM = {"problem": "Leo has 12 pens and finds 8. How many now?"}


@verifier("uses_the_numbers")
@dataclass(frozen=True)
class UsesTheNumbers(Verifier):
    """The fraction of the problem's numbers that appear in the reasoning."""

    column: str = "problem"
    """The column with the problem."""
    format: Format = field(default_factory=Format)

    cases = (
        Case("<think>12+8=20</think>", 1.0, "both", info=PROBLEM),
        Case("<think>12+80=92</think>", 0.5, "80 is not 8", info=PROBLEM),
        Case("12 and 8 make 20", 0.0, "no reasoning block", info=PROBLEM),
        Case("<think>hm</think>", None, "the problem has no numbers", info={"problem": "Why?"}),
        Case("<think>8 12</think>", 1.0, "hack: numbers without reasoning", info=PROBLEM),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        expected = set(re.findall(r"[0-9]+", str(example.info[self.column])))
        if not expected:
            return Score(None, "not_applicable", explanation="the problem has no numbers")
        first, last = reasoning_span(completion.text, self.format) or (0, 0)
        used = expected & set(re.findall(r"[0-9]+", completion.text[first:last]))
        return Score(len(used) / len(expected), explanation=f"{len(used)} of {len(expected)} numbers")
