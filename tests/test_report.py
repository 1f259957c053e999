"""What a run says: a table in a terminal, lines elsewhere, and a picture."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from grpo_env import Example, Score
from grpo_env.trainer.curves import plot_curves
from grpo_env.trainer.report import Report, trend
from grpo_env.trainer.rollout import Judged
from grpo_env.trainer.sampler import Rollout

ROW = {
    "reward": 0.5,
    "parts/accuracy": 0.25,
    "length": 31.5,
    "uniform_groups": 0.125,
    "kl": 0.0,
    "entropy": 0.7,
    "clip_fraction": 0.01,
    "grad_norm": 1.5,
    "tokens_per_second": 1234.0,
    "truncated": 0.0,
}


def spoken(terminal: bool, steps: int = 4) -> str:
    out = io.StringIO()
    report = Report(steps, Console(file=out, force_terminal=terminal, width=120, highlight=False))
    report.begin(0)
    report.evaluation(0, {"accuracy": 0.5, "sampled_accuracy": 0.25}, (0.4, 0.6))
    for step in range(steps):
        report.step(step, {**ROW, "reward": step / 4})
    report.close()
    return out.getvalue()


def test_plain_lines_where_there_is_no_terminal() -> None:
    said = spoken(terminal=False)
    assert "\x1b" not in said
    lines = said.splitlines()
    assert lines[0] == "held-out after 0 steps: greedy accuracy 0.500 (95% 0.400 to 0.600), sampled 0.250"
    assert lines[1].startswith("step 1/4 | reward 0.000 | accuracy 0.250 | length 31.5 | uniform_groups 12.5%")
    assert lines[-1].startswith("step 4/4")  # the last step is always said
    assert len(lines) == 3  # those between come too fast to be said
    assert "kl" not in lines[1]


def test_a_table_in_a_terminal() -> None:
    said = spoken(terminal=True)
    assert "step 4/4" in said
    for label in ("reward", "accuracy", "length, tokens", "uniform groups", "entropy, nats", "tokens/s", "1,234"):
        assert label in said
    assert "KL" not in said
    assert "▁" in said
    assert "█" in said


def test_text_with_brackets_is_shown_as_it_stands() -> None:
    out = io.StringIO()
    report = Report(1, Console(file=out, width=80))
    text = "[bold]not markup[/bold] [/x]"
    score = Score(0.5, explanation="[red]")
    report.completions("now", [Judged(Example("e", answer="7"), Rollout([1], [2], text, "stop"), score)])
    assert text in out.getvalue()
    assert "[red]" in out.getvalue()


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0, 1], "▁█"), ([3, 3, 3], "▁▁▁"), ([0, 0.5, 1, 0], "▁▅█▁"), ([5], "▁")],
)
def test_trend(values: list[float], expected: str) -> None:
    assert trend(values).replace("▄", "▅") == expected


def test_trend_of_a_long_run_has_a_fixed_width() -> None:
    assert len(trend(list(range(1000)), width=32)) == 32


def test_curves_of_any_run_are_drawn(tmp_path: Path) -> None:
    train = [{"kind": "train", "step": s, "reward": s / 9, "parts/a": None, "length": 5.0} for s in range(9)]
    held_out = [{"kind": "eval", "step": 0, "accuracy": 0.1}, {"kind": "eval", "step": 9, "accuracy": None}]
    for name, rows in (("full", train + held_out), ("empty", []), ("train", train)):
        path = tmp_path / f"{name}.png"
        plot_curves(rows, path, name)
        assert path.read_bytes()[:4] == b"\x89PNG"
