"""An environment as TRL takes it: prices are looked up by tool. Beside it, tools that misbehave."""

import json
import os
import subprocess
import time
from dataclasses import dataclass

from grpo_env import Completion, Example, GroupVerifier, Score, Verifier


class Till:
    def reset(self, stock: dict, **row) -> None:
        self.stock = dict(stock)
        self.seen = []

    def price(self, item: str) -> float:
        """Price of one item.

        Args:
            item: its name.
        """
        self.seen.append(item)
        return self.stock[item]

    def get_reward(self) -> float:
        return len(set(self.seen) & set(self.stock)) / len(self.stock)


class Rough:
    """Every way to fail."""

    def reset(self, fail: str = "", **row) -> str | None:
        if fail == "reset":
            raise OSError("no room")
        if fail == "reset exits":
            os._exit(3)
        self.fail = fail
        self.count = 0
        return 7 if fail == "number" else " Begin."

    def sleep(self, seconds: float) -> str:
        """Sleep.

        Args:
            seconds: how long.
        """
        child = subprocess.Popen(["sleep", "60"])
        self.count = child.pid
        time.sleep(seconds)
        return str(child.pid)

    def big(self) -> str:
        """Ten megabytes."""
        return "x" * 10_000_000

    def exit(self, code: int) -> str:
        """Exit.

        Args:
            code: by which means.
        """
        if code == 0:
            raise SystemExit(0)
        os._exit(code)

    def fill(self, size: int) -> str:
        """Fill the state.

        Args:
            size: how many characters.
        """
        self.filled = "x" * size
        return "filled"

    def get_reward(self) -> float:
        if self.fail == "reward":
            return float("nan")
        return 1.0


class Higher:
    """A partner: a hidden number."""

    def reset(self, number: int, **row) -> str:
        self._number = number
        self.asked = 0
        return " It is from 1 to 9."

    def reply(self, text: str) -> str | None:
        self.asked += 1
        guess = int(text)
        if guess == 13:
            return 13
        return None if guess == self._number else "higher" if guess < self._number else "lower"


class Echo:
    """Says what the row says, and then what it hears, twice."""

    def reset(self, said: str, **row) -> str:
        self.heard = 0
        return said

    def reply(self, text: str) -> str | None:
        self.heard += 1
        return repr(text) if self.heard < 3 else None


class Static:
    def reset(self, **row): ...

    @staticmethod
    def twice(text: str) -> str:
        """Say it twice.

        Args:
            text: what.
        """
        return text * 2

    @classmethod
    def name(cls, text: str) -> str:
        """Say it after the name of the class.

        Args:
            text: what.
        """
        return f"{cls.__name__} {text}"


class NoReset:
    def price(self, item: str) -> float:
        """Price."""


class NoTypes:
    def reset(self, **row): ...

    def price(self, item):
        """Price.

        Args:
            item: its name.
        """


class NoDocstring:
    def reset(self, **row): ...

    def price(self, item: str) -> float: ...


class NoTools:
    def reset(self, **row): ...


class Arguments:
    def __init__(self, path): ...

    def reset(self, **row): ...


@dataclass(frozen=True)
class Stocked(Verifier):
    """How much of the stock was looked up, from the state."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        state = json.loads(completion.text)
        return Score(len(set(state["seen"]) & set(state["stock"])) / len(state["stock"]))


@dataclass(frozen=True)
class Asked(Verifier):
    """Whether the prompt ends with what the model says."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float(example.prompt[-1].content.endswith(completion.text)))


@dataclass(frozen=True)
class Votes(GroupVerifier):
    """The size of the group, if the prompt has what the environment says first."""

    def group(self, example, completions):
        return [Score(len(completions) * float("no. 1" in example.prompt[-1].content)) for _ in completions]


@dataclass(frozen=True)
class Filled(Verifier):
    """Whether the state has something to fill."""

    def __call__(self, example: Example, completion: Completion) -> Score:
        return Score(float("filled" in completion.text))


class Leaky:
    """Leaves a process behind in each episode, in a session of its own."""

    def reset(self, **row):
        self.pid = subprocess.Popen(["sleep", "300"], start_new_session=True).pid

    def nothing(self) -> str:
        """Nothing."""


def gold(row):
    return [[{"name": "price", "arguments": {"item": item}} for item in row["stock"]], "7"]


def gold_late(row):
    return [[{"name": "sleep", "arguments": {"seconds": 600}}], "7"]


def gold_long(row):
    return ["5"] * 20


def gold_wrong(row):
    return [[{"name": "price", "arguments": {"it": "tea"}}], "8"]


def gold_13(row):
    return ["13"]


def gold_none(row):
    return 7


class Star:
    def reset(self, **row): ...

    def price(self, *items: str) -> float:
        """Price.

        Args:
            items: their names.
        """


class Async:
    def reset(self, **row): ...

    async def price(self, item: str) -> float:
        """Price.

        Args:
            item: its name.
        """


class Needs:
    def reset(self, shelf: str, **row): ...

    def nothing(self) -> object:
        """Nothing."""
        return object()


def gold_nothing(row):
    return [[{"name": "nothing", "arguments": {}}], "7"]


def gold_fill(row):
    return [[{"name": "fill", "arguments": {"size": 200_000}}], "7"]
