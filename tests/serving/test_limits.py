"""Requests that the server refuses, with their status and message."""

import gzip
import json
import socket
import sys
import threading
import time

import pytest

from grpo_env.cli.app import app
from grpo_env.errors import UsageError
from grpo_env.serving.local_server import listen

from .conftest import Server

BAD = [
    (b"", 422, "the body: field required"),
    (b"{", 422, "the body is not valid JSON"),
    (b"[1]", 422, "the body: input should be a valid dictionary"),
    ({"task": "obeys"}, 422, "items: field required"),
    ({"task": "obeys", "items": []}, 422, "items: list should have at least 1 item"),
    ({"task": "obeys", "itms": []}, 422, "itms: unknown key; did you mean 'items'?"),
    (
        {"task": "obeys", "items": [{"completion": "x"}, {"completion": "x", "finsh": "stop"}]},
        422,
        "items.1.finsh: unkn",
    ),
    ({"task": "obeys", "items": [{}]}, 422, "items.0.completion: field required"),
    ({"task": "obeys", "items": [{"completion": 3}]}, 422, "items.0.completion: input should be a valid string"),
    ({"task": "obeys", "items": [{"completion": []}]}, 422, "items.0.completion: "),
    (
        {"task": "obeys", "items": [{"completion": [{"content": "x"}]}]},
        422,
        "items.0.completion.0.role: field required",
    ),
    ({"task": "obeys", "items": [{"completion": "x", "num_tokens": "3"}]}, 422, "items.0.num_tokens: "),
    ({"task": "obeys", "items": [{"completion": "x", "num_tokens": -1}]}, 422, "items.0.num_tokens: "),
    ({"task": "obeys", "items": [{"completion": "x", "finish": "done"}]}, 422, "items.0.finish: "),
    ({"task": "obeys", "items": [{"completion": "x"}] * 4097}, 422, "items: list should have at most 4096 items"),
    ({"task": "obey", "items": [{"completion": "x"}]}, 422, "task: 'obey' is not served; did you mean 'obeys'?"),
    ({"items": [{"completion": "x"}]}, 422, "task: several tasks are served"),
    ({"task": "obeys", "items": [{f"k{n}": 0 for n in range(30_000)}]}, 422, "items.0.completion: field required"),
    ({"task": "obeys", "items": [{"completion": [{}] * 100_000}]}, 422, "items.0.completion.0.role: field required"),
    (b'{"task":"obeys","items":[{"completion":"x","num_tokens":NaN}]}', 422, "items.0.num_tokens: "),
    (b'{"task":"obeys","items":[{"completion":"x","num_tokens":1e999}]}', 422, "items.0.num_tokens: "),
    (b'{"task":"obeys","items":[{"completion":"x","info":{"n":%s}}]}' % (b"9" * 5000), 400, "limit (4300 digits)"),
    (b'{"task":"obeys","items":[{"completion":"\xff"}]}', 400, "send JSON in UTF-8, without compression ('utf-8'"),
    (b'{"task":"obeys","items":' + b"[" * 100_000, 400, "maximum recursion depth"),
    (b'{"task":"obeys","items":' + b'{"a":' * 100_000, 400, "maximum recursion depth"),
]


@pytest.mark.parametrize(("body", "status", "why"), BAD, ids=range(len(BAD)))
def test_a_bad_body_gets_a_status_and_a_reason(server, body, status, why):
    reply = server.post(body)
    assert (reply.status, why in reply.detail) == (status, True), reply.body
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "text", ["{" * 200_000, "\ud800", "9" * 900_000, "\\boxed{9**9**9**9}", "\u202e\x00\uffff" * 1000]
)
def test_hostile_text_is_scored_like_any_other(server, text):
    reply = server.score("gsm8k", {"completion": text, "answer": "18"}, {"completion": "#### 18", "answer": "18"})
    assert reply.status == 200
    assert reply.json["scores"][0]["value"] == 0.0
    assert reply.json["scores"][1]["parts"][0]["value"] == 1.0


def test_only_uncompressed_json_is_accepted(server):
    item = json.dumps({"task": "obeys", "items": [{"completion": "abc"}]}).encode()
    assert server.post(item, Content_Type="application/json; charset=utf-8").values == [3.0]
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""):
        reply = server.post(item, Content_Type=content_type)
        assert (reply.status, "with the header Content-Type: application/json" in reply.detail) == (422, True)
    reply = server.post(gzip.compress(item), Content_Encoding="gzip")
    assert (reply.status, "without compression" in reply.detail) == (400, True)


WRONG_TOKENS = [
    {},
    *({"Authorization": text} for text in ("open-sesame", "Basic open-sesame", "Bearer open", "Bearer \xff")),
]


@pytest.mark.parametrize("headers", WRONG_TOKENS, ids=range(len(WRONG_TOKENS)))
@pytest.mark.parametrize(("method", "path"), [("POST", "/score"), ("POST", "/get_reward")])
def test_requests_without_the_token_are_refused(server, method, path, headers):
    reply = server.request(method, path, headers=headers)
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")


def test_the_authorization_scheme_is_case_insensitive(server):
    assert server.score("obeys", "abc", Authorization="bearer open-sesame").values == [3.0]


def exchanged(server, data, half_close=False):
    """What the server sends on a bare connection until it closes it. ``half_close``: the client sends no more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while block := connection.recv(65536):
            received += block
    return received


HEAD = b"POST /score HTTP/1.1\r\nHost: [::1]\r\nAuthorization: Bearer open-sesame\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("hasty"), "--workers", "1", "--deadline", "0.5")
    yield running
    running.close()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:80", 200),
        ("[::1]:80", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example:80", 400),
        ("[::1", 400),
        ("", 400),
    ],
)
def test_a_server_without_a_token_answers_only_requests_for_this_machine(hasty, host, status):
    received = exchanged(hasty, f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert received.startswith(f"HTTP/1.1 {status} ".encode())
    body = json.loads(received.rpartition(b"\r\n\r\n")[2])
    assert ("with a token and --host" in body.get("detail", "")) == (status == 400)


@pytest.mark.parametrize(
    "data",
    [
        b"GARBAGE\r\n\r\n",
        HEAD + b"Content-Length: -5\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ],
)
def test_invalid_http_is_a_bad_request(server, data):
    assert exchanged(server, data).startswith(b"HTTP/1.1 400 ")


def test_a_request_that_takes_too_long_is_answered_so_and_its_process_ended(hasty):
    (before,) = hasty.workers()
    reply = hasty.score("obeys", *["nap"] * 3)
    assert (reply.status, reply.detail.partition(";")[0]) == (504, "not scored within 0.5 s (--deadline)")
    end = time.monotonic() + 20
    while (reply := hasty.score("obeys", "abc")).status == 504 and time.monotonic() < end:
        continue  # a new process may take longer to start than requests may wait here
    assert reply.values == [3.0]
    assert before.pid not in [worker.pid for worker in hasty.workers()]


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("patient"), "--workers", "1", "--deadline", "25")
    yield running
    running.close()


@pytest.mark.slow
def test_a_request_of_slow_items_does_not_keep_others_waiting(patient):
    """Its items take 20 s in the only process, of which another request waits for 8 s at most."""
    slow = []
    thread = threading.Thread(target=lambda: slow.append(patient.score("obeys", *["nap"] * 40)))
    thread.start()
    time.sleep(0.5)
    start = time.monotonic()
    assert patient.score("obeys", "abc").values == [3.0]
    assert time.monotonic() - start < 15
    thread.join()
    assert slow[0].values == [3.0] * 40


@pytest.mark.slow
def test_a_late_item_times_out_and_its_neighbors_do_not(patient):
    reply = patient.score("obeys", "abc", "sleep", "abcd")
    assert (reply.status, reply.values) == (200, [3.0, 0.0, 4.0])
    late = reply.json["scores"][1]["parts"][0]
    assert late["status"] == "timeout"
    assert late["explanation"].startswith("serving_obeys did not end within ")
    assert patient.score("obeys", "abc").values == [3.0]


def test_the_description_contains_limits_and_security(server):
    description = server.request("GET", "/openapi.json").json
    request = description["components"]["schemas"]["ScoreRequest"]
    assert request["properties"]["items"]["maxItems"] == 4096
    free = [path for path, methods in description["paths"].items() if "security" not in next(iter(methods.values()))]
    assert free == ["/healthz"]


def refused(*arguments):
    """The error of ``grpo_env serve`` with these arguments."""
    with pytest.raises(UsageError) as caught:
        app(["serve", *arguments], standalone_mode=False)
    return str(caught.value)


def test_responses_do_not_wait_for_acknowledgements():
    with listen("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_wrong_options_are_errors(server, tmp_path, monkeypatch):
    assert "--host 0.0.0.0 is not a loopback address: set a token" in refused("arithmetic", "--host", "0.0.0.0")
    assert "two tasks have the same name" in refused("arithmetic", "arithmetic")
    assert "cannot listen on 127.0.0.1" in refused("arithmetic", "--port", str(server.port))
    assert "unknown task" in refused("arithmetics")
    (tmp_path / "token").write_text("two words")
    assert "a token must be ASCII" in refused("arithmetic", "--token-file", str(tmp_path / "token"))
    monkeypatch.setenv("GRPO_ENV_TOKEN", "")
    assert "GRPO_ENV_TOKEN: a token must be ASCII" in refused("arithmetic")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refused("arithmetic").endswith(
        "needs packages that are not installed: in a copy of grpo_env, pip install -c constraints.txt '.[serve]'"
    )
