"""Follows docs/tutorials/first_hour.md as a newcomer does: its commands in a folder, its clicks in headless Chromium.

    FILM=FOLDER make test-view        also saves a picture of every block of commands, and after every click

A block of clicks:

    ```clicks
    $ grpo_env view scores.jsonl      opens the address that the command prints; it runs until the next one
    > choose status: no_answer        an action, one of ``ACTIONS``
    178 of 384 completions …          a line that the page then shows; … is anything, numbers are compared roughly
    ```
"""

import html
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("selenium", reason="make test-view")

from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.docs.pages import blocks, commands, differences, run, same_line

from .chromium import start

PAGE = Path(__file__).parents[3] / "docs/tutorials/first_hour.md"
WINDOW = "--window-size=1300,900"
TERMINAL = """<body style="margin:0;background:#10191b;color:#dbe9e7"><pre style="margin:28px;white-space:pre-wrap;
font:15px/1.45 'DejaVu Sans Mono',monospace">{}</pre>"""
LINES = 32  # of a picture of a command: the last ones


class Hour:
    """A folder, the browser, the viewer that runs, and the pictures so far."""

    def __init__(self, folder, profiles):
        self.folder, self.profiles = folder, profiles
        self.browsers = [start(profiles / "0", WINDOW)]
        self.server, self.address = None, ""
        self.film = Path(os.environ["FILM"]) if os.environ.get("FILM") else None
        self.pictures = 0

    @property
    def browser(self):
        return self.browsers[-1]

    def shoot(self, name):
        if self.film:
            self.film.mkdir(parents=True, exist_ok=True)
            self.pictures += 1
            slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:60].strip("-")
            self.browser.save_screenshot(str(self.film / f"{self.pictures:02d}-{slug}.png"))

    def commands(self, block):
        """Run the commands of a block, and show them. Returns how they differ from the page."""
        lines, problems = [], []
        for command in commands(block):
            code, printed = run(command.command, self.folder)
            lines += f"$ {command.command}\n{printed}".splitlines()
            problems += differences(command, code, printed, "slow" in block.marks)
        shown = lines if len(lines) <= LINES else [lines[0], "...", *lines[2 - LINES :]]
        self.browser.get("data:text/html;charset=utf-8," + quote(TERMINAL.format(html.escape("\n".join(shown)))))
        self.shoot(command.command)
        return problems

    def clicks(self, block):
        """Do what a block says. Returns what a page did not show."""
        steps = re.split(r"^(?=[$>] )", block.text, flags=re.MULTILINE)[1:]
        for mark, (action, *expected) in ((step[:2], step[2:].splitlines()) for step in steps):
            word, _, rest = action.partition(" ")
            self.view(action) if mark == "$ " else ACTIONS[word](self, rest)
            missing = [line for line in expected if not self.shows(line)]
            self.shoot(action)
            if missing:
                return ["\n".join([f"after {action!r} the page does not show", *missing, "but", self.text()[:3000]])]
        return []

    def text(self):
        return self.browser.execute_script("return document.body.innerText")

    def shows(self, line):
        def is_there(_):
            return any(same_line(line, " ".join(shown.split()), rough=True) for shown in self.text().splitlines())

        try:
            return WebDriverWait(self.browser, 20).until(is_there)
        except TimeoutException:
            return False

    def view(self, command):
        self.close(1)
        self.stop()
        words = [sys.executable, "-m", *shlex.split(command), "--port", "0"]
        self.server = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.address = self.server.stdout.readline().split()[-1]
        self.browser.get(self.address)

    def stop(self):
        if self.server:
            self.server.terminate()
            assert self.server.wait(20) == 0
            self.server.stdout.close()
            self.server = None

    def close(self, left=0):
        while len(self.browsers) > left:
            self.browsers.pop().quit()


def choose(hour, rest):
    """``choose FIELD: VALUE``, where the value may go on (with a count)."""
    name, value = rest.split(": ")
    hour.browser.find_element(
        By.XPATH, f"//select[@name='{name}']/option[starts-with(normalize-space(), '{value}')]"
    ).click()


def search(hour, text):
    field = hour.browser.find_element(By.NAME, "q")
    field.clear()
    field.send_keys(text, Keys.ENTER)


def click(hour, text):
    """A link that has this text, or anything with this label."""
    path = f"//a[contains(normalize-space(), '{text}')] | //*[@aria-label='{text}']"
    hour.browser.find_element(By.XPATH, path).click()


def press(hour, key):
    hour.browser.switch_to.active_element.send_keys(getattr(Keys, key.upper(), key))


def visit(hour, name):
    """``open FILE``, a page that a command wrote."""
    hour.browser.get((hour.folder / name).as_uri())


def share(hour, _):
    """Open the address in another browser, which does not know the token."""
    address = hour.browser.current_url
    hour.browsers.append(start(hour.profiles / str(len(hour.browsers)), WINDOW))
    hour.browser.get(address)


def enter(hour, _):
    """Enter the token of the address that the command printed."""
    token = hour.address.rpartition("token=")[2]
    hour.browser.find_element(By.NAME, "token").send_keys(token, Keys.ENTER)


ACTIONS = {
    "choose": choose,
    "search": search,
    "click": click,
    "press": press,
    "open": visit,
    "share": share,
    "enter": enter,
}


@pytest.fixture
def hour(tmp_path, tmp_path_factory):
    made = Hour(tmp_path, tmp_path_factory.mktemp("profiles"))
    yield made
    made.close()
    made.stop()


def test_the_first_hour_goes_as_it_is_written(hour):
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        problems = []
        if block.title is not None:
            (hour.folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            problems = hour.commands(block)
        elif block.language == "clicks":
            problems = hour.clicks(block)
        if problems:
            pytest.fail("\n\n".join([f"{PAGE.name}, line {block.line}", *problems]), pytrace=False)
