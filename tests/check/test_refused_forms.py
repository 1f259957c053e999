"""Gold answers of which the metric refuses right forms, and rewards that pay for the question."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
import yaml

from grpo_env.check import check
from grpo_env.core import Completion, Example, Score, Verifier, score_one
from grpo_env.registry import verifier
from grpo_env.taskfile.task import make_verifier
from tests.physics import physics_rows, right_answers
from tests.tables import table_task


def checked(folder, rows, metric="accuracy", **options):
    """The result of a task with these rows and this metric."""
    return check(table_task(folder, rows, verifiers={metric: {"weight": 1.0, **options}}, metric=metric))


def lines(result):
    return [str(finding) for finding in result.findings]


def rows_of(answers):
    return [{"question": f"What does item {n * 7} say, word for word?", "answer": a} for n, a in enumerate(answers)]


def refused(name, options, rows):
    """How many right answers of physics questions a verifier refuses."""
    own = make_verifier(name, options, name)
    texts = [(row["answer"], answer) for row in rows for answer in right_answers(row)]
    scores = [score_one(own, Example("", answer=gold), Completion(f"<answer>{text}</answer>")) for gold, text in texts]
    return sum(score.value != 1 for score in scores), len(texts)


def test_units_are_a_finding_whose_line_accepts_what_was_refused(tmp_path):
    rows = list(physics_rows(20))
    (line,) = lines(checked(tmp_path, rows, kind="number"))
    assert line.startswith("warning: gold: verifiers.accuracy: 20 of 20 gold answers, such as '")
    written = yaml.safe_load(line.partition("under verifiers write ")[2])
    assert written == {"numeric": {"weight": 1.0, "rel_tol": 0.01}}
    assert refused("accuracy", {"kind": "number"}, rows) == (39, 80)
    del written["numeric"]["weight"]
    assert refused("numeric", written["numeric"], rows) == (20, 80)  # those in another unit
    assert lines(checked(tmp_path, rows, "numeric", rel_tol=0.01)) == []


@pytest.mark.parametrize("unit", ["ms", "kJ", "kPa", "MHz", "mA", "MW", "kilojoules"])
def test_prefixed_units_are_units(tmp_path, unit):
    (line,) = lines(checked(tmp_path, rows_of([f"{n} {unit}" for n in range(20)]), kind="number"))
    assert line.startswith("warning: gold: verifiers.accuracy: 20 of 20 gold answers, such as ")


def test_units_of_some_answers_among_words_are_a_finding_about_the_prompt(tmp_path):
    (line,) = lines(checked(tmp_path, rows_of(["3 km", "45 cm", "2 kg", "red panda", "a blue door"] * 4)))
    assert line.endswith("accuracy takes no other unit; ask for the unit in the prompt")


@pytest.mark.parametrize("answers", [["$18", "12 apples", "50 %", "7"] * 5, ["3 km", *map(str, range(19))]])
def test_money_counts_and_a_rare_unit_are_no_finding(tmp_path, answers):
    assert lines(checked(tmp_path, rows_of(answers))) == []


def test_rounded_fractions_are_a_finding_whose_line_accepts_the_fraction(tmp_path):
    rounded = ["0.6666666667", "0.3776223776223776", "0.12345678", "3.14159265"]
    (line,) = lines(checked(tmp_path, rows_of([*rounded, *map(str, range(20))])))
    assert "2 of 24 gold answers, such as '0." in line
    written = yaml.safe_load(line.partition("is wrong; write ")[2])
    assert written == {"accuracy": {"weight": 1.0, "rel_tol": 1e-6}}
    assert abs(Fraction(54, 143) - Fraction(rounded[1])) < Fraction(1, 10**15)
    assert lines(checked(tmp_path, rows_of([*rounded, *map(str, range(20))]), rel_tol=1e-6)) == []


def test_a_column_of_lists_is_a_finding_unless_golds_says_what_they_are(tmp_path):
    answers = [[f"river {'abcdefghij'[n]}", "the other"] for n in range(10)]
    (line,) = lines(checked(tmp_path, rows_of(answers)))
    assert "dataset.answer: 10 of 10 gold answers, such as " in line
    assert "golds: any in the options of the metric" in line
    assert "others are no lists" not in line
    assert lines(checked(tmp_path, rows_of(answers), golds="any")) == []
    mixed = lines(checked(tmp_path, rows_of([*answers, 12.5, 14, 8, 3])))[0]
    assert "10 of 14 gold answers" in mixed
    assert "if answer is sequence and answer is not string else [answer]) | tojson" in mixed
    assert lines(checked(tmp_path, rows_of([f"[{n}, {n + 1}]" for n in range(10)]))) == []  # a text: the list is meant


def test_programs_are_a_finding_that_names_the_tests(tmp_path):
    code = [f"def add(a):\n    total = a + {n}\n    return total" for n in range(10)]
    rows = [{**row, "test_list": ["assert add(1) > 0"]} for row in rows_of(code)]
    found = [line for line in lines(checked(tmp_path, rows)) if "python_tests" in line]
    assert len(found) == 1
    assert "10 of 10 gold answers" in found[0]
    assert "column 'test_list' may be the tests" in found[0]
    prose = [f"For all {n}\nif it is so, return to the shop = home" for n in range(10)]
    assert not [line for line in lines(checked(tmp_path, rows_of(prose))) if "python_tests" in line]


@pytest.mark.parametrize("gold", ["[]", '[""]', '""'])
def test_an_empty_gold_answer_in_brackets_looks_missing(tmp_path, gold):
    found = lines(checked(tmp_path, rows_of([*map(str, range(20)), gold])))
    assert [line for line in found if "looks like a missing answer; fix it" in line and "line 21" in line]


@verifier("holds_the_gold")
@dataclass(frozen=True)
class HoldsTheGold(Verifier):
    def __call__(self, example, completion):
        return Score(float((example.answer or "-") in completion.text))


def test_a_reward_that_pays_for_the_question_is_found(tmp_path):
    rows = [{"question": f"Is it red {n} or blue {n}?", "answer": f"blue {n}"} for n in range(10)]
    found = lines(checked(tmp_path, rows, "holds_the_gold"))
    assert [line for line in found if "error: gold: " in line and "the question, given as the answer, gets" in line]
    assert [line for line in found if "the question, repeated without an answer, is rewarded with 1 or more" in line]
    assert not [line for line in lines(checked(tmp_path, rows)) if "the question" in line]
