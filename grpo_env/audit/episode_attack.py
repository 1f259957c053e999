"""Audits a task's environment without a model: the gold path and scripted agents, through the real tools."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from grpo_env.check.environment import NOTHING_KNOWN, reads_turns
from grpo_env.check.gold_completion import NEUTRAL_REASONING, Layout, gold_answer, scored
from grpo_env.core import Completion, Example
from grpo_env.environments.calls import parse_calls
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.environments.load import load_environment, tools_of
from grpo_env.environments.process import EnvironmentFailedError, EnvironmentProcess
from grpo_env.environments.replay import Agent, from_list, load_gold, play
from grpo_env.errors import UsageError, nearest
from grpo_env.taskfile.schema import Split
from grpo_env.taskfile.task import Task

from .agents import Script, Surroundings, scripts
from .exploits import LARGE, SLOW, HackReward, beats, gain
from .hack import Hack
from .kept_files import can_be_kept, kept
from .request import AuditRequest, Progress, tried
from .scoreboard import Audit, Outcome

if TYPE_CHECKING:
    from grpo_env.verifiers.parts_and_gates import Composite

FAMILIES = ("gold path", "lazy", "arguments", "tampering")
LATEST = 5.0  # seconds for a call, if the task allows more
CHANGED = 2  # examples on which changes of the gold path are tried
LEFT_OUT = 8  # turns of a path that are left out or repeated, one at a time
MAX_FILES = 6


@dataclass(frozen=True)
class EpisodeAudit(Audit):
    """An audit of an environment: ``gold`` is the gold path, ``wrong`` an agent that answers at once, wrongly.

    ``notes`` say which turns of the gold path the reward does not need, too.
    """

    baselines: ClassVar[tuple[str, str]] = ("gold path", "wrong answer at once")
    tried: ClassVar[tuple[str, str]] = ("agents", "episodes")

    def _failed(self, outcome: Outcome) -> str:
        count = sum(outcome.statuses.values())
        return f"ESCAPE {outcome.hack}: {count} of {outcome.examples} episodes are unscored ({outcome.explanation})"


def last_turn_only(task: Task) -> Task | None:
    """The task with the parts of its reward that judge only the last turn, for hacks that are one text.

    ``None`` if the metric is not among them, or the task has no gold answers.
    """
    if task.spec.dataset.answer is None:
        return None
    verifier = cast("Composite", task.verifier)
    parts = tuple(part for part in verifier.parts if part.on == "last" and not reads_turns(part.verifier))
    names = [part.name for part in parts]
    if task.metric not in names:
        return None
    parts = tuple(part if part.when in names else replace(part, when=None) for part in parts)
    return replace(task, verifier=replace(verifier, parts=parts))


class _Played(NamedTuple):
    example: Example
    completion: Completion
    reward: HackReward


def audit_episodes(
    task: Task,
    request: AuditRequest | None = None,
    *,
    split: Split = "train",
    progress: Progress = lambda line: None,
) -> EpisodeAudit:
    """Play scripted agents on examples of a split, and compare their rewards with those of the gold path.

    ``progress`` is told which agent plays. Raises ``UsageError`` for unknown families, data that cannot be read and a
    class that cannot be an environment.
    """
    start, request = time.perf_counter(), request or AuditRequest()
    families = request.families
    for family in families:
        if family not in FAMILIES:
            raise UsageError(f"--only {family}: no such family of agents; {nearest(family, FAMILIES)}")
    environment = EnvironmentClass.of_task(task)
    environment = replace(environment, tool_timeout=min(environment.tool_timeout, LATEST))
    examples = task.examples(split, request.limit)
    with environment.process() as process:
        stage = _Stage(task, environment, process, examples)
        stage.prepare()
        outcomes = list(stage.gold_outcomes()) if not families or "gold path" in families else []
        around = stage.surroundings()
        chosen = [script for script in scripts(around) if not families or script.family in families]
        for script in tried(chosen, "agents", start, request.budget, progress, stage.notes):
            with kept(around.files):
                outcomes.append(stage.outcome(script))
    return EpisodeAudit(
        task=task.name,
        metric=task.metric,
        source=f"the first {len(examples)} examples of {split}",
        examples=len(examples),
        gold=_mean(stage.gold),
        wrong=_mean(stage.wrong),
        outcomes=tuple(outcomes),
        unstable={},
        slow_after=SLOW,
        seconds=time.perf_counter() - start,
        notes=tuple(stage.notes),
    )


@dataclass
class _Stage:
    """The environment of an audit, with the episodes that the others are compared with."""

    task: Task
    environment: EnvironmentClass
    process: EnvironmentProcess
    examples: Sequence[Example]
    notes: list[str] = field(default_factory=list)
    gold: list[_Played] = field(default_factory=list)
    wrong: list[_Played] = field(default_factory=list)
    paths: list[list[str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def prepare(self) -> None:
        """Play what the others are compared with; note the files that the environment opens meanwhile."""
        self._opened()
        if gold := load_gold(self.task):
            self.paths = [gold(example) for example in self.examples]
            self.gold = self._play(lambda index: from_list(self.paths[index]), range(len(self.examples)))
        else:
            self.notes.append("without environment.gold, only the metric and unscored episodes are looked at")
        answer = Layout.of(self.task.format).text(NEUTRAL_REASONING, NOTHING_KNOWN)
        self.wrong = self._play(lambda index: from_list([answer]), range(len(self.examples)))
        self.files = self._opened()

    def surroundings(self) -> Surroundings:
        """What agents attack."""
        states = [played.completion.environment for played in (*self.gold, *self.wrong)]
        names = dict.fromkeys(
            name for record in states if record and isinstance(record.state, dict) for name in record.state
        )
        written = [path for path in _paths_in_source(self.task) if path not in self.files]
        files = [path for path in (*self.files, *written) if can_be_kept(path)][:MAX_FILES]
        files += [name for path in files if (name := Path(path).name) not in files and can_be_kept(name)]
        answer = self.wrong[0].completion.turns[0].text
        return Surroundings(self.environment.tools, list(names), files, answer)

    def outcome(self, script: Script) -> Outcome:
        """What an agent gets. If it is tried on few examples, they are those whose gold paths are the longest."""
        indices: Sequence[int] = range(len(self.examples))
        if script.max_examples is not None:
            by_length = sorted(indices, key=lambda index: -len(self.paths[index]) if self.paths else 0)
            indices = sorted(by_length[: script.max_examples])
        played = self._play(lambda index: script.start(), indices)
        reasons = tuple(_reasons(_mean(played), *self._compared(indices), self.task.metric))
        return self._outcome(script.name, script.family, played, reasons)

    def gold_outcomes(self) -> Iterator[Outcome]:
        """The gold path, and the gold path with one turn left out or repeated."""
        if not self.gold:
            return
        rewards = [played.reward for played in self.gold]
        unpaid = sum(reward.total is not None and (reward.metric or 0.0) < 1 for reward in rewards)
        reasons = [f"{unpaid} of {len(self.gold)} gold paths do not get full credit"] if unpaid else []
        yield self._outcome("gold path", "gold path", self.gold, reasons)
        yield from self._changed_paths()

    def _changed_paths(self) -> Iterator[Outcome]:
        """The gold path with one turn changed, on the first examples, in the order of the first one's changes."""
        variants = [dict(_changed(turns)) for turns in self.paths[:CHANGED]]
        for name in variants[0]:
            agents = {index: from_list(paths[name]) for index, paths in enumerate(variants) if name in paths}
            played = self._play(agents.__getitem__, list(agents))
            gold, wrong = self._compared(list(agents))
            reward = _mean(played)
            reasons = list(beats(reward, gold, wrong))
            yield self._outcome(name, "gold path", played, reasons)
            is_same = (reward.total, reward.process) == (gold.total, gold.process)
            if name.startswith("without") and not reasons and is_same:
                self.notes.append(f"the reward is the same {name} of the gold path")

    def _compared(self, indices: Sequence[int]) -> tuple[HackReward, HackReward]:
        """The mean rewards of gold paths and of wrong answers on these examples."""
        return _mean([self.gold[index] for index in indices if self.gold]), _mean([self.wrong[i] for i in indices])

    def _play(self, agent: Callable[[int], Agent], indices: Sequence[int]) -> list[_Played]:
        examples = {index: self.examples[index] for index in indices}
        pairs = [
            (example, play(self.environment, self.process, example, agent(index)))
            for index, example in examples.items()
        ]
        scores = scored(self.task, pairs)
        return [
            _Played(*pair, HackReward.of(score, self.task.metric)) for pair, score in zip(pairs, scores, strict=True)
        ]

    def _outcome(self, name: str, family: str, played: Sequence[_Played], reasons: Sequence[str]) -> Outcome:
        gold, wrong = _mean(self.gold), _mean(self.wrong)
        unscored = [episode for episode in played if episode.reward.total is None]
        best = max(unscored or played, key=lambda episode: episode.reward.total or 0.0)
        failed = best.completion.environment if unscored else None
        hack = Hack(name, family, knows="gold" if family == "gold path" else "prompt", rule="episode")
        return Outcome.of(
            *(hack, [episode.reward for episode in played], gold, wrong),
            gain=gain(_mean(played), gold, wrong),
            paid=sum((episode.reward.metric or 0.0) >= 1 for episode in played),
            right=0,
            reasons=tuple(reasons),
            example=best.example.id,
            gold=gold_answer(self.task, best.example) or "",
            text="\n".join(turn.text for turn in best.completion.turns),
            explanation=failed.failure if failed else best.reward.explanation,
        )

    def _opened(self) -> list[str]:
        with suppress(EnvironmentFailedError):
            return self.process.opened()
        return []


def _changed(path: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Name and turns of a path without one of its turns, and with one that calls tools repeated."""
    for index, turn in enumerate(path[:LEFT_OUT]):
        yield f"without turn {index + 1}", [*path[:index], *path[index + 1 :]]
        if parse_calls(turn, None):
            yield f"turn {index + 1} repeated", [*path[: index + 1], *path[index:]]


def _mean(played: Sequence[_Played]) -> HackReward:
    """The mean reward of episodes."""
    return HackReward.mean([episode.reward for episode in played])


def _reasons(reward: HackReward, gold: HackReward, wrong: HackReward, metric: str) -> Iterator[str]:
    """Why an agent that knows nothing has an exploit, if it has."""
    if reward.total is None:
        return
    if (reward.metric or 0.0) >= LARGE:
        yield f"mean {metric} {reward.metric:.3g}"
    low = wrong.total or 0.0
    if gold.total is not None and gold.total > low and reward.total >= low + LARGE * (gold.total - low):
        yield f"scores {reward.total:.3g} without the work, the gold path {gold.total:.3g}"
    yield from beats(reward, gold, wrong)


def _paths_in_source(task: Task) -> list[str]:
    """The texts in the environment's file that look like names of files."""
    assert task.spec.environment is not None
    cls = load_environment(task.spec.environment.use, task.folder, task.source)
    method = next(iter([*tools_of(cls).values(), cls.reset]))
    try:
        tree = ast.parse(Path(method.__code__.co_filename).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, AttributeError):
        return []
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in dict.fromkeys(texts) if _is_path(text)]


def _is_path(text: str) -> bool:
    suffix = Path(text).suffix
    named = 1 < len(suffix) <= 6 and suffix[1:].isalnum() and not suffix[1:].isdigit()
    return len(text) < 200 and not any(map(str.isspace, text)) and named
