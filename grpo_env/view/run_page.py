"""A run's page: its curves, whose points lead to the samples of their step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_env.results.report.charts import Lines
from grpo_env.results.report.measures import Series
from grpo_env.results.report.svg import svg
from grpo_env.rows.reader import read_records

from .duckdb_index import Store
from .source import METRICS

MAX_POINTS = 60  # of a line, and its last one
TITLES = {  # of the charts, by the metric that they show
    "reward": "reward",
    "accuracy": "accuracy",
    "uniform_groups": "groups whose advantages are all 0",
    "length": "length in tokens",
    "truncated": "truncated",
    "unscored": "unscored",
    "entropy": "entropy",
    "kl": "KL to the reference",
    "grad_norm": "gradient norm",
}
KINDS = {"train": "train", "held out": "eval"}  # lines of a chart, and the kinds of rows that they are of
PART = "parts/"


def run_page(store: Store, run: Path) -> dict[str, Any]:
    """The context of ``run.html``, for a run in the folder ``run``."""
    table = store.table
    steps = store.query(
        "SELECT step, count(*) AS samples, avg(reward) AS reward, avg(verdict) AS verdict, "
        "count(DISTINCT g) AS groups, "
        f"count(DISTINCT g) FILTER (WHERE signal = 'mixed') AS mixed FROM rows_{table.tag} "
        "WHERE step IS NOT NULL GROUP BY step ORDER BY step"
    )
    known = {row["step"] for row in steps}
    link = lambda step: f"./?min.step={step:g}&max.step={step:g}" if step in known else ""  # noqa: E731
    lines = charts(read_metrics(run / METRICS))
    return {
        "source": store.source,
        "table": table,
        "steps": steps,
        "charts": [svg(chart, link) for chart in lines if constant(chart) is None],
        "constants": {chart.title: value for chart in lines if (value := constant(chart)) is not None},
    }


def constant(chart: Lines) -> float | None:
    """The value that all points of a chart have, if there are several."""
    values = [value for line in chart.series.values() for value in line.ys]
    return values[0] if len(values) > 1 and min(values) == max(values) else None


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a run's metrics; none if it has not written any."""
    if not path.is_file() or not path.stat().st_size:
        return []
    return [record.row for record in read_records(path) if record.row is not None]


def charts(metrics: Sequence[Mapping[str, Any]]) -> list[Lines]:
    """The charts that have points, then one for each part."""
    parts = {key: key.removeprefix(PART) for row in metrics for key in row if key.startswith(PART)}
    drawn: list[Lines] = []
    for metric, title in (TITLES | parts).items():
        series = {name: _series(metrics, kind, metric) for name, kind in KINDS.items()}
        series = {name: line for name, line in series.items() if line.xs}
        if series and all(chart.series != series for chart in drawn):  # accuracy is a part's mean, too
            drawn.append(Lines(title, series, "step"))
    return drawn


def _series(metrics: Sequence[Mapping[str, Any]], kind: str, metric: str) -> Series:
    rows = [row for row in metrics if row.get("kind") == kind and isinstance(row.get(metric), (int, float))]
    stride = max(1, -(-len(rows) // MAX_POINTS))
    shown = rows[:-1:stride] + rows[-1:]
    return Series([float(row["step"]) for row in shown], [float(row[metric]) for row in shown])
