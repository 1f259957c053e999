"""Composites: values by hand, gates, clips, statuses, unscored parts, schedules, step scores."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from grpo_env.core import (
    UNSCORED,
    BatchVerifier,
    Completion,
    Example,
    Group,
    Score,
    Status,
    StepScore,
    Verifier,
    score_one,
)
from grpo_env.errors import UsageError
from grpo_env.verifiers.compose import AllOf, AnyOf, Appeal, Clip, FirstOf, WeightedSum
from grpo_env.verifiers.parts_and_gates import Part
from grpo_env.verifiers.schedule import Linear, number_at

EXAMPLE = Example("x")
TEXT = Completion("one two three")


@dataclass(frozen=True)
class Fixed(Verifier):
    """Always the same score."""

    value: float | None = 1.0
    status: Status = "scored"
    bad: str | None = None

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(None if self.status in UNSCORED else self.value, self.status, explanation="fixed")

    def problem(self, example: Example) -> str | None:
        return self.bad


@dataclass(frozen=True)
class Broken(Verifier):
    """Always raises."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        raise ZeroDivisionError("broken")


@dataclass(frozen=True)
class Steps(Verifier):
    """Step scores at given spans."""

    steps: tuple[tuple[int, int, float], ...] = ()
    value: float = 1.0

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(self.value, steps=tuple(StepScore(*step, explanation="step") for step in self.steps))


NO_ANSWER = Fixed(0.0, "no_answer")
BAD_GOLD = Fixed(None, "bad_gold")


def total(*parts: Part) -> Score:
    return WeightedSum(parts)(EXAMPLE, TEXT)


def test_weighted_sum() -> None:
    score = total(Part("a", Fixed(1.0), 2.0), Part("b", Fixed(0.5), 0.5), Part("c", Fixed(3.0), -1.0))
    assert score.value == 2.0 + 0.25 - 3.0
    assert [(part.name, part.value, part.weight) for part in score.parts] == [
        ("a", 1, 2),
        ("b", 0.5, 0.5),
        ("c", 3, -1),
    ]


@pytest.mark.parametrize("weights", [{"weight": 1e308}, {"weight": 1.0, "process": 1e308}])
def test_a_sum_that_overflows_is_unscored_and_alone(weights: dict[str, float]) -> None:
    parts = tuple(Part(name, Fixed(1.0), **weights) for name in "ab")
    score = total(*parts)
    assert (score.value, score.status) == (None, "error")
    assert "finite number, not inf" in score.explanation
    assert [part.value for part in score.parts] == [1.0, 1.0]
    assert Clip(parts)(EXAMPLE, TEXT).status == "error"  # no bound hides it


@pytest.mark.parametrize("watched", [Fixed(100.0), BAD_GOLD, Broken()])
def test_a_part_with_weight_0_never_changes_the_value(watched: Verifier) -> None:
    score = total(Part("a", Fixed(0.7)), Part("w", watched, 0.0))
    assert (score.value, score.status) == (0.7, "scored")
    assert score.part("w").weight == 0


@pytest.mark.parametrize(("part", "status"), [(BAD_GOLD, "bad_gold"), (Broken(), "error")])
def test_an_unscored_part_makes_the_total_unscored(part: Verifier, status: str) -> None:
    for weights in ({"weight": 1.0}, {"weight": 0.0, "process": 1.0}):
        score = total(Part("a", Fixed(1.0)), Part("p", part, **weights))
        assert (score.value, score.status) == (None, status)
        assert score.explanation.startswith("p: ")
        assert score.part("a").value == 1.0


def test_a_completion_fault_scores_0_unless_statuses_maps_it() -> None:
    assert total(Part("a", NO_ANSWER)).value == 0.0
    mapped = total(Part("a", NO_ANSWER, 2.0, statuses={"no_answer": -0.5}))
    assert (mapped.value, mapped.parts[0].status) == (-1.0, "no_answer")
    assert total(Part("a", NO_ANSWER, statuses={"timeout": -0.5})).value == 0.0


@pytest.mark.parametrize(("gate", "value"), [(1.0, 1.0), (0.1, 1.0), (0.0, 0.0), (-1.0, 0.0)])
def test_a_gate_must_be_above_0(gate: float, value: float) -> None:
    for parts in (
        (Part("g", Fixed(gate), 0.0), Part("p", Fixed(1.0), when="g")),
        (Part("p", Fixed(1.0), when="g"), Part("g", Fixed(gate), 0.0)),
    ):
        score = total(*parts)
        assert (score.value, score.part("p").status) == (value, "scored")
        assert ("not counted" in score.part("p").explanation) == (value == 0)


def test_a_closed_gate_does_not_run_its_part() -> None:
    assert total(Part("g", Fixed(0.0)), Part("p", Broken(), when="g")).value == 0.0
    assert total(Part("g", Fixed(1.0)), Part("p", Broken(), when="g")).value is None


def test_the_parts_of_a_composite_that_is_not_run_have_its_status() -> None:
    """A metric among them is 0 behind a closed gate, as one that is not nested is, and left out with its row."""
    inner = WeightedSum((Part("metric", Fixed(1.0)),))
    closed = total(Part("g", Fixed(0.0)), Part("inner", inner, when="g")).part("metric")
    assert (closed.value, closed.explanation) == (0.0, "not counted, because g is 0")
    passed = FirstOf((Part("g", Fixed(0.0)), Part("inner", inner)))(EXAMPLE, TEXT).part("metric")
    assert (passed.value, passed.explanation) == (None, "not asked, because g decided")
    left_out = total(Part("g", Fixed(0.0)), Part("inner", inner, applies=lambda example: False)).part("metric")
    assert (left_out.value, left_out.status) == (None, "left_out")


def test_a_part_behind_an_unscored_gate_is_unscored() -> None:
    score = total(Part("g", BAD_GOLD, 0.0), Part("p", Fixed(1.0), when="g"))
    assert (score.value, score.status) == (None, "not_applicable")


def test_chained_gates() -> None:
    parts = (Part("c", Fixed(1.0), when="b"), Part("b", Fixed(1.0), 0.0, when="a"), Part("a", Fixed(0.0), 0.0))
    assert total(*parts).value == 0.0


@pytest.mark.parametrize(("value", "worth"), [(1.0, 2.0), (0.0, -1.5), (0.5, 0.25), (-1.0, -5.0)])
def test_values_say_what_0_and_1_are_worth(value: float, worth: float) -> None:
    assert total(Part("a", Fixed(value), values=(-1.5, 2.0))).value == worth


def test_values_are_those_of_steps_too_and_of_no_status_that_has_its_own() -> None:
    score = total(Part("a", Steps(((0, 3, 1.0), (4, 7, 0.0))), process=1.0, values=(-1.0, 1.0)))
    assert [step.value for step in score.part("a").steps] == [1.0, -1.0]
    no_answer = Fixed(0.0, "no_answer")
    assert total(Part("a", no_answer, values=(-1.5, 2.0))).value == -1.5
    assert total(Part("a", no_answer, values=(-1.5, 2.0), statuses={"no_answer": -2.0})).value == -2.0
    assert total(Part("a", Fixed(None, "error"), values=(-1.0, 1.0))).value is None


def test_a_gate_with_values_is_open_for_what_is_right() -> None:
    for value, behind in ((1.0, 1.0), (0.0, 0.0)):
        score = total(Part("a", Fixed(value), 0.0, values=(-1.0, 1.0)), Part("b", Fixed(), when="a"))
        assert score.value == behind


def test_clip_bounds_the_sum() -> None:
    parts = (Part("a", Fixed(1.0), 3.0), Part("b", Fixed(1.0), 3.0))
    assert Clip(parts, low=-5.0, high=5.0)(EXAMPLE, TEXT).value == 5.0
    assert Clip((Part("a", Fixed(1.0), -9.0),))(EXAMPLE, TEXT).value == -1.0
    assert Clip((Part("a", BAD_GOLD),))(EXAMPLE, TEXT).status == "bad_gold"


@pytest.mark.parametrize(
    ("parts", "any_of", "all_of"),
    [
        ([0.0, 1.0], 1.0, 0.0),
        ([0.2, 0.7], 0.7, 0.2),
        ([None, 1.0], 1.0, None),
        ([None, 0.5], None, None),
        ([None, 0.0], None, 0.0),
        ([None], None, None),
    ],
)
def test_any_of_and_all_of(parts: list[float | None], any_of: float | None, all_of: float | None) -> None:
    fixed_parts = tuple(Part(f"p{n}", BAD_GOLD if value is None else Fixed(value)) for n, value in enumerate(parts))
    assert AnyOf(fixed_parts)(EXAMPLE, TEXT).value == any_of
    assert AllOf(fixed_parts)(EXAMPLE, TEXT).value == all_of


@pytest.mark.parametrize(
    ("parts", "value", "decider"),
    [
        ([0.0, 1.0], 0.0, 0),
        ([None, 0.3, 1.0], 0.3, 1),
        ([None, None, -2.0], -2.0, 2),
        ([1.0, None], 1.0, 0),
    ],
)
def test_first_of_is_the_first_score(parts: list[float | None], value: float, decider: int) -> None:
    fixed_parts = tuple(Part(f"p{n}", BAD_GOLD if each is None else Fixed(each)) for n, each in enumerate(parts))
    score = FirstOf(fixed_parts)(EXAMPLE, TEXT)
    assert score.value == value
    assert score.explanation == f"p{decider}: fixed"
    assert [part.name for part in score.parts] == [part.name for part in fixed_parts]
    assert {part.status for part in score.parts[decider + 1 :]} <= {"not_applicable"}
    assert all(part.explanation == f"not asked, because p{decider} decided" for part in score.parts[decider + 1 :])


@dataclass(frozen=True)
class Ruled(Verifier):
    """Always the same score, by a rule."""

    rule: str
    value: float

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(self.value, rule=self.rule)


def test_a_selection_has_the_rule_of_the_part_that_decides() -> None:
    parts = (Part("a", Ruled("number", 0.0)), Part("b", Ruled("same text", 1.0)))
    for composite, rule in ((AnyOf, "same text"), (AllOf, "number"), (FirstOf, "number"), (WeightedSum, "")):
        score = composite(parts)(EXAMPLE, TEXT)
        assert (composite, score.rule) == (composite, rule)
        assert [part.rule for part in score.parts] == ["number", "" if composite is FirstOf else "same text"]
    assert appeal(parts[0].verifier, parts[1].verifier)(EXAMPLE, TEXT).rule == "same text"
    assert appeal(parts[1].verifier, parts[0].verifier)(EXAMPLE, TEXT).rule == "same text"
    assert FirstOf((Part("a", BAD_GOLD), parts[1]))(EXAMPLE, TEXT).rule == "same text"
    nested = total(Part("nested", AnyOf(parts)))
    assert (nested.rule, nested.parts[0].rule) == ("", "same text")


def test_first_of_without_a_score_is_unscored_like_its_last_part() -> None:
    score = FirstOf((Part("rule", BAD_GOLD), Part("judge", Broken())))(EXAMPLE, TEXT)
    assert (score.value, score.status) == (None, "error")
    assert re.fullmatch(r"judge: ZeroDivisionError: broken \(\w+\.py:\d+\)", score.explanation)
    assert [part.status for part in score.parts] == ["bad_gold", "error"]


def test_first_of_keeps_a_fault_of_the_completion_as_the_decision() -> None:
    assert FirstOf((Part("rule", NO_ANSWER), Part("judge", Fixed(1.0))))(EXAMPLE, TEXT).value == 0.0
    penalty = Part("rule", NO_ANSWER, statuses={"no_answer": -0.5})
    assert FirstOf((penalty, Part("judge", Fixed(1.0))))(EXAMPLE, TEXT).value == -0.5


def test_the_status_of_the_part_that_decides_is_that_of_the_whole() -> None:
    """So that ``statuses`` of the whole apply, and a summary counts missing answers."""
    for composite in (FirstOf((Part("rule", NO_ANSWER), Part("judge", Fixed(1.0)))), appeal(NO_ANSWER, Fixed(0.0))):
        assert composite(EXAMPLE, TEXT).status == "no_answer"
        assert total(Part("a", composite, statuses={"no_answer": -0.5})).value == -0.5
    assert appeal(NO_ANSWER, Fixed(1.0))(EXAMPLE, TEXT).status == "scored"
    for other in (WeightedSum, AnyOf, AllOf, Clip):
        Part("a", other((Part("rule", NO_ANSWER),)), statuses={"timeout": -0.5})
        with pytest.raises(UsageError, match="set this under 'of'"):
            Part("a", other((Part("rule", NO_ANSWER),)), statuses={"no_answer": -0.5})


def appeal(rule: Verifier, judge: Verifier) -> Appeal:
    return Appeal((Part("rule", rule), Part("judge", judge)), groups="all")


@dataclass(frozen=True)
class OnlyShort(Verifier):
    """Scores texts of one letter."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        short = len(completion.text) == 1
        return Score(1.0, answer="short") if short else Score(None, "not_applicable", answer="long")


CALLS: list[list[str]] = []


@dataclass(frozen=True)
class Judge(BatchVerifier):
    """Records which texts it is asked about."""

    def batch(self, pairs: Sequence[tuple[Example, Completion]]) -> list[Score]:
        CALLS.append([completion.text for _, completion in pairs])
        return [Score(0.5, answer="judged") for _ in pairs]


def test_first_of_asks_the_next_part_in_one_batch_and_only_where_it_is_needed() -> None:
    CALLS.clear()
    groups = [Group(EXAMPLE, [Completion(text) for text in texts]) for texts in (["a", "bb"], ["c"], ["dd", "ee"])]
    rows = FirstOf((Part("rule", OnlyShort()), Part("judge", Judge()))).score_groups(groups)
    assert [[score.value for score in row] for row in rows] == [[1.0, 0.5], [1.0], [0.5, 0.5]]
    assert [[score.answer for score in row] for row in rows] == [["short", "judged"], ["short"], ["judged", "judged"]]
    assert CALLS == [["bb", "dd", "ee"]]


def test_first_of_has_a_problem_if_every_part_has_one() -> None:
    assert FirstOf((Part("a", Fixed(bad="no letter")), Part("b", Fixed())))(EXAMPLE, TEXT).value == 1.0
    assert FirstOf((Part("a", Fixed(bad="no letter")), Part("b", Fixed()))).problem(EXAMPLE) is None
    both = FirstOf((Part("a", Fixed(bad="no letter")), Part("b", Fixed(bad="no number"))))
    assert both.problem(EXAMPLE) == "a: no letter; b: no number"


def test_first_of_refuses_gates_and_weights() -> None:
    with pytest.raises(UsageError, match="without gates"):
        FirstOf((Part("a", Fixed()), Part("b", Fixed(), when="a")))
    with pytest.raises(UsageError, match="only parts of a sum have weights"):
        FirstOf((Part("a", Fixed(), 2.0),))


@dataclass(frozen=True)
class Length(Verifier):
    """1 for texts of one letter, unscored for an empty one, else 0."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        if not completion.text:
            return Score(None, "bad_gold", explanation="empty")
        return Score(float(len(completion.text) == 1), answer=completion.text, explanation="length")


def appealed(*groups: str, second: Verifier | None = None, **options: str) -> list[list[Score]]:
    """The scores of groups of texts, written with spaces between them, by length and on appeal by ``Judge``."""
    CALLS.clear()
    appeal = Appeal((Part("rule", Length()), Part("judge", second or Judge())), **options)
    return appeal.score_groups([Group(EXAMPLE, [Completion(text) for text in group.split(" ")]) for group in groups])


def test_appeal_asks_in_one_batch_about_wrong_completions_of_mixed_groups() -> None:
    rows = appealed("a bb ccc", "dd ee", "f g", "h ii")
    assert [[score.value for score in row] for row in rows] == [[1, 0.5, 0.5], [0, 0], [1, 1], [1, 0.5]]
    assert CALLS == [["bb", "ccc", "ii"]]
    assert [score.explanation for score in rows[0]] == ["rule: length", "judge: ", "judge: "]
    assert rows[0][1].answer == "bb"
    assert [part.name for part in rows[1][0].parts] == ["rule", "judge"]
    reasons = [row[0].parts[1].explanation for row in rows]
    assert reasons[:2] == ["not asked, because rule accepts it", "not asked, because rule accepts nothing in the group"]


def test_appeal_in_all_groups() -> None:
    rows = appealed("a bb", "dd ee", "f", "gg", groups="all")
    assert [[score.value for score in row] for row in rows] == [[1, 0.5], [0.5, 0.5], [1], [0.5]]
    assert CALLS == [["bb", "dd", "ee", "gg"]]


def test_appeal_without_a_first_score_is_unscored_and_does_not_make_a_group_mixed() -> None:
    ((first, second),) = appealed(" bb")
    assert (first.status, first.explanation) == ("bad_gold", "rule: empty")
    assert first.parts[1].explanation == "not asked, because rule has no score"
    assert (second.value, CALLS) == (0.0, [])


@pytest.mark.parametrize(
    ("second", "value", "status"),
    [
        (Fixed(1.0), 1.0, "scored"),
        (Fixed(-1.0), 0.0, "scored"),
        (Fixed(status="not_applicable"), 0.0, "scored"),
        (Broken(), None, "error"),
    ],
)
def test_appeal_raises_a_value_only_and_a_failed_one_is_no_verdict(second, value, status) -> None:
    ((_, score),) = appealed("a bb", second=second)
    assert (score.value, score.status) == (value, status)


def test_appeal_has_the_problem_of_its_first_part() -> None:
    assert Appeal((Part("a", Fixed()), Part("b", Fixed(bad="no letter")))).problem(EXAMPLE) is None
    assert Appeal((Part("a", Fixed(bad="no letter")), Part("b", Fixed()))).problem(EXAMPLE) == "a: no letter"


def test_appeal_refuses_gates_weights_options_and_other_than_two_parts() -> None:
    two = (Part("a", Fixed()), Part("b", Fixed()))
    with pytest.raises(UsageError, match="without gates"):
        Appeal((two[0], Part("b", Fixed(), when="a")))
    with pytest.raises(UsageError, match="only parts of a sum have weights"):
        Appeal((two[0], Part("b", Fixed(), 2.0)))
    with pytest.raises(UsageError, match="needs two parts"):
        Appeal(two[:1])
    with pytest.raises(UsageError, match="'none' is not one of mixed, all"):
        Appeal(two, groups="none")


def test_only_an_appeal_in_mixed_groups_needs_the_whole_group() -> None:
    two = (Part("a", Fixed()), Part("b", Fixed()))
    assert [Appeal(two, groups=groups).compares_completions for groups in ("mixed", "all")] == [True, False]


def test_steps_are_weighted_and_sorted_and_other_parts_become_the_last_step() -> None:
    score = total(
        Part("out", Fixed(0.5), 1.0, process=2.0),
        Part("steps", Steps(((4, 7, 1.0), (0, 3, 0.5))), 0.0, process=3.0),
        Part("form", Fixed(1.0), 0.0, process=0.25),
        Part("silent", Steps((), 0.5), 0.0, process=2.0),
        Part("watched", Steps(((0, 3, 9.0),)), 0.0),
    )
    assert [(step.start, step.end, step.value) for step in score.steps] == [(0, 3, 1.5), (4, 7, 3.0), (0, 13, 2.25)]
    assert score.steps[0].explanation == "steps: step"
    assert score.value == 0.5


def test_the_process_weight_is_the_weight_unless_it_is_set() -> None:
    steps = ((0, 3, 1.0),)
    score = total(
        Part("a", Fixed(1.0), 2.0), Part("s", Steps(steps), Linear(0.5, 0.0, 4)), Part("w", Steps(steps), 0.0)
    )
    assert [(step.start, step.end, step.value) for step in score.steps] == [(0, 3, 0.5), (0, 13, 2.0)]
    assert [part.process for part in score.parts] == [2.0, 0.5, 0.0]
    assert total(Part("a", Fixed(1.0), process=0.0), Part("s", Steps(steps), process=0.0)).steps == ()


def test_a_clip_bounds_the_last_step_but_not_those_before_it() -> None:
    clipped = Clip((Part("a", Fixed(1.0), 3.0), Part("s", Steps(((0, 3, 1.0),)), 0.0, process=5.0)), high=2.0)
    score = total(Part("c", clipped))
    assert score.value == 2.0
    assert [(step.end, step.value) for step in score.steps] == [(3, 5.0), (13, 2.0)]


def test_a_nested_sum_contributes_its_steps() -> None:
    inner = WeightedSum((Part("s", Steps(((0, 3, 1.0),)), 0.0, process=2.0),))
    score = total(Part("inner", inner, 1.0, process=3.0))
    assert [(step.start, step.end, step.value) for step in score.steps] == [(0, 3, 6.0)]


LOW, HIGH = Part("low", Steps(((0, 3, 0.25),), 0.5)), Part("high", Steps(((4, 7, 0.75),), 1.0))
OTHER, BAD = Part("other", Fixed(2.0)), Part("bad", BAD_GOLD)


@pytest.mark.parametrize(
    ("selection", "steps"),
    [
        (AnyOf((LOW, HIGH)), [(4, 7, 2.25)]),
        (AllOf((HIGH, LOW)), [(0, 3, 0.75)]),
        (FirstOf((BAD, LOW, HIGH)), [(0, 3, 0.75)]),
        (Appeal((LOW, HIGH), groups="all"), [(4, 7, 2.25)]),
        (Appeal((HIGH, LOW), groups="all"), [(4, 7, 2.25)]),
        (AnyOf((LOW, OTHER)), [(0, 13, 6.0)]),  # it decides, and scores no steps
        (FirstOf((BAD, OTHER)), [(0, 13, 6.0)]),
        (AnyOf((Part("inner", FirstOf((BAD, LOW))),)), [(0, 3, 0.75)]),
    ],
)
def test_a_selection_has_the_steps_of_the_part_that_decides(
    selection: Verifier, steps: list[tuple[int, int, float]]
) -> None:
    score = total(Part("s", selection, 0.0, process=3.0))
    assert [(step.start, step.end, step.value) for step in score.steps] == steps


def test_schedules() -> None:
    fade = Linear(0.5, 0.0, 200)
    assert [fade.at(step) for step in (0, 100, 200, 999)] == [0.5, 0.25, 0.0, 0.0]
    assert number_at(0.3, 7) == 0.3
    assert number_at(fade, -5) == 0.5


def test_at_resolves_schedules_at_every_depth() -> None:
    inner = WeightedSum((Part("a", Fixed(1.0), Linear(0.0, 1.0, 10)),))
    outer = WeightedSum((Part("i", inner), Part("b", Fixed(1.0), 0.0, process=Linear(4.0, 0.0, 4))))
    assert outer(EXAMPLE, TEXT).value == outer.at(0)(EXAMPLE, TEXT).value == 0.0
    later = outer.at(3)(EXAMPLE, TEXT)
    assert (later.value, later.part("b").process, later.steps[-1].value) == (pytest.approx(0.3), 1.0, 1.0)
    assert outer.at(3)(EXAMPLE, TEXT).part("a").weight == pytest.approx(0.3)


def test_problem_names_the_part_and_skips_parts_with_weight_0() -> None:
    assert WeightedSum((Part("a", Fixed(bad="no gold"), 0.0),)).problem(EXAMPLE) is None
    assert WeightedSum((Part("a", Fixed(bad="no gold")),)).problem(EXAMPLE) == "a: no gold"


@pytest.mark.parametrize(
    "make",
    [
        lambda: WeightedSum((Part("a", Fixed(), when="b"),)),
        lambda: WeightedSum((Part("a", Fixed(), when="a"),)),
        lambda: WeightedSum((Part("a", Fixed(), when="b"), Part("b", Fixed(), when="a"))),
        lambda: Part("a", Fixed(), statuses={"no_anwser": 0.0}),
        lambda: Part("a", Fixed(), statuses={"bad_gold": 0.0}),
        lambda: Clip((Part("a", Fixed()),), low=1.0, high=0.0),
        lambda: Clip((Part("a", Fixed()),), low=math.nan),
        lambda: AnyOf((Part("a", Fixed(), 2.0),)),
        lambda: AllOf((Part("a", Fixed(), process=1.0),)),
    ],
)
def test_invalid_options_are_usage_errors(make: object) -> None:
    assert callable(make)
    with pytest.raises(UsageError):
        make()


def test_scores_survive_json_composites_pickling_and_totals_can_be_recomputed() -> None:
    verifier = WeightedSum(
        (
            Part("any", AnyOf((Part("x", Fixed(0.3)), Part("y", Fixed(0.6)))), Linear(1.0, 0.0, 5)),
            Part("steps", Steps(((0, 3, 0.5),)), 0.0, process=1.0),
            Part("gated", Fixed(), when="any", statuses={"no_answer": -1.0}),
        )
    )
    score = score_one(verifier, EXAMPLE, TEXT)
    assert Score.from_dict(json.loads(json.dumps(score.to_dict()))) == score
    assert pickle.loads(pickle.dumps(verifier)) == verifier
    recomputed = sum(part.weight * part.value for part in score.parts if part.value is not None)
    assert recomputed == pytest.approx(score.value)
