"""Interrupted runs: whenever a run ends, each row is written once; and nothing is overwritten."""

import contextlib
import json
import os
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_env.errors import RunError, UsageError
from grpo_env.scoring import ScoreSummary, resume
from grpo_env.scoring.job import ChunkResult, Reject
from grpo_env.scoring.resume import OutputFile, ResumableOutput, StreamOutput

TASK = {"task": {"task": "sums", "verifiers": {"accuracy": {"weight": 2.0}}}, "inputs": {"a.jsonl": {"bytes": 7}}}


def chunk(number):
    """The output of a chunk with a good and a bad row."""
    reject = Reject("a.jsonl", number, "broken", None)
    return ChunkResult(f'{{"row": {number}}}\n'.encode(), (reject,), ScoreSummary(rows=2, bad_rows=1, completions=1))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def complete(out, count, identity=TASK, inputs=(), **options):
    """Continue until ``count`` chunks are done. Returns the summary, and how many chunks were done before."""
    with ResumableOutput(OutputFile(out, **options), identity, inputs) as output:
        earlier = output.chunks
        for number in range(earlier, count):
            output.add(chunk(number))
        output.finish()
    return output.summary, earlier


def leave(out, count, torn=b"", saved=True, identity=TASK):
    """Leave files like a run that was killed after ``count`` chunks, with or without having saved its state."""
    fail(out, count, identity)
    if not saved:
        out.with_name(f".{out.name}.part.json").unlink(missing_ok=True)
    for end in ("part", "rejects.part"):
        with out.with_name(f".{out.name}.{end}").open("ab") as file:
            file.write(torn)


def fail(out, count, identity=TASK):
    """Continue until ``count`` chunks are done, then end with an error."""
    output = ResumableOutput(OutputFile(out), identity).__enter__()
    for number in range(output.chunks, count):
        output.add(chunk(number))
    output.__exit__(OSError, OSError(), None)


@settings(max_examples=25)
@given(stops=st.lists(st.integers(0, 6), max_size=4), torn=st.binary(max_size=20), saved=st.booleans())
def test_no_row_is_lost_or_repeated_whenever_a_run_ends(tmp_path_factory, stops, torn, saved):
    folder = tmp_path_factory.mktemp("runs")
    expected, _ = complete(folder / "uninterrupted.jsonl", 7)
    for stop in stops:
        leave(folder / "out.jsonl", stop, torn, saved)
    summary, earlier = complete(folder / "out.jsonl", 7)
    assert earlier == (max(stops, default=0) if saved else 0)
    assert summary == expected
    files = contents(folder)
    assert files["out.jsonl"] == files["uninterrupted.jsonl"]
    assert files["out.rejects.jsonl"] == files["uninterrupted.rejects.jsonl"]
    assert len(files) == 4, "other files are left"


def test_an_error_keeps_finished_chunks_and_no_files_without_any(tmp_path):
    out = tmp_path / "out.jsonl"
    fail(out, 0)
    assert contents(tmp_path) == {}
    fail(out, 1)
    assert not out.exists()
    assert complete(out, 2)[1] == 1


class Full:
    """A file on a full disk, which writes only a part."""

    def __init__(self, file):
        self._file = file

    def write(self, data):
        self._file.write(data[:5])
        raise OSError("no space left")

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("which", [0, 1])
def test_a_partly_written_chunk_does_not_count(tmp_path, which):
    expected, _ = complete(tmp_path / "uninterrupted.jsonl", 3)
    output = ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK).__enter__()
    output.add(chunk(0))
    output._files[which] = Full(output._files[which])
    with pytest.raises(RunError, match="no space left"):
        output.add(chunk(1))
    output.__exit__(RunError, RunError(), None)
    assert complete(tmp_path / "out.jsonl", 3) == (expected, 1)
    files = contents(tmp_path)
    assert files["out.jsonl"] == files["uninterrupted.jsonl"]
    assert files["out.rejects.jsonl"] == files["uninterrupted.rejects.jsonl"]


@pytest.mark.parametrize("leftover", [".out.jsonl.part", ".out.jsonl.part.converted"])
def test_files_of_a_run_killed_after_it_finished_are_removed(tmp_path, leftover):
    out = tmp_path / "out.jsonl"
    leave(out, 2)
    (tmp_path / leftover).touch()
    out.hardlink_to(tmp_path / leftover)
    with pytest.raises(UsageError, match="already exists"):
        complete(out, 2)
    assert list(contents(tmp_path)) == ["out.jsonl"]


def test_an_output_is_overwritten_only_on_request_and_only_by_a_complete_one(tmp_path):
    out, rejects = tmp_path / "out.jsonl", tmp_path / "out.rejects.jsonl"
    complete(out, 1)
    before = contents(tmp_path)
    assert sorted(before) == ["out.jsonl", "out.rejects.jsonl"]
    with pytest.raises(UsageError, match="--overwrite"):
        ResumableOutput(OutputFile(out), TASK).__enter__()
    with contextlib.suppress(KeyboardInterrupt), ResumableOutput(OutputFile(out, overwrite=True), TASK) as output:
        output.add(chunk(0))
        raise KeyboardInterrupt
    assert {name: contents(tmp_path)[name] for name in before} == before
    with ResumableOutput(OutputFile(out, overwrite=True), TASK) as output:
        output.add(chunk(1))
        output.finish()
    assert contents(tmp_path)["out.jsonl"] == chunk(0).lines + chunk(1).lines
    with ResumableOutput(OutputFile(out, overwrite=True), TASK) as output:
        output.add(chunk(2)._replace(rejects=(), summary=ScoreSummary(rows=1, completions=1)))
        output.finish()
    assert contents(tmp_path) == {"out.jsonl": chunk(2).lines}
    assert not rejects.exists()


@pytest.mark.parametrize("name", ["out.jsonl", "out.rejects.jsonl"])
def test_a_link_to_nothing_is_refused_before_the_work(tmp_path, name):
    (tmp_path / name).symlink_to(tmp_path / "no/where")
    with pytest.raises(UsageError, match="already exists"), ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK):
        pytest.fail("opened")


@pytest.mark.parametrize("given", ["out.jsonl", "out.rejects.jsonl", "link"])
def test_an_input_is_never_overwritten(tmp_path, given):
    out = tmp_path / "out.jsonl"
    complete(out, 1)
    (tmp_path / "link").symlink_to("out.rejects.jsonl")
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="is an input"):
        complete(out, 1, overwrite=True, inputs=[tmp_path / given])
    assert contents(tmp_path) == before


def test_outputs_of_two_kinds_have_their_own_rejects(tmp_path):
    complete(tmp_path / "out.jsonl", 1)
    before = contents(tmp_path)
    with ResumableOutput(OutputFile(tmp_path / "out.parquet", overwrite=True), TASK) as output:
        output.add(chunk(1)._replace(rejects=(), summary=ScoreSummary(rows=1, completions=1)))
        output.finish()
    assert {name: contents(tmp_path)[name] for name in before} == before


def test_a_run_that_finishes_while_another_starts_keeps_its_output(tmp_path, monkeypatch):
    out = tmp_path / "out.jsonl"
    first = ResumableOutput(OutputFile(out, overwrite=True), TASK).__enter__()
    first.add(chunk(0))
    second = ResumableOutput(OutputFile(out, overwrite=True), TASK)
    lock, waiting = resume.lock, [True]

    def finish_first(*arguments):  # once the second has opened the unfinished files
        if waiting:
            waiting.clear()
            first.finish()
            first.__exit__(None, None, None)
        lock(*arguments)

    monkeypatch.setattr(resume, "lock", finish_first)
    with second:
        assert out.read_bytes() == chunk(0).lines
        second.add(chunk(1))
        second.finish()
    assert contents(tmp_path) == {"out.jsonl": chunk(1).lines, "out.rejects.jsonl": rejects_of_chunk(1)}


def rejects_of_chunk(number):
    return (json.dumps(chunk(number).rejects[0]._asdict()) + "\n").encode()


@pytest.mark.parametrize("killed_at", ["out.rejects.jsonl", "out.jsonl"])
def test_a_run_killed_between_its_two_files_is_finished_by_the_same_command(tmp_path, monkeypatch, killed_at):
    out = tmp_path / "out.jsonl"
    complete(out, 1)
    replace = os.replace

    def kill(part, name):
        if name.name == killed_at:
            raise SystemExit  # and nothing is cleaned up
        replace(part, name)

    killed = ResumableOutput(OutputFile(out, overwrite=True), TASK).__enter__()
    killed.add(chunk(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", kill)
        with pytest.raises(SystemExit):
            killed.finish()
    killed._open.close()
    complete(out, 1, overwrite=True)
    assert contents(tmp_path) == {"out.jsonl": chunk(1).lines, "out.rejects.jsonl": rejects_of_chunk(1)}


def test_nothing_is_left_where_nothing_was_scored(tmp_path):
    with ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK) as output:
        output.add(chunk(0)._replace(lines=b"", summary=ScoreSummary(rows=1, bad_rows=1)))
        assert output.finish() is None
    assert contents(tmp_path) == {}


def test_work_of_another_run_is_not_continued_and_the_error_says_what_differs(tmp_path):
    out = tmp_path / "out.jsonl"
    leave(out, 3)
    before = contents(tmp_path)
    other_task = json.loads(json.dumps(TASK))
    other_task["task"]["verifiers"]["accuracy"]["weight"] = 1.0
    other_task["inputs"]["b.jsonl"] = {"bytes": 9}
    with pytest.raises(UsageError) as error:
        ResumableOutput(OutputFile(out), other_task).__enter__()
    for part in (
        "task.verifiers.accuracy.weight was 2.0, is 1.0",
        'inputs.b.jsonl was nothing, is {"bytes": 9}',
        "--restart",
    ):
        assert part in str(error.value)
    assert contents(tmp_path) == before
    assert complete(out, 3, other_task, restart=True)[1] == 0


def test_only_one_run_writes_at_a_time(tmp_path):
    with ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK) as output:
        with pytest.raises(UsageError, match="another process is writing it"):
            ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK).__enter__()
        output.finish()


@pytest.mark.parametrize("name", ["out.jsonl", "out.rejects.jsonl"])
def test_nothing_is_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        complete(tmp_path / "out.jsonl", 1)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("name", ["out.jsonl", "out.rejects.jsonl"])
def test_a_file_created_in_the_meantime_is_not_overwritten_and_the_work_is_kept(tmp_path, name):
    output = ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK).__enter__()
    output.add(chunk(0))
    (tmp_path / name).write_text("theirs")
    with pytest.raises(UsageError, match="in the meantime"):
        output.finish()
    output.__exit__(UsageError, UsageError(), None)
    assert (tmp_path / name).read_text() == "theirs"
    (tmp_path / name).unlink()
    assert complete(tmp_path / "out.jsonl", 1)[1] == 1


def test_there_is_no_rejects_file_without_rejects(tmp_path):
    with ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK) as output:
        output.add(chunk(0)._replace(rejects=(), summary=ScoreSummary(rows=1, completions=1)))
        assert output.finish() is None
    assert contents(tmp_path) == {"out.jsonl": b'{"row": 0}\n'}


def test_work_on_standard_input_is_not_kept(tmp_path):
    fail(tmp_path / "out.jsonl", 1, identity=None)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("damage", [b"{", b"{}", b'{"chunks": 1}'])
def test_a_damaged_state_file_is_reported_and_restart_ignores_it(tmp_path, damage):
    out = tmp_path / "out.jsonl"
    leave(out, 2)
    (tmp_path / ".out.jsonl.part.json").write_bytes(damage)
    with pytest.raises(UsageError, match="--restart"):
        complete(out, 2)
    assert complete(out, 2, restart=True)[1] == 0


def test_missing_rows_are_noticed(tmp_path):
    leave(tmp_path / "out.jsonl", 2)
    (tmp_path / ".out.jsonl.part").write_bytes(b"")
    with pytest.raises(UsageError, match="has lost rows"):
        complete(tmp_path / "out.jsonl", 2)


@pytest.mark.parametrize("name", [".out.jsonl.part", ".out.jsonl.rejects.part"])
def test_a_planted_link_is_not_followed(tmp_path, name):
    (tmp_path / "precious").write_text("x")
    (tmp_path / name).symlink_to(tmp_path / "precious")
    with pytest.raises(RunError, match="cannot be written"), ResumableOutput(OutputFile(tmp_path / "out.jsonl"), TASK):
        pytest.fail("opened")
    assert (tmp_path / "precious").read_text() == "x"


def write_to_standard_output(lines):
    output = StreamOutput()
    output.add(chunk(0)._replace(lines=lines))
    output.finish()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full stands for a full disk")
@pytest.mark.parametrize("lines", [b"{}\n", b"{}\n" * 100_000])
def test_a_full_disk_behind_standard_output_is_an_error_of_one_line(monkeypatch, lines):
    """Few rows reach it only at the end."""
    with contextlib.suppress(OSError), open("/dev/full", "wb") as full:
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=full))
        with pytest.raises(RunError, match=r"^standard output: cannot be written \(No space left on device\)$"):
            write_to_standard_output(lines)
