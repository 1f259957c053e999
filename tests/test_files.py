"""Files in: every kind gives the same rows, and a bad row is reported by its line."""

import csv
import json

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_env.errors import UsageError
from grpo_env.files import dump_line, read_records

ROWS = [{"question": "2+3?", "answer": "5"}, {"question": 'a "quoted",\nline', "answer": "é ½"}]


def write(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_every_kind_of_file_gives_the_same_rows(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    write(path, ROWS)
    records = list(read_records(path))
    assert [record.row for record in records] == ROWS
    assert not any(record.problem for record in records)


def test_bad_lines_are_reported_by_number_and_the_rest_is_read(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n\nnot json\n[1]\n\xff\xfe\n' + b"[" * 100_000 + b'\n{"a": 2}')
    records = list(read_records(path))
    assert [record.line for record in records] == [1, 3, 4, 5, 6, 7]
    assert [record.row for record in records] == [{"a": 1}, None, None, None, None, {"a": 2}]
    assert "not valid JSON" in records[1].problem
    assert "found list" in records[2].problem


def test_a_csv_row_with_too_few_or_too_many_cells_is_a_bad_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n1\n1,2,3\n4,5\n")
    records = list(read_records(path))
    assert [record.row for record in records] == [{"a": "1", "b": "2"}, None, None, {"a": "4", "b": "5"}]
    assert records[1].problem == "expected 2 columns, found 1"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.txt", b"some text", "unknown kind of file"),
        ("x.json", b"{", "not valid JSON"),
        ("x.json", b"{\n}", "expected a JSON list"),
        ("x.parquet", b"no", "not a valid Parquet file"),
        ("x.csv", b"a,\xff\n1,1\n", "not valid UTF-8"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_a_usage_error(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=reason) as caught:
        list(read_records(path))
    assert str(path) in str(caught.value)


def test_a_missing_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_records(tmp_path / "absent.jsonl"))


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_survives_a_line_of_jsonl(text):
    line = dump_line({"text": text})
    assert line.count("\n") == 1
    assert json.loads(line.encode().decode())["text"] == text
