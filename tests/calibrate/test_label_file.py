"""Labeling in a terminal: one key a row, resumed where it stopped, and nothing in the file is ever changed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grpo_env.calibrate.label_file import ask, is_label_file, read_labels
from grpo_env.errors import UsageError


def label_row(id: str, **changes: object) -> dict:
    row = {"id": id, "completion": 0, "problem": "1+1?", "text": f"It is {id}", "answer": id, "gold": "2"}
    row |= {"task": "t", "metric": "m", "kind": None, "explanation": "the same number"}
    return row | {"verdict": True, "stratum": "accepted", "stratum_size": 9, "label": None} | changes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(label_row(id)) + "\n" for id in "abcd"))
    return path


def labels(path: Path) -> list[object]:
    return [row["label"] for row in read_labels(path)]


def press(path: Path, keys: str) -> tuple[bool, list[str]]:
    """Whether ``ask`` finished, and what it showed."""
    pressed: Iterator[str] = iter(keys)
    shown: list[str] = []
    return ask(path, lambda: next(pressed, ""), shown.append), shown


def test_rows_with_one_id_are_told_apart_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(label_row("a", line=line)) + "\n" for line in (1, 2)))
    press(path, "yn")
    assert labels(path) == [True, False]


def test_ids_of_any_kind_tell_rows_apart(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(label_row("a") | {"id": id}) + "\n" for id in ([1], [2], {"a": 1})))
    press(path, "yny")
    assert labels(path) == [True, False, True]


def test_one_key_labels_a_row(file: Path) -> None:
    finished, shown = press(file, "ynsY")
    assert finished
    assert labels(file) == [True, False, "?", True]
    assert shown[0].splitlines() == [
        "──────────────────── 1 of 4",
        "problem", "    1+1?",
        "completion", "    It is a",
        "answer", "    a",
        "gold", "    2",
        "y: the answer is correct   n: it is wrong   s: cannot tell   u: undo   q: quit",
    ]  # fmt: skip
    assert "verdict" not in "".join(shown)


def test_other_keys_do_nothing_and_q_keeps_what_was_labeled(file: Path) -> None:
    finished, shown = press(file, "xu\n1yq")
    assert (finished, len(shown)) == (False, 2)
    assert labels(file) == [True, None, None, None]
    finished, shown = press(file, "nyn")
    assert finished
    assert shown[0].splitlines()[0].endswith("2 of 4")
    assert labels(file) == [True, False, True, False]
    assert press(file, "") == (True, [])


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError, None])
def test_nothing_is_lost_when_it_is_interrupted(file: Path, error: type[BaseException] | None) -> None:
    keys: Iterator[str] = iter("yn")

    def key() -> str:
        pressed = next(keys, "\x03")
        if pressed == "\x03" and error:
            raise error
        return pressed

    interrupted: Callable[[], str] = key
    assert not ask(file, interrupted, lambda text: None)
    assert labels(file) == [True, False, None, None]


def test_undo_asks_for_the_row_before_again(file: Path) -> None:
    finished, shown = press(file, "ynuuynuyyy")
    assert finished
    assert [text.splitlines()[0].split()[1] for text in shown] == ["1", "2", "3", "2", "1", "2", "3", "2", "3", "4"]
    assert labels(file) == [True] * 4


def test_the_file_is_only_ever_appended_to(file: Path) -> None:
    file.write_bytes(file.read_bytes().removesuffix(b"\n"))  # as some editors save it
    before = file.read_bytes()
    press(file, "yq")
    middle = file.read_bytes()
    assert middle == before + b'\n{"id":"a","completion":0,"label":true}\n'
    press(file, "n")
    assert file.read_bytes().startswith(middle)
    assert labels(file) == [True, False, None, None]


@pytest.mark.parametrize("name", ["labels.json", "labels.jsonl.gz"])
def test_answers_are_appended_to_lines_of_json_only(file: Path, tmp_path: Path, name: str) -> None:
    other = tmp_path / name
    content = json.dumps([label_row(id) for id in "ab"]).encode() if name.endswith(".json") else file.read_bytes()
    other.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    before = other.read_bytes()
    with pytest.raises(UsageError, match=f"{name}: answers are appended as lines, which .* ends in .jsonl"):
        press(other, "y")
    assert other.read_bytes() == before


def test_labels_set_in_an_editor(file: Path) -> None:
    values = (True, False, "?", 1)
    file.write_text(
        "".join(json.dumps(label_row(id, label=label)) + "\n" for id, label in zip("abcd", values, strict=True))
    )
    assert labels(file) == [True, False, "?", True]


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(label_row("a", text="x\x1b[2Jy\nz\u202e", answer=None)) + "\n")
    (question,) = press(path, "y")[1]
    assert "    x\\x1b[2Jy\n    z\\u202e\n" in question
    assert "answer\n" not in question


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 5: not valid JSON"),
        ('{"id": "z", "completion": 0, "label": true}', "line 5: is neither a row to be labeled nor a label"),
        (json.dumps(label_row("a")), "line 5: the same completion as above"),
        ('{"id": "a", "completion": 0, "label": "yes"}', 'line 5: "label" must be true'),
        ('{"id": "a", "completion": 0, "label": 2}', 'line 5: "label" must be true'),
        (json.dumps(label_row("z", verdict="accepted")), 'line 5: "verdict" must be true or false'),
        (json.dumps(label_row("z", stratum_size="9")), 'line 5: "stratum_size" must be a whole number'),
        (
            json.dumps({key: value for key, value in label_row("z").items() if key != "explanation"}),
            'line 5: "explanation" is missing; it must be a text',
        ),
    ],
)
def test_lines_that_are_not_labels(file: Path, line: str, message: str) -> None:
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(UsageError) as caught:
        read_labels(file)
    assert message in str(caught.value)


def test_a_file_of_labels_is_recognized(file: Path, tmp_path: Path) -> None:
    assert is_label_file(file)
    (tmp_path / "other.jsonl").write_text('{"id": "a", "completion": "text", "label": true}\n')
    assert not is_label_file(tmp_path / "other.jsonl")
