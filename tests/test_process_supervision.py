"""The process supervision study: its problems, statistics and data; and the data of a process reward model."""

from __future__ import annotations

import importlib.util
import json
import random
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from grpo_env import load_task, registry
from grpo_env.core import Completion, Example, Format
from grpo_env.docgen.cases import failed_cases
from grpo_env.scoring import OutputFile, score_files
from grpo_env.taskfile.task import make_task
from grpo_env.tasks.arithmetic import problems
from grpo_env.trainer.config import TrainConfig
from grpo_env.trainer.reward_models.learned import learned_part

ROOT = Path(__file__).parent.parent
STUDY = ROOT / "benchmarks/process_supervision"
LOSING = ("loses", "sells", "drops", "gives")


def script(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script as a module, forgotten after the test, and so are the verifiers that it registers."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("chains", "figures", "bases", "labels", "costs"):
        script(STUDY / f"{name}.py", monkeypatch)
    return script(STUDY / "study.py", monkeypatch)


def test_all_modes_of_the_study_load(study: ModuleType, tmp_path: Path) -> None:
    for name, setup in study.SETUPS.items():
        for mode, what in setup.modes.items():
            task = load_task(setup.name, study.overrides(study.Cell(name, mode, 0), tmp_path))
            settings = {**study.COMMON, **setup.settings, **what.settings}
            config = TrainConfig.from_mapping(settings, f"{name}/{mode}", defaults=task.defaults)
            learned = learned_part(task, config.reward_model)
            assert (learned is not None) == (config.reward_model.every > 0), mode
            assert ("prm" in task.spec.verifiers) == mode.startswith("PRM"), mode
            assert len(task.examples("train")) >= config.steps * config.prompts_per_step, mode


def test_unlabelled_modes_reward_no_rule_for_steps(study: ModuleType, tmp_path: Path) -> None:
    """What is left of the reward of steps are the reward model, and accuracy and format as the last step."""
    for mode, what in study.UNLABELLED.items():
        verifiers = load_task("arithmetic", study.overrides(study.Cell("unlabelled", mode, 0), tmp_path)).spec.verifiers
        weights = {name: part.weight if part.process is None else part.process for name, part in verifiers.items()}
        steps = {name for name, weight in weights.items() if weight}
        if mode.startswith("PRM alone"):
            assert steps == {"prm"}
            assert {name for name, verifier in verifiers.items() if verifier.weight} <= {"prm", "equations"}
        elif mode.startswith("PRM"):
            assert steps == {"prm", "accuracy", "strict_format"}
        elif "step_values.rollouts" in what.settings:
            assert steps == {"accuracy", "strict_format"}


def test_each_line_has_the_verdict_of_its_completion(study: ModuleType) -> None:
    assert list(failed_cases("own_verdict")) == []
    text = "<think>\n1+1=3\n3-1=2\n</think>\n<answer>2</answer>"
    for gold, value in (("2", 1.0), ("3", 0.0)):
        score = sys.modules["labels"].OwnVerdict(Format(reasoning="think", answer="answer"))(
            Example("x", answer=gold), Completion(text)
        )
        assert [(text[step.start : step.end], step.value) for step in score.steps] == [
            ("1+1=3", value),
            ("3-1=2", value),
        ]


def test_costs_count_continuations_labels_and_the_training_of_reward_models(study: ModuleType) -> None:
    costs = sys.modules["costs"]
    step = {"kind": "train", "accuracy": 0.5, "uniform_groups": 0.5, "tokens": 10}
    plain = {**step, "sample_seconds": 1.0, "update_seconds": 1.0}
    values = {**plain, "value_tokens": 20, "value_seconds": 4.0, "sample_seconds": 5.0}
    model = {**plain, "parts/prm": 0.5}
    trained = {**model, "reward_model/completions": 4, "reward_model/seconds": 2.0}
    modes = {"plain": {0: [plain, plain]}, "values": {0: [values, values]}, "model": {0: [model, trained]}}
    assert costs.costs(modes, costs.Cost(100, 7.0)) == {
        "plain": {0: [(10, 2.0), (20, 4.0)]},
        "values": {0: [(30, 6.0), (60, 12.0)]},
        "model": {0: [(110, 9.0), (120, 13.0)]},
    }


def test_the_cases_of_useless_equations_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    script(STUDY / "chains.py", monkeypatch)
    assert list(failed_cases("written_equations")) == []


def test_equations_of_long_problems_follow_from_their_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    bases = script(STUDY / "bases.py", monkeypatch)
    counts = set()
    for row in problems("train", 200, 3, bases.LONG):
        amounts = re.findall(r"(\w+) (\d+)", row["question"])
        total = int(amounts[0][1])
        for (verb, number), equation in zip(amounts[1:], row["equations"], strict=True):
            after = total - int(number) if verb in LOSING else total + int(number)
            assert equation == f"{total}{'-' if verb in LOSING else '+'}{number}={after}"
            total = after
        assert row["answer"] == str(total)
        counts.add(len(row["equations"]))
    assert counts == {3, 4, 5, 6}


def test_the_padding_teacher_adds_one_true_line_to_a_quarter_of_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    bases = script(STUDY / "bases.py", monkeypatch)
    plain, padded = random.Random(5), random.Random(5)
    more = 0
    for row in problems("train", 400, 0):
        state = padded.getstate()
        text = bases.padding_teacher(row, padded)
        plain.setstate(state)
        without = bases.careless_teacher(row, plain)
        added = list(text.split("\n"))
        for line in without.split("\n"):
            added.remove(line)
        assert len(added) <= 1
        for line in added:
            first, second, total = map(int, re.split(r"[+=]", line))
            assert first + second == total
        more += len(added)
    assert 0.18 < more / 400 < 0.32  # 4.6 standard deviations at least


def test_the_interval_is_a_student_t_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = script(STUDY / "figures.py", monkeypatch)
    # Deviation sqrt(2.5), half width 2.776 sqrt(2.5 / 5): a table's value for four degrees of freedom.
    assert figures.interval([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((3.0, 1.9629), abs=1e-4)
    assert figures.formatted(figures.interval([1.0, float("nan")])) == "none"


def test_the_table_of_till_has_paired_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = script(STUDY / "figures.py", monkeypatch)

    def run(sampled: float, greedy: float, looked_up: float) -> list[dict[str, object]]:
        step = {"kind": "train", "accuracy": sampled, "parts/looked_up": looked_up, "parts/tool_calls": 0.5}
        work = {"tokens": 10, "uniform_groups": 0.5, "sample_seconds": 1.0, "update_seconds": 1.0}
        return [{**step, **work}] * 12 + [{"kind": "eval", "accuracy": greedy}]

    modes = {
        "outcome": {0: run(0.2, 0.5, 0.8), 1: run(0.4, 0.5, 0.6)},
        "both": {0: run(0.3, 0.6, 1.0), 1: run(0.5, 0.6, 0.8)},
    }
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in figures.learning_table("till", modes)]
    rows = {line[0]: dict(zip(table[0], line, strict=True)) for line in table[2:]}
    # A step samples 10 tokens at 0.1 s and trains on 5 at 0.2 s. Half width: 12.706 x sqrt(0.02 / 2).
    assert rows["outcome"]["s per step"] == "2.00"
    assert rows["outcome"]["last 10 steps"] == "0.300 ± 1.271"
    assert rows["both - outcome"]["last 10 steps"] == "+0.100 ± 0.000"
    assert rows["both - outcome"]["held-out greedy"] == "+0.100 ± 0.000"
    assert rows["both - outcome"]["looked up, last 10 steps"] == "+0.200 ± 0.000"


def test_a_row_of_prm800k_is_scored_with_its_ratings(tmp_path: Path) -> None:
    """The fields are those of the data set's README; the texts are made up."""
    file = tmp_path / "phase2_train.jsonl"

    def step(*rated: tuple[str, int], chosen: int | None = 0, human: object = None) -> dict[str, object]:
        completions = [{"text": text, "rating": rating, "flagged": None} for text, rating in rated]
        return {"completions": completions, "human_completion": human, "chosen_completion": chosen}

    def row(*steps: dict[str, object]) -> dict[str, object]:
        question = {"problem": "1+1?", "ground_truth_answer": "2"}
        return {"labeler": "x", "question": question, "label": {"steps": list(steps), "finish_reason": "solution"}}

    human = {"text": "mine", "rating": None, "source": "human", "flagged": False}
    rated = row(
        step(("no", -1), ("think", 0), chosen=1),
        step(("bad", -1), chosen=None, human=human),
        step(("2\n\n# Answer\n\n2", 1)),
        step(("wrong", -1), ("other", 0), chosen=None),
        step(("never reached", 1)),
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in (rated, row())))
    spec = {
        "accuracy": {},
        "labels": {"use": "labelled_steps", "column": "labels", "segments": "paragraph", "weight": 0},
    }
    task = make_task(
        {
            "version": 1,
            "task": "rated",
            "dataset": {"path": "none.jsonl", "answer": "{{ answer }}"},
            "format": {"reasoning": None, "answer": None},
            "prompt": {"user": "{{ question }}"},
            "verifiers": spec,
            "metric": "accuracy",
        },
        "rated.yaml",
        tmp_path,
    )
    summary = score_files(task, [file], OutputFile(tmp_path / "scores.jsonl"), console=Console(quiet=True))
    assert (summary.completions, summary.bad_rows) == (1, 1)
    (scored,) = map(json.loads, (tmp_path / "scores.jsonl").read_text().splitlines())
    assert scored["text"] == "think\n\nmine\n\n2\n# Answer\n2\n\nwrong"
    assert scored["parts"]["accuracy"]["gold"] == "2"
    assert [part["value"] for part in scored["parts"]["labels"]["steps"]] == [0.0, 1.0, 1.0, -1.0]
