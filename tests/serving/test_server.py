"""The server returns the scores of ``task.score``, in order, even when its processes die."""

import json
import signal
import threading
import time

import psutil
import pytest

from grpo_env import load_task

from .conftest import Server

GSM8K = [
    "<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>",
    "<think>\n9*2=19\n</think>\n<answer>\n19\n</answer>",
    "It is 18. #### 18",
    "",
    "\\boxed{" * 50 + "18" + "}" * 50,
    "\\boxed{9**9**9}",
    "#### " + "9" * 100_000,
    "答案是 18 \U0001f600 \x00 #### १८",
]


def comparable(score):
    """A score without its id and its time, which differ between runs."""
    stable = {key: value for key, value in score.items() if key not in ("id", "seconds")}
    return {**stable, "parts": [comparable(part) for part in score["parts"]]}


def test_scores_are_those_of_the_task_in_the_order_of_the_items(server):
    task = load_task("gsm8k")
    items = [{"completion": text, "answer": "18", "id": f"q{n}"} for n, text in enumerate(GSM8K)]
    reply = server.score("gsm8k", *items)
    assert reply.status == 200, reply.body
    assert reply.json["task"] == "gsm8k"
    assert [score["id"] for score in reply.json["scores"]] == [item["id"] for item in items]
    expected = [json.loads(json.dumps(task.score(text, answer="18").to_dict())) for text in GSM8K]
    assert [comparable(score) for score in reply.json["scores"]] == [comparable(score) for score in expected]
    assert reply.values[0] == 3.0
    rules = [[part["rule"] for part in score["parts"]] for score in reply.json["scores"]]
    assert rules == [[part["rule"] for part in score["parts"]] for score in expected]
    assert rules[0][0] != ""
    assert len({*reply.values}) > 2


CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def test_chat_messages_finish_and_tokens_reach_the_verifiers(server):
    chat = [
        {"role": "assistant", "content": "<answer>\n18\n</answer>", "reasoning_content": "9*2=18", "refusal": None},
    ]
    text = "<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>"
    silent = [{"role": "assistant", "content": None}]
    turns = [{"role": "assistant", "content": "#### 17"}, *chat]  # an episode, of which the last turn is judged
    assert server.score("gsm8k", {"completion": turns, "answer": "18"}).values == [3.0]
    both = server.score("gsm8k", {"completion": chat, "answer": "18"}, {"completion": text, "answer": "18"})
    assert comparable(both.json["scores"][0]) == comparable(both.json["scores"][1])
    assert server.score("obeys", {"completion": silent, "num_tokens": 0, "finish": "length"}).values == [0.0]


@pytest.mark.parametrize(
    ("message", "text"),  # what the model wrote; `obeys` counts its characters
    [
        ({"content": "7", "reasoning": "3+4"}, "<think>\n3+4\n</think>\n7"),  # newer versions of vLLM
        ({"content": None, "refusal": "No."}, "No."),
        ({"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, CALL),
        ({"function_call": {"name": "f", "arguments": "{}"}}, CALL),
    ],
)
def test_what_a_message_has_beside_its_content_is_scored(server, message, text):
    assert server.score("obeys", {"completion": [{"role": "assistant", **message}]}).values == [len(text)]


def test_a_tool_call_that_is_none_is_refused_with_its_item(server):
    reply = server.score("obeys", "a", {"completion": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]})
    assert reply.status == 422
    assert reply.detail.startswith("items.1.completion: message 1 of the chat: call 1 is not a tool call")


def test_an_item_without_a_gold_answer_is_unscored_and_not_zero(server):
    (score,) = server.score("gsm8k", "#### 18").json["scores"]
    assert (score["value"], score["status"]) == (None, "bad_gold")


def test_adjacent_items_of_a_group_are_scored_together(server):
    # One completion alone is no vote.
    texts = [("a", "1"), ("a", "1"), ("b", "1"), ("b", "2"), ("b", None), ("b", "1")]
    items = [{"completion": f"<answer>\n{text}\n</answer>", "group": group} for text, group in texts]
    scores = server.score("votes", *items).json["scores"]
    assert [score["parts"][1]["value"] for score in scores] == [1.0, 1.0, 0.0, None, None, None]


def test_a_group_has_one_gold_answer(server):
    items = [{"completion": "x", "group": "g", "answer": answer} for answer in ("1", "1", "2")]
    reply = server.score("votes", *items)
    assert (reply.status, reply.values) == (200, [None] * 3)
    assert reply.json["scores"][2]["explanation"].startswith("the group 'g' is scored as a whole")
    assert server.score("obeys", *items).values == [1.0] * 3  # nothing there compares them


def test_only_items_that_kill_their_process_are_unscored(server):
    reply = server.score("obeys", "a", "leave", "bb", "crash", "ccc", "nan")
    assert reply.status == 200
    assert reply.values == [1.0, None, 2.0, None, 3.0, None]
    why = [(score["status"], score["explanation"]) for score in reply.json["scores"]]
    assert why[1] == ("error", "the worker process died (exit code 3)")
    assert why[3] == ("error", "the worker process died (SIGSEGV)")
    assert why[5] == (
        "error",
        "serving_obeys: ValueError: the value of a score is a finite number, not nan (serving_own.py:26)",
    )


def test_the_rest_of_a_group_is_scored_as_a_group_again(server):
    texts = ["1", "1", "leave", "2"]
    items = [{"completion": f"<answer>\n{text}\n</answer>", "group": "g"} for text in texts]
    scores = server.score("votes", *items).json["scores"]
    assert [score["parts"][1]["value"] if score["parts"] else None for score in scores] == [1.0, 1.0, None, 0.0]


def test_a_request_survives_the_death_of_all_processes(server):
    threads, replies = server.at_once("nap", "nap again")
    time.sleep(0.2)
    before = server.workers()
    for worker in before:
        worker.kill()
    for thread in threads:
        thread.join()
    assert [reply.values for reply in replies] == [[3.0], [9.0]]
    assert not {worker.pid for worker in before} & {worker.pid for worker in server.workers()}


def test_an_idle_process_that_dies_is_replaced(server):
    (worker, _) = server.workers()
    worker.kill()
    psutil.wait_procs([worker], timeout=10)
    restarts = server.get("/healthz").json["restarts"]
    threads, replies = server.at_once("nap", "nap, too")
    for thread in threads:
        thread.join()
    assert [reply.values for reply in replies] == [[3.0], [8.0]]
    assert server.get("/healthz").json == {"status": "ok", "workers": 2, "restarts": restarts + 1}


def test_concurrent_requests_get_their_own_scores(server):
    wrong = []

    def send(first):
        for number in range(first, first + 20):
            sizes = [number + place for place in range(40)]
            values = server.score("obeys", *("x" * size for size in sizes)).values
            if values != sizes:
                wrong.append((sizes, values))

    threads = [threading.Thread(target=send, args=(100 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_sigterm_finishes_what_was_accepted_and_refuses_the_rest(tmp_path):
    server = Server(tmp_path, "--workers", "1")
    try:
        threads, replies = server.at_once("nap", "nap, too")
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        with pytest.raises(ConnectionRefusedError):
            server.get("/healthz")
        for thread in threads:
            thread.join()
        assert [reply.values for reply in replies] == [[3.0], [8.0]]
        assert server.process.wait(timeout=20) == 0
        assert server.process.stderr.read() == ""
    finally:
        server.close()
