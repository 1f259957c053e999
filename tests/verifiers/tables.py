"""Tables of cases: reads the rows of ``cases/*.jsonl``, and checks all rows in one test that reports each failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Case = TypeVar("Case")


def read(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a table by their place: ``dates.jsonl:12``."""
    lines = (Path(__file__).parent / "cases" / f"{name}.jsonl").read_text().splitlines()
    return {f"{name}.jsonl:{number}": json.loads(line) for number, line in enumerate(lines, 1)}


def check_all(cases: Iterable[tuple[str, Case]], check: Callable[[Case], None]) -> None:
    """Checks every case, and fails with the place, content and error of each that fails."""
    failures, count = [], 0
    for place, case in cases:
        count += 1
        try:
            check(case)
        except Exception as error:
            failures.append(f"{place}: {case}\n    {type(error).__name__}: {error}")
    assert count, "no cases"
    assert not failures, f"{len(failures)} of {count} cases fail\n" + "\n".join(failures)
