"""Comparing two scorings: matching of rows, statistics checked by hand, escaping of hostile text."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.cli.app import main
from grpo_env.errors import UsageError
from grpo_env.results.compare import Comparison, compare
from grpo_env.results.compare.comparison_text import disagreement_lines, summary_lines
from grpo_env.results.compare.matching import LOOK_AHEAD, match
from grpo_env.results.compare.paired_tests import MeanDifference, mcnemar, student


def row(id="1", completion=0, value=1.0, status="scored", **more):
    part = {"value": value, "weight": 1.0, "weighted": value, "status": status, "answer": "4", "gold": "4"}
    part["explanation"] = more.pop("explanation", "")
    base = {"id": id, "completion": completion, "group": id, "text": f"{id}/{completion}", "metric": "accuracy"}
    return base | {"total": value, "status": status, "explanation": "", "parts": {"accuracy": part}} | more


def compared(a, b, part=None):
    result = Comparison()
    return result, list(compare(a, b, part, result))


# Exact: twice the lower tail of a binomial of n discordant pairs. b=5, c=15: 2 * 21700 / 2^20.
@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [
        (5, 15, 2 * 21700 / 2**20),
        (15, 5, 2 * 21700 / 2**20),
        (0, 5, 2 / 32),
        (1, 7, 2 * 9 / 2**8),
        (0, 0, 1),
        (3, 3, 1),
    ],
)
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(gained, lost, p):
    assert mcnemar(gained, lost) == pytest.approx(p, rel=1e-12)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_sum_of_binomials(gained, lost):
    tail = sum(math.comb(gained + lost, i) for i in range(min(gained, lost) + 1))
    assert mcnemar(gained, lost) == pytest.approx(min(1.0, 2 * tail / 2 ** (gained + lost)), rel=1e-9)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


def test_mcnemar_of_large_counts_does_not_overflow():
    assert mcnemar(0, 5000) == 0.0  # 2^-4999
    assert mcnemar(500_000, 498_000) == pytest.approx(0.0453921198999, rel=1e-9)  # scipy 1.17, binomtest


def test_the_interval_of_single_pairs_is_the_paired_t_interval():
    difference = MeanDifference()
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        difference.add([value])
    low, high = difference.interval()
    # s = sqrt(2.5), standard error sqrt(2.5 / 5), t(4, 97.5 %) = 2.776: 3 +- 1.963
    assert (low, high) == pytest.approx((3 - 1.963, 3 + 1.963), abs=2e-3)


def test_the_units_of_the_interval_are_groups():
    single, twice = MeanDifference(), MeanDifference()
    for value in (0.0, 1.0, 0.0, 0.0, 1.0, 1.0):
        single.add([value])
        twice.add([value, value])  # duplicates add no information
    assert twice.mean == single.mean == 0.5
    assert twice.interval() == pytest.approx(single.interval())
    # residuals -.5 or .5, six groups of one: var = 6/5 * 6 * .25 / 36 = .05; t(5) = 2.5706
    assert single.interval()[1] == pytest.approx(0.5 + 2.5706 * math.sqrt(0.05), abs=1e-3)


@pytest.mark.parametrize(("freedom", "t"), [(3, 3.182), (4, 2.776), (10, 2.228), (30, 2.042), (120, 1.980)])
def test_students_quantile_matches_the_tables(freedom, t):
    assert student(0.975, freedom) == pytest.approx(t, abs=5e-4)


def test_two_by_two_table_transitions_and_unscored_ones():
    values = [(1, 1), (1, 1), (1, 0), (0, 1), (0, 1), (0, 1), (0, 0), (None, 1), (1, None)]
    a, b = (
        [
            row(str(i), value=pair[side], status="error" if pair[side] is None else "scored")
            for i, pair in enumerate(values)
        ]
        for side in (0, 1)
    )
    b[6] = row("6", value=0, status="timeout")
    result, disagreements = compared(a, b)
    part = result.parts["accuracy"]
    assert {(x, y): part.table[(x, y)] for x in (True, False) for y in (True, False)} == {
        (True, True): 2,
        (True, False): 1,
        (False, True): 3,
        (False, False): 1,
    }
    assert (part.both, part.changed, result.changed, result.pairs) == (7, 7, 7, 9)
    assert part.p_value == pytest.approx(2 * 5 / 2**4)
    assert dict(part.transitions) == {("error", "scored"): 1, ("scored", "error"): 1, ("scored", "timeout"): 1}
    assert [disagreement.a["id"] for disagreement in disagreements] == ["2", "3", "4", "5", "6", "7", "8"]


def test_unmatched_rows_are_counted_and_named():
    rows = [row(str(i)) for i in range(10)]
    a, b = [r for r in rows if r["id"] not in "25"], [r for r in rows if r["id"] not in "56"]
    result, disagreements = compared(a, b)
    assert (result.pairs, dict(result.unmatched), disagreements) == (7, {"a": 1, "b": 1}, [])
    assert result.unmatched_examples == {"a": ["row '6', completion 0"], "b": ["row '2', completion 0"]}
    assert not result.same
    lines = "\n".join(summary_lines(result))
    assert "1 only in A: row '6', completion 0" in lines
    assert "1 only in B: row '2', completion 0" in lines


def test_a_repeated_id_matches_its_first_row():
    a = [row("twice", text="1"), row("m"), row("twice", text="2")]
    result, disagreements = compared(a, [row("new"), *a])
    assert (result.pairs, dict(result.unmatched), disagreements) == (3, {"b": 1}, [])


def test_a_file_may_end_early():
    result, _ = compared((row(str(i)) for i in range(3 * LOOK_AHEAD)), [row("0"), row("1")])
    assert (result.pairs, dict(result.unmatched)) == (2, {"a": 3 * LOOK_AHEAD - 2})


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([row("1"), row("2")], [row("2"), row("1")], "different orders"),
        ([row("1")], [row("1", text="another")], "different texts; .* two models, see grpo_env view report"),
        ([row("1")], [row("2")], "no row in common; .* two models, see grpo_env view report"),
        ([], [row("2")], "no row in common"),
        (
            [row(f"a{i}") for i in range(LOOK_AHEAD)],
            [row(f"b{i}") for i in range(LOOK_AHEAD)],
            "none in common, .* two models, see",
        ),
        ([row("1", metric=None)], [row("1")], "--part"),
        ([row("1", metric="acuracy")], [row("1")], "did you mean 'accuracy'"),
        ([row("1", total="high")], [row("1")], "finite number"),
    ],
)
def test_files_that_cannot_be_compared_are_rejected(a, b, message):
    with pytest.raises(UsageError, match=message):
        compared(a, b)


def test_files_without_texts_are_matched_by_id_with_a_note():
    result, _ = compared([row("1", text=None)], [row("1")])
    assert result.without_text == 1
    assert any("matched by id only" in line for line in summary_lines(result))


def test_lone_surrogates_and_another_folder_make_no_difference():
    jsonl, parquet = row("1", text="lone \ud800", file="data/a.jsonl"), row("1", text="lone \ufffd", file="a.jsonl")
    assert compared([jsonl], [parquet])[0].same


def test_metrics_with_different_names_are_compared_and_missing_parts_are_named():
    a, b = row("1"), row("1", metric="strict")
    b["parts"] = {"strict": {**b["parts"]["accuracy"], "value": 0.0}, "length": {"value": 0.3, "status": "scored"}}
    result, (disagreement,) = compared([a], [b])
    assert result.main == "accuracy / strict"
    assert disagreement.scores.keys() == {"accuracy / strict"}
    assert result.missing_parts == {"a": {"length"}, "b": set()}


def test_a_single_nested_part():
    def nested(value):
        inner = {"value": value, "status": "scored", "weight": 1.0}
        return row("1", parts={"both": {"value": 1.0, "status": "scored", "parts": {"exact": inner, "other": None}}})

    result, (disagreement,) = compared([nested(0.25)], [nested(0.75)], part="exact")
    assert result.main == "both.exact"
    assert result.parts.keys() == disagreement.scores.keys() == {"both.exact"}
    assert not result.parts["both.exact"].binary
    assert result.parts["both.exact"].difference.mean == 0.5


VALUES = st.sampled_from([0.0, 0.3, 1.0, None])
FILES = st.lists(st.tuples(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4)), max_size=6)


def files_of(groups):
    def scored(id, n, value):
        return row(id, n, value=value, status="error" if value is None else "scored")

    return tuple(
        [scored(str(g), n, pair[side]) for g, (pairs,) in enumerate(groups) for n, pair in enumerate(pairs)]
        for side in (0, 1)
    )


@given(FILES.filter(bool))
@settings(max_examples=60)
def test_a_file_agrees_with_itself_and_swapping_mirrors_everything(groups):
    a, b = files_of(groups)
    result, disagreements = compared(a, a)
    assert disagreements == []
    assert result.same
    forth, back = compared(a, b)[0], compared(b, a)[0]
    assert forth.changed == back.changed
    for name, part in forth.parts.items():
        mirror = back.parts[name]
        assert part.table == {(b, a): count for (a, b), count in mirror.table.items()}
        assert part.transitions == {(b, a): count for (a, b), count in mirror.transitions.items()}
        assert part.p_value == mirror.p_value
        assert part.difference.mean == pytest.approx(-mirror.difference.mean)


@given(st.lists(st.booleans(), max_size=60), st.lists(st.booleans(), max_size=60))
def test_matching_neither_loses_nor_duplicates_rows(in_a, in_b):
    a = [row(str(i)) for i, there in enumerate(in_a) if there]
    b = [row(str(i)) for i, there in enumerate(in_b) if there]
    pairs = list(match(a, b))
    assert [row_a for row_a, _ in pairs if row_a] == a
    assert [row_b for _, row_b in pairs if row_b] == b
    shared_ids = {r["id"] for r in a} & {r["id"] for r in b}
    assert {row_a["id"] for row_a, row_b in pairs if row_a and row_b} == shared_ids


def test_hostile_text_is_escaped_and_shortened():
    evil = "\x1b[31mred\x07\u202e\ud800" + "x" * 1_000_000
    a, b = row("\x1b]0;owned\x07", text="\x1b[2J" + "y" * 500), row("\x1b]0;owned\x07", value=0.0, explanation=evil)
    b["text"] = a["text"]
    b["parts"]["accuracy"]["answer"] = evil
    result, (disagreement,) = compared([a], [b])
    lines = "\n".join([*summary_lines(result), *disagreement_lines(disagreement, result.main)])
    assert len(lines) < 2500
    assert all(char.isprintable() or char == "\n" for char in lines)
    assert r"\x1b[31mred\x07\u202e\ud800xxx" in lines


def test_a_file_without_kinds_of_gold_answers_is_compared_with_one_that_has_them():
    without, other = row(), row(value=0.0)
    other["parts"]["accuracy"]["kind"] = "date"
    result, (disagreement,) = compared([without], [other])
    lines = [line.strip() for line in disagreement_lines(disagreement, result.main)]
    assert "answer '4', gold '4'" in lines
    assert "answer '4', gold '4' (date)" in lines


def test_changed_verdicts_are_counted_by_the_rules_of_both_files():
    changes = [(0.0, "number", 1.0, "one number")] * 3 + [(1.0, "same text", 0.0, ""), (1.0, "number", 1.0, "formula")]
    a, b = [], []
    for n, (before, rule_a, after, rule_b) in enumerate(changes):
        for rows, value, rule in ((a, before, rule_a), (b, after, rule_b)):
            rows.append(row(str(n), value=value))
            rows[-1]["parts"]["accuracy"] |= {"rule": rule} if rule else {}
    result, disagreements = compared(a, b)
    assert result.parts["accuracy"].rules == {(True, "number", "one number"): 3, (False, "same text", ""): 1}
    assert result.parts["total"].rules == {}
    lines = list(summary_lines(result))
    assert "    correct by 'one number', before wrong by 'number': 3" in lines
    assert "    wrong, before correct by 'same text': 1" in lines
    assert [line.strip() for line in disagreement_lines(disagreements[0], "accuracy") if "rule" in line] == [
        "rule 'number'",
        "rule 'one number'",
    ]
    first, last = disagreements[0].to_dict(), disagreements[-1].to_dict()
    assert (first["a"]["accuracy"]["rule"], first["b"]["accuracy"]["rule"]) == ("number", "one number")
    assert "rule" not in last["b"]["accuracy"]


def test_many_pairs_of_rules_have_one_line_together():
    a, b = ([row(str(n), value=value) for n in range(13)] for value in (0.0, 1.0))
    for n in range(13):
        b[n]["parts"]["accuracy"]["rule"] = f"rule {max(n, 1)}\n"
    lines = [line for line in summary_lines(compared(a, b)[0]) if ", before " in line or "other rules" in line]
    assert len(lines) == 11
    assert lines[0] == r"    correct by 'rule 1\n', before wrong: 2"
    assert lines[-1] == "    by other rules: 2"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def command(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["grpo_env", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_completions_that_only_one_file_says_are_correct_are_shown_first(tmp_path, monkeypatch, capsys):
    a = write(tmp_path / "a.jsonl", [row(str(i), value=0.2) for i in range(4)])
    b = write(tmp_path / "b.jsonl", [row(str(i), value=1.0 if i == 3 else 0.3) for i in range(4)])
    command(monkeypatch, "compare", a, b, "--show", "2")
    printed = capsys.readouterr().out
    assert printed.index("row '3', completion 0") < printed.index("row '0', completion 0")
    assert "row '1', completion 0" not in printed


def test_the_command_prints_writes_and_fails_on_change(tmp_path, monkeypatch, capsys):
    a = write(tmp_path / "a.jsonl", [row(str(i)) for i in range(6)])
    b = write(tmp_path / "b.jsonl", [row(str(i), value=float(i > 2)) for i in range(6)])
    out = tmp_path / "changed.jsonl"
    assert command(monkeypatch, "compare", a, b, "--out", str(out), "--show", "1") == 0
    printed = capsys.readouterr().out
    assert "0 became correct, 3 became wrong; McNemar's exact test: p = 0.25" in printed
    assert "row '0', completion 0" in printed
    assert "row '1', completion 0" not in printed
    assert "2 more" in printed
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert (rows[0]["a"]["accuracy"]["value"], rows[0]["b"]["accuracy"]["value"]) == (1.0, 0.0)
    assert rows[0]["text"] == "0/0"
    assert command(monkeypatch, "compare", a, b, "--out", str(out)) == 2  # never overwritten
    assert len(out.read_text().splitlines()) == 3
    assert command(monkeypatch, "compare", a, b, "--fail-on-change") == 1
    assert command(monkeypatch, "compare", a, a, "--fail-on-change") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl", "changed.jsonl"]


def test_json_has_the_counts_and_tests_of_the_text(tmp_path, monkeypatch, capsys):
    a = write(tmp_path / "a.jsonl", [row(id=str(n)) for n in range(6)] + [row(id="6", value=0.5), row(id="8")])
    b = write(
        tmp_path / "b.jsonl",
        [row(id=str(n), value=0.0 if n < 5 else 1.0) for n in range(6)] + [row(id="6", value=None, status="timeout")],
    )
    assert command(monkeypatch, "compare", str(a), str(b), "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["main"], printed["pairs"], printed["changed"]) == ("accuracy", 7, 6)
    assert printed["only_in"] == {"a": 1}
    part = printed["parts"]["accuracy"]
    assert (part["in_both"], part["became_correct"], part["became_wrong"]) == (6, 0, 5)
    assert part["p_value"] == pytest.approx(2 / 2**5)  # the binomial tail of 0 of 5, twice
    assert (part["mean_a"], part["mean_b"]) == (1.0, pytest.approx(1 / 6))
    assert part["difference"] == pytest.approx(-5 / 6)
    assert part["statuses"] == [{"a": "scored", "b": "timeout", "count": 1}]


def test_a_composite_is_explained_by_its_parts():
    """By those that judge the row, at any depth; one with an explanation of its own keeps it."""
    left_out = {"status": "left_out"}
    leaf = {"value": 0.0, "status": "scored", "explanation": "boxed: a different number"}
    inner = {"value": 0.0, "status": "scored", "parts": {"choice": left_out, "accuracy": leaf}}
    outer = {"value": 0.0, "status": "scored", "parts": {"sum": inner, "other": {**leaf, "explanation": "not 4"}}}
    other = row(value=1.0) | {"metric": "verdict", "parts": {"verdict": {**outer, "value": 1.0, "explanation": "own"}}}
    without = row(value=0.0) | {"metric": "verdict", "parts": {"verdict": outer}}
    result, (disagreement,) = compared([without], [other])
    lines = [line.strip() for line in disagreement_lines(disagreement, result.main)]
    assert "A  0  sum: accuracy: boxed: a different number; other: not 4" in lines
    assert "B  1  own" in lines
