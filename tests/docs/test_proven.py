"""The tables of docs/limits.md and docs/benchmarks.md are those of the recorded runs, and what they name exists."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("proven", ROOT / "docs/site/proven.py")
proven = importlib.util.module_from_spec(spec)
spec.loader.exec_module(proven)
CLAIMS = proven.records("proven.jsonl")


def test_the_tables_are_current():
    assert {path: path.read_text(encoding="utf-8") for path in proven.pages()} == proven.pages()


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row["claim"][:40])
def test_a_claim_names_files_and_targets_that_exist(row):
    files = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)", row["shown"])
    assert [name for name in files if not (ROOT / name).exists()] == []
    targets = re.findall(r"`make ([\w-]+)", row["shown"])
    assert [name for name in targets if f"\n{name}:" not in (ROOT / "Makefile").read_text()] == []
    assert all(row[key] for key in ("area", "claim", "shown", "on"))


def test_lines_that_a_gpu_has_shown_are_counted():
    rows = [{**CLAIMS[0], "on": on} for on in ("CPU", "H200", "H200")]
    assert proven.claims(rows).startswith("So far 2 of the 3 lines below were run on a GPU.")
    assert proven.claims(rows[:2]).startswith("So far 1 of the 2 lines below was run on a GPU.")
    assert "| H200 |" in proven.claims(rows)


def test_a_curve_is_one_line_with_its_first_and_its_last_point():
    points = [
        {"side": "ours", "seed": 1, "seconds": 600 * n, "steps": n, "greedy": n / 8, "sampled": 0.0, "examples": 10}
        for n in range(5)
    ]
    _, _, line = proven.curves(points).splitlines()
    rates = "0.000 → 0.500 (0.237 to 0.763) | 0.000 → 0.000 (0.000 to 0.278)"  # Wilson 1927, by hand
    assert line == f"| ours, 1 | 4 steps in 2,400 s | {rates} |"
