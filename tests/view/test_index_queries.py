"""The index and its selections, against values computed by hand and by the report."""

import gzip
import json
from itertools import groupby
from urllib.parse import parse_qsl

import pytest

from grpo_env.errors import UsageError
from grpo_env.results.report import make_report
from grpo_env.view import index_queries
from grpo_env.view.selection import Selection


@pytest.fixture(scope="module")
def store(rows, index, tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return index(path)


def found(store, address):
    table = store.table
    selection = Selection.parse(address, table.parts)
    rows = index_queries.page(store, table, selection)
    assert index_queries.count(store, table, selection) == len(rows)
    return [row["n"] for row in rows]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ({"signal": "mixed"}, [0, 1]),
        ({"signal": "uniform"}, [2, 3, 4, 5, 6, 7, 8, 9]),
        ({"signal": "all correct"}, [2, 3]),
        ({"signal": "all wrong"}, [4, 5]),
        ({"signal": "masked signal"}, [6, 7, 8, 9]),
        ({"verdict": "correct"}, [0, 2, 3, 6]),
        ({"verdict": "unscored"}, [8, 9]),
        ({"status": "bad_gold"}, [8, 9]),
        ({"min.part.tidy": "0.5", "max.part.tidy": "0.5"}, [7]),
        ({"min.reward": "2"}, [1, 2, 3]),
        ({"sort": "-reward"}, [2, 3, 1, 0, 6, 7, 4, 5, 8, 9]),
        ({"sort": "reward", "max.reward": "1"}, [4, 5, 0, 6, 7]),
        ({"kind": "date"}, []),
    ],
)
def test_filters_and_order(store, address, expected):
    assert found(store, address) == expected


def test_advantages_by_hand(store):
    # Rewards 1 and 2: mean 1.5, sample deviation sqrt(0.5).
    mixed = index_queries.index_row(store, store.table, 0)
    assert mixed["advantage"] == pytest.approx(-0.5 / 0.5**0.5)
    assert index_queries.index_row(store, store.table, 2)["advantage"] == 0
    assert index_queries.index_row(store, store.table, 8)["advantage"] is None


def test_groups_are_those_of_the_report(rows, store):
    counts = store.query("SELECT signal, count(DISTINCT g) AS groups FROM rows_head GROUP BY signal")
    report = make_report(rows)
    assert {row["signal"]: row["groups"] for row in counts} == {k: v for k, v in report.kinds.items() if v}


def test_long_names_of_groups_and_rows_differ_in_their_last_letters(row, write, index):
    long = "Let us think step by step. " * 20
    made = [row(p, c, c, group=long + f"g{p}", id=long + f"q{p}") for p in range(2) for c in range(2)]
    store = index(write(made))
    rows = index_queries.page(store, store.table, Selection())
    assert [row["size"] for row in rows] == [2] * 4
    assert len({row["id"] for row in rows}) == 2


def test_adjacent_rows_form_a_group_and_others_do_not(row, write, index):
    names = ["a", "a", "b", "a"]
    rows = [row(0, n, 1, group=name, id=str(n)) for n, name in enumerate(names)]
    store = index(write(rows))
    sizes = [row["size"] for row in store.query("SELECT DISTINCT g, size FROM rows_head ORDER BY g")]
    assert sizes == [len(list(group)) for _, group in groupby(names)]


@pytest.mark.parametrize(
    "address", [{}, {"sort": "-reward"}, {"sort": "part.tidy"}, {"verdict": "correct", "sort": "-advantage"}]
)
def test_neighbors_walk_through_the_selection_in_its_order(store, address):
    table, expected = store.table, found(store, address)
    selection = Selection.parse(address, table.parts)
    for place, n in enumerate(expected, start=1):
        before = expected[place - 2] if place > 1 else None
        after = expected[place] if place < len(expected) else None
        assert index_queries.neighbors(store, table, selection, n) == {"before": before, "after": after, "place": place}


def test_search_ignores_case_unless_it_has_a_capital(row, write, index):
    texts = ["An apple", "AN APPLE", 'apples and "quotes" %_\'', "pear"]
    rows = [row(n, 0, 1, text=text) for n, text in enumerate(texts)]
    store = index(write(rows))
    assert found(store, {"q": "apple"}) == [0, 1, 2]
    assert found(store, {"q": "APPLE"}) == [1]
    assert found(store, {"q": '"quotes" %_\''}) == [2]
    assert found(store, {"q": "%"}) == [2]
    assert found(store, {"q": "'; DROP TABLE rows_head; --"}) == []


def test_labels(row, write, index):
    table = [(1, True), (1, False), (0, True), (0, False), (None, True)]
    rows = [row(n, 0, verdict, label=label) for n, (verdict, label) in enumerate(table)]
    store = index(write(rows))
    assert found(store, {"label": "agrees"}) == [0, 3]
    assert found(store, {"label": "false positive"}) == [1]
    assert found(store, {"label": "false negative"}) == [2]


def test_rules(row, write, index):
    table = [(1, "number"), (0, "number"), (1, "same text"), (0, None), (0, ""), (None, "number")]
    rows = [row(n, 0, verdict) for n, (verdict, _) in enumerate(table)]
    for made, (_, rule) in zip(rows, table, strict=True):
        made["parts"]["accuracy"]["rule"] = rule
        made["parts"]["tidy"]["rule"] = "another part"
    store = index(write(rows))
    assert found(store, {"rule": "number"}) == [0, 1, 5]
    assert found(store, {"rule": "number", "verdict": "wrong"}) == [1]
    assert found(store, {"rule": "another part"}) == []
    counts = [
        index_queries.choices(store, store.table, Selection.parse(address, ()))["rule"]
        for address in ({}, {"verdict": "correct"}, {"verdict": "wrong", "rule": "same text"})
    ]
    assert counts == [{"number": 3, "same text": 1}, {"number": 1, "same text": 1}, {"number": 1}]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ({"sort": "n; DROP TABLE x"}, "is no number"),
        ({"sort": "rewrad"}, "did you mean 'reward'"),
        ({"min.part.tydy": "1"}, "did you mean 'part.tidy'"),
        ({"min.reward": "nan"}, "expected a number"),
        ({"min.reward": "1 OR 1"}, "expected a number"),
        ({"page": "0"}, "from 1"),
        ({"page": "9" * 100}, "from 1"),
        ({"signal": "mixde"}, "did you mean 'mixed'"),
        ({"color": "red"}, "is no filter"),
        ({"q": "x" * 301}, "at most 300"),
    ],
)
def test_bad_addresses_are_refused_in_one_line(store, address, message):
    with pytest.raises(UsageError, match=message) as error:
        Selection.parse(address, store.table.parts)
    assert "\n" not in str(error.value)


def test_an_address_round_trips():
    address = {
        "q": "a&b=c é",
        "signal": "mixed",
        "min.reward": "0.5",
        "max.part.x": "-1e-09",
        "sort": "-part.x",
        "page": "3",
        "start": "24",
    }
    selection = Selection.parse(address, ["x"])
    assert Selection.parse(dict(parse_qsl(selection.address(page=3, start=24))), ["x"]) == selection


def test_names_of_files_are_no_patterns(rows, index, tmp_path):
    """``a*b`` would also be ``axxb``, and ``?`` any letter."""
    for name in ("a*b.jsonl", "s[1]?.jsonl", "it's.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "axxb.jsonl").write_text("{}\n" * 5)
    for name in ("a*b.jsonl", "s[1]?.jsonl", "it's.jsonl"):
        table = index(tmp_path / name).table
        assert (table.rows, table.unreadable) == (len(rows), ())


def test_a_compressed_file_without_its_ending_is_refused_with_what_to_do(rows, index, tmp_path):
    path = tmp_path / "scores"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    with pytest.raises(UsageError, match=r"scores: no score row .* whose name ends in \.gz or \.zst"):
        index(path)
