"""Task files: the tasks they define, and a one-line message for each kind of error."""

import json
import math
import os
import pickle
import sys
from types import SimpleNamespace

import pytest
import yaml

from grpo_env import registry, score_groups
from grpo_env.audit import load_hacks
from grpo_env.check import failed_cases
from grpo_env.core import Example, Message
from grpo_env.docgen.task_summary import describe
from grpo_env.errors import UsageError
from grpo_env.taskfile.prompt import unused_template_kwargs
from grpo_env.taskfile.task import find_task_file, load_task, make_task, task_files
from grpo_env.taskfile.yaml_file import parse_yaml

GOOD = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "rows_{split}.jsonl", "split": {"train": "a", "eval": "b"}, "answer": "{{ result }}"},
    "prompt": {"system": "Use <{{ format.answer }}>.", "user": "{{ question }}"},
    "verifiers": {"accuracy": {"weight": 2.0}, "strict_format": {"weight": 0.5}, "tag_count": {"weight": 0.0}},
    "metric": "accuracy",
}
RIGHT = "<think>\n2+3=5\n</think>\n<answer>\n5\n</answer>"


def changed(key, value):
    """GOOD with a dotted key set (or removed, for ``...``)."""
    data = json.loads(json.dumps(GOOD))
    *path, last = key.split(".")
    section = data
    for step in path:
        section = section.setdefault(step, {})
    if value is ...:
        del section[last]
    else:
        section[last] = value
    return data


@pytest.fixture
def folder(tmp_path):
    for split, start in (("a", 1), ("b", 10)):
        rows = [{"question": f"{n}+1?", "result": n + 1} for n in range(start, start + 3)]
        (tmp_path / f"rows_{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def file(folder):
    path = folder / "sums.yaml"
    path.write_text(yaml.safe_dump(GOOD))
    return path


def test_a_task_builds_examples_with_prompt_answer_and_columns(file):
    example = load_task(file).examples("eval")[1]
    assert example.id == "eval/1"
    assert example.prompt == (Message("system", "Use <answer>."), Message("user", "11+1?"))
    assert example.answer == "12"
    assert example.info == {"question": "11+1?", "result": 12}


def test_values_of_a_part(folder):
    verifiers = {
        "correct": {"use": "accuracy", "values": {"right": 2, "wrong": -1.5}, "statuses": {"no_answer": -2}},
        "accuracy": {"weight": 0},
    }
    task = make_task(changed("verifiers", verifiers), "x.yaml", folder)
    scores = [task.score(text, answer="5") for text in (RIGHT, "<answer>6</answer>", "<answer></answer>")]
    assert [score.value for score in scores] == [2.0, -1.5, -2.0]
    assert [score.part("accuracy").value for score in scores] == [1.0, 0.0, 0.0]
    assert "values: {right: 2.0, wrong: -1.5}" in yaml.safe_dump(task.resolved(), default_flow_style=None)


def test_worked_examples_come_before_the_question(folder):
    shots = [{"user": "1+1?", "assistant": "<{{ format.answer }}>2</{{ format.answer }}>"}]
    task = make_task(changed("prompt.shots", shots), "x.yaml", folder)
    roles = [message.role for message in task.examples("train")[0].prompt]
    assert roles == ["system", "user", "assistant", "user"]
    assert task.examples("train")[0].prompt[2].content == "<answer>2</answer>"


ASKED = {"role": "user", "content": "{{ 1 }}?"}  # no template: it stays as it is
OWN = {"role": "system", "content": "Be brief."}
SAID = {"role": "assistant", "content": "1"}


@pytest.mark.parametrize(
    ("chat", "contents"),
    [
        ([ASKED], ["Use <answer>.", "1+1?", "2", "{{ 1 }}?"]),
        ([OWN, ASKED], ["Be brief.", "1+1?", "2", "{{ 1 }}?"]),
        (json.dumps([ASKED]), ["Use <answer>.", "1+1?", "2", "{{ 1 }}?"]),
        ([ASKED, SAID, ASKED], ["Use <answer>.", "1+1?", "2", "{{ 1 }}?", "1", "{{ 1 }}?"]),
    ],
)  # fmt: skip
def test_a_column_of_chats_is_the_prompt(folder, chat, contents):
    prompt = {"system": "Use <{{ format.answer }}>.", "shots": [{"user": "1+1?", "assistant": "2"}], "messages": "chat"}
    task = make_task(changed("prompt", prompt), "x.yaml", folder)
    made = task.example({"question": "?", "result": 1, "chat": chat}, "a", "row 1").prompt
    assert [message.content for message in made] == contents
    assert (made[0].role, made[-1].role) == ("system", "user")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"chats": [ASKED]}, "row 1: prompt.messages: no column 'chat'; did you mean 'chats'?"),
        ({"chat": "What is 1+1?"}, "'chat' is not a list of messages"),
        ({"chat": [{"role": "user", "content": None}]}, "'chat' is not a list of messages"),
        (
            {"chat": [ASKED, {"role": "assistant", "content": "1"}]},
            "ends with a message of the assistant; leave it out",
        ),
    ],
)
def test_a_column_that_is_no_chat_is_an_error_in_one_line(folder, row, problem):
    task = make_task(changed("prompt", {"messages": "chat"}), "x.yaml", folder)
    with pytest.raises(UsageError) as error:
        task.example({"question": "?", "result": 1, **row}, "a", "row 1")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_plain_text_prompt_is_a_string(folder):
    task = make_task(changed("prompt", {"text": "Q: {{ question }}\nA:"}), "x.yaml", folder)
    assert task.examples("train")[0].prompt == "Q: 1+1?\nA:"


def test_the_reward_is_the_weighted_sum_and_parts_of_weight_zero_are_reported(file):
    score = load_task(file).score(RIGHT, answer="5")
    assert score.value == 2.5
    assert {part.name: part.value for part in score.parts} == {"accuracy": 1, "strict_format": 1, "tag_count": 1}


def test_weights_do_not_depend_on_process_and_process_is_the_weight_unless_it_is_set(folder):
    task = make_task(changed("verifiers.steps", {"use": "equation_steps", "process": 0.5}), "x.yaml", folder)
    score = task.score(RIGHT, answer="5")
    assert score.value == 3.5
    assert [(RIGHT[step.start : step.end], step.value) for step in score.steps] == [("2+3=5", 0.5), (RIGHT, 2.5)]
    task = make_task(changed("verifiers.accuracy", {"process": 1.0}), "x.yaml", folder)
    assert task.score(RIGHT, answer="5").part("accuracy").weight == 1.0


def test_a_weight_may_be_a_schedule(folder):
    weight = {"linear": {"from": 1.0, "to": 0.0, "steps": 10}}
    task = make_task(changed("verifiers.strict_format.weight", weight), "x.yaml", folder)
    parts = {step: task.verifier.at(step).parts[1].weight for step in (0, 5, 10, 99)}
    assert parts == {0: 1.0, 5: 0.5, 10: 0.0, 99: 0.0}


MIXED = {
    "math": {"use": "accuracy", "weight": 3.0, "when": "{{ kind == 'math' }}"},
    "mc": {"use": "choice", "weight": 2.0, "when": "{{ kind == 'mc' }}"},
    "form": {"use": "strict_format", "weight": 0.5, "when": "math"},
}


@pytest.mark.parametrize(
    ("info", "gold", "said", "total", "values"),
    [  # by hand: 3 x accuracy + 0.5 x form behind it, or 2 x choice
        ({"kind": "math"}, "5", "5", 3.5, {"math": 1, "mc": None, "form": 1}),
        ({"kind": "math"}, "5", "6", 0.0, {"math": 0, "mc": None, "form": 0}),
        ({"kind": "mc"}, "C", "C", 2.0, {"math": None, "mc": 1, "form": None}),
        ({"kind": "essay"}, "?", "C", None, {"math": None, "mc": None, "form": None}),
    ],
)
def test_a_row_decides_which_parts_count(folder, info, gold, said, total, values):
    task = make_task({**changed("verifiers", MIXED), "metric": "math", "cases": []}, "x.yaml", folder)
    assert pickle.loads(pickle.dumps(task)).spec == task.spec
    score = task.score(f"<think>\n.\n</think>\n<answer>\n{said}\n</answer>", answer=gold, info=info)
    assert score.value == total
    assert {part.name: part.value for part in score.parts} == values
    assert task.verifier.problem(Example("", (), gold, info)) is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda task: task.score(RIGHT, answer=5), TypeError, "a gold answer is a text, such as '5', not 5"),
        (lambda task: task.score(5, answer="5"), TypeError, "a completion is a text or a Completion, not 5"),
        (lambda task: score_groups(task, []), TypeError, "takes a verifier, such as task.verifier, not a Task"),
    ],
)
def test_wrong_arguments_raise(file, call, error, message):
    with pytest.raises(error, match=message):
        call(load_task(file))


def test_a_sum_without_any_part_for_a_row_is_unscored(folder):
    parts = {name: {**MIXED[name], "weight": 1.0} for name in ("math", "mc")}
    task = make_task({**changed("verifiers", parts), "metric": "math", "cases": []}, "x.yaml", folder)
    score = task.score(RIGHT, answer="5", info={"kind": "essay"})
    assert (score.value, score.status) == (None, "not_applicable")
    assert "no part is for this row (when); add one that is, or leave" in score.explanation


def test_what_a_row_cannot_decide_is_a_problem_of_the_row(folder):
    task = make_task({**changed("verifiers", MIXED), "metric": "math", "cases": []}, "x.yaml", folder)
    with pytest.raises(UsageError, match="uses the unknown field 'kind'"):
        task.verifier.problem(Example("", (), "5", {"points": 1}))
    for composite in ("any_of", "first_of", "appeal"):
        of = {"math": {"use": "accuracy", "when": "{{ kind == 'math' }}"}, "mc": {"use": "choice"}}
        with pytest.raises(UsageError, match="only parts of a sum can be left out by a row"):
            make_task(changed("verifiers.both", {"use": composite, "of": of}), "x.yaml", folder)


def test_composites_nest(folder):
    of = {"exact": {"use": "accuracy"}, "tidy": {"use": "strict_format"}}
    task = make_task(changed("verifiers.both", {"use": "all_of", "of": of, "weight": 4}), "x.yaml", folder)
    assert task.score(RIGHT, answer="5").value == 6.5
    assert task.score(RIGHT, answer="6").part("both").value == 0
    assert task.score(RIGHT, answer="6").part("tidy").value == 1


def test_verifiers_get_the_tasks_format_unless_they_set_their_own(folder):
    data = changed("format", {"reasoning": "r", "answer": "a"})
    text = "<r>\n2+3=5\n</r>\n<a>\n5\n</a>"
    assert make_task(data, "x.yaml", folder).score(text, answer="5").value == 2.5
    data["verifiers"]["strict_format"]["format"] = {"reasoning": "think", "answer": "answer"}
    assert make_task(data, "x.yaml", folder).score(text, answer="5").value == 2.0


def test_a_task_pickles_and_its_resolved_form_loads_to_the_same_task(file, tmp_path):
    task = load_task(file, {"verifiers.accuracy.weight": 3})
    assert pickle.loads(pickle.dumps(task)).score(RIGHT, answer="5").value == 3.5
    again = tmp_path / "elsewhere" / "again.yaml"
    again.parent.mkdir()
    again.write_text(yaml.safe_dump(task.resolved()))
    assert load_task(again).examples("train") == task.examples("train")
    assert load_task(again).verifier == task.verifier


OWN_VERIFIER = """
from dataclasses import dataclass
from grpo_env import Score, Verifier, verifier

@verifier("of_a_file")
@dataclass(frozen=True)
class OfAFile(Verifier):
    def __call__(self, example, completion):
        return Score(0.25)
"""


def test_the_resolved_form_names_the_files_of_verifiers_that_were_loaded(file, monkeypatch):
    """So that a run started with --verifiers can be resumed, and its task evaluated, without the option."""
    code = file.parent / "code_of_a_run.py"
    code.write_text(OWN_VERIFIER)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert registry.load_file(code) == ["of_a_file"]
    of = {"of_a_file": {}, "again": {"use": "of_a_file"}}
    task = load_task(file, {"verifiers.own": {"use": "any_of", "of": of}})
    resolved = task.resolved()
    uses = [part["use"] for part in resolved["verifiers"]["own"]["of"].values()]
    assert uses == [f"{code}:OfAFile"] * 2
    monkeypatch.delitem(registry._registered, "of_a_file")
    monkeypatch.delitem(registry._homes, "of_a_file")
    assert make_task(resolved, "run/task.yaml", file.parent).score(RIGHT, answer="5").part("again").value == 0.25


def test_fractions_of_one_file_are_disjoint_and_complete_and_ignore_the_order(folder):
    rows = [{"question": str(n), "result": n} for n in range(400)]
    data = changed("dataset.path", "all.jsonl")
    data["dataset"]["split"] = {"train": 0.75, "eval": 0.25}
    answers = []
    for order in (rows, rows[::-1]):
        (folder / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in order))
        task = make_task(data, "x.yaml", folder)
        answers.append([{example.answer for example in task.examples(split)} for split in ("train", "eval")])
    assert answers[0] == answers[1]
    train_answers, eval_answers = answers[0]
    assert not train_answers & eval_answers
    assert len(train_answers | eval_answers) == 400
    assert 70 <= len(eval_answers) <= 130


def test_a_path_override_replaces_the_source_and_starts_from_the_current_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "rows_a.jsonl").write_text('{"question": "2+3?", "answer": "x #### 5"}\n')
    (folder / "rows_b.jsonl").write_text('{"question": "2+4?", "answer": "x #### 6"}\n')
    task = load_task("gsm8k", {"dataset.path": "rows_{split}.jsonl", "dataset.split": {"train": "a", "eval": "b"}})
    assert [task.examples(split)[0].answer for split in ("train", "eval")] == ["5", "6"]


def test_limits_are_kept(file):
    assert len(load_task(file, {"dataset.limit": {"train": 2}}).examples("train")) == 2
    assert len(load_task(file).examples("train", limit=1)) == 1
    assert len(load_task(file, {"dataset.limit": {"train": 2}}).examples("train", limit=9)) == 2


def test_bad_gold_answers_are_errors_or_skipped(file, folder):
    (folder / "rows_a.jsonl").write_text('{"question": "q", "result": ""}\n{"question": "q", "result": 5}\n')
    with pytest.raises(UsageError, match=r"rows_a.jsonl, line 1: accuracy.*bad_gold=skip"):
        load_task(file).examples("train")
    assert [e.answer for e in load_task(file, {"dataset.bad_gold": "skip"}).examples("train")] == ["5"]


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("version", 2, "version: this grpo_env reads task files of version 1, got 2"),
        ("task", ..., "task: this key is required"),
        ("verifers", {}, "verifers: unknown key; did you mean 'verifiers'?"),
        ("dataset.pth", "x", "dataset.pth: unknown key; did you mean 'path'?"),
        ("dataset.generator", "a:b", "dataset: give exactly one of"),
        ("dataset.split", {"test": "x"}, "dataset.split.test: Input should be 'train' or 'eval'"),
        ("dataset.split", {"train": 0.9, "eval": 0.2}, "dataset: fractions"),
        ("format", {"resoning": "think"}, "format.resoning: unknown key; did you mean 'reasoning'?"),
        ("format", {"reasoning": "<think>"}, "format: a tag's name is written without brackets ('think'), or"),
        ("format", {"answer": ""}, "or null for none; not ''"),
        ("format", {"answer": "think"}, "format: reasoning and answer have the same tag 'think'"),
        ("verifiers.accuracy.format", {"anser": None}, "accuracy.format.anser: unknown key; did you mean 'answer'?"),
        ("prompt.text", "x", "prompt: give exactly one of"),
        ("prompt.usr", "x", "prompt.usr: unknown key; did you mean 'user'?"),
        ("prompt", {"text": "x", "system": "y"}, "prompt: 'system' and 'shots' belong to a chat prompt; write them"),
        (
            "prompt",
            {"text": "x", "chat_template_kwargs": {"a": 1}},
            "prompt: 'chat_template_kwargs' belongs to a chat prompt; 'text' goes through no chat template",
        ),
        (
            "verifiers",
            {"both": {"use": "all_of", "of": {"accuracy": {}, "f": {"use": "tag_count"}}}, "accuracy": {}},
            "verifiers.accuracy: verifiers.both.of.accuracy has the same name; rename one of them",
        ),
        ("metric", "acuracy", "metric: no verifier is called 'acuracy'; did you mean 'accuracy'?"),
        (
            "verifiers",
            {"most": {"use": "clip", "high": "{{ points }}", "of": {"accuracy": {}}}},
            "metric: 'accuracy' is in a verifier whose options are templates of the row",
        ),
        ("verifiers", {}, "verifiers: "),
        ("verifiers.acuracy", {}, "verifiers.acuracy: unknown verifier 'acuracy'; did you mean 'accuracy'?"),
        ("verifiers.accuracy.wieght", 1, "verifiers.accuracy.wieght: unknown key; did you mean 'weight'?"),
        ("verifiers.accuracy.threshold", 0.5, "verifiers.accuracy.threshold: unknown key; known: brackets, "),
        ("verifiers.accuracy.weight", "much", "verifiers.accuracy.weight: "),
        ("verifiers.accuracy.weight", float("nan"), "verifiers.accuracy.weight: Input should be a finite number"),
        ("verifiers.accuracy.weight", float("inf"), "verifiers.accuracy.weight: Input should be a finite number"),
        (
            "verifiers.accuracy.weight",
            {"linear": {"from": 1, "to": float("inf"), "steps": 2}},
            "weight.linear.to: Input should be a finite number",
        ),
        ("verifiers.accuracy.process", float("inf"), "process: Input should be a finite number"),
        ("verifiers.accuracy.statuses", {"no_answer": float("nan")}, "statuses.no_answer: Input should be a finite"),
        ("verifiers.accuracy.rel_tol", float("nan"), "rel_tol: nan is not a value"),
        ("verifiers.accuracy.rel_tol", "nan", "rel_tol: nan is not a value"),
        ("verifiers.accuracy.weight", {"linear": {"from": 1, "to": 0}}, "weight.linear.steps: this key is required"),
        ("verifiers.accuracy.when", "tags", "unknown part 'tags'"),
        (
            "verifiers.short",
            {"use": "cosine_length", "correct": [1], "of": {"a": {"use": "accuracy"}}},
            "verifiers.short.correct: too few items, got [1]",
        ),
        (
            "verifiers.any",
            {"use": "any_of", "statuses": {"no_answer": -1}, "of": {"a": {"use": "accuracy"}}},
            "never has the status 'no_answer'; set this under 'of'",
        ),
        (
            "verifiers.any",
            {"use": "any_of", "deadline": 5, "of": {"a": {"use": "accuracy"}}},
            "verifier 'any': deadline: it combines several parts; set this under 'of', for each of them",
        ),
        ("deadline", 5, "deadline: unknown key; known: cases, "),
        ("verifiers.total", {"use": "tag_count"}, "verifiers.total: 'total' is the name of the whole reward; rename"),
        ("verifiers", {"accuracy": {}, "v1.2": {"use": "tag_count"}}, "verifiers.v1.2: a dot in a name separates"),
        ("verifiers.accuracy.statuses", {"no_anser": 1}, "did you mean 'no_answer'?"),
        ("verifiers.tag_count.values", {"right": 0}, "values: right must be above wrong, not 0 and 0"),
        ("verifiers.tag_count.values", {"rigth": 1}, "did you mean 'right'?"),
        ("verifiers.accuracy.values", {"wrong": -1}, "accuracy.values: the metric counts what is right; rename this"),
        ("verifiers.accuracy.of", {"x": {}}, "verifiers.accuracy.of: accuracy is not composed"),
        ("verifiers.any", {"use": "any_of"}, "verifiers.any.of: any_of needs a mapping"),
        ("verifiers.steps", {"use": "reasoning_steps", "target": "x"}, "verifiers.steps.target: "),
        ("verifiers.steps", {"use": "labelled_steps"}, "verifiers.steps.column: this key is required"),
        ("dataset.limit", "x" * 200, f"dataset.limit: expected a mapping of keys, got '{'x' * 98}…"),
        ("verifiers.accuracy", None, "verifiers.accuracy: expected a mapping of keys, got None; write {} for none"),
        ("verifiers.accuracy.sources", "boxed", "sources: expected a list, got 'boxed'; write [boxed]"),
        ("dataset.limit", {"train": -1}, "dataset.limit.train: Input should be greater than or equal to 0"),
        ("prompt.user", "{{ question", "prompt.user: template line 1"),
        ("prompt.shots", [{"user": "1", "assistant": "{% if %}"}], "prompt.shots.0.assistant: template line 1"),
        ("dataset.answer", "{{ result }", "dataset.answer: template line 1: unexpected '}': '{{ result }'"),
        ("dataset.filter", "{{ result = 1 }}", "; compare with =="),
        ("verifiers.accuracy.weight", "{{ points }}", "verifiers.accuracy.weight: Input should be a"),
        ("cases", [{"completion": "x", "acuracy": 1}], "cases.0.acuracy: no verifier is called"),
        ("cases", [{"accuracy": 1}], "cases.0.completion: this key is required"),
        ("cases", [{"completion": "x"}], "cases.0: expects no value; name a part with its value: accuracy: 1"),
        (
            "cases",
            [{"completion": "x", "answer": 5}],
            "cases.0.answer: Input should be a valid string, got 5; put text",
        ),
    ],
)
def test_an_invalid_task_file_is_one_line_with_file_key_and_hint(folder, key, value, line):
    with pytest.raises(UsageError) as caught:
        make_task(changed(key, value), "my/file.yaml", folder)
    message = str(caught.value)
    assert message.startswith("my/file.yaml: ")
    assert line in message
    assert "\n" not in message


@pytest.mark.parametrize(("wrong", "right"), [("verifyers", "verifiers"), ("metrc", "metric"), ("taks", "task")])
def test_a_misspelled_key_is_named_rather_than_the_one_that_is_missing(folder, wrong, right):
    data = changed(right, ...)
    with pytest.raises(UsageError, match=rf"^my/file.yaml: {wrong}: unknown key; did you mean '{right}'\?$"):
        make_task({**data, wrong: GOOD[right]}, "my/file.yaml", folder)
    with pytest.raises(UsageError, match=rf"^my/file.yaml: {right}: this key is required \(also wrong: services\)$"):
        make_task({**data, "services": {}}, "my/file.yaml", folder)


def test_other_wrong_keys_are_named_too(folder):
    data = {**GOOD, "format": {"reasonin": "think"}, "prompt": {"usr": "{{ q }}", "system": 3}}
    with pytest.raises(UsageError) as caught:
        make_task(data, "my/file.yaml", folder)
    first = "my/file.yaml: format.reasonin: unknown key; did you mean 'reasoning'?"
    assert str(caught.value) == f"{first} (also wrong: prompt.system, prompt.usr)"


def test_a_pipe_is_no_data_set(folder):
    """Opening one that nobody writes to would wait for ever."""
    os.mkfifo(folder / "rows.jsonl")
    split = changed("dataset.split", {"train": 0.5, "eval": 0.5})
    split["dataset"]["path"] = "rows.jsonl"
    with pytest.raises(UsageError, match=r"rows\.jsonl: is a pipe, socket or device"):
        make_task(split, "x.yaml", folder).examples("train")


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("prompt.user", "{{ qestion }}", "unknown field 'qestion'; did you mean 'question'?"),
        ("prompt.user", "{{ question.nope }}", "no attribute 'nope'"),
        ("prompt.user", "{{ question.__class__.__mro__ }}", "unsafe"),
        ("prompt.user", "{{ 1/0 }}", "ZeroDivisionError"),
        ("dataset.answer", "{{ answer }}", "dataset.answer: template '{{ answer }}' uses the unknown field 'answer'"),
        ("dataset.path", "absent.jsonl", "absent.jsonl"),
        ("dataset.path", "rows_a.jsonl", "one file cannot be both splits"),
    ],
)
def test_invalid_data_is_one_line_with_file_row_and_hint(folder, key, value, line):
    task = make_task(changed(key, value), "my/file.yaml", folder)
    with pytest.raises(UsageError) as caught:
        task.examples("train")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "answer", "made"),
    [
        ("{{ answer }}", None, None),
        ("{{ answer }}", math.nan, None),
        ("{{ answer | trim }} cm", None, None),
        ("{{ answer | int }}", math.nan, None),
        ("{{ answer ~ ' cm' }}", None, None),
        ("{{ answer or 'no' }}", None, "no"),
        ("{{ answer | default('no', true) }}", None, "no"),
        ("{{ answer | tojson }}", None, "null"),
        ("{% if answer is none %}no{% else %}{{ answer }}{% endif %}", None, "no"),
        ("{{ answer }}", "None", "None"),
        ("{{ answer }}", 0, "0"),
    ],
)
def test_a_gold_answer_that_is_null_is_none_and_no_text(folder, template, answer, made):
    task = make_task(changed("dataset.answer", template), "my/file.yaml", folder)
    assert task.answer({"answer": 5}, "row") is not None  # what one row left behind does not count for another
    assert task.answer({"answer": answer}, "row") == made


def test_an_id_that_is_null_is_the_number_of_the_row(folder):
    task = make_task(changed("dataset.id", "{{ key }}"), "my/file.yaml", folder)
    row = {"question": "1+1?", "result": 2}
    assert [task.example({**row, "key": key}, "eval/7", "row").id for key in ("a", None)] == ["a", "eval/7"]


def test_empty_data_and_a_bad_line_are_named(folder):
    task = make_task(GOOD, "my/file.yaml", folder)
    (folder / "rows_a.jsonl").write_text("")
    with pytest.raises(
        UsageError, match=r"^my/file.yaml: dataset 'rows_a.jsonl': the train split is empty, as there are"
    ):
        task.examples("train")
    (folder / "rows_a.jsonl").write_text('{"question": "q", "result": 5}\n{"question": \n')
    with pytest.raises(UsageError, match=r"rows_a.jsonl, line 2: not valid JSON"):
        task.examples("train")


def test_a_split_by_hash_without_rows_and_a_limit_of_none_are_told_from_empty_data(folder):
    dataset = {**GOOD["dataset"], "path": "rows_a.jsonl", "split": {"train": 0.999, "eval": 1e-12}}
    task = make_task({**GOOD, "dataset": dataset}, "my/file.yaml", folder)
    assert len(task.examples("train")) == 3
    why = "'rows_a.jsonl': the eval split is empty, as none of 3 rows has a hash in its 1e-12; give more rows, or"
    with pytest.raises(UsageError, match=why):
        task.examples("eval")
    task = make_task({**GOOD, "dataset": {**dataset, "limit": {"train": 0}}}, "my/file.yaml", folder)
    with pytest.raises(UsageError, match=r"the train split is empty, as dataset\.limit takes none"):
        task.examples("train")


@pytest.mark.parametrize(
    ("generator", "line"),
    [
        ("no_such_module_here:rows", "cannot be loaded"),
        ("grpo_env.tasks.arithmetic:nope", "cannot be loaded"),
        ("nocolon", "cannot be loaded"),
        ("broken:rows", r"cannot be loaded \(ZeroDivisionError: division by zero\)"),
    ],
)
def test_an_invalid_generator_is_named(folder, generator, line):
    (folder / "broken.py").write_text("1 / 0")
    data = changed("dataset", {"generator": generator, "limit": {"train": 3, "eval": 3}})
    with pytest.raises(UsageError, match=line):
        make_task(data, "x.yaml", folder).examples("train")


@pytest.mark.parametrize("generator", ["this:rows", "this.py:rows", "./this.py:rows"])
def test_a_generator_of_a_file_beside_the_task(folder, generator):
    (folder / "this.py").write_text(
        "def rows(split, size, seed):\n    return [{'question': f'{n}+1', 'answer': n + 1} for n in range(size)]\n"
    )
    data = changed("dataset", {"generator": generator, "answer": "{{ answer }}", "limit": {"train": 3, "eval": 3}})
    assert [example.answer for example in make_task(data, "x.yaml", folder).examples("train")] == ["1", "2", "3"]
    data["dataset"]["split"] = {"train": 0.5, "eval": 0.5}
    with pytest.raises(UsageError, match=r"dataset.generator: fractions in 'split' are for files"):
        make_task(data, "x.yaml", folder).examples("train")


def test_safe_mode_loads_only_built_in_code(folder, monkeypatch):
    monkeypatch.setenv("GRPO_ENV_SAFE", "1")
    load_task("arithmetic").examples("eval", 2)
    (folder / "code.py").write_text("raise SystemExit('was run')")
    monkeypatch.setitem(registry._registered, "of_a_program", registry.find("accuracy"))
    for use in ("code:Own", "grpo_env.verifiers.accuracy:Accuracy", "of_a_program"):
        with pytest.raises(UsageError, match=rf"^x.yaml: verifiers.own: '{use}' is not built in, and GRPO_ENV_SAFE"):
            make_task(changed("verifiers.own", {"use": use}), "x.yaml", folder)
    for generator in ("code:rows", "grpo_env.tasks.arithmetic:Random"):
        data = changed("dataset", {"generator": generator, "limit": {"train": 3, "eval": 3}})
        with pytest.raises(UsageError, match=r"^x.yaml: dataset.generator '.*' is not built in, and GRPO_ENV_SAFE"):
            make_task(data, "x.yaml", folder).examples("train")
    with pytest.raises(UsageError, match=r"code\.py: GRPO_ENV_SAFE=1 refuses"):
        registry.load_file(folder / "code.py")
    with pytest.raises(UsageError, match=r"code\.py: GRPO_ENV_SAFE=1 refuses"):
        load_hacks(folder / "code.py")
    judge = {"use": "llm_judge", "base_url": "http://localhost:1/v1", "model": "m", "api_key_env": "HOME"}
    with pytest.raises(UsageError, match="api_key_env: GRPO_ENV_SAFE=1 refuses"):
        make_task(changed("verifiers.judge", judge), "x.yaml", folder)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1", "line 1: not valid YAML"),
        ("- 1\n", "expected a mapping"),
        (
            "version: 1\nverifiers:\n  accuracy: {}\n  accuracy: {}\n",
            "line 4: key 'accuracy' is given twice",
        ),
        ("a: !!python/object/apply:os.system ['x']", "not valid YAML"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ("a: 1\nb: " + "1" * 5000, "not valid YAML: Exceeds the limit (4300 digits)"),
        ("a: 1\nb: !!timestamp 2024-13-01", "not valid YAML: month must be in 1..12"),
        (
            "data:\n  answer: {{ expected }}\n",
            "line 2: not valid YAML: found unhashable key; put a template ({{ ... }}) in quotes",
        ),
        ("# nothing\n", "expected a mapping of keys to values, found nothing"),
        ("a: 1\nb: \0", "line 2: not valid YAML: the character U+0000"),
    ],
)
def test_invalid_yaml_is_reported_by_line(tmp_path, text, line):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_task(path)
    assert line in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[2024-05-01, 12:30, 1:30.5, 007, -010, 08]", ["2024-05-01", "12:30", "1:30.5", "007", "-010", "08"]),
        ("[0, -0, 0.5, 12, 1_000, 0x10, 1.5e-3]", [0, 0, 0.5, 12, 1000, 16, 0.0015]),
        ("{a: &a {x: 1, y: 2}, b: {<<: *a, y: 3}}", {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}}),
    ],
)
def test_dates_times_and_leading_zeros_are_text_and_aliases_can_be_merged(text, value):
    assert parse_yaml(text, "x") == value


def test_tasks_are_found_by_name_by_path_and_in_named_folders(file, monkeypatch):
    assert find_task_file("gsm8k").name == "gsm8k.yaml"
    with pytest.raises(UsageError, match="unknown task 'sums'"):
        find_task_file("sums")
    monkeypatch.setenv("GRPO_ENV_TASKS", str(file.parent))
    assert find_task_file("sums") == file
    with pytest.raises(UsageError, match="did you mean 'gsm8k'"):
        find_task_file("gsm8")
    with pytest.raises(UsageError, match="no such task file"):
        find_task_file("absent.yaml")
    (file.parent / "gsm8k.yaml").write_text(file.read_text())
    with pytest.raises(UsageError, match="ambiguous"):
        find_task_file("gsm8k")
    monkeypatch.setenv("GRPO_ENV_TASKS", "/no/such/folder")
    with pytest.raises(UsageError, match="is not a folder"):
        task_files()


def test_the_command_line_name_of_a_task_finds_its_file(file, monkeypatch):
    assert load_task("gsm8k").command_line_name == "gsm8k"
    assert load_task(file).command_line_name == str(file)
    monkeypatch.setenv("GRPO_ENV_TASKS", str(file.parent))
    assert load_task("sums").command_line_name == "sums"
    (file.parent / "gsm8k.yaml").write_text(file.read_text().replace("task: sums", "task: gsm8k"))
    task = load_task(file.parent / "gsm8k.yaml")
    assert (task.name, task.command_line_name) == ("gsm8k", task.source)
    monkeypatch.setenv("GRPO_ENV_TASKS", "/no/such/folder")
    assert task.command_line_name == task.source


def test_overrides_of_unknown_keys_are_errors(file):
    with pytest.raises(UsageError, match="did you mean 'dataset'"):
        load_task(file, {"datset.path": "x"})
    with pytest.raises(UsageError, match="not a section"):
        load_task(file, {"metric.x": 1})
    with pytest.raises(UsageError, match=r"overrides: expected a mapping such as .*, found a list"):
        load_task(file, ["metric=x"])


@pytest.mark.parametrize("path", task_files(), ids=lambda path: path.stem)
def test_the_cases_of_every_bundled_task_pass(path):
    task = load_task(path)
    assert task.spec.description
    # A case is one text, which a metric over turns cannot judge: such a task has gold paths.
    assert len(task.spec.cases) >= 3 or (task.spec.environment and task.spec.environment.gold)
    assert list(failed_cases(task)) == []


def test_a_failed_case_is_named(folder):
    cases = [
        {"answer": "5", "completion": RIGHT, "accuracy": 1, "total": 2.5},
        {"answer": "6", "completion": RIGHT, "accuracy": 1, "total": 0.5, "why": "a slip"},
    ]
    (line,) = failed_cases(make_task(changed("cases", cases), "my.yaml", folder))
    assert line.startswith("my.yaml: cases.1: accuracy should be 1 (a slip), but is 0.0 [scored]")


@pytest.mark.parametrize(
    ("template", "kept"),
    [
        ("{{ result != 3 }}", ["train/0", "train/2"]),  # True and False
        ("{{ result == 3 }}", ["train/1"]),
        ("{% if result > 2 %} true {% endif %}", ["train/1", "train/2"]),  # or nothing
        ("{{ result % 2 }}", ["train/1"]),  # 1 and 0
        ("{{ none if result == 2 else 'TRUE' }}", ["train/1", "train/2"]),
    ],
)
def test_a_filter_keeps_rows_for_which_it_is_true(folder, template, kept):
    task = make_task(changed("dataset.filter", template), "x.yaml", folder)
    lines = []
    assert [example.id for example in task.examples("train", report=lines.append)] == kept
    assert lines == [f"sums: dataset.filter leaves out {3 - len(kept)} of 3 rows of the train split"]


def test_a_limit_counts_the_rows_that_are_kept(folder):
    task = make_task(changed("dataset.filter", "{{ result != 2 }}"), "x.yaml", folder)
    assert [example.id for example in task.examples("train", limit=1)] == ["train/1"]
    assert task.rows("train", 1).dropped == 1
    lines = []
    assert len(task.examples("eval", report=lines.append)) == 3
    assert lines == []


def test_a_filter_reads_no_row_after_the_limit(folder):
    (folder / "rows_a.jsonl").write_text('{"question": "1+1?", "result": 2}\nnot json\n')
    task = make_task(changed("dataset.filter", "{{ true }}"), "x.yaml", folder)
    assert len(task.examples("train", limit=1)) == 1


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ result > 100 }}", "x.yaml: dataset.filter leaves out all 3 rows of the train split"),
        ("{{ question }}", "line 1: dataset.filter: template '{{ question }}' gives '1+1?'; it must give true or"),
        ("result == 3", "gives 'result == 3'; it must give true or false, as does {{ level == 5 }}"),
        ("{{ resutl == 3 }}", "uses the unknown field 'resutl'; did you mean 'result'?"),
        ("{{ ''.__class__.mro() }}", ".jsonl, line 1: dataset.filter"),
    ],
)
def test_a_filter_that_cannot_work_is_an_error(folder, template, message):
    task = make_task(changed("dataset.filter", template), "x.yaml", folder)
    with pytest.raises(UsageError) as caught:
        task.examples("train")
    assert message in str(caught.value)


def test_variables_of_the_chat_template_go_with_every_example(folder):
    data = changed("prompt.chat_template_kwargs", {"enable_thinking": False})
    task = make_task(data, "x.yaml", folder, {"prompt.chat_template_kwargs.level": 2})
    expected = {"enable_thinking": False, "level": 2}
    assert [example.chat_template_kwargs for example in task.examples("eval")] == [expected] * 3
    assert make_task(task.resolved(), "y.yaml", folder).examples("train")[0].chat_template_kwargs == expected


def test_a_filter_and_variables_are_shown(folder):
    data = changed("prompt.chat_template_kwargs", {"enable_thinking": False})
    text = describe(make_task(data, "x.yaml", folder, {"dataset.filter": "{{ result > 2 }}"}), "train")
    assert "dataset.filter leaves out 1 of 3 rows of the train split" in text
    assert '--- chat_template_kwargs ---\n{"enable_thinking": false}' in text


def test_variables_that_a_chat_template_does_not_mention():
    tokenizer = SimpleNamespace(chat_template="{% if enable_thinking %}{{ levels }}{% endif %}")
    assert unused_template_kwargs(tokenizer, ["enable_thinking", "level"]) == ["level"]
    assert unused_template_kwargs(SimpleNamespace(chat_template=None), ["level"]) == ["level"]


def test_own_code_by_file_is_found_again_from_another_folder(tmp_path):
    (tmp_path / "shop.py").write_text(
        "from dataclasses import dataclass\n"
        "from grpo_env import Score, Verifier\n"
        "def rows(split, size, seed): yield {'question': '?', 'total': 1}\n"
        "def gold(row): return []\n"
        "class Shop:\n"
        "    def reset(self, **row): ...\n"
        "    def reply(self, text: str): ...\n"
        "@dataclass(frozen=True)\n"
        "class Paid(Verifier):\n"
        "    def __call__(self, example, completion): return Score(0.25)\n"
        "class Plain(Verifier):\n"
        "    def __call__(self, example, completion): return Score(0.25)\n"
        "@dataclass(frozen=True)\n"
        "class Empty(Verifier): ...\n"
        "@dataclass(frozen=True)\n"
        "class Strict(Paid):\n"
        "    def __post_init__(self): raise ValueError('most is at least 1')\n"
    )
    data = {
        "version": 1,
        "task": "shop",
        "dataset": {"generator": "shop.py:rows", "limit": {"train": 1}, "answer": "{{ total }}"},
        "prompt": {"user": "{{ question }}"},
        "environment": {"use": "shop.py:Shop", "gold": "shop.py:gold"},
        "verifiers": {"paid": {"use": "shop.py:Paid"}, "both": {"use": "all_of", "of": {"p": {"use": "shop.py:Paid"}}}},
        "metric": "paid",
    }
    elsewhere = tmp_path / "runs"
    again = make_task(make_task(data, "shop.yaml", tmp_path).resolved(), "task.yaml", elsewhere)
    file = tmp_path / "shop.py"
    assert again.spec.environment.use == f"{file}:Shop"
    assert again.spec.environment.gold == f"{file}:gold"
    assert len(again.examples("train")) == 1
    assert again.score("x", answer="1").value == 0.5
    with pytest.raises(UsageError, match=r"verifiers.paid: .*other.py: no such file"):
        make_task({**data, "verifiers": {"paid": {"use": "other.py:Paid"}}}, "shop.yaml", tmp_path)
    for name, message in [("Strict", "paid: most is at least 1"), ("Empty", "paid: Empty does not define __call__")]:
        with pytest.raises(UsageError, match=message):
            make_task({**data, "verifiers": {"paid": {"use": f"shop.py:{name}"}}}, "shop.yaml", tmp_path)
    with pytest.raises(UsageError, match=r"verifiers.paid: Plain is no dataclass"):
        make_task({**data, "verifiers": {"paid": {"use": "shop.py:Plain"}}}, "shop.yaml", tmp_path)


def test_code_of_bundled_tasks_is_named_by_its_module():
    resolved = load_task("till").resolved()
    assert resolved["environment"]["use"] == "grpo_env.tasks.till:Till"
    assert resolved["dataset"]["generator"] == "grpo_env.tasks.till:problems"
    assert resolved["verifiers"]["looked_up"]["use"] == "grpo_env.tasks.till:LookedUp"


def test_the_model_of_a_verifier_is_looked_for_beside_the_task_then_in_the_current_folder(tmp_path, monkeypatch):
    beside, here = tmp_path / "tasks", tmp_path / "here"
    for folder in (beside / "runs/both", here / "runs/both", here / "runs/only_here"):
        folder.mkdir(parents=True)
    monkeypatch.chdir(here)
    options = {"use": "reward_model", "activation": "sigmoid"}
    inner = {"use": "weighted_sum", "of": {"prm": {**options, "model": "runs/both"}}}
    data = {
        "version": 1,
        "task": "t",
        "dataset": {"path": "rows.jsonl"},
        "prompt": {"text": "{{ q }}"},
        "verifiers": {
            "both": {**options, "model": "runs/both"},
            "here": {**options, "model": "runs/only_here"},
            "hub": {**options, "model": "org/name"},
            "inner": inner,
            "accuracy": {},
        },
        "metric": "accuracy",
    }
    (beside / "t.yaml").write_text(json.dumps(data))

    def models(task):
        return [verifier.model for verifier in task.verifier.walk() if hasattr(verifier, "model")]

    task = load_task(beside / "t.yaml")
    found = [str(beside / "runs/both"), str(here / "runs/only_here"), "org/name", str(beside / "runs/both")]
    assert models(task) == found
    # From the command line, paths start from the current folder; the resolved task is the same from any folder.
    assert models(load_task(beside / "t.yaml", {"verifiers.hub.model": "runs/both"}))[2] == str(here / "runs/both")
    monkeypatch.chdir(tmp_path)
    assert models(make_task(task.resolved(), "run/task.yaml", tmp_path)) == found


def test_a_file_that_a_verifier_writes_is_beside_the_task(folder, monkeypatch):
    judge = {"use": "llm_judge", "base_url": "http://localhost:1/v1", "model": "m", "cache": "runs/judge.db"}
    data = changed("verifiers", {"accuracy": {}, "judge": judge})
    monkeypatch.chdir("/")

    def cache(task):
        return task.verifier.parts[1].verifier.cache

    task = make_task(data, "x.yaml", folder)
    assert cache(task) == cache(make_task(task.resolved(), "y.yaml", folder / "run")) == str(folder / "runs/judge.db")
    assert cache(make_task(data, "x.yaml", folder, {"verifiers.judge.cache": "judge.db"})) == "/judge.db"


def test_a_process_weight_of_0_watches_a_rule_without_rewarding_it():
    """The documented command of a run that does so."""
    key = "verifiers.equations.process"
    score = load_task("arithmetic", {key: 0}).score(RIGHT, answer="5", info={"equations": ["2+3=5"]})
    weights = {part.name: (part.weight, part.process) for part in score.parts}
    assert weights["equations"] == (0.0, 0.0)
    assert weights["accuracy"] == (1.0, 1.0)
    shown = describe(load_task("arithmetic", {key: 0, "verifiers.soft_format": {}}), "eval")
    assert "  equations: {weight: 0.0, use: equation_steps, process: 0.0, expected: '{{ equations }}'}" in shown
    assert "  soft_format: {weight: 1.0}" in shown
    assert "  tag_count: {weight: 0.0}" in shown


def test_a_verifier_is_shown_as_a_file_takes_it(folder):
    entry = {
        "weight": {"linear": {"from": 1, "to": 0.5, "steps": 10}},
        "use": "accuracy",
        "kind": None,
        "ignore_case": True,
    }
    task = load_task("arithmetic", {"verifiers.accuracy": entry})
    (line,) = [line for line in describe(task, "eval").splitlines() if line.startswith("  accuracy (metric): ")]
    shown = yaml.safe_load(line.partition(": ")[2])
    assert shown == entry
    assert load_task("arithmetic", {"verifiers.accuracy": shown}).spec == task.spec


def test_all_splits_are_those_of_the_task_one_after_the_other(folder):
    task = load_task("arithmetic")
    both = task.examples("all", 3)
    assert [example.id for example in both] == [e.id for own in ("train", "eval") for e in task.examples(own, 3)]
    assert len(both) == 6
