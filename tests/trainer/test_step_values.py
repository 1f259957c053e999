"""Step values: a Markov chain whose true values are known, unbiased gradients by enumeration, cost and settings."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import torch

from grpo_env.core import Score
from grpo_env.errors import UsageError
from grpo_env.trainer.advantages import value_advantages
from grpo_env.trainer.config import AdvantageConfig, TrainConfig
from grpo_env.trainer.engine.policy import Policy
from grpo_env.trainer.extensions import step_values as module
from grpo_env.trainer.extensions.step_values import Prefix, step_values, valued_steps
from grpo_env.trainer.loop import train
from grpo_env.trainer.rollout import make_prompts
from grpo_env.trainer.run.checkpoint import RunFolder
from grpo_env.trainer.scored_groups import ValuedStep
from grpo_env.trainer.shared_types import ScoredRollout, Start

from .chain import BREAK, CHAIN, END, LONGEST, A, B, Chain, make_chain
from .shortcuts import groups_of, roll_out


def true_value(ids: list[int]) -> float:
    """Expected reward of a prefix: the a's in it, and those expected in the tokens that remain, by recursion."""
    expected = torch.zeros(4, dtype=torch.float64)
    for _ in range(LONGEST - len(ids)):
        expected = CHAIN[:, A] + CHAIN @ expected.where(torch.arange(4) != END, 0.0)
    return ids.count(A) + float(expected[ids[-1] if ids else A])


def true_boundaries(ids: list[int]) -> list[int]:
    """Line breaks after a letter, unless no token is left."""
    return [i for i in range(1, len(ids) - 1) if ids[i] == BREAK and ids[i - 1] in (A, B)]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """The reward is the number of a's."""
    return make_chain(tmp_path_factory.mktemp("chain"), "test_count_a")


CONFIG = TrainConfig(
    prompts_per_step=36,
    group_size=4,
    supervision="process",
    sampling={"max_new_tokens": LONGEST},
    step_values={"rollouts": 3},
)


def completions(chain: Chain, step: int = 0) -> list[ScoredRollout]:
    prompts = make_prompts(chain.task, chain.task.examples("train"))
    return roll_out(chain.policy, prompts, 4, max_new_tokens=LONGEST, temperature=1.0, seed=f"0/{step}")


def estimate(
    chain: Chain, rollouts: list[ScoredRollout], config: TrainConfig = CONFIG, step: int = 0
) -> tuple[list[list[ValuedStep]], dict[str, float]]:
    rows, cost = step_values(chain.policy, [chain.task], rollouts, config, step)
    assert rows is not None
    return rows, cost


def z_scores(chain: Chain, steps: int = 2) -> dict[str, float]:
    """How many standard errors the mean estimates are from the true values at the boundaries that the test finds.

    Values before a step must not depend on the step, so they are compared for each of its first tokens. Groups of
    completions are independent, rows of a group may share prefixes.
    """
    means: dict[str, list[float]] = {"prompt": [], "after": [], "before a": [], "before b": []}
    for number in range(steps):
        rollouts = completions(chain, number)
        values, _ = estimate(chain, rollouts, step=number)
        for start in range(0, len(rollouts), 4):
            errors: dict[str, list[float]] = {name: [] for name in means}
            for row in range(start, start + 4):
                ids = rollouts[row].rollout.ids
                breaks = [-1, *true_boundaries(ids)]
                assert [step.token for step in values[row]] == [*breaks[1:], len(ids) - 1]
                truths = [true_value(ids[: token + 1]) for token in breaks]
                errors["after"] += [step.after - truth for step, truth in zip(values[row], truths[1:], strict=False)]
                for step, token, truth in zip(values[row], breaks, truths, strict=True):
                    if (following := ids[token + 1]) in (A, B):
                        name = "prompt" if token < 0 else "before a" if following == A else "before b"
                        errors[name].append(step.before - truth)
            for name, differences in errors.items():
                means[name] += [fmean(differences)] if differences else []
    return {name: fmean(some) / (stdev(some) / math.sqrt(len(some))) for name, some in means.items()}


def test_the_model_is_the_chain(chain: Chain) -> None:
    with torch.no_grad():
        logits = chain.policy.model(torch.tensor([[A, B, BREAK]])).logits[0]
    torch.testing.assert_close(logits.double().softmax(-1), CHAIN[[A, B, BREAK]], atol=1e-4, rtol=0)
    assert chain.policy.decode([A, BREAK, B]) == "a\nb"


def test_values_are_unbiased(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all groups: to leave out uniform ones selects."""
    monkeypatch.setattr(module, "all_equal", lambda values: False)
    assert max(map(abs, z_scores(chain).values())) < 3


@pytest.mark.parametrize("shift", [-1, 1])
def test_the_check_above_notices_prefixes_that_are_off_by_one(
    chain: Chain, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the prefixes that are continued had one token more or less than the step that they end."""

    def shifted(policy: Policy, starts: list[Start], *args: Any) -> Any:
        starts = [start._replace(length=min(start.length + shift, LONGEST - 1)) for start in starts]
        return continued(policy, starts, *args)

    continued = module.continuations
    monkeypatch.setattr(module, "all_equal", lambda values: False)
    monkeypatch.setattr(module, "continuations", shifted)
    assert max(map(abs, z_scores(chain).values())) > 5


def test_gradients_are_unbiased_only_without_the_own_reward_in_the_baseline() -> None:
    """Two steps of one token, 0 or 1, and groups of two: everything that can be sampled, with its probability."""
    first, second = (0.3, 0.7), ((0.6, 0.4), (0.2, 0.8))
    reward = {(0, 0): 1.0, (0, 1): 0.2, (1, 0): 0.0, (1, 1): 0.7}
    chance = {path: first[path[0]] * second[path[0]][path[1]] for path in reward}
    # Derivatives of the log-probability of the token 1, by its logit: 1 - p if it is taken, else -p.
    gradient, wrong = [0.0] * 3, [0.0] * 3  # of the first token, and of the second after 0 and after 1
    for own, other, again in product(reward, reward, (0, 1)):
        shares = other[0] == own[0]
        weight = chance[own] * chance[other] * second[own[0]][again]
        prefix = Prefix([0, 1] if shares else [0], 1, [reward[own[0], again]])
        steps = valued_steps(0, 2, {(own[0],): prefix}, [0, 1], [reward[own], reward[other]])
        assert [step.token for step in steps] == [0, 1]
        for total, baselines in ((gradient, [steps[0].before, steps[1].before]), (wrong, [None, steps[0].after])):
            a, b = ((step.after - (before or 0.0)) for step, before in zip(steps, baselines, strict=True))
            total[0] += weight * a * (own[0] - first[1])
            total[1 + own[0]] += weight * b * (own[1] - second[own[0]][1])
    exact = [first[0] * first[1] * (0.2 * 0.0 + 0.8 * 0.7 - 0.6 * 1.0 - 0.4 * 0.2)]
    exact += [first[x] * second[x][0] * second[x][1] * (reward[x, 1] - reward[x, 0]) for x in (0, 1)]
    assert gradient == pytest.approx(exact, abs=1e-12)
    # With the own reward in the baseline, a part of the gradient is missing: 1/2 where there is one other sample.
    assert wrong[1] == pytest.approx(exact[1] * (1 - (0.3 / 3 + 0.7 / 2)), abs=1e-12)


def test_advantages_by_hand() -> None:
    """Two completions of 4 and 3 tokens, with two steps and one; the group's rewards are 1 and 0."""
    after = torch.tensor([[0.75, 1.0], [0.0, 9.0]], dtype=torch.float64)
    before = torch.tensor([[0.5, 0.25], [0.5, 9.0]], dtype=torch.float64)
    tokens, mask = torch.tensor([[1, 3], [2, 0]]), torch.tensor([[True, True], [True, False]])
    steps = {"step_rewards": after, "step_baselines": before, "step_tokens": tokens, "step_mask": mask}
    groups, by_std = groups_of([1.0, 0.0], length=4, **steps), AdvantageConfig(std="population")  # of 1 and 0: 0.5
    raw = value_advantages(groups, AdvantageConfig(scale="none"))
    assert raw.tolist() == [[0.25, 0.25, 0.75, 0.75], [-0.5, -0.5, -0.5, 0.0]]
    scaled = value_advantages(groups, by_std)
    assert scaled.tolist() == [[0.5, 0.5, 1.5, 1.5], [-1.0, -1.0, -1.0, 0.0]]
    equal = value_advantages(groups_of([1.0, 1.0], length=4, **steps), by_std)
    assert equal.tolist() == raw.tolist()


def test_the_same_step_has_the_same_values_and_another_others(chain: Chain) -> None:
    rollouts = completions(chain)[:16]
    first, again, other = (estimate(chain, rollouts, step=step)[0] for step in (0, 0, 1))
    assert first == again != other


def test_uniform_groups_unscored_rows_and_prefixes_that_others_share_cost_nothing(chain: Chain) -> None:
    rollouts = completions(chain)[:8]
    equal = [row._replace(score=Score(2.0)) for row in rollouts]
    skipped, cost = estimate(chain, equal)
    assert (cost["values"], cost["value_tokens"]) == (0, 0)
    assert [[step.after - step.before for step in row] for row in skipped] == [[0.0]] * 8
    unscored = [row._replace(score=Score(None, "error")) for row in rollouts]
    assert estimate(chain, unscored)[0] == [[]] * 8
    # The same completion four times: the three others are the samples from each of its prefixes.
    row = next(row for row in rollouts if true_boundaries(row.rollout.ids))
    same, cost = estimate(chain, [row._replace(score=Score(value)) for value in (0.0, 1.0, 0.0, 1.0)])
    assert cost["values"] == 0
    ends = len(true_boundaries(row.rollout.ids))
    assert [round(step.before, 9) for step in same[0]] == [round(2 / 3, 9)] * (ends + 1)
    assert [step.after for step in same[0]] == [0.5] * ends + [0.0]


def test_a_run_without_step_scores(chain: Chain, tmp_path: Path) -> None:
    settings = {
        "model": chain.policy.name,
        "step_values.rollouts": 2,
        "supervision": "both",
        "prompts_per_step": 6,
        "group_size": 4,
        "steps": 2,
        "sampling.max_new_tokens": LONGEST,
        "optimizer.learning_rate": 1e-2,
        "eval": {"every": 0, "examples": 1},
    }
    run = train(chain.task, run_dir=tmp_path / "run", **settings)
    rows = [row for row in RunFolder(run.run_dir).metrics() if row["kind"] == "train"]
    assert all(row["values"] > 0 and row["value_tokens"] > 0 and row["grad_norm"] > 0 for row in rows)
    assert all(0 < row["value_seconds"] < row["sample_seconds"] for row in rows)


def test_what_cannot_be_valued_is_refused(make_task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"step_values.rollouts=4 has no effect: it needs supervision=process or both"):
        TrainConfig.from_mapping({"step_values.rollouts": 4})
    task = make_task({"length_rank": {"of": {"test_vowels": {}}}}, supervision="process", step_values={"rollouts": 2})
    with pytest.raises(UsageError, match="compares the completions of a group"):
        train(task, run_dir=tmp_path / "run")
    with pytest.raises(UsageError, match=r"till.yaml has an environment, and episodes are not continued from a turn"):
        train("till", run_dir=tmp_path / "run", supervision="process", **{"step_values.rollouts": 2})
