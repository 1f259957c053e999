"""Chats are read the same in our own rows, in the files of other tools and by the integrations."""

import pytest

from grpo_env.errors import UsageError
from grpo_env.integrations.scoring import make_completion as read_by_integration
from grpo_env.rows.formats.detect import detect_format
from grpo_env.rows.reader import Record
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import make_task

TASK = {
    "version": 1,
    "task": "sums",
    "dataset": {"path": "rows.jsonl", "answer": "{{ answer }}"},
    "prompt": {"user": "{{ question }}"},
    "format": {"reasoning": None},
    "verifiers": {"accuracy": {}},
    "metric": "accuracy",
}


def verifiers_trace(chat):
    nodes = [{"message": message, "sampled": message.get("role") == "assistant"} for message in chat]
    task = {"type": "sums", "data": {"idx": 1, "answer": "5"}, "key": "k", "hash": "h"}
    return {"traces": [{"nodes": nodes, "ok": True, "task": task}], "task": task, "env": {"id": "sums"}}


ROWS = {
    "grpo_env rows": lambda chat: {"completion": chat, "answer": "5"},
    "TRL completions": lambda chat: {"step": 1, "prompt": "?", "completion": chat, "advantage": 0.0, "answer": "5"},
    "verl generation": lambda chat: {"responses": [chat], "reward_model": {"ground_truth": "5"}},
    "verifiers results": lambda chat: {"example_id": 1, "completion": chat, "reward": 0.0, "answer": "5"},
}
ONE_MESSAGE = {
    "OpenAI batch output": lambda chat: {"custom_id": "a", "response": {"choices": [{"message": chat[0]}]}},
    "verifiers traces": verifiers_trace,
}


@pytest.fixture
def task(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"question": "?", "answer": "5", "id": "a"}\n')
    data = {**TASK, "dataset": {**TASK["dataset"], "id": "a", "split": {"train": "train", "eval": "train"}}}
    return make_task(data, "sums.yaml", tmp_path)


def read(task, name, row):
    """The text and reasoning of the row's completion, or why it cannot be read."""
    file_format = detect_format([row], lambda row: row["answer"])
    assert file_format.name == name
    index = file_format.index(task.examples("eval")) if file_format.joins else {}
    result = RowReader(task, file_format=file_format, index=index).read(Record(1, row))
    return result.problem or (result.completions[0].text, result.reasonings[0])


def message(content=..., **more):
    return {"role": "assistant", **({} if content is ... else {"content": content}), **more}


TOOL = {"role": "tool", "content": "#### 6"}
CALL = {"id": "1", "type": "function", "function": {"name": "price", "arguments": '{"item":"tea"}'}}
WRITTEN = '<tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call>'


@pytest.mark.parametrize(
    ("chat", "expected"),
    [
        ([message("#### 5")], ("#### 5", None)),
        ([message("#### 4"), message("#### 5")], ("#### 4#### 5", None)),
        ([message("#### 5"), TOOL], ("#### 5", None)),
        ([message(None, tool_calls=[CALL]), TOOL, message("#### 5")], (f"{WRITTEN}#### 5", None)),
        ([message("Hm.", tool_calls=[CALL])], (f"Hm.\n{WRITTEN}", None)),
        ([message(tool_calls=[{"id": "1"}])], "message 1 of the chat: call 1 is not a tool call with a name"),
        ([message(f"Hm.{WRITTEN}"), TOOL, message("#### 5")], (f"Hm.{WRITTEN}#### 5", None)),
        ([message("Hm."), TOOL, message("#### 5")], "message 1 of the chat: more results of tools than calls"),
        ([message("#### 5"), {"role": "user", "content": "Sure?"}], ("#### 5", None)),
        ([message("#### 5", reasoning="2+3")], ("#### 5", "2+3")),
        ([message("#### 5", reasoning_content="2+3")], ("#### 5", "2+3")),
        ([message([{"type": "text", "text": "#### "}, {"type": "text", "text": "5"}])], ("#### 5", None)),
        ([message([{"type": "image_url", "image_url": {"url": "x"}}, "#### 5"])], ("#### 5", None)),
        ([message(None)], ("", None)),
        ([message("")], ("", None)),
        ([message()], ("", None)),
        ([message(tool_calls=[])], ("", None)),
        ([message(reasoning="2+3")], ("", "2+3")),
        ([message(None, refusal="I cannot add.")], ("I cannot add.", None)),
        ([message(contents="#### 5")], "a message of the assistant has no content; its keys are role, contents"),
        ([message({"text": "#### 5"})], "the content of a message must be text, found dict"),
        ([message("#### 5", reasoning={"text": "2+3"})], "reasoning_content must be a string, found dict"),
    ],
)
def test_a_chat_is_read_the_same_from_every_source(task, chat, expected):
    sources = {**ROWS, **(ONE_MESSAGE if len(chat) == 1 else {})}
    assert {name: read(task, name, row(chat)) for name, row in sources.items()} == dict.fromkeys(sources, expected)
    if isinstance(expected, str):
        with pytest.raises(UsageError, match=expected):
            read_by_integration(task, chat)
    else:
        assert read_by_integration(task, chat).text == expected[0]


def test_a_chat_without_a_message_of_the_assistant_is_a_problem(task):
    for name, row in ROWS.items():
        assert "without a message of the assistant" in read(task, name, row([TOOL]))


def test_a_message_without_a_role_is_the_assistants(task):
    for name, row in ROWS.items():
        assert read(task, name, row([{"content": "#### 5"}])) == ("#### 5", None)


def test_reasoning_in_the_message_comes_before_the_column(task):
    row = {"completion": [message("#### 5", reasoning="2+3")], "answer": "5", "reasoning_content": "3+2"}
    assert read(task, "grpo_env rows", row) == ("#### 5", "2+3")
    row["completion"] = [message("#### 5")]
    assert read(task, "grpo_env rows", row) == ("#### 5", "3+2")


def test_text_parts_of_a_prompt_are_joined(task):
    parts = [{"type": "text", "text": "2+"}, {"type": "text", "text": "3?"}]
    row = {"prompt": [{"role": "user", "content": parts}], "completion": "5", "answer": "5"}
    assert RowReader(task).read(Record(1, row)).example.prompt == (("user", "2+3?"),)


def test_a_group_may_be_a_list_of_chats(task):
    row = {"completions": [[message("#### 5"), TOOL], [message("#### 6")]], "answer": "5"}
    assert [completion.text for completion in RowReader(task).read(Record(1, row)).completions] == ["#### 5", "#### 6"]
