"""One real server for all tests in this folder, called over HTTP."""

import http.client
import json
import subprocess
import sys
import threading
from typing import NamedTuple

import psutil
import pytest

TOKEN = "open-sesame"

OWN = '''
import ctypes
import os
import time
from dataclasses import dataclass

from grpo_env.core import Score, Verifier
from grpo_env.registry import verifier


@verifier("serving_obeys")
@dataclass(frozen=True)
class Obeys(Verifier):
    """Follows the commands in the text; other texts score their length."""

    def __call__(self, example, completion):
        if "leave" in completion.text:
            os._exit(3)
        if "crash" in completion.text:
            ctypes.string_at(0)
        if "sleep" in completion.text:
            time.sleep(100)
        if "nap" in completion.text:
            time.sleep(0.5)
        if "nan" in completion.text:
            return Score(float("nan"))
        return Score(float(len(completion.text)))
'''

TASK = """
version: 1
task: {name}
dataset: {{path: rows.jsonl, answer: "{{{{ answer }}}}"}}
prompt: {{user: "{{{{ question }}}}"}}
verifiers: {verifiers}
metric: serving_obeys
"""


class Reply(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def detail(self):
        return self.json["detail"]

    @property
    def values(self):
        return [score["value"] for score in self.json["scores"]]


class Server:
    """A server in a separate process, killed by ``close``."""

    def __init__(self, folder, *options):
        (folder / "serving_own.py").write_text(OWN)
        tasks = {"obeys": "{serving_obeys: {}}", "votes": "{serving_obeys: {}, majority: {}}"}
        for name, verifiers in tasks.items():
            (folder / f"{name}.yaml").write_text(TASK.format(name=name, verifiers=verifiers))
        command = [sys.executable, "-m", "grpo_env", "serve", *tasks, "gsm8k", "--port", "0", *options]
        command = [str(folder / f"{word}.yaml") if word in tasks else word for word in command]
        self.process = subprocess.Popen(
            [*command, "--verifiers", str(folder / "serving_own.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.ready = self.process.stdout.readline()
        assert self.ready, self.process.stderr.read()
        self.port = int(self.ready.rpartition(":")[2])

    def request(self, method, path, body=None, headers=None, encode_chunked=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {}, encode_chunked=encode_chunked)
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.headers), reply.read())
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})

    def post(self, body, path="/score", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        defaults = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        return self.request(
            "POST", path, data, defaults | {key.replace("_", "-"): text for key, text in headers.items()}
        )

    def score(self, task, *items, **headers):
        items = [{"completion": item} if isinstance(item, str) else item for item in items]
        return self.post({"task": task, "items": items}, **headers)

    def at_once(self, *texts):
        """Threads that send a request for each text at the same time, and the list that gets the replies."""
        replies = [None] * len(texts)

        def send(place):
            replies[place] = self.score("obeys", texts[place])

        threads = [threading.Thread(target=send, args=(place,)) for place in range(len(texts))]
        for thread in threads:
            thread.start()
        return threads, replies

    def workers(self):
        """The server's scoring processes."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if "function_calls" in " ".join(child.cmdline())]

    def close(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text(TOKEN + "\n")
    limits = ("--workers", "2", "--deadline", "30")
    running = Server(tmp_path_factory.mktemp("tasks"), *limits, "--token-file", str(token))
    yield running
    running.close()
