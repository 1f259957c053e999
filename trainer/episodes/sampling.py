"""Samples episodes of several turns: turns by the rollout engine, what follows them by environments in processes.

Episodes advance independently. All whose turn is due are sampled together; meanwhile the tools of the others run, each
in the thread and the process of its episode, so that a slow one holds up no other episode.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from grpo_env.control_tokens import without_control_tokens
from grpo_env.core import Finish
from grpo_env.environments import pool
from grpo_env.environments.calls import response_parser
from grpo_env.environments.episode import ChatMessage, EnvironmentClass, Episode
from grpo_env.environments.process import EnvironmentProcess

from ..engine.policy import Policy
from ..engine.prefix_cache import PrefixCache
from ..engine.sampling.sampler import Context, Rollout, sample
from ..engine.sharding.weights import unsharded
from .conversation import Conversation
from .history import History

if TYPE_CHECKING:
    from ..prompts import Prompt

# How long the engine waits for episodes that are about to be due: a fraction of the time of the last turns, in seconds
# at least LEAST_WAIT, and FIRST_WAIT while environments start.
WAIT, LEAST_WAIT, FIRST_WAIT = 0.1, 0.02, 1.0


def sample_episodes(
    policy: Policy,
    prompts: Sequence[Prompt],
    group_size: int,
    *,
    max_new_tokens: int,
    temperature: float,
    seeds: Sequence[str],
    at_once: int,
    on_group: Callable[[int, list[Rollout]], None] = lambda number, rollouts: None,
) -> list[Rollout]:
    """Sample ``group_size`` episodes of every prompt, whose tasks have an environment; a group's rows are adjacent.

    ``max_new_tokens`` bounds the sampled tokens of all turns of an episode together. One that has none left, or no
    position of the model, ends with ``finish`` ``length``. A turn's samples depend on the seed of its group, its row
    and its number alone, and so does the episode if its environment is deterministic. At most ``at_once`` environments
    are alive; other episodes begin as these end. ``on_group`` as in ``sample``.

    Raises what ``sample`` raises, and ``UsageError`` for a chat template that fails.
    """
    driver = _Driver(policy, prompts, group_size, max_new_tokens, temperature, seeds, at_once, on_group)
    engine = policy.rollout_engine
    # All processes enter together, since they then sample different numbers of turns.
    with unsharded(policy) if engine is None or engine.uses_policy_model else nullcontext(), driver.prefix_cache:
        driver.run()
    return [rollout for number in range(len(prompts)) for rollout in driver.groups[number]]


@dataclass
class _Row:
    """An episode that is being sampled. ``spans`` are those of its sampled turns in ``ids``.

    ``history`` is there under ``environment.history: fork``.
    """

    group: int
    number: int
    episode: Episode
    process: EnvironmentProcess
    conversation: Conversation
    history: History | None = None
    prompt_ids: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    logps: list[float] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    forks: list[Context] = field(default_factory=list)

    @property
    def context(self) -> list[int]:
        """What the model has read and said in the latest sequence."""
        start, prompt = self.forks[-1] if self.forks else Context(0, self.prompt_ids)
        return prompt + self.ids[start:]

    @property
    def num_sampled(self) -> int:
        return sum(end - start for start, end in self.spans)

    def take_turn(self, turn: Rollout) -> None:
        """Append the sampled tokens of a turn."""
        self.spans.append((len(self.ids), len(self.ids) + len(turn.ids)))
        self.ids += turn.ids
        self.logps += turn.logps

    def begin(self, messages: Sequence[ChatMessage]) -> None:
        """Take the messages of the prompt."""
        self.prompt_ids = self.conversation.prompt_ids(self.episode.example, messages)
        if self.history is not None:
            self.history.begin(messages)

    def between(self, messages: Sequence[ChatMessage]) -> tuple[list[int], bool]:
        """The tokens before the turn that follows ``messages``, and whether they take the place of the context."""
        if self.history is None:
            return self.conversation.between(self.episode.example, messages), False
        *turn, end = self.ids[slice(*self.spans[-1])]
        return self.history.after(turn, end, messages)

    def told(self, ids: Sequence[int], *, forks: bool) -> None:
        """Append tokens that were not sampled, or begin a sequence after them."""
        if forks:
            self.forks.append(Context(len(self.ids), list(ids)))
        else:
            self.ids += ids
            self.logps += [0.0] * len(ids)

    def rollout(self) -> Rollout:
        """The episode, which has ended."""
        sampled = tuple(token for start, end in self.spans for token in self.ids[start:end])
        prefill = self.conversation.format.prefill
        seen = self.episode.completion(num_tokens=len(sampled), token_ids=sampled, prefill=prefill)
        return Rollout(
            self.prompt_ids,
            self.ids,
            seen.text,
            seen.finish,
            self.logps,
            tuple(self.spans),
            seen,
            tuple(self.forks),
            None if self.history is None else self.history.unwritten,
        )


_Event = tuple[_Row, list[ChatMessage], BaseException | None]


class _Driver:
    """The state of ``sample_episodes``. Only ``_do`` runs in other threads."""

    def __init__(
        self,
        policy: Policy,
        prompts: Sequence[Prompt],
        group_size: int,
        max_new_tokens: int,
        temperature: float,
        seeds: Sequence[str],
        at_once: int,
        on_group: Callable[[int, list[Rollout]], None],
    ) -> None:
        self.groups: dict[int, list[Rollout]] = {}
        self.prefix_cache = PrefixCache()
        self._policy, self._prompts, self._seeds = policy, prompts, seeds
        self._plain = without_control_tokens(policy.tokenizer, of_template=True)
        self._max_new_tokens, self._temperature, self._on_group = max_new_tokens, temperature, on_group
        self._group_size, self._at_once = group_size, at_once
        self._environments = {id(task): EnvironmentClass.of_task(task) for task, _, _ in prompts}
        self._conversations = {id(task): Conversation(policy, task.format) for task, _, _ in prompts}
        self._waiting = deque((group, number) for group in range(len(prompts)) for number in range(group_size))
        self._live: dict[tuple[int, int], _Row] = {}
        self._ended: dict[tuple[int, int], Rollout] = {}
        self._due: list[_Row] = []
        self._events: SimpleQueue[_Event] = SimpleQueue()
        self._busy = 0  # rows whose environment is at work
        self._wait = FIRST_WAIT

    def run(self) -> None:
        """Sample all episodes."""
        executor = self._executor = ThreadPoolExecutor(max(1, min(self._at_once, len(self._waiting))))
        try:
            self._begin()
            while self._live:
                self._collect()
                self._sample_due()
        finally:
            for row in self._live.values():  # after an error or Ctrl-C
                row.process.close()
            executor.shutdown(cancel_futures=True)

    def _begin(self) -> None:
        """Begin episodes while there is room for their environments."""
        while self._waiting and len(self._live) < self._at_once:
            group, number = key = self._waiting.popleft()
            task, _, example = self._prompts[group]
            environment = self._environments[id(task)]
            process = pool.take(environment)
            episode = Episode(environment, process, example, response_parser(self._policy.tokenizer), self._plain)
            conversation = self._conversations[id(task)]
            forks = task.spec.environment is not None and task.spec.environment.history == "fork"
            history = History(conversation, example) if forks else None
            row = self._live[key] = _Row(group, number, episode, process, conversation, history)
            self._start(row, episode.begin)

    def _start(self, row: _Row, work: Callable[[], list[ChatMessage] | None]) -> None:
        self._busy += 1
        self._executor.submit(self._do, row, work)

    def _do(self, row: _Row, work: Callable[[], list[ChatMessage] | None]) -> None:
        try:
            self._events.put((row, work() or [], None))
        except BaseException as error:
            self._events.put((row, [], error))

    def _collect(self) -> None:
        """Take what environments have answered: wait until a turn is due, and then a little for others."""
        latest = time.monotonic() + self._wait
        while self._busy:
            try:
                row, messages, error = self._events.get(
                    timeout=max(0.0, latest - time.monotonic()) if self._due else None
                )
            except Empty:
                return
            self._busy -= 1
            if error is not None:
                raise error
            self._settle(row, messages)

    def _settle(self, row: _Row, messages: list[ChatMessage]) -> None:
        """Take the messages that begin an episode or follow a turn: unless it has ended, its next turn is due."""
        episode = row.episode
        if not episode.ended and not row.spans:
            row.begin(messages)
            if self._limit(row, len(row.prompt_ids)) < 1:
                episode.fail(f"the prompt of {len(row.prompt_ids)} tokens leaves no position of {self._policy.name}")
        elif not episode.ended:
            told, forks = row.between(messages)
            if self._limit(row, len(told) + (0 if forks else len(row.context))) < 1:
                self._start(row, episode.cut_off)
                return
            row.told(told, forks=forks)
        if episode.ended:
            self._end(row)
        else:
            self._due.append(row)

    def _limit(self, row: _Row, context: int) -> int:
        """How many tokens the next turn may have, after a context of so many."""
        limit, positions = self._max_new_tokens - row.num_sampled, self._policy.max_positions
        return limit if positions is None else min(limit, positions - context)

    def _sample_due(self) -> None:
        """Sample the turns that are due; each is given to its environment as soon as it ends."""
        due, self._due = sorted(self._due, key=lambda row: (row.group, row.number)), []
        if not due:
            return
        began, contexts = time.monotonic(), [row.context for row in due]
        limits = [self._limit(row, len(context)) for row, context in zip(due, contexts, strict=True)]
        sample(
            self._policy,
            contexts,
            1,
            max_new_tokens=max(limits),
            temperature=self._temperature,
            seeds=[f"{self._seeds[row.group]}/{row.number}/{len(row.spans)}" for row in due],
            limits=limits,
            prefix_cache=self.prefix_cache,
            keys=[(row.group, row.number) for row in due],
            on_group=lambda index, turns: self._advance(due[index], turns[0]),
        )
        self._wait = max(LEAST_WAIT, WAIT * (time.monotonic() - began))

    def _advance(self, row: _Row, turn: Rollout) -> None:
        row.take_turn(turn)
        finish: Finish = turn.finish
        raw = row.conversation.spelled(turn.ids[:-1] if finish == "stop" else turn.ids)
        self._start(row, lambda: row.episode.advance(turn.text, finish, raw))

    def _end(self, row: _Row) -> None:
        key = row.group, row.number
        del self._live[key]
        self.prefix_cache.forget(key)
        pool.give_back(row.episode.environment, row.process)
        self._ended[key] = row.rollout()
        self._begin()
        keys = [(row.group, number) for number in range(self._group_size)]
        if all(key in self._ended for key in keys):
            self.groups[row.group] = [self._ended.pop(key) for key in keys]
            self._on_group(row.group, self.groups[row.group])
