"""vLLM in each process of the trainer: paged keys and values, and a prefix cache. It has a copy of the weights.

New weights go from tensor to tensor; only an adapter goes through a temporary folder, and then the model's own weights
stay where they are. On CUDA, vLLM gives its memory back while the policy is updated (its sleep mode); this has not been
run on a GPU. On a CPU, set ``VLLM_CPU_KVCACHE_SPACE`` to the GiB of its cache.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from grpo_env.errors import DivergedError, RunError, UsageError, install

from ..policy import Policy
from .probe import check_logprobs
from .protocol import OnGroupTokens, RolloutEngine, SamplingRequest
from .send_weights import compute_dtype, named_weights, save_adapter

# vLLM reads these when it is imported. Without the first it would sample in another process, which would need the
# weights as bytes; the last two would take threads and memory from the trainer.
ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_KVCACHE_SPACE": "1",
}


class VllmEngine(RolloutEngine):
    """Samples with a model of vLLM's that lives in this process, in the dtype that the policy computes in.

    Every row has a seed of its own, but a row also depends, by rounding, on what is sampled at the same time. Each of
    several processes has a model of its own, on its own device.
    """

    uses_policy_model = False

    def __init__(self, gpu_memory_fraction: float) -> None:
        """Raises ``UsageError`` if vLLM is not installed."""
        if find_spec("vllm") is None:
            raise UsageError(f"sampling.engine=vllm needs vLLM: {install('vllm')}, or give sampling.url")
        self._memory = gpu_memory_fraction
        self.llm: Any = None  # vLLM's own object, once it has started
        self._adapter: Any = None  # vLLM's request for the current adapter, which is in ``_folder``
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._version = 0
        self._asleep = False

    def start(self, policy: Policy) -> None:
        """See ``RolloutEngine``."""
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        os.environ.setdefault("OMP_NUM_THREADS", str(torch.get_num_threads()))  # or vLLM leaves the trainer with one
        from vllm import LLM, __version__

        on_cuda, adapter = policy.device.type == "cuda", policy.has_adapter
        options: dict[str, Any] = {"gpu_memory_utilization": self._memory}
        if not on_cuda:  # parts of a prompt cannot be computed apart if rows have seeds: CPU generators cannot go back
            options = {"enforce_eager": True, "enable_chunked_prefill": False}
        if policy.accelerator.num_processes > 1:  # or vLLM would take the first GPU in every process
            options["distributed_executor_backend"] = "external_launcher"
        if adapter:
            options |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _lora_rank(policy)}
        try:
            self.llm = LLM(
                str(policy.model.name_or_path),  # of an adapter, the model below it
                dtype=compute_dtype(policy),
                load_format="auto" if adapter else "dummy",  # ``_load`` sets all weights
                max_model_len=-1,  # as many positions as the model and the memory have
                skip_tokenizer_init=True,
                logprobs_mode="processed_logprobs",  # those at the temperature
                enable_sleep_mode=on_cuda,
                disable_log_stats=True,
                **options,
            )
        except (ValueError, RuntimeError, OSError, NotImplementedError) as error:
            reason = str(error).strip().split("\n")[0]
            raise UsageError(f"sampling.engine=vllm cannot load {policy.name} ({reason})") from error
        self.description, self.versions = f"vLLM {__version__} in this process", {"vllm": __version__}
        self.max_positions = self.llm.model_config.max_model_len
        self._load(policy)
        try:
            check_logprobs(policy, self.generate)
        except RunError as error:
            raise UsageError(f"sampling.engine=vllm cannot sample: {error}; use sampling.engine=own") from error

    def update_weights(self, policy: Policy, version: int) -> None:
        """See ``RolloutEngine``."""
        if version == self._version and not self._asleep:
            return
        if self._asleep:
            self.llm.wake_up(tags=["weights"])
        self._version = version
        self._load(policy)
        if self._asleep:
            self.llm.wake_up(tags=["kv_cache"])
            self._asleep = False

    def _load(self, policy: Policy) -> None:
        if policy.has_adapter:
            from vllm.lora.request import LoRARequest

            self._folder = tempfile.TemporaryDirectory()  # the one before is deleted
            save_adapter(policy, Path(self._folder.name))
            # Numbers tell adapters apart; 0 would be none.
            self._adapter = LoRARequest(f"version-{self._version}", self._version + 1, self._folder.name)
            self.llm.llm_engine.add_lora(self._adapter)
        else:
            self.llm.collective_rpc("reload_weights", kwargs={"weights_iterator": named_weights(policy)})
        self.llm.reset_prefix_cache()

    def generate(self, policy: Policy, request: SamplingRequest, on_group: OnGroupTokens) -> None:
        """See ``RolloutEngine``."""
        from vllm.inputs.engine import tokens_input

        engine, running = self.llm.llm_engine, set()
        try:
            for number, prompt in enumerate(request.prompts):
                parameters = _parameters(policy, request, number)
                engine.add_request(str(number), tokens_input(prompt), parameters, lora_request=self._adapter)
                running.add(str(number))
            while running:
                for output in engine.step():
                    running.discard(output.request_id)
                    rows = sorted(output.outputs, key=lambda row: row.index)
                    tokens = [list(row.token_ids) for row in rows]
                    logps = [
                        [step[t].logprob for t, step in zip(row.token_ids, row.logprobs, strict=True)] for row in rows
                    ]
                    report_group(request, int(output.request_id), tokens, logps, on_group)
        finally:
            if running:  # an error or Ctrl-C
                engine.abort_request(list(running))

    def sleep(self) -> None:
        """See ``RolloutEngine``. The weights are kept, on the CPU, only below an adapter."""
        if self.llm.model_config.enable_sleep_mode and not self._asleep:
            self.llm.sleep(level=1 if self._adapter else 2)
            self._asleep = True

    def close(self) -> None:
        """See ``RolloutEngine``."""
        if self.llm is not None:
            client, self.llm = self.llm.llm_engine.engine_core, None
            if torch.distributed.get_world_size() == 1:
                client.shutdown()
            else:  # the rest of vLLM's end is that of the process group, which is the trainer's
                client._finalizer.detach()
                client.engine_core.model_executor.shutdown()


def group_seed(seed: str) -> int:
    """The number that seeds a group; vLLM adds the number of the row."""
    return random.Random(seed).getrandbits(62)


def report_group(
    request: SamplingRequest, number: int, tokens: list[list[int]], logps: list[list[float]], on_group: OnGroupTokens
) -> None:
    """Report a group of vLLM's, which has one row at temperature 0. Raises ``DivergedError``."""
    if not all(math.isfinite(logp) for row in logps for logp in row):
        raise DivergedError("vLLM's log-probabilities are not finite; try a lower optimizer.learning_rate")
    if any(len(row) == 0 for row in tokens):
        raise RunError("vLLM ended a completion without a token; its log may say why")
    copies = request.group_size // len(tokens)
    on_group(number, tokens * copies, logps * copies)


def _parameters(policy: Policy, request: SamplingRequest, number: int) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        n=request.group_size if request.temperature else 1,
        temperature=request.temperature,
        max_tokens=request.limits[number],
        seed=group_seed(request.seeds[number]),
        stop_token_ids=policy.end_ids,
        ignore_eos=True,  # the ends are those of the line above
        logprobs=0,  # of the sampled tokens only
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def _lora_rank(policy: Policy) -> int:
    """The smallest of the ranks that vLLM allows and the adapter fits."""
    rank = max(int(config.r) for config in policy.model.peft_config.values())
    return next((allowed for allowed in (1, 8, 16, 32, 64, 128, 256, 320, 512) if allowed >= rank), rank)
