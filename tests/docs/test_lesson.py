"""The lesson: its numbers are those of the library and of plain arithmetic, its notebook and pictures are current."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
from math import log, sqrt

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from grpo_env.trainer.advantages import outcome_advantages, process_advantages
from grpo_env.trainer.config import AdvantageConfig, LossConfig
from grpo_env.trainer.losses import LossInputs, aggregate, clipped, denominators, kl_penalty, policy_loss

from ..trainer.shortcuts import groups_of
from .test_pages import ROOT

LEARN = ROOT / "docs/learn"
PAGE = (LEARN / "grpo.md").read_text(encoding="utf-8")
MAKER = runpy.run_path(str(ROOT / "docs/site/lesson.py"))
POPULATION = AdvantageConfig(std="population")
LESSON = MAKER["computed"]("loss.py")


def outputs() -> str:
    """What the commands of the page print."""
    return "\n".join(re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("name", MAKER["FILES"])
def test_what_is_made_from_the_page_is_current(name):
    assert (LEARN / name).read_text(encoding="utf-8") == MAKER["FILES"][name](), "run: python docs/site/lesson.py"


def test_the_notebook_prints_what_it_shows():
    values: dict[str, object] = {}
    cells = [cell for cell in json.loads((LEARN / "grpo.ipynb").read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == 6
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), values)
        assert printed.getvalue() == "".join(cell["outputs"][0]["text"])


def test_figures_in_the_text_are_printed_by_the_code_or_are_its_inputs():
    blocks = re.findall(r"^```(?!math).*?^```$", PAGE, re.MULTILINE | re.DOTALL)
    known = set(re.findall(r"\d+\.\d+", "\n".join(blocks))) | {"4.1", "4.1.3", "2402.03300"}
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    derived = {
        "5.5": 11 * 0.5,
        "10.5": (11 + 10) / 2,
        "0.25": (11 * 0.5 - 10 * 0.5) / 2,
        "0.8": 0.24 / 0.30,
        "1.2": 1 + 0.2,
    }
    assert all(float(figure) == pytest.approx(value) for figure, value in derived.items())
    assert set(re.findall(r"\d+\.\d+(?:\.\d+)?", prose)) - known - set(derived) == set()


# By hand: for 1, 0, 0, 0 the mean is 1/4, the variance 3/16. For 0.2, 0.8, 0.5, -0.1 they are 0.35 and 0.1125.
@pytest.mark.parametrize(
    ("rewards", "std", "expected"),
    [
        ([1, 0, 0, 1], "population", [1, -1, -1, 1]),
        ([1, 0, 0, 0], "population", [sqrt(3), -1 / sqrt(3), -1 / sqrt(3), -1 / sqrt(3)]),
        ([1, 1, 1, 1], "population", [0, 0, 0, 0]),
        ([0.2, 0.8, 0.5, -0.1], "population", [(r - 0.35) / sqrt(0.1125) for r in (0.2, 0.8, 0.5, -0.1)]),
        ([1, 0, 0, 1], "sample", [sqrt(3) / 2, -sqrt(3) / 2, -sqrt(3) / 2, sqrt(3) / 2]),
    ],
)
def test_advantages(rewards, std, expected):
    ours = outcome_advantages(groups_of(rewards), AdvantageConfig(std=std)).tolist()
    assert ours == pytest.approx(expected, abs=1e-12)
    printed = " ".join(f"{value:+.4f}" for value in ours)
    assert f"{rewards} {printed}" in outputs()


# By hand: 5 of 11 step rewards are 1, so the variance is 5/11 x 6/11, and a reward of 1 becomes (6/11) / (sqrt(30)/11).
def test_step_advantages():
    rewards = [[1, 1, 1], [1, 0, 0], [0, 0], [0, 0, 1]]
    one, zero = 6 / sqrt(30), -5 / sqrt(30)
    by_hand = [
        [3 * one, 2 * one, one],
        [one + 2 * zero, 2 * zero, zero],
        [2 * zero, zero],
        [2 * zero + one, zero + one, one],
    ]
    ours = library_steps(rewards, [[0, 1, 2], [0, 1, 2], [0, 1], [0, 1, 2]], length=4)
    for number, (row, expected) in enumerate(zip(ours, by_hand, strict=True), start=1):
        assert row[: len(expected)] == pytest.approx(expected, abs=1e-12)
        assert row[len(expected) :] == [0.0] * (4 - len(expected))
        printed = " ".join(f"{value:+.4f}" for value in expected)
        assert f"o{number} {printed}\n" in outputs()
    assert f"1 is {one:+.4f}, 0 is {zero:+.4f}" in outputs()


def test_the_third_question():
    """DeepSeekMath, section 4.1.3, with the second completion's steps on tokens 4 and 9."""
    row = library_steps([[0.2, 0.9], [-0.1, 0.4]], [[4, 10], [3, 8]], length=15)[0]
    mean, std = 1.4 / 4, sqrt((0.15**2 + 0.55**2 + 0.45**2 + 0.05**2) / 4)
    assert [row[2], row[6], row[11]] == pytest.approx([(1.1 - 2 * mean) / std, (0.9 - mean) / std, 0], abs=1e-12)
    assert f"3. {row[2]:.4f} {row[6]:.4f} 0" in outputs()


def library_steps(rewards: list[list[float]], ends: list[list[int]], length: int) -> list[list[float]]:
    """The advantages of ``length`` tokens of each row, by the library."""
    counts = torch.tensor([len(row) for row in rewards])
    groups = groups_of(
        [0.0] * len(rewards),
        length=length,
        step_rewards=pad_sequence([torch.tensor(row, dtype=torch.float64) for row in rewards], batch_first=True),
        step_tokens=pad_sequence([torch.tensor(row) for row in ends], batch_first=True),
        step_mask=torch.arange(int(counts.max())) < counts[:, None],
    )
    return process_advantages(groups, POPULATION).tolist()


def test_the_loss_and_what_is_cut():
    advantages, old, new, ref = (LESSON[name] for name in ("advantages", "old", "new", "ref"))
    lengths = [len(row) for row in old]
    mask = torch.arange(3)[None] < torch.tensor(lengths)[:, None]

    def logs(rows: list[list[float]]) -> torch.Tensor:
        return torch.tensor([row + [1.0] * (3 - len(row)) for row in rows], dtype=torch.float64).log()

    def loss(logp: torch.Tensor, beta: float, mode: str) -> float:
        inputs = LossInputs(logp, logs(old), logs(old), logs(ref), per_token, mask, torch.zeros_like(logp))
        tokens = policy_loss(inputs, settings) + beta * kl_penalty(logp, logs(ref))
        return aggregate(tokens, mask, mode, denominators(torch.tensor(lengths), 4, mode, 3)).item()

    settings = LossConfig(clip_low=0.2, clip_high=0.2)
    per_token = torch.tensor(advantages, dtype=torch.float64)[:, None].expand(4, 3)
    inputs = LossInputs(logs(new), logs(old), logs(old), logs(ref), per_token, mask, torch.zeros(4, 3))
    cut = (clipped(inputs, settings) & mask).nonzero().tolist()
    assert cut == [[0, 0], [1, 0], [2, 1], [3, 2]]
    # By hand, from the ratios 1.3 1.05 .7, .7 1.3 .9, 1 .7, 1.1 .7 1.5.
    means = [(1.2 + 1.05 + 0.7) / 3, -(0.8 + 1.3 + 0.9) / 3, -(1 + 0.8) / 2, (1.1 + 0.7 + 1.2) / 3]
    pairs = [[r / n for r, n in zip(*rows, strict=True)] for rows in zip(ref, new, strict=True)]
    kl = [sum(x - log(x) - 1 for x in row) / len(row) for row in pairs]
    by_hand = -sum(mean - 0.04 * k for mean, k in zip(means, kl, strict=True)) / 4
    assert loss(logs(new), 0.04, "sequence") == pytest.approx(by_hand, abs=1e-12)
    assert f"loss {by_hand:+.4f}, with beta = 0 {-sum(means) / 4:+.4f}" in outputs()
    assert loss(logs(old), 0.0, "sequence") == pytest.approx(0, abs=1e-12)
    assert f"by all 11 tokens {loss(logs(old), 0.0, 'token'):+.4f}" in outputs()
    assert loss(logs(old), 0.0, "token") == pytest.approx(-(3 - 3 - 2 + 3) / 11)


def test_the_gradient_of_a_loss_of_0_pushes_every_token_by_its_advantage():
    """Minus the advantage, over the tokens of the row and the rows: 1/12 and 1/8 here."""
    old = torch.tensor([row + [1.0] * (3 - len(row)) for row in LESSON["old"]], dtype=torch.float64).log()
    mask = torch.arange(3)[None] < torch.tensor([3, 3, 2, 3])[:, None]
    logp = old.clone().requires_grad_()
    per_token = torch.tensor(LESSON["advantages"], dtype=torch.float64)[:, None].expand(4, 3)
    inputs = LossInputs(logp, old, old, None, per_token, mask, torch.zeros(4, 3))
    aggregate(policy_loss(inputs, LossConfig()), mask, "sequence", 4).backward()
    expected = [[-1 / 12] * 3, [1 / 12] * 3, [1 / 8, 1 / 8, 0], [-1 / 12] * 3]
    assert logp.grad.tolist() == [pytest.approx(row) for row in expected]


def test_what_an_advantage_does_to_a_token():
    """A step of gradient ascent on the logits by autograd, with the library's loss."""
    for advantage in (1.0, -1.0, 0.0):
        logits = torch.tensor([0.3, 0.5, 0.2], dtype=torch.float64).log().requires_grad_()
        logp = logits.log_softmax(0)[:1][None]
        rows = torch.full((1, 1), advantage, dtype=torch.float64)
        inputs = LossInputs(logp, logp.detach(), logp.detach(), None, rows, rows == rows, torch.zeros(1, 1))
        policy_loss(inputs, LossConfig()).sum().backward()
        after = (logits - 0.5 * logits.grad).softmax(0).tolist()
        assert f"A = {advantage:+.0f}: " + " ".join(f"{p:.3f}" for p in after) in outputs()


def test_k3_of_the_second_question():
    policy, reference = (torch.tensor([p], dtype=torch.float64).log() for p in (0.30, 0.24))
    values = [kl_penalty(policy, reference).item(), kl_penalty(reference, policy).item()]
    assert values == pytest.approx([0.8 - log(0.8) - 1, 1.25 - log(1.25) - 1])
    assert "2. " + " ".join(f"{value:.4f}" for value in values) in outputs()
