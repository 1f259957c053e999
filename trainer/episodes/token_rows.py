"""Episodes that are being sampled, as rows of tokens: what was sampled, and what the model was told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grpo_env.control_tokens import without_control_tokens
from grpo_env.environments import pool
from grpo_env.environments.calls import response_parser
from grpo_env.environments.episode import EnvironmentClass, Episode

from ..engine.policy import Policy
from ..engine.sampling.sampler import Rollout
from .conversation import Conversation

if TYPE_CHECKING:
    from ..shared_types import Start


@dataclass
class Row:
    """An episode that is being sampled: row ``number`` of a group.

    ``spans`` are those of its sampled turns in ``ids``.
    """

    group: int
    number: int
    seed: str
    episode: Episode
    conversation: Conversation
    prompt_ids: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    logps: list[float] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, int]:
        """Identifies it among the rows of a call."""
        return self.group, self.number

    @property
    def context(self) -> list[int]:
        """What the model has read and said."""
        return self.prompt_ids + self.ids

    @property
    def num_sampled(self) -> int:
        return sum(end - start for start, end in self.spans)

    def take_turn(self, turn: Rollout) -> None:
        """Append the sampled tokens of a turn."""
        self.spans.append((len(self.ids), len(self.ids) + len(turn.ids)))
        self.ids += turn.ids
        self.logps += turn.logps

    def told(self, ids: Sequence[int]) -> None:
        """Append tokens that were not sampled."""
        self.ids += ids
        self.logps += [0.0] * len(ids)

    def rollout(self) -> Rollout:
        """The episode, which has ended."""
        sampled = tuple(token for start, end in self.spans for token in self.ids[start:end])
        seen = self.episode.completion(num_tokens=len(sampled), token_ids=sampled)
        return Rollout(self.prompt_ids, self.ids, seen.text, seen.finish, self.logps, tuple(self.spans), seen)


def make_rows(policy: Policy, starts: Sequence[Start], group_size: int) -> Iterator[Row]:
    """The rows of all groups, each with a process of its own as soon as it is asked for."""
    tasks = {id(start.prompt.task): start.prompt.task for start in starts}
    of_task = {key: (EnvironmentClass.of_task(task), Conversation(policy, task.format)) for key, task in tasks.items()}
    parser = response_parser(policy.tokenizer)
    plain = without_control_tokens(policy.tokenizer, of_template=True)
    for group, start in enumerate(starts):
        task, _, example = start.prompt
        environment, conversation = of_task[id(task)]
        for number in range(group_size):
            episode = Episode(environment, pool.take(environment), example, parser, plain, task.format.prefill)
            yield Row(group, number, f"{start.seed}/{number}", episode, conversation)
