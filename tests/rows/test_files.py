"""Reading files: every file type gives the same rows, and a bad row is reported by its line."""

import csv
import datetime
import gzip
import io
import json
import math
import os
import sys
import threading
import tracemalloc
import zipfile
import zlib
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.errors import UsageError
from grpo_env.rows import reader
from grpo_env.rows.column_names import ANSWER, QUESTION, guess
from grpo_env.rows.compression import STDIN, folder_problem
from grpo_env.rows.jsonl import dump_line, dump_record
from grpo_env.rows.reader import Line, parse, read_lines, read_records

ROWS = [{"question": "2+3?", "answer": "5"}, {"question": 'a "quoted",\nline', "answer": "é ½"}]
KINDS = ["jsonl", "json", "csv", "parquet"]
values = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[]))
rows = st.lists(st.dictionaries(st.text(), values | st.lists(values)), min_size=1)


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


def zst(data):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def read_from_pipe(data, monkeypatch):
    """The records read from standard input, a real pipe that delivers the data in small blocks."""
    reader, writer = os.pipe()

    def feed():
        with open(writer, "wb", buffering=0) as pipe:
            for start in range(0, len(data), 5000):
                pipe.write(data[start : start + 5000])

    thread = threading.Thread(target=feed)
    with open(reader, encoding="ascii") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", pipe)
        thread.start()
        records = list(read_records(STDIN))
    thread.join()
    return records


@pytest.mark.parametrize("suffix", KINDS)
def test_every_kind_of_file_gives_the_same_rows(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"rows.{suffix}"
    write(path, ROWS)
    records = list(read_records(path))
    assert [record.row for record in records] == ROWS
    assert not any(record.problem for record in records)

    data = path.read_bytes()
    for name, content in (
        (f"rows.{suffix}.gz", gzip.compress(data)),
        (f"rows.{suffix}.zst", zst(data)),
        ("rows", data),
    ):
        (tmp_path / name).write_bytes(content)
        assert list(read_records(tmp_path / name)) == records
        assert read_from_pipe(content, monkeypatch) == records


@settings(max_examples=25)
@given(rows)
def test_jsonl_is_the_same_plain_compressed_and_through_standard_input(tmp_path_factory, rows):
    folder = tmp_path_factory.getbasetemp()
    data = "".join(map(dump_line, rows)).encode()
    half = data.find(b"\n", len(data) // 2) + 1
    expected = [(number, row, "") for number, row in enumerate(rows, start=1)]
    members = gzip.compress(data[:half]) + gzip.compress(data[half:])  # as `cat a.gz b.gz` makes them
    for content in (
        data,
        data.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + data,
        members,
        zst(data),
        zst(data[:half]) + zst(data[half:]),
    ):
        (folder / "rows.jsonl").write_bytes(content)
        assert [record[:3] for record in read_records(folder / "rows.jsonl")] == expected
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
            assert [record[:3] for record in read_records(STDIN)] == expected


def test_lines_can_be_parsed_later(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n\n[2]\n')
    assert list(read_lines(path)) == [Line(1, b'{"a": 1}\n'), Line(3, b"[2]\n")]
    assert list(map(parse, read_lines(path))) == list(read_records(path))


HARD = [  # a line of JSONL, and its row or a part of the problem
    (b'\xef\xbb\xbf{"a": 1}\r', {"a": 1}),
    (b"not json", "not valid JSON (Expecting value"),
    (b"[1]", "expected a JSON object, found list"),
    (b'"a"', "found str"),
    (b"null", "found NoneType"),
    (b'{"a": "\xff\xfe"}', "not valid UTF-8 (invalid start byte at byte 8 of the line)"),
    (b'{"a": "\xed\xa0\x80"}', "not valid UTF-8"),
    (b'{"a": "\\ud800"}', {"a": "\ud800"}),
    (b'{"a": "\\u0000\x7f"}', {"a": "\x00\x7f"}),
    (b'{"a": "\x00"}', "not valid JSON (Invalid control character"),
    (b"\x00" * 4096, "not valid JSON"),
    (b"[" * 100_000, "not valid JSON (maximum recursion depth"),
    (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not valid JSON (maximum recursion depth"),
    (b'{"a": ' + b"9" * 4000 + b"}", {"a": 10**4000 - 1}),
    (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON (Exceeds the limit (4300 digits) for integer string conversion)"),
    (b'{"a": 1e999, "b": -Infinity}', {"a": float("inf"), "b": float("-inf")}),
    (b'{"a": 1, "a": 2}', {"a": 2}),
    (b'{"a": 1} {"a": 2}', "not valid JSON (Extra data"),
    (b'{"a": 1,}', "not valid JSON"),
    ('{"a": "\u2028\u0085"}'.encode(), {"a": "\u2028\u0085"}),
]


def test_each_unusual_line_is_a_row_or_a_problem(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n \t\n".join(line for line, _ in HARD) + b"\n")
    records = list(read_records(path))
    assert [record.line for record in records] == list(range(1, 2 * len(HARD), 2))
    for record, (_, expected) in zip(records, HARD, strict=True):
        if isinstance(expected, dict):
            assert record.row == expected
        else:
            assert record.row is None
            assert expected in record.problem
            assert len(record.problem) < 200


def test_nan_is_accepted(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"score": float("nan")}))
    (record,) = read_records(tmp_path / "x.jsonl")
    assert record.row["score"] != record.row["score"]


def test_a_truncated_last_line_is_reported_as_such(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": "2')
    first, last = read_records(path)
    assert first.row == {"a": 1}
    assert (last.line, last.row) == (2, None)
    assert "was it cut off?" in last.problem
    path.write_bytes(b'{"a": 1}\n{"a": 2}')
    assert [record.row for record in read_records(path)] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("compress", "damage"),
    [
        (gzip.compress, "cut"),
        (gzip.compress, "followed by garbage"),
        (gzip.compress, "broken"),
        (zst, "cut"),
        (zst, "followed by garbage"),  # a broken frame is only detected by its checksum, which pyarrow does not write
    ],
)
def test_damaged_compression_keeps_the_rows_before_it(tmp_path, compress, damage):
    rows = [{"id": index, "text": os.urandom(40).hex()} for index in range(3000)]
    data = compress("".join(map(dump_line, rows)).encode())
    half = len(data) // 2
    content = {
        "cut": data[:half],
        "followed by garbage": data + b"garbage",
        "broken": data[:half] + bytes(200) + data[half + 200 :],
    }[damage]
    (tmp_path / "rows.jsonl").write_bytes(content)
    *good, last = read_records(tmp_path / "rows.jsonl")
    good = [
        record for record in good if record.row is not None
    ]  # broken gzip yields some garbage before it is detected
    if damage == "cut" and compress is gzip.compress:
        assert len(good) == zlib.decompressobj(wbits=31).decompress(content).count(b"\n")
    # A Zstandard block has up to 128 KiB and is read as a whole or not at all.
    least = 2900 if damage == "followed by garbage" else 1000
    assert len(good) > least
    assert [record.row for record in good[:1000]] == rows[:1000]
    assert last.row is None
    assert "the compressed data ends early or is damaged" in last.problem
    assert "nothing after this line can be read" in last.problem


@pytest.mark.parametrize("tail", [b"", b"xx"])
def test_damage_in_the_first_block_keeps_the_rows_before_it(tmp_path, tail):
    data = gzip.compress(b'{"a": 1}\n{"a": 2}\n')
    (tmp_path / "rows.jsonl").write_bytes(data + tail if tail else data[:-8])  # gzip ends with a checksum and a length
    *good, last = read_records(tmp_path / "rows.jsonl")
    assert [tuple(record)[:3] for record in good] == [(1, {"a": 1}, ""), (2, {"a": 2}, "")]
    assert (last.line, last.row) == (3, None)


def test_a_line_that_is_too_long_is_a_problem_and_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "LONGEST", 1 << 18)
    bomb = b'{"a": 1}\n{"a": "' + b"x" * (1 << 24) + b'"}\n{"a": 2}\n'
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(bomb, 1))
    del bomb
    tracemalloc.start()
    records = list(read_records(tmp_path / "bomb.jsonl.gz"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [record.line for record in records] == [1, 2, 3]
    assert records[1].problem == "the line is longer than 0.25 MiB"
    assert [bool(record.row) for record in records] == [True, False, True]
    assert peak < 4 << 20


@pytest.mark.parametrize(
    "tail", ['{"a": 2} {"a": 3}]', '{"a": 2', "nonsense, 1]", '{"a": 2}] {}', '{"a": 2},]', "[" * 100_000]
)
def test_a_json_list_that_is_none_is_refused(tmp_path, tail):
    (tmp_path / "rows.json").write_text('[{"a": 1}, ' + tail)
    with pytest.raises(UsageError, match=r"rows.json: not valid JSON \("):
        list(read_records(tmp_path / "rows.json"))


def test_what_is_no_object_in_a_json_list_is_a_problem(tmp_path):
    (tmp_path / "rows.json").write_text('\n [{"a": 1}, 2, {"a": 3}] \n')
    assert [(record.row, record.problem) for record in read_records(tmp_path / "rows.json")] == [
        ({"a": 1}, ""),
        (None, "expected a JSON object, found int"),
        ({"a": 3}, ""),
    ]


def test_a_json_file_with_one_object_per_line_is_read_as_jsonl(tmp_path):
    for rows in ([{"a": 1}, {"a": 2}], [{"a": "x" * 100_000}, {"a": 2}]):
        (tmp_path / "rows.json").write_text("".join(map(dump_line, rows)))
        assert [record.row for record in read_records(tmp_path / "rows.json")] == rows


def test_bad_rows_of_csv_are_reported_by_their_first_line(tmp_path):
    path = tmp_path / "rows.csv"
    long = b"x" * 200_000  # more than the csv module takes by itself
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"2\n2"\n1\n\n1,2,3\n\xff,1\n4,' + long + b'\n1,"2"3\n\x00,6\n"7,8\n9,10\n')
    records = list(read_records(path))
    good = [(record.line, record.row) for record in records if record.row]
    assert good == [(2, {"a": "1", "b": "2\n2"}), (8, {"a": "4", "b": long.decode()}), (10, {"a": "\x00", "b": "6"})]
    torn = "; lines 11 to 12 are one row because of a quote: is it closed, or doubled?"
    assert [(record.line, record.problem) for record in records if not record.row] == [
        (4, "expected 2 columns, found 1"),
        (6, "expected 2 columns, found 3"),
        (7, "not valid UTF-8; save it as UTF-8"),
        (9, "not valid CSV (',' expected after '\"')"),
        (11, f"not valid CSV (unexpected end of data){torn}"),
    ]


def test_parquet_that_is_not_utf8_ends_with_a_problem(tmp_path):
    binary = pyarrow.array([*[b"one"] * 300, b"\xff"])
    text = pyarrow.Array.from_buffers(pyarrow.string(), 301, binary.buffers())
    pyarrow.parquet.write_table(pyarrow.table({"a": text}), tmp_path / "rows.parquet")
    *good, last = read_records(tmp_path / "rows.parquet")
    assert [record.row for record in good] == [{"a": "one"}] * 256  # a batch
    assert last.place == "row 257 (from 1)"
    assert "can't decode byte 0xff" in last.problem


def test_numbers_of_32_bits_are_what_was_written(tmp_path):
    table = pyarrow.table({"a": pyarrow.array([0.1, 19.99, None, 1e-30], pyarrow.float32()), "b": [0.1, 0.2, 0.3, 0.4]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    rows = [record.row for record in read_records(tmp_path / "rows.parquet")]
    assert rows == [{"a": a, "b": b} for a, b in zip([0.1, 19.99, None, 1e-30], [0.1, 0.2, 0.3, 0.4], strict=True)]


def test_a_broken_parquet_page_ends_the_file_with_a_problem(tmp_path):
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"a": [os.urandom(50).hex() for _ in range(2000)]})
    pyarrow.parquet.write_table(table, path, row_group_size=500)
    data = path.read_bytes()
    start = pyarrow.parquet.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    path.write_bytes(data[: start - 20] + bytes(200) + data[start + 180 :])
    *good, last = read_records(path)
    assert [record.row["a"] for record in good] == table["a"].to_pylist()[: len(good)]
    assert len(good) >= 768
    assert "not valid Parquet" in last.problem
    assert last.line == len(good) + 1


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.txt", b"some text", "unknown file type"),
        ("x.txt", b"\n", "is empty"),
        ("x", b"\x89PNG\r\n", "unknown file type"),
        ("x.json", b"{", "not valid JSON"),
        ("x.json", b'{\n"a": 1', "expected a list of objects"),
        ("x.parquet", b"no", "not a valid Parquet file"),
        ("x.parquet", b"PAR1 cut off", "not a valid Parquet file"),
        ("x.parquet", gzip.compress(os.urandom(99))[:-20], "ends early or is damaged"),
        ("x.csv", b"a,\xff\n1,2\n", "line 1: not valid UTF-8"),
        ("x.csv", b"a,a\n1,2\n", "two columns have the same name"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_a_usage_error(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=reason) as caught:
        list(read_records(path))
    assert str(path) in str(caught.value)


def test_a_misspelled_file_is_told_the_one_beside_it(tmp_path):
    (tmp_path / "completions.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"complitions.jsonl: no such file; did you mean '.*completions.jsonl'\?"):
        list(read_records(tmp_path / "complitions.jsonl"))


def test_a_missing_file_and_a_folder_are_usage_errors(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(UsageError, match=r"no such file|is a folder"):
            list(read_records(path))


@pytest.mark.skipif(sys.platform != "linux", reason="a file that opens but cannot be read")
def test_a_file_that_opens_but_cannot_be_read_is_a_usage_error():
    with pytest.raises(UsageError, match=r"/proc/self/mem: cannot be read \(Input/output error\)"):
        list(read_records(Path("/proc/self/mem")))


def test_standard_input_is_named_in_errors(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
    with pytest.raises(UsageError, match="standard input: is empty"):
        list(read_records(STDIN))


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_round_trips_through_a_line_of_jsonl(text):
    line = dump_line({"text": text})
    assert line.count("\n") == 1
    assert json.loads(line.encode().decode())["text"] == text


def test_a_record_that_is_not_json_can_still_be_written(tmp_path):
    row = {"when": datetime.date(2026, 1, 2), "score": float("nan"), "text": "\ud800", "n": Decimal("1.5")}
    (tmp_path / "rows.jsonl").write_text(dump_record(row))
    (record,) = read_records(tmp_path / "rows.jsonl")
    assert math.isnan(record.row.pop("score"))
    assert record.row == {"when": "2026-01-02", "text": "\ud800", "n": "1.5"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_line({"score": float("nan")})


def test_a_folder_given_as_a_file_names_its_newest_file(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    for step in (1, 2):
        (tmp_path / "samples" / f"step-{step:06}.parquet").touch()
    assert str(tmp_path / "samples" / "step-000002.parquet") in folder_problem(tmp_path)
    assert folder_problem(tmp_path / "samples").endswith("step-000002.parquet")
    (tmp_path / "empty").mkdir()
    assert folder_problem(tmp_path / "empty") == "is a folder, not a file"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("german.csv", "Frage;Lösung\r\n2,5 + 1;3,5\r\n"),
        ("tabs.tsv", "Frage\tLösung\r\n2,5 + 1\t3,5\r\n"),
        ("tabs.csv", "Frage\tLösung\r\n2,5 + 1\t3,5\r\n"),
        ("plain.txt", '"Frage"\tLösung\n2,5 + 1\t3,5\n'),
        ("quoted.csv", '"Frage";"Lösung"\n"2,5 + 1";"3,5"\n'),
        ("commas.csv", 'Frage,Lösung\n"2,5 + 1","3,5"\n'),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_tables_of_spreadsheets(tmp_path, name, text, encoding):
    data = text.encode(encoding)
    for path, content in ((tmp_path / name, data), (tmp_path / f"{name}.gz", gzip.compress(data))):
        path.write_bytes(content)
        assert [(record.line, record.row) for record in read_records(path)] == [
            (2, {"Frage": "2,5 + 1", "Lösung": "3,5"})
        ]


def test_a_semicolon_in_a_quoted_name_separates_nothing(tmp_path):
    (tmp_path / "rows.csv").write_text('"a;b;c",d\n1,2\n')
    assert [record.row for record in read_records(tmp_path / "rows.csv")] == [{"a;b;c": "1", "d": "2"}]


def test_a_folder_of_numbered_parts_is_read_in_order(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    for part in (1, 0):
        (folder / f"part-{part}.csv").write_text(f"a\n{part}\n\n")
    (folder / "README.md").write_text("what it is")
    records = list(read_records(folder))
    assert [(record.place, record.row) for record in records] == [
        ("part-0.csv, line 2", {"a": "0"}),
        ("part-1.csv, line 2", {"a": "1"}),
    ]
    (folder / "notes.csv").write_text("a\n3\n")
    with pytest.raises(UsageError, match="is a folder, not a file"):
        list(read_records(folder))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("document", "rows"),
    [
        ({"canary": "x", "examples": ROWS}, ROWS),  # BIG-Bench-Hard
        ({"keywords": "2023", "example": ROWS}, ROWS),  # GAOKAO-Bench
        ({"Categories": [{"name": "math"}], "Instances": ROWS, "Metadata": [{"a": 1}]}, ROWS),  # MathQA
        ({"version": 2, "eval": {"task": "t"}, "samples": ROWS, "reductions": [{"scorer": "s"}]}, ROWS),  # Inspect
        ({"data": [*ROWS, 1]}, [*ROWS, None]),
        ({"8": ROWS[0], "12": {"id": "own", **ROWS[1]}}, [{"id": "8", **ROWS[0]}, {"id": "own", **ROWS[1]}]),  # TabMWP
        # Each is a row itself: a problem of MATH, a conversation, a request with its response, completions.
        *(
            (row, [row])
            for row in (
                {"problem": "2+2?", "level": "Level 1", "solution": "4"},
                {"messages": [{"role": "user", "content": "2+2?"}]},
                {"responses_create_params": {"model": "m"}, "response": {"model": "m"}},
                {"question": "2+2?", "samples": ["4", "5"], "data": []},
                {"0": {"a": 1}, "info": {"b": 2}},
                {"0": ["a"]},
                {},
            )
        ),
    ],
)
def test_the_rows_in_one_json_object(tmp_path, document, rows, indent):
    path = tmp_path / "rows.json"
    for text in (json.dumps(document, indent=indent), f"\ufeff\n{json.dumps(document, indent=indent)}\n\n"):
        path.write_text(text)
        records = list(read_records(path))
        assert [record.row for record in records] == rows
        assert [record.line for record in records][1:] == list(range(2, len(rows) + 1))
    path.with_suffix(".jsonl").write_text(json.dumps(document))  # a line is a row
    assert [record.row for record in read_records(path.with_suffix(".jsonl"))] == [document]


def zip_of(path, files, method=zipfile.ZIP_DEFLATED):
    """A zip file; with method 93, Zstandard, as Inspect writes it, by hand (Python knows it from 3.14 on)."""
    with zipfile.ZipFile(path, "w", 0 if method == 93 else method) as archive:
        for name, data in files.items():
            archive.writestr(name, zst(data) if method == 93 else data)
            if method == 93:
                entry = archive.filelist[-1]
                entry.compress_type, entry.file_size, entry.CRC = method, len(data), zlib.crc32(data)
    return path


LINES = b'{"a": 1}\nbroken\n{"a": 2}\n'
OF_LINES = [(1, {"a": 1}), (2, None), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("files", "rows"),
    [
        ({"data/": b"", "data/rows.jsonl": LINES, "README.md": b"x", "__MACOSX/data/._rows.jsonl": b"\0"}, OF_LINES),
        ({"rows.jsonl.gz": gzip.compress(LINES)}, OF_LINES),
        ({"part-1.csv": b"a\n3\n", "part-0.csv": b"a\n1\n2\n"}, [(1, {"a": "1"}), (2, {"a": "2"}), (3, {"a": "3"})]),
        (
            {
                "header.json": b'{"version": 2}',
                "samples/x_epoch_1.json": b'{"id": "x"}',
                "samples/a b_epoch_1.json": b"{}",
            },
            [(1, {}), (2, {"id": "x"})],
        ),
        ({"rows.json": b'{"data": [{"a": 1}]}'}, [(1, {"a": 1})]),
    ],
)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_rows_in_a_zip_file(tmp_path, files, rows, method, monkeypatch):
    path = zip_of(tmp_path / "rows.zip", files, method)
    records = list(read_records(path))
    assert [(record.line, record.row) for record in records] == rows
    assert read_from_pipe(path.read_bytes(), monkeypatch) == records
    assert records[0].place.endswith(", row 1 (from 1)")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"train.csv": b"a\n1\n", "test.csv": b"a\n1\n"}, "holds train.csv, test.csv; expected one table of rows"),
        ({"sheet1.xml": b"<x/>"}, "holds no file that ends in .jsonl"),
        ({"rows.json": b"{"}, r"rows.zip, rows.json: not valid JSON rows"),
    ],
)
def test_a_zip_file_without_one_table_is_a_usage_error(tmp_path, files, reason):
    with pytest.raises(UsageError, match=reason):
        list(read_records(zip_of(tmp_path / "rows.zip", files)))


def test_damaged_zip_files(tmp_path):
    path = zip_of(tmp_path / "rows.zip", {"rows.jsonl": dump_line({"a": os.urandom(5000).hex()}).encode() * 20})
    data = path.read_bytes()
    path.write_bytes(data[:3000] + b"\0" * 50 + data[3050:])
    assert "damaged" in list(read_records(path))[-1].problem
    path.write_bytes(data[:3000])
    with pytest.raises(UsageError, match="not a valid zip file"):
        list(read_records(path))
    path.write_bytes(
        data[:6]
        + b"\x01"
        + data[7:-200]
        + data[-200:].replace(b"PK\x01\x02\x14\x03\x14\0\0", b"PK\x01\x02\x14\x03\x14\0\1")
    )
    with pytest.raises(UsageError, match=r"cannot be read .*encrypted"):
        list(read_records(path))


@pytest.mark.parametrize(
    ("names", "words", "found"),
    [
        (["id", "Frage", "Lösung"], QUESTION, "Frage"),
        (["id", "Frage", "Lösung"], ANSWER, "Lösung"),
        (["Question", "Réponse"], ANSWER, "Réponse"),
        (["pregunta", "respuesta_correcta"], ANSWER, "respuesta_correcta"),
        (["编号", "问题", "答案"], QUESTION, "问题"),
        (["编号", "问题", "答案"], ANSWER, "答案"),
        (["question", "options", "correct"], ANSWER, "correct"),
        (["question", "is_correct"], ANSWER, None),
        (["goldAnswer2"], ANSWER, "goldAnswer2"),
    ],
)
def test_columns_are_guessed_by_their_names(names, words, found):
    assert guess(names, words) == found
