"""vLLM on servers (``sampling.url``): token ids in and out over HTTP, groups spread over all of them.

A server needs ``VLLM_SERVER_DEV_MODE=1`` and ``--logprobs-mode processed_logprobs``; docs/scaling.md has the commands.
It loads new weights from a folder, which it must see too. A server that fails ends the run, which is saved and
gives the server its weights when it is resumed.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from weakref import finalize

from accelerate.utils import broadcast_object_list

from grpo_env.endpoint import certificates, run_async
from grpo_env.errors import RunError, UsageError

from ..policy import Policy
from .probe import TEXT, check_logprobs, probe_ids
from .protocol import OnGroupTokens, RolloutEngine, SamplingRequest
from .send_weights import save_weights
from .vllm import group_seed, report_group

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

CONNECT = 10.0  # seconds to connect
WAIT = 300.0  # seconds for anything but completions
COMPLETION = 3600.0  # seconds for the completions of a group, with those that the server queues before them
NO_VERSION = "default"  # the version of weights that no trainer sent
GROUPS_AT_ONCE = 256  # requests to one server; it queues what it cannot sample yet


class VllmServer:
    """The HTTP calls of one server. ``model`` is the name that requests give: the model's or the adapter's."""

    def __init__(self, url: str) -> None:
        self.url, self.model = url, ""

    def call(self, path: str, body: Any = None) -> Any:
        """As ``request``, by itself."""
        return with_client(lambda client: self.request(client, path, body, WAIT), 1)

    async def request(self, client: httpx2.AsyncClient, path: str, body: Any, seconds: float) -> Any:
        """POST a body, or GET without one; returns the JSON of the answer, ``None`` if it has none.

        Raises ``RunError`` if the server does not answer, refuses the request or answers with something else.
        """
        import httpx2

        method, timeout = "GET" if body is None else "POST", httpx2.Timeout(seconds, connect=CONNECT)
        try:
            response = await client.request(method, f"{self.url}{path}", json=body, timeout=timeout)
        except httpx2.HTTPError as error:
            raise RunError(f"{self.url}{path} does not answer ({type(error).__name__}: {error})") from error
        if response.status_code >= 400:
            detail = " ".join(response.text[:300].split())
            raise RunError(f"{self.url}{path}: status {response.status_code}: {detail}")
        try:
            return response.json() if response.text.startswith(("{", "[")) else None
        except (ValueError, RecursionError) as error:
            raise RunError(f"{self.url}{path}: not an answer of vLLM ({error})") from error

    async def complete(
        self, client: httpx2.AsyncClient, policy: Policy, request: SamplingRequest, number: int
    ) -> tuple[list[Any], list[Any]]:
        """Tokens and log-probabilities of a group's rows. Raises ``RunError``."""
        copies = request.group_size if request.temperature else 1
        body = {
            "model": self.model,
            "prompt": request.prompts[number],
            "n": copies,
            "max_tokens": request.limits[number],
            "temperature": request.temperature,
            "seed": group_seed(request.seeds[number]),
            "stop_token_ids": policy.end_ids,
            "ignore_eos": True,
            "logprobs": 0,
            "return_token_ids": True,
            # Or those of the model's generation config would apply.
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
        }
        reply = await self.request(client, "/v1/completions", body, COMPLETION)
        try:
            choices = sorted(reply["choices"], key=lambda choice: choice["index"])
            tokens = [list(choice["token_ids"]) for choice in choices]
            logps = [list(choice["logprobs"]["token_logprobs"]) for choice in choices]
        except (KeyError, TypeError) as error:
            why = f"not an answer of vLLM ({type(error).__name__}: {error})"
            raise RunError(f"{self.url}/v1/completions: {why}") from error
        if len(tokens) != copies:
            raise RunError(f"{self.url}/v1/completions: {len(tokens)} completions, not {copies}")
        return tokens, logps

    def load(self, policy: Policy, folder: Path, label: str) -> None:
        """Let the server load what ``save_weights`` wrote, and call it ``label``. The first process does.

        Raises ``RunError``.
        """
        before, is_adapter = self.model, policy.has_adapter
        self.model = label if is_adapter else before
        if not policy.accelerator.is_main_process:
            return
        if is_adapter:
            self.call("/v1/load_lora_adapter", {"lora_name": label, "lora_path": str(folder)})
            if before.partition("-")[0] == label.partition("-")[0] and before != label:  # of this run
                with suppress(RunError):
                    self.call("/v1/unload_lora_adapter", {"lora_name": before})
        else:
            self.call("/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}})
        self.call("/reset_prefix_cache", {})
        self.call("/update_weight_version", {"new_version": label})


class VllmServers(RolloutEngine):
    """Samples on servers, all with the same weights."""

    uses_policy_model = False

    def __init__(self, urls: Sequence[str]) -> None:
        self._servers = [VllmServer(url) for url in urls]
        self._run, self._version = "", 0
        self._folder = Path(tempfile.mkdtemp(prefix="grpo_env-"))
        self._remove_folder = finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also of a run refused

    def start(self, policy: Policy) -> None:
        """See ``RolloutEngine``. Refuses servers with another model or another tokenizer."""
        fresh, lengths = [], []
        for server in self._servers:
            try:
                model = server.call("/v1/models")["data"][0]
                server.model = model["id"]
                lengths += [model["max_model_len"]] if model.get("max_model_len") else []
                self.versions = self.versions or {"vllm": server.call("/version")["version"]}
                fresh += [server] if server.call("/weight_info")["weight_version"] == NO_VERSION else []
                _check_tokenizer(policy, server)
            except RunError as error:
                raise UsageError(f"sampling.url: {error}; is vLLM running as docs/scaling.md says?") from error
        urls = ", ".join(server.url for server in self._servers)
        self.description, self.max_positions = f"vLLM {self.versions['vllm']} on {urls}", min(lengths, default=None)
        self._run = broadcast_object_list([uuid4().hex[:8]])[0]  # all processes call the weights the same
        policy.accelerator.wait_for_everyone()  # all have read whether servers are fresh
        hint = f"start it anew as docs/scaling.md says, with the model that is trained, {policy.name}"
        try:
            for server in fresh if not policy.has_adapter else []:
                # Before its weights are overwritten, so that a server of another run stays as it is.
                check_logprobs(policy, partial(sample_on, [server]))
            self._send(policy)
            for server in self._servers:
                check_logprobs(policy, partial(sample_on, [server]))
        except RunError as error:
            raise UsageError(f"sampling.url: {error}; {hint}") from error

    def update_weights(self, policy: Policy, version: int) -> None:
        """See ``RolloutEngine``."""
        if version != self._version:
            self._version = version
            self._send(policy)

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        for server in self._servers:
            if (label := server.call("/weight_info")["weight_version"]) != self._label:
                raise RunError(f"sampling.url={server.url}: it has other weights ({label}); was it started anew?")
        first = policy.accelerator.process_index % len(self._servers)
        sample_on([*self._servers[first:], *self._servers[:first]], policy, request, on_group)

    def close(self) -> None:
        """See ``RolloutEngine``."""
        self._remove_folder()

    @property
    def _label(self) -> str:
        """What servers call the current weights."""
        return f"{self._run}-{self._version}"

    def _send(self, policy: Policy) -> None:
        """Give all servers the policy's weights. All processes must call this together."""
        folder = self._folder / self._label if policy.has_adapter else self._folder
        save_weights(policy, folder)
        for server in self._servers:
            server.load(policy, folder, self._label)
        policy.accelerator.wait_for_everyone()


def sample_on(servers: Sequence[VllmServer], policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
    """Sample a group on each server in turn, and report it when it ends. An error or Ctrl-C ends all requests."""

    async def group(client: httpx2.AsyncClient, number: int) -> None:
        tokens, logps = await servers[number % len(servers)].complete(client, policy, request, number)
        report_group(request, number, tokens, logps, on_group)

    async def groups(client: httpx2.AsyncClient) -> None:
        await asyncio.gather(*(group(client, number) for number in range(len(request.prompts))))

    with_client(groups, GROUPS_AT_ONCE * len(servers))


def with_client(work: Callable[[httpx2.AsyncClient], Awaitable[T]], connections: int) -> T:
    """The result of work with a client that has at most so many connections."""
    import httpx2

    async def run() -> T:
        limits = httpx2.Limits(max_connections=connections)
        async with httpx2.AsyncClient(limits=limits, verify=certificates()) as client:
            return await work(client)

    return run_async(run())


def _check_tokenizer(policy: Policy, server: VllmServer) -> None:
    """Raises ``UsageError`` if the server's tokenizer is not the policy's."""
    ids = server.call("/tokenize", {"model": server.model, "prompt": TEXT, "add_special_tokens": False})["tokens"]
    if ids != probe_ids(policy):
        raise UsageError(
            f"sampling.url={server.url}: the server ({server.model}) has another tokenizer than {policy.name}"
        )
