"""The bundled tasks of several turns: their rules by hand, their rows, and what an episode is paid."""

import json
import math
import re

import pytest

from grpo_env.core import Completion, Example
from grpo_env.environments.calls import call_text
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.environments.replay import from_list, load_gold, play
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task
from grpo_env.tasks import search, till


@pytest.fixture(scope="module")
def play_till():
    yield from _player("till")


@pytest.fixture(scope="module")
def play_search():
    yield from _player("search")


def _player(name):
    """Plays turns on a row; returns the completion and its score."""
    task = load_task(name)
    environment = EnvironmentClass.of_task(task)
    with environment.process() as process:

        def played(row, *turns):
            example = task.example(row, "0", where="row")
            completion = play(environment, process, example, from_list(turns))
            return completion, task.verifier(example, completion)

        yield played


def look_up(item, **more):
    return call_text("price", {"item": item, **more})


def steps_by_turn(score, part, completion):
    """The step scores of a part, by the turn in which they end."""
    ends = [turn.end for turn in completion.turns]
    return {ends.index(step.end) + 1: step.value for step in score.part(part).steps}


ROW = {"question": "What do tea and rice cost together?", "basket": ["tea", "rice"], "total": 7,
       "prices": {"tea": 3, "rice": 4, "salt": 9}}  # fmt: skip


class TestTill:
    def test_prices_are_told_and_the_total_is_paid(self, play_till):
        completion, score = play_till(ROW, look_up("tea"), look_up("rice"), "<answer>\n7\n</answer>")
        assert [turn.results[0].text for turn in completion.turns[:2]] == ["3", "4"]
        assert completion.finish == "stop"
        assert completion.turns[-1].state == {"seen": ["tea", "rice"]}
        assert score.value == score.part("accuracy").value == 1.0
        # Half of the basket in each of the first two turns; tool_calls has no step without a call.
        assert steps_by_turn(score, "looked_up", completion) == {1: 0.5, 2: 0.5, 3: 0.0}
        assert steps_by_turn(score, "tool_calls", completion) == {1: 1.0, 2: 1.0}

    def test_what_is_not_in_the_basket_or_known_already_pays_no_step(self, play_till):
        completion, score = play_till(ROW, look_up("salt"), look_up("tea"), look_up("tea"), "<answer>7</answer>")
        assert steps_by_turn(score, "looked_up", completion) == {1: 0.0, 2: 0.5, 3: 0.0, 4: 0.0}
        assert score.part("looked_up").value == 0.5
        assert score.value == 1.0  # the outcome is the total alone

    def test_calls_of_one_turn_are_all_run(self, play_till):
        completion, score = play_till(ROW, look_up("rice") + look_up("tea"), "<answer>7</answer>")
        assert [result.text for result in completion.turns[0].results] == ["4", "3"]
        assert steps_by_turn(score, "looked_up", completion) == {1: 1.0, 2: 0.0}

    @pytest.mark.parametrize(
        ("call", "told", "can_be_run"),
        [
            (look_up("wine"), "Error: ValueError: there is no such item", 1.0),
            (call_text("price", {"goods": "tea"}), "Error: the argument item is missing", 0.0),
            (call_text("prices", {"item": "tea"}), "Error: there is no tool 'prices'", 0.0),
            (look_up("tea").replace("</tool_call>", ""), "Error: <tool_call> is not closed by </tool_call>", 0.0),
            (call_text("price", {"item": 3}), "Error: the argument item must be string, not integer", 0.0),
        ],
    )
    def test_a_wrong_call_is_told_and_looks_nothing_up(self, play_till, call, told, can_be_run):
        completion, score = play_till(ROW, call, "<answer>7</answer>")
        assert completion.turns[0].results[0].text.startswith(told)
        assert steps_by_turn(score, "tool_calls", completion) == {1: can_be_run}
        assert score.part("looked_up").value == 0.0

    def test_no_turn_is_left(self, play_till):
        completion, score = play_till(ROW, *[look_up("tea")] * 6)
        assert completion.finish == "turns"
        assert score.value == 0.0

    def test_the_fraction_of_a_basket(self):
        example = Example("0", info={"basket": ["tea", "rice", "milk"]})
        score = till.LookedUp()(example, Completion(json.dumps({"seen": ["rice", "soap", "tea"]})))
        assert score.value == pytest.approx(2 / 3)
        assert score.explanation == "2 of 3 items"

    def test_the_question_names_the_basket_and_the_prices_make_the_total(self):
        for row in till.problems("eval", 200, 0):
            assert re.findall("|".join(till.GOODS), row["question"]) == row["basket"]
            assert sum(row["prices"][item] for item in row["basket"]) == row["total"]
            assert len(set(row["basket"])) == len(row["basket"]) in (2, 3)
            assert set(row["prices"]) == set(till.GOODS)
            assert all(2 <= price <= 20 for price in row["prices"].values())

    def test_rows_do_not_change_between_versions(self):
        row = next(till.problems("train", 1, 0))
        assert (row["question"], row["total"]) == ("I take milk, corn and soap. What is the total?", 27)

    @pytest.mark.parametrize(
        "arguments", [{"items": (0, 2)}, {"items": (3, 2)}, {"items": (2, 13)}, {"prices": (0, 4)}, {"prices": (5, 4)}]
    )
    def test_invalid_ranges_are_errors(self, arguments):
        with pytest.raises(UsageError, match="it needs 1 <= first <= last"):
            list(till.problems("train", 1, 0, **arguments))

    def test_ranges_with_too_few_baskets_are_errors(self):
        with pytest.raises(UsageError, match="different train problems; widen the ranges"):
            list(till.problems("train", 50, 0, items=(1, 1), prices=(1, 1)))


HIDDEN = {"low": 12, "high": 42, "number": 30}


class TestSearch:
    def test_replies_lead_to_the_number(self, play_search):
        completion, score = play_search(HIDDEN, "27", "34", "30")
        assert [turn.reply for turn in completion.turns] == ["higher", "lower", None]
        assert completion.finish == "stop"
        assert completion.turns[-1].state == {"guesses": [27, 34, 30], "found": True, "left": 1}
        assert score.part("found").value == 1.0
        assert score.value == pytest.approx(1 + 0.5 * (6 - 3) / (6 - 1))

    def test_a_turn_is_paid_for_the_numbers_that_it_rules_out(self, play_search):
        # 31 numbers, then 28 to 42 (15), the same, 28 to 33 (6), and 30 itself.
        completion, score = play_search(HIDDEN, "27", "15", "34", "30")
        assert [turn.state["left"] for turn in completion.turns] == [15, 15, 6, 1]
        values = [31 / 15, 1, 15 / 6, 6]
        expected = {turn: math.log(value, 31) for turn, value in enumerate(values, 1)}
        assert steps_by_turn(score, "narrowed", completion) == pytest.approx(expected)
        assert score.part("narrowed").value == pytest.approx(1)

    def test_a_range_of_one_number_leaves_nothing_to_find_out(self):
        example = Example("0", info={"low": 7, "high": 7})
        assert search.Narrowed()(example, Completion('{"left": 1}')).value == 1.0

    @pytest.mark.parametrize("turns", range(1, 6))
    def test_each_guess_costs_a_tenth(self, play_search, turns):
        _, score = play_search(HIDDEN, *["12"] * (turns - 1), "30")
        assert score.value == pytest.approx(1.5 - 0.1 * (turns - 1))

    def test_not_found_pays_nothing(self, play_search):
        completion, score = play_search(HIDDEN, *["12"] * 6)
        assert len(completion.turns) == 5
        assert completion.finish == "turns"
        assert score.value == score.part("found").value == 0.0

    @pytest.mark.parametrize("text", ["", "thirty", "29 30 31", "-30", "30.0", "٣٠", "1" * 7])
    def test_only_one_number_in_digits_is_a_guess(self, play_search, text):
        completion, _ = play_search(HIDDEN, text, "30")
        assert completion.turns[0].reply == "Error: ValueError: say a number, in digits"
        assert completion.turns[1].state == {"guesses": [30], "found": True, "left": 1}

    def test_reasoning_is_not_part_of_the_guess(self, play_search):
        completion, score = play_search(HIDDEN, "<think>27 is the middle</think>\n30")
        assert completion.turns[0].reply is None
        assert score.value == 1.5

    def test_halving_the_range_always_suffices(self):
        for row in search.problems("eval", 150, 0):
            width = row["high"] - row["low"] + 1
            assert 16 <= width <= 31
            assert len(search.gold(row)) <= math.floor(math.log2(width)) + 1 <= 5
            assert search.gold(row)[-1] == str(row["number"])
            assert 1 <= row["low"] <= row["number"] <= row["high"] <= 99

    def test_the_middle_of_what_is_left(self):
        assert search.gold(HIDDEN) == ["27", "35", "31", "29", "30"]

    def test_no_held_out_prompt_occurs_in_training(self):
        prompts = [{(row["low"], row["high"]) for row in search.problems(split, 250, 0)} for split in ("train", "eval")]
        assert not prompts[0] & prompts[1]

    def test_rows_do_not_change_between_versions(self):
        assert next(search.problems("train", 1, 0)) == {"low": 55, "high": 78, "number": 69}

    @pytest.mark.parametrize(
        "arguments", [{"width": (0, 2)}, {"width": (5, 4)}, {"width": (1, 100)}, {"numbers": (-5, 60)}]
    )
    def test_invalid_ranges_are_errors(self, arguments):
        with pytest.raises(UsageError, match="it needs"):
            list(search.problems("train", 1, 0, **arguments))

    def test_ranges_with_too_few_numbers_are_errors(self):
        with pytest.raises(UsageError, match="different train problems; widen the ranges"):
            list(search.problems("train", 50, 0, numbers=(1, 5), width=(2, 5)))


@pytest.mark.parametrize(("name", "least"), [("till", 1.0), ("search", 1.1)])
def test_gold_paths_are_paid_in_full(name, least):
    task = load_task(name, {"dataset.limit.eval": 20})
    gold, environment = load_gold(task), EnvironmentClass.of_task(task)
    with environment.process() as process:
        for example in task.examples("eval"):
            completion = play(environment, process, example, from_list(gold(example)))
            assert not any(result.problem for turn in completion.turns for result in turn.results)
            score = task.verifier(example, completion)
            assert score.part(task.metric).value == 1.0
            assert score.value >= least
            if name == "till":
                assert sum(step.value for step in score.part("looked_up").steps) == pytest.approx(1)
