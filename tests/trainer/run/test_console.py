"""Console output of a run."""

from __future__ import annotations

import io

import pytest

from grpo_env import Example, Score
from grpo_env.console import plain_console
from grpo_env.trainer.run.console import RunConsole


def train_row(step: int, **changes: float | None) -> dict[str, object]:
    return {
        "kind": "train",
        "step": step,
        "reward": step / 4,
        "parts/accuracy": 0.25,
        "length": 31.5,
        "uniform_groups": 0.125,
        "kl": 0.0,
        "entropy": 0.7,
        "clip_fraction": 0.01,
        "rollout_logprob_gap": 2.6e-6,
        "grad_norm": 1.5,
        "tokens_per_second": 1234.0,
        "truncated": 0.0,
        "seconds": step + 2.0,
        **changes,
    }


def eval_row(step: int, accuracy: float | None = 0.5) -> dict[str, object]:
    sampled = {"sampled_accuracy": 0.25}
    return {
        "kind": "eval",
        "step": step,
        "accuracy": accuracy,
        **sampled,
        "accuracy_low": 0.4,
        "accuracy_high": 0.6,
        "seconds": step + 1.0,
    }


def output_of(rows: list[dict], steps: int = 5) -> str:
    out = io.StringIO()
    console = RunConsole(steps, plain_console(file=out, width=120))
    for row in rows:
        console.show(row)
    return out.getvalue()


def test_lines_of_steps_and_evaluations() -> None:
    output = output_of([eval_row(0), *(train_row(step) for step in range(5))])
    lines = output.splitlines()
    assert lines[0] == "held-out after 0 steps: greedy accuracy 0.500 (95% 0.400 to 0.600), sampled 0.250"
    # 1 second before the first step, 1 a step: at 2 s one of 5 steps is done, in 1 s.
    assert lines[1] == (
        "step 0 (1/5) | reward 0.000 | accuracy 0.250 | length 31.5 | uniform_groups 12.5% | entropy 0.700 | "
        "clip_fraction 1.00% | rollout_logprob_gap 2.6e-06 | grad_norm 1.500 | tokens_per_second 1,234 | left 0:04"
    )
    assert [line.split(" |")[0] for line in lines[2:]] == [
        "step 3 (4/5)",
        "step 4 (5/5)",
    ]  # 3 s later; and always the last


def test_several_tasks_are_shown_separately() -> None:
    by_task = {"sums/accuracy": 0.75, "letters/accuracy": None, "sums/reward": 0.9, "sampled_sums/accuracy": 0.1}
    text = output_of([eval_row(0) | by_task, train_row(1, **by_task), eval_row(5) | {"sums/accuracy": 0.875}])
    assert "sampled 0.250; greedy by task: sums 0.750\n" in text
    assert "parts" not in text
    assert "| sums/accuracy 0.750 |" in text
    assert "letters" not in text
    assert "sums 0.875" in text


def test_missing_values_are_left_out() -> None:
    row = train_row(0, reward=None, entropy=None)
    assert "reward" not in output_of([row])
    assert "entropy" not in output_of([row])
    assert "nothing could be scored" in output_of([eval_row(3, None)])


def test_an_alert_is_printed_on_its_own_line() -> None:
    row = {"kind": "warning", "step": 4, "alert": "length", "seen": "too [long]", "try": "less", "seconds": 1.0}
    assert output_of([row]) == "warning    step 4: too [long]. less\n"


def test_other_processes_show_their_own_problems_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console = RunConsole(5, process=1)
    console.print("the run")
    console.show(eval_row(0))
    console.report("out of memory: micro-batches are halved")
    assert capsys.readouterr().err == "process 1: out of memory: micro-batches are halved\n"


def test_brackets_in_text_are_not_markup() -> None:
    out = io.StringIO()
    console = RunConsole(1, plain_console(file=out, width=80))
    text = "[bold]not markup[/bold] [/x]"
    console.completions("now", [(Example("e", answer="7"), text, Score(0.5, explanation="[red]"))])
    assert text in out.getvalue()
    assert "[red]" in out.getvalue()


def test_texts_do_not_steer_the_terminal() -> None:
    out = io.StringIO()
    hostile = "\x1b]0;title\x07 \u202e"
    example = Example(hostile, hostile, answer=hostile)
    RunConsole(1, plain_console(file=out)).completions(
        "now", [(example, f"a\n{hostile}", Score(0.5, explanation=hostile))]
    )
    assert not set(hostile[:1] + hostile[-1]) & set(out.getvalue())
    assert out.getvalue().count("\\x1b]0;title\\x07 \\u202e") == 5
    assert "a\n" in out.getvalue()
