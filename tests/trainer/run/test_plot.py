"""Plots of runs: grouping by configuration, lines, and files that are not overwritten."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from grpo_env.errors import UsageError
from grpo_env.trainer.run.curves import plot_curves, running_mean
from grpo_env.trainer.run.groups import RecordedRun, group_runs, mean_curve
from grpo_env.trainer.run.plot import draw_runs, plot_runs


def make_run(
    folder: Path, steps: int = 4, weight: float = 1.0, accuracy: float | None = 0.5, **settings: Any
) -> RecordedRun:
    """A run whose steps take 2 seconds each and whose accuracy rises by 0.1 a step."""
    folder.mkdir(parents=True)
    config = {
        "model": "m",
        "steps": steps,
        "supervision": "outcome",
        "loss": {"clip_low": 0.2},
        "preset": None,
        "seed": 0,
    }
    task = {"version": 1, "task": "sums", "verifiers": {"accuracy": {"weight": weight}}, "train": {"seed": settings}}
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, **settings}, sort_keys=False))
    (folder / "task.yaml").write_text(yaml.safe_dump(task))
    rows: list[dict[str, Any]] = []
    for step in range(steps + 1):
        value = None if accuracy is None else accuracy + step / 10
        if step % 2 == 0:
            rows.append({"kind": "eval", "step": step, "accuracy": value, "sampled_accuracy": value})
        if step < steps:
            rows.append({"kind": "train", "step": step, "reward": value, "sample_seconds": 1.5, "update_seconds": 0.5})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return RecordedRun.read(folder)


def test_a_curve_is_over_updates_and_seconds_of_training(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    assert run.curve("eval", "accuracy") == [(0, 0.0, 0.5), (2, 4.0, 0.7), (4, 8.0, 0.9)]
    assert [point[:2] for point in run.curve("train", "reward")] == [(0, 0.0), (1, 2.0), (2, 4.0), (3, 6.0)]
    assert make_run(tmp_path / "unscored", accuracy=None).curve("eval", "accuracy") == []


def test_the_mean_is_over_points_that_all_seeds_have() -> None:
    first, second = [(0, 0.0, 0.5), (2, 4.0, 0.7), (4, 9.0, 0.8)], [(0, 0.0, 0.25), (4, 11.0, 0.5)]
    assert mean_curve([first, second]) == [(0, 0.0, 0.375), (4, 10.0, pytest.approx(0.65))]


def names(*runs: RecordedRun) -> dict[str, list[str]]:
    return {name: [run.folder.name for run in group] for name, group in group_runs(runs)[0].items()}


def test_seeds_of_one_configuration_are_one_group(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / f"a{seed}", seed=seed) for seed in (1, 0)]
    assert names(*runs) == {"sums": ["a0", "a1"]}
    process = make_run(tmp_path / "b", supervision="process", loss={"clip_low": 0.1})
    assert names(*runs, process) == {"supervision=outcome": ["a0", "a1"], "supervision=process": ["b"]}
    assert group_runs([*runs, process])[1] == ["loss.clip_low"]
    heavy = make_run(tmp_path / "c", weight=2.0)
    assert names(runs[1], heavy) == {"verifiers.accuracy.weight=1.0": ["a0"], "verifiers.accuracy.weight=2.0": ["c"]}


def test_runs_of_one_configuration_and_seed_are_named_by_their_folders(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name) for name in ("x", "y")]
    assert names(*runs) == {f"run={tmp_path / name}": [name] for name in ("x", "y")}
    newer = make_run(tmp_path / "newer", seed=1, invented_later=3)
    assert len(names(runs[0], newer)) == 1


def test_lines_of_the_picture(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / f"a{seed}", seed=seed, accuracy=seed / 10) for seed in (0, 2)]
    figure = draw_runs(group_runs([*runs, make_run(tmp_path / "b", supervision="process")])[0], [])
    greedy = figure.axes[3]  # second row: by time
    lines = [(list(line.get_xdata()), list(line.get_ydata()), line.get_color()) for line in greedy.lines]
    assert lines[0] == ([0.0, 4.0, 8.0], pytest.approx([0.1, 0.3, 0.5]), "C0")  # the mean
    assert [color for _, _, color in lines] == ["C0", "C0", "C0", "C1"]
    assert len({line.get_linestyle() for line in greedy.lines[:3]}) == 3
    assert all(step.is_integer() for axes in figure.axes[:3] for step in axes.get_xticks().tolist())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("supervision=outcome, mean of 2", "supervision=process", "seed 0", "seed 2")
    ]


def test_only_a_picture_of_the_same_runs_is_overwritten(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    first, second = (make_run(tmp_path / name, seed=seed).folder for seed, name in enumerate("ab"))
    picture = tmp_path / "out.png"
    plot_runs([first, second], picture, console)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    picture.write_bytes(picture.read_bytes() + b"old")
    plot_runs([second, first], picture, console)
    content = picture.read_bytes()
    assert not content.endswith(b"old")
    with pytest.raises(UsageError, match="not a picture of these runs"):
        plot_runs([first], picture, console)
    assert picture.read_bytes() == content
    for runs, output, why in (
        ([first], tmp_path / "out.pdf", "is a .png file"),
        ([first, first], tmp_path / "new.png", "given twice"),
        ([tmp_path], tmp_path / "new.png", "not a run folder"),
    ):
        with pytest.raises(UsageError, match=why):
            plot_runs(runs, output, console)
    (first / "metrics.jsonl").unlink()
    with pytest.raises(UsageError, match="nothing to plot yet"):
        plot_runs([first], tmp_path / "new.png", console)
    assert not (tmp_path / "new.png").exists()


def test_curves_of_any_run_are_drawn(tmp_path: Path) -> None:
    train_rows = [{"kind": "train", "step": s, "reward": s / 9, "parts/a": None, "length": 5.0} for s in range(9)]
    eval_rows = [{"kind": "eval", "step": 0, "accuracy": 0.1}, {"kind": "eval", "step": 9, "accuracy": None}]
    for name, rows in (("full", train_rows + eval_rows), ("empty", []), ("train", train_rows)):
        path = tmp_path / f"{name}.png"
        plot_curves(rows, path, name)
        assert path.read_bytes()[:4] == b"\x89PNG"


def test_running_mean() -> None:
    assert running_mean([0.0, 1.0, 2.0]) == [0.0, 0.5, 1.5]  # with the one before
    assert running_mean([float(at) for at in range(60)])[-1] == (56 + 57 + 58 + 59) / 4
