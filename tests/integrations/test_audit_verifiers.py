"""``audit --verifiers`` attacks the rewards of an installed taskset of verifiers 0.4."""

import json
import os
import subprocess
import sys
from importlib.metadata import distributions

import pytest

if not list(distributions(name="verifiers")):
    pytest.skip("verifiers is not installed (make test-integrations)", allow_module_level=True)

PACKAGE = """
import re

import verifiers.v1 as vf


class Data(vf.TaskData):
    answer: str


class Sum(vf.Task[Data]):
    @vf.reward(weight=2.0)
    async def correct(self, trace: vf.Trace{arguments}) -> float:
        assert [message.role for message in trace.messages] == ["system", "user", "assistant"]
        assert trace.num_turns == 1 and not trace.is_truncated == (trace.calls[-1].finish_reason != "length")
        return {pays}

    @vf.reward(weight=0.5)
    async def form(self, trace: vf.Trace) -> float:
        return float("<total>" in trace.last_reply)


class Sums(vf.Taskset[Sum, vf.TasksetConfig]):
    INFINITE = True

    def load(self):
        n = 0
        while True:
            n += 1
            yield Sum(Data(prompt=f"What is {{12 + n}} + {{31 * n}}?", system_prompt="Use <total> tags.",
                           answer=str(12 + 32 * n)), self.config.task)


__all__ = ["Sums"]
"""
CONTAINS = "float(self.data.answer in trace.last_reply)"
STRICT = "float(bool(re.search(rf'<total>\\s*{self.data.answer}\\s*</total>$', trace.last_reply)))"
FAST = ("negated", "two answers", "truncation", "near numbers", "format only")


def audit(folder, package, pays=None, arguments=""):
    """What the command prints, and its exit code, where a module of the package is in the path."""
    if pays:
        (folder / f"{package.replace('-', '_')}.py").write_text(PACKAGE.format(pays=pays, arguments=arguments))
    command = [sys.executable, "-m", "grpo_env", "audit", "--verifiers", package, "--limit", "5", "--json"]
    command += [word for family in FAST for word in ("--only", family)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_the_flaw_of_a_taskset_is_found(tmp_path):
    code, report = audit(tmp_path, "loose-sums", CONTAINS)
    assert code == 1, report
    assert "not_gold" in report["exploits"]
    assert report["source"] == "5 rows; answers in 'answer', paid as <total>...</total>; completions are texts"
    assert (report["gold"]["total"], report["wrong"]["total"]) == (2.5, 0.5)
    (found,) = (outcome for outcome in report["outcomes"] if outcome["hack"] == "not_gold")
    assert found["explanation"] == "correct 2, form 0.5"
    assert report["failed"] == []


def test_a_sound_taskset_is_not_accused(tmp_path):
    code, report = audit(tmp_path, "strict-sums", STRICT)
    assert code == 0, report
    assert report["failed"] == report["exploits"] == []


def test_a_reward_that_needs_a_runtime_and_a_package_that_is_not_there_are_errors(tmp_path):
    code, said = audit(tmp_path, "boxed-sums", CONTAINS, ", runtime: vf.Runtime")
    assert code == 2
    assert "its reward 'correct' needs a runtime of verifiers" in said
    code, said = audit(tmp_path, "no-such-package")
    assert code == 2
    assert "--verifiers no-such-package: cannot be loaded (ModuleNotFoundError" in said
