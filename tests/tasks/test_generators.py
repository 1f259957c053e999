"""The generators of the bundled tasks: correct, deterministic, with disjoint splits."""

import ast
import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task
from grpo_env.tasks import arithmetic, countdown, letter_counting, search, till
from grpo_env.tasks.countdown import Countdown, evaluate
from grpo_env.tasks.draws import is_held_out

GENERATORS = [arithmetic, countdown, letter_counting, search, till]
KEYS = {
    arithmetic: lambda row: tuple(row["equations"]),
    countdown: lambda row: (*sorted(row["numbers"]), row["target"]),
    letter_counting: lambda row: (row["word"], row["letter"]),
    search: lambda row: (row["low"], row["high"], row["number"]),
    till: lambda row: tuple(sorted((item, row["prices"][item]) for item in row["basket"])),
}


@pytest.fixture(params=GENERATORS, ids=lambda module: module.__name__.rpartition(".")[2])
def module(request):
    return request.param


def test_the_same_seed_gives_the_same_rows(module):
    assert list(module.problems("train", 50, 7)) == list(module.problems("train", 50, 7))


def test_a_larger_size_starts_with_the_same_rows(module):
    assert list(module.problems("eval", 80, 7))[:30] == list(module.problems("eval", 30, 7))


def test_splits_are_disjoint_whatever_the_seeds(module):
    key = KEYS[module]
    train = {key(row) for seed in (0, 1, 2) for row in module.problems("train", 1500, seed)}
    held_out = {key(row) for seed in (0, 3) for row in module.problems("eval", 300, seed)}
    assert not train & held_out


def test_different_seeds_give_different_problems(module):
    first, second = ({KEYS[module](row) for row in module.problems("train", 300, seed)} for seed in (42, 43))
    assert len(first & second) < 0.2 * len(first)


def test_no_row_occurs_twice(module):
    rows = [str(sorted(row.items())) for row in module.problems("train", 2000, 0)]
    assert len(set(rows)) == len(rows)


def test_an_unknown_split_is_refused(module):
    with pytest.raises(UsageError, match="unknown split 'test'; use 'train' or 'eval'"):
        list(module.problems("test", 1, 0))


@pytest.mark.parametrize("name", ["arithmetic", "countdown", "letter_counting"])
def test_the_cases_of_the_task_file_hold(name):
    task = load_task(name)
    for case in task.spec.cases:
        score = task.score(case.completion, answer=case.answer, info=case.info)
        for part, value in case.model_extra.items():
            assert score.part(part).value == value, (case.why, str(score))


@pytest.mark.parametrize("name", ["arithmetic", "countdown", "letter_counting"])
def test_gold_answers_get_the_full_reward(name):
    task = load_task(name, {"dataset.limit.eval": 40})
    for example in task.examples("eval"):
        thoughts = "\n".join(example.info.get("equations", ["so"]))
        text = f"<think>\n{thoughts}\n</think>\n<answer>\n{example.answer}\n</answer>"
        score = task.score(text, answer=example.answer, info=example.info)
        assert score.value == pytest.approx(1.2), (example, str(score))
        wrong = task.score(
            text.replace(f"\n{example.answer}\n</a", "\n1000003\n</a"), answer=example.answer, info=example.info
        )
        assert wrong.part(task.metric).value == 0


class TestArithmetic:
    @pytest.mark.parametrize("steps", [(1, 1), (1, 3), (2, 5)])
    @pytest.mark.parametrize("operands", [(2, 20), (1, 9), (10, 60)])
    def test_equations_chain_and_are_true(self, steps, operands):
        for row in arithmetic.problems("train", 200, 0, steps=steps, operands=operands):
            before = None
            for equation in row["equations"]:
                left, sign, right, result = re.fullmatch(r"(\d+)([-+])(\d+)=(\d+)", equation).groups()
                assert (operator.add if sign == "+" else operator.sub)(int(left), int(right)) == int(result) >= 0
                assert operands[0] <= int(right) <= operands[1]
                assert before in (None, left)
                before = result
            assert row["answer"] == before
            assert steps[0] <= len(row["equations"]) <= steps[1]

    def test_the_question_alone_determines_the_answer(self):
        gains = ("buys", "finds", "gets", "wins", "makes")
        for row in arithmetic.problems("eval", 300, 0):
            story = row["question"].split(". How many")[0]
            (start, *numbers), verbs = re.findall(r"\d+", story), re.findall(r"(?:,| and) (\w+) \d+", story)
            assert len(verbs) == len(numbers) == len(row["equations"])
            total = int(start)
            for verb, number in zip(verbs, numbers, strict=True):
                total += int(number) if verb in gains else -int(number)
            assert str(total) == row["answer"]

    def test_rows_do_not_change_between_versions(self):
        # Otherwise problems that the bundled model was trained on could become held-out ones.
        assert next(arithmetic.problems("train", 1, 0)) == {
            "question": "Mia starts with 15 stamps, loses 5 and gets 9. How many stamps now?",
            "answer": "19",
            "equations": ["15-5=10", "10+9=19"],
        }
        assert next(arithmetic.problems("eval", 1, 0))["equations"] == ["10+18=28", "28-8=20", "20+8=28"]

    def test_a_tenth_is_held_out(self):
        lists = [[f"{a}+{b}={a + b}"] for a in range(2, 102) for b in range(2, 102)]
        # 10,000 draws at one in ten: standard deviation 30.
        assert 850 < sum(map(is_held_out, map(" ".join, lists))) < 1150

    def test_numbers_of_steps_are_equally_likely(self):
        counts = [len(row["equations"]) for row in arithmetic.problems("train", 3000, 0)]
        assert all(900 < counts.count(steps) < 1100 for steps in (1, 2, 3))

    def test_narrow_ranges_repeat_questions_or_are_an_error(self):
        rows = list(arithmetic.problems("train", 300, 0, steps=(1, 1), operands=(7, 7)))
        assert {row["answer"] for row in rows} <= {"0", "14"}
        with pytest.raises(UsageError, match=r"no eval problem with steps \[1, 1\] and operands \[7, 7\]"):
            list(arithmetic.problems("eval", 1, 0, steps=(1, 1), operands=(7, 7)))

    @pytest.mark.parametrize("arguments", [{"steps": (0, 2)}, {"steps": (3, 1)}, {"operands": (9, 2)}])
    def test_invalid_ranges_are_errors(self, arguments):
        with pytest.raises(UsageError, match="it needs 1 <= first <= last"):
            list(arithmetic.problems("train", 1, 0, **arguments))


def exact(expression):
    """The value of a solution and its numbers, by Python's own parser: an independent oracle."""
    operators = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
    numbers = []

    def value(node):
        if isinstance(node, ast.BinOp):
            return operators[type(node.op)](value(node.left), value(node.right))
        numbers.append(node.value)
        return Fraction(node.value)

    return value(ast.parse(expression, mode="eval").body), sorted(numbers)


expressions = st.recursive(
    st.integers(0, 99).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: "({} {}{})".format(*parts)),
    max_leaves=8,
)

SUM = {"numbers": [3, 5, 7], "target": 26}


class TestCountdown:
    def test_every_problem_comes_with_a_solution(self):
        for row in countdown.problems("train", 500, 0):
            assert exact(row["answer"]) == (row["target"], sorted(row["numbers"]))
            assert row["target"] not in row["numbers"]
            assert 10 <= row["target"] <= 100
            assert len(row["numbers"]) in (3, 4)

    def test_ranges_with_too_few_problems_are_errors(self):
        with pytest.raises(UsageError, match="different eval problems; widen the ranges"):
            list(countdown.problems("eval", 500, 0, count=(2, 2), numbers=(1, 5)))
        with pytest.raises(UsageError, match=r"count is \[1, 4\]; it needs 2 <= first <= last"):
            list(countdown.problems("eval", 1, 0, count=(1, 4)))

    @given(expressions)
    def test_the_parser_agrees_with_python(self, expression):
        try:
            expected = exact(expression)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                evaluate(expression)
        else:
            value, used = evaluate(expression)
            assert (value, sorted(used)) == expected

    @given(st.text(alphabet="0123456789+-*/() \n=x.\u00b2\u0663", max_size=300))
    def test_the_parser_raises_nothing_else(self, text):
        try:
            value, used = evaluate(text)
        except (ValueError, ZeroDivisionError):
            return
        assert isinstance(value, Fraction)
        assert used

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            ("3*7+5", "plain"),
            ("5 + (7 * 3)", "spaces, brackets, another order"),
            ("(((3*7)+5))", "needless brackets"),
            ("5+7\u00d73", "a typographic sign"),
            ("3*7 + 5 = 26", "the result written out"),
            ("3*7 + 5 = 26.", "the period of a sentence"),
            ("**5 + 7\u00d73**.", "in bold"),
            ("$3*7+5$", "in dollars"),
            ("```\n3*7+5\n```", "in a fence"),
        ],
    )
    def test_must_accept(self, answer, why):
        assert self.score(answer).value == 1, why

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            ("26", "the target alone"),
            ("3*7+5+0", "an extra number"),
            ("3*7+5*1", "an extra one that changes nothing"),
            ("37-5-6", "digits glued together"),
            ("3*7", "leaves a number out"),
            ("3*5+7", "misses the target"),
            ("3*7+5=27", "a false claim"),
            ("3*7+5=20+6", "an equation that ends in another expression"),
            ("26=3*7+5", "the wrong way round"),
            ("3**7+5", "a power"),
            ("7(3)+5", "a product without its sign"),
            ("-5+3*7+5+5", "a number used again with a sign"),
            ("3*\u0667+5", "digits of another script"),
            ("3*7+5.0", "a decimal"),
            ("**3*7+5", "bold that does not end"),
            ("3*7+5.5", "a period inside"),
            ("3*7\u00bd+5", "a fraction in one sign"),
            ("(3*7+5", "an open bracket"),
            ("3*7+5)", "a bracket too many"),
            ("3*7+5 or 7*3+5 or 26", "a list"),
            ("3/(5-5)+7", "a division by zero"),
            ("__import__('os')", "code"),
            ("9**9**9**9", "a tower of powers"),
            ("3*7+5</answer>\n<answer>5*3+7", "two different answers"),
            ("", "nothing"),
        ],
    )
    def test_must_reject(self, answer, why):
        assert self.score(answer).value == 0, why

    def test_division_is_exact(self):
        score = self.score("8/(3-8/3)", numbers=[3, 3, 8, 8], target=24)
        assert score.value == 1

    def test_whole_numbers_may_come_as_floats_or_text(self):
        assert self.score("3*7+5", numbers=["3", 5.0, 7], target=26.0).value == 1

    def test_an_answer_in_unclosed_reasoning_does_not_count(self):
        score = Countdown()(Example("", info=SUM), Completion("<think>\n<answer>3*7+5</answer>"))
        assert (score.value, score.status) == (0, "no_answer")

    def test_deep_nesting_is_over_the_limit(self):
        score = self.score("(" * 5000 + "26" + ")" * 5000)
        assert (score.value, score.status) == (0, "over_limit")
        assert self.score("(" * 99 + "26" + ")" * 99).status == "scored"

    @pytest.mark.parametrize(
        "info",
        [
            {},
            {"numbers": [1, 2]},
            {"numbers": 5, "target": 5},
            {"numbers": "12", "target": 3},
            {"numbers": ["a"], "target": 3},
            {"numbers": [1, 2.5], "target": 3},
            {"numbers": [1, 2], "target": None},
            {"numbers": [1, 2], "target": float("inf")},
        ],
    )
    def test_a_problem_that_cannot_be_scored_is_unscored(self, info):
        example = Example("", info=info)
        assert Countdown().problem(example)
        score = Countdown()(example, Completion("<answer>1+2</answer>"))
        assert (score.value, score.status) == (None, "bad_gold")

    @staticmethod
    def score(answer, **info):
        completion = Completion(f"<think>\nso\n</think>\n<answer>\n{answer}\n</answer>")
        return Countdown()(Example("", info=info or SUM), completion)


class TestLetterCounting:
    def test_answers_are_correct_number_words(self):
        for row in letter_counting.problems("eval", 500, 0):
            number = sum(letter == row["letter"] for letter in row["word"])
            assert row["answer"] == ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"][number]

    def test_absent_and_repeated_letters_are_asked_for(self):
        answers = [row["answer"] for row in letter_counting.problems("train", 1000, 0)]
        assert {"zero", "one", "two", "three", "four"} <= set(answers)
        assert answers.count("one") < 600

    def test_no_word_can_contain_a_letter_more_than_ten_times(self):
        most = max(syllable.count(letter) for syllable in letter_counting.SYLLABLES for letter in syllable)
        assert 5 * most < len(letter_counting.WORDS)

    def test_ranges_with_too_few_questions_are_errors(self):
        with pytest.raises(UsageError, match="different eval problems; widen the ranges"):
            list(letter_counting.problems("eval", 1000, 0, syllables=(1, 1)))
        with pytest.raises(UsageError, match=r"syllables is \[2, 6\]; it needs 1 <= first <= last <= 5"):
            list(letter_counting.problems("eval", 1, 0, syllables=(2, 6)))
