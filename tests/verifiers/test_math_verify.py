"""The verifier ``math_verify``: the verdicts of the package itself, and of TRL; statuses, deadlines, composites."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import math_verify
import pytest
from latex2sympy2_extended import NormalizationConfig

from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError
from grpo_env.registry import find
from grpo_env.verifiers import math_verify as own
from grpo_env.verifiers.compose import FirstOf
from grpo_env.verifiers.parts_and_gates import Part

LATEX = math_verify.LatexExtractionConfig(
    normalization_config=NormalizationConfig(units=True), boxed_match_priority=0, try_extract_without_anchor=False
)
GOLDS = [
    *("4", "$4$", "0.5", r"$\frac12$", r"\frac12", "$x^2-5x+6$", "(1,2)", r"$\{1,2\}$", "$[3,\\infty)$", r"\boxed{7}"),
    *("x=3 #### 18", "Paris", "$18", "50%", "1,234", "$10^{-5}$"),
]
TEXTS = [
    *(r"\boxed{4}", "The answer is 4.", "The answer is $4$.", r"not \boxed{4}", r"\boxed{2+2}", r"\boxed{\frac{1}{2}}"),
    *(r"so $0.5$", "0.5", r"\boxed{(x-2)(x-3)}", r"\boxed{(1,2)}", r"\boxed{\{2,1\}}", r"\boxed{x \ge 3}", "7 or 8"),
    *(r"\boxed{18 \text{ dollars}}", r"\boxed{\text{Paris}}", r"\boxed{50\%}", r"\boxed{1234}", "", "{"),
    *(r"\boxed{3} or \boxed{4}", r"\boxed{0.00001}", r"$$\frac{2}{4}$$ final answer is $\frac{2}{4}$. I hope"),
]
PAIRS = [(gold, text) for gold in GOLDS for text in TEXTS]


def score(gold: str | None, text: str, **options: Any) -> Any:
    return find("math_verify")(**options)(Example("x", answer=gold), Completion(text))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Without the warnings of a package whose timeouts are off."""
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    yield
    logging.getLogger("math_verify").setLevel(logging.NOTSET)


# One option is about completions, the other one about gold answers.
@pytest.mark.parametrize(("extraction", "bare_golds"), [("boxed", "as_is"), ("any", "in_dollars")])
def test_verdicts_are_those_of_the_package(extraction: str, bare_golds: str) -> None:
    config = {"extraction_config": [LATEX], "extraction_mode": "first_match"} if extraction == "boxed" else {}
    read = lru_cache(math_verify.parse)
    found_in = {text: math_verify.parse(text, parsing_timeout=None, **config) for text in TEXTS}
    values = set()
    for gold, text in PAIRS:
        marked = any(mark in gold for mark in ("$", "boxed"))
        given = f"${gold}$" if bare_golds == "in_dollars" and not marked else gold
        golds, found = read(given, parsing_timeout=None), found_in[text]
        expected = float(math_verify.verify(golds, found, timeout_seconds=None)) if golds else None
        got = score(gold, text, extraction=extraction, bare_golds=bare_golds)
        status = "bad_gold" if expected is None else "scored" if found else "no_answer"
        assert (got.value, got.status) == (expected, status), (gold, text, got)
        values.add(got.value)
    assert values == {0.0, 1.0, None} if bare_golds == "as_is" else {0.0, 1.0}


def test_values_are_the_rewards_of_trl() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rewards = pytest.importorskip("trl.rewards", reason="TRL is not installed; see tests/parity/test_trl.py")
    expected = rewards.accuracy_reward([[{"content": text}] for _, text in PAIRS], [gold for gold, _ in PAIRS])
    assert [score(gold, text, bare_golds="as_is").value for gold, text in PAIRS] == expected
    assert set(expected) == {0.0, 1.0, None}


def test_a_bare_gold_answer_is_read_as_latex() -> None:
    pairs = {r"\frac12": r"\boxed{0.5}", "(1,2)": r"\boxed{(1,2)}", " x^2 ": r"\boxed{x \cdot x}", r"\$6": r"\boxed{6}"}
    for gold, text in pairs.items():
        assert score(gold, text).value == 1.0
        assert score(gold, text, bare_golds="as_is").status == "bad_gold"


@pytest.mark.parametrize("gold", [None, "", " \n", "$", "4" * (own.MAX_LENGTH + 1)], ids=range(5))
def test_gold_answers_that_cannot_be_read(gold: str | None) -> None:
    got = score(gold, r"\boxed{4}", bare_golds="as_is")
    assert (got.value, got.status) == (None, "bad_gold")
    assert got.explanation == find("math_verify")(bare_golds="as_is").problem(Example("x", answer=gold))


def test_statuses() -> None:
    assert score("4", "The answer is 4.").status == "no_answer"
    assert score("4", "a" * own.MAX_LENGTH).status == "no_answer"
    too_long = score("4", "a" * own.MAX_LENGTH + r"\boxed{4}")
    assert (too_long.value, too_long.status) == (0.0, "over_limit")
    right = score("4", r"So \boxed{4}.")
    assert (right.status, right.answer, right.gold) == ("scored", "4", "4")
    assert right.explanation == "boxed: equal by math-verify"
    assert score("4", "so 5", extraction="any").explanation == "any: not equal by math-verify"


@pytest.mark.parametrize("text", [r"\boxed{9^{9^{9^{9}}}}", r"\boxed{99999999999!!}"])
def test_a_hostile_answer_is_late_and_its_worker_is_replaced(text: str) -> None:
    assert score("4", r"\boxed{4}").value == 1.0
    before = own.WORKER.pid
    late = score("4", text, timeout=0.3)
    assert (late.value, late.status) == (0.0, "timeout")
    assert score("4", r"\boxed{4}").value == 1.0
    assert own.WORKER.pid not in (before, None)


def test_a_gold_answer_that_takes_too_long_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "GOLD_TIMEOUT", 1e-6)
    got = score(r"$\frac{12345}{678}$", r"\boxed{4}")
    assert (got.value, got.status) == (None, "bad_gold")
    assert "too long" in got.explanation


def test_a_worker_that_dies_is_replaced_and_what_kills_it_is_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert score("4", r"\boxed{4}").value == 1.0
    own.WORKER._process.kill()  # type: ignore[union-attr]
    assert score("4", r"\boxed{4}").value == 1.0

    def die(request: Any, timeout: float) -> Any:
        raise own.WorkerDiedError("killed")

    monkeypatch.setattr(own.WORKER, "ask", die)
    got = score("4", r"\boxed{4}")
    assert (got.value, got.status) == (0.0, "over_limit")


def test_threads_share_a_worker() -> None:
    values: list[float | None] = []
    threads = [
        threading.Thread(target=lambda n=n: values.append(score("3", rf"\boxed{{{n}}}").value)) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == [0.0] * 7 + [1.0]


def test_options_are_checked() -> None:
    for options in ({"extraction": "all"}, {"bare_golds": "quoted"}, {"timeout": 0.0}):
        with pytest.raises(UsageError, match=next(iter(options))):
            find("math_verify")(**options)


TWO_BOXES = r"So $x=\boxed{\frac{1}{2}}$, then $\boxed{0.6}$."


@pytest.mark.parametrize(("text", "value"), [(r"\boxed{3/5}", 1.0), (r"\boxed{7}", 0.0)])
def test_it_decides_where_accuracy_cannot_read_the_gold_answer(text: str, value: float) -> None:
    verifier = FirstOf(tuple(Part(name, find(name)()) for name in ("accuracy", "math_verify")))
    got = verifier(Example("x", answer=TWO_BOXES), Completion(text))
    assert [part.status for part in got.parts] == ["bad_gold", "scored"]
    assert got.value == got.parts[1].value == value
    readable = verifier(Example("x", answer="3/5"), Completion(r"\boxed{0.6}"))
    assert [part.status for part in readable.parts] == ["scored", "not_applicable"]
    assert verifier.problem(Example("x", answer=TWO_BOXES)) is None
