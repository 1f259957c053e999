"""Any verifier for each step: spans, what the part reads, what leaves the whole unscored, and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grpo_env.core import (
    BatchVerifier,
    Completion,
    Example,
    Format,
    Group,
    GroupVerifier,
    Message,
    Score,
    Turn,
    Verifier,
)
from grpo_env.errors import UsageError
from grpo_env.taskfile.composition import check_composition
from grpo_env.taskfile.task import make_task, make_verifier
from grpo_env.verifiers.compose import WeightedSum
from grpo_env.verifiers.each_step import MAX_CHARACTERS, EachStep
from grpo_env.verifiers.length import CosineLength, Overlong, TargetLength
from grpo_env.verifiers.parts_and_gates import Part
from grpo_env.verifiers.repetition import Repetition
from grpo_env.verifiers.steps import MAX_STEPS

EXAMPLE = Example("x", (Message("user", "?"),))


@dataclass(frozen=True)
class Long(Verifier):
    """1 for a text of at least five characters."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        if completion.text == "hm":
            return Score(None, "not_applicable", explanation="cannot say")
        return Score(float(len(completion.text) >= 5), explanation=f"{len(completion.text)} characters")


@dataclass(frozen=True)
class Read(BatchVerifier):
    """Keeps what it is asked."""

    asked: list[Any] = field(default_factory=list, compare=False)

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> list[Score]:
        self.asked.append([(completion.prefill, completion.text) for _, completion in pairs])
        return [Score(1.0) for _ in pairs]


@dataclass(frozen=True)
class Rank(GroupVerifier):
    def group(self, example: Example, completions: Sequence[Completion]) -> list[Score]:
        return [Score(0.0) for _ in completions]


def each(verifier: Verifier | None = None, part: dict[str, Any] | None = None, **options: Any) -> EachStep:
    return EachStep(parts=(Part("long", verifier or Long(), **(part or {})),), **options)


def steps(score: Score, text: str) -> list[tuple[str, float]]:
    return [(text[step.start : step.end], step.value) for step in score.steps]


def test_the_value_is_the_mean_and_each_step_has_that_of_the_part() -> None:
    text = "<think>\nfirst\n\n  2nd \nthe third\n</think>\n<answer>\nlonger than five\n</answer>"
    score = each()(EXAMPLE, Completion(text))
    assert score.value == pytest.approx(2 / 3)
    assert steps(score, text) == [("first", 1.0), ("2nd", 0.0), ("the third", 1.0)]
    assert [step.explanation for step in score.steps] == ["5 characters", "3 characters", "9 characters"]
    assert [(part.name, part.value) for part in score.parts] == [("long", score.value)]


@pytest.mark.parametrize(
    ("segments", "text", "values"),
    [
        ("sentence", "Add. Then take.", [0, 1]),
        ("paragraph", "a\nb\nc\n\nd", [1, 0]),
        ("marker", "Step 1: a\nStep 2: b", [1, 1]),
        ("<step>", "so <step>a</step><step>and so on</step>", [0, 1]),
    ],
)
def test_segments(segments: str, text: str, values: list[float]) -> None:
    assert [step.value for step in each(segments=segments)(EXAMPLE, Completion(text)).steps] == values


def test_an_option_of_the_part_is_applied_to_each_step() -> None:
    score = each(part={"values": (-1.0, 1.0)})(EXAMPLE, Completion("longer\nab\nabc"))
    assert score.value == pytest.approx(-1 / 3)
    assert [step.value for step in score.steps] == [1.0, -1.0, -1.0]


def test_an_unscored_step_leaves_the_whole_unscored() -> None:
    score = each()(EXAMPLE, Completion("longer\nhm\nlonger"))
    assert (score.value, score.status, score.steps) == (None, "not_applicable", ())
    assert score.explanation == "long: cannot say"


@pytest.mark.parametrize("text", ["", " \n ", "<think>\n</think>\nanswer"])
def test_no_step_is_no_answer(text: str) -> None:
    score = each()(EXAMPLE, Completion(text))
    assert (score.value, score.status, score.steps) == (0.0, "no_answer", ())


def test_a_completion_without_steps_may_cost_something() -> None:
    whole = WeightedSum((Part("each", each(), statuses={"no_answer": -0.5}),))
    assert whole(EXAMPLE, Completion("")).value == -0.5


def test_limits() -> None:
    assert each()(EXAMPLE, Completion("a\n" * MAX_STEPS)).status == "scored"
    assert each()(EXAMPLE, Completion("a\n" * (MAX_STEPS + 1))).status == "over_limit"
    read = Read()
    long = Completion(("a" * 20_000 + "\n") * 25)  # 0.5 million characters, with the context of each line 6.5 million
    assert 500_000 < MAX_CHARACTERS < 6_500_000
    assert each(read)(EXAMPLE, long).status == "scored"
    assert each(read, context=True)(EXAMPLE, long).status == "over_limit"


def test_a_batch_verifier_is_asked_once_about_all_steps_of_all_completions() -> None:
    read = Read()
    groups = [Group(EXAMPLE, (Completion("a\nb"), Completion(""))), Group(EXAMPLE, (Completion("c"),))]
    scores = each(read).score_groups(groups)
    assert read.asked == [[("", "a"), ("", "b"), ("", "c")]]
    assert [[score.status for score in row] for row in scores] == [["scored", "no_answer"], ["scored"]]


def test_with_context_the_part_reads_what_comes_before() -> None:
    read = Read()
    each(read, context=True)(EXAMPLE, Completion("a\nb</think>c", prefill="<think>\n"))
    assert read.asked == [[("<think>\n", "a"), ("<think>\na\n", "b")]]


def test_spans_are_those_of_the_text_without_its_prefill() -> None:
    text = "3+4=7\nlonger"
    score = each()(EXAMPLE, Completion(text, prefill="<think>\nfirst line\n"))
    assert steps(score, text) == [("3+4=7", 1.0), ("longer", 1.0)]


def test_an_episode_has_the_steps_of_its_last_turn_or_of_each() -> None:
    first, last = Turn("a\nb", start=0, end=3), Turn("longer\nab", start=3, end=12)
    completion = Completion("a\nblonger\nab", turns=(first, last))

    def scored(on: Any) -> Score:
        whole = WeightedSum((Part("each", each(), on=on),))
        return whole(EXAMPLE, completion).parts[0]

    assert steps(scored("last"), completion.text) == [("longer", 1.0), ("ab", 0.0)]
    assert [step.value for step in scored("each").steps] == [0.0, 0.5]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EachStep(parts=()), "needs one part"),
        (lambda: EachStep(parts=(Part("a", Long()), Part("b", Long()))), "one part"),
        (lambda: each(Rank()), "compares completions"),
        (lambda: each(TargetLength(target=4)), "counts tokens has no steps"),
        (lambda: each(Overlong(max_tokens=4)), "counts tokens"),
        (lambda: each(Repetition(unit="token")), "counts tokens"),
        (lambda: each(CosineLength((Part("long", Long()),))), "counts tokens"),
        (lambda: Part("long", TargetLength(target=4), on="each"), "counts tokens has no turns"),
        (lambda: each(part={"on": "each"}), "no turns"),
        (lambda: each(part={"weight": 2.0}), "weights"),
        (lambda: each(segments="lines"), "line"),
    ],
)
def test_wrong_options(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_its_steps_count_in_a_task(tmp_path: Path) -> None:
    spec = {
        "version": 1,
        "task": "x",
        "dataset": {"path": "rows.jsonl"},
        "prompt": {"user": "{{ question }}"},
        "verifiers": {
            "accuracy": {"weight": 2.0},
            "each": {
                "use": "each_step",
                "process": 0.5,
                "of": {"short": {"use": "target_length", "unit": "character", "target": 2}},
            },
        },
        "metric": "accuracy",
    }
    task = make_task(spec, "x.yaml", tmp_path)
    check_composition(task, "process")
    text = "ab\nabc\n4"
    assert steps(task.score(text, answer="4"), text) == [("ab", 0.5), ("abc", 0.25), ("4", 0.25), (text, 2.0)]


def test_in_a_task_file() -> None:
    options = {"segments": "sentence", "of": {"short": {"use": "target_length", "unit": "word", "target": 4}}}
    verifier = make_verifier("each_step", options, "x.yaml", Format())
    assert verifier(EXAMPLE, Completion("Add 3. Then stop.")).value == 0.5
