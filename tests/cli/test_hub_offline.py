"""Without a network the hub is not asked; with one, or where the user has said so, nothing is changed."""

import os

import pytest

from grpo_env.cli.hub_offline import VARIABLE, set_if_unreachable
from grpo_env.cli.options import loaded_task


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HF_ENDPOINT": "https://hub.invalid"}, "1"),  # RFC 6761: .invalid never resolves
        ({"HF_ENDPOINT": "http://127.0.0.1:8000"}, None),
        ({"HF_ENDPOINT": "https://hub.invalid", "HTTPS_PROXY": "http://127.0.0.1:3128"}, None),
        ({"HF_ENDPOINT": "https://hub.invalid", VARIABLE: "0"}, "0"),
    ],
)
def test_the_hub_is_left_alone_without_a_network(monkeypatch, variables, expected):
    for name in (VARIABLE, "HF_ENDPOINT", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "")  # so that what is set below is undone
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    set_if_unreachable()
    assert os.environ.get(VARIABLE) == expected


@pytest.mark.parametrize(("task", "expected"), [("gsm8k", "1"), ("arithmetic", None)])
def test_commands_look_for_the_hub_if_their_rows_are_there(monkeypatch, task, expected):
    for name in (VARIABLE, "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    loaded_task(task, None)
    assert os.environ.get(VARIABLE) == expected
