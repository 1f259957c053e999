"""``grpo_env tasks play``: a person, or a file of turns, in place of the model."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grpo_env.errors import UsageError
from grpo_env.rows.writer import check_free
from grpo_env.terminal import escape_controls

from .options import Split, TaskKeys, TaskName, VerifierFiles, loaded_task, say, write_new

if TYPE_CHECKING:
    from grpo_env.core import Completion, Example, Score, Turn
    from grpo_env.taskfile.task import Task

END_OF_TURN = "."


def play(
    task: TaskName,
    overrides: TaskKeys = None,
    split: Split = "train",
    row: Annotated[int, typer.Option(min=1, help="Which example of the split.")] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="JSONL file to write the episode to, for grpo_env score.")
    ] = None,
    verifiers: VerifierFiles = None,
) -> None:
    """Be the model: read the prompt, write turns, call the tools, and see what each turn and the whole scores.

    Turns are read from standard input; a line with only a dot ends one. The line "/price item=tea" calls the tool
    price, as <tool_call>{"name": "price", "arguments": {"item": "tea"}}</tool_call> does.
    """
    if out is not None:
        check_free(out, overwrite=None)
    loaded = loaded_task(task, overrides)
    examples = loaded.examples(split, row)
    if len(examples) < row:
        raise UsageError(f"--row {row}: the {split} split has {len(examples)} examples")
    completion = _play(loaded, examples[-1])
    score = _score(loaded, examples[-1], completion)
    _show("score", str(score))
    if paid := [f"{sum(values):.4g}" for values in _by_turn(score, completion)]:
        print(f"step scores by turn: {', '.join(paid)}")
    if out is not None:
        write_new(out, json.dumps(_row(loaded, examples[-1], completion), ensure_ascii=False) + "\n")
        say(f"Wrote {out}. Next: grpo_env score {task} {out}")


def _play(task: Task, example: Example) -> Completion:
    """What the person, in place of the model, made of an example."""
    from grpo_env.core import Completion
    from grpo_env.environments.episode import EnvironmentClass, Episode

    if task.spec.environment is None:
        _show_prompt(example.prompt)
        _show_tools(())
        text = next(_turns(()), "")
        return Completion(text, "stop", prefill=task.format.prefill)
    environment = EnvironmentClass.of_task(task)
    with environment.process() as process:
        episode = Episode(environment, process, example)
        _show_messages(episode.begin())
        _show_tools(environment.tools)
        turns = _turns(environment.tools)
        while not episode.ended:
            say(f'turn {len(episode.turns) + 1} of {environment.max_turns}, ended by a line with "."')
            turn_text = next(turns, None)
            if turn_text is None:
                say("no more turns were given, so the episode has not ended")
                break
            episode.advance(turn_text)
            _show_answers(episode.turns[-1])
            _show_turn_scores(_score(task, example, episode.completion()), episode.completion())
        return episode.completion()


def _turns(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The texts of turns from standard input, until it ends."""
    if sys.stdin.isatty():
        import readline  # noqa: F401  (lines can be edited)
    lines: list[str] = []
    for line in iter(_line, None):
        if line == END_OF_TURN:
            yield "\n".join(lines)
            lines = []
        else:
            lines.append(_as_call(line, tools))
    if lines:
        yield "\n".join(lines)


def _line() -> str | None:
    try:
        return input()
    except EOFError:
        return None


def _as_call(line: str, tools: Sequence[Mapping[str, Any]]) -> str:
    """A line such as ``/price item=tea`` as a tool call in the form of Hermes and Qwen; other lines as they are."""
    from grpo_env.environments.calls import call_text
    from grpo_env.taskfile.yaml_file import parse_yaml

    schema = next((tool["function"] for tool in tools if line.split(" ")[0] == f"/{tool['function']['name']}"), None)
    if schema is None:
        return line
    types = {name: value.get("type") for name, value in schema["parameters"].get("properties", {}).items()}
    try:
        pairs = [word.partition("=") for word in shlex.split(line)[1:]]
        arguments = {key: text if types.get(key) == "string" else parse_yaml(text, key) for key, _, text in pairs}
    except (ValueError, UsageError) as error:
        say(f"{line}: {error}; sent as it is")
        return line
    return call_text(schema["name"], arguments)


def _score(task: Task, example: Example, completion: Completion) -> Score:
    from grpo_env.core import Group
    from grpo_env.workers.scoring_process import score_in_process

    ((score,),) = score_in_process(task.verifier, [Group(example, [completion])])
    return score.relabel(name="total")


def _show(title: str, text: str) -> None:
    print(f"--- {title} ---\n{escape_controls(text)}", flush=True)


def _show_prompt(prompt: Any) -> None:
    if isinstance(prompt, str):
        _show("prompt", prompt)
    else:
        _show_messages([message._asdict() for message in prompt])


def _show_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    for message in messages:
        _show(message["role"], message["content"])


def _show_answers(turn: Turn) -> None:
    """What the environment answered to a turn, also to the last one, which the model is no longer told."""
    for call, result in zip(turn.calls, turn.results, strict=True):
        _show(f"{call.name or 'tool'}{f' ({result.problem})' if result.problem else ''}".replace("_", " "), result.text)
    if turn.reply is not None:
        _show("user", turn.reply)


def _show_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    """The tools, and how a turn is written."""
    lines = []
    for tool in tools:
        function = tool["function"]
        properties = function["parameters"].get("properties", {})
        arguments = ", ".join(f"{name}: {value.get('type', 'any')}" for name, value in properties.items())
        lines.append(f"{function['name']}({arguments})  {function['description'].splitlines()[0]}")
    if lines:
        _show("tools", "\n".join(lines))
        say("call a tool by a line such as /TOOL ARGUMENT=VALUE")
    say(f'write a turn, then a line with only "{END_OF_TURN}"')


def _by_turn(score: Score, completion: Completion) -> list[list[float]]:
    """The step scores of each turn."""
    from grpo_env.environments.turn_steps import turns_of_steps

    values: list[list[float]] = [[] for _ in completion.turns]
    steps = score.steps if completion.turns else ()
    for step, number in zip(steps, turns_of_steps(completion.turns, steps), strict=True):
        values[number].append(step.value)
    return values


def _show_turn_scores(score: Score, completion: Completion) -> None:
    """The step scores of the last turn, and the values of the parts if this were the end."""
    steps = {part.name: _by_turn(part, completion)[-1] for part in score.parts}
    this = ", ".join(f"{name} {sum(values):+.4g}" for name, values in steps.items() if values)
    now = ", ".join(f"{part.name} {part.value:.4g}" for part in score.parts if part.value is not None)
    print(f"--- scores ---\n{f'this turn: {this}; ' if this else ''}if it ended here: {now or 'unscored'}", flush=True)


def _row(task: Task, example: Example, completion: Completion) -> dict[str, Any]:
    """An episode as a row of a file, with the columns of its example and the tools that could be called."""
    from grpo_env.environments.episode import EnvironmentClass
    from grpo_env.scoring.score_row import prompt_read

    row = {**example.info, "id": example.id, "prompt": prompt_read(example, completion), "completion": completion.text}
    row["finish_reason"] = completion.finish
    if completion.environment is not None:
        row["turns"] = [turn.to_dict() for turn in completion.turns]
        row["environment"] = completion.environment._asdict()
        if tools := EnvironmentClass.of_task(task).tools:
            row["tools"] = tools
    return row
