"""A server of OpenEnv as an environment: a real one, on 127.0.0.1, played turn by turn."""

import json
import socket
import subprocess
import sys
import time
from importlib.metadata import distributions
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from grpo_env.core import Example, Message, score_one
from grpo_env.environments.calls import call_text
from grpo_env.environments.episode import EnvironmentClass
from grpo_env.environments.replay import from_list, play
from grpo_env.taskfile.task import make_task

if not list(distributions(name="openenv")):
    pytest.skip("OpenEnv is not installed (make test-integrations)", allow_module_level=True)

SERVER = """
import os
import sys
import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app


class Guess(Action):
    number: int


class Told(Observation):
    hint: str = ""


class Hidden(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._number, self._state = seed, State(episode_id=episode_id, step_count=0)
        return Told(hint="From 1 to 9.")

    def step(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        if action.number == 0:
            raise ValueError("there is no 0")
        if action.number == 99:
            os._exit(0)
        right = action.number == self._number
        hint = "right" if right else "higher" if action.number < self._number else "lower"
        return Told(hint=hint, done=right, reward=1.0 if right else -0.25)

    @property
    def state(self):
        return self._state


uvicorn.run(create_fastapi_app(Hidden, Guess, Told, max_concurrent_envs=4), port=int(sys.argv[1]), log_level="error")
"""
CLASS = '''
from grpo_env.integrations.openenv import OpenEnv


class Hidden(OpenEnv):
    url = "http://127.0.0.1:PORT"
    columns = ("seed",)

    def guess(self, number: int) -> str:
        """Guess the number.

        Args:
            number: from 1 to 9.
        """
        return self._step(number=number)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("openenv")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "server.py").write_text(SERVER)
    (folder / "hidden.py").write_text(CLASS.replace("PORT", str(port)))
    (folder / "rows.jsonl").write_text(json.dumps({"question": "Guess.", "seed": 7}) + "\n")
    with subprocess.Popen([sys.executable, "server.py", str(port)], cwd=folder) as server:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except (URLError, OSError):
                assert server.poll() is None
                time.sleep(0.2)
        yield folder
        server.terminate()


def hidden(folder):
    """The task, its environment and its example."""
    data = {
        "version": 1,
        "task": "hidden",
        "dataset": {"path": "rows.jsonl", "split": {"train": "train", "eval": "train"}},
        "prompt": {"user": "{{ question }}"},
        "environment": {"use": "hidden.py:Hidden", "max_turns": 6, "tool_timeout": 60},
        "verifiers": {"environment_reward": {}, "tool_calls": {"weight": 0.0, "process": 1.0}},
        "metric": "environment_reward",
    }
    task = make_task(data, "hidden.yaml", folder)
    return task, EnvironmentClass.of_task(task), Example("0", (Message("user", "Guess."),), None, {"seed": 7})


def guesses(*numbers):
    return from_list([*(call_text("guess", {"number": number}) for number in numbers), "done"])


def test_a_server_is_played_in_turns_with_its_rewards_and_states(folder):
    task, environment, example = hidden(folder)
    with environment.process() as process:
        for _ in range(2):  # a new session for each episode
            completion = play(environment, process, example, guesses(5, 9, 7, 7))
            assert completion.environment.failure == ""
            results = [result for turn in completion.turns for result in turn.results]
            hints = ["higher", "lower", "right"]
            assert [json.loads(result.text)["hint"] for result in results[:3]] == hints
            assert (results[3].problem, results[3].text) == ("raised", "Error: RuntimeError: the episode has ended")
            assert [turn.state["server_state"]["step_count"] for turn in completion.turns] == [1, 2, 3, 3, 3]
            assert score_one(task.verifier, example, completion).value == 0.5  # -1/4 - 1/4 + 1


def test_a_server_that_goes_away_leaves_the_episode_unscored(folder):
    """It is the last test: the server ends. An action that it refuses is told to the model before."""
    task, environment, example = hidden(folder)
    with environment.process() as process:
        completion = play(environment, process, example, guesses(5, 0, 99, 7))
    results = [result for turn in completion.turns for result in turn.results]
    assert [result.problem for result in results] == ["", "raised", "raised", "raised"]
    assert "there is no 0" in results[1].text
    assert "session with http://127.0.0.1" in completion.environment.failure
    assert score_one(task.verifier, example, completion).status == "error"
