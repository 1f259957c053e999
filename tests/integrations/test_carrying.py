"""Examples survive another framework's data unchanged, and adjacent completions of one example are a group."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env import Completion, Example, GroupVerifier, Score, Verifier, load_task
from grpo_env.errors import UsageError
from grpo_env.integrations import openrlhf, verl
from grpo_env.integrations.examples import Unpacker
from grpo_env.integrations.scoring import make_completion, refuse, score_pairs
from grpo_env.rows.formats.packed_example import is_packed, pack
from grpo_env.taskfile.task import Task, make_task

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
PLAIN = {
    "version": 1,
    "task": "plain",
    "dataset": {"path": "none.jsonl", "answer": "{{ gold }}"},
    "prompt": {"user": "{{ question }}"},
    "verifiers": {"accuracy": {}},
    "metric": "accuracy",
}


@pytest.fixture
def plain(tmp_path) -> Task:
    return make_task(PLAIN, "plain.yaml", tmp_path)


def test_an_example_survives_packing(task):
    unpack = Unpacker(task)
    for example in task.examples("train"):
        text = pack(example)
        assert "\n" not in text
        assert unpack(text, "row 1") == example
        assert unpack(text, "row 2") is unpack(text, "row 3")  # one object, one group


@given(row=st.dictionaries(st.text(), values, max_size=4), id=st.text())
def test_any_row_survives_packing(row, id):
    text = pack(Example(id, info=row))
    assert is_packed(text)
    assert text.encode()  # a lone surrogate is escaped
    assert json.loads(text)["row"] == row


@pytest.mark.parametrize("text", ["18", "", '{"answer": 3}', None, 3])
def test_gold_answers_are_not_mistaken_for_packed_examples(text):
    assert not is_packed(text)


@pytest.mark.parametrize("text", ["{", '{"grpo_env": "a"}', '{"grpo_env": "a", "row": 3}', "[]"])
def test_a_damaged_example_is_reported_with_its_row(plain, text):
    with pytest.raises(UsageError, match=r"^row 7: .*write the dataset again"):
        Unpacker(plain)(text, "row 7")


def test_an_example_of_another_task_is_reported_with_its_row(plain):
    with pytest.raises(UsageError, match=r"row 7: .*unknown field 'gold'.*another task"):
        Unpacker(plain)(pack(Example("a", info={"answer": "3"})), "row 7")


@dataclass(frozen=True)
class Rank(GroupVerifier):
    """Scores the size of the group."""

    def group(self, example, completions):
        return [Score(float(len(completions))) for _ in completions]


def test_adjacent_pairs_of_one_example_are_a_group(plain):
    task = Task(plain.spec, plain.source, plain.folder, Rank())
    first, second = Example("1", answer="1"), Example("1", answer="1")
    pairs = [(example, Completion("x")) for example in (first, first, second, first, first, first)]
    assert [score.value for score in score_pairs(task, pairs)] == [2, 2, 1, 3, 3, 3]
    assert task.scores_groups
    assert not plain.scores_groups
    with pytest.raises(UsageError, match="compares the completions of a group, but verl"):
        refuse(task, "verl")


def test_trainers_that_play_no_episodes_refuse_tasks_with_an_environment():
    till = load_task("till")
    for use in (verl.RewardFunc, lambda task: next(verl.rows(task, "eval"))):
        with pytest.raises(UsageError, match="task till: it has an environment, whose episodes are not played by verl"):
            use(till)
    for use in (openrlhf.RewardFunc, lambda task: next(openrlhf.rows(task, "eval"))):
        with pytest.raises(UsageError, match="not played by OpenRLHF; TRL and verifiers do"):
            use(till)


def test_packed_examples_get_the_scores_of_the_task(task, cases):
    unpack = Unpacker(task)
    pairs = [(unpack(pack(row.example), "row"), make_completion(task, row.text)) for row in cases]
    assert [score.value for score in score_pairs(task, pairs)] == [row.score.value for row in cases]


def test_chat_messages_with_split_off_reasoning_are_completions(task):
    messages = [{"role": "assistant", "content": "<answer>\n3\n</answer>", "reasoning_content": "1+2=3"}]
    assert make_completion(task, messages).text == "<think>\n1+2=3\n</think>\n<answer>\n3\n</answer>"
    with pytest.raises(UsageError, match="must be a string or a list of chat messages"):
        make_completion(task, 3)


@dataclass(frozen=True)
class Broken(Verifier):
    """Fails, so that the total has no parts."""

    def __call__(self, example, completion):
        raise RuntimeError("no")


def test_a_total_that_fails_has_unscored_parts(plain):
    task = Task(plain.spec, plain.source, plain.folder, Broken())
    (score,) = score_pairs(task, [(Example("1", answer="1"), Completion("x"))])
    assert [(part.name, part.value, part.status) for part in score.walk()] == [
        ("total", None, "error"),
        ("accuracy", None, "error"),
    ]
