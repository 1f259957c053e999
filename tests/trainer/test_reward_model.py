"""Reward models that are trained here: loss and figures by hand, what is learned, what the verifiers then read."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from grpo_env.core import Completion, Example, Score, StepScore
from grpo_env.errors import UsageError
from grpo_env.taskfile.task import Task, load_task, make_verifier
from grpo_env.trainer.commands.reward_model import FIGURES, Request, figure_lines, train_reward_model
from grpo_env.trainer.engine.bundled import BUNDLED
from grpo_env.trainer.reward_models.figures import Figures, held_out_figures, pair_accuracy
from grpo_env.trainer.reward_models.fit import FitSettings, loss
from grpo_env.trainer.reward_models.labels import Labelled, labelled_completions, of_steps, split_by_prompt

QUIET = Console(quiet=True)
SETTINGS = FitSettings(epochs=8, learning_rate=1e-2, batch_size=8)


def row(question: str, answer: str, number: int = 0, **changes: Any) -> dict[str, Any]:
    """A row of label-steps: a line with an x is bad, and a text with such a line is wrong."""
    steps, at = [], 0
    for line in answer.split("\n"):
        steps.append({"start": at, "end": at + len(line), "value": float("x" not in line), "explanation": ""})
        at += len(line) + 1
    value = float("x" not in answer)
    parts = {
        "test_vowels": {"value": value, "status": "ok"},
        "rollouts": {"value": min(step["value"] for step in steps), "status": "ok", "steps": steps},
    }
    common = {"id": question, "completion": number, "task": "vowels", "metric": "test_vowels", "prompt": question}
    return {**common, "text": answer, "total": value, "status": "ok", "parts": parts, **changes}


def rows() -> list[dict[str, Any]]:
    draws = random.Random(0)
    texts = [
        ["\n".join(draws.choices(["ab", "cd", "ax", "xd"], [4, 4, 1, 1], k=3)) for _ in range(4)] for _ in range(20)
    ]
    return [row(f"q{n}?\n", text, i) for n, of_prompt in enumerate(texts) for i, text in enumerate(of_prompt)]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def task(make_task: Any) -> Task:
    return make_task()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("rows") / "steps.jsonl", rows())


@pytest.fixture(scope="module")
def trained(task: Task, file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Figures]:
    """A process reward model, and its held-out figures."""
    out = tmp_path_factory.mktemp("models") / "prm"
    return out, train(task, file, out, Request(process=True))


def train(task: Task, file: Path, out: Path, request: Request, **options: Any) -> Figures:
    return train_reward_model(task, file, out, request, console=QUIET, **{"settings": SETTINGS, **options})


def test_a_process_model_learns_what_is_bad_and_is_loaded_by_the_verifier(trained):
    out, figures = trained
    assert figures.accuracy.value > 0.95 > 0.9 > figures.majority
    assert figures.accuracy.compared == 4 * 4 * 3  # four of twenty prompts, four texts each, three lines
    assert figures.pairs.value > 0.95
    verifier = make_verifier("process_reward_model", {"model": str(out)}, "test")
    score = verifier(Example("x", "new?\n"), Completion("ab\nax\ncd\ncd"))
    assert [step.value > 0.5 for step in score.steps] == [True, False, True, True]
    assert [(step.start, step.end) for step in score.steps] == [(0, 2), (3, 5), (6, 8), (9, 11)]
    record = json.loads((out / FIGURES).read_text())
    assert record["held_out"]["accuracy"]["value"] == figures.accuracy.value
    assert (record["rows"], record["settings"]["learning_rate"]) == (
        {"train": 64, "held_out": 16, "left_out": {}},
        1e-2,
    )
    assert any("in order" in line for line in figure_lines(figures))


def test_an_outcome_model_learns_which_texts_are_wrong(task, file, tmp_path):
    figures = train(task, file, tmp_path / "rm", Request())
    assert figures.accuracy.value > 0.9 > 0.7 > figures.majority
    assert figures.accuracy.compared == 16
    verifier = make_verifier("reward_model", {"model": str(tmp_path / "rm"), "activation": "sigmoid"}, "test")
    right, wrong = (verifier(Example("x", "new?\n"), Completion(text)).value for text in ("ab\ncd\nab", "ab\nax\nab"))
    assert right > 0.5 > wrong


def test_training_goes_on_from_a_reward_model(task, file, trained, tmp_path):
    """Its head is kept: at a learning rate of 0, its values are those of before."""
    request, settings = Request(process=True, model=str(trained[0])), replace(SETTINGS, epochs=1, learning_rate=0.0)
    train(task, file, tmp_path / "same", request, settings=settings)
    before, after = (load_file(folder / "model.safetensors") for folder in (trained[0], tmp_path / "same"))
    assert all(after[name].equal(weight) for name, weight in before.items())


def test_the_seed_determines_the_model(task, file, tmp_path):
    def weights(name: str) -> dict[str, torch.Tensor]:
        train(task, file, tmp_path / name, Request(), settings=FitSettings(1, 1e-2, seed=1))
        return load_file(tmp_path / name / "model.safetensors")

    first, again = weights("first"), weights("again")
    assert all(first[name].equal(weight) for name, weight in again.items())


def test_the_loss_is_a_binary_cross_entropy_over_known_labels():
    by_hand = -0.25 * math.log(1 / (1 + math.exp(-2))) - 0.75 * math.log(1 - 1 / (1 + math.exp(-2)))
    by_hand += -math.log(1 / (1 + math.exp(1)))
    assert loss(torch.tensor([[9.0], [2.0], [-1.0]]), [None, 0.25, 1.0]).item() == pytest.approx(by_hand)
    two = torch.tensor([[9.0, 9.0], [1.0, 3.0], [3.0, 2.0]])
    assert loss(two, [None, 0.25, 1.0]).item() == pytest.approx(by_hand)


def test_rows_at_once_do_not_change_what_is_learned(task, file, tmp_path):
    def weights(at_once: int) -> dict[str, torch.Tensor]:
        settings = FitSettings(1, 1e-2, batch_size=20, rows_at_once=at_once)
        train(task, file, tmp_path / str(at_once), Request(), settings=settings)
        return load_file(tmp_path / str(at_once) / "model.safetensors")

    whole, in_parts = weights(20), weights(3)
    for name, weight in whole.items():
        torch.testing.assert_close(weight, in_parts[name], rtol=1e-3, atol=1e-4)


def labelled(prompt: str, labels: tuple[float | None, ...], correct: bool | None, text: str = "") -> Labelled:
    return Labelled(Example(text, prompt), Completion(text), None, labels, correct)


def test_figures_by_hand():
    def score(*values: float) -> Score:
        steps = tuple(StepScore(n, n + 1, value) for n, value in enumerate(values))
        return Score(min(values), steps=steps)

    data = [labelled("p", (1.0, None), True), labelled("p", (1.0, 0.2), False), labelled("q", (0.0,), False)]
    scores = [score(0.9, 0.1), score(0.7, 0.6), score(0.4)]
    figures = held_out_figures([*data, labelled("q", (1.0,), True)], [*scores, Score(None, "error")], mostly_good=True)
    assert (figures.accuracy.value, figures.accuracy.prompts) == (pytest.approx((2 / 3 + 1) / 2), 2)
    assert figures.majority == pytest.approx((2 / 3 + 0) / 2)
    assert (figures.pairs.value, figures.pairs.compared, figures.unscored) == (0.0, 1, 1)  # 0.1 < 0.6


def test_pairs_by_hand():
    # Three of four pairs in order and one tie; one pair out of order; no pair.
    pairs = pair_accuracy({"p": ([0.1, 0.5], [0.5, 0.7]), "q": ([0.9], [0.2]), "r": ([0.3], [])})
    assert (pairs.value, pairs.prompts, pairs.compared) == ((3.5 / 4 + 0) / 2, 2, 5)
    assert pair_accuracy({"r": ([0.3], [])}) is None


def test_prompts_are_held_out_whole_whatever_their_ids():
    data = [labelled(f"p{n % 7}", (1.0,), None, text=str(n)) for n in range(40)]
    train_rows, held_out = split_by_prompt(data, 0.3, seed=0)
    sides = [{row.prompt for row in side} for side in (train_rows, held_out)]
    assert not sides[0] & sides[1]
    assert (len(sides[0]), len(sides[1])) == (5, 2)
    assert split_by_prompt(data[::-1], 0.3, seed=0)[1] == held_out[::-1]  # whatever the order
    assert {row.prompt for row in split_by_prompt(data, 0.3, seed=1)[1]} != sides[1]


def test_a_step_has_the_lowest_label_that_ends_in_it():
    labels = [StepScore(0, 5, 1.0), StepScore(6, 8, 0.25), StepScore(8, 11, 0.5)]
    assert of_steps(labels, [(0, 5), (6, 11), (12, 15)]) == [1.0, 0.25, None]
    assert of_steps(labels[:1], [(0, 2), (3, 5)]) == [None, 1.0]  # labels of longer steps


def test_labels_are_at_the_tokens_that_the_verifier_reads():
    task = load_task("arithmetic")
    verifier = Request(process=True).verifier(task, str(BUNDLED))
    loaded = verifier.trainable(seed=0)
    text = "<think>\n2+3=5\n5+1=7\n</think>\n<answer>\n7\n</answer>"
    ends = [(8, 13, 1.0), (14, 19, 0.125)]
    steps = [{"start": start, "end": end, "value": value, "explanation": ""} for start, end, value in ends]
    changes = {"task": "arithmetic", "metric": "rollouts", "prompt": [{"role": "user", "content": "2 and 3 and 1?"}]}
    made = row("x", text, **changes, parts={"rollouts": {"value": 0.125, "status": "ok", "steps": steps}})
    (found,), left_out = labelled_completions([made], task, None, verifier, loaded)
    assert (found.labels, left_out) == ((1.0, 0.125), {})
    ids, positions, _ = found.read.encoded
    assert [loaded.tokenizer.decode(ids[position]) for position in positions] == ["\n", "\n"]
    assert loaded.tokenizer.decode(ids[: positions[0] + 1]).endswith("2+3=5\n")
    (hard,), _ = labelled_completions([made], task, None, verifier, loaded, hard=True)
    assert hard.labels == (1.0, 1.0)
    assert labelled_completions([made | {"text": "1\n" * 600}], task, None, verifier, loaded) == ([], {"over_limit": 1})


@pytest.mark.parametrize(
    ("changes", "request_", "message"),
    [
        ([], Request(), "jsonl: no rows"),
        ([{"task": "other"}], Request(), r"row 'q0\?\\n', completion 0: is of the task 'other', not of 'vowels'"),
        ([{"text": None}], Request(), r"^\S+/scores.jsonl, line 1: row .*has no text"),
        ([{"prompt": None}], Request(), "has no prompt, which the model reads"),
        (
            [{"parts": {}}],
            Request(process=True),
            "no part is called 'rollouts'; label the steps with",
        ),
        ([{}], Request(part="rollout"), "no part is called 'rollout'; did you mean 'rollouts'"),
        ([{"parts": {"rollouts": {"value": 0.0, "status": "no_answer"}}}], Request(process=True), "1 without steps"),
        ([{"parts": {"test_vowels": {"value": None, "status": "error"}}}], Request(), r"1 unscored \(error\)"),
        ([{"parts": {"test_vowels": {"value": 3.0, "status": "ok"}}}], Request(), "between 0 and 1, found 3"),
        ([{}], Request(), r"scores.jsonl: all completions have the same prompt"),
        ([{}, {"prompt": "other"}], Request(), r"all labels to train on \(1\) are 0.5 or more"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(task, tmp_path, changes, request_, message):
    file = write(tmp_path / "scores.jsonl", [row("q0?\n", "ab", **change) for change in changes])
    with pytest.raises(UsageError, match=message):
        train(task, file, tmp_path / "out", request_)
    assert not list(tmp_path.glob("*out*"))


def test_a_metric_within_a_composite_says_which_completions_are_correct(task):
    made = [row("q?\n", text) for text in ("ab", "ax")]
    for each in made:
        each["parts"] = {"both": {"value": 1.0, "parts": each["parts"]}}
    verifier = Request(process=True).verifier(task, str(BUNDLED))
    found, _ = labelled_completions(made, task, None, verifier, verifier.trainable(seed=0))
    assert [each.correct for each in found] == [True, False]


def test_a_folder_in_the_way_is_left_alone(task, file, tmp_path):
    (tmp_path / "prm").mkdir()
    with pytest.raises(UsageError, match="already exists; give another folder with --out"):
        train(task, file, tmp_path / "prm", Request())
    with pytest.raises(UsageError, match="give a score file or the folder of a run"):
        train(task, tmp_path / "prm", tmp_path / "new", Request())
    with pytest.raises(UsageError, match="no such file"):
        train(task, tmp_path / "none.jsonl", tmp_path / "new", Request())
    with pytest.raises(UsageError, match="cannot be loaded"):
        train(task, file, tmp_path / "new", Request(model=str(file.parent)))


def test_figures_of_few_held_out_prompts_have_no_interval_and_say_so(task, tmp_path):
    file, console = write(tmp_path / "steps.jsonl", rows()[:40]), Console(record=True, width=200)
    figures = train_reward_model(
        task, file, tmp_path / "prm", Request(process=True), FitSettings(epochs=1), console=console
    )
    printed, (accuracy, *_) = console.export_text(), figure_lines(figures)
    assert "1 epoch of 32 completions" in printed
    assert figures.accuracy.interval is None
    few = "(too few held-out prompts for an interval: label more, or raise --held-out)"
    assert f"{few} by 2 prompts, of 24 labels" in accuracy
    assert json.loads((tmp_path / "prm/held_out.json").read_text())["held_out"]["accuracy"]["interval"] is None
