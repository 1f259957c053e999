"""``kind: FILE.py:Class`` of accuracy: a kind of a task's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grpo_env.check import check
from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import load_task, make_task
from grpo_env.verifiers.accuracy import Accuracy

ROMAN = '''
class Roman:
    """Numerals of Rome up to 89."""

    def read(self, text):
        values = [{"I": 1, "V": 5, "X": 10, "L": 50}.get(letter.upper()) for letter in text.strip()]
        if not values or None in values:
            return None
        return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0]))

    def same(self, gold, answer):
        return gold == answer


class Strict(Roman):
    def read(self, text):
        if (value := super().read(text)) is None:
            raise KeyError(text)
        return value


class Half:
    def read(self, text):
        return text


def broken():
    raise RuntimeError("no")
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "roman.py").write_text(ROMAN)
    return tmp_path / "roman.py"


@pytest.mark.parametrize(
    ("gold", "answer", "value", "status"),
    [
        ("XIV", r"\boxed{xiv}", 1, "scored"),
        ("IV", "The answer is IIII.", 1, "scored"),
        ("XIV", "<answer>XVI</answer>", 0, "scored"),
        ("XIV", "<answer>14</answer>", 0, "scored"),  # which read refuses
        ("XIV", "<answer>XIV or XV</answer>", 0, "scored"),
        ("XIV", r"\boxed{XIV} \boxed{XV}", 0, "scored"),
        ("XIV", r"not \boxed{XIV}", 0, "scored"),
        ("XIV", "", 0, "no_answer"),
        ("Some work.\n#### XIV", "<answer>XIV</answer>", 1, "scored"),
        ("14", "<answer>14</answer>", None, "bad_gold"),
    ],
)
def test_verdicts(file: Path, gold: str, answer: str, value: float | None, status: str) -> None:
    score = Accuracy(kind=f"{file}:Roman")(Example("x", answer=gold), Completion(answer))
    assert (score.value, score.status) == (value, status), score
    assert score.rule == ("Roman" if value else "")
    assert (score.status == "bad_gold") == (
        Accuracy(kind=f"{file}:Roman").problem(Example("x", answer=gold)) is not None
    )


def test_a_gold_answer_on_which_read_raises_is_a_bad_one(file: Path) -> None:
    strict, bad = Accuracy(kind=f"{file}:Strict"), Example("x", answer="nine")
    assert strict(Example("x", answer="IX"), Completion("<answer>ix</answer>")).value == 1
    assert "Strict.read raised KeyError: 'nine'" in (strict.problem(bad) or "")
    assert strict(bad, Completion("<answer>IX</answer>")).status == "bad_gold"


def test_any_of_several_gold_answers(file: Path) -> None:
    example = Example("x", answer='["X", "XX"]')
    assert Accuracy(kind=f"{file}:Roman", golds="any")(example, Completion("<answer>VV</answer>")).value == 1
    with pytest.raises(UsageError, match="golds: all needs a kind of accuracy"):
        Accuracy(kind=f"{file}:Roman", golds="all")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Half", "has no method same"),
        ("Missing", "cannot be loaded"),
        ("broken", "cannot be loaded .RuntimeError: no"),
    ],
)
def test_a_class_that_is_no_kind_is_refused(file: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Accuracy(kind=f"{file}:{name}")


def test_a_task_names_its_file_relative_to_itself(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file.parent / "rows.jsonl").write_text(
        '{"q": "1+1", "a": "II"}\n{"q": "2+2", "a": "IV"}\n{"q": "3+3", "a": "6"}\n'
    )
    spec = {
        "version": 1,
        "task": "rome",
        "dataset": {"path": "rows.jsonl", "split": {"train": 1.0}, "answer": "{{ a }}", "bad_gold": "skip"},
        "prompt": {"user": "What is {{ q }}?"},
        "verifiers": {"accuracy": {"kind": "roman.py:Roman"}},
        "metric": "accuracy",
    }
    (file.parent / "rome.yaml").write_text(yaml.safe_dump(spec))
    task = load_task(file.parent / "rome.yaml")
    assert task.score("<answer>VI</answer>", answer="VI").value == 1
    assert len(task.examples("train")) == 2
    assert task.resolved()["verifiers"]["accuracy"]["kind"] == f"{file}:Roman"
    assert make_task(task.resolved(), "again", Path("/")).score("<answer>VI</answer>", answer="VI").value == 1
    assert not [finding for finding in check(task).findings if finding.severity == "error"]
    monkeypatch.setenv("GRPO_ENV_SAFE", "1")
    with pytest.raises(UsageError, match="not built in"):
        load_task(file.parent / "rome.yaml")
