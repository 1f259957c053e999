"""A small HTTP server on a real socket, with scripted replies, and a fixture that starts it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from grpo_env import endpoint


@dataclass
class Answer:
    """An HTTP response; ``drop`` closes the connection without one, ``trickle`` seconds pass between its bytes."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    finish: str = "stop"
    reasoning: str | None = None
    tokens: int | None = None
    drop: bool = False
    trickle: float = 0.0

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.text}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        reply: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        if self.tokens is not None:
            reply["usage"] = {"completion_tokens": self.tokens}
        return json.dumps(reply).encode()


Script = Callable[[int, dict[str, Any]], Answer | str]


class Peer:
    """The server. ``script`` maps a request's number (from 0) and body to the answer; ``requests`` keeps the bodies."""

    def __init__(self, script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        peer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet, or each answer takes the 40 ms of a delayed acknowledgement

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with peer._lock:
                    number = len(peer.requests)
                    peer.requests.append(body)
                    peer.headers.append(dict(self.headers))
                    peer._at_once += 1
                    peer.most_at_once = max(peer.most_at_once, peer._at_once)
                try:
                    answer = script(number, body)
                    self._send(Answer(answer) if isinstance(answer, str) else answer)
                except OSError:  # the client has hung up
                    self.close_connection = True
                finally:
                    with peer._lock:
                        peer._at_once -= 1

            def _send(self, answer: Answer) -> None:
                if answer.drop:
                    self.close_connection = True
                    return
                payload = answer.payload()
                self.send_response(answer.status)
                for name, value in {**answer.headers, "Content-Length": str(len(payload))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if answer.trickle:
                    for byte in payload:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(answer.trickle)
                else:
                    self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # beyond it a connection waits a second to be tried again
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], Peer]]:
    """Starts servers, which end with the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    endpoint._state.cache_clear()  # the system may give a port out again
    peers: list[Peer] = []

    def start(script: Script) -> Peer:
        peers.append(Peer(script))
        return peers[-1]

    yield start
    for server in peers:
        server.close()
