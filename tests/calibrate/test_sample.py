"""Strata by hand, the allocation of a sample, and that every completion of a stratum is drawn equally often."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.calibrate.sample import MIN_LABELS, allocate, draw, labeled_rows, most_strata
from grpo_env.calibrate.strata import merged, verdicts
from grpo_env.errors import UsageError


def score_row(number: int, value: float | None = 1.0, group: str | None = None, **changes: object) -> dict:
    """A row as ``grpo_env score`` writes it."""
    metric = {"value": value, "status": "scored" if value is not None else "error", "answer": "4", "gold": "5"}
    metric |= {"kind": "number", "explanation": "boxed: a different number", "rule": "number"}
    row = {
        "id": str(number),
        "completion": 0,
        "group": group or str(number),
        "task": "t",
        "metric": "m",
        "total": value,
    }
    row |= {"text": f"text {number}", "status": metric["status"], "prompt": [{"role": "user", "content": "what?"}]}
    metric |= {key: changes.pop(key) for key in tuple(changes) if key in metric}
    return row | {"parts": {"m": metric}} | changes


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_strata_by_hand() -> None:
    rows = [
        score_row(1, 1.0),
        score_row(2, 0.5, "g"),
        score_row(3, 1.0, "g", kind=None, explanation="equal by value"),
        score_row(4, 0.0, "h", status="no_answer", explanation="there is no answer: nothing"),
        score_row(5, 0.0, "h", kind="date", explanation="a_line: it says: no"),
        score_row(6, None, "h"),
        score_row(7, 0.0, "k", kind=None, explanation=""),
        score_row(8, None, "k"),
    ]
    assert [verdict.stratum for verdict in verdicts(rows)] == [
        "accepted: number, boxed",
        "rejected: number, boxed, mixed group",
        "accepted: mixed group",
        "rejected: no_answer, number, uniform group",
        "rejected: date, a_line, uniform group",
        "",
        "rejected",
        "",
    ]


def test_small_strata_are_merged_within_their_verdict() -> None:
    sizes = {"accepted: a": 50, "accepted: b": 3, "rejected: a": 40, "rejected: b": 2, "rejected: c": 1}
    assert merged(sizes, 5) == {name: name for name in sizes}
    assert set(merged(sizes, 2).values()) == {"accepted: others", "rejected: others"}
    assert merged(sizes, 4) == {
        "accepted: a": "accepted: a",
        "rejected: a": "rejected: a",
        "accepted: b": "accepted: b",  # the only one of its verdict
        "rejected: b": "rejected: others",
        "rejected: c": "rejected: others",
    }


@given(st.dictionaries(st.sampled_from([f"{v}: {n}" for v in ("accepted", "rejected") for n in range(20)]),
                       st.integers(1, 10**6), min_size=1), st.integers(10, 300))  # fmt: skip
def test_a_sample_has_the_strata_and_the_labels_that_the_page_says(sizes: dict[str, int], size: int) -> None:
    names = merged(sizes, most_strata(size))
    assert len(set(names.values())) <= min(20, max(2, size // 10))
    assert all(name.partition(":")[0] == new.partition(":")[0] for name, new in names.items())
    totals = {new: sum(sizes[name] for name in names if names[name] == new) for new in names.values()}
    assert all(count >= min(5, totals[name]) for name, count in allocate(totals, size).items())


def test_allocation_by_hand() -> None:
    """Square roots 10, 20 and 30."""
    assert allocate({"a": 100, "b": 400, "c": 900}, 60) == {"a": 10, "b": 20, "c": 30}
    assert allocate({"a": 3, "b": 10_000}, 20) == {"a": 3, "b": 17}
    assert allocate({"a": 3, "b": 4}, 50) == {"a": 3, "b": 4}


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=10), st.integers(10, 300))
def test_allocation(totals: list[int], size: int) -> None:
    sizes = {str(number): total for number, total in enumerate(totals)}
    counts = allocate(sizes, size)
    assert sum(counts.values()) == min(size, sum(sizes.values()))
    assert all(count <= sizes[name] for name, count in counts.items())
    if size >= MIN_LABELS * len(sizes):
        assert all(counts[name] >= min(MIN_LABELS, total) for name, total in sizes.items())
    ranked = [counts[name] for name in sorted(sizes, key=lambda name: (sizes[name], counts[name]))]
    assert ranked == sorted(ranked)


def test_a_sample_is_the_same_for_the_same_seed_and_has_what_a_labeler_needs(tmp_path) -> None:
    rows = [score_row(number, float(number % 3 == 0)) for number in range(300)]
    scores = write(tmp_path / "scores.jsonl", rows)
    sample = draw(scores, 30)
    assert sample == draw(scores, 30)
    assert {row["id"] for row in sample} != {row["id"] for row in draw(scores, 30, seed=1)}
    assert len({row["id"] for row in sample}) == 30
    assert [row["id"] for row in sample] != sorted((row["id"] for row in sample), key=int)
    assert Counter((row["verdict"], row["stratum_size"]) for row in sample) == {(True, 100): 12, (False, 200): 18}
    row = sample[0]
    assert row | {"id": "", "verdict": None, "stratum": "", "stratum_size": 0, "text": "", "group": ""} == {
        "id": "", "completion": 0, "group": "", "task": "t", "metric": "m", "problem": "what?", "text": "",
        "answer": "4", "gold": "5", "verdict": None, "status": "scored", "kind": "number",
        "explanation": "boxed: a different number", "rule": "number", "stratum": "", "stratum_size": 0, "label": None,
    }  # fmt: skip
    assert row["text"] == f"text {row['id']}"


def test_every_completion_of_a_stratum_is_drawn_equally_often(tmp_path) -> None:
    scores = write(tmp_path / "scores.jsonl", [score_row(number, float(number < 20)) for number in range(60)])
    drawn = Counter(row["id"] for seed in range(150) for row in draw(scores, 15, seed))
    for stratum, count in ((range(20), 6), (range(20, 60), 9)):
        chance = count / len(stratum)
        tolerance = 5 * math.sqrt(150 * chance * (1 - chance))
        assert all(abs(drawn[str(number)] - 150 * chance) < tolerance for number in stratum)


def test_a_sample_of_everything_is_everything(tmp_path) -> None:
    rows = [score_row(number, float(number % 2)) for number in range(20)] + [score_row(99, None)]
    sample = draw(write(tmp_path / "scores.jsonl", rows), 200)
    assert sorted(int(row["id"]) for row in sample) == list(range(20))


def test_a_long_completion_is_shortened_to_its_end(tmp_path) -> None:
    (row,) = draw(write(tmp_path / "scores.jsonl", [score_row(1, text="a" * 5000 + "b")]), 10)
    assert row["text"] == "…" + "a" * 1499 + "b"


def test_what_cannot_be_drawn(tmp_path) -> None:
    with pytest.raises(UsageError, match="no scored completions"):
        draw(write(tmp_path / "a.jsonl", [score_row(1, None)]), 10)
    with pytest.raises(UsageError, match="row '1', completion 0: the scores were written without texts"):
        draw(write(tmp_path / "b.jsonl", [score_row(1, text=None)]), 10)


def test_labels_of_a_file_of_scores(tmp_path) -> None:
    rows = [
        score_row(1, 1.0, label=True),
        score_row(2, 0.0, label=True),
        score_row(3, 0.0),
        score_row(4, None, label=True),
    ]
    labeled, unscored = labeled_rows(write(tmp_path / "scores.jsonl", rows))
    assert [(row["id"], row["label"], row["stratum_size"]) for row in labeled] == [
        ("1", True, 1),
        ("2", True, 2),
        ("3", None, 2),
    ]
    assert [bool(row["text"]) for row in labeled] == [False, True, False]
    assert unscored == 1
    assert (
        [row["stratum"].startswith("accepted: ") for row in labeled]
        == [row["verdict"] for row in labeled]
        == [True, False, False]
    )


def test_strata_tell_where_a_second_reader_disagrees(tmp_path: Path) -> None:
    rows = [score_row(number, float(number % 2)) for number in range(6)]
    for row, value in zip(rows, (0.0, 1.0, 1.0, 0.0, None, None), strict=True):
        row["parts"]["second"] = {"value": value, "status": "scored" if value is not None else "bad_gold"}
    accepted, rejected = "accepted: number, boxed", "rejected: number, boxed"
    assert [verdict.stratum for verdict in verdicts(rows, "second")] == [
        f"{rejected}, second agrees",
        f"{accepted}, second agrees",
        f"{rejected}, second disagrees",
        f"{accepted}, second disagrees",
        rejected,  # the second reader has no verdict
        accepted,
    ]
    path = write(tmp_path / "scores.jsonl", rows)
    assert {row["stratum"] for row in draw(path, 60, second="second")} == {
        verdict.stratum for verdict in verdicts(rows, "second")
    }
    assert {row["stratum"] for row in draw(path, 60)} == {accepted, rejected}
    with pytest.raises(UsageError, match="no part is called 'secnd'"):
        draw(path, 10, second="secnd")
