"""A scores file that 0.1.0 wrote, with ``weighted`` and nulls, is read like today's."""

import json
from pathlib import Path

import pytest

from grpo_env.cli.app import main

FORMER = Path(__file__).with_name("scores_0.1.0.jsonl")


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["grpo_env", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code


@pytest.fixture
def scored_again(tmp_path, monkeypatch):
    out = tmp_path / "again.jsonl"
    source = tmp_path / "completions.jsonl"
    rows = [json.loads(line) for line in FORMER.read_text().splitlines()]
    assert all("weighted" in part for row in rows for part in row["parts"].values())
    assert any(part["gold"] is None for row in rows for part in row["parts"].values())
    golds = [row["parts"]["accuracy"]["gold"] for row in rows]
    made = [
        {"id": row["id"], "prompt": row["prompt"], "answer": gold, "equations": ["2+3=5"], "completion": row["text"]}
        for row, gold in zip(rows, golds, strict=True)
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in made))
    run(monkeypatch, "score", "arithmetic", source, "--out", out)
    return out


def test_it_compares_as_equal_with_the_same_completions_scored_today(scored_again, tmp_path, monkeypatch, capsys):
    capsys.readouterr()
    run(monkeypatch, "compare", FORMER, scored_again, "--fail-on-change")
    assert "3" in capsys.readouterr().out  # completions


def test_it_can_be_summarized_exported_and_scored_again(tmp_path, monkeypatch):
    run(monkeypatch, "view", "report", FORMER, "--out", tmp_path / "page.html")
    assert "accuracy" in (tmp_path / "page.html").read_text()
    run(monkeypatch, "export", "sft", FORMER, "--out", tmp_path / "sft.jsonl")
    (kept,) = (tmp_path / "sft.jsonl").read_text().splitlines()  # one completion of three is right
    assert "2+3=5" in kept
