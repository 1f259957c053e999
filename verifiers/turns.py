"""Verifiers of episodes: tool calls, the number of turns, and the environment's own reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from grpo_env.core import (
    Call,
    Case,
    Completion,
    EnvironmentRecord,
    Example,
    Result,
    Score,
    StepScore,
    Turn,
    Verifier,
)
from grpo_env.errors import UsageError
from grpo_env.plural import counted
from grpo_env.registry import verifier

_NO_REWARD = "there is no reward of get_reward: the episode has not ended, or the environment has no such method"
_WRONG = ("unreadable", "unknown_tool", "wrong_arguments")


def _turns(*problems: str | None) -> Completion:
    """An example of an episode: a turn with a call for each problem, and one without a call for each ``None``."""
    turns: tuple[Turn, ...] = ()
    for number, problem in enumerate(problems):
        call = () if problem is None else (Call(f"call{number:05}", "price", {"item": "tea"}),)
        result = () if problem is None else (Result(f"call{number:05}", "2", problem),)  # type: ignore[arg-type]
        text = "7" if problem is None else "<tool_call>...</tool_call>"
        start = turns[-1].end if turns else 0
        turns += (Turn(text, call, result, "stop", start, start + len(text)),)
    return Completion("".join(turn.text for turn in turns), "stop", turns=turns, environment=EnvironmentRecord())


@verifier("tool_calls")
@dataclass(frozen=True)
class ToolCalls(Verifier):
    """The fraction of turns with tool calls in which every call can be run, with a step score (1 or 0) for each.

    A call can be run if it can be read, names a tool, and has the arguments that the tool takes. That the tool then
    raises or is late does not count. A turn without calls has no step. Without any call the status is ``no_answer``. An
    episode that was recorded without its tools is unscored.
    """

    reads_turns: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case(_turns("", "", None), 1.0, "two calls that could be run, then the answer"),
        Case(_turns("", "unknown_tool", None), 0.5, "one of two calls names no tool"),
        Case(_turns("unreadable"), 0.0, "the call is not JSON"),
        Case(_turns("raised"), 1.0, "the tool raised: the call itself was right"),
        Case(_turns(None), 0.0, "no call"),
        Case("7", 0.0, "a single turn"),
        Case(_turns("unknown", None), None, "recorded without the tools"),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        if any(result.problem == "unknown" for turn in completion.turns for result in turn.results):
            why = "the recording does not say which tools there were (a column tools); the calls cannot be compared"
            return Score(None, "not_applicable", explanation=why)
        steps = tuple(_step(turn) for turn in completion.turns if turn.calls)
        if not steps:
            return Score(0.0, "no_answer", explanation="no tool was called")
        right = sum(step.value for step in steps)
        return Score(right / len(steps), explanation=f"{right:g} of {len(steps)} turns with calls", steps=steps)


def _step(turn: Turn) -> StepScore:
    problem = next((result.problem for result in turn.results if result.problem in _WRONG), None)
    return StepScore(turn.start, turn.end, float(problem is None), (problem or "called").replace("_", " "))


@verifier("turns")
@dataclass(frozen=True)
class Turns(Verifier):
    """1 for one turn, falling to 0 at a number of turns: a budget.

    With ``n`` turns it is ``(most - n) / (most - 1)``, at least 0. A completion without turns is one turn.
    """

    most: int
    """The number of turns from which the value is 0; 2 or more."""

    reads_turns: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case(_turns("", None), 0.75, "(5 - 2) / (5 - 1)", options={"most": 5}),
        Case(_turns("", "", "", None), 0.0, "at the budget", options={"most": 4}),
        Case("7", 1.0, "a single turn", options={"most": 4}),
    )

    def __post_init__(self) -> None:
        if self.most < 2:
            raise UsageError(f"turns: most must be at least 2, not {self.most}")

    def __call__(self, example: Example, completion: Completion) -> Score:
        count = len(completion.turns) or 1
        value = (self.most - count) / (self.most - 1)
        return Score(max(0.0, value), explanation=counted(count, "turn"))


@verifier("environment_reward")
@dataclass(frozen=True)
class EnvironmentReward(Verifier):
    """What the environment's own ``get_reward`` returned at the end of the episode.

    A call that was late ended the environment before it could be asked: the value is 0, with status ``timeout``. An
    episode without such a reward is unscored.
    """

    reads_turns: ClassVar[bool] = True
    cases: ClassVar[tuple[Case, ...]] = (
        Case(Completion("7", environment=EnvironmentRecord(reward=0.5)), 0.5, "get_reward returned 0.5"),
        Case(Completion("7", environment=EnvironmentRecord(late=True)), 0.0, "a tool was late"),
        Case(Completion("7", environment=EnvironmentRecord()), None, "the class has no get_reward"),
        Case("7", None, "no environment"),
    )

    def __call__(self, example: Example, completion: Completion) -> Score:
        record = completion.environment
        if record is not None and record.late:
            return Score(0.0, "timeout", explanation="a call was late, which ended the environment")
        if record is None or record.reward is None:
            why = "no reward of an environment was recorded" if record is None else _NO_REWARD
            return Score(None, "not_applicable", explanation=why)
        return Score(record.reward, explanation="what the environment's get_reward returned")
