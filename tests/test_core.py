"""Scores, verifiers, errors and the registry."""

import json
import math
import pickle
from dataclasses import dataclass, replace

import numpy
import pytest

from grpo_env.core import (
    COMPLETION_FAULTS,
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
from grpo_env.errors import DivergedError, GrpoEnvError, InterruptedRunError, RunError, UsageError
from grpo_env.registry import BUILT_IN, find, names, verifier


@dataclass(frozen=True)
class Explodes(Verifier):
    def __call__(self, example, completion):
        raise ZeroDivisionError("boom")


@pytest.mark.parametrize("status", UNSCORED)
def test_an_unscored_status_never_has_a_value(status):
    assert not Score(None, status).scored
    with pytest.raises(ValueError, match=status):
        Score(0.0, status)


@pytest.mark.parametrize("status", ["scored", *COMPLETION_FAULTS])
def test_any_other_status_always_has_a_value(status):
    assert Score(0.0, status).scored
    with pytest.raises(ValueError, match=status):
        Score(None, status)


def test_numbers_of_numpy_become_numbers_of_python():
    scores = [Score(numpy.float32(0.5)), Score(numpy.int64(1)), Score(1.0, steps=(StepScore(0, 1, numpy.float16(2)),))]
    written = json.loads(json.dumps([score.to_dict() for score in scores]))
    assert [score["value"] for score in written] == [0.5, 1, 1.0]
    assert written[2]["steps"][0]["value"] == 2.0
    assert [type(Score(value).value) for value in (True, numpy.True_, 1)] == [float] * 3  # so that files have numbers


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_are_finite(value):
    with pytest.raises(ValueError, match="finite number"):
        Score(value)
    with pytest.raises(ValueError, match="finite number"):
        StepScore(0, 1, value)


def test_an_exception_of_a_verifier_becomes_an_unscored_score():
    score = score_one(Explodes(), Example("1"), Completion("x"))
    assert (score.value, score.status, score.name) == (None, "error", "total")
    assert "ZeroDivisionError: boom" in score.explanation


@dataclass(frozen=True)
class Exits(Verifier):
    def __call__(self, example, completion):
        if completion.text == "stop":
            raise KeyboardInterrupt
        exec(completion.text)
        return Score(1.0)


def test_the_exit_of_a_program_that_a_verifier_runs_is_an_exception_too():
    texts = [Completion("raise SystemExit(3)"), Completion("pass")]
    exits, fine = score_groups(Exits(), [Group(Example("1"), texts)])[0]
    assert (exits.value, exits.status, exits.explanation[:14]) == (None, "error", "SystemExit: 3 ")
    assert fine.value == 1
    with pytest.raises(KeyboardInterrupt):
        score_one(Exits(), Example("1"), Completion("stop"))


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
    rows = score_groups(verifier, [Group(Example("1"), [Completion(text) for text in texts]) for texts in groups])
    return [[score.value for score in scores] for scores in rows]


def test_a_group_verifier_sees_one_group_at_a_time():
    assert values(Longest(), ["a", "bbb", "ccc"], ["x"]) == [[0, 1, 1], [1]]
    assert score_one(Longest(), Example("1"), Completion("a")).value == 1


def test_a_group_that_fails_does_not_affect_others():
    assert values(Longest(), ["a", "bbb"], ["123456", "1"]) == [[0, 1], [None, None]]


def test_a_batch_verifier_sees_all_pairs_at_once_and_keeps_the_shape():
    assert values(Number(), ["a", "b"], [], ["c"]) == [[0, 1], [], [2]]
    assert values(Number()) == []


def test_too_few_scores_leave_all_completions_unscored():
    assert values(Number(), ["a", "lost"], ["c"]) == [[None, None], [None]]


@dataclass(frozen=True)
class Bare(Verifier):
    def __call__(self, example, completion):
        return 1.0


def test_a_number_is_not_accepted_as_a_score():
    score = score_one(Bare(), Example("1"), Completion("x"))
    assert score.explanation == "TypeError: the verifier returned 1.0, not a Score"


@dataclass(frozen=True)
class Careless(Bare):
    def score_groups(self, groups):
        raise RuntimeError("no connection")


def test_an_exception_of_an_overridden_score_groups_leaves_all_completions_unscored():
    assert values(Careless(), ["a", "b"], ["c"]) == [[None, None], [None]]


def test_a_score_survives_json_and_pickle():
    leaf = Score(0.5, name="leaf", weight=2.0, answer="a", rule="number", steps=(StepScore(0, 3, 1.0, "fine"),))
    score = Score(1.0, name="total", parts=(leaf, Score(None, "error", name="other", explanation="why")))
    assert Score.from_dict(json.loads(json.dumps(score.to_dict()))) == score
    assert pickle.loads(pickle.dumps(score)) == score
    without = {key: value for key, value in leaf.to_dict().items() if key != "rule"}  # of an older version
    assert Score.from_dict(without) == replace(leaf, rule="")


def test_relabel_equals_dataclasses_replace():
    score = Score(0.5, "scored", "whole", answer="4", parts=(Score(None, "error", "part"),), seconds=1.0)
    label = {"name": "new", "weight": 2.0, "process": 0.5, "seconds": 3.0}
    copy = score.relabel(**label)
    assert copy == replace(score, **label)
    assert (score.name, score.weight, score.process, score.seconds) == ("whole", 1.0, 0.0, 1.0)
    with pytest.raises(TypeError, match="not value"):
        score.relabel(value=1.0)


def test_part_searches_all_depths_and_raises_for_an_unknown_name():
    inner = Score(1.0, name="inner")
    total = Score(1.0, name="total", parts=(Score(1.0, name="outer", parts=(inner,)),))
    assert total.part("inner") is inner
    with pytest.raises(KeyError, match="absent"):
        total.part("absent")


def test_a_score_prints_its_tree():
    parts = (Score(1.0, name="accuracy", weight=2.0, explanation="18 = 18"), Score(None, "error", name="other"))
    lines = str(Score(None, "error", name="total", parts=parts)).splitlines()
    assert lines == ["total: unscored [error]", "  accuracy: 1 x 2  18 = 18", "  other: unscored x 1 [error]"]


@pytest.mark.parametrize(
    ("error", "base", "exit_code"),
    [
        (UsageError, ValueError, 2),
        (RunError, RuntimeError, 1),
        (DivergedError, RuntimeError, 1),
        (InterruptedRunError, RuntimeError, 130),
    ],
)
def test_errors_have_a_standard_base_and_survive_pickling(error, base, exit_code):
    copy = pickle.loads(pickle.dumps(error("why")))
    assert isinstance(copy, GrpoEnvError)
    assert isinstance(copy, base)
    assert (type(copy), str(copy), copy.exit_code) == (error, "why", exit_code)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_verifier_can_be_looked_up(name):
    assert issubclass(find(name), Verifier)
    assert find(name) is find(BUILT_IN[name])
    assert name in names()


def test_registering_looking_up_and_name_clashes():
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
        ("grpo_env.core:Scores", "module 'grpo_env.core' has no attribute 'Scores'; did you mean 'Score'."),
        ("grpo_env.core:Score", "not a subclass"),
    ],
)
def test_a_wrong_location_is_a_usage_error(home, reason):
    with pytest.raises(UsageError, match=reason):
        find(home)


def test_dir_lists_what_is_loaded_on_first_use():
    import grpo_env

    assert set(dir(grpo_env)) == {*grpo_env.__all__, "__version__"}
