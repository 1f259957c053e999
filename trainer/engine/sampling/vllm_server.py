"""vLLM on servers (``sampling.url``): token ids in and out over HTTP, groups spread over all of them.

A server needs ``VLLM_SERVER_DEV_MODE=1`` and ``--logprobs-mode processed_logprobs``; docs/scaling.md has the commands.
It gets new weights by NCCL or CUDA IPC, by vLLM's own trainer classes (these two have not been run: they need GPUs), or
as a path; an adapter always as a path. A server that does not answer is waited for; if it was restarted, it gets the
weights again. They are gathered once for each version, by all processes; the first one keeps what it may have to send
again.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4
from weakref import WeakSet, finalize

import torch
from accelerate.utils import broadcast_object_list
from torch import Tensor

from grpo_env.errors import RunError, UsageError

from ..policy import Policy
from .probe import TEXT, check_logprobs, probe_ids
from .protocol import EngineAwayError, OnGroupTokens, RolloutEngine, SamplingRequest
from .vllm import group_seed, report_group
from .weights import compute_dtype, has_adapter, named_weights, save_weights

if TYPE_CHECKING:
    import httpx2

CONNECT = 10.0  # seconds to connect, and to say that all is well
WAIT = 300.0  # seconds that a server may be away, or take for anything but completions
COMPLETION = 3600.0  # seconds for the completions of a group, with those that the server queues before them
LOOK = 30.0  # seconds without an answer after which servers are asked whether they are well
POLL = 1.0  # seconds between two looks
ATTEMPTS = 3  # at a group, if its server goes away each time
NO_VERSION = "default"  # the version of weights that no trainer sent
ABOVE_ZERO = 1e-3  # nats by which rounding may lift a log-probability
UNLIKELY = -50.0  # nats: that all rows of a group are equal by chance, e^-50
ANSWER = 1 << 20  # bytes of an answer, apart from those of its tokens
TOKEN = 1 << 10  # bytes for a token, which has its text twice and its log-probability; most have 100
GROUPS_AT_ONCE = 256  # requests to one server; it queues what it cannot sample yet


class ServerGoneError(Exception):
    """A server does not answer, or says that it failed; ``failed`` in the latter case."""

    def __init__(self, message: str, *, failed: bool = False) -> None:
        super().__init__(message)
        self.failed = failed


class VllmServer:
    """The HTTP calls of one server. ``model`` is the name that requests give: the model's or the adapter's."""

    def __init__(self, url: str) -> None:
        import httpx2

        self.url, self.model = url, ""
        limits = httpx2.Limits(max_connections=None)
        self._client: httpx2.Client = httpx2.Client(limits=limits)
        self._sockets, self._closed = WeakSet[socket.socket](), False

    def call(self, path: str, body: Any = None, seconds: float = WAIT, most: int = ANSWER) -> Any:
        """POST a body, or GET without one; returns the JSON of the answer.

        Raises ``ServerGoneError``, also if no answer is complete after ``seconds``; ``RunError`` if the server refuses
        the request, or answers with more than ``most`` bytes or with something else than JSON.
        """
        import httpx2

        method = "GET" if body is None else "POST"
        extensions = {"trace": self._keep_socket}
        timeout, end = httpx2.Timeout(seconds, connect=CONNECT), time.monotonic() + seconds
        data = bytearray()
        try:
            with self._client.stream(
                method, f"{self.url}{path}", json=body, extensions=extensions, timeout=timeout
            ) as response:
                for block in response.iter_bytes():
                    data += block
                    if len(data) > most:
                        raise RunError(f"{self.url}{path}: an answer of more than {most:,} bytes")
                    if time.monotonic() > end:
                        raise ServerGoneError(f"its answer was not complete after {seconds:g} s")
        except RunError:
            raise
        except (httpx2.HTTPError, RuntimeError) as error:  # RuntimeError: the client was closed
            raise ServerGoneError(f"{type(error).__name__}: {error}") from error
        text = data.decode(errors="replace")
        detail = " ".join(text[:300].split())
        if response.status_code >= 500:
            raise ServerGoneError(f"status {response.status_code}: {detail}", failed=True)
        if response.status_code >= 400:
            raise RunError(f"{self.url}{path}: status {response.status_code}: {detail}")
        try:
            return json.loads(text) if text.startswith(("{", "[")) else None
        except (ValueError, RecursionError) as error:
            raise RunError(f"{self.url}{path}: not an answer of vLLM ({error})") from error

    def complete(self, policy: Policy, request: SamplingRequest, number: int) -> tuple[list[Any], list[Any]]:
        """Tokens and log-probabilities of a group's rows."""
        copies = request.group_size if request.temperature else 1
        body = {
            "model": self.model,
            "prompt": request.prompts[number],
            "n": copies,
            "max_tokens": request.limit(number),
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
        most = ANSWER + TOKEN * copies * (len(request.prompts[number]) + request.limit(number))
        reply = self.call("/v1/completions", body, COMPLETION, most)
        try:
            choices = sorted(reply["choices"], key=lambda choice: choice["index"])
            tokens = [list(choice["token_ids"]) for choice in choices]
            logps = [list(choice["logprobs"]["token_logprobs"]) for choice in choices]
        except (KeyError, TypeError) as error:
            why = f"not an answer of vLLM ({type(error).__name__}: {error})"
            raise RunError(f"{self.url}/v1/completions: {why}") from error
        if problem := _problem(tokens, logps, copies, policy.vocab_size):
            raise RunError(f"{self.url}/v1/completions: wrong answer: {problem}")
        return tokens, logps

    def close(self) -> None:
        """Close all connections; requests under way end, with ``ServerGoneError``."""
        self._closed = True
        for connection in list(self._sockets):
            _shut_down(connection)
        self._client.close()

    def _keep_socket(self, event: str, info: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            connection = info["return_value"].get_extra_info("socket")
            self._sockets.add(connection)
            if self._closed:
                _shut_down(connection)


def _problem(tokens: list[list[Any]], logps: list[list[Any]], copies: int, vocabulary: int) -> str | None:
    """What is wrong with a group's rows. Log-probabilities that are not finite are left to ``report_group``."""
    if len(tokens) != copies:
        return f"{len(tokens)} completions, not {copies}"
    for ids, row in zip(tokens, logps, strict=True):
        if len(ids) != len(row):
            return f"{len(ids)} tokens with {len(row)} log-probabilities"
        for token in ids:
            if type(token) is not int or not 0 <= token < vocabulary:
                return f"the token {token!r:.40}, and the vocabulary has {vocabulary}"
        for logp in row:
            if type(logp) not in (int, float) or ABOVE_ZERO < logp < math.inf:
                return f"{logp!r:.40} is no log-probability"
    if copies > 1 and all(ids == tokens[0] for ids in tokens) and (copies - 1) * sum(logps[0]) < UNLIKELY:
        return f"all {copies} completions are the same, too unlikely a one; do rows have seeds of their own?"
    return None


def _shut_down(connection: socket.socket) -> None:
    """End reads of other threads too, which closing would leave waiting."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class VllmServers(RolloutEngine):
    """Samples on servers, all with the same weights."""

    uses_policy_model = False

    def __init__(self, urls: Sequence[str], transfer: str | None) -> None:
        """Raises ``UsageError`` if vLLM, whose classes send weights between GPUs, is not installed."""
        if transfer in ("nccl", "ipc") and find_spec("vllm") is None:
            raise UsageError(f"sampling.weight_transfer={transfer} needs vLLM here too: pip install 'grpo_env[vllm]'")
        self._servers = [VllmServer(url) for url in urls]
        self._transfer = transfer
        self._senders: dict[str, Any] = {}  # of tensors, by URL
        self._weights: dict[str, Tensor] = {}  # those that the senders send
        self._vllm = ""  # its version on the first server
        self._run, self._version = "", 0
        self._folder = Path(tempfile.mkdtemp(prefix="grpo_env-"))
        self._remove_folder = finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also of a run refused

    @property
    def description(self) -> str:
        """See ``RolloutEngine``."""
        urls = ", ".join(server.url for server in self._servers)
        return f"vLLM {self._vllm} on {urls}, weights by {self._transfer}"

    @property
    def versions(self) -> dict[str, str]:
        """See ``RolloutEngine``."""
        return {"vllm": self._vllm}

    def start(self, policy: Policy) -> None:
        """See ``RolloutEngine``. Refuses servers with another model or another tokenizer."""
        if self._transfer is None:
            self._transfer = "path"
            if policy.device.type == "cuda" and find_spec("vllm") and not has_adapter(policy):
                _check_gpus([server.url for server in self._servers])
                self._transfer = "nccl"
        elif has_adapter(policy):
            self._transfer = "path"
        _check_transfer(policy, self._transfer)
        fresh, lengths = [], []
        for server in self._servers:
            try:
                model = server.call("/v1/models")["data"][0]
                server.model = model["id"]
                lengths += [model["max_model_len"]] if model.get("max_model_len") else []
                self._vllm = self._vllm or server.call("/version")["version"]
                fresh += [server] if server.call("/weight_info")["weight_version"] == NO_VERSION else []
                _check_tokenizer(policy, server)
            except ServerGoneError as error:
                raise UsageError(f"sampling.url={server.url} does not answer ({error}); is vLLM running?") from error
        self.max_positions = min(lengths, default=None)
        self._run = broadcast_object_list([uuid4().hex[:8]])[0]  # all processes call the weights the same
        policy.accelerator.wait_for_everyone()  # all have read whether servers are fresh
        hint = "start it anew as docs/scaling.md says, with the model that is trained"
        for server in fresh if not has_adapter(policy) else []:
            try:  # before its weights are overwritten, so that a server of another run stays as it is
                _check_logprobs(policy, server)
            except (ServerGoneError, RunError) as error:
                raise UsageError(f"sampling.url={server.url}: {error}; {hint}") from error
        self._gather(policy)
        for server in self._servers:
            try:
                self._send(policy, server)
                policy.accelerator.wait_for_everyone()
                _check_logprobs(policy, server)
            except (ServerGoneError, RunError) as error:
                why = f"it has another model than {policy.name}: " if getattr(error, "failed", False) else ""
                raise UsageError(f"sampling.url={server.url}: {why}{error}; {hint}") from error

    def update_weights(self, policy: Policy, version: int) -> None:
        """See ``RolloutEngine``."""
        if version == self._version:
            return
        self._version = version
        self._gather(policy)
        for server in self._servers:
            try:
                self._send_watched(policy, server)
            except ServerGoneError as error:
                self._revive(policy, server, error)
        policy.accelerator.wait_for_everyone()

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        first = policy.accelerator.process_index
        server_of = {n: self._servers[(first + n) % len(self._servers)] for n in range(len(request.prompts))}
        waiting = set(server_of)
        pool = ThreadPoolExecutor(GROUPS_AT_ONCE * len(self._servers))
        try:
            for _ in range(ATTEMPTS):
                self._check_versions(policy)
                futures = {pool.submit(server_of[n].complete, policy, request, n): n for n in waiting}
                for future in self._as_completed({future: server_of[n] for future, n in futures.items()}):
                    number = futures[future]
                    try:
                        tokens, logps = future.result()
                    except ServerGoneError as error:
                        failure = error
                        continue
                    waiting.remove(number)
                    report_group(request, number, tokens, logps, on_group)
                if not waiting:
                    return
            raise RunError(f"sampling.url: {len(waiting)} groups failed {ATTEMPTS} times: {failure}")
        except EngineAwayError:  # between two attempts, when no thread waits
            raise
        except BaseException:
            self.close()  # or the threads would wait for their answers
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _as_completed(self, server_of: Mapping[Future[Any], VllmServer]) -> Iterator[Future[Any]]:
        """Calls as they end. If none does for ``LOOK`` seconds, the servers are asked whether they are well.

        Says once of a server that it is not, and raises ``RunError`` if that does not change within ``WAIT`` seconds.
        Says once a call that none ends for as long although the servers are well.
        """
        pending, ill_since = set(server_of), dict[str, float]()
        quiet_since: float | None = time.monotonic()
        while pending:
            done, pending = wait(pending, timeout=LOOK, return_when=FIRST_COMPLETED)
            yield from done
            if done:
                quiet_since = time.monotonic()
            elif not ill_since and quiet_since is not None and time.monotonic() - quiet_since > WAIT:
                self.report(
                    f"no answer for {WAIT:.0f} s from servers that are well; waiting, at most {COMPLETION:.0f} s"
                )
                quiet_since = None
            for server in {server_of[future] for future in pending} if not done else ():
                began = time.monotonic()
                try:
                    server.call("/health", seconds=CONNECT)
                    if ill_since.pop(server.url, None) is not None:
                        self.report(f"{server.url} answers again")
                except (ServerGoneError, RunError) as error:
                    if server.url not in ill_since:
                        ill_since[server.url] = began
                        self.report(f"{server.url} does not answer ({error}); waiting for it, at most {WAIT:.0f} s")
                    if time.monotonic() - ill_since[server.url] > WAIT:
                        raise RunError(f"sampling.url={server.url} did not answer for {WAIT:.0f} s") from error

    def close(self) -> None:
        """See ``RolloutEngine``."""
        for server in self._servers:
            server.close()
        self._remove_folder()

    @property
    def _label(self) -> str:
        """What servers call the current weights."""
        return f"{self._run}-{self._version}"

    def _check_versions(self, policy: Policy) -> None:
        """Wait for servers that are away, and send the weights to those that do not have them."""
        for server in self._servers:
            try:
                label = server.call("/weight_info", seconds=CONNECT)["weight_version"]
                if label != self._label:
                    self._revive(policy, server, ServerGoneError(f"it has other weights ({label})"))
            except ServerGoneError as error:
                self._revive(policy, server, error)

    def _revive(self, policy: Policy, server: VllmServer, error: ServerGoneError) -> None:
        """Wait until a server answers, and has the weights again.

        Raises ``RunError`` after ``WAIT`` seconds, and ``EngineAwayError`` at once while the policy changes.
        """
        if self.policy_changes:
            raise EngineAwayError(f"sampling.url={server.url}: {error}")
        self.report(f"{server.url}: {error}; waiting for it, at most {WAIT:.0f} s")
        deadline, is_main = time.monotonic() + WAIT, policy.accelerator.is_main_process
        while time.monotonic() < deadline:
            try:
                server.call("/health", seconds=CONNECT)
                if is_main:
                    self._senders.pop(server.url, None)
                    self._send(policy, server)
                if is_main or server.call("/weight_info")["weight_version"] == self._label:
                    self.report(f"{server.url} is back and has the weights")
                    return
            except ServerGoneError as again:
                error = again
            time.sleep(POLL)
        raise RunError(f"sampling.url={server.url} did not come back within {WAIT:.0f} s ({error})")

    def _gather(self, policy: Policy) -> None:
        """Get the current weights ready to be sent, once for all servers. All processes must call this together."""
        if has_adapter(policy):
            if policy.accelerator.is_main_process:
                save_weights(policy, self._folder / self._label)
        elif self._transfer == "path":
            self._folder.mkdir(exist_ok=True)
            save_weights(policy, self._folder)
        else:
            self._weights = named_weights(policy)

    def _send_watched(self, policy: Policy, server: VllmServer) -> None:
        """``_send``, with a line about a server that hangs meanwhile."""
        pool = ThreadPoolExecutor(1)
        try:
            for future in self._as_completed({pool.submit(self._send, policy, server): server}):
                future.result()
        finally:
            pool.shutdown(wait=False)

    def _send(self, policy: Policy, server: VllmServer) -> None:
        """Give a server the weights that were gathered. The first process does."""
        if policy.accelerator.is_main_process:
            if has_adapter(policy):
                self._send_adapter(server)
            elif self._transfer == "path":
                body = {"method": "reload_weights", "kwargs": {"weights_path": str(self._folder)}}
                server.call("/collective_rpc", body)
            else:
                self._send_tensors(policy, server)
            server.call("/reset_prefix_cache", {})
            server.call("/update_weight_version", {"new_version": self._label})
        server.model = self._label if has_adapter(policy) else server.model

    def _send_adapter(self, server: VllmServer) -> None:
        folder = self._folder / self._label
        server.call("/v1/load_lora_adapter", {"lora_name": self._label, "lora_path": str(folder)})
        if server.model.startswith(self._run) and server.model != self._label:
            with suppress(RunError):  # a server that was restarted does not have it
                server.call("/v1/unload_lora_adapter", {"lora_name": server.model})

    def _send_tensors(self, policy: Policy, server: VllmServer) -> None:
        """Raises ``ServerGoneError`` for what vLLM's sender raises: errors of requests and of NCCL."""
        try:
            if server.url not in self._senders:
                self._senders[server.url] = _tensor_sender(policy, server, str(self._transfer), lambda: self._weights)
            self._senders[server.url].send_weights()
        except torch.OutOfMemoryError:
            raise
        except (OSError, RuntimeError) as error:
            self._senders.pop(server.url, None)
            raise ServerGoneError(f"{type(error).__name__}: {error}") from error


def _check_transfer(policy: Policy, transfer: str) -> None:
    """Raises ``UsageError`` if weights cannot be sent in this way."""
    if transfer != "path" and policy.device.type != "cuda":
        raise UsageError(
            f"sampling.weight_transfer={transfer} needs CUDA, and the model is on {policy.device.type}; use path"
        )
    if transfer == "ipc" and policy.accelerator.num_processes > 1:
        raise UsageError("sampling.weight_transfer=ipc needs a run of one process; use nccl or path")


def _check_gpus(urls: Sequence[str]) -> None:
    """Raises ``UsageError`` if a server seems to be on the trainer's own GPU, where NCCL refuses a second rank."""
    sees_all = "CUDA_VISIBLE_DEVICES" not in os.environ
    for url in urls:
        is_here = urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")
        if is_here and sees_all and torch.cuda.device_count() == 1:
            raise UsageError(
                f"sampling.url={url} is on this machine, which has one GPU, and NCCL sends nothing from a GPU to "
                "itself; set sampling.weight_transfer=ipc (docs/scaling.md), or nccl if the server has another GPU"
            )


def _check_tokenizer(policy: Policy, server: VllmServer) -> None:
    """Raises ``UsageError`` if the server's tokenizer is not the policy's."""
    ids = server.call("/tokenize", {"model": server.model, "prompt": TEXT, "add_special_tokens": False})["tokens"]
    if ids != probe_ids(policy):
        raise UsageError(
            f"sampling.url={server.url}: the server ({server.model}) has another tokenizer than {policy.name}"
        )


def _check_logprobs(policy: Policy, server: VllmServer) -> None:
    """Raises ``RunError`` if the server does not sample from the policy."""

    def generate(policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        report_group(request, 0, *server.complete(policy, request, 0), on_group)

    check_logprobs(policy, generate)


def _tensor_sender(
    policy: Policy, server: VllmServer, transfer: str, gathered: Callable[[], Mapping[str, Tensor]]
) -> Any:
    """vLLM's own sender of weights, by NCCL or CUDA IPC, to one server: ``send_weights()`` does a whole update.

    Written by vLLM's documentation (``vllm.distributed.weight_transfer``); never run, since it needs GPUs. It asks for
    the weights several times, of which no other process knows, so they must have been gathered.
    """
    from vllm.distributed.weight_transfer.base import ParamMeta, WeightSource
    from vllm.distributed.weight_transfer.clients import HTTPVLLMWeightSyncClient
    from vllm.distributed.weight_transfer.factory import WeightTransferTrainerFactory
    from vllm.distributed.weight_transfer.ipc_engine import IPCTrainerInitInfo
    from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

    class Source(WeightSource):  # type: ignore[misc]
        """The gathered weights, one at a time on the policy's device."""

        def metadata(self) -> list[Any]:
            return [
                ParamMeta(name, _sent_dtype(policy, weight), tuple(weight.shape)) for name, weight in gathered().items()
            ]

        def __iter__(self) -> Iterator[tuple[str, Any]]:
            for name, weight in gathered().items():
                yield name, weight.to(policy.device, _sent_dtype(policy, weight))

    info: Any = IPCTrainerInitInfo(rank=0)
    if transfer == "nccl":
        address, port = _own_address(server.url)
        size = 1 + server.call("/get_world_size")["world_size"]
        info = NCCLTrainerInitInfo(master_address=address, master_port=port, world_size=size, rank=0)
    return WeightTransferTrainerFactory.trainer_init(info, client=HTTPVLLMWeightSyncClient(server.url), source=Source())


def _sent_dtype(policy: Policy, weight: Tensor) -> torch.dtype:
    return compute_dtype(policy) if weight.is_floating_point() else weight.dtype


def _own_address(url: str) -> tuple[str, int]:
    """This machine's address as a server sees it, and a free port."""
    parts = urlsplit(url)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((parts.hostname, parts.port or 80))
        address = probe.getsockname()[0]
    with socket.socket() as listener:
        listener.bind((address, 0))
        return address, listener.getsockname()[1]
