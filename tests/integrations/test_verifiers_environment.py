"""``vf-eval`` plays a task's environment against a scripted client; its traces have the rewards of the task."""

import json
import shutil
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from importlib.metadata import distributions
from pathlib import Path
from threading import Thread

import pytest
import yaml

from grpo_env.core import score_one
from grpo_env.environments.calls import call_text
from grpo_env.rows.formats.detect import detect_format
from grpo_env.rows.reader import read_records
from grpo_env.scoring.row_reader import RowReader
from grpo_env.taskfile.task import make_task

from .conftest import Server, send_json
from .vf_eval import vf_eval

if not list(distributions(name="verifiers")):
    pytest.skip("verifiers is not installed (make test-integrations)", allow_module_level=True)

TILL = Path(__file__).parents[1] / "environments/till.py"
ROWS = [{"question": f"{n} teas?", "stock": {"tea": 3, "rice": 4}, "total": str(3 * n)} for n in (1, 2, 3, 4)]
TASK = {
    "version": 1,
    "task": "till",
    "dataset": {
        "path": "orders.jsonl",
        "split": {"train": "train", "eval": "train"},
        "answer": "{{ total }}",
        "id": "{{ question }}",
    },
    "prompt": {"user": "{{ question }}"},
    "environment": {"use": "till.py:Till", "max_turns": 3},
    "verifiers": {
        "accuracy": {"weight": 1.0},
        "tool_calls": {"weight": 0.5},
        "environment_reward": {"weight": 0.25},
        "stocked": {"use": "till:Stocked", "weight": 0.125, "on": "state"},
    },
    "metric": "accuracy",
}


def call(id, **arguments):
    return {"id": id, "type": "function", "function": {"name": "price", "arguments": json.dumps(arguments)}}


BOTH = "".join(call_text("price", {"item": item}) for item in ("tea", "rice"))
# Both prices in one turn, then the answer; a wrong argument, then the answer in the text; calls until no turn is left;
# a server that leaves calls in the text.
SCRIPTS = {
    "1 teas?": [[call("x1", item="tea"), call("x2", item="rice")], "<answer>3</answer>"],
    "2 teas?": [[call("y1", goods="tea")], "<answer>5</answer>"],
    "3 teas?": [[call("z1", item="tea")], [call("z2", item="tea")], [call("z3", item="tea")], "never"],
    "4 teas?": [BOTH, "<answer>12</answer>"],
}
ALL = 1 + 0.5 + 0.25 + 0.125
TOTALS = {"1 teas?": ALL, "2 teas?": 0, "3 teas?": 0 + 0.5 + 0.125 + 0.0625, "4 teas?": ALL}


@contextmanager
def client(asked):
    """Answers with the n-th turn of the question's script; ``asked`` gets each request."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(request)
            messages = request["messages"]
            turn = SCRIPTS[messages[0]["content"]][sum(message["role"] == "assistant" for message in messages)]
            message = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
            if not isinstance(turn, str):
                message["tool_calls"] = turn
            finish = "stop" if isinstance(turn, str) else "tool_calls"
            usage = {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}
            reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
            reply["choices"] = [{"index": 0, "finish_reason": finish, "message": message}]
            send_json(self, reply)

        def log_message(self, *_):
            return

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_vf_eval_plays_the_environment_and_saves_episodes_that_are_scored_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    shutil.copy(TILL, tmp_path)
    (tmp_path / "orders.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(TASK))
    task = make_task(TASK, "task.yaml", tmp_path)
    asked = []
    with client(asked) as served:
        done, traces, file = vf_eval(tmp_path, task, served, 1)
    assert done.returncode == 0, done.stderr
    assert [trace["ok"] for trace in traces] == [True] * 4, [trace["errors"] for trace in traces]
    rewards = {trace["task"]["data"]["id"]: trace["rewards"]["total"]["score"] for trace in traces}
    assert rewards == pytest.approx(TOTALS)
    assert {tool["function"]["name"] for request in asked for tool in request["tools"]} == {"price"}
    told = [message for request in asked for message in request["messages"] if message["role"] == "tool"]
    assert {message["tool_call_id"]: message["content"] for message in told} == {
        "x1": "3",
        "x2": "4",
        "y1": "Error: the argument item is missing",
        "z1": "3",
        "z2": "3",
        "call00001": "3",
        "call00002": "4",
    }

    # The traces have turns and states.
    records = list(read_records(file))
    reader = RowReader(task, file_format=detect_format([record.row for record in records]))
    for record in records:
        row = reader.read(record)
        assert row.problem == ""
        (completion,) = row.completions
        assert score_one(task.verifier, row.example, completion).value == pytest.approx(TOTALS[row.id])
        assert (completion.finish, completion.num_tokens) == (
            "turns" if row.id[0] == "3" else "stop",
            9 * len(completion.turns),
        )

    # Without them they are conversations, whose states are unknown.
    for record in records:
        for key in ("grpo_env_episode", "grpo_env"):
            del record.row["traces"][0]["info"][key]
        row = reader.read(record)
        score = score_one(task.verifier, row.example, row.completions[0])
        assert score.part("stocked").status == "not_applicable"
        assert score.part("tool_calls").value == {"1": 1, "2": 0, "3": 1, "4": 1}[row.id[0]]
