"""What a part judges in an episode of several turns: its last turn, each turn, or the environment's states."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from grpo_env.core import Completion, Example, Score, StepScore, Turn
from grpo_env.plural import counted

TOO_LARGE = " (the state is too large to be recorded, and counts as 0)"

On = Literal["last", "each", "state"]


def views(completion: Completion, on: On, whole: bool) -> tuple[Completion, ...]:
    """The completions that a verifier scores, for ``folded``. ``whole``: it reads the turns itself.

    None if the environment failed, or a state is asked for and none was recorded.
    """
    record = completion.environment
    if record is not None and record.failure:
        return ()
    if on == "state":
        states = [record.state if record else None, *(turn.state for turn in completion.turns)]
        if not completion.turns or all(state is None for state in states):
            return ()
        return tuple(
            replace(completion, text="null" if state is None else json.dumps(state), prefill="", turns=())
            for state in states
        )
    if not completion.turns or (whole and on == "last"):
        return (completion,)
    if on == "last":
        return (_of_turn(completion, completion.turns[-1], whole=False),)
    return tuple(replace(_of_turn(completion, turn, whole), num_tokens=None) for turn in completion.turns)


def example_read(example: Example, completion: Completion) -> Example:
    """The example with the prompt that the model has read, to which the environment may have added something."""
    record = completion.environment
    if record is None or not record.told or isinstance(example.prompt, str):
        return example
    return replace(example, prompt=record.add_once_to(example.prompt))


def folded(scores: Sequence[Score], completion: Completion, on: On, whole: bool) -> Score:
    """One score of a completion from those of its ``views``; its steps are spans of the whole text."""
    record = completion.environment
    if record is not None and record.failure:
        return Score(None, "error", explanation=f"the environment failed: {record.failure}")
    if not scores:
        return Score(None, "not_applicable", explanation="no state of an environment was recorded")
    missing = next((score for score in scores if not score.scored), None)
    if missing is not None:
        return missing
    if on == "last":
        score = scores[0]
        return score if whole or not completion.turns else _shifted(score, completion.turns[-1].start)
    return _last_state(scores, completion) if on == "state" else _mean_of_turns(scores, completion, whole)


def _last_state(scores: Sequence[Score], completion: Completion) -> Score:
    """The value of the last state; steps are the gains."""
    states = [completion.environment.state if completion.environment else None]
    states += [turn.state for turn in completion.turns]
    values = [0.0 if state is None else score.value or 0.0 for state, score in zip(states, scores, strict=True)]
    gains = [after - before for before, after in pairwise(values)]
    why = f"from {values[0]:g} to {values[-1]:g} over {counted(len(gains), 'turn')}" + (
        TOO_LARGE if states[-1] is None else ""
    )
    told = [
        f"the state: {before:g} -> {after:g}" + (TOO_LARGE if state is None else "")
        for (before, after), state in zip(pairwise(values), states[1:], strict=True)
    ]
    seconds = sum(score.seconds for score in scores)
    return Score(values[-1], explanation=why, steps=_steps(completion, gains, told), seconds=seconds)


def _mean_of_turns(scores: Sequence[Score], completion: Completion, whole: bool) -> Score:
    seconds = sum(score.seconds for score in scores)
    values = [score.value or 0.0 for score in scores]
    steps = _steps(completion, values, [score.explanation for score in scores])
    if whole:  # it found nothing to judge in some turns: no call in the final answer, say
        judged = [step for step, score in zip(steps, scores, strict=True) if score.status != "no_answer"]
        if not judged:
            return replace(scores[-1], seconds=seconds)
        steps, values = tuple(judged), [step.value for step in judged]
    why = f"mean of {counted(len(values), 'turn')}"
    return Score(sum(values) / len(values), explanation=why, steps=steps, seconds=seconds)


def _of_turn(completion: Completion, turn: Turn, whole: bool) -> Completion:
    turns = (replace(turn, start=0, end=len(turn.text)),) if whole else ()
    return replace(completion, text=turn.text, finish=turn.finish, token_ids=None, turns=turns)


def _steps(completion: Completion, values: Sequence[float], told: Sequence[str]) -> tuple[StepScore, ...]:
    spans = [(turn.start, turn.end) for turn in completion.turns] or [(0, len(completion.text))]
    return tuple(
        StepScore(start, end, value, why) for (start, end), value, why in zip(spans, values, told, strict=True)
    )


def _shifted(score: Score, by: int) -> Score:
    if not by or not (score.steps or score.parts):
        return score
    steps = tuple(replace(step, start=step.start + by, end=step.end + by) for step in score.steps)
    return replace(score, steps=steps, parts=tuple(_shifted(part, by) for part in score.parts))
