"""``grpo_env score`` and what is done with the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grpo_env.errors import UsageError

from .options import VerifierFiles, talk, task_keys, write_new


def score(
    task: Annotated[str, typer.Argument(help="A task's name or file.")],
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE... [KEY=VALUE]...", help="Completions (- is standard input), and task keys."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write here, .jsonl or .parquet; default: standard output.")
    ] = None,
    completion: Annotated[
        list[str] | None,
        typer.Option(help="Column, dotted path or template of the completion; several are one group."),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="Column, path or template of the gold answer.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column, path or template of the row's id.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Column or path of a known verdict (true/false) to compare the metric with."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column, path or template: neighbours with the same value are one group.")
    ] = None,
    split: Annotated[
        str, typer.Option(help="Split of the task's data that completions without their question belong to.")
    ] = "eval",
    advantages: Annotated[bool, typer.Option("--advantages", help="Add the advantages that GRPO would give.")] = False,
    no_text: Annotated[bool, typer.Option("--no-text", help="Leave prompts and completions out.")] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start anew instead of going on with an interrupted run.")
    ] = False,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one for each core.")] = 0,
    engine: Annotated[str, typer.Option(help="Where they run: local, or ray (a cluster).")] = "local",
    verifiers: VerifierFiles = None,
) -> None:
    """Score saved completions: one row for each, a summary on stderr."""
    from grpo_env.scoring import Fields, Options, score_files
    from grpo_env.taskfile.task import load_task

    if split not in ("train", "eval"):
        raise UsageError(f"--split {split}: expected train or eval")
    # A file's name may hold "=" as well.
    overrides = [each for each in files if "=" in each and not Path(each).exists()]
    paths = [Path(each) for each in files if each not in overrides]
    if not paths:
        raise UsageError("no file to score; - is standard input")
    fields = Fields(tuple(completion or ()), answer, id, tuple(label or ()), group)
    options = Options(fields, text=not no_text, advantages=advantages, split=split)  # type: ignore[arg-type]
    tally = score_files(
        load_task(task, task_keys(overrides)),
        paths,
        out,
        options,
        workers=workers,
        engine=engine,
        restart=restart,
        console=talk,
    )
    if tally.bad_rows:
        raise typer.Exit(1)


def report(
    scores: Annotated[Path, typer.Argument(help="A file that grpo_env score wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    png: Annotated[
        Path | None, typer.Option("--png", metavar="FOLDER", help="Draw the charts into this folder too.")
    ] = None,
) -> None:
    """Write an HTML report on a reward from a scores file, with warnings."""
    from grpo_env.results.report import make_report, render
    from grpo_env.results.report.captions import headline
    from grpo_env.results.report.charts import charts
    from grpo_env.results.report.png import write_pngs
    from grpo_env.results.report.reward_warnings import reward_warnings
    from grpo_env.results.report.spans import visible

    if out.exists():  # before the work; writing looks again
        raise UsageError(f"{out}: exists already; give another name with --out")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent}: no such folder")
    report = make_report(scores)
    pictures = write_pngs(charts(report).items(), png) if png else []
    write_new(out, render(report))
    talk.print(headline(report), markup=False, soft_wrap=True)
    for warning in reward_warnings(report):
        text = f"warning: {visible(warning.problem)}. {warning.advice}."
        talk.print(text, markup=False, soft_wrap=True, style="yellow")
    for file in (out, *pictures):
        talk.print(f"Wrote {file}", markup=False, soft_wrap=True)


def compare(
    a: Annotated[Path, typer.Argument(help="A file that grpo_env score wrote.")],
    b: Annotated[Path, typer.Argument(help="Another scoring of the same completions.")],
    part: Annotated[
        str | None, typer.Option(help="Compare this part (or total) alone; default: metric, total, all parts.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write all disagreements here, .jsonl.")] = None,
    show: Annotated[int, typer.Option(min=0, help="Print so many disagreements.")] = 10,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="End with exit code 1 if anything differs.")
    ] = False,
) -> None:
    """Compare two scorings of the same completions, with McNemar's test."""
    from grpo_env.results.compare.view import compare_files, disagreement_lines, summary_lines

    result, first = compare_files(a, b, part, out, show, talk)
    for line in summary_lines(result):
        print(line)
    for disagreement in first:
        print("", *disagreement_lines(disagreement, result.main), sep="\n")
    hidden = result.parts[result.main].changed - len(first)
    if hidden:
        print(f"\n{hidden:,} more" + ("" if out else "; --out FILE.jsonl writes all of them"))
    if fail_on_change and not result.same:
        raise typer.Exit(1)


def export(
    kind: Annotated[str, typer.Argument(help="sft, dpo, prm, inspect or rewards.")],
    scores: Annotated[Path, typer.Argument(help="A file that grpo_env score wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .jsonl, for training also .parquet.")],
    part: Annotated[str | None, typer.Option(help="The part to go by; default: the task's metric.")] = None,
    min_value: Annotated[
        float | None, typer.Option(help="sft: least value of that part (1); dpo: the same for the chosen one.")
    ] = None,
    min_total: Annotated[float | None, typer.Option(help="sft: least total.")] = None,
    per_prompt: Annotated[
        int | None, typer.Option(min=0, help="sft: most completions, dpo: most pairs (1) of a prompt; 0: all.")
    ] = None,
    margin: Annotated[float | None, typer.Option(min=0, help="dpo: least difference of the totals.")] = None,
    min_step: Annotated[float | None, typer.Option(help="prm: least value of a good step (0.5).")] = None,
    truncated: Annotated[
        bool | None, typer.Option("--truncated", help="sft, dpo, prm: take completions that were cut off, too.")
    ] = None,
) -> None:
    """Turn scores into what trains or audits a model.

    sft: accepted completions (TRL prompt-completion). dpo: preference pairs (TRL). prm: labelled steps (TRL stepwise).
    inspect: Inspect's precomputed_scores. rewards: {"prompt_id", "rewards"} for each group.
    """
    from grpo_env.results.export import export_file, make_kind
    from grpo_env.results.rows import read_scores

    given = {"part": part, "min_value": min_value, "min_total": min_total, "per_prompt": per_prompt, "margin": margin}
    given |= {"min_step": min_step, "truncated": truncated}
    chosen = make_kind(kind, {name: value for name, value in given.items() if value is not None})
    summary = export_file(read_scores(scores), chosen, out)
    talk.print(f"Wrote {summary.written:,} {kind} rows to {out}; {summary}", markup=False, soft_wrap=True)
