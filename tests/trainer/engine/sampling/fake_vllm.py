"""A server with the part of vLLM's HTTP surface that the trainer uses; it samples with the library's own engine.

It loads weights only when told to, ignores the keys of a request that it does not know, and answers as vLLM 0.32 does.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from grpo_env.trainer.engine.policy import load_policy
from grpo_env.trainer.engine.sampling.own import OwnEngine
from grpo_env.trainer.engine.sampling.protocol import SamplingRequest


class FakeVllm:
    """A running server; ``requests`` are the paths and bodies that it got."""

    def __init__(self, model: Path, port: int = 0) -> None:
        self.policy = load_policy(str(model), device="cpu")
        self.version, self.adapters = "default", set()
        self.max_model_len = self.policy.max_positions
        self.requests: list[tuple[str, Any]] = []
        self.fail_next = 0  # completions to answer with status 500, as by an engine that has died
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(None)

            def do_POST(self) -> None:
                self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def answer(self, body: Any) -> None:
                with fake._lock:
                    fake.requests.append((self.path, body))
                    status, reply = fake.answer(self.path, body)
                if isinstance(reply, Iterator):  # of blocks, until the client leaves
                    self.send_response(status)
                    self.end_headers()
                    with suppress(OSError):
                        for block in reply:
                            self.wfile.write(block)
                    return
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        """Status and reply."""
        if path == "/v1/models":
            return 200, {"data": [{"id": "the-model", "max_model_len": self.max_model_len}]}
        if path == "/version":
            return 200, {"version": "0.32.0"}
        if path == "/weight_info":
            return 200, {"weight_version": self.version}
        if path == "/update_weight_version":
            self.version = body["new_version"]
        elif path == "/tokenize":
            assert body["add_special_tokens"] is False
            return 200, {"tokens": self.policy.tokenizer.encode(body["prompt"], add_special_tokens=False)}
        elif path == "/collective_rpc":
            assert body["method"] == "reload_weights"
            return self.load(Path(body["kwargs"]["weights_path"]))
        elif path == "/v1/load_lora_adapter":
            self.load_adapter(body["lora_name"], body["lora_path"])
        elif path == "/v1/unload_lora_adapter":
            if body["lora_name"] not in self.adapters:
                return 404, {"error": {"message": "The lora adapter cannot be found."}}
            self.adapters.remove(body["lora_name"])
        elif path == "/v1/completions":
            return self.complete(body)
        else:
            assert path in ("/health", "/reset_prefix_cache"), path
        return 200, {}

    def load(self, folder: Path) -> tuple[int, Any]:
        try:
            self.policy.model.load_state_dict(load_file(folder / "model.safetensors"))
        except RuntimeError as error:  # other shapes
            return 500, {"error": {"message": str(error)[:100]}}
        return 200, {"results": [None]}

    def load_adapter(self, name: str, folder: str) -> None:
        base = load_policy(self.policy.name, device="cpu")
        base.model.load_adapter(folder)
        self.policy, self.adapters = base, {*self.adapters, name}

    def complete(self, body: Any) -> tuple[int, Any]:
        if self.fail_next:
            self.fail_next -= 1
            return 500, {"error": {"message": "EngineCore encountered an issue"}}
        if body["model"] not in ("the-model", *self.adapters):
            return 404, {"error": {"message": f"The model {body['model']} does not exist."}}
        if len(body["prompt"]) + body["max_tokens"] > self.max_model_len:
            return 400, {"error": {"message": f"This model's maximum context length is {self.max_model_len} tokens."}}
        if body["temperature"] == 0 and body["n"] > 1:
            return 400, {"error": {"message": "n must be 1 when using greedy sampling"}}
        assert body["ignore_eos"]
        assert body["return_token_ids"]
        vars(self.policy)["end_ids"] = sorted(body["stop_token_ids"])
        ends, choices = set(body["stop_token_ids"]), []
        seeds = [str(body["seed"] + row) for row in range(body["n"])]
        prompts = [body["prompt"]] * body["n"]
        request = SamplingRequest(prompts, 1, body["max_tokens"], body["temperature"], seeds)

        def on_group(number: int, tokens: list[list[int]], logps: list[list[float]]) -> None:
            length = next((i + 1 for i, token in enumerate(tokens[0]) if token in ends), len(tokens[0]))
            logprobs = {"token_logprobs": logps[0][:length]}
            choices.append({"index": number, "token_ids": tokens[0][:length], "logprobs": logprobs})

        OwnEngine().generate(self.policy, request, on_group)
        return 200, {"choices": choices}
