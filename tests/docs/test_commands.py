"""Commands that pages show and no test can run (a hub, a GPU, several nodes) at least exist, with their options."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from grpo_env.cli.app import app
from grpo_env.cli.view import OPEN, OpenByDefault

from .pages import blocks
from .test_pages import PAGES, ROOT

ROOT_COMMAND = typer.main.get_command(app)


def shown(page: Path) -> list[str]:
    """The ``grpo_env`` commands of a page's ``sh`` blocks, and of its text."""
    text = page.read_text(encoding="utf-8")
    lines = [block.text.replace("\\\n", " ") for block in blocks(text) if block.language in ("sh", "bash")]
    written = re.findall(r"(?<!`)`(grpo_env [^`]+)`(?!`)", text)
    commands = [line for each in lines for line in each.splitlines()] + written
    return [found[0] for line in commands if (found := re.search(r"\bgrpo_env .*", line)) and "pip install" not in line]


def wrong_in(line: str) -> str | None:
    """What of a command does not exist: the command itself, or an option."""
    words, command = shlex.split(line, comments=True)[1:], ROOT_COMMAND
    while (
        words and hasattr(command, "commands") and (not words[0].startswith("-") or isinstance(command, OpenByDefault))
    ):
        if words[0] not in command.commands and isinstance(command, OpenByDefault):
            words = [OPEN, *words]
        if words[0] not in command.commands:
            return f"no command {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    options = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    given = [word.partition("=")[0] for word in words if re.match("--?[a-z]", word)]
    return next((f"no option {name!r}" for name in given if name not in options), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_exist(page):
    assert [(line, wrong) for line in shown(page) if (wrong := wrong_in(line))] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("grpo_env scores a", "no command 'scores'"),
        ("grpo_env tasks make a.yaml", "no command 'make'"),
        ("grpo_env score gsm8k f.jsonl --output x", "no option '--output'"),
        ("grpo_env train gsm8k --model=x -q", "no option '-q'"),
        ("grpo_env score gsm8k f.jsonl --out x steps=2", None),
    ],
)
def test_one_that_does_not_is_found(line, wrong):
    assert wrong_in(line) == wrong
