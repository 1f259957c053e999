"""``grpo_env score``, and ``view report``, ``compare`` and ``export`` of its scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grpo_env.errors import RunError, UsageError
from grpo_env.plural import counted
from grpo_env.rows.writer import check_new, refuse_inputs

from .options import (
    AnySplit,
    Overwrite,
    TaskName,
    VerifierFiles,
    console,
    ending_by_sigterm,
    loaded_task,
    say,
    write_new,
)
from .tasks import export_env

if TYPE_CHECKING:
    from grpo_env.taskfile.task import Task

ScoresFile = Annotated[Path, typer.Argument(help="File written by grpo_env score.")]


def score(
    task: TaskName,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE... [KEY=VALUE]...", help="Files of completions (- for standard input), and task keys."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .jsonl or .parquet. Default: standard output.")
    ] = None,
    completion: Annotated[
        list[str] | None,
        typer.Option(help="Column, dotted path or template of the completion; repeat it for a group."),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Column, path or template of the gold answer.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Column, path or template of the prompt.")] = None,
    id: Annotated[
        str | None, typer.Option(help="Column, path or template of the row's id, which names it in the output.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Column or path of a known verdict (true or false) to compare the metric with."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column, path or template; adjacent rows with equal values are one group.")
    ] = None,
    join: Annotated[
        Literal["id", "prompt", "order"] | None,
        typer.Option(
            help="Take question and gold answer of a row from the task's data: by id (the column id, or --id), by "
            "prompt (whole or the bare question; the column prompt, or --prompt), or by order. Default: by the format.",
        ),
    ] = None,
    split: AnySplit = "eval",
    advantages: Annotated[bool, typer.Option("--advantages", help="Add the advantages that GRPO would use.")] = False,
    no_text: Annotated[bool, typer.Option("--no-text", help="Omit prompts and completions.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard an interrupted run instead of resuming it.")
    ] = False,
    overwrite: Overwrite = False,
    workers: Annotated[int, typer.Option(min=0, help="Number of processes; 0 for one per core.")] = 0,
    verifiers: VerifierFiles = None,
) -> None:
    """Score saved completions: a row for each, and a summary on stderr. `view show` then prints why.

    Completions without their question are matched with the examples of --split.
    """
    from grpo_env.scoring import Fields, Options, OutputFile, score_files

    if Path(task).is_file() and Path(task).suffix not in (".yaml", ".yml"):
        raise UsageError(_without_a_task(Path(task)))
    paths, overrides = _paths_and_keys(files or [])
    fields = Fields(tuple(completion or ()), answer, id, tuple(label or ()), group, prompt)
    options = Options(fields, not no_text, advantages, split, join, workers)
    output = None if out is None else OutputFile(out, restart, overwrite)
    loaded = loaded_task(task, overrides)
    if advantages and (other := _other_advantages(loaded)):
        how = "--advantages divides by the sample standard deviation"
        say(f"note: {how}; train's advantage.{other} is not used", "yellow")
    with ending_by_sigterm():
        summary = score_files(loaded, paths, output, options, console=console)
    if out is not None and summary.completions:
        wrong = summary.false_positives or summary.false_negatives
        say(f"Wrote {out}. Next: grpo_env view show {out}{' --disagrees' if wrong else ''}")
    torn = summary.returning_groups and (advantages or loaded.scores_groups)  # then values are wrong
    if summary.bad_rows or summary.nothing_scored or torn:
        raise typer.Exit(1)


def _other_advantages(task: Task) -> str:
    """Settings of the task's train section by which training computes other advantages."""
    from grpo_env.trainer.config import TrainConfig

    config = TrainConfig.from_mapping(task.defaults, f"{task.source}: train").advantage
    given = config.model_dump(exclude_defaults=True, exclude={"truncated"})
    return ", ".join(f"{name}={value}" for name, value in given.items())


def _paths_and_keys(words: list[str]) -> tuple[list[Path], list[str]]:
    """Files and ``KEY=VALUE``; an existing file may have ``=`` in its name. Raises ``UsageError``."""
    keys = [word for word in words if "=" in word and not Path(word).exists()]
    paths = [Path(word) for word in words if word not in keys]
    if not paths:
        raise UsageError("no file to score: give a file of completions, or - for standard input")
    return paths, keys


def _without_a_task(file: Path) -> str:
    """What to do with a file of completions that was given in the place of the task. Raises ``UsageError``."""
    from grpo_env.results.rows import first_row

    return (
        f"{file}: a task comes first, which says what is correct: grpo_env score TASK {file}; grpo_env tasks lists "
        f"tasks, and grpo_env tasks new mine.yaml --data {file} writes one for questions and answers (columns: "
        f"{', '.join(first_row(file))})"
    )


def report(
    scores: ScoresFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    overwrite: Overwrite = False,
) -> None:
    """Write an HTML report on a reward from a scores file, with warnings."""
    from grpo_env.results.report import make_report, render
    from grpo_env.results.report.captions import headline
    from grpo_env.results.report.caveats import reward_warnings

    check_new(out, (".html",), overwrite=overwrite)  # before the work, and again when writing
    report = make_report(scores)
    write_new(out, render(report), overwrite=overwrite)
    say(headline(report))
    for warning in reward_warnings(report):
        say(f"warning: {warning.problem}. {warning.advice}.", "yellow")
    say(f"Wrote {out}")


def compare(
    a: ScoresFile,
    b: Annotated[Path, typer.Argument(help="Another file of scores of the same completions.")],
    part: Annotated[
        str | None, typer.Option(help="Compare only this part (or total). Default: metric, total, all parts.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for all disagreements, .jsonl.")] = None,
    show: Annotated[int, typer.Option(min=0, help="Number of disagreements to print.")] = 10,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with code 1 if anything differs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts and tests as JSON.")] = False,
) -> None:
    """Compare two scorings of the same completions, with McNemar's test."""
    from grpo_env.results.compare.comparison_text import compare_files, disagreement_lines, summary_lines

    result, first = compare_files(a, b, part, out, show, console)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        for line in summary_lines(result):
            print(line)
        for disagreement in first:
            print("", *disagreement_lines(disagreement, result.main), sep="\n")
        if hidden := result.parts[result.main].changed - len(first):
            print(f"\n{hidden:,} more" + ("" if out else "; --out FILE.jsonl writes all of them"))
    if fail_on_change and not result.same:
        raise typer.Exit(1)


def export(
    kind: Annotated[str, typer.Argument(help="sft, dpo, prm or inspect; or env.")],
    scores: Annotated[str, typer.Argument(help="File written by grpo_env score; for env, name or file of a task.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Output file: .jsonl, or .parquet for training formats; env: a folder.")
    ],
    to: Annotated[str | None, typer.Option(help="env: verifiers, verl, openrlhf, trl or gym.")] = None,
    part: Annotated[str | None, typer.Option(help="Part to select by. Default: the task's metric.")] = None,
    min_value: Annotated[
        float | None, typer.Option(help="sft: minimum value of that part (1). dpo: the same for the chosen one.")
    ] = None,
    per_prompt: Annotated[
        int | None, typer.Option(min=0, help="Maximum completions (sft) or pairs (dpo: 1) per prompt; 0 for all.")
    ] = None,
    min_step: Annotated[float | None, typer.Option(help="prm: minimum value of a good step (0.5).")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Export scores as training data or for other tools.

    sft: accepted completions (TRL prompt-completion). dpo: preference pairs (TRL). prm: labeled steps (TRL stepwise).
    inspect: Inspect's precomputed_scores.
    env: a task as a folder that others can install, for another trainer.
    """
    from grpo_env.results.export import export_file, make_kind
    from grpo_env.results.rows import read_scores

    values = {"part": part, "min_value": min_value, "per_prompt": per_prompt, "min_step": min_step, "to": to}
    given = {name: value for name, value in values.items() if value is not None}
    if kind == "env":
        if to is None or len(given) > 1 or overwrite:
            raise UsageError("export env TASK --to verifiers|verl|openrlhf|trl|gym --out FOLDER: no other options")
        export_env(scores, to, out)
        return
    exporter = make_kind(kind, given)
    refuse_inputs(out, [Path(scores)])
    try:
        summary = export_file(read_scores(Path(scores)), exporter, out, overwrite=overwrite)
    except RunError as error:
        if "without a prompt" not in str(error):
            raise
        advice = "name the column of prompts when you score: grpo_env score --prompt COLUMN"
        raise RunError(f"{error}; {advice}") from error
    say(f"Wrote {counted(summary.written, f'{kind} row')} to {out}; {summary}")
    if note := summary.label_note():
        say(f"note: {note} (--min-step sets the value of a good step)", "yellow")
    if summary.unrecorded and kind != "inspect":
        which = f"{summary.unrecorded:,} of {summary.completions:,} completions"
        say(f"note: the file does not say which prompt made {which}; the task's is attached", "yellow")
