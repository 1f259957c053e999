"""Verifiers of groups and batches, alone and inside composites: their inputs, and isolation of failures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.core import (
    BatchVerifier,
    Completion,
    Example,
    Group,
    GroupVerifier,
    Score,
    StepScore,
    Verifier,
    score_groups,
    score_one,
)
from grpo_env.taskfile.task import make_verifier
from grpo_env.verifiers.compose import AllOf, AnyOf, Clip, WeightedSum
from grpo_env.verifiers.parts_and_gates import Part
from grpo_env.verifiers.schedule import Linear


@dataclass(frozen=True)
class Length(Verifier):
    """The number of characters; a text of ``x`` is unscored, one with ``!`` raises."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        if "!" in completion.text:
            raise ZeroDivisionError("broken")
        return Score(None, "bad_gold") if "x" in completion.text else Score(float(len(completion.text)))


@dataclass(frozen=True)
class Rank(GroupVerifier):
    """How many completions of the group are shorter; the explanation lists the group."""

    def group(self, example: Example, completions: Sequence[Completion]) -> Sequence[Score]:
        if any("?" in completion.text for completion in completions):
            raise ValueError("a question")
        lengths = [len(completion.text) for completion in completions]
        texts = ",".join(completion.text for completion in completions)
        return [Score(float(sum(shorter < length for shorter in lengths)), explanation=texts) for length in lengths]


@dataclass(frozen=True)
class Batch(BatchVerifier):
    """The size of the batch; a step over the first character. ``too_few`` makes it lose a score."""

    too_few: bool = False

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> Sequence[Score]:
        if any("#" in completion.text for _, completion in pairs):
            raise OSError("no server")
        scores = [Score(float(len(pairs)), steps=(StepScore(0, 1, 0.5),), explanation=e.id) for e, _ in pairs]
        return scores[1:] if self.too_few else scores


@dataclass(frozen=True)
class Longer(Verifier):
    """1 if the text is longer than two characters."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(len(completion.text) > 2))


def groups(*texts: Sequence[str]) -> list[Group]:
    return [Group(Example(f"e{n}", answer="4"), list(map(Completion, group))) for n, group in enumerate(texts)]


def table(verifier: Verifier, *texts: Sequence[str]) -> list[list[float | None]]:
    return [[score.value for score in scores] for scores in score_groups(verifier, groups(*texts))]


def test_groups_are_scored_separately_and_batches_together() -> None:
    assert table(Rank(), ["a", "bbb", "cc"], ["d", "ee"]) == [[0, 2, 1], [0, 1]]
    assert table(Batch(), ["a", "bbb", "cc"], ["d", "ee"]) == [[5, 5, 5], [5, 5]]
    assert [[score.explanation for score in row] for row in score_groups(Batch(), groups(["a"], [], ["b", "c"]))] == [
        ["e0"],
        [],
        ["e2", "e2"],
    ]


def test_no_groups_and_empty_groups() -> None:
    for verifier in (Length(), Rank(), Batch(), WeightedSum((Part("r", Rank()), Part("b", Batch(), when="r")))):
        assert table(verifier) == []
        assert table(verifier, [], []) == [[], []]


def test_one_completion_is_a_group_of_one() -> None:
    example, completion = Example("x"), Completion("abc")
    assert Rank()(example, completion).value == 0.0
    assert Batch()(example, completion).value == 1.0
    assert score_one(WeightedSum((Part("r", Rank()), Part("b", Batch()))), example, completion).value == 1.0


def test_a_failure_does_not_affect_other_groups() -> None:
    assert table(Length(), ["a", "!", "x", "bb"], ["c"]) == [[1, None, None, 2], [1]]
    assert table(Rank(), ["a", "?"], ["b", "cc"]) == [[None, None], [0, 1]]
    assert table(Batch(), ["a", "#"], ["b"]) == [[None, None], [None]]
    assert table(Batch(too_few=True), ["a", "b"]) == [[None, None]]
    (score, _), _ = score_groups(Batch(too_few=True), groups(["a", "b"], ["c"]))
    assert (score.status, "2 scores for 3" in score.explanation) == ("error", True)


def test_a_broken_part_does_not_affect_its_siblings() -> None:
    verifier = WeightedSum((Part("len", Length()), Part("rank", Rank()), Part("batch", Batch(), 0.0)))
    (first, second), (third,) = score_groups(verifier, groups(["a", "??"], ["#"]))
    assert [score.value for score in (first, second, third)] == [None, None, 1.0]
    assert [part.value for part in first.parts] == [1.0, None, None]
    assert first.status == "error"
    assert [part.value for part in third.parts] == [1.0, 0.0, None]


def test_a_group_verifier_behind_a_gate_sees_only_completions_that_pass() -> None:
    verifier = WeightedSum((Part("rank", Rank(), when="gate"), Part("gate", Longer(), 0.0)))
    first, second, third = score_groups(verifier, groups(["a", "bbb", "cccc", "dd"], ["e", "f"], ["gggg"]))
    assert [score.value for score in first] == [0, 0, 1, 0]
    assert [score.part("rank").explanation for score in first] == [
        "not counted, because gate is 0",
        "bbb,cccc",
        "bbb,cccc",
        "not counted, because gate is 0",
    ]
    assert [score.value for score in second] == [0, 0]
    assert [(score.value, score.part("rank").explanation) for score in third] == [(0, "gggg")]


def test_a_batch_behind_a_gate_has_only_completions_that_pass() -> None:
    verifier = WeightedSum((Part("batch", Batch(), when="gate"), Part("gate", Longer(), 0.0)))
    assert table(verifier, ["a", "bbb"], ["ccc", "ddd"], ["e"]) == [[0, 3], [3, 3], [0]]
    assert table(verifier, ["a", "#"], ["ccc"]) == [[0, 0], [1]]  # what does not pass cannot break the batch


def test_a_group_verifier_as_a_gate() -> None:
    """All but the shortest pass; chained, a batch sees what passes both gates."""
    parts = (Part("rank", Rank(), 0.0), Part("long", Longer(), when="rank"), Part("batch", Batch(), when="long"))
    assert table(WeightedSum(parts), ["a", "bbb", "ccc", "dd"], ["ee", "ff"]) == [[0, 3, 3, 0], [0, 0]]


def test_an_unscored_gate_affects_only_its_own_completion() -> None:
    verifier = WeightedSum((Part("rank", Rank(), when="len"), Part("len", Length(), 0.0)))
    (row,) = score_groups(verifier, groups(["a", "xx", "ccc"]))
    assert [score.value for score in row] == [0, None, 1]
    assert [score.status for score in row] == ["scored", "not_applicable", "scored"]


def test_clip_any_of_and_all_of_over_groups() -> None:
    parts = (Part("rank", Rank()), Part("long", Longer()))
    texts = ["a", "bbb", "cc"]
    assert table(Clip(parts, high=1.5), texts) == [[0, 1.5, 1]]
    assert table(AnyOf(parts), texts) == [[0, 2, 1]]
    assert table(AllOf(parts), texts) == [[0, 1, 0]]


def test_groups_reach_through_nested_composites() -> None:
    inner = AllOf((Part("rank", Rank()), Part("any", AnyOf((Part("deep", Rank()),)))))
    verifier = WeightedSum((Part("gate", Longer(), 0.0), Part("inner", inner, when="gate")))
    assert table(verifier, ["a", "bbb", "cccc"]) == [[0, 0, 1]]


def test_schedules_over_groups() -> None:
    verifier = WeightedSum((Part("rank", Rank(), Linear(0.0, 1.0, 10)),))
    for step, weight in ((0, 0.0), (5, 0.5), (99, 1.0)):
        assert table(verifier.at(step), ["a", "bb"]) == [[0, weight]]


def test_steps_of_a_batch() -> None:
    verifier = WeightedSum((Part("batch", Batch(), 0.0, process=2.0), Part("rank", Rank(), 0.0, process=1.0)))
    (row,) = score_groups(verifier, groups(["a", "bb"]))
    assert [[(step.end, step.value) for step in score.steps] for score in row] == [
        [(1, 1.0), (1, 0.0)],
        [(1, 1.0), (2, 1.0)],
    ]


def test_scores_of_groups_survive_json() -> None:
    verifier = WeightedSum((Part("rank", Rank()), Part("batch", Batch(), 0.0, process=1.0), Part("len", Length(), 0.0)))
    for score in score_groups(verifier, groups(["a", "x", "!"]))[0]:
        assert Score.from_dict(json.loads(json.dumps(score.to_dict()))) == score


def test_seconds_add_up() -> None:
    (row,) = score_groups(WeightedSum((Part("rank", Rank()), Part("len", Length()))), groups(["a", "b"]))
    assert all(score.seconds == pytest.approx(sum(part.seconds for part in score.parts)) for score in row)


OF = {"of": {"accuracy": {}}}
EVERYTHING = {
    "of": {
        "accuracy": {},
        "majority": {},
        "rank": {"use": "length_rank", **OF},
        "cosine_length": {**OF, "max_tokens": 50, "when": "majority"},
        "overlong": {"max_tokens": 30, "weight": 0.5},
        "either": {"use": "any_of", "of": {"majority": {}, "tag_count": {}}},
    }
}
BUILT: dict[str, Any] = {"majority": {}, "length_rank": OF, "weighted_sum": EVERYTHING}
TEXTS = st.sampled_from(
    ["4", "<answer>4</answer>", "5", r"\boxed{8/2}", "no", "<think>4", "we say 4\n4", "we say 5\n5", ""]
)
COMPLETIONS = st.builds(lambda text, tokens: Completion(text, num_tokens=tokens), TEXTS, st.integers(0, 60))


def verdicts(verifier: Verifier, group: Group) -> list[tuple[float | None, str]]:
    return [(score.value, score.status) for score in score_groups(verifier, [group])[0]]


@pytest.mark.parametrize("name", BUILT)
@given(completions=st.lists(COMPLETIONS, min_size=1, max_size=7), data=st.data())
@settings(max_examples=40, deadline=None)
def test_permuting_a_group_permutes_its_scores(name: str, completions: list[Completion], data: st.DataObject) -> None:
    verifier = make_verifier(name, BUILT[name], "test")
    order = data.draw(st.permutations(range(len(completions))))
    plain = verdicts(verifier, Group(Example("x", answer="4"), completions))
    permuted = verdicts(verifier, Group(Example("x", answer="4"), [completions[index] for index in order]))
    assert permuted == [plain[index] for index in order]


@pytest.mark.parametrize("name", BUILT)
@given(first=st.lists(COMPLETIONS, max_size=4), second=st.lists(COMPLETIONS, max_size=4))
@settings(max_examples=30, deadline=None)
def test_the_scores_of_a_group_do_not_depend_on_other_groups(
    name: str, first: list[Completion], second: list[Completion]
) -> None:
    verifier = make_verifier(name, BUILT[name], "test")
    groups = [Group(Example("a", answer="4"), first), Group(Example("b", answer="5"), second)]
    joint = [[(score.value, score.status) for score in row] for row in score_groups(verifier, groups)]
    assert joint == [verdicts(verifier, group) for group in groups]


@given(completions=st.lists(COMPLETIONS, max_size=5))
@settings(max_examples=40, deadline=None)
def test_plain_verifiers_score_a_group_like_single_completions(completions: list[Completion]) -> None:
    plain = {"accuracy": {}, "tag_count": {"when": "accuracy"}, "overlong": {"max_tokens": 30}, "equation_steps": {}}
    verifier = make_verifier("weighted_sum", {"of": plain}, "test")
    example = Example("x", answer="4")
    single = [score_one(verifier, example, completion) for completion in completions]
    assert verdicts(verifier, Group(example, completions)) == [(score.value, score.status) for score in single]
