"""Checks a task's environment without a model: it begins, its gold paths get full credit, it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from grpo_env.core import Completion, Example, Verifier
from grpo_env.environments.episode import EnvironmentClass, check_template
from grpo_env.environments.process import EnvironmentProcess
from grpo_env.environments.replay import from_list, load_gold, play
from grpo_env.environments.values import MAX_STATE
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task
from grpo_env.terminal import shortened

from .data import load_tokenizer
from .findings import Finding, error, warning
from .gold_completion import scored
from .odd_golds import metric_spec

PLAYED = 50  # examples of a split that are played
NOTHING_KNOWN = "I do not know."
SHOWN = 80  # characters of a text in a finding


def check_environment(task: Task, examples: Sequence[Example], model: str | None) -> tuple[str, list[Finding]]:
    """Play the gold path of each example, or one turn if there is none, and look at the chat template of ``model``.

    Raises ``UsageError`` for a class that cannot be an environment, and a template that cannot tell of its tools.
    """
    environment = EnvironmentClass.of_task(task)
    if model is not None:
        check_template(load_tokenizer(model)[0].chat_template, environment, model)
    gold = load_gold(task)
    findings: list[Finding] = []
    with environment.process() as process:
        for example in examples:
            findings += _play(task, environment, process, example, gold)
    if gold is None:
        what = "there is no environment.gold, so no path is known that gets full credit"
        findings.append(warning("episodes", "environment", what, "add a function that returns the turns of one"))
    names = ", ".join(schema["function"]["name"] for schema in environment.tools) or "none"
    also = [name for name, has in (("reply", environment.replies), ("get_reward", environment.rewards)) if has]
    fact = f"tools: {names}{''.join(f'; {name}' for name in also)}; at most {environment.max_turns} turns"
    failed = len({finding.where for finding in findings if finding.severity == "error"})
    played = "gold paths" if gold else "episodes of one text"
    return f"{fact}\n{len(examples):,} {played} played: {failed:,} with errors", findings


def metric_judges_turns(task: Task) -> bool:
    """Whether the metric judges more of an episode than its last turn, so that no single text gets full credit."""
    return metric_spec(task).on != "last" or reads_turns(task.metric_verifier)


def reads_turns(verifier: Verifier) -> bool:
    """Whether a verifier, or one that it is composed of, reads the turns of an episode or its states."""
    from grpo_env.verifiers.parts_and_gates import Composite, looks_at_turns

    composites = [inner for inner in verifier.walk() if isinstance(inner, Composite)]
    return looks_at_turns(verifier) or any(part.on != "last" for inner in composites for part in inner.parts)


def _play(
    task: Task,
    environment: EnvironmentClass,
    process: EnvironmentProcess,
    example: Example,
    gold: Callable[[Example], list[str]] | None,
) -> Iterator[Finding]:
    try:
        turns = gold(example) if gold else [NOTHING_KNOWN]
    except UsageError as problem:
        yield error("episodes", example.name, str(problem), "fix the function")
        return
    completion = play(environment, process, example, from_list(turns))
    assert completion.environment is not None
    if failure := completion.environment.failure:
        yield error("episodes", example.name, failure, "such episodes are unscored; fix the class")
        return
    if gold:
        yield from _check_gold(task, environment, example, turns, completion)


def _check_gold(
    task: Task, environment: EnvironmentClass, example: Example, turns: Sequence[str], completion: Completion
) -> Iterator[Finding]:
    fix = "fix the gold path, the class or the verifier"
    if len(turns) > environment.max_turns:
        what = f"the gold path has {len(turns)} turns"
        yield error("episodes", example.name, what, f"environment.max_turns is {environment.max_turns}")
        return
    for number, turn in enumerate(completion.turns, start=1):
        for call, result in zip(turn.calls, turn.results, strict=True):
            if result.problem:
                what = f"turn {number} of the gold path: {call.name}: {shortened(result.text, SHOWN)!r}"
                yield error("episodes", example.name, what, fix)
        if turn.state is None and turn.calls:
            what = f"turn {number} of the gold path: the state is longer than {MAX_STATE:,} characters: not recorded"
            yield warning("episodes", example.name, what, "begin the names of large attributes with _")
    (score,) = scored(task, [(example, completion)])
    part = score.part(task.metric)
    if part.value is None or part.value < 1:
        what = f"the gold path gets {task.metric} {part.value} [{part.status}]: {part.explanation}"
        yield error("episodes", example.name, what, fix)
    elif score.value is None:
        what = f"the gold path is unscored: {next((p.explanation for p in score.parts if p.value is None), '')}"
        yield error("episodes", example.name, what, fix)
