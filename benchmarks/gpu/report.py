"""The tables of a folder of results, in Markdown: ``python benchmarks/gpu/report.py FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from plan import RESULTS, finished

Row = dict[str, Any]
PARTS = ("sample", "score", "forward", "backward", "optimizer", "rest")


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python benchmarks/gpu/report.py FOLDER")
    path = Path(sys.argv[1]) / RESULTS
    if not path.exists():
        raise SystemExit(f"{path}: no such file; run.py writes it to its --out")
    print(report(list(finished(path).values())))


def report(rows: Sequence[Row]) -> str:
    """All tables that have rows, below a line for each device and set of versions."""
    results = {row["measurement"]: row["result"] for row in rows if row["ok"]}
    lines = [*sorted({_environment(row) for row in rows}), ""]
    for table in (_works(rows), _decoding(results), _steps(results), _variants(results), _curves(results)):
        if len(table) > 2:
            lines += [*table, ""]
    lines += [f"- {row['measurement']}: {row['error']}" for row in rows if not row["ok"]]
    return "\n".join(lines).rstrip()


def _environment(row: Row) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    size = ", smallest shapes: no figure means anything" if row["tiny"] else ""
    return f"{row['device']}{size}; {versions}; commit {row['commit'] or 'unknown'}"


def _table(*columns: str) -> list[str]:
    return [_line(columns), "|---" * len(columns) + "|"]


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _works(rows: Sequence[Row]) -> list[str]:
    table = _table("works", "outcome", "numbers")
    for row in rows:
        stage, _, name = row["measurement"].partition("/")
        if stage == "works":
            numbers = ", ".join(_flat("", row["result"] or {})) or row["error"]
            table.append(_line((name, "ok" if row["ok"] else "FAILED", numbers.replace("|", "/"))))
    return table


def _flat(prefix: str, value: Any) -> list[str]:
    """``name value`` of every number, text and list in a result."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in _flat(f"{prefix} {key}".strip(), item)]
    return [f"{prefix} {_short(value)}"]


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _decoding(results: dict[str, Any]) -> list[str]:
    """Tokens per second, and the fraction of them that reading weights and cache once per step would allow."""
    table = _table("decoding", "rows x tokens", "tokens/s", "of the bandwidth limit")
    bandwidth = results.get("fast/ceilings", {}).get("copy_gb_per_s")
    for name, row in _stage(results, "fast/decoding/"):
        limit = row["step_bytes"] * row["tokens"] / (bandwidth * 1e9) / row["seconds"] if bandwidth else None
        table.append(_line((name, f"{row['rows']} x {row['tokens']}", f"{row['tokens_per_s']:,.0f}", _percent(limit))))
    return table


def _steps(results: dict[str, Any]) -> list[str]:
    """Seconds of a step and its parts; the loss's operations as a fraction of those that a product reaches."""
    table = _table("step", "s", "tokens/s", *PARTS, "of the matrix peak", "peak GB", "prompt", "completion", "uniform")
    for name, row in _stage(results, "fast/step/"):
        table.append(_line((name, *_step_cells(row, results))))
        ours = results.get(f"fast/step/{name.split('/')[0]}/ours")
        if ours and not name.endswith("/ours"):
            cells = [f"{row[part] / ours[part]:.2f} x" if ours[part] > 1e-6 else "" for part in PARTS[:-1]]
            speed = f"{row['wall'] / ours['wall']:.2f} x", f"{ours['speed'] / row['speed']:.2f} x"
            table.append(_line(("ours is better by", *speed, *cells, *[""] * 6)))
    return table


def _step_cells(row: Row, results: dict[str, Any]) -> list[str]:
    peak = results.get("fast/ceilings", {}).get("bf16_tflops")
    loss = row["forward"] + row["backward"]
    used = row["loss_flops"] / loss / (peak * 1e12) if peak and loss else None
    return [
        f"{row['wall']:.3f}",
        f"{row['speed']:,.0f}",
        *(f"{row[part]:.3f}" for part in PARTS),
        _percent(used),
        f"{row['peak']:.1f}",
        f"{row['prompt']:.0f}",
        f"{row['length']:.1f}",
        f"{row['uniform']:.0%}",
    ]


def _variants(results: dict[str, Any]) -> list[str]:
    table = _table("variant", "s", "relative time", "sample", "forward", "backward", "optimizer", "peak GB")
    base = results.get("fast/variants/all fast paths")
    for name, row in _stage(results, "fast/variants/"):
        relative = f"{row['wall'] / base['wall']:.2f}" if base else ""
        parts = [f"{row[part]:.3f}" for part in ("sample", "forward", "backward", "optimizer")]
        table.append(_line((name, f"{row['wall']:.3f}", relative, *parts, f"{row['peak']:.1f}")))
    return table


def _curves(results: dict[str, Any]) -> list[str]:
    """Each point of a curve as seconds, steps, greedy and sampled accuracy."""
    table = _table("curve", "seconds", "steps", "greedy", "sampled")
    for name, row in _stage(results, "learns/"):
        for point in row["points"]:
            numbers = f"{point['seconds']:.0f}", f"{point['steps']:.0f}"
            table.append(_line((name, *numbers, f"{point['greedy']:.3f}", f"{point['sampled']:.3f}")))
    return table


def _stage(results: dict[str, Any], prefix: str) -> list[tuple[str, Row]]:
    return [(name.removeprefix(prefix), row) for name, row in results.items() if name.startswith(prefix)]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


if __name__ == "__main__":
    main()
