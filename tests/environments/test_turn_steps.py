"""Step scores and the turns they belong to, also where turns are empty and have the same span."""

import json
from dataclasses import dataclass
from itertools import product

import pytest

from grpo_env.core import Completion, EnvironmentRecord, Example, Score, StepScore, Turn, Verifier, score_one
from grpo_env.environments.turn_steps import turns_of_steps
from grpo_env.verifiers.compose import WeightedSum
from grpo_env.verifiers.parts_and_gates import Part


@dataclass(frozen=True)
class Number(Verifier):
    """The number in the state, which says which turn has raised it."""

    def __call__(self, example, completion):
        return Score(float(json.loads(completion.text)))


@dataclass(frozen=True)
class End(Verifier):
    def __call__(self, example, completion):
        return Score(100.0)


TEXTS = [texts for count in range(1, 5) for texts in product(["", "a"], repeat=count)]


@pytest.mark.parametrize("parts", [0, 1, 2])
def test_a_step_belongs_to_the_turn_that_it_scores_and_the_outcome_to_the_last(parts):
    """The n-th turn raises the state by 2 ** n, and the end is worth 100."""
    of_turns = [Part(f"state{number}", Number(), process=1.0, on="state") for number in range(parts)]
    total = WeightedSum((*of_turns, Part("end", End(), process=1.0)))
    for texts in TEXTS:
        turns, state = [], 0
        for number, text in enumerate(texts):
            start, state = turns[-1].end if turns else 0, state + 2**number
            turns.append(Turn(text, start=start, end=start + len(text), state=state))
        completion = Completion("".join(texts), turns=tuple(turns), environment=EnvironmentRecord(0))
        steps = score_one(total, Example("0"), completion).steps
        expected = [len(texts) - 1 if step.value == 100 else int(step.value).bit_length() - 1 for step in steps]
        assert turns_of_steps(turns, steps) == expected, texts
        assert len(steps) == parts * len(texts) + 1


def test_other_spans_belong_to_the_turn_in_which_they_end():
    turns = [Turn("ab", start=0, end=2), Turn("cd", start=2, end=4)]
    spans = [(0, 1), (0, 2), (0, 3), (3, 4), (0, 9)]
    assert turns_of_steps(turns, [StepScore(*span, 1.0) for span in spans]) == [0, 0, 1, 1, 1]
