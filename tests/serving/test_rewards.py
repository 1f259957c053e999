"""``/get_reward`` returns over HTTP what OpenRLHF's ``reward_func`` returns in its own process."""

import math

import pytest

from grpo_env import load_task
from grpo_env.core import Example
from grpo_env.integrations.openrlhf import RewardFunc
from grpo_env.rows.formats.packed_example import pack

PROMPT = "<|im_start|>user\nHow much is 9 * 2?<|im_end|>\n<|im_start|>assistant\n"
TEXTS = ["<think>\n9*2=18\n</think>\n<answer>\n18\n</answer>", "#### 18", "#### 19", ""]


def request_body(texts, labels, prompt=PROMPT):
    """The body that OpenRLHF 0.11 sends (``_fetch_rewards_via_http``)."""
    queries = [f"{prompt}{text}<|im_end|>" for text in texts]
    return {"query": queries, "prompts": [prompt] * len(texts), "labels": labels}


def test_rewards_equal_those_of_the_python_adapter(server):
    row = {"question": "How much is 9 * 2?", "answer": "9*2=18\n#### 18"}
    body = request_body(TEXTS, ["18", "18", "18", pack(Example("q", info=row))])
    reply = server.post(body, "/get_reward?task=gsm8k")
    assert reply.status == 200, reply.body
    expected = RewardFunc(load_task("gsm8k"))(body["query"], body["prompts"], body["labels"])
    assert reply.json["rewards"] == pytest.approx(expected["rewards"].tolist())
    assert reply.json["scores"] == expected["scores"].tolist() == [1.0, 1.0, 0.0, 0.0]
    logs = {name: pytest.approx(values.tolist(), nan_ok=True) for name, values in expected["extra_logs"].items()}
    assert logs == reply.json["extra_logs"]
    assert reply.json["rewards"][0] > reply.json["rewards"][1] > reply.json["rewards"][2]


def test_an_unscored_completion_is_an_error_or_gets_the_reward_in_the_query(server):
    body = request_body(["#### 18", "#### 18"], ["18", None])
    reply = server.post(body, "/get_reward?task=gsm8k")
    assert reply.status == 422
    assert all(
        word in reply.detail
        for word in ("row 1", "accuracy", "unscored", "bad_gold", "in the URL of a server, &unscored=0")
    )
    reply = server.post(body, "/get_reward?task=gsm8k&unscored=-0.25")
    assert reply.json["rewards"] == [2.0, -0.25]
    assert [math.isnan(value) for value in reply.json["extra_logs"]["parts/accuracy"]] == [False, True]


def test_a_completion_that_kills_its_process_is_unscored(server):
    body = request_body(["ab", "leave"], ["", ""])
    reply = server.post(body, "/get_reward?task=obeys&unscored=7").json
    assert reply["rewards"] == [2.0, 7.0]
    assert math.isnan(reply["extra_logs"]["parts/serving_obeys"][1])


BAD = [
    ("?task=gsm8k", {"prompts": ["another"]}, "row 0: the query does not begin with its prompt"),
    ("?task=gsm8k", {"labels": []}, "labels: list should have at least 1 item"),
    ("?task=gsm8k", {"labels": ["1", "2"]}, "1 queries, 1 prompts and 2 labels"),
    ("?task=gsm8k", {"label": ["1"]}, "label: unknown key; did you mean 'labels'?"),
    ("?task=gsm8k&unscored=nan", {}, "unscored: input should be a finite number"),
    ("?task=gsm8", {}, "task: 'gsm8' is not served; did you mean 'gsm8k'?"),
    ("", {}, "task: several tasks are served"),
    ("?task=votes", {}, "task votes: a verifier compares the completions of a group"),
]


@pytest.mark.parametrize(("query", "change", "why"), BAD, ids=range(len(BAD)))
def test_bad_requests_get_a_reason(server, query, change, why):
    reply = server.post({**request_body(["#### 18"], ["18"]), **change}, f"/get_reward{query}")
    assert (reply.status, why in reply.detail) == (422, True), reply.body
