"""A model behind an OpenAI-compatible chat endpoint, which is only sampled from: messages go out, texts come back.

The server writes its own chat template, and says nothing of token ids, so such completions can be scored, and not
trained on. (vLLM servers that a run trains with are ``sampling.url``.)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console

from grpo_env.core import Example
from grpo_env.endpoint import Endpoint, Failure, Reply, ask, check_address, usable_key
from grpo_env.errors import RunError, UsageError
from grpo_env.plural import counted
from grpo_env.scoring.completion import Recorded, read_completion
from grpo_env.taskfile.task import Task

from ..background_scorer import BackgroundScorer
from ..config import SamplingConfig
from ..engine.sampling.sampler import Rollout
from ..rollout import group_seeds
from ..shared_types import Prompt, ScoredRollout

KEY = "OPENAI_API_KEY"
# The settings of training that apply to such a model.
SETTINGS = ("model", "seed", "sampling.max_new_tokens", "sampling.temperature")


@dataclass(frozen=True)
class ServedModel:
    """A model by its name at an endpoint."""

    endpoint: Endpoint
    name: str

    @classmethod
    def at(cls, base_url: str, name: str | None, concurrency: int = 8, timeout: float = 600.0) -> ServedModel:
        """With the key of the environment, if there is one. Raises ``UsageError``, also without a name."""
        check_address(base_url, f"the key is read from the environment variable {KEY}")
        key = usable_key(KEY)
        if key is None and os.environ.get(KEY):
            raise UsageError(f"the environment variable {KEY} contains no API key")
        if name is None:
            raise UsageError("--base-url needs --model, the model's name at the endpoint")
        return cls(Endpoint(base_url, key, timeout=timeout, concurrency=concurrency), name)

    def check(self, task: Task) -> None:
        """Raises ``UsageError`` for a task whose prompts are no chats."""
        if task.spec.environment is not None:
            raise UsageError(f"{task.source}: environment: episodes are not sampled from --base-url, only single texts")
        if task.spec.prompt.text is not None:
            raise UsageError(
                f"{task.source}: prompt.text goes to a model without a chat template, which --base-url has; "
                "use prompt.user, or a model that is loaded here"
            )

    def print_to(self, console: Console) -> None:
        """Print what samples and where."""
        limits = f"{counted(self.endpoint.concurrency, 'request')} at once, of at most {self.endpoint.timeout:g} s"
        console.print(f"model      {self.name} at {self.endpoint.base_url}: {limits}", soft_wrap=True)

    def sample(
        self,
        prompts: Sequence[Prompt],
        copies: int,
        sampling: SamplingConfig,
        seed: str,
        advance: Callable[[int], None] = lambda count: None,
    ) -> list[Rollout]:
        """``copies`` completions of every prompt, adjacent; ``seed`` as in ``sample_rollouts``.

        Every completion is a request with a seed of its own. ``advance`` is called as they arrive. Raises ``RunError``
        if one is refused, or fails after all retries.
        """
        rows = [
            (prompt, f"{group_seed}/{copy}")
            for prompt, group_seed in zip(prompts, group_seeds(prompts, seed), strict=True)
            for copy in range(copies)
        ]
        bodies = [self._body(prompt.example, row_seed, sampling) for prompt, row_seed in rows]
        replies = ask(self.endpoint, bodies, lambda number, reply: advance(1))
        return [_rollout(prompt.task, self._checked(reply)) for (prompt, _), reply in zip(rows, replies, strict=True)]

    def sample_groups(
        self,
        prompts: Sequence[Prompt],
        group_size: int,
        sampling: SamplingConfig,
        seed: str,
        advance: Callable[[int], None],
    ) -> list[ScoredRollout]:
        """As ``sample_rollouts``."""
        rows = self.sample(prompts, group_size, sampling, seed, advance)
        with closing(BackgroundScorer(prompts)) as scorer:
            for number in range(len(prompts)):
                scorer.add(number, rows[number * group_size : (number + 1) * group_size])
            return scorer.finish()

    def _body(self, example: Example, seed: str, sampling: SamplingConfig) -> dict[str, Any]:
        # OpenAI's own newer models take no other name; other servers, none but the old one.
        is_openai = urlsplit(self.endpoint.base_url).hostname == "api.openai.com"
        limit = "max_completion_tokens" if is_openai else "max_tokens"
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [message._asdict() for message in example.prompt],  # type: ignore[union-attr]
            "temperature": sampling.temperature,
            limit: sampling.max_new_tokens,
            "seed": int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") >> 1,
        }
        if example.chat_template_kwargs:
            body["chat_template_kwargs"] = dict(example.chat_template_kwargs)
        return body

    def _checked(self, reply: Reply | Failure) -> Reply:
        """The reply. Raises ``RunError`` for a failure, with what may mend it."""
        if isinstance(reply, Failure):
            raise RunError(f"{reply.reason}{self._hint(reply.status)}")
        if reply.num_tokens is None:
            raise RunError(f"{self.endpoint.url}: the reply does not count its tokens (usage.completion_tokens)")
        return reply

    def _hint(self, status: int | None) -> str:
        if status is None:
            return "; is the server running, and is --base-url right?"
        if status in (401, 403):
            return f"; set {KEY}" if self.endpoint.key is None else f"; the key was that of {KEY}"
        if status == 404:
            return "; check --base-url, which mostly ends in /v1, and --model"
        return ""


def _rollout(task: Task, reply: Reply) -> Rollout:
    finish = "stop" if reply.whole else "length"
    seen, _ = read_completion(task, reply.text, Recorded(reply.reasoning, finish, reply.num_tokens))
    return Rollout([], [], seen.text, seen.finish, [], seen=seen)
