"""Rewards behind a resources server's HTTP, as Gym's agent asks it. Those of verifiers are in tests/integrations."""

import json
import re
from contextlib import contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from typer.testing import CliRunner

from grpo_env import Completion, Example, load_task
from grpo_env.audit import AuditRequest, audit_foreign, server
from grpo_env.audit.attack import Attack
from grpo_env.audit.peers import ServerReward
from grpo_env.cli.app import app
from grpo_env.errors import UsageError

FAST = ("negated", "two answers", "truncation", "bombs", "look-alikes")


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Texts are scored once, which starts no second process."""
    monkeypatch.setattr(Attack, "_unstable", lambda self, attempts: {})


@contextmanager
def served(pays, status=200):
    """A server with sessions in cookies: ``pays(text, row of the session)``; the requests of ``/verify``."""
    sessions, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which waits for 40 ms before a body goes

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            cookie = SimpleCookie(self.headers.get("Cookie", ""))
            if self.path == "/seed_session":
                assert not cookie
                sessions[str(len(sessions))] = body
                reply, headers = {}, {"Set-Cookie": f"session={len(sessions) - 1}; path=/"}
            else:
                asked.append(body)
                text = body["response"]["output"][0]["content"][0]["text"]
                reply, headers = {**body, "reward": pays(text, sessions.pop(cookie["session"].value))}, {}
            data = json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=httpd.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}", asked
    finally:
        httpd.shutdown()
        httpd.server_close()


@pytest.fixture
def rows(tmp_path):
    """As Gym's data sets have them, with the gold answer where mcqa has it and where others have it."""
    lines = [
        {
            "responses_create_params": {"input": [{"role": "user", "content": f"What is {n} + {n * n}?"}]},
            "verifier_metadata": {"expected_answer": str(n + n * n)},
            "agent_ref": {"name": "simple_agent"},
        }
        for n in range(11, 17)
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def contains(text, row):
    return float(row["verifier_metadata"]["expected_answer"] in text)


def last_box(text, row):
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return float(bool(found) and found[-1].strip() == row["verifier_metadata"]["expected_answer"])


def test_the_flaw_of_a_server_is_found(rows):
    with served(contains) as (url, asked):
        report = audit_foreign(server(url, rows), AuditRequest(families=FAST))
    assert "not_gold" in [outcome.hack for outcome in report.exploits], str(report)
    assert "6 rows; answers in 'verifier_metadata.expected_answer'" in report.source
    assert report.failed == []
    first = json.loads(rows.read_text().splitlines()[0])
    assert {key: asked[0][key] for key in first} == first
    assert asked[0]["response"]["output"][0]["role"] == "assistant"
    assert asked[0]["response"]["incomplete_details"] is None


def test_a_truncated_reply_is_incomplete(rows):
    row = json.loads(rows.read_text().splitlines()[0])
    with served(contains) as (url, asked):
        scores = [ServerReward(url)(Example("1", info=row), Completion(text, "length")) for text in ("132", "\ud8001")]
    assert [score.value for score in scores] == [1, 0]
    assert asked[0]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert asked[1]["response"]["output"][0]["content"][0]["text"] == "?1"


def test_a_sound_server_is_not_accused(rows):
    with served(last_box) as (url, _):
        report = audit_foreign(server(url, rows), AuditRequest(families=FAST))
    assert [outcome.hack for outcome in report.exploits] == [], str(report)


def test_a_server_of_ours_is_not_accused(tmp_path):
    """The bundled task as ``export env --to gym`` serves it: prompts are chats, gold answers are in packed examples."""
    import uvicorn

    from grpo_env.integrations.nemo_gym import make_app, rows

    task = load_task("arithmetic", {"dataset.limit": {"train": 6, "eval": 5}})
    pairs = zip(rows(task, "train"), task.examples("train"), strict=True)
    lines = [{**row, "answer": example.answer} for row, example in pairs]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = uvicorn.Config(make_app(task), host="127.0.0.1", port=0, log_level="error")
    runs = uvicorn.Server(config)
    thread = Thread(target=runs.run, daemon=True)
    thread.start()
    while not runs.started:
        thread.join(0.05)
    url = f"http://127.0.0.1:{runs.servers[0].sockets[0].getsockname()[1]}"
    report = audit_foreign(server(url, tmp_path / "rows.jsonl"), AuditRequest(families=FAST))
    runs.should_exit = True
    thread.join()
    assert [outcome.hack for outcome in report.exploits] == [], str(report)


def test_a_server_that_refuses_or_is_not_there_is_an_error(rows):
    with served(contains, 422) as (url, _), pytest.raises(UsageError, match="/seed_session answers 422"):
        audit_foreign(server(url, rows))
    with pytest.raises(UsageError, match=r"a gold answer is unscored: .*ConnectError"):
        audit_foreign(server("http://127.0.0.1:9", rows))


def test_the_command_takes_a_server(rows):
    with served(contains) as (url, _):
        done = CliRunner().invoke(app, ["audit", "--gym", url, "--data", str(rows), "--only", "negated"])
    assert done.exit_code == 1
    assert "EXPLOIT not_gold (negated; knows the gold): wins 100% of what being right adds in 6 of 6" in done.stdout
