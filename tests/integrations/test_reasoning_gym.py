"""Entries and values are those of reasoning-gym's own code; hostile answers end in time."""

import hashlib
import json
import multiprocessing

import pytest

from grpo_env import Completion, Example
from grpo_env.core import score_one
from grpo_env.errors import UsageError
from grpo_env.integrations.examples import Unpacker
from grpo_env.rows.formats.packed_example import pack
from grpo_env.taskfile.task import make_task

gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed (make test-integrations)")

from reasoning_gym.factory import DATASETS  # noqa: E402

from grpo_env.integrations.reasoning_gym import ReasoningGym, problems  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # the dependency's warnings
NAMES = ("leg_counting", "chain_sum", "countdown", "sudoku", "rearc", "arc_1d", "word_sorting", "simple_equations")


def task(dataset, folder, **arguments):
    module = "grpo_env.integrations.reasoning_gym"
    spec = {
        "version": 1,
        "task": dataset,
        "dataset": {
            "generator": f"{module}:problems",
            "arguments": {"dataset": dataset, **arguments},
            "limit": {"train": 5, "eval": 5},
            "answer": "{{ answer }}",
        },
        "prompt": {"user": "{{ question }}"},
        "verifiers": {"gym": {"use": f"{module}:ReasoningGym"}, "strict_format": {"weight": 0.2}},
        "metric": "gym",
    }
    return make_task(spec, f"{dataset}.yaml", folder)


def answers(entry, other_entry):
    """Correct, nearly correct, another entry's, wrong and empty."""
    gold = entry["answer"]
    return [gold, f"It is {gold}.", other_entry["answer"], "17", ""]


def expected_value(score, text, entry):
    """The value of reasoning-gym's scorer, or ``None`` if it raises."""
    try:
        return float(score(text, entry))
    except Exception:
        return None


@pytest.mark.parametrize("name", NAMES)
def test_values_equal_those_of_reasoning_gyms_scorer(tmp_path, name):
    gym_task = task(name, tmp_path)
    unpack = Unpacker(gym_task)
    # The entries as reasoning-gym makes them, tuples and all.
    seed = int(hashlib.sha256(b"0").hexdigest()[:8], 16) // 2
    dataset = gym.create_dataset(name, seed=seed, size=120)
    entries = {entry["question"]: entry for entry in map(dataset.__getitem__, range(40))}
    examples = gym_task.examples("train")
    values = []
    for example, next_example in zip(examples, examples[1:] + examples[:1], strict=True):
        for text in answers(example.info, next_example.info):
            expected = expected_value(dataset.score_answer, text.strip(), entries[example.info["question"]])
            for variant in (example, unpack(pack(example), "row")):
                score = score_one(
                    gym_task.verifier, variant, Completion(f"<think>\n</think>\n<answer>\n{text}\n</answer>")
                )
                assert score.part("gym").value == (0.0 if expected is None else expected), (text, score)
            values.append(expected)
    assert len(values) == 25
    assert values[0] == 1.0
    assert len(set(values)) > 1


def test_every_data_set_scores_as_its_own_scorer_does():
    compared = 0
    for name in sorted(DATASETS.keys() - {"composite"}):
        (entry,) = problems("train", 1, 0, name)
        scorer = gym.create_dataset(name)
        for text in filter(None, (entry["answer"], "17")):
            expected = expected_value(scorer.score_answer, text.strip(), entry)
            if name in ("arc_agi", "rearc"):  # these cannot score an entry that was JSON
                expected = 1.0 if text is entry["answer"] else expected
            score = gym_score(entry, f"<answer>\n{text}\n</answer>", timeout=20.0)
            assert score.value == (expected or 0.0), (name, text, score)
            compared += 1
    assert compared > 200


def test_splits_share_no_question_whatever_the_seeds():
    def questions(split, seed):
        return {row["question"] for row in problems(split, 100, seed, "leg_counting")}

    train = [questions("train", seed) for seed in (42, 43)]
    evaluation = [questions("eval", seed) for seed in (42, 43)]
    assert all(len(texts) == 100 for texts in train + evaluation)
    assert not (train[0] | train[1]) & (evaluation[0] | evaluation[1])
    assert len(train[0] & train[1]) < 5  # with reasoning-gym's own seeds they share 99


def test_entries_are_json_with_the_data_sets_arguments():
    (row,) = problems("train", 1, 0, "chain_sum", min_terms=7, max_terms=7)
    assert json.loads(json.dumps(row)) == row
    assert row["question"].count("+") + row["question"].count("-") >= 6
    assert row["arguments"] == {"min_terms": 7, "max_terms": 7}
    assert row["metadata"]["source_dataset"] == "chain_sum"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dataset": "leg_count"}, "did you mean 'leg_counting'"),
        ({"dataset": "leg_counting", "min_legs": 3}, "min_legs"),
        ({"dataset": "leg_counting", "min_animals": -1}, "min_animals"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(UsageError, match=message):
        list(problems("train", 5, 0, **arguments))


def test_too_few_questions_are_an_error():
    with pytest.raises(UsageError, match="found only"):
        list(problems("train", 1000, 0, "coin_flip", min_trials=3, max_trials=3))


def row(name):
    return next(iter(problems("train", 1, 0, name)))


def gym_score(row, text, **options):
    return score_one(ReasoningGym(**options), Example("", info=row), Completion(text))


def test_an_endless_answer_times_out_and_the_next_one_is_scored():
    hard = row("countdown")
    late = gym_score(hard, "<answer>9**9**9**9</answer>", timeout=1.0)
    assert (late.value, late.status) == (0.0, "timeout")
    asleep = gym_score(hard, "<answer>__import__('time').sleep(600)</answer>", timeout=0.5)
    assert (asleep.value, asleep.status) == (0.0, "timeout")
    assert gym_score(hard, f"<answer>{hard['answer']}</answer>", timeout=1.0).value == 1.0


def test_an_answer_writes_no_file_and_starts_no_process(tmp_path):
    target = tmp_path / "written"
    for attack in (f"__import__('os').system('touch {target}')", f"open('{target}', 'w').write('x')"):
        gym_score(row("countdown"), f"<answer>{attack}</answer>")
        assert not target.exists()


def test_a_text_that_cannot_be_scored_has_a_status():
    hard = row("prime_factorization")
    assert gym_score(hard, "<answer>many</answer>").status == "no_answer"  # its scorer raises
    assert gym_score(hard, "many").status == "no_answer"
    assert gym_score(hard, "<think>\n<answer>2</answer>").status == "no_answer"
    assert gym_score(hard, f"<answer>{'9' * 30_000}</answer>").status == "over_limit"
    assert gym_score({"question": "", "answer": ""}, "<answer>1</answer>").status == "bad_gold"
    broken = {**hard, "metadata": {"source_dataset": "no_such"}}
    assert gym_score(broken, "<answer>1</answer>").value is None


def test_the_last_closed_answer_is_scored_and_surrogates_are_text():
    hard = row("leg_counting")
    right = f"<answer>{hard['answer']}</answer>"
    assert gym_score(hard, f"<answer>0</answer> no: {right}").value == 1.0
    assert gym_score(hard, f"<think>{right}</think><answer>none</answer>").value == 0.0
    assert gym_score(hard, "<answer>\ud800</answer>").value == 0.0


def test_forked_processes_have_scorers_of_their_own():
    hard = row("leg_counting")
    text = f"<answer>{hard['answer']}</answer>"
    assert gym_score(hard, text).value == 1.0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert [score.value for score in pool.starmap(gym_score, [(hard, text)] * 8)] == [1.0] * 8
    assert gym_score(hard, text).value == 1.0
