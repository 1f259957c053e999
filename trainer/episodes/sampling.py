"""Samples episodes of several turns: turns by the rollout engine, what follows them by environments in processes.

Episodes advance independently. All whose turn is due are sampled together; meanwhile the tools of the others run, each
in the thread and the process of its episode, so that a slow one holds up no other episode.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grpo_env.control_tokens import without_control_tokens
from grpo_env.core import Finish
from grpo_env.environments import pool
from grpo_env.environments.calls import response_parser
from grpo_env.environments.episode import ChatMessage, EnvironmentClass, Episode

from ..config import SamplingConfig
from ..engine.policy import Policy
from ..engine.sampling.protocol import SamplingRequest
from ..engine.sampling.sampler import OnGroup, Rollout, sample
from .conversation import Conversation

if TYPE_CHECKING:
    from ..shared_types import Start

# How long the engine waits for episodes that are about to be due: a fraction of the time of the last turns, in seconds
# at least LEAST_WAIT, and FIRST_WAIT while environments start.
WAIT, LEAST_WAIT, FIRST_WAIT = 0.1, 0.02, 1.0
AT_ONCE = 64
"""Most episodes at once; each has a process for its environment."""


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


def sample_episodes(
    policy: Policy, starts: Sequence[Start], group_size: int, sampling: SamplingConfig, on_group: OnGroup
) -> None:
    """Sample ``group_size`` episodes from every start, whose tasks have an environment.

    ``max_new_tokens`` bounds the sampled tokens of all turns of an episode together. One that has none left, or no
    position of the model, ends with ``finish`` ``length``. A turn's samples depend on the seed of its group, its row
    and its number alone, and so does the episode if its environment is deterministic. At most ``AT_ONCE`` are
    alive; other episodes begin as these end. ``on_group`` as in ``sample``.

    Raises what ``sample`` raises, and ``UsageError`` for a chat template that fails.
    """
    groups: defaultdict[int, dict[int, Rollout]] = defaultdict(dict)

    def on_end(row: Row) -> None:
        group = groups[row.group]
        group[row.number] = row.rollout()
        if len(group) == group_size:
            on_group(row.group, [group[number] for number in range(group_size)])

    _Driver(policy, sampling, make_rows(policy, starts, group_size), on_end).run()


class _Driver:
    """Takes the turns of at most ``AT_ONCE`` rows to environments and back: their work alone is in other threads."""

    def __init__(
        self, policy: Policy, sampling: SamplingConfig, rows: Iterator[Row], on_end: Callable[[Row], None]
    ) -> None:
        self._policy, self._sampling, self._rows, self._on_end = policy, sampling, rows, on_end
        self._executor = ThreadPoolExecutor(AT_ONCE)
        self._live: dict[tuple[int, int], Row] = {}
        self._due: list[Row] = []
        self._busy: dict[Future[list[ChatMessage] | None], Row] = {}  # rows whose environment is at work
        self._wait = FIRST_WAIT

    def run(self) -> None:
        """Sample all episodes."""
        try:
            self._begin()
            while self._live:
                self._collect()
                self._sample_due()
        finally:
            for row in self._live.values():  # after an error or Ctrl-C
                row.episode.process.close()
            self._executor.shutdown(cancel_futures=True)

    def _begin(self) -> None:
        """Begin episodes while there is room for their environments."""
        while len(self._live) < AT_ONCE and (row := next(self._rows, None)) is not None:
            self._live[row.key] = row
            self._start(row, row.episode.begin)

    def _start(self, row: Row, work: Callable[[], list[ChatMessage] | None]) -> None:
        self._busy[self._executor.submit(work)] = row

    def _collect(self) -> None:
        """Take what environments have answered: wait until a turn is due, and then a little for others."""
        latest = time.monotonic() + self._wait
        while self._busy:
            timeout = max(0.0, latest - time.monotonic()) if self._due else None
            done, _ = wait(self._busy, timeout, FIRST_COMPLETED)
            if not done:
                return
            for work in done:
                self._settle(self._busy.pop(work), work.result() or [])

    def _settle(self, row: Row, messages: list[ChatMessage]) -> None:
        """Take the messages that begin an episode or follow a turn: unless it has ended, its next turn is due."""
        episode = row.episode
        if not episode.ended and not row.spans:
            row.prompt_ids = row.conversation.prompt_ids(episode.example, messages)
            if self.limit(row, len(row.prompt_ids)) < 1:
                episode.fail(f"the prompt of {len(row.prompt_ids)} tokens leaves no position of {self._policy.name}")
        elif not episode.ended:
            told = row.conversation.between(episode.example, messages)
            if self.limit(row, len(row.context) + len(told)) < 1:
                self._start(row, lambda: episode.end("length"))
                return
            row.told(told)
        if episode.ended:
            self._end(row)
        else:
            self._due.append(row)

    def limit(self, row: Row, context: int) -> int:
        """How many tokens the next turn of a row may have, after a context of so many."""
        limit, (positions, _) = self._sampling.max_new_tokens - row.num_sampled, self._policy.position_limit
        return limit if positions is None else min(limit, positions - context)

    def _sample_due(self) -> None:
        """Sample the turns that are due; each is given to its environment as soon as it ends."""
        due, self._due = sorted(self._due, key=lambda row: row.key), []
        if due:
            began = time.monotonic()
            contexts = [row.context for row in due]
            limits = [self.limit(row, len(context)) for row, context in zip(due, contexts, strict=True)]
            seeds = [f"{row.seed}/{len(row.spans)}" for row in due]
            request = SamplingRequest(contexts, 1, max(limits), self._sampling.temperature, seeds, limits)
            sample(self._policy, request, lambda index, turns: self._advance(due[index], turns[0]))
            self._wait = max(LEAST_WAIT, WAIT * (time.monotonic() - began))

    def _advance(self, row: Row, turn: Rollout) -> None:
        row.take_turn(turn)
        finish: Finish = turn.finish
        raw = row.conversation.spelled(turn.ids[:-1] if finish == "stop" else turn.ids)
        self._start(row, lambda: row.episode.advance(turn.text, finish, raw))

    def _end(self, row: Row) -> None:
        del self._live[row.key]
        pool.give_back(row.episode.environment, row.episode.process)
        self._on_end(row)
        self._begin()
