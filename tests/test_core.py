"""Score, judge and the registry: what every other part relies on."""

import json
import pickle
from dataclasses import dataclass, replace

import pytest

from grpo_env.core import (
    FAULTS,
    UNSCORED,
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
from grpo_env.errors import UsageError
from grpo_env.registry import BUILT_IN, find, names, verifier


@dataclass(frozen=True)
class Explodes(Verifier):
    def __call__(self, example, completion):
        raise ZeroDivisionError("boom")


@pytest.mark.parametrize("status", UNSCORED)
def test_an_unscored_status_never_carries_a_value(status):
    assert not Score(None, status).scored
    with pytest.raises(ValueError, match=status):
        Score(0.0, status)


@pytest.mark.parametrize("status", ["scored", *FAULTS])
def test_a_verdict_always_carries_a_value(status):
    assert Score(0.0, status).scored
    with pytest.raises(ValueError, match=status):
        Score(None, status)


def test_what_a_verifier_raises_becomes_an_unscored_score():
    score = score_one(Explodes(), Example("1"), Completion("x"), name="part")
    assert (score.value, score.status, score.name) == (None, "error", "part")
    assert "ZeroDivisionError: boom" in score.explanation


@dataclass(frozen=True)
class Longest(GroupVerifier):
    def group(self, example, completions):
        most = max(len(completion.text) for completion in completions)
        if most > 5:
            raise ValueError("too long")
        return [Score(float(len(completion.text) == most)) for completion in completions]


@dataclass(frozen=True)
class Number(BatchVerifier):
    def batch(self, pairs):
        return [Score(float(index)) for index, (_, completion) in enumerate(pairs) if completion.text != "lost"]


def values(verifier, *groups):
    asked = [Group(Example("1"), [Completion(text) for text in texts]) for texts in groups]
    return [[score.value for score in scores] for scores in score_groups(verifier, asked)]


def test_a_group_verifier_sees_one_group_at_a_time():
    assert values(Longest(), ["a", "bbb", "ccc"], ["x"]) == [[0, 1, 1], [1]]
    assert score_one(Longest(), Example("1"), Completion("a")).value == 1


def test_a_group_that_fails_leaves_the_others_alone():
    assert values(Longest(), ["a", "bbb"], ["123456", "1"]) == [[0, 1], [None, None]]


def test_a_batch_verifier_sees_all_pairs_at_once_and_keeps_the_shape():
    assert values(Number(), ["a", "b"], [], ["c"]) == [[0, 1], [], [2]]
    assert values(Number()) == []


def test_too_few_scores_are_an_error_and_not_a_shift():
    assert values(Number(), ["a", "lost"], ["c"]) == [[None, None], [None]]


@dataclass(frozen=True)
class Bare(Verifier):
    def __call__(self, example, completion):
        return 1.0


def test_a_number_is_no_score():
    score = score_one(Bare(), Example("1"), Completion("x"))
    assert score.explanation == "TypeError: the verifier gave 1.0, not a Score"


@dataclass(frozen=True)
class Careless(Bare):
    def score_groups(self, groups):
        raise RuntimeError("no connection")


def test_a_verifier_that_judges_groups_in_a_way_of_its_own_cannot_end_a_run():
    assert values(Careless(), ["a", "b"], ["c"]) == [[None, None], [None]]


def test_a_score_survives_json_and_pickle():
    leaf = Score(0.5, name="leaf", weight=2.0, answer="a", steps=(StepScore(0, 3, 1.0, "fine"),))
    whole = Score(1.0, name="total", parts=(leaf, Score(None, "error", name="other", explanation="why")))
    assert Score.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole


def test_a_labelled_copy_is_that_of_dataclasses():
    score = Score(0.5, "scored", "whole", answer="4", parts=(Score(None, "error", "part"),), seconds=1.0)
    label = {"name": "new", "weight": 2.0, "process": 0.5, "seconds": 3.0}
    copy = score.labelled(**label)
    assert copy == replace(score, **label)
    assert hash(copy) == hash(replace(score, **label))
    assert (score.name, score.weight, score.process, score.seconds) == ("whole", 1.0, 0.0, 1.0)
    with pytest.raises(TypeError, match="found value"):
        score.labelled(value=1.0)


def test_part_finds_at_any_depth_and_says_what_is_missing():
    inner = Score(1.0, name="inner")
    whole = Score(1.0, name="total", parts=(Score(1.0, name="outer", parts=(inner,)),))
    assert whole.part("inner") is inner
    with pytest.raises(KeyError, match="absent"):
        whole.part("absent")


def test_a_score_prints_its_tree():
    parts = (Score(1.0, name="accuracy", weight=2.0, explanation="18 = 18"), Score(None, "error", name="other"))
    lines = str(Score(None, "error", name="total", parts=parts)).splitlines()
    assert lines == ["total: unscored [error]", "  accuracy: 1 x 2  18 = 18", "  other: unscored x 1 [error]"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_verifier_is_where_the_table_says(name):
    assert issubclass(find(name), Verifier)
    assert find(name) is find(BUILT_IN[name])
    assert name in names()


def test_registering_finding_and_clashing():
    @verifier("test_core_shout")
    @dataclass(frozen=True)
    class Shout(Verifier):
        def __call__(self, example, completion):
            return Score(float(completion.text.isupper()))

    assert find("test_core_shout") is Shout
    with pytest.raises(UsageError, match="did you mean 'test_core_shout'"):
        find("test_core_shut")
    with pytest.raises(UsageError, match="built in"):
        verifier("accuracy")(Shout)
    with pytest.raises(UsageError, match="already registered"):
        verifier("test_core_shout")(Explodes)


@pytest.mark.parametrize(
    ("home", "reason"),
    [
        ("no_such_module_here:X", "cannot be loaded"),
        ("grpo_env.core:NoSuch", "cannot be loaded"),
        ("grpo_env.core:Score", "not a subclass"),
    ],
)
def test_a_wrong_home_is_a_usage_error(home, reason):
    with pytest.raises(UsageError, match=reason):
        find(home)
