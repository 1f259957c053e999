"""Episodes with real processes: what the model is told, how an episode ends, and who is to blame."""

import json
import os
import pickle
import time
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env.core import Completion, Example, Group, Message, Turn, score_groups, score_one
from grpo_env.environments.episode import EnvironmentClass, Episode, check_template, messages_of
from grpo_env.errors import UsageError
from grpo_env.rows.reader import Line
from grpo_env.scoring import OutputFile, score_files
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import make_task

HERE = Path(__file__).parent
STOCK = {"tea": 3.0, "rice": 4.0}


def a_task(cls="Till", verifiers=None, format=None, **environment):
    data = {
        "version": 1,
        "task": "till",
        "dataset": {"path": "orders.jsonl", "answer": "7"},
        "prompt": {"user": "What is the total?"},
        "format": format or {},
        "environment": {"use": f"till.py:{cls}", **environment},
        "verifiers": verifiers or {"environment_reward": {}},
        "metric": next(iter(verifiers or {"environment_reward": {}})),
    }
    return make_task(data, "till.yaml", HERE)


def call(tool, **arguments):
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def play(task, texts, info=None, finish="stop"):
    """The episode of these turns, until it ends, and the messages after each."""
    environment = EnvironmentClass.of_task(task)
    told = []
    with environment.process() as process:
        prompt = (Message("user", "What is the total?"),)
        example = Example("0", prompt, "7", info or {"stock": STOCK})
        episode = Episode(environment, process, example, prefill=task.format.prefill)
        told.append(episode.begin())
        for text in texts:
            if episode.ended:
                break
            told.append(episode.advance(text, finish))
    return episode.completion(), told


def test_an_episode_of_calls_is_answered_in_order_and_ends_with_words():
    both = call("price", item="tea") + call("price", item="rice")
    completion, told = play(a_task(), [both, "7"])
    assert told[0] == [{"role": "user", "content": "What is the total?"}]
    assert told[1] == [
        {"role": "tool", "name": "price", "tool_call_id": "call00001", "content": "3.0"},
        {"role": "tool", "name": "price", "tool_call_id": "call00002", "content": "4.0"},
    ]
    assert told[2] == []
    assert completion.finish == "stop"
    assert [completion.text[turn.start : turn.end] for turn in completion.turns] == [both, "7"]
    assert completion.environment == ({"stock": STOCK, "seen": []}, 1.0, False, "", "")
    assert completion.turns[0].state == {"stock": STOCK, "seen": ["tea", "rice"]}
    assert pickle.loads(pickle.dumps(completion)) == completion
    assert (
        tuple(Turn.from_dict(json.loads(json.dumps(turn.to_dict()))) for turn in completion.turns) == completion.turns
    )
    assert [message["role"] for message in messages_of(completion.turns)] == ["assistant", "tool", "tool", "assistant"]


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        ("<tool_call>price</tool_call>", "unreadable", "not JSON"),
        (call("prize", item="tea"), "unknown_tool", "did you mean 'price'"),
        (call("get_reward"), "unknown_tool", "no tool"),
        (call("__init__"), "unknown_tool", "no tool"),
        (call("price"), "wrong_arguments", "item is missing"),
        (call("price", item=3), "wrong_arguments", "must be string, not integer"),
        (call("price", item="tea", self=1), "wrong_arguments", "no argument 'self'"),
        (call("price", item="gold"), "raised", "KeyError: 'gold'"),
    ],
)
def test_the_texts_faults_are_told_to_the_model_and_the_episode_goes_on(text, problem, said):
    completion, told = play(a_task(), [text, "7"])
    assert completion.turns[0].results[0].problem == problem
    assert said in told[1][0]["content"]
    assert len(completion.turns) == 2
    assert completion.environment.failure == ""


def test_the_last_turn_and_a_text_that_was_cut_off():
    tea = call("price", item="tea")
    completion, told = play(a_task(max_turns=2), [tea] * 5)
    assert (completion.finish, len(completion.turns), told[-1]) == ("turns", 2, [])
    completion, _ = play(a_task(), [tea, "7"], finish="length")
    assert (completion.finish, len(completion.turns)) == ("length", 1)
    assert completion.turns[0].calls == ()


def test_a_late_tool_is_ended_with_what_it_started_and_scores_0():
    task = a_task("Rough", tool_timeout=1.0)
    completion, _ = play(task, [call("sleep", seconds=0.0), call("sleep", seconds=600.0), "7"], {"a": 1})
    late = completion.turns[1]
    assert (late.results[0].problem, completion.finish, completion.environment.late) == ("late", "stop", True)
    assert late.state == completion.turns[0].state
    assert score_one(task.verifier, Example("0"), completion).value == 0.0
    child = int(completion.turns[0].results[0].text)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split(")")[1]:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        pytest.fail("the environment's child is still running")


@pytest.mark.parametrize(
    ("info", "texts", "failure"),
    [
        ({"fail": "reset"}, ["7"], "reset raised OSError: no room"),
        ({"fail": "reset exits"}, ["7"], "process ended in reset"),
        ({"fail": "number"}, ["7"], "reset returned int; it must return text or None"),
        ({"fail": "reward"}, ["7"], "get_reward returned nan"),
        ({}, [call("exit", code=3)], "process ended in call"),
        ({"fail": object()}, ["7"], "the row cannot be sent"),
    ],
)
def test_an_environment_that_fails_leaves_its_row_unscored(info, texts, failure):
    task = a_task("Rough", {"turns": {"most": 4}})
    completion, _ = play(task, texts, info or {"a": 1})
    assert failure in completion.environment.failure
    score = score_one(task.verifier, Example("0"), completion)
    assert (score.value, score.status) == (None, "error")
    assert failure in score.explanation


def test_results_and_states_are_bounded_and_an_exit_is_a_raise():
    texts = [call("big"), call("exit", code=0), call("fill", size=200_000), "7"]
    completion, _ = play(a_task("Rough", max_result_chars=100), texts, {"a": 1})
    big, left, filled, _ = completion.turns
    assert big.results[0].text == "x" * 100 + "\n[cut: 10,000,000 characters]"
    assert left.results[0].problem == "raised"
    assert filled.state is None
    assert completion.environment.reward == 1.0


def test_a_partner_answers_until_it_has_nothing_to_say():
    completion, told = play(a_task("Higher", {"turns": {"most": 4}}), ["5", "words", "6", "7"], {"number": 7})
    assert told[0][-1]["content"] == "What is the total? It is from 1 to 9."
    assert told[1] == [{"role": "user", "content": "higher"}]
    assert told[2][0]["content"].startswith("Error: ValueError")
    assert [turn.reply for turn in completion.turns][2:] == ["higher", None]
    assert completion.finish == "stop"
    completion, _ = play(a_task("Higher", {"turns": {"most": 4}}), ["13"], {"number": 7})
    assert completion.environment.failure == "reply returned int; it must return text or None"


def test_step_scores_by_hand(monkeypatch):
    """Two of three calls are right; the state goes 0 -> 1/2 -> 1/2 -> 1; the answer pays at the end."""
    verifiers = {
        "accuracy": {"process": 1.0},
        "tool_calls": {"process": 0.1, "on": "each"},
        "stocked": {"use": "till:Stocked", "process": 0.5, "on": "state"},
    }
    monkeypatch.syspath_prepend(HERE)
    task = a_task("Till", verifiers)
    texts = [call("price", item="tea"), call("price", it="tea"), call("price", item="rice"), "7"]
    completion, _ = play(task, texts)
    score = score_one(task.verifier, Example("0", answer="7"), completion)
    ends = [turn.end for turn in completion.turns]
    paid = [sum(step.value for step in score.steps if step.end == end) for end in ends]
    assert paid == pytest.approx([0.1 + 0.25, 0.0, 0.1 + 0.25, 0.0 + 1.0])
    assert score.part("stocked").value == 1.0
    assert score.part("tool_calls").value == pytest.approx(2 / 3)  # of the turns with calls, so without the answer


def test_a_recorded_episode_scores_again_without_its_environment(tmp_path):
    verifiers = {"accuracy": {}, "tool_calls": {"process": 0.5}, "environment_reward": {"weight": 0.5}}
    task = a_task("Till", verifiers, max_turns=2)
    completion, _ = play(task, [call("price", item="tea"), call("prize")])
    played = score_one(task.verifier, Example("0", answer="7"), completion)
    row = {
        "completion": completion.text,
        "finish_reason": completion.finish,
        "turns": [turn.to_dict() for turn in completion.turns],
        "environment": completion.environment._asdict(),
    }
    file, out, again = (tmp_path / name for name in ("episodes.jsonl", "scores.jsonl", "again.jsonl"))
    file.write_text(json.dumps(row) + "\n")
    score_files(task, [file], OutputFile(out), console=Console(stderr=True))
    score_files(task, [out], OutputFile(again), console=Console(stderr=True))
    for path in (out, again):
        (scored,) = map(json.loads, path.read_text().splitlines())
        assert scored["total"] == pytest.approx(played.value)
        assert scored["steps"] == [vars(step) for step in played.steps]
        assert tuple(map(Turn.from_dict, scored["turns"])) == completion.turns
        assert scored["finish_reason"] == "turns"
    row["turns"][1]["text"] = "x" * len(row["turns"][1]["text"])
    file.write_text(json.dumps(row) + "\n")
    bad = RowReader(task).read(Line(1, file.read_bytes()))
    assert "turn 2 is not at characters" in bad.problem


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        ("NoReset", "has no method reset"),
        ("NoTypes", "the tool price cannot be described"),
        ("NoDocstring", "the tool price cannot be described"),
        ("NoTools", "has neither a tool"),
        ("Star", r"the tool price takes \*items"),
        ("Async", "the tool price is an async function"),
        ("Arguments", "must be made without arguments"),
        ("Nothing", "cannot be loaded"),
        ("json", "is not a class|not a function"),
    ],
)
def test_a_class_that_cannot_work_is_one_clear_line(cls, message):
    with pytest.raises(UsageError, match=message) as error:
        EnvironmentClass.of_task(a_task(cls))
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("till.yaml: environment.use")


def test_columns_that_reset_cannot_take_are_known_before_an_episode():
    environment = EnvironmentClass.of_task(a_task("Needs"))
    environment.check_columns([Example("0", info={"shelf": "A", "more": 1})])
    with pytest.raises(UsageError, match=r"reset of Needs cannot take a row \(missing a required argument: 'shelf'\)"):
        environment.check_columns([Example("0", info={"shelf": "A"}), Example("1", info={"more": 1})])


def test_what_reset_adds_is_recorded_and_stands_once_in_the_prompt():
    completion, _ = play(a_task("Higher", {"turns": {"most": 4}}), ["7"], {"number": 7})
    assert completion.environment.told == " It is from 1 to 9."
    prompt = (Message("system", "s"), Message("user", "What?"))
    read = completion.environment.add_to(prompt)
    assert read == (Message("system", "s"), Message("user", "What? It is from 1 to 9."))
    assert completion.environment.add_once_to(read) == read
    assert completion.environment.add_once_to(prompt) == read
    assert completion.environment.add_once_to(prompt[:1]) == (*prompt[:1], Message("user", " It is from 1 to 9."))


def test_what_reset_adds_is_added_also_to_a_prompt_that_ends_with_it():
    _, told = play(a_task("Echo"), [], {"said": "total?"})
    assert told[0] == [{"role": "user", "content": "What is the total?total?"}]


def test_verifiers_see_the_prompt_with_what_each_episode_was_told():
    verifiers = {
        "asked": {"use": "till.py:Asked", "on": "each"},
        "outer": {"use": "any_of", "of": {"inner": {"use": "till.py:Asked"}}},
        "votes": {"use": "till.py:Votes"},
        "others": {"use": "any_of", "of": {"inner votes": {"use": "till.py:Votes"}, "first": {"use": "till.py:Asked"}}},
    }
    task, prompt = a_task("Echo", verifiers), (Message("user", "What is the total?"),)
    said = ["no. 1", "no. 2", "no. 2"]
    played = [play(task, ["no. 2"] * 3, {"said": text})[0] for text in said]
    failed = play(task, ["7"], {"said": 7})[0]
    ((_, *rows),) = score_groups(task.verifier, [Group(Example("0", prompt), (failed, *played))])
    assert [[score.part(name).value for name in ("asked", "outer", "votes", "others", "first")] for score in rows] == [
        [float(text == "no. 2")] * 2 + [3.0, 3.0, float(text == "no. 2")] for text in said
    ]


def test_calls_in_thoughts_that_the_prefill_opened_are_not_run_and_a_partner_does_not_read_them():
    prefill = {"reasoning": "think", "prefill": "<think>\n"}
    tea = call("price", item="tea")
    completion, _ = play(a_task(format=prefill), [f"Perhaps {tea}"])
    assert (completion.turns[0].calls, completion.finish, completion.environment.reward) == ((), "stop", 0.0)
    completion, _ = play(a_task(format=prefill), [f"Surely.</think>{tea}", "Perhaps 7"])
    assert [len(turn.calls) for turn in completion.turns] == [1, 0]
    completion, _ = play(a_task("Echo", format=prefill), ["a</think> b ", "c"], {"said": ""})
    assert [turn.reply for turn in completion.turns] == ["'b'", "''"]


def test_a_state_that_is_too_large_counts_as_nothing_and_says_so():
    verifiers = {"filled": {"use": "till.py:Filled", "on": "state", "process": 1.0, "weight": 1.0}}
    completion, _ = play(a_task("Rough", verifiers), [call("fill", size=5), call("fill", size=200_000), "7"])
    score = score_one(a_task("Rough", verifiers).verifier, Example("0", answer="7"), completion).part("filled")
    assert [step.value for step in score.steps] == [1.0, -1.0, 0.0]
    assert "too large" in score.steps[1].explanation
    assert score.value == 0


def test_other_bad_input(monkeypatch):
    with pytest.raises(UsageError, match=r"environment.max_turns.*500"):
        a_task(max_turns=1000)
    for name, options in {"turns": {"most": 5}, "tool_calls": {}, "any_of": {"of": {"environment_reward": {}}}}.items():
        with pytest.raises(UsageError, match=rf"till.yaml: verifier '{name}': on: state: it reads turns, not states"):
            a_task(verifiers={name: {**options, "on": "state"}})
    a_task(verifiers={"any_of": {"of": {"exact_text": {}}, "on": "state"}})
    environment = EnvironmentClass.of_task(a_task())
    with pytest.raises(UsageError, match="does not mention tools"):
        check_template("{{ messages }}", environment, "gpt2")
    with pytest.raises(UsageError, match="no chat template"):
        check_template(None, environment, "gpt2")
    monkeypatch.setenv("GRPO_ENV_SAFE", "1")
    with pytest.raises(UsageError, match="GRPO_ENV_SAFE=1 refuses"):
        EnvironmentClass.of_task(a_task())


def test_a_completion_without_turns_is_as_before():
    task = a_task(verifiers={"exact_text": {"on": "each", "process": 1.0}})
    score = score_one(task.verifier, Example("0", answer="7"), Completion("7"))
    assert [(step.start, step.end, step.value) for step in score.steps] == [(0, 1, 1.0)]
