"""Verifiers that do not end: what is late scores 0 with status timeout, all else as without it, and no process is left.

Only what never ends has a short deadline, so a busy machine changes nothing.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil
import pytest

from grpo_env.core import BatchVerifier, Completion, Example, Group, GroupVerifier, Score, Verifier, score_groups
from grpo_env.verifiers.compose import AnyOf, FirstOf, WeightedSum
from grpo_env.verifiers.each_step import EachStep
from grpo_env.verifiers.parts_and_gates import Part
from grpo_env.workers import scoring_process
from grpo_env.workers.killable_worker import ProgramWorker, ReplaceableWorker
from grpo_env.workers.scoring_process import score_in_process

SOON = 0.3  # seconds


def obey(text: str) -> Score:
    """Never ends for some texts, in Python or in C without releasing the interpreter."""
    while "spin" in text:
        pass
    if "regex" in text:
        re.match("(a+)+$", "a" * 100 + "b")
    if "power" in text:
        pow(7**200_000, 7**200_000, 11**200_000)
    return Score(float(len(text)))


@dataclass(frozen=True)
class Obeys(Verifier):
    def __call__(self, example, completion):
        return obey(completion.text)


@dataclass(frozen=True)
class Length(Verifier):
    def __call__(self, example, completion):
        return Score(float(len(completion.text)))


@dataclass(frozen=True)
class ObeysInGroups(GroupVerifier):
    def group(self, example, completions):
        return [obey(completion.text) for completion in completions]


@dataclass(frozen=True)
class ObeysInBatches(BatchVerifier):
    def batch(self, pairs):
        return [obey(completion.text) for _, completion in pairs]


@dataclass(frozen=True)
class ObeysAtOnce(Verifier):
    """Overrides what calls ``__call__``."""

    def __call__(self, example, completion):
        raise NotImplementedError

    def score_groups(self, groups):
        return [[obey(completion.text) for completion in completions] for _, completions in groups]


@pytest.fixture(autouse=True, scope="module")
def _no_process_is_left():
    yield
    scoring_process.kill()


def make_groups(*groups):
    return [Group(Example(str(index)), [Completion(text) for text in texts]) for index, texts in enumerate(groups)]


def total(**verifiers):
    parts = (Part(name, verifier, deadline=SOON) for name, verifier in verifiers.items() if name != "length")
    return WeightedSum((*parts, Part("length", Length())))


def shown(rows):
    return [[(score.value, score.status) for score in scores] for scores in rows]


def without_seconds(rows):
    return [
        [[part.relabel(seconds=0.0) for part in score.walk() if not part.parts] for score in scores] for scores in rows
    ]


def test_scores_are_the_same_as_without_a_process():
    verifier = WeightedSum(
        (Part("a", Obeys()), Part("b", ObeysInGroups(), when="a"), Part("c", AnyOf((Part("d", Length()),))))
    )
    groups = make_groups(["x", "xy", ""], [], ["zzz"])
    actual, expected = score_in_process(verifier, groups), score_groups(verifier, groups)
    assert without_seconds(actual) == without_seconds(expected)
    assert shown(actual) == shown(expected)


@pytest.mark.parametrize("how", ["spin", "regex", "power"])
def test_a_late_completion_times_out_and_its_neighbors_do_not(how):
    rows = score_in_process(total(obeys=Obeys()), make_groups(["a", how, "bc"], ["def"]))
    late = float(len(how))  # only the part that did not end is 0
    assert shown(rows) == [[(2.0, "scored"), (late, "scored"), (4.0, "scored")], [(6.0, "scored")]]
    parts = [[(score.part("obeys").value, score.part("obeys").status) for score in scores] for scores in rows]
    assert parts == [[(1.0, "scored"), (0.0, "timeout"), (2.0, "scored")], [(3.0, "scored")]]
    assert rows[0][1].part("obeys").explanation == f"obeys did not end within {SOON:g} s"
    assert rows[0][1].part("obeys").seconds == SOON <= rows[0][1].seconds


def test_several_late_completions():
    rows = score_in_process(total(obeys=Obeys()), make_groups(["spin", "ok", "spin!"], ["regex", "fine"]))
    statuses = [[score.part("obeys").status for score in scores] for scores in rows]
    assert statuses == [["timeout", "scored", "timeout"], ["timeout", "scored"]]


def test_a_late_group_costs_the_group():
    rows = score_in_process(total(obeys=ObeysInGroups()), make_groups(["a", "b"], ["spin", "ok"]))
    assert shown([[score.part("obeys") for score in scores] for scores in rows]) == [
        [(1.0, "scored")] * 2,
        [(0.0, "timeout")] * 2,
    ]
    # Its deadline is that of two completions.
    assert rows[1][0].part("obeys").explanation == f"obeys did not end within {2 * SOON:g} s"
    assert [score.part("obeys").seconds for score in rows[1]] == [SOON, SOON]


@pytest.mark.parametrize(
    ("verifier", "late", "totals"),
    [
        (ObeysInBatches(), (None, "error"), [[(None, "error")]] * 2),  # a judge that hangs says nothing of a text
        (ObeysAtOnce(), (0.0, "timeout"), [[(1.0, "scored")], [(4.0, "scored")]]),
    ],
)
def test_a_late_batch_costs_the_batch_but_no_other_part(verifier, late, totals):
    rows = score_in_process(total(obeys=verifier), make_groups(["a"], ["spin"]))
    assert shown([[score.part("obeys") for score in scores] for scores in rows]) == [[late]] * 2
    assert [scores[0].part("obeys").seconds for scores in rows] == [SOON, SOON]
    assert shown([[score.part("length") for score in scores] for scores in rows]) == [
        [(1.0, "scored")],
        [(4.0, "scored")],
    ]
    assert shown(rows) == totals


def test_a_late_step_costs_its_completion_and_no_other():
    each = EachStep(parts=(Part("obeys", Obeys(), deadline=SOON),))
    rows = score_in_process(total(each=each), make_groups(["a\nabc", "ab\nspin\na"], ["ab"]))
    scores = [[score.part("each") for score in scores] for scores in rows]
    assert shown(scores) == [[(2.0, "scored"), (0.0, "timeout")], [(2.0, "scored")]]
    assert EachStep(parts=(Part("judge", ObeysInBatches()),)).late_status == "error"


def test_a_late_member_of_any_of_leaves_the_others():
    parts = (Part("obeys", Obeys(), deadline=SOON), Part("length", Length()))
    rows = score_in_process(AnyOf(parts), make_groups(["spin", "abc"]))
    assert shown(rows) == [[(4.0, "scored"), (3.0, "scored")]]
    assert rows[0][0].part("obeys").status == "timeout"


def test_a_late_member_of_first_of_decides_as_a_missing_answer_does():
    parts = (Part("obeys", Obeys(), deadline=SOON), Part("length", Length()))
    rows = score_in_process(FirstOf(parts), make_groups(["spin", "abc"]))
    assert shown(rows) == [[(0.0, "timeout"), (3.0, "scored")]]
    assert [part.status for part in rows[0][0].parts] == ["timeout", "not_applicable"]


def test_a_gate_that_was_late_is_closed():
    parts = (Part("obeys", Obeys(), deadline=SOON), Part("length", Length(), when="obeys"))
    rows = score_in_process(WeightedSum(parts), make_groups(["spin", "abc"]))
    assert shown(rows) == [[(0.0, "scored"), (6.0, "scored")]]


def test_statuses_replace_the_value_of_a_late_part():
    part = Part("obeys", Obeys(), deadline=SOON, statuses={"timeout": -1.0})
    assert shown(score_in_process(WeightedSum((part,)), make_groups(["spin"]))) == [[(-1.0, "scored")]]


def test_half_of_the_time_for_a_piece_bounds_each_verifier():
    worker = ReplaceableWorker(score_of_obeys)
    try:
        rows = worker(make_groups(["a", "spin"], ["spin!"]), seconds=3.0)
    finally:
        worker.close()
    assert shown(rows) == [[(1.0, "scored"), (0.0, "timeout")], [(0.0, "timeout")]]


def score_of_obeys(groups):
    return score_groups(Obeys(), groups)


def test_a_piece_with_several_calls():
    worker = ReplaceableWorker(two_calls)
    try:
        assert worker(["a", "spin"]) == ["scored", "timeout", "scored", "timeout"]
    finally:
        worker.close()


def two_calls(texts):
    verifier, groups = total(obeys=Obeys()), make_groups(texts)
    rows = score_groups(verifier, groups)[0] + score_groups(verifier, groups)[0]
    return [score.part("obeys").status for score in rows]


def test_verifiers_that_end_the_process_leave_completions_unscored():
    rows = score_in_process(Leaves(), make_groups(["a", "b"]))
    assert [(score.value, score.status) for score in rows[0]] == [(None, "error")] * 2
    assert shown(score_in_process(Length(), make_groups(["a"]))) == [[(1.0, "scored")]]


@dataclass(frozen=True)
class Leaves(Verifier):
    def __call__(self, example, completion):
        os._exit(3)


# Processes


SLOW_START = """
import os, sys, time
if os.path.exists({flag!r}):
    os.remove({flag!r})
    os.kill(os.getpid(), 9)
"""


def test_a_worker_killed_while_it_starts_is_started_again(tmp_path, monkeypatch):
    flag = tmp_path / "flag"
    (tmp_path / "sitecustomize.py").write_text(SLOW_START.format(flag=str(flag)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    flag.touch()
    worker = ReplaceableWorker(int)
    worker.start()
    assert not flag.exists()
    assert worker("7") == 7
    worker.close()
    flag.touch()
    program = ProgramWorker("grpo_env.verifiers.answers.math.algebra_worker", str(2**31))
    assert program.ask({"gold": "x", "answer": "x", "rel_tol": None, "decimals": None, "deadline": 5}, 60)["same"]
    assert not flag.exists()
    program.close()


NOTEBOOK = """
from dataclasses import dataclass
from grpo_env.core import Completion, Example, Group, Score, Verifier
from grpo_env.workers.scoring_process import score_in_process

PRICE = 2.0

def price(text):
    return PRICE * len(text)

@dataclass(frozen=True)
class Prices(Verifier):
    factor: float = 1.0

    def __call__(self, example, completion):
        return Score(self.factor * price(completion.text))

print(score_in_process(Prices(3.0), [Group(Example("1"), [Completion("ab")])])[0][0].value)
"""


def test_classes_of_a_notebook_or_an_unguarded_script_reach_the_process():
    done = subprocess.run([sys.executable, "-"], input=NOTEBOOK, capture_output=True, text=True, check=True)
    assert done.stdout == "12.0\n"


OWN = """
import re
from dataclasses import dataclass

from grpo_env.core import Score, Verifier
from grpo_env.registry import verifier

@verifier("deadlines_own")
@dataclass(frozen=True)
class Own(Verifier):
    def __call__(self, example, completion):
        while "spin" in completion.text:
            pass
        if "regex" in completion.text:
            re.match("(a+)+$", "a" * 100 + "b")
        return Score(1.0)
"""

TASK = """
version: 1
task: own
dataset: {path: rows.jsonl, answer: "{{ answer }}"}
prompt: {user: "{{ question }}"}
verifiers: {accuracy: {}, own: {use: deadlines_own, deadline: DEADLINE}}
metric: accuracy
"""


@pytest.fixture
def start_score(tmp_path):
    """Starts ``grpo_env score`` on completions, each with the answer 1."""

    def start(texts, deadline, *options):
        (tmp_path / "deadlines_own.py").write_text(OWN)
        (tmp_path / "own.yaml").write_text(TASK.replace("DEADLINE", str(deadline)))
        rows = [json.dumps({"question": "?", "answer": "1", "completion": text}) for text in texts]
        (tmp_path / "rows.jsonl").write_text("\n".join(rows))
        command = ["score", "own.yaml", "rows.jsonl", "--verifiers", "deadlines_own.py", "--out", "out.jsonl", *options]
        return subprocess.Popen(
            [sys.executable, "-m", "grpo_env", *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )

    return start


@pytest.mark.slow
def test_score_ends_although_a_verifier_does_not(start_score, tmp_path):
    texts = ["1", "spin #### 1", "1", "regex #### 1", *["1"] * 100]
    run = start_score(texts, SOON, "--workers", "2")
    stderr = run.communicate()[1]
    assert run.returncode == 0, stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["parts"]["own"].get("status", "scored") for row in rows] == [
        "timeout" if len(text) > 1 else "scored" for text in texts
    ]
    assert [row["total"] for row in rows] == [1.0 if len(text) > 1 else 2.0 for text in texts]


def workers_of(run):
    return [
        child for child in psutil.Process(run.pid).children(recursive=True) if "worker" in " ".join(child.cmdline())
    ]


@pytest.mark.slow
def test_no_worker_outlives_a_killed_run_in_an_endless_verdict(start_score):
    run = start_score(["regex"], 1000, "--workers", "1")
    while not (workers := workers_of(run)) or workers[0].cpu_times().user < 1.0:  # it starts in less
        assert run.poll() is None
        time.sleep(0.05)
    run.kill()
    run.communicate()
    assert psutil.wait_procs(workers, timeout=60)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.2])
def test_no_worker_outlives_a_run_killed_while_they_start(start_score, after):
    run = start_score(["1"] * 1000, 1000, "--workers", "4")
    while not workers_of(run):
        assert run.poll() is None
        time.sleep(0.005)
    time.sleep(after)
    workers = workers_of(run)
    run.kill()
    run.communicate()
    assert psutil.wait_procs(workers, timeout=60)[1] == []


@pytest.mark.slow
def test_sigterm_ends_a_run_that_can_be_resumed(start_score, tmp_path):
    texts = [*["1"] * 20_000, "spin"]
    run = start_score(texts, 1000, "--workers", "1")
    state = tmp_path / ".out.jsonl.part.json"
    while not (state.exists() and b'"rows"' in state.read_bytes()):
        assert run.poll() is None
        time.sleep(0.05)
    workers = workers_of(run)
    run.send_signal(signal.SIGTERM)
    stderr = run.communicate()[1]
    assert run.returncode == 143, stderr
    assert "ended by SIGTERM" in stderr
    assert "the same command resumes after them" in stderr
    assert "Traceback" not in stderr
    assert psutil.wait_procs(workers, timeout=60)[1] == []
