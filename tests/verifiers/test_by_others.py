"""Tables of verdicts by authors who had not seen the code: ``cases/by_others``."""

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_env.core import Completion, Example
from grpo_env.registry import find

from .tables import read

TABLES = sorted(file.stem for file in (Path(__file__).parent / "cases/by_others").glob("*.jsonl"))


@pytest.mark.parametrize("name", TABLES)
def test_verdicts(name: str) -> None:
    """Rows with ``open`` are known to fail, with the reason.

    They have more than the usual second, since a busy machine takes longer.
    """
    surprises = []
    for place, row in read(f"by_others/{name}").items():
        verifier = find("accuracy")(**{"timeout": 5.0, **row.get("options", {})})
        score = verifier(Example("x", answer=row["gold"]), Completion(row["completion"]))
        if (score.value == row["right"]) == ("open" in row):
            surprises.append(f"{place}: {row} {score.explanation}")
    assert not surprises, "\n".join(surprises)
