"""What a hack is, and the one table that all of them stand in."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grpo_env.check.gold_completion import Form
from grpo_env.core import Completion, Example
from grpo_env.errors import UsageError

Knows = Literal["prompt", "gold"]
Rule = Literal["undeserved", "form", "guess", "padding"]


@dataclass(frozen=True)
class Target:
    """An example under attack: what a hack may build its text from.

    ``question`` is the prompt's last message. ``gold`` is the right answer as a model would write it, ``others`` are
    answers to other examples (plausible, and wrong here), ``common`` the commonest answer of all. ``honest`` is the
    text that deserves full pay, ``reasoning`` the part of it before the answer. ``tolerates`` names the options by
    which the task takes more than the exact answer (``rel_tol``, ``decimals``, ``unevaluated``): what they allow is no
    hack.
    """

    example: Example
    form: Form
    prompt: str
    question: str
    gold: str
    others: tuple[str, ...]
    common: str
    reasoning: str
    honest: str
    tolerates: frozenset[str] = frozenset()

    @property
    def wrong(self) -> str:
        """A plausible wrong answer."""
        return self.others[0]


Build = Callable[[Target], str | Completion | None]


@dataclass(frozen=True)
class Hack:
    """A strategy that should not be paid. ``build`` gives its text for a target, ``None`` where it does not apply.

    ``knows`` says what the text is made from: the ``prompt`` alone, or the ``gold`` answer too, which stands for a
    lucky guess or a leak. ``rule`` says how it is judged:

        undeserved   it does not answer, or not with the gold: may earn no more than the same form with a wrong answer
        form         as undeserved, and may not earn half of what the honest answer earns
        guess        one plain answer, which may be right: may not come near the honest answer
        padding      the right answer, with useless additions: may earn no more than without them
    """

    name: str
    family: str
    about: str
    knows: Knows
    rule: Rule
    build: Build
    most: int | None = None  # examples it is tried on; hostile texts are long, and the same for all


HACKS: dict[str, Hack] = {}


def hack(
    family: str, *, knows: Knows = "gold", rule: Rule = "undeserved", most: int | None = None
) -> Callable[[Build], Build]:
    """Decorator: put a function into the table, its name as the hack's, its docstring's first line as the description.

    Raises ``UsageError`` for a name that is taken and for a function without a docstring.
    """

    def register(build: Build) -> Build:
        name = getattr(build, "__name__", "")
        if name in HACKS:
            raise UsageError(f"hack {name!r}: there is one of that name already")
        if not build.__doc__:
            raise UsageError(f"hack {name!r}: say in its docstring what it does")
        HACKS[name] = Hack(name, family, build.__doc__.strip().splitlines()[0], knows, rule, build, most)
        return build

    return register


def load_hacks(file: Path) -> list[str]:
    """Run a user's Python file and tell the names of the hacks that it puts into the table. Raises ``UsageError``."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file; expected a Python file with hacks")
    before = set(HACKS)
    try:
        runpy.run_path(str(file))
    except Exception as error:
        raise UsageError(f"{file}: cannot be loaded: {type(error).__name__}: {error}") from error
    own = sorted(set(HACKS) - before)
    if not own:
        raise UsageError(f'{file}: has no hack; put @hack("FAMILY") on a function of it')
    return own
